//! The command line of the bench.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::bench::number;

/// The accepted options.
pub(crate) const USAGE: &str = "bench serve [--only evaluate|read|ingest|scale|tails|overload|medians] [--connections N] \
[--seconds N] [--rounds N] [--full] [--renown PROGRAM] [--before PROGRAM]";

/// A part of the bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Evaluate,
    Read,
    Ingest,
    Scale,
    Tails,
    Overload,
    Medians,
}

const PARTS: [(&str, Part); 7] = [
    ("evaluate", Part::Evaluate),
    ("read", Part::Read),
    ("ingest", Part::Ingest),
    ("scale", Part::Scale),
    ("tails", Part::Tails),
    ("overload", Part::Overload),
    ("medians", Part::Medians),
];

/// Duration of a run, unless the command line sets it.
const TIME: Duration = Duration::from_secs(10);

/// What to measure, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    only: Option<Part>,
    connections: Option<usize>,
    /// Duration of each run, after its warm-up.
    pub(super) time: Duration,
    /// Whether the command line sets the duration.
    is_timed: bool,
    /// Number of rounds. Each server is measured in each round.
    pub(super) rounds: usize,
    /// 100 evaluations per agent in the largest database, instead of 10.
    pub(super) full: bool,
    /// Another build of the program, to measure instead of this one.
    pub(super) renown: Option<PathBuf>,
    /// An older build, to measure in turns with this one.
    pub(super) before: Option<PathBuf>,
}

impl Options {
    pub(super) fn parse(args: &[&str]) -> Result<Self> {
        let mut found = Self {
            only: None,
            connections: None,
            time: TIME,
            is_timed: false,
            rounds: 3,
            full: false,
            renown: None,
            before: None,
        };
        let mut args = args.iter().copied();
        while let Some(option) = args.next() {
            if option == "--full" {
                found.full = true;
                continue;
            }
            let value = args.next().with_context(|| format!("{option} without a value"))?;
            match option {
                "--only" => found.only = Some(part(value)?),
                "--connections" => found.connections = Some(number(option, value)?),
                "--seconds" => {
                    (found.time, found.is_timed) = (Duration::from_secs(number(option, value)?), true);
                }
                "--rounds" => found.rounds = number(option, value)?,
                "--renown" => found.renown = Some(value.into()),
                "--before" => found.before = Some(value.into()),
                other => bail!("unknown option {other}; usage: cargo xtask {USAGE}"),
            }
        }
        Ok(found)
    }

    pub(super) fn has(&self, part: Part) -> bool {
        self.only.is_none_or(|only| only == part)
    }

    /// Returns the connections of the command line, else this default.
    pub(super) fn connections(&self, usual: &[usize]) -> Vec<usize> {
        self.connections.map_or_else(|| usual.to_vec(), |connections| vec![connections])
    }

    /// Returns the options with another default for the duration of a run.
    pub(super) fn usually(&self, time: Duration) -> Self {
        if self.is_timed { self.clone() } else { Self { time, ..self.clone() } }
    }

    /// Returns the warm-up before each run: long enough to fill caches and to open files and connections.
    pub(super) fn warm_up(&self) -> Duration {
        self.time / 5
    }
}

fn part(name: &str) -> Result<Part> {
    let found = PARTS.iter().find(|(known, _)| *known == name);
    found.map(|&(_, part)| part).with_context(|| {
        format!("unknown part {name}, expected one of {}", PARTS.map(|(name, _)| name).join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let all = Options::parse(&[]).unwrap();
        assert!(all.has(Part::Read) && all.has(Part::Scale));
        assert_eq!(all.connections(&[32, 128]), [32, 128]);
        let one = Options::parse(&["--only", "ingest", "--connections", "4", "--seconds", "5"]).unwrap();
        assert!(one.has(Part::Ingest) && !one.has(Part::Read));
        assert_eq!((one.connections(&[32]), one.warm_up()), (vec![4], Duration::from_secs(1)));
    }

    #[test]
    fn what_is_not_an_option_is_refused() {
        let cases = [
            (
                &["--only", "writes"][..],
                "unknown part writes, expected one of evaluate, read, ingest, scale, tails, overload, medians",
            ),
            (&["--rounds", "0"], "--rounds 0, expected a whole number from 1 on"),
            (&["--seconds"], "--seconds without a value"),
            (&["--fast", "1"], "unknown option --fast"),
        ];
        for (args, expected) in cases {
            let error = Options::parse(args).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
