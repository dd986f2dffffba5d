//! One evaluation with what its gates said, for strips, lists and the causes of a change.

use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::reputation::Standing;
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use renown_store::StoredEvaluation;
use serde::Deserialize;

/// An evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationView {
    /// Its id.
    pub id: EvaluationId,
    /// Whose output it was.
    pub agent_id: AgentId,
    /// The tool whose output it was.
    pub tool: Option<ToolName>,
    /// Whether every gate passed.
    pub passed: bool,
    /// What each gate said.
    pub gates: Vec<GateView>,
    /// The latency that counts for the score.
    pub latency: Micros,
    /// The agent's standing right after it.
    pub standing: Standing,
    /// When it happened.
    pub created_at: Timestamp,
}

/// What a gate said of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct GateView {
    /// The name of the gate.
    pub name: String,
    /// Whether it passed.
    pub passed: bool,
    /// Why it failed or was skipped.
    pub reason: Option<String>,
    /// Whether it had nothing to say.
    pub skipped: Option<bool>,
}

impl EvaluationView {
    /// The view of an evaluation. What is kept of its gates was checked when it came.
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

    /// The gates that failed. Where an evaluation passed, a gate may have failed that only observes.
    pub fn failed_gates(&self) -> impl Iterator<Item = &GateView> {
        self.gates.iter().filter(|gate| !self.passed && !gate.passed)
    }
}
