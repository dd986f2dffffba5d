//! Telemetry as agents send it: the OpenTelemetry SDKs of Python and Node against the receivers of `renown serve`.
//!
//! | check | shows |
//! |---|---|
//! | every exporter | one story over every transport gives one performance, the one worked out by hand |
//! | one session | its records may come from any SDK, before and after a crash, and twice: each counts once |
//! | same bytes | every dialect over every encoding is served as `renown judge` judges the file |
//! | the whole way | from a record without a key to the trend of an identity |
//! | reverse proxy | behind nginx and Caddy no stranger gets in, and events arrive as they happen |

mod receiver;
mod reverse_proxy;
mod same;
mod sdk;
mod story;
mod whole_way;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use receiver::{Receiver, accepted};
use sdk::Sdk;
use story::START_S;

use crate::load::{fetch, get, post};
use crate::renown::empty;
use crate::shell::{cargo, run, target_dir};

/// Over what the SDK of Python sends a log: the transport, and whether it is compressed.
const PYTHON_LOGS: [(&str, bool); 4] = [("http", false), ("http", true), ("grpc", false), ("grpc", true)];

/// The same for Node, which also speaks JSON.
const NODE_LOGS: [(&str, bool); 6] =
    [("json", false), ("json", true), ("http", false), ("http", true), ("grpc", false), ("grpc", true)];

/// Runs every check.
pub(crate) fn test() -> Result<()> {
    run(cargo().args(["build", "--locked", "--package", "renown"]))?;
    let target = target_dir()?;
    let (python, node) = (Sdk::python()?, Sdk::node()?);
    let scratch = target.join("xtask/otlp/scratch");
    empty(&scratch)?;
    let checked = checks(&target.join("debug/renown"), &scratch, &python, &node);
    fs::remove_dir_all(&scratch)?;
    checked
}

fn checks(renown: &Path, scratch: &Path, python: &Sdk, node: &Sdk) -> Result<()> {
    every_exporter(renown, scratch, python, node).context("every exporter")?;
    one_session(renown, scratch, python, node).context("one session")?;
    same::check(renown, scratch, python).context("same bytes")?;
    whole_way::check(renown, scratch).context("the whole way")?;
    reverse_proxy::check(renown, scratch).context("reverse proxy")
}

/// The same stories over every transport, each under a session of its own.
fn every_exporter(renown: &Path, scratch: &Path, python: &Sdk, node: &Sdk) -> Result<()> {
    let receiver = Receiver::first(renown, &scratch.join("exporters"), "TERM")?;
    let (mut logs, mut spans) = (Vec::new(), Vec::new());
    let log = |sdk: &str, transport: &str, gzip: bool| {
        let session = format!("{sdk}-{transport}-{}", if gzip { "gzip" } else { "plain" });
        (receiver.job("logs", transport, gzip, &story::records(&session, START_S)), session)
    };
    let span = |sdk: &str, transport: &str| {
        let session = format!("{sdk}-spans-{transport}");
        (receiver.job("spans", transport, false, &story::spans(&session, START_S)), session)
    };
    let mut python_jobs = Vec::new();
    for (transport, gzip) in PYTHON_LOGS {
        let (job, session) = log("python", transport, gzip);
        python_jobs.push(job);
        logs.push(session);
    }
    for transport in ["http", "grpc"] {
        let (job, session) = span("python", transport);
        python_jobs.push(job);
        spans.push(session);
        let metered = story::records("metered", START_S);
        python_jobs.push(receiver.job("metrics", transport, false, &metered));
    }
    let mut node_jobs = Vec::new();
    for (transport, gzip) in NODE_LOGS {
        let (job, session) = log("node", transport, gzip);
        node_jobs.push(job);
        logs.push(session);
    }
    let (job, session) = span("node", "http");
    node_jobs.push(job);
    spans.push(session);
    python.send(&python_jobs)?;
    node.send(&node_jobs)?;

    for session in &logs {
        receiver.performs(session, &story::performance(session, START_S)?)?;
    }
    for session in &spans {
        receiver.performs(session, &story::span_performance(session, START_S)?)?;
    }
    // Metrics are accepted and dropped, so nothing else became a session.
    count(&receiver, logs.len() + spans.len())?;
    println!("{} logs and {} traces of two SDKs: one performance each, as by hand", logs.len(), spans.len());
    Ok(())
}

/// One session from two SDKs and a file of the collector, with a crash in between, and then all of it once more from each.
fn one_session(renown: &Path, scratch: &Path, python: &Sdk, node: &Sdk) -> Result<()> {
    const SESSION: &str = "over-everything";
    let data = scratch.join("one-session");
    let records = story::records(SESSION, START_S);
    let part = |from: usize| records.get(from..from + 3).context("nine records");
    let key = {
        let receiver = Receiver::first(renown, &data, "KILL")?;
        python.send(&[receiver.job("logs", "http", false, part(0)?)])?;
        node.send(&[receiver.job("logs", "grpc", false, part(3)?)])?;
        receiver.key.clone()
    };

    let receiver = Receiver::again(renown, &data, key)?;
    let survived = receiver.read(&format!("/v1/sessions/{SESSION}/performance"))?;
    let (tools, prompts) = (survived.pointer("/stats/total_tools"), survived.pointer("/stats/prompts"));
    let six = (tools, prompts) == (Some(&json!(3)), Some(&json!(1)));
    ensure!(six, "six records were accepted before the server was killed: {survived}");
    let file = |records: &[Value]| {
        let body = story::collected(records).to_string();
        accepted(&fetch(receiver.api, &post("/otlp/v1/logs", &receiver.key, &body), 200)?)
    };
    file(part(6)?)?;
    let expected = story::performance(SESSION, START_S)?;
    receiver.performs(SESSION, &expected).context("records of three senders")?;

    python.send(&[receiver.job("logs", "http", true, &records)])?;
    node.send(&[receiver.job("logs", "grpc", true, &records)])?;
    file(&records)?;
    receiver.performs(SESSION, &expected).context("all of it once more")?;
    count(&receiver, 1)?;
    let figures = String::from_utf8(fetch(receiver.api, &get("/metrics", &receiver.key), 200)?)?;
    let repeats = format!("renown_telemetry_records_total{{result=\"duplicates\"}} {}", 3 * records.len());
    ensure!(figures.lines().any(|line| line == repeats), "/metrics does not have: {repeats}");
    println!("one session of Python, Node and a collector's file, through kill -9: every record once");
    Ok(())
}

/// Checks that there are exactly this many sessions.
fn count(receiver: &Receiver, expected: usize) -> Result<()> {
    let sessions = receiver.read("/v1/sessions?limit=100")?;
    let found = sessions.get("data").and_then(Value::as_array).context("no list of sessions")?;
    ensure!(found.len() == expected, "{} sessions, expected {expected}: {sessions}", found.len());
    Ok(())
}
