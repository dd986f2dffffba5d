//! The records of a session, page by page.
//!
//! **Order.** Records are listed in the order in which they are stored: by time, then by key. A log record without
//! a time has the time 0 (1970-01-01). So has every span, because repeats of a span share their ids but not their
//! times. These records come first, in the order of their keys, which has no meaning. The other log records follow
//! in order of time.

use renown_core::time::Timestamp;
use renown_telemetry::dialect::Agent;
use renown_telemetry::facts::{Fact, Fingerprint, RecordOrigin, Signal};
use renown_telemetry::stored::StoredRecord;

/// The record after which the next page of a session's records begins. It stays valid when records arrive.
///
/// Records are listed by time, then by key. Spans, and log records without a time, come first, in an order without
/// meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordCursor {
    /// Its time in nanoseconds; 0 for spans and for records without a time.
    pub at_ns: i64,
    /// Distinguishes it from other records with this time.
    pub key: i64,
}

impl RecordCursor {
    /// Returns the place of a record in its session. `number` is its number in the session, from 1.
    pub(crate) fn of(origin: &RecordOrigin<&str>, number: i64) -> Self {
        let at_ns = match origin.signal {
            Signal::Logs => origin.at.map_or(0, Timestamp::nanos),
            // Repeats have the same ids, but may have other times.
            Signal::Spans | Signal::Transcript => 0,
        };
        // A record without a fingerprint gets its number as key. By chance a fingerprint may be the same number.
        Self { at_ns, key: origin.repeat.map_or(number, key_of) }
    }
}

/// Returns the key of a fingerprint.
pub(crate) fn key_of(fingerprint: Fingerprint) -> i64 {
    fingerprint.get().cast_signed()
}

/// A record of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// When it happened; for a span, when it began.
    pub at: Option<Timestamp>,
    /// When it ended, if it is a span.
    pub until: Option<Timestamp>,
    /// Logs or spans.
    pub signal: Signal,
    /// The kind of agent that it comes from.
    pub agent: Agent,
    /// Its facts.
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
    /// Makes a page from sorted records. The caller reads one more than the limit, if there are more.
    pub(crate) fn page(mut found: Vec<(RecordCursor, SessionRecord)>, limit: usize) -> Self {
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|(cursor, _)| *cursor);
        Self { records: found.into_iter().map(|(_, record)| record).collect(), next }
    }
}
