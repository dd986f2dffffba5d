//! Request keys: a write that is sent again is recognized, changes nothing, and can be answered like the first time.
//!
//! ```text
//! write with a key ──►  the key is looked up in the transaction of the write
//!     unknown      ──►  the write is done, and what was accepted is kept with the key   Fresh
//!     known        ──►  nothing changes; what was accepted the first time is returned   Replayed
//!     of another   ──►  nothing changes                                                 Conflict
//!        request
//! ```
//!
//! **What is kept** is what was accepted: counts, standings, and positions of rows ([`Receipt`]), never a reply. The caller
//! renders a receipt as it renders the outcome of a write. What follows from the request itself is not kept, because a
//! retry sends it again: the fingerprint guarantees that it is the same.
//!
//! **What is not kept** is a write that was refused: an error, a run whose id belongs to another run, events that were refused.
//! It may be corrected and sent again with the same key.
//!
//! **How long.** A key is known for [`REQUEST_KEYS_KEPT_MS`]. It expires earlier if the evaluation or the run that its
//! receipt shows is gone, because retention or an erasure deleted it: then the request is accepted as a new one. The id
//! of the evaluation or of the run still counts once, if it is known.
//!
//! **Erasure.** Beside each key are the agents that its write was about. An erased agent is removed there, and a key that was
//! about no other agent is deleted. So the retry of a batch still counts once for the other agents.

pub(crate) mod kept;

use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::ReputationSummary;

use crate::evidence::{Position, StoredEvaluation};
use crate::identities::Recorded;
use crate::keys::KeyId;
use crate::runs::Run;

/// For how long a request key is known, in milliseconds.
pub const REQUEST_KEYS_KEPT_MS: i64 = 24 * 60 * 60 * 1000;

/// Makes a write happen once: a write with a known key changes nothing, see [`Accepted`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestKey {
    /// The organization of the caller, which has to exist. Only a new API key may be for another organization; all other
    /// writes change the organization of their request key.
    pub org: OrgId,
    /// The key that the client chose, 1 to 200 characters.
    pub key: String,
    /// A digest of the request. It distinguishes a retry from another request with the same key.
    pub fingerprint: [u8; 32],
}

/// The result of a write that may have a request key. Without a key it is always [`Accepted::Fresh`].
#[derive(Clone, Debug, PartialEq)]
pub enum Accepted<T> {
    /// The write was accepted now.
    Fresh(T),
    /// The same request was accepted before. Nothing was changed.
    Replayed(Receipt),
    /// The key belongs to another request. Nothing was changed.
    Conflict,
}

impl<T> Accepted<T> {
    /// Returns what was accepted now, or `None` if the request key was known.
    pub fn fresh(self) -> Option<T> {
        match self {
            Self::Fresh(outcome) => Some(outcome),
            Self::Replayed(_) | Self::Conflict => None,
        }
    }
}

/// What a store knows about a request key that was used.
#[derive(Clone, Debug, PartialEq)]
pub enum KnownRequest {
    /// The same request was accepted before.
    Replayed(Receipt),
    /// The key belongs to another request.
    Conflict,
}

impl<T> From<KnownRequest> for Accepted<T> {
    fn from(known: KnownRequest) -> Self {
        match known {
            KnownRequest::Replayed(receipt) => Self::Replayed(receipt),
            KnownRequest::Conflict => Self::Conflict,
        }
    }
}

/// What was accepted for a request key: enough to answer a retry like the first time.
#[derive(Clone, Debug, PartialEq)]
pub enum Receipt {
    /// A batch of evaluations was counted.
    Evaluations(EvaluationsReceipt),
    /// An agent was added.
    Agent {
        /// Whether it was new.
        new: bool,
    },
    /// A run was scored.
    Run {
        /// Whether it was new.
        new: bool,
        /// The run as it is stored.
        run: Box<Run>,
    },
    /// Reputation events were counted.
    ReputationEvents(Recorded),
    /// Telemetry was stored. Its reply follows from the request.
    Records,
    /// Signals of a session were stored. Their reply follows from the request.
    Signals,
    /// An API key was created. The key itself is not stored.
    ApiKey(KeyId),
    /// The eval run at this position was created.
    EvalRun(Position),
    /// The schedule at this position was created.
    Schedule(Position),
}

/// What is kept of a batch of evaluations.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationsReceipt {
    /// Number of evaluations that were counted.
    pub counted: usize,
    /// Number of evaluations whose id had been counted before.
    pub repeated: usize,
    /// The agents of the batch in the order of their first evaluations, each with its standing after the batch.
    pub standings: Vec<(AgentId, ReputationSummary)>,
    /// Of a batch of one: the evaluation that was counted, or the first one with its id.
    pub only: Option<Box<StoredEvaluation>>,
}
