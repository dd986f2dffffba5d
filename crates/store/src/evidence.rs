//! Evaluations: as they arrive, as they are counted, and as they are read.

use std::sync::Arc;

use renown_core::ids::{AgentId, EvaluationId, OrgId, ToolName};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(pub i64);

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

    /// Returns the agents that a reply about these outcomes may name.
    pub(crate) fn agents(evaluations: &[NewEvaluation], outcomes: &[Self]) -> Vec<AgentId> {
        let firsts = outcomes.iter().filter_map(|outcome| match outcome {
            Self::Counted { .. } => None,
            Self::Repeated { first, .. } => Some(&first.agent),
        });
        let mut agents: Vec<AgentId> =
            evaluations.iter().map(|new| &new.agent).chain(firsts).cloned().collect();
        agents.sort_unstable();
        agents.dedup();
        agents
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

/// Makes a write happen once. Its reply is saved in the same transaction, and [`crate::Store::saved_reply`] returns
/// it for the same key.
///
/// The write itself does not look for a saved reply. The caller does that first, and never runs two writes with one
/// key at the same time.
pub struct RequestKey<T: ?Sized> {
    /// The organization of the caller, which has to exist. It can differ from the organization that the write
    /// changes, because a key can be made for another one.
    pub org: OrgId,
    /// The key that the client chose, 1 to 200 characters.
    pub key: String,
    /// A digest of the request. It distinguishes a retry from another request with the same key.
    pub fingerprint: [u8; 32],
    /// Makes the reply from the outcome.
    pub reply: MakeReply<T>,
}

/// Makes a reply (HTTP status and body) from an outcome.
pub type MakeReply<T> = Box<dyn FnOnce(&T) -> (u16, Vec<u8>) + Send>;

/// A reply that was sent before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedReply {
    /// The digest of the request that it answered.
    pub fingerprint: [u8; 32],
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}
