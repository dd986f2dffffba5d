//! Reads the output of `renown export` with other programs: DuckDB reads the Parquet, Python the CSV, and both must
//! find what the JSON Lines contain. The query of `docs/operations.md` runs on the file of its command.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use renown_core::identity::{Category, Event, Reference, ScoreDelta, identity_of};
use renown_core::ids::{AgentId, EvaluationId};
use renown_core::session_metrics::Trace;
use renown_core::time::Timestamp;
use renown_core::units::{Micros, Unit};
use renown_store::sqlite::{Sqlite, system_clock};
use renown_store::{
    DEFAULT_ORG, Evidence, NewEvaluation, NewEvaluationId, NewReputationEvent, NewSignals, NewTrace,
};
use renown_telemetry::facts::Batch;
use renown_telemetry::prices::Prices;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::duckdb;
use crate::shell::{cargo, output, program, root, run, target_dir};

/// More than one Parquet row group.
const EVALUATIONS: u64 = 60_000;
const EVENTS: u64 = 2000;
const SESSIONS: u64 = 200;
/// Texts that every format must preserve.
const TEXTS: [&str; 5] = ["plain", "quoted \"twice\", and a comma", "über 🦀", "=1+1", " spaces "];

/// Exports all kinds in all formats and compares them.
pub(crate) fn check() -> Result<()> {
    let folder = target_dir()?.join("xtask/export");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    run(cargo().args(["build", "--locked", "--package", "renown"]))?;
    let data = folder.join("data");
    fill(&data)?;
    let renown = || -> Result<_> {
        let mut renown = program(target_dir()?.join("debug/renown"));
        renown.env("RENOWN_DATA", &data).arg("--quiet").current_dir(root());
        Ok(renown)
    };
    output(renown()?.args(["runs", "submit", "examples/finished.jsonl"]))?;
    for kind in ["evaluations", "events", "runs", "sessions"] {
        for format in ["jsonl", "csv", "parquet"] {
            let file = folder.join(format!("{kind}.{format}"));
            let raw: &[&str] = if format == "csv" { &["--raw"] } else { &[] };
            output(renown()?.args(["export", kind, "--format", format]).args(raw).arg("-o").arg(file))?;
        }
    }
    print!("{}", output(duckdb::script("export.py")?.arg(&folder).arg(query()?))?);
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Returns the query that `docs/operations.md` shows.
fn query() -> Result<String> {
    let document = fs::read_to_string(root().join("docs/operations.md"))?;
    let query = document.split("```sql\n").nth(1).and_then(|rest| rest.split("```").next());
    let query = query.context("docs/operations.md has no query")?;
    ensure!(query.contains("'runs.parquet'"), "the query of docs/operations.md does not read runs.parquet");
    Ok(query.to_owned())
}

fn text(number: u64) -> Result<&'static str> {
    TEXTS.get(usize::try_from(number)? % TEXTS.len()).copied().context("a text")
}

fn fill(data: &Path) -> Result<()> {
    fs::create_dir_all(data)?;
    let store = Sqlite::open(data, "cargo xtask test", system_clock())?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let org = DEFAULT_ORG.parse()?;
    let evaluations = (0..EVALUATIONS).map(|number| {
        anyhow::Ok(NewEvaluation {
            agent: text(number)?.parse()?,
            id: NewEvaluationId::Generated(EvaluationId::made(number, number)),
            passed: !number.is_multiple_of(3),
            gate_latency: Micros::from_us(u32::try_from(number)?).unwrap_or_default(),
            agent_latency: number.is_multiple_of(2).then(Micros::default),
            tool: number
                .is_multiple_of(5)
                .then(|| text(number / 5))
                .transpose()?
                .map(str::parse)
                .transpose()?,
            gates: r#"[{"name":"pii","passed":true,"latency_ms":0.003}]"#.into(),
            timestamp: number
                .is_multiple_of(7)
                .then(|| Timestamp::from_millis(1_779_000_000_000))
                .transpose()?,
        })
    });
    runtime.block_on(store.append(&org, evaluations.collect::<Result<_>>()?, None))?;
    let now = (system_clock())()?;
    let events = (0..EVENTS).map(|number| {
        let agent: AgentId = text(number)?.parse()?;
        let event = Event {
            event_id: Uuid::from_u128(number.into()),
            timestamp: Timestamp::from_millis(now.millis() - i64::try_from(number)?)?,
            identity_id: None,
            agent_id: None,
            category: Category::TaskQuality,
            event_type: text(number + 1)?.parse()?,
            score_delta: ScoreDelta::from_millionths(i64::try_from(number)? * 1_234_567 - 9)
                .context("a delta")?,
            confidence: Unit::ONE,
            reference_type: Reference::default(),
            reference_id: number.is_multiple_of(2).then(|| text(number)).transpose()?.map(str::to_owned),
            attributes: BTreeMap::from([(text(number)?.to_owned(), text(number + 1)?.to_owned())]),
        };
        anyhow::Ok(NewReputationEvent { identity: identity_of(&org, &agent), agent: Some(agent), event })
    });
    runtime.block_on(store.add_reputation_events(&org, events.collect::<Result<_>>()?, None))?;
    for number in 0..SESSIONS {
        let id = format!("{} {number}", text(number)?);
        if number.is_multiple_of(10) {
            let traces = vec![NewTrace { trace: trace(number)?, started_at: None }];
            let signals = NewSignals { agent: Some(text(number)?.parse()?), traces };
            runtime.block_on(store.add_signals(&org, &id.parse()?, signals, None))?;
        } else {
            runtime.block_on(store.add_records(&org, records(&id, number)?, None))?;
        }
    }
    Ok(())
}

/// Returns a trace with signals.
fn trace(number: u64) -> Result<Trace> {
    Ok(serde_json::from_value(json!({"trace_id": text(number)?, "signals": {"confidence": 0.3}}))?)
}

/// Returns a prompt, and for some also a tool call and its cost.
fn records(session: &str, number: u64) -> Result<Batch> {
    let record = |after_s: u64, name: &str, more: &[(&str, &str)]| {
        let attributes: Vec<Value> = [("session.id", session), ("agent.name", session)]
            .iter()
            .chain(more)
            .map(|(key, value)| json!({"key": key, "value": {"stringValue": value}}))
            .collect();
        let time = (1_779_000_000 + number * 1000 + after_s) * 1_000_000_000 + number;
        json!({"timeUnixNano": time.to_string(), "eventName": format!("claude_code.{name}"), "attributes": attributes})
    };
    let mut records = vec![record(0, "user_prompt", &[])];
    if number.is_multiple_of(3) {
        let ok = if number.is_multiple_of(2) { "true" } else { "false" };
        records.push(record(61, "tool_result", &[("tool_name", "Edit"), ("success", ok)]));
        records.push(record(62, "api_request", &[("cost_usd", "0.0123"), ("input_tokens", "1234")]));
    }
    let line = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).to_string();
    let mut batch = Batch::default();
    renown_telemetry::json::read(line.as_bytes(), 1, &Prices::default(), &mut batch)
        .map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(batch)
}
