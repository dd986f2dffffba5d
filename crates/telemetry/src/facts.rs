//! The neutral facts that all dialects are translated to, and [`Batch`], which holds the facts of many records.
//!
//! Scoring sees nothing of a record but its [`Fact`]s. The texts of a fact have the type `T`: slices of the input
//! while a record is read, ranges of the batch's own text inside the batch, and slices of that text for users of the
//! batch.

mod batch;

use std::num::NonZeroU64;

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;
use serde::Serialize;

use crate::dialect::Agent;

pub(crate) use batch::TextRange;
pub use batch::{Batch, RejectedRecord};

/// The source of a record: an OTLP signal, or a transcript. Many agents report the same work more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = TelemetrySignal))]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    /// Log records.
    Logs,
    /// Spans.
    Spans,
    /// The files in which the agent keeps its sessions.
    Transcript,
}

/// One event of a session, in neutral words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact<T> {
    /// A tool call that was executed.
    ToolResult {
        /// Name of the tool.
        tool: Option<T>,
        /// Whether the call succeeded. `None` if the record has no readable flag.
        ok: Option<bool>,
        /// Duration of the call.
        duration_us: Option<u64>,
        /// Kind of the error.
        error_type: Option<T>,
    },
    /// The user sent a prompt.
    Prompt {
        /// In dialects without prompt records, the trace that counts as a prompt. Each trace counts once per session.
        trace: Option<Fingerprint>,
    },
    /// A model call.
    ApiRequest(ApiRequest<T>),
    /// A model call that failed.
    ApiError {
        /// HTTP status.
        status: Option<u64>,
        /// Kind of the error.
        error_type: Option<T>,
    },
    /// A decision to allow or reject a tool call. A rejected call is not executed.
    ToolDecision {
        /// Name of the tool.
        tool: Option<T>,
        /// Whether the call was allowed.
        accepted: bool,
        /// Who made the decision.
        by: Decider,
    },
    /// The user rated the session.
    Feedback {
        /// Rating: −1, 0 or +1.
        rating: i8,
    },
    /// The agent shortened the conversation.
    Compaction {
        /// Tokens before the compaction.
        before: Option<u64>,
        /// Tokens after the compaction.
        after: Option<u64>,
    },
    /// The model refused to answer.
    Refusal,
}

/// A model call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiRequest<T> {
    /// Name of the model.
    pub model: Option<T>,
    /// Token counts. `None` if the record has no token attribute at all.
    pub tokens: Option<Tokens>,
    /// Cost of the call.
    pub cost: Option<Cost>,
    /// Duration of the call.
    pub duration_us: Option<u64>,
    /// Whether this is the sum over all calls of an agent. A sum counts only if no single call reports its usage.
    pub is_sum: bool,
}

/// Token counts of one call. Each token counts once: the input excludes tokens read from or written to the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Input tokens outside the cache.
    pub input: u64,
    /// Output tokens, including reasoning.
    pub output: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_creation: u64,
}

/// The cost of a call, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Reported by the agent.
    Reported(NanoUsd),
    /// Computed with the user's price table.
    Priced(NanoUsd),
}

/// Who decided on a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decider {
    /// The user.
    User,
    /// A setting.
    Policy,
    /// A hook.
    Hook,
    /// Not recorded.
    Unknown,
}

impl<T> Fact<T> {
    /// Converts the texts of the fact.
    pub fn map<U>(self, mut text: impl FnMut(T) -> U) -> Fact<U> {
        match self {
            Self::ToolResult { tool, ok, duration_us, error_type } => {
                let tool = tool.map(&mut text);
                Fact::ToolResult { tool, ok, duration_us, error_type: error_type.map(text) }
            }
            Self::Prompt { trace } => Fact::Prompt { trace },
            Self::ApiRequest(ApiRequest { model, tokens, cost, duration_us, is_sum }) => {
                Fact::ApiRequest(ApiRequest { model: model.map(text), tokens, cost, duration_us, is_sum })
            }
            Self::ApiError { status, error_type } => {
                Fact::ApiError { status, error_type: error_type.map(text) }
            }
            Self::ToolDecision { tool, accepted, by } => {
                Fact::ToolDecision { tool: tool.map(text), accepted, by }
            }
            Self::Feedback { rating } => Fact::Feedback { rating },
            Self::Compaction { before, after } => Fact::Compaction { before, after },
            Self::Refusal => Fact::Refusal,
        }
    }
}

/// A 64-bit hash that identifies a record or trace within its session. Equal records have equal fingerprints; two
/// different records have the same fingerprint with a probability of 2^−64.
pub type Fingerprint = NonZeroU64;

/// A value with the rank of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// Rank of the source; 0 is the best.
    pub rank: u8,
    /// Value.
    pub value: T,
}

/// Everything known about a record except its facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordOrigin<T> {
    /// Session id.
    pub session: T,
    /// Source of the record.
    pub signal: Signal,
    /// Time of the event. For a span, its start.
    pub at: Option<Timestamp>,
    /// End of a span.
    pub until: Option<Timestamp>,
    /// Sequence number within the agent's process, if the agent sends one.
    pub sequence: Option<u64>,
    /// Fingerprint for deduplication: a later record with the same fingerprint is a repeat. `None` if the record has no
    /// identity, so that it always counts.
    pub repeat: Option<Fingerprint>,
    /// Kind of agent.
    pub agent: Sourced<Agent>,
    /// Agent id.
    pub agent_id: Sourced<T>,
    /// Masque of the agent.
    pub masque: Option<Sourced<T>>,
    /// Whether a dialect defines this kind of record.
    pub known: bool,
}

/// The agent id of a record that does not name its agent. Its rank is the last.
pub const UNKNOWN_AGENT_ID: Sourced<&str> = Sourced { rank: 5, value: "unknown" };

impl<'a> RecordOrigin<&'a str> {
    /// Returns the agent id, or `None` if the record does not name its agent.
    pub fn named_agent(&self) -> Option<&'a str> {
        (self.agent_id.rank < UNKNOWN_AGENT_ID.rank).then_some(self.agent_id.value)
    }
}
