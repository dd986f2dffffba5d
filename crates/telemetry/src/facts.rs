//! The neutral facts that every dialect becomes, and in [`Batch`] what holds those of some records.
//!
//! A [`Fact`] is all that scoring ever sees of a record. Its texts are of type `T`: slices of the input while a record is
//! read, places in the batch's own text once it is stored, and slices of the batch when it is looked at.

mod batch;

use std::num::NonZeroU64;

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;
use serde::Serialize;

use crate::dialect::Agent;

pub(crate) use batch::Stretch;
pub use batch::{Batch, Refused};

/// Which of an agent's two stories a record belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    /// Log records.
    Logs,
    /// Spans.
    Spans,
}

/// One thing that happened in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact<T> {
    /// A tool call that ran.
    ToolResult {
        /// Its name.
        tool: Option<T>,
        /// Whether it succeeded; none where no readable flag says so.
        ok: Option<bool>,
        /// How long it took.
        duration_us: Option<u64>,
        /// What kind of error it was.
        error_type: Option<T>,
    },
    /// The user asked for something.
    Prompt {
        /// Where prompts are not sent as such, the trace that stands for one: it counts once a session.
        trace: Option<Fingerprint>,
    },
    /// A call of a model.
    ApiRequest(ApiRequest<T>),
    /// A call of a model that failed.
    ApiError {
        /// The HTTP status.
        status: Option<u64>,
        /// What kind of error it was.
        error_type: Option<T>,
    },
    /// A tool call was allowed, or was rejected and never ran.
    ToolDecision {
        /// The tool's name.
        tool: Option<T>,
        /// Whether it was allowed.
        accepted: bool,
        /// Who decided.
        by: Decider,
    },
    /// The user said how it went: −1, 0 or +1.
    Feedback {
        /// The rating.
        rating: i8,
    },
    /// The conversation was shortened.
    Compaction {
        /// Tokens before it.
        before: Option<u64>,
        /// Tokens after it.
        after: Option<u64>,
    },
    /// The model refused.
    Refusal,
}

/// A call of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiRequest<T> {
    /// The model's name.
    pub model: Option<T>,
    /// Its tokens; none if the record has no token attribute at all.
    pub tokens: Option<Tokens>,
    /// What it cost.
    pub cost: Option<Cost>,
    /// How long it took.
    pub duration_us: Option<u64>,
    /// Whether this is the sum of an agent's calls, which counts only where the calls themselves have no usage.
    pub is_sum: bool,
}

/// Tokens of one call, each counted once: the input is without what came from or went to the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Input that was neither read from nor written to the cache.
    pub input: u64,
    /// Output, with its reasoning.
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_creation: u64,
}

/// What a call cost, and who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// The agent.
    Reported(NanoUsd),
    /// The user's price table.
    Priced(NanoUsd),
}

/// Who decided about a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decider {
    /// The user.
    User,
    /// A setting.
    Policy,
    /// A hook.
    Hook,
    /// Nobody that is known.
    Unknown,
}

impl<T> Fact<T> {
    /// The same fact with other texts.
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

/// Eight bytes that stand for the identity of a record or trace within its session. Equal things have equal
/// fingerprints; different ones have the same with a chance of 2^−64.
pub type Fingerprint = NonZeroU64;

/// A value and how good its source is: 0 is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The place of its source in the order of sources.
    pub rank: u8,
    /// The value.
    pub value: T,
}

/// What is known of a record beside its facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin<T> {
    /// The session it belongs to.
    pub session: T,
    /// Logs or spans.
    pub signal: Signal,
    /// When it happened; of a span, when it began.
    pub at: Option<Timestamp>,
    /// When a span ended.
    pub until: Option<Timestamp>,
    /// Its number among the records of its process, if it has one.
    pub sequence: Option<u64>,
    /// What makes a second record a repeat of this one; none if nothing does.
    pub repeat: Option<Fingerprint>,
    /// The kind of agent.
    pub agent: Sourced<Agent>,
    /// The agent's id.
    pub agent_id: Sourced<T>,
    /// The masque that the agent wore.
    pub masque: Option<Sourced<T>>,
    /// Whether a dialect knows this kind of record.
    pub known: bool,
}

/// The agent id of a record that names none: its rank is the last.
pub const NOBODY: Sourced<&str> = Sourced { rank: 5, value: "unknown" };

impl<'a> Origin<&'a str> {
    /// The id of its agent, if it names one.
    pub fn named_agent(&self) -> Option<&'a str> {
        (self.agent_id.rank < NOBODY.rank).then_some(self.agent_id.value)
    }
}
