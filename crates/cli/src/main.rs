//! `renown`: tells whether an AI agent's work can be trusted.
//!
//! The binary is thin: it reads arguments and files, calls the rules and prints. Results go to standard output,
//! everything else to standard error. Exit codes: 0 done, 1 the thing asked about did not pass, 2 bad usage or input.

mod args;
mod failure;
mod inputs;
mod progress;
mod score;

use std::io;
use std::panic;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
    panic::set_hook(Box::new(|bug| {
        let place =
            bug.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
        let message = bug.payload_as_str().unwrap_or("unknown");
        failure::print(&Failure::new(format!("renown has a bug{place}: {message}")));
    }));
    match panic::catch_unwind(|| run(&cli)) {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            failure::print(&failure);
            ExitCode::from(failure::BAD_INPUT)
        }
        Err(_) => ExitCode::from(failure::BAD_INPUT),
    }
}

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    match &cli.command {
        Command::Score(args) => score::run(args, cli.quiet),
        Command::Completions { shell } => {
            clap_complete::generate(*shell, &mut Cli::command(), "renown", &mut io::stdout().lock());
            Ok(ExitCode::SUCCESS)
        }
    }
}
