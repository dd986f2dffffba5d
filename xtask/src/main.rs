//! What a contributor runs.
//!
//! ```text
//! cargo xtask test [PART]    everything that has to pass, or one part of it
//! cargo xtask tidy           what lints cannot check
//! cargo xtask docs [--check] `docs/scores.md`, from the module documentation of the rules; or whether it is stale
//! cargo xtask bench core     what each rule costs, against its target
//! cargo xtask bench evidence what a run and a reputation cost as there is more of them
//! cargo xtask bench gates    what the gates cost, and that no input makes them slow
//! cargo xtask bench history  `renown stats` against ccusage, on 1 GB of transcripts
//! cargo xtask bench judge    `renown judge` against DuckDB
//! cargo xtask bench otlp     how much telemetry `renown serve` keeps, by transport, and in how much memory
//! cargo xtask bench pages    what the pages of the dashboard cost with many evaluations and with many agents
//! cargo xtask bench proxy    what `renown proxy` adds to a call
//! cargo xtask bench serve    `renown serve` against Redis, PostgreSQL and plain axum
//! cargo xtask fuzz [--seconds N]
//!                            searches for inputs that break a reader of telemetry
//! cargo xtask sdk [--check]  the clients of the SDKs, from the OpenAPI document; or whether they are stale
//! cargo xtask screenshots    pictures of the pages, from the demo; those of the README unless a folder is named
//! cargo xtask generate DIALECT [--sessions N] [--records N | --bytes N] [--seed S] …
//!                            a log as an agent writes it, to standard output
//! ```

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool that reports to the terminal")]

mod api;
mod bench;
mod differential;
mod docs;
mod duckdb;
mod durability;
mod export;
mod fuzz;
mod generate;
mod load;
mod node;
mod otlp;
mod package;
mod pages;
mod portability;
mod process;
mod proxy;
mod python;
mod renown;
mod sdk;
mod shell;
mod test;
mod tidy;
mod wheel;

use std::env;
use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo xtask test [PART] | tidy | docs [--check] | sdk [--check] | bench core | evidence | gates | history | judge | otlp | proxy";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
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
        ["bench", "evidence"] => bench::evidence(),
        ["bench", "otlp"] => bench::otlp(),
        ["bench", "gates"] => bench::gates(),
        ["bench", "history"] => bench::history(),
        ["bench", "judge"] => bench::judge(),
        ["bench", "serve", rest @ ..] => bench::serve(rest),
        ["bench", "pages", rest @ ..] => bench::pages(rest),
        ["bench", "proxy"] => bench::proxy(),
        // Benches that start themselves again as a release, and peers that benches start.
        ["bench", "evidence-here"] => bench::evidence_here(),
        ["bench", "echo"] => bench::echo(),
        ["bench", "plain", port, body_bytes] => bench::plain(port, body_bytes),
        ["fuzz", rest @ ..] => fuzz::search(rest),
        ["screenshots", rest @ ..] => pages::screenshots(rest),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["sdk"] => sdk::write(),
        ["sdk", "--check"] => sdk::check(),
        ["generate", rest @ ..] => generate::command(rest),
        _ => bail!(
            "{USAGE} | {} | {} | {} | {} | {}; parts of test: {}",
            bench::PAGES_USAGE,
            bench::SERVE_USAGE,
            fuzz::USAGE,
            pages::USAGE,
            generate::USAGE,
            test::names().join(", ")
        ),
    }
}
