//! `renown`: scores the work of AI agents, so that you know which ones to trust.
//!
//! The binary is thin: it reads arguments and files, calls the rules and prints the result. Results go to standard output,
//! everything else goes to standard error. Exit codes: 0 success, 1 the judged thing did not pass, 2 bad usage or bad input.

mod agents;
mod args;
mod backup;
mod client;
mod config;
mod doctor;
mod eval;
mod export;
mod failure;
mod forget;
mod gate;
mod history;
mod input_file;
mod inputs;
mod judge;
mod judged;
mod keys;
mod links;
mod logs;
mod numbers;
mod open;
mod overview;
mod progress;
mod proxy;
mod report;
mod run;
mod runs;
mod score;
mod serve;
mod sessions;
mod settings;
mod setup;
mod stats;
mod store_location;
mod table;
mod verify;

use std::env;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::panic;
use std::process::ExitCode;

use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::{Arg, FromArgMatches};
use serde::Serialize;

use args::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    panic::set_hook(Box::new(|panic| {
        let line =
            panic.location().map(|location| format!(" at line {}", location.line())).unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("unknown");
        failure::print(&Failure::new(format!("internal error (panic){line}: {message}")));
    }));
    let outcome = panic::catch_unwind(|| match parse() {
        Ok(cli) => run(&cli),
        Err(error) => usage(&error),
    });
    match outcome {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            failure::print(&failure);
            ExitCode::from(failure::BAD_INPUT)
        }
        Err(_) => ExitCode::from(failure::BAD_INPUT),
    }
}

/// Parses the arguments. An environment variable with an empty value counts as absent, as everywhere.
fn parse() -> Result<Cli, clap::Error> {
    let is_empty = |name: &OsStr| env::var_os(name).is_some_and(|value| value.is_empty());
    let ignore_empty =
        |arg: Arg| if arg.get_env().is_some_and(is_empty) { arg.env(Resettable::Reset) } else { arg };
    let command = args::command().mut_subcommands(|command| command.mut_args(ignore_empty));
    Cli::from_arg_matches(&command.try_get_matches()?)
}

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    match &cli.command {
        Command::Judge(args) => judge::run(args, cli.quiet),
        Command::Stats(args) => stats::run(args, cli.quiet),
        Command::Serve(args) => serve::run(args, cli.quiet),
        Command::Open(args) => open::run(args),
        Command::Report(args) => report::run(args),
        Command::Keys(args) => keys::run(args),
        Command::Overview(args) => overview::run(args),
        Command::Agents(args) => agents::run(args),
        Command::Sessions(args) => sessions::run(args),
        Command::Runs(args) => runs::run(args),
        Command::Eval(args) => eval::run(args, cli.quiet),
        Command::Run(args) => run::run(args),
        Command::Export(args) => export::run(args, cli.quiet),
        Command::Forget(args) => forget::run(args),
        Command::Verify(args) => verify::run(args, cli.quiet),
        Command::Backup(args) => backup::run(args, cli.quiet),
        Command::Restore(args) => backup::restore(args, cli.quiet),
        Command::Doctor(args) => doctor::run(args, cli.quiet),
        Command::Score(args) => score::run(args, cli.quiet),
        Command::Gate(args) => gate::run(args, cli.quiet),
        Command::Proxy(args) => proxy::run(args, cli.quiet),
        Command::ExecChild(args) => proxy::exec(args),
        Command::Setup(args) => setup::run(args, cli.quiet),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(
                clap_complete::Shell::from(*shell),
                &mut args::command(),
                "renown",
                &mut script,
            );
            let mut out = io::stdout().lock();
            printed(out.write_all(&script).and_then(|()| out.flush()))
        }
    }
}

/// Prints help and version as results. Turns every other message of clap into an error on one line, with a hint.
fn usage(error: &clap::Error) -> Result<ExitCode, Failure> {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return printed(error.print().and_then(|()| io::stdout().flush()));
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return Err(Failure::new("no command was given"));
    }
    Err(Failure::from_usage(&error.render().to_string()))
}

/// Returns a result as indented JSON.
pub(crate) fn as_json(value: &impl Serialize) -> Result<String, Failure> {
    let json = serde_json::to_string_pretty(value);
    json.map(|json| json + "\n").map_err(|error| Failure::new(error.to_string()))
}

/// Prints a result.
pub(crate) fn print(text: &str) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Returns the exit code after printing. A closed pipe is a success: its reader has all that it wanted.
pub(crate) fn printed(result: io::Result<()>) -> Result<ExitCode, Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("standard output: {error}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}
