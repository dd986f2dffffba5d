//! What the log says of a call.

use renown_core::gates::GateResult;
use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use serde::Serialize;

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It went on as it was.
    Forwarded,
    /// The client got an error in its place.
    Blocked,
    /// It would have been blocked, and went on.
    Observed,
    /// It went on without what the gates took out.
    Redacted,
    /// The server never answered.
    Lost,
}

/// One call, as a line of the log has it.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// When it was known.
    pub ts: Timestamp,
    /// The id under which it is counted.
    pub evaluation_id: EvaluationId,
    /// Whose call it was.
    pub agent_id: AgentId,
    /// The server, as its command line or address.
    pub server: String,
    /// The tool.
    pub tool: Option<ToolName>,
    /// What became of it.
    pub action: Action,
    /// Whether every gate passed or was skipped.
    pub passed: bool,
    /// One result a gate, those of the arguments first.
    pub gates: Vec<GateResult>,
    /// How long the gates took.
    #[serde(rename = "total_latency_ms")]
    pub total: Micros,
    /// How long the tool took.
    #[serde(rename = "latency_ms")]
    pub latency: Option<Micros>,
    /// The length of the answer.
    pub bytes: usize,
    /// Whether the tool or the server said that it failed.
    pub tool_error: bool,
    /// Whether it is an evaluation, which counts for the agent. A call that nobody judged does not.
    #[serde(skip)]
    pub counts: bool,
}
