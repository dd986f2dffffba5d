//! The result of an evaluation as JSON text, with names in camel case.

use renown_core::gates::{GateResult, Verdict};
use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use renown_embed::Judged;
use renown_shipping::EncodedVerdict;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A result. A result from JavaScript is checked like an event of the API, and has no field for a payload.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Result {
    evaluation_id: EvaluationId,
    passed: bool,
    gates: Vec<Gate>,
    total_latency_ms: Micros,
    timestamp: Timestamp,
    agent_id: AgentId,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<ToolName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<Micros>,
    /// The redacted output. It is only passed to JavaScript, never read back.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    redacted: Option<Box<RawValue>>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Gate {
    name: String,
    passed: bool,
    latency_ms: Micros,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    skipped: bool,
}

/// Converts a result to JSON text.
pub(crate) fn text(judged: Judged) -> napi::Result<String> {
    let Judged { evaluation_id, agent_id, tool, latency, timestamp, verdict } = judged;
    let redacted = verdict.redacted.map(RawValue::from_string).transpose().map_err(crate::failed)?;
    let result = Result {
        evaluation_id,
        passed: verdict.passed,
        gates: verdict.gates.into_iter().map(Into::into).collect(),
        total_latency_ms: verdict.total,
        timestamp,
        agent_id,
        tool,
        latency_ms: latency,
        redacted,
    };
    serde_json::to_string(&result).map_err(crate::failed)
}

/// Converts the JSON text of a result to the event for a server.
pub(crate) fn event(text: &str) -> napi::Result<EncodedVerdict> {
    let result: Result = serde_json::from_str(text).map_err(crate::invalid)?;
    let verdict = Verdict {
        passed: result.passed,
        gates: result.gates.into_iter().map(Into::into).collect(),
        total: result.total_latency_ms,
        redacted: None,
    };
    let judged = Judged {
        evaluation_id: result.evaluation_id,
        agent_id: result.agent_id,
        tool: result.tool,
        latency: result.latency_ms,
        timestamp: result.timestamp,
        verdict,
    };
    Ok(judged.event())
}

impl From<GateResult> for Gate {
    fn from(found: GateResult) -> Self {
        let GateResult { name, passed, latency, reason, skipped } = found;
        Self { name: (*name).to_owned(), passed, latency_ms: latency, reason, skipped }
    }
}

impl From<Gate> for GateResult {
    fn from(gate: Gate) -> Self {
        let Gate { name, passed, latency_ms, reason, skipped } = gate;
        Self { name: name.into(), passed, latency: latency_ms, reason, skipped }
    }
}
