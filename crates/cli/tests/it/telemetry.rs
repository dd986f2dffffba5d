//! Writes telemetry into a store, like a server.

use std::path::Path;

use renown_store::sqlite::{Sqlite, system_clock};
use renown_store::{DEFAULT_ORG, Evidence, NewSignals, NewTrace};
use renown_telemetry::facts::Batch;
use renown_telemetry::prices::Prices;
use renown_testing::wait;
use serde_json::{Value, json};

/// A store that only the test writes to.
pub(crate) struct Received(Sqlite);

impl Received {
    /// Opens the store of a data directory.
    pub(crate) fn open(data: &Path) -> Self {
        std::fs::create_dir_all(data).unwrap();
        Self(Sqlite::open(data, "a test", system_clock()).unwrap())
    }

    /// Adds these lines of OTLP JSON.
    pub(crate) fn receive(&self, lines: &[String]) -> &Self {
        for line in lines {
            let mut batch = Batch::default();
            renown_telemetry::json::read(line.as_bytes(), 1, &Prices::default(), &mut batch).unwrap();
            wait(self.0.add_records(&DEFAULT_ORG.parse().unwrap(), batch, None)).unwrap();
        }
        self
    }

    /// Adds the signal `confidence` of one trace of a session.
    pub(crate) fn signal(&self, session: &str, agent: &str, confidence: f64) -> &Self {
        let trace = json!({"trace_id": "t", "signals": {"confidence": confidence}});
        let traces = vec![NewTrace { trace: serde_json::from_value(trace).unwrap(), started_at: None }];
        let signals = NewSignals { agent: Some(agent.parse().unwrap()), traces };
        let org = DEFAULT_ORG.parse().unwrap();
        wait(self.0.add_signals(&org, &session.parse().unwrap(), signals, None)).unwrap();
        self
    }
}

/// Returns a line with a log record of the agent `coder`, this many seconds after 2026-09-21T14:13:20Z.
pub(crate) fn line(session: &str, name: &str, seconds: u64, more: &[(&str, &str)]) -> String {
    let named = [("event.name", name), ("session.id", session)];
    let attributes: Vec<Value> = named
        .iter()
        .chain(more)
        .map(|(key, value)| json!({"key": key, "value": {"stringValue": value}}))
        .collect();
    let time = format!("{}000000000", 1_790_000_000 + seconds);
    let record = json!({"timeUnixNano": time, "attributes": attributes});
    let resource = json!({"attributes": [{"key": "renown.agent_id", "value": {"stringValue": "coder"}}]});
    json!({"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": [record]}]}]}).to_string()
}
