//! The neutral facts that every dialect becomes, and the batch that holds those of some records.
//!
//! A [`Fact`] is all that scoring ever sees of a record. Its texts are of type `T`: slices of the input while a record is
//! read, places in the batch's own text once it is stored, and slices of the batch when it is looked at.

use std::num::NonZeroU64;

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;
use serde::Serialize;

use crate::account::Account;
use crate::dialect::Agent;
use crate::{limits::FACT_TEXT_CHARS_MAX, value};

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

/// A stretch of a batch's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    start: usize,
    end: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) origin: Origin<Stretch>,
    /// Where its facts end; they begin where those of the record before end.
    facts_end: usize,
}

/// Records that were read and not yet folded into a ledger.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    text: String,
    records: Vec<Stored>,
    facts: Vec<Fact<Stretch>>,
    /// The texts that were stored last, by what they are: records come in runs of the same.
    last: [Option<Stretch>; 3],
    /// What was read so far.
    pub account: Account,
    /// The records that were refused.
    pub refused: Vec<Refused>,
}

/// A record that was refused for a number that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its line, as the reader was told.
    pub line: u64,
    /// The attribute.
    pub attribute: &'static str,
}

/// Texts of a record that often equal those of the record before.
#[derive(Clone, Copy)]
enum Role {
    Session,
    AgentId,
    Masque,
}

/// A place in a batch to go back to.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    text: usize,
    records: usize,
    facts: usize,
    refused: usize,
    account: Account,
}

impl Batch {
    /// How many records it holds.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Forgets everything but the memory it has.
    pub fn clear(&mut self) {
        self.text.clear();
        self.records.clear();
        self.facts.clear();
        self.last = [None; 3];
        self.account = Account::default();
        self.refused.clear();
    }

    /// The records with their facts, in the order they were read.
    pub fn records(&self) -> impl Iterator<Item = (Origin<&str>, impl Iterator<Item = Fact<&str>>)> {
        self.stored().map(|(origin, facts)| {
            let text = |stretch| self.text(stretch);
            let Origin { session, signal, at, until, sequence, repeat, agent, agent_id, masque, known } =
                origin.clone();
            let sourced = |Sourced { rank, value }| Sourced { rank, value: text(value) };
            let origin = Origin {
                session: text(session),
                signal,
                at,
                until,
                sequence,
                repeat,
                agent,
                agent_id: sourced(agent_id),
                masque: masque.map(sourced),
                known,
            };
            (origin, facts.iter().cloned().map(move |fact| fact.map(text)))
        })
    }

    /// The records as they are stored.
    pub(crate) fn stored(&self) -> impl Iterator<Item = (&Origin<Stretch>, &[Fact<Stretch>])> {
        let mut start = 0;
        self.records.iter().map(move |record| {
            let facts = self.facts.get(start..record.facts_end).unwrap_or_default();
            start = record.facts_end;
            (&record.origin, facts)
        })
    }

    pub(crate) fn text(&self, stretch: Stretch) -> &str {
        self.text.get(stretch.start..stretch.end).unwrap_or_default()
    }

    pub(crate) fn push<'a>(
        &mut self,
        origin: Origin<impl AsRef<str>>,
        facts: impl IntoIterator<Item = Fact<impl AsRef<str> + 'a>>,
    ) {
        let Origin { session, signal, at, until, sequence, repeat, agent, agent_id, masque, known } = origin;
        let mut store = |role, Sourced { rank, value }: Sourced<_>| Sourced {
            rank,
            value: self.store(role, AsRef::<str>::as_ref(&value)),
        };
        let agent_id = store(Role::AgentId, agent_id);
        let masque = masque.map(|masque| store(Role::Masque, masque));
        let session = self.store(Role::Session, session.as_ref());
        for fact in facts {
            let fact = fact.map(|text| self.append(value::cut(text.as_ref(), FACT_TEXT_CHARS_MAX)));
            self.facts.push(fact);
        }
        let origin = Origin { session, signal, at, until, sequence, repeat, agent, agent_id, masque, known };
        self.records.push(Stored { origin, facts_end: self.facts.len() });
    }

    fn store(&mut self, role: Role, text: &str) -> Stretch {
        let last = self.last.get(role as usize).copied().flatten();
        if let Some(last) = last.filter(|last| self.text(*last) == text) {
            return last;
        }
        let stretch = self.append(text);
        if let Some(last) = self.last.get_mut(role as usize) {
            *last = Some(stretch);
        }
        stretch
    }

    fn append(&mut self, text: &str) -> Stretch {
        let start = self.text.len();
        self.text.push_str(text);
        Stretch { start, end: self.text.len() }
    }

    /// The place to go back to when what is read next turns out to be bad.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            text: self.text.len(),
            records: self.records.len(),
            facts: self.facts.len(),
            refused: self.refused.len(),
            account: self.account,
        }
    }

    /// Takes back all that was read since.
    pub(crate) fn back_to(&mut self, mark: &Mark) {
        self.text.truncate(mark.text);
        self.records.truncate(mark.records);
        self.facts.truncate(mark.facts);
        self.refused.truncate(mark.refused);
        self.last = [None; 3];
        self.account = mark.account;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(session: &str) -> Origin<&str> {
        Origin {
            session,
            signal: Signal::Logs,
            at: None,
            until: None,
            sequence: None,
            repeat: None,
            agent: Sourced { rank: 4, value: Agent::Unknown },
            agent_id: Sourced { rank: 5, value: "unknown" },
            masque: None,
            known: true,
        }
    }

    #[test]
    fn what_goes_in_comes_out_and_equal_texts_are_stored_once() {
        let mut batch = Batch::default();
        let tool =
            Fact::ToolResult { tool: Some("Edit"), ok: Some(true), duration_us: None, error_type: None };
        batch.push(origin("s-1"), [tool.clone(), Fact::Refusal]);
        batch.push(origin("s-1"), [Fact::<&str>::Refusal]);
        let mark = batch.mark();
        batch.push(origin("s-2"), [Fact::<&str>::Refusal]);
        batch.back_to(&mark);
        batch.push(origin("s-3"), [tool.clone()]);
        let found: Vec<_> =
            batch.records().map(|(origin, facts)| (origin.session, facts.collect())).collect();
        let expected: [(&str, Vec<Fact<&str>>); 3] =
            [("s-1", vec![tool.clone(), Fact::Refusal]), ("s-1", vec![Fact::Refusal]), ("s-3", vec![tool])];
        assert_eq!(found, expected);
        assert_eq!(batch.text.matches("s-1").count(), 1);
        assert!(!batch.text.contains("s-2"));
    }
}
