//! The command line of the generator.

use std::io::{self, BufWriter};
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};

use super::{Amount, Dialect, LogTransport, Plan, Shape};

/// The accepted options.
pub(crate) const USAGE: &str = "generate DIALECT [--sessions N] [--records N | --bytes N] [--seed S] \
[--shape modern|strings] [--transport collector|httpjson] [--batch MAX] [--repeat PERCENT] [--shuffle]";

const DIALECTS: [(&str, Dialect); 6] = [
    ("claude-code", Dialect::ClaudeCode),
    ("codex", Dialect::Codex),
    ("gemini-cli", Dialect::GeminiCli),
    ("qwen-code", Dialect::QwenCode),
    ("gen-ai", Dialect::GenAi),
    ("mixed", Dialect::Mixed),
];

const SHAPES: [(&str, Shape); 2] = [("modern", Shape::Modern), ("strings", Shape::Strings)];

const TRANSPORTS: [(&str, LogTransport); 2] =
    [("collector", LogTransport::Collector), ("httpjson", LogTransport::HttpJson)];

/// Writes the log to standard output, and a summary to standard error.
pub(crate) fn command(args: &[&str]) -> Result<()> {
    let plan = parse(args)?;
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    let account = match plan.write(&mut out) {
        // The reader wanted only the beginning of the log.
        Err(error) if is_broken_pipe(&error) => return Ok(()),
        written => written?,
    };
    eprintln!(
        "{} records of {} sessions, and {} repeated; {} lines, {} bytes",
        account.records, account.sessions, account.repeated, account.lines, account.bytes
    );
    Ok(())
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

pub(super) fn parse(args: &[&str]) -> Result<Plan> {
    let [dialect, options @ ..] = args else { bail!("no dialect, expected one of {}", names(&DIALECTS)) };
    let mut plan = Plan::new(named("dialect", &DIALECTS, dialect)?);
    let (mut records, mut bytes) = (None, None);
    let mut options = options.iter().copied();
    while let Some(option) = options.next() {
        if option == "--shuffle" {
            plan.shuffle = true;
            continue;
        }
        let value = options.next().with_context(|| format!("{option} without a value"))?;
        match option {
            "--sessions" => plan.sessions = Some(number(option, value, 1)?),
            "--records" => records = Some(number(option, value, 1)?),
            "--bytes" => bytes = Some(number(option, value, 1)?),
            "--seed" => plan.seed = number(option, value, 0)?,
            "--shape" => plan.shape = named(option, &SHAPES, value)?,
            "--transport" => plan.transport = named(option, &TRANSPORTS, value)?,
            "--batch" => plan.batch = number(option, value, 1)?,
            "--repeat" => {
                plan.repeat = number(option, value, 0)?;
                ensure!(plan.repeat <= 100, "--repeat {value}, expected a percentage");
            }
            other => bail!("unknown option {other}; usage: cargo xtask {USAGE}"),
        }
    }
    plan.amount = match (records, bytes) {
        (Some(_), Some(_)) => bail!("--records and --bytes both say how much, expected one of them"),
        (Some(records), None) => Amount::Records(records),
        (None, Some(bytes)) => Amount::Bytes(bytes),
        (None, None) => plan.amount,
    };
    Ok(plan)
}

fn number(option: &str, value: &str, least: u64) -> Result<u64> {
    let number =
        u64::from_str(value).with_context(|| format!("{option} {value}, expected a whole number"))?;
    ensure!(number >= least, "{option} {number}, expected at least {least}");
    Ok(number)
}

fn named<T: Copy>(what: &str, of: &[(&str, T)], name: &str) -> Result<T> {
    let found = of.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).with_context(|| format!("{what} {name}, expected one of {}", names(of)))
}

fn names<T>(of: &[(&str, T)]) -> String {
    of.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_its_place() {
        let words = "mixed --sessions 3 --bytes 9000 --seed 7 --shape strings --transport httpjson --batch 5 \
                     --repeat 10 --shuffle";
        let plan = parse(&words.split_whitespace().collect::<Vec<_>>()).expect("a plan");
        let expected = Plan {
            dialect: Dialect::Mixed,
            sessions: Some(3),
            amount: Amount::Bytes(9000),
            seed: 7,
            shape: Shape::Strings,
            transport: LogTransport::HttpJson,
            batch: 5,
            repeat: 10,
            shuffle: true,
        };
        assert_eq!(plan, expected);
        assert_eq!(parse(&["codex"]).expect("a plan"), Plan::new(Dialect::Codex));
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        for (words, expected) in [
            ("", "no dialect, expected one of claude-code, codex, gemini-cli, qwen-code, gen-ai, mixed"),
            (
                "cobol",
                "dialect cobol, expected one of claude-code, codex, gemini-cli, qwen-code, gen-ai, mixed",
            ),
            ("codex --records", "--records without a value"),
            ("codex --records ten", "--records ten, expected a whole number"),
            ("codex --sessions 0", "--sessions 0, expected at least 1"),
            ("codex --repeat 101", "--repeat 101, expected a percentage"),
            ("codex --shape round", "--shape round, expected one of modern, strings"),
            ("codex --records 1 --bytes 1", "--records and --bytes both say how much, expected one of them"),
        ] {
            let refused = parse(&words.split_whitespace().collect::<Vec<_>>()).expect_err(words);
            assert_eq!(refused.to_string(), expected);
        }
    }
}
