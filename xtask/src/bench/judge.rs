//! `cargo xtask bench judge`: `renown judge --all` against DuckDB on the same logs, in one run.
//!
//! | peer | is |
//! |---|---|
//! | script | step by step, as a script flattens a log: the schema detected, three levels unnested into tables, then summed |
//! | detected | the same as one query, from which DuckDB leaves out what is not needed |
//! | typed | the same with the schema written out, which saves DuckDB from sampling the file |
//! | text | the fastest query found: records cut and values found as text, no JSON parsed, no repeats found |
//!
//! The time of DuckDB is that of the query alone. That of `renown` is that of the whole process.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::duckdb;
use crate::generate::{Amount, Dialect, Plan};
use crate::shell::{cargo, output, program, run, target_dir};

/// Sizes of the logs in bytes, and how often each is measured. The fastest run counts.
const SIZES: [(u64, u32); 3] = [(10_000_000, 7), (100_000_000, 5), (LARGEST_BYTES, 5)];

/// The log that the targets apply to.
const LARGEST_BYTES: u64 = 1_000_000_000;

/// The peers, and how many times faster than each `renown` must be on the largest log.
const PEERS: [(&str, Option<f64>); 4] =
    [("script", Some(25.0)), ("detected", None), ("typed", None), ("text", Some(6.0))];

const RSS_MB_MAX: f64 = 150.0;
const GB_PER_SECOND_MIN: f64 = 1.0;

/// The log for the cold start.
const SMALL_BYTES: u64 = 1_000_000;
const COLD_START_MS_MAX: f64 = 20.0;

/// Time and memory of a command.
struct Measured {
    seconds: f64,
    rss_mb: f64,
}

/// Generates the logs, measures everything and prints the table.
pub(crate) fn judge() -> Result<()> {
    run(cargo().args(["build", "--locked", "--release", "--package", "renown"]))?;
    let renown = target_dir()?.join("release/renown");
    let folder = target_dir()?.join("xtask/bench");
    fs::create_dir_all(&folder)?;
    println!("\n{:>8}  {:<10} {:>9} {:>9} {:>9}   ratio", "log", "what", "time", "GB/s", "RSS");
    for (bytes, times) in SIZES {
        let log = generate(&folder, bytes)?;
        let ours = renown_judge(&renown, &log, times)?;
        row(bytes, "renown", &ours, "");
        for (peer, target) in PEERS {
            let theirs = peer_query(peer, &log, times)?;
            let ratio = theirs.seconds / ours.seconds;
            let target = target
                .filter(|_| bytes == LARGEST_BYTES)
                .map(|target| verdict(ratio >= target, &format!("≥ {target:.0}×")));
            row(
                bytes,
                peer,
                &theirs,
                &format!("renown is {ratio:.1}× as fast {}", target.unwrap_or_default()),
            );
        }
        if bytes == LARGEST_BYTES {
            println!(
                "{:>8}  renown: {} {}",
                "",
                verdict(ours.rss_mb <= RSS_MB_MAX, &format!("≤ {RSS_MB_MAX:.0} MB")),
                verdict(rate(bytes, &ours) >= GB_PER_SECOND_MIN, &format!("≥ {GB_PER_SECOND_MIN:.0} GB/s")),
            );
        }
        fs::remove_file(log)?;
    }
    let log = generate(&folder, SMALL_BYTES)?;
    let cold = renown_judge(&renown, &log, 20)?;
    let ms = cold.seconds * 1000.0;
    let target = verdict(ms < COLD_START_MS_MAX, &format!("< {COLD_START_MS_MAX:.0} ms"));
    println!("   1 MB  whole process: {ms:.1} ms {target}");
    Ok(())
}

fn generate(folder: &Path, bytes: u64) -> Result<PathBuf> {
    let path = folder.join(format!("{bytes}.jsonl"));
    let mut file = BufWriter::new(File::create(&path)?);
    Plan { amount: Amount::Bytes(bytes), ..Plan::new(Dialect::ClaudeCode) }.write(&mut file)?;
    file.flush()?;
    Ok(path)
}

/// Returns the fastest of some runs of `renown judge --all`. The measuring script reads the peak memory of its child.
fn renown_judge(renown: &Path, log: &Path, times: u32) -> Result<Measured> {
    let mut command = program("python3");
    command.arg("xtask/measure.py").arg(times.to_string()).arg(renown);
    command.args(["judge", "--all", "--format", "json", "--quiet"]).arg(log);
    let found: Value = serde_json::from_str(&output(&mut command)?)?;
    measured(&found)
}

/// Returns the fastest of some runs of a query, each in its own process.
fn peer_query(peer: &str, log: &Path, times: u32) -> Result<Measured> {
    let mut best: Option<Measured> = None;
    for _ in 0..times {
        let found: Value = serde_json::from_str(&output(duckdb::script("bench.py")?.arg(peer).arg(log))?)?;
        let found = measured(&found)?;
        let is_better = best.as_ref().is_none_or(|best| found.seconds < best.seconds);
        if is_better {
            best = Some(found);
        }
    }
    best.context("measured at least once")
}

fn measured(found: &Value) -> Result<Measured> {
    let number =
        |name: &str| found.get(name).and_then(Value::as_f64).with_context(|| format!("no {name} in {found}"));
    let measured = Measured { seconds: number("seconds")?, rss_mb: number("peak_rss_mb")? };
    ensure!(measured.seconds > 0.0, "nothing was measured");
    Ok(measured)
}

fn verdict(met: bool, target: &str) -> String {
    format!("(target {target}: {})", if met { "met" } else { "MISSED" })
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn rate(bytes: u64, measured: &Measured) -> f64 {
    bytes as f64 / measured.seconds / 1e9
}

fn row(bytes: u64, what: &str, measured: &Measured, ratio: &str) {
    println!(
        "{:>5} MB  {what:<10} {:>7.3} s {:>9.2} {:>6.0} MB   {ratio}",
        bytes / 1_000_000,
        measured.seconds,
        rate(bytes, measured),
        measured.rss_mb,
    );
}
