//! What a contributor runs.
//!
//! ```text
//! cargo xtask test [PART]    everything that has to pass, or one part of it
//! cargo xtask tidy           what lints cannot check
//! cargo xtask bench core     what each rule costs, against its target
//! ```

#![expect(clippy::print_stdout, reason = "a tool that reports to the terminal")]

mod bench;
mod shell;
mod test;
mod tidy;

use std::env;
use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo xtask test [PART] | tidy | bench core";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["test"] => test::all(),
        ["test", part] => test::one(part),
        ["tidy"] => tidy::run(),
        ["bench", "core"] => bench::core(),
        _ => bail!("{USAGE}; parts of test: {}", test::names().join(", ")),
    }
}
