//! Converts results to text and back, for pickle. The text of a result is the event that a server receives, so it
//! contains no payload.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use renown_core::gates::{GateResult as Found, Verdict};
use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use renown_embed as embed;
use serde::{Deserialize, Serialize};

use crate::result::GateResult;

/// A result in the format of the API.
#[derive(Deserialize)]
struct Event {
    evaluation_id: EvaluationId,
    agent_id: AgentId,
    tool: Option<ToolName>,
    passed: bool,
    gates: Vec<Gate>,
    total_latency_ms: Micros,
    latency_ms: Option<Micros>,
    timestamp: Timestamp,
}

/// The result of one gate in the format of the API.
#[derive(Deserialize, Serialize)]
pub(crate) struct Gate {
    name: String,
    passed: bool,
    latency_ms: f64,
    reason: Option<String>,
    #[serde(default)]
    skipped: bool,
}

impl From<&GateResult> for Gate {
    fn from(found: &GateResult) -> Self {
        let GateResult { name, passed, latency_ms, reason, skipped } = found.clone();
        Self { name, passed, latency_ms, reason, skipped }
    }
}

/// Converts the result of a gate to text.
pub(crate) fn text(gate: &Gate) -> PyResult<String> {
    serde_json::to_string(gate).map_err(damaged)
}

/// Parses the result of a gate.
pub(crate) fn gate(text: &str) -> PyResult<GateResult> {
    let Gate { name, passed, latency_ms, reason, skipped } = serde_json::from_str(text).map_err(damaged)?;
    Ok(GateResult { name, passed, latency_ms, reason, skipped })
}

/// Parses the result of an evaluation.
pub(crate) fn judged(text: &str) -> PyResult<embed::Judged> {
    let Event {
        evaluation_id,
        agent_id,
        tool,
        passed,
        gates,
        total_latency_ms: total,
        latency_ms,
        timestamp,
    } = serde_json::from_str(text).map_err(damaged)?;
    let mut results = Vec::new();
    for Gate { name, passed, latency_ms, reason, skipped } in gates {
        let latency = Micros::from_ms(latency_ms).map_err(damaged)?;
        results.push(Found { name: name.into(), passed, latency, reason, skipped });
    }
    let verdict = Verdict { passed, gates: results, total, redacted: None };
    Ok(embed::Judged { evaluation_id, agent_id, tool, latency: latency_ms, timestamp, verdict })
}

fn damaged<E: core::fmt::Display>(error: E) -> PyErr {
    PyValueError::new_err(format!("damaged result: {error}"))
}
