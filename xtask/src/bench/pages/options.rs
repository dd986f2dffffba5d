//! The command line of the bench.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::questions;
use crate::bench::number;

/// The accepted options.
pub(crate) const USAGE: &str = "bench pages [--only QUESTION] [--connections N] [--seconds N] [--rounds N] \
[--evaluations N] [--agents N] [--keep] [--renown PROGRAM]";

/// What to measure, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    /// Measure only this question.
    pub(super) only: Option<String>,
    connections: Option<usize>,
    /// Duration of each run, after its warm-up.
    pub(super) time: Duration,
    /// Number of rounds. Both databases are asked in each.
    pub(super) rounds: usize,
    /// Number of evaluations in the database with few agents.
    pub(super) evaluations: u64,
    /// Number of agents in the database with many.
    pub(super) agents: u64,
    /// Keep the databases for the next run with this option, and use existing ones.
    pub(super) keep: bool,
    /// Another build of the program, to compare with this one.
    pub(super) renown: Option<PathBuf>,
}

impl Options {
    pub(super) fn parse(args: &[&str]) -> Result<Self> {
        let mut found = Self {
            only: None,
            connections: None,
            time: Duration::from_secs(3),
            rounds: 3,
            evaluations: 1_000_000,
            agents: 1_000_000,
            keep: false,
            renown: None,
        };
        let mut args = args.iter().copied();
        while let Some(option) = args.next() {
            if option == "--keep" {
                found.keep = true;
                continue;
            }
            let value = args.next().with_context(|| format!("{option} without a value"))?;
            match option {
                "--only" => found.only = Some(questions::known(value)?.to_owned()),
                "--connections" => found.connections = Some(number(option, value)?),
                "--seconds" => found.time = Duration::from_secs(number(option, value)?),
                "--rounds" => found.rounds = number(option, value)?,
                "--evaluations" => found.evaluations = number(option, value)?,
                "--agents" => found.agents = number(option, value)?,
                "--renown" => found.renown = Some(value.into()),
                other => bail!("unknown option {other}; usage: cargo xtask {USAGE}"),
            }
        }
        Ok(found)
    }

    /// Returns the connections of the command line, else this default.
    pub(super) fn connections(&self, usual: &[usize]) -> Vec<usize> {
        self.connections.map_or_else(|| usual.to_vec(), |connections| vec![connections])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let all = Options::parse(&[]).unwrap();
        assert_eq!((all.connections(&[1, 4]), all.agents, all.keep), (vec![1, 4], 1_000_000, false));
        let one = Options::parse(&["--keep", "--only", "history", "--agents", "5000"]).unwrap();
        assert_eq!((one.only.as_deref(), one.agents, one.keep), (Some("history"), 5000, true));
    }

    #[test]
    fn what_is_not_an_option_is_refused() {
        let cases = [
            (&["--only", "writes"][..], "unknown question writes, expected one of overview, ranking"),
            (&["--agents", "0"], "--agents 0, expected a whole number from 1 on"),
            (&["--seconds"], "--seconds without a value"),
            (&["--fast", "1"], "unknown option --fast"),
        ];
        for (args, expected) in cases {
            let error = Options::parse(args).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
