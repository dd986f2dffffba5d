//! `cargo xtask bench core`: the cost of each rule, its target, and how many times faster it is than its peer.

mod bulk;
mod contest;
mod evidence;
mod gates;
mod history;
mod judge;
mod otlp;
mod pages;
mod proxy;
mod serve;

use std::fs;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

pub(crate) use evidence::{evidence, evidence_here};
pub(crate) use gates::gates;
pub(crate) use history::history;
pub(crate) use judge::judge;
pub(crate) use otlp::otlp;
pub(crate) use pages::{USAGE as PAGES_USAGE, pages};
pub(crate) use proxy::{echo, proxy};
pub(crate) use serve::{USAGE as SERVE_USAGE, plain, serve};

use crate::shell::{cargo, run, target_dir};

/// One line of the table: a measurement, the most it may take, and the peer it is compared with.
struct Row {
    what: &'static str,
    bench: &'static str,
    target_ns: Option<f64>,
    peer: Option<(&'static str, &'static str)>,
}

const ROWS: [Row; 9] = [
    Row {
        what: "window update + score",
        bench: "reputation/update_and_score",
        target_ns: Some(20.0),
        peer: Some(("rescanning 500 entries", "reputation/rescan_and_score")),
    },
    Row { what: "window update", bench: "reputation/update", target_ns: None, peer: None },
    Row { what: "score of a window", bench: "reputation/score", target_ns: None, peer: None },
    Row {
        what: "100 traces, both metrics",
        bench: "session/both_metrics_of_100_traces",
        target_ns: Some(15_000.0),
        peer: None,
    },
    Row {
        what: "round4",
        bench: "session/round4",
        target_ns: None,
        peer: Some(("printing and parsing", "session/round4_by_printing")),
    },
    Row { what: "scorecard of a run", bench: "rules/scorecard", target_ns: None, peer: None },
    Row { what: "performance of a session", bench: "rules/performance", target_ns: None, peer: None },
    Row { what: "identity with trends", bench: "rules/identity", target_ns: None, peer: None },
    Row { what: "JSON run, read and scored", bench: "inputs/run", target_ns: None, peer: None },
];

/// Runs the benches of the rules and prints the table.
pub(crate) fn core() -> Result<()> {
    run(cargo().args(["bench", "--locked", "--package", "renown-core", "--bench", "rules"]))?;
    let results = target_dir()?.join("criterion");
    println!("\n{:<28} {:>12} {:>12} {:>8}   ratio to its peer", "what", "median", "target", "");
    for row in ROWS {
        let found = median_ns(&results, row.bench)?;
        let target = row.target_ns.map(|target| format!("< {}", time(target))).unwrap_or_default();
        let verdict = row.target_ns.map_or("", |target| if found < target { "met" } else { "MISSED" });
        let ratio = match row.peer {
            Some((peer, bench)) => format!("{:.1}× faster than {peer}", median_ns(&results, bench)? / found),
            None => String::new(),
        };
        println!("{:<28} {:>12} {:>12} {:>8}   {ratio}", row.what, time(found), target, verdict);
    }
    Ok(())
}

/// Returns the median of a bench, as recorded by criterion.
fn median_ns(results: &Path, bench: &str) -> Result<f64> {
    let path = results.join(bench).join("new/estimates.json");
    let text = fs::read_to_string(&path).with_context(|| format!("no result of {bench}"))?;
    let estimates: Value = serde_json::from_str(&text)?;
    estimates
        .pointer("/median/point_estimate")
        .and_then(Value::as_f64)
        .context("criterion recorded no median")
}

/// Returns the value of an option that is a whole number.
fn number<N: FromStr + Default + PartialOrd>(option: &str, text: &str) -> Result<N> {
    let number = text.parse().ok().filter(|number| *number > N::default());
    ensure!(number.is_some(), "{option} {text}, expected a whole number from 1 on");
    number.context("checked above")
}

fn time(ns: f64) -> String {
    if ns < 1000.0 { format!("{ns:.1} ns") } else { format!("{:.2} µs", ns / 1000.0) }
}
