//! Same bytes, same score: a log of every dialect, sent as JSON and as protobuf, gives for every session what `renown judge` gives
//! for the file.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::receiver::Receiver;
use super::sdk::Sdk;
use crate::generate::{Amount, Dialect, LogTransport, Plan};
use crate::shell::{output, program, run};

/// The amount that is generated per dialect. Lines are repeated and swapped, and the result must not depend on that.
const RECORDS: u64 = 400;
const SESSIONS: u64 = 4;
const REPEATED_PERCENT: u64 = 10;

const DIALECTS: [Dialect; 5] =
    [Dialect::ClaudeCode, Dialect::Codex, Dialect::GeminiCli, Dialect::QwenCode, Dialect::GenAi];

/// Compares every session of every dialect over every transport.
pub(super) fn check(renown: &Path, scratch: &Path, python: &Sdk) -> Result<()> {
    let mut files = Vec::new();
    let mut judged = Vec::new();
    for (seed, dialect) in (1..).zip(DIALECTS) {
        let file = scratch.join(format!("{dialect:?}.jsonl"));
        generate(dialect, seed, &file)?;
        let mut judge = program(renown);
        judge.args(["judge", "--all", "--format", "json", "--quiet"]).arg(&file);
        let reports: Vec<Value> = serde_json::from_str(&output(&mut judge)?)?;
        ensure!(!reports.is_empty(), "{dialect:?}: no session was judged");
        judged.extend(reports);
        files.push(file);
    }
    for transport in ["json", "http", "grpc"] {
        let receiver = Receiver::first(renown, &scratch.join(format!("same-{transport}")), "TERM")?;
        send(transport, &receiver, &files, python).with_context(|| format!("sent over {transport}"))?;
        for report in &judged {
            let session = report.get("session_id").and_then(Value::as_str).context("a session has an id")?;
            receiver.performs(session, report).with_context(|| format!("sent over {transport}"))?;
        }
    }
    println!(
        "{} sessions of {} dialects: served as judged, from JSON and protobuf",
        judged.len(),
        files.len()
    );
    Ok(())
}

fn generate(dialect: Dialect, seed: u64, file: &Path) -> Result<()> {
    let plan = Plan {
        sessions: Some(SESSIONS),
        amount: Amount::Records(RECORDS),
        seed,
        transport: if seed.is_multiple_of(2) { LogTransport::HttpJson } else { LogTransport::Collector },
        repeat: REPEATED_PERCENT,
        shuffle: true,
        ..Plan::new(dialect)
    };
    let mut out = BufWriter::new(File::create(file)?);
    plan.write(&mut out)?;
    Ok(out.flush()?)
}

fn send(transport: &str, receiver: &Receiver, files: &[PathBuf], python: &Sdk) -> Result<()> {
    if transport != "json" {
        let address = if transport == "grpc" { receiver.grpc } else { receiver.http };
        return run(python.script("convert.py").arg(transport).arg(address.to_string()).args(files));
    }
    for file in files {
        for (number, line) in (1..).zip(fs::read_to_string(file)?.lines()) {
            let signal = if line.starts_with("{\"resourceSpans\"") { "traces" } else { "logs" };
            receiver.takes(signal, line).with_context(|| format!("{}:{number}", file.display()))?;
        }
    }
    Ok(())
}
