//! Sessions: their telemetry record by record, the signals of their traces, and when they are over.
//!
//! ```text
//! records ──►  each kept once, by its key  ──►  one fold per session  ──►  performance, live
//!                                               over after a while    ──►  a reputation event of its agent
//! ```
//!
//! **When it is over**, when it began, and which agent it has: see [`crate::fold::sessions`]. A session is over when
//! its last event is 30 minutes old by the event's own time, and nothing of it arrived for 5 seconds. An event without
//! a time, or with a time in the future, counts by its time of arrival. A record that arrives later opens the session
//! again. When the session is over again, its new reputation event replaces the old one.
//!
//! **Its traces** are those that were sent, and those between the prompts of the scored records
//! (`renown_telemetry::derived`). If a trace is both, each sent signal wins. Lists show a [`SessionSummary`] of the
//! traces.

mod records;
mod summary;

use renown_core::ids::{AgentId, OrgId, SessionId};
use renown_core::session_metrics::{Signals, Source, Trace};
use renown_core::time::Timestamp;
use renown_telemetry::ledger::Session;

use crate::evidence::Position;
pub(crate) use crate::fold::sessions::session_event;
use crate::query::TimeCursor;
pub(crate) use records::key_of;
pub use records::{RecordCursor, SessionRecord, SessionRecords};
pub use summary::SessionSummary;

/// Maximum number of sessions that one call closes.
pub(crate) const CLOSED_AT_ONCE: usize = 500;

/// Signals of a session to store.
#[derive(Clone, Debug)]
pub struct NewSignals {
    /// The agent of the session, if the client sent it.
    pub agent: Option<AgentId>,
    /// Its traces, each at most once. A known trace is replaced.
    pub traces: Vec<NewTrace>,
}

/// A trace with signals.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTrace {
    /// The trace.
    pub trace: Trace,
    /// When it began.
    pub started_at: Option<Timestamp>,
}

/// A trace of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionTrace {
    /// The trace, and where its signals come from.
    pub trace: Trace,
    /// When it began.
    pub started_at: Option<Timestamp>,
}

/// Joins the traces that were sent with those that are derived from records. Sorts them by the time when they
/// began, then by arrival: first those that were sent, then those that are derived.
pub(crate) fn traces(
    sent: Vec<NewTrace>,
    derived: impl IntoIterator<Item = (Option<Timestamp>, Trace)>,
) -> Vec<SessionTrace> {
    let source = Some(Source::Sent);
    let sent = sent
        .into_iter()
        .map(|NewTrace { trace, started_at }| SessionTrace { trace: Trace { source, ..trace }, started_at });
    let mut traces: Vec<SessionTrace> = sent.collect();
    let mut indexes: std::collections::HashMap<_, _> =
        traces.iter().enumerate().map(|(index, known)| (known.trace.trace_id.clone(), index)).collect();
    for (started_at, trace) in derived {
        match indexes.remove(&trace.trace_id).and_then(|index| traces.get_mut(index)) {
            Some(known) => {
                known.started_at = known.started_at.or(started_at);
                known.trace = merged(known.trace.clone(), trace.signals);
            }
            None => traces.push(SessionTrace { trace, started_at }),
        }
    }
    traces.sort_by_key(|trace| (trace.started_at.is_none(), trace.started_at));
    traces
}

/// Fills the signals that were not sent with derived ones.
fn merged(sent: Trace, derived: Signals) -> Trace {
    let of_sent = sent.signals;
    let signals = Signals {
        confidence: of_sent.confidence.or(derived.confidence),
        loop_detection: of_sent.loop_detection.or(derived.loop_detection),
        tool_correctness: of_sent.tool_correctness.or(derived.tool_correctness),
        coherence: of_sent.coherence.or(derived.coherence),
    };
    let source = match () {
        () if signals == of_sent => Source::Sent,
        () if of_sent == Signals::default() => Source::Derived,
        () => Source::Mixed,
    };
    Trace { signals, source: Some(source), ..sent }
}

/// A session in the store.
#[derive(Clone, Debug)]
pub struct StoredSession {
    /// Its position in the order in which sessions were first seen.
    pub position: Position,
    /// Its id.
    pub id: SessionId,
    /// Its agent.
    pub agent: AgentId,
    /// The fold of its records; `None` if only signals were sent.
    pub ledger: Option<Session>,
    /// When it began. If no event says so, or only one in the future: when it was first seen.
    pub began_at: Timestamp,
    /// When something of it last arrived.
    pub last_seen: Timestamp,
    /// When it was closed; `None` while it is open.
    pub closed_at: Option<Timestamp>,
    /// The summary of its traces.
    pub summary: SessionSummary,
    /// Its traces, if the caller asked for them; else empty.
    pub traces: Vec<SessionTrace>,
}

/// Selects sessions, the last to begin first.
#[derive(Clone, Debug, Default)]
pub struct SessionQuery {
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Only those that began at this time or later.
    pub from: Option<Timestamp>,
    /// Only those that began at this time or earlier.
    pub to: Option<Timestamp>,
    /// Only those after this one in the list.
    pub after: Option<TimeCursor>,
    /// How many at most.
    pub limit: usize,
}

/// A page of sessions.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    /// The sessions, the last to begin first.
    pub sessions: Vec<StoredSession>,
    /// Where the next page begins, if there is one.
    pub next: Option<TimeCursor>,
}

impl Sessions {
    /// Makes a page from sorted sessions. The caller reads one more than the limit, if there are more.
    pub(crate) fn page(mut sessions: Vec<StoredSession>, limit: usize) -> Self {
        let more = sessions.len() > limit;
        sessions.truncate(limit);
        let cursor =
            |session: &StoredSession| TimeCursor { at: session.began_at, position: session.position };
        let next = sessions.last().filter(|_| more).map(cursor);
        Self { sessions, next }
    }
}

/// A session that was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Its organization.
    pub org: OrgId,
    /// Its id.
    pub session: SessionId,
    /// Its agent.
    pub agent: AgentId,
}
