//! One evaluation with the results of its gates, for charts, lists and the causes of a change.

use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::reputation::ReputationSummary;
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use renown_store::StoredEvaluation;
use serde::Deserialize;

/// An evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationView {
    /// Id of the evaluation.
    pub id: EvaluationId,
    /// Agent that produced the output.
    pub agent_id: AgentId,
    /// Tool that returned the output.
    pub tool: Option<ToolName>,
    /// Whether every gate passed.
    pub passed: bool,
    /// Results of the gates.
    pub gates: Vec<GateView>,
    /// Latency that counts for the score.
    pub latency: Micros,
    /// Reputation of the agent right after the evaluation.
    pub standing: ReputationSummary,
    /// Time of the evaluation.
    pub created_at: Timestamp,
}

/// The result of one gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct GateView {
    /// Name of the gate.
    pub name: String,
    /// Whether the gate passed.
    pub passed: bool,
    /// Reason for a failure or a skip.
    pub reason: Option<String>,
    /// Whether the gate was skipped.
    pub skipped: Option<bool>,
}

impl EvaluationView {
    /// Builds the view of an evaluation. The gate results were checked before they were stored, so parsing them cannot fail.
    pub fn of(event: &StoredEvaluation) -> Self {
        Self {
            id: event.id.clone(),
            agent_id: event.agent.clone(),
            tool: event.tool.clone(),
            passed: event.passed,
            gates: serde_json::from_str(&event.gates).unwrap_or_default(),
            latency: event.latency,
            standing: event.standing,
            created_at: event.created_at,
        }
    }

    /// Returns the gates that made the evaluation fail. In an evaluation that passed, gates in observing mode may have failed; they are not
    /// returned.
    pub fn failed_gates(&self) -> impl Iterator<Item = &GateView> {
        self.gates.iter().filter(|gate| !self.passed && !gate.passed)
    }
}
