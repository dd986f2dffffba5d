//! Evaluations: as they arrive, as they are counted, and as they are read back.

use std::sync::Arc;

use renown_core::ids::{AgentId, EvaluationId, OrgId, ToolName};
use renown_core::reputation::{Evaluation, Standing, Tally};
use renown_core::time::Timestamp;
use renown_core::units::Micros;

use crate::admin::LatencySource;

/// A time as evaluations keep it.
pub(crate) fn whole_millis(time: Timestamp) -> Timestamp {
    Timestamp::from_millis(time.millis()).unwrap_or(time)
}

/// Where an evaluation stands in the log of its organization. A later one has a greater number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seq(pub i64);

/// Random bytes of a record, so that a later seal over it says nothing about what it holds.
pub type Salt = [u8; 16];

/// Where the id of an evaluation comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventId {
    /// The caller sent it: its second arrival counts nothing.
    Sent(EvaluationId),
    /// It was made here for this evaluation, so it cannot have been seen before.
    Made(EvaluationId),
}

impl EventId {
    /// The id itself.
    pub fn get(&self) -> &EvaluationId {
        match self {
            Self::Sent(id) | Self::Made(id) => id,
        }
    }
}

/// An evaluation that is to be counted.
#[derive(Clone, Debug)]
pub struct NewEvaluation {
    /// Whose output it was.
    pub agent: AgentId,
    /// Its id.
    pub id: EventId,
    /// Whether every gate passed.
    pub passed: bool,
    /// How long the gates took.
    pub gate_latency: Micros,
    /// How long the agent took, if the caller said so.
    pub agent_latency: Option<Micros>,
    /// The tool whose output it was.
    pub tool: Option<ToolName>,
    /// The results of the gates as a JSON array.
    pub gates: Arc<str>,
    /// When it happened, if the caller said so.
    pub timestamp: Option<Timestamp>,
}

impl NewEvaluation {
    /// What the window keeps of it: the latency that the organization has chosen, that of the gates where the other is not known.
    pub fn evaluation(&self, source: LatencySource) -> Evaluation {
        let latency = match source {
            LatencySource::Gate => self.gate_latency,
            LatencySource::Agent => self.agent_latency.unwrap_or(self.gate_latency),
        };
        Evaluation { passed: self.passed, latency }
    }
}

/// What became of one evaluation.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was counted.
    Counted {
        /// The agent's sums right after it.
        tally: Tally,
    },
    /// Its id had been counted before, so nothing was.
    Repeated {
        /// What was counted the first time.
        first: Box<Event>,
        /// The sums of the agent that this arrival named, as they are.
        tally: Tally,
    },
}

impl Outcome {
    /// The sums of the agent after this evaluation.
    pub fn tally(&self) -> Tally {
        match self {
            Self::Counted { tally } | Self::Repeated { tally, .. } => *tally,
        }
    }

    /// Whom a reply about these outcomes may name.
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

/// An evaluation of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its place in the log.
    pub seq: Seq,
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
    /// How long the agent took, if the caller said so.
    pub agent_latency: Option<Micros>,
    /// The latency that counts.
    pub latency: Micros,
    /// The results of the gates as a JSON array.
    pub gates: String,
    /// The agent's standing right after it.
    pub standing: Standing,
    /// When it happened: as the caller said, else when it was accepted. In whole milliseconds.
    pub created_at: Timestamp,
    /// When it was accepted, in whole milliseconds.
    pub accepted_at: Timestamp,
    /// Its random bytes.
    pub salt: Salt,
}

impl Event {
    /// What the window keeps of it.
    pub fn evaluation(&self) -> Evaluation {
        Evaluation { passed: self.passed, latency: self.latency }
    }
}

/// A write that is done once: its reply is kept with it, in the same transaction, and given again for the same key.
pub struct Once<T: ?Sized> {
    /// The organization that asks, which has to exist. A key may be made for another one, which has idempotency keys of
    /// its own.
    pub org: OrgId,
    /// The key that the caller chose, 1 to 200 characters.
    pub key: String,
    /// A digest of the request, to tell a retry from another request with the same key.
    pub fingerprint: [u8; 32],
    /// Makes the reply of the outcome.
    pub reply: MakeReply<T>,
}

/// Makes a reply, its HTTP status and its body, of an outcome.
pub type MakeReply<T> = Box<dyn FnOnce(&T) -> (u16, Vec<u8>) + Send>;

/// A reply that was given before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedReply {
    /// The digest of the request that it answered.
    pub fingerprint: [u8; 32],
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}
