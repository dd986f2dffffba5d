//! Sessions: their telemetry record by record, the signals of their traces, and when they are over.
//!
//! ```text
//! records ──►  each kept once, by its key  ──►  one fold per session  ──►  performance, live
//!                                               over after a while    ──►  a reputation event of its agent
//! ```
//!
//! **When it is over.** A session is over when its last event is 30 minutes old by the event's own time, and
//! nothing of it arrived for 5 seconds. An event without a time, or with a time in the future, counts by its time
//! of arrival. A record that arrives later opens the session again. When the session is over again, its new
//! reputation event replaces the old one.
//!
//! **When it began.** A session begins with its first event. If that is in the future, it begins when its first
//! record arrived, so that it is not listed before all others for years.
//!
//! **Its agent** is the one that its records name; if they name none, the one that was last sent with signals.
//!
//! **Its traces** are those that were sent, and those between the prompts of the scored records
//! (`renown_telemetry::derived`). If a trace is both, each sent signal wins. Lists show a [`SessionSummary`] of the
//! traces.

mod records;
mod summary;

use renown_core::identity::{Event, bridge, identity_of};
use renown_core::ids::{AgentId, IdError, OrgId, SessionId};
use renown_core::session_metrics::{Signals, Source, Trace};
use renown_core::time::Timestamp;
use renown_telemetry::facts::{RecordOrigin, UNKNOWN_AGENT_ID};
use renown_telemetry::ledger::Session;

use crate::evidence::Position;
use crate::query::TimeCursor;
pub(crate) use records::key_of;
pub use records::{RecordCursor, SessionRecord, SessionRecords};
pub use summary::SessionSummary;

/// How long after its last event a session is over, in milliseconds.
const IDLE_MS: i64 = 30 * 60 * 1000;

/// How long nothing of a session must have arrived before it is over, in milliseconds.
const QUIET_MS: i64 = 5 * 1000;

/// Maximum number of open sessions. Beyond that, the one that has been idle for longest is closed.
pub(crate) const OPEN_MAX: usize = 100_000;

/// Maximum number of sessions that one call closes.
pub(crate) const CLOSED_AT_ONCE: usize = 500;

/// Returns the agent of a session: the one that its records name, else `signal_agent`, the one that was last sent
/// with signals.
pub(crate) fn agent_of(
    session: Option<&Session>,
    signal_agent: Option<&AgentId>,
) -> Result<AgentId, IdError> {
    match (session.and_then(Session::named_agent), signal_agent) {
        (Some(named), _) => named.parse(),
        (None, Some(agent)) => Ok(agent.clone()),
        (None, None) => UNKNOWN_AGENT_ID.value.parse(),
    }
}

/// Returns when a session is over, from the times of its last event and of its last arrival.
pub(crate) fn over_at(last_event: Timestamp, arrived_at: Timestamp) -> Timestamp {
    let millis = (last_event.millis() + IDLE_MS).max(arrived_at.millis() + QUIET_MS);
    Timestamp::from_millis(millis).unwrap_or(Timestamp::MAX)
}

/// Returns when a session began: its first event or trace, but never later than when it was first seen.
pub(crate) fn began_at(first: Option<Timestamp>, first_seen: Timestamp) -> Timestamp {
    first.map_or(first_seen, |first| first.min(first_seen))
}

/// Returns the time of a record that decides whether its session is over.
pub(crate) fn last_event(origin: &RecordOrigin<&str>, arrived_at: Timestamp) -> Timestamp {
    origin.until.max(origin.at).map_or(arrived_at, |at| at.min(arrived_at))
}

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

/// Returns the reputation event that a session becomes when it is closed; `None` if it has nothing to score.
pub(crate) fn session_event(
    org: &OrgId,
    agent: &AgentId,
    session: &Session,
    closed_at: Timestamp,
) -> Option<Event> {
    let report = session.report()?;
    let id = report.session_id.parse().ok()?;
    let ended_at = report.ended_at.unwrap_or(closed_at);
    Some(bridge(identity_of(org, agent), &id, &report.performance, ended_at))
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
