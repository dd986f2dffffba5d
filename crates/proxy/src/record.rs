//! A record of the log.

use renown_core::gates::GateResult;
use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use serde::Serialize;

/// What the proxy did with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It was forwarded unchanged.
    Forwarded,
    /// It was replaced by an error.
    Blocked,
    /// It was forwarded unchanged in observing mode; otherwise it would have been blocked or redacted.
    Observed,
    /// It was forwarded without the findings.
    Redacted,
    /// The server never answered.
    Lost,
}

/// One call: a line of the log.
#[derive(Clone, Debug, Serialize)]
pub struct CallRecord {
    /// Time of the record.
    pub ts: Timestamp,
    /// Id of the evaluation.
    pub evaluation_id: EvaluationId,
    /// Agent that made the call.
    pub agent_id: AgentId,
    /// Command line or address of the server.
    pub server: String,
    /// Name of the tool.
    pub tool: Option<ToolName>,
    /// What the proxy did.
    pub action: Action,
    /// Whether every gate passed or was skipped.
    pub passed: bool,
    /// One result per gate, gates of the arguments first.
    pub gates: Vec<GateResult>,
    /// Latency of the gates.
    #[serde(rename = "total_latency_ms")]
    pub total: Micros,
    /// Latency of the tool.
    #[serde(rename = "latency_ms")]
    pub latency: Option<Micros>,
    /// Length of the answer.
    pub bytes: usize,
    /// Whether the tool or the server reported a failure.
    pub tool_error: bool,
    /// Whether it counts as an evaluation of the agent. A call that was not judged does not.
    #[serde(skip)]
    pub counts: bool,
}
