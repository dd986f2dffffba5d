//! Computes the same sums twice: by `renown-telemetry` and by SQL over the same log. They must be equal to the last
//! digit.
//!
//! There are twenty logs of Claude Code: both shapes and both transports, five seeds each, with repeated lines and
//! lines out of order. The two share no code; `xtask/duckdb/sums.py` was written from the contract alone. The program
//! itself must print exactly what the library returns.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use renown_core::time::Timestamp;
use renown_telemetry::facts::Batch;
use renown_telemetry::json;
use renown_telemetry::ledger::{Ledger, Session, TimeRange};
use renown_telemetry::prices::Prices;
use serde_json::Value;

use crate::duckdb;
use crate::generate::{Amount, Dialect, LogTransport, Plan, Shape};
use crate::shell::{self, cargo, output, program, target_dir};

const SEEDS: u64 = 5;
const RECORDS: u64 = 1500;
const SESSIONS: u64 = 12;

/// Compares all twenty logs.
pub(crate) fn run() -> Result<()> {
    let folder = target_dir()?.join("xtask/differential");
    fs::create_dir_all(&folder)?;
    shell::run(cargo().args(["build", "--locked", "--package", "renown"]))?;
    let (mut logs, mut sessions) = (0, 0);
    for shape in [Shape::Modern, Shape::Strings] {
        for transport in [LogTransport::Collector, LogTransport::HttpJson] {
            for seed in 1..=SEEDS {
                let plan = Plan {
                    sessions: Some(SESSIONS),
                    amount: Amount::Records(RECORDS),
                    seed,
                    shape,
                    transport,
                    repeat: 5 * (seed - 1),
                    shuffle: seed % 2 == 0,
                    ..Plan::new(Dialect::ClaudeCode)
                };
                let name = format!("{shape:?}-{transport:?}-{seed}");
                let path = folder.join(format!("{name}.jsonl"));
                sessions += compare(&plan, &path).with_context(|| name)?;
                logs += 1;
            }
        }
    }
    println!("{logs} logs, {sessions} sessions: equal to the last digit");
    Ok(())
}

/// The sums of one session, by name.
type Sums = BTreeMap<&'static str, String>;

fn compare(plan: &Plan, path: &Path) -> Result<usize> {
    let mut file = BufWriter::new(File::create(path)?);
    let written = plan.write(&mut file)?;
    file.flush()?;
    let ours = by_renown(path, written.repeated)?;
    let theirs = by_duckdb(path)?;
    ensure!(!ours.is_empty() && ours.keys().eq(theirs.keys()), "not the same sessions");
    for ((id, by_renown), by_sql) in ours.iter().zip(theirs.values()) {
        ensure!(by_renown == by_sql, "session {id}\n  renown {by_renown:?}\n  SQL    {by_sql:?}");
    }
    fs::remove_file(path)?;
    Ok(ours.len())
}

fn by_renown(path: &Path, repeated: u64) -> Result<BTreeMap<String, Sums>> {
    let (mut ledger, mut batch) = (Ledger::new(TimeRange::default()), Batch::default());
    for (number, line) in (1..).zip(fs::read(path)?.split(|byte| *byte == b'\n')) {
        if !line.is_empty() {
            json::read(line, number, &Prices::default(), &mut batch)?;
        }
    }
    ledger.fold(&batch).map_err(|_| anyhow!("too many sessions"))?;
    let reports: Vec<_> = ledger.scorable().into_iter().filter_map(Session::report).collect();
    let mut judge = program(target_dir()?.join("debug/renown"));
    let printed = output(judge.args(["judge", "--all", "--format", "json", "--quiet"]).arg(path))?;
    ensure!(
        printed == serde_json::to_string_pretty(&reports)? + "\n",
        "`renown judge` prints something else"
    );
    let duplicates = ledger.account().duplicates;
    ensure!(duplicates == repeated, "{repeated} records were repeated, {duplicates} were found");
    let sums = ledger.scorable().into_iter().filter_map(|session| {
        let (totals, report) = (session.totals()?, session.report()?);
        let nanos = |time: Option<Timestamp>| time.map_or(0, Timestamp::nanos).to_string();
        let sums = Sums::from([
            ("first_ns", nanos(report.started_at)),
            ("last_ns", nanos(report.ended_at)),
            ("prompts", totals.prompts.to_string()),
            ("total_tools", totals.total_tools.to_string()),
            ("tools_ok", totals.tools_ok.to_string()),
            ("cost_nano", totals.total_cost.nano().to_string()),
            ("total_tokens", totals.total_tokens.to_string()),
            ("cache_tokens", totals.cache_tokens.to_string()),
            ("api_errors", report.signals.api_errors.to_string()),
            ("accepts", report.signals.accepts.to_string()),
            ("rejects", report.signals.rejects.to_string()),
        ]);
        Some((session.id().to_owned(), sums))
    });
    Ok(sums.collect())
}

fn by_duckdb(path: &Path) -> Result<BTreeMap<String, Sums>> {
    const NAMES: [&str; 11] = [
        "first_ns",
        "last_ns",
        "prompts",
        "total_tools",
        "tools_ok",
        "cost_nano",
        "total_tokens",
        "cache_tokens",
        "api_errors",
        "accepts",
        "rejects",
    ];
    let text = output(duckdb::script("sums.py")?.arg(path))?;
    let sums = text.lines().map(|line| {
        let row: Value = serde_json::from_str(line)?;
        let field = |name: &str| -> Result<String> {
            let value = row.get(name).with_context(|| format!("no {name} in {line}"))?;
            Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        let sums = NAMES.iter().map(|name| Ok((*name, field(name)?))).collect::<Result<Sums>>()?;
        Ok((field("session_id")?, sums))
    });
    sums.collect()
}
