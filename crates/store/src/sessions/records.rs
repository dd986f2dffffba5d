//! The records of a session, a page at a time.
//!
//! **The order** is that in which they are kept: by time, then by key. A log record without a time counts as one of 1970-01-01, and
//! so does every span, since repeats of a span share their ids and not their times. So these come first, in the order of their keys,
//! which says nothing about time; after them come the log records as they happened.

use renown_core::time::Timestamp;
use renown_telemetry::dialect::Agent;
use renown_telemetry::facts::{Fact, Fingerprint, RecordOrigin, Signal};
use renown_telemetry::stored::StoredRecord;

/// A record of a session in a list, after which the next page begins. It stays valid when records arrive.
///
/// Records are listed by time, then by key. Spans, and log records without a time, come first, in an order that says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordCursor {
    /// Its time in nanoseconds; 0 for spans and for what has no time.
    pub at_ns: i64,
    /// What tells it from others of this time.
    pub key: i64,
}

impl RecordCursor {
    /// Where a record is kept that is the one of this number in its session.
    pub(crate) fn of(origin: &RecordOrigin<&str>, number: i64) -> Self {
        let at_ns = match origin.signal {
            Signal::Logs => origin.at.map_or(0, Timestamp::nanos),
            // Repeats have the same ids, whatever their times are.
            Signal::Spans => 0,
        };
        // A record that nothing tells from another has its number, which a fingerprint may have by chance.
        Self { at_ns, key: origin.repeat.map_or(number, key_of) }
    }
}

/// A fingerprint as a key.
pub(crate) fn key_of(fingerprint: Fingerprint) -> i64 {
    fingerprint.get().cast_signed()
}

/// A record of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// When it happened; of a span, when it began.
    pub at: Option<Timestamp>,
    /// When a span ended.
    pub until: Option<Timestamp>,
    /// Logs or spans.
    pub signal: Signal,
    /// The kind of agent that it comes from.
    pub agent: Agent,
    /// What it says.
    pub facts: Vec<Fact<String>>,
}

impl From<StoredRecord<'_>> for SessionRecord {
    fn from(StoredRecord { origin, facts }: StoredRecord<'_>) -> Self {
        Self {
            at: origin.at,
            until: origin.until,
            signal: origin.signal,
            agent: origin.agent.value,
            facts: facts.into_iter().map(|fact| fact.map(str::to_owned)).collect(),
        }
    }
}

/// A page of records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRecords {
    /// The records, in their order.
    pub records: Vec<SessionRecord>,
    /// Where the next page begins, if there is one.
    pub next: Option<RecordCursor>,
}

impl SessionRecords {
    /// A page of records that are in their order, one more than fits if there are more.
    pub(crate) fn page(mut found: Vec<(RecordCursor, SessionRecord)>, limit: usize) -> Self {
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|(cursor, _)| *cursor);
        Self { records: found.into_iter().map(|(_, record)| record).collect(), next }
    }
}
