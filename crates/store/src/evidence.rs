//! Evaluations: as they arrive, as they are counted, and as they are read.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::reputation::{ReputationSummary, Sample, Tally};
use renown_core::time::Timestamp;
use renown_core::units::Micros;

use crate::admin::LatencySource;

/// Cuts a time to whole milliseconds, as evaluations keep it.
pub(crate) fn whole_millis(time: Timestamp) -> Timestamp {
    Timestamp::from_millis(time.millis()).unwrap_or(time)
}

/// The place of evidence in the order of acceptance. What was accepted later has a greater position. Positions of
/// different kinds of evidence, or of different organizations, must not be compared.
///
/// Only a store makes and reads positions. Their text is a cursor of a page, see [`crate::cursors`]. An engine with several
/// servers needs 128 bits: the time of acceptance, the server, and a counter. SQLite counts in 63 of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(u128);

impl Position {
    /// Makes the position of a number, which is never negative.
    pub(crate) fn of(number: i64) -> Self {
        Self(u128::try_from(number).unwrap_or_default())
    }

    /// Returns its number.
    pub(crate) fn number(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }

    /// Returns all of its bits.
    pub(crate) fn bits(self) -> u128 {
        self.0
    }
}

/// Random bytes that are stored with a piece of evidence, so that a later commitment to it (a hash) does not reveal
/// what it contains.
pub type Salt = [u8; 16];

/// The id of a new evaluation, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewEvaluationId {
    /// The caller sent it. If it arrives again, it counts nothing.
    Sent(EvaluationId),
    /// The server generated it for this evaluation, so no evaluation has it yet.
    Generated(EvaluationId),
}

impl NewEvaluationId {
    /// Returns the id itself.
    pub fn get(&self) -> &EvaluationId {
        match self {
            Self::Sent(id) | Self::Generated(id) => id,
        }
    }
}

/// An evaluation to count.
#[derive(Clone, Debug)]
pub struct NewEvaluation {
    /// Whose output it was.
    pub agent: AgentId,
    /// Its id.
    pub id: NewEvaluationId,
    /// Whether every gate passed.
    pub passed: bool,
    /// How long the gates took.
    pub gate_latency: Micros,
    /// How long the agent took, if the caller sent it.
    pub agent_latency: Option<Micros>,
    /// The tool whose output it was.
    pub tool: Option<ToolName>,
    /// The results of the gates as a JSON array.
    pub gates: Arc<str>,
    /// When it happened, if the caller sent it.
    pub timestamp: Option<Timestamp>,
}

impl NewEvaluation {
    /// Returns what the window keeps of it. The organization chooses whose latency counts; without a latency of the
    /// agent, that of the gates counts.
    pub fn sample(&self, source: LatencySource) -> Sample {
        let latency = match source {
            LatencySource::Gate => self.gate_latency,
            LatencySource::Agent => self.agent_latency.unwrap_or(self.gate_latency),
        };
        Sample { passed: self.passed, latency }
    }
}

/// The result of counting one evaluation.
#[derive(Clone, Debug, PartialEq)]
pub enum EvaluationOutcome {
    /// It counted.
    Counted {
        /// The agent's sums right after it.
        tally: Tally,
    },
    /// Its id had been counted before, so nothing changed.
    Repeated {
        /// The evaluation that counted the first time.
        first: Box<StoredEvaluation>,
        /// The current sums of the agent that this call named, which may differ from the agent of `first`.
        tally: Tally,
    },
}

impl EvaluationOutcome {
    /// Returns the sums of the agent after this evaluation.
    pub fn tally(&self) -> Tally {
        match self {
            Self::Counted { tally } | Self::Repeated { tally, .. } => *tally,
        }
    }

    /// Returns the last standing of each agent of a batch, in the order of the agents' first evaluations.
    pub fn last_standings<'a>(
        agents: impl IntoIterator<Item = &'a AgentId>,
        outcomes: &[Self],
    ) -> Vec<(AgentId, ReputationSummary)> {
        let mut last: Vec<(&AgentId, &Self)> = Vec::with_capacity(outcomes.len());
        let mut indices: HashMap<&AgentId, usize> = HashMap::with_capacity(outcomes.len());
        for (agent, outcome) in agents.into_iter().zip(outcomes) {
            match indices.entry(agent) {
                Entry::Vacant(index) => {
                    index.insert(last.len());
                    last.push((agent, outcome));
                }
                Entry::Occupied(index) => {
                    if let Some((_, last)) = last.get_mut(*index.get()) {
                        *last = outcome;
                    }
                }
            }
        }
        last.into_iter().map(|(agent, outcome)| (agent.clone(), outcome.tally().standing())).collect()
    }
}

/// An evaluation in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvaluation {
    /// Its position in the order of acceptance.
    pub position: Position,
    /// Its id.
    pub id: EvaluationId,
    /// Whose output it was.
    pub agent: AgentId,
    /// The tool whose output it was.
    pub tool: Option<ToolName>,
    /// Whether every gate passed.
    pub passed: bool,
    /// How long the gates took.
    pub gate_latency: Micros,
    /// How long the agent took, if the caller sent it.
    pub agent_latency: Option<Micros>,
    /// The latency that counts for the reputation.
    pub latency: Micros,
    /// The results of the gates as a JSON array.
    pub gates: String,
    /// The agent's standing right after it.
    pub standing: ReputationSummary,
    /// When it happened: the time that the caller sent, else the time of acceptance. In whole milliseconds.
    pub created_at: Timestamp,
    /// When it was accepted, in whole milliseconds.
    pub accepted_at: Timestamp,
    /// Its random bytes.
    pub salt: Salt,
}

impl StoredEvaluation {
    /// Returns what the window keeps of it.
    pub fn sample(&self) -> Sample {
        Sample { passed: self.passed, latency: self.latency }
    }
}
