//! Sessions: their telemetry, record by record, the signals of their traces, and when they are over.
//!
//! ```text
//! records ──►  each once, by its key  ──►  a fold a session  ──►  performance, live
//!                                          over after a while ──►  a reputation event of its agent (the bridge)
//! ```
//!
//! **Over** is a session whose last event is 30 minutes old by its own time, and of which nothing arrived for 5 seconds. An event
//! without a time, or with one ahead of the clock, counts by its arrival. A record that arrives later opens the session again, and
//! its end is told again, in the place of what was told before.
//!
//! **When it began** is its first event. One ahead of the clock counts by when the session was first heard of, so that it does not
//! stand before all others for years.
//!
//! **Whose it is.** The agent that the records name; where they name none, the one that was last sent with signals.
//!
//! **Traces** are those that were sent, and those between the prompts of the scored records (`renown_telemetry::derived`). Of a trace
//! that is both, each signal that was sent wins. What a list shows of them is a [`SessionSummary`].

mod records;
mod summary;

use renown_core::identity::{Event, bridge, identity_of};
use renown_core::ids::{AgentId, IdError, OrgId, SessionId};
use renown_core::session_metrics::{Signals, Source, Trace};
use renown_core::time::Timestamp;
use renown_telemetry::account::Account;
use renown_telemetry::facts::{Batch, RecordOrigin, UNKNOWN_AGENT_ID};
use renown_telemetry::ledger::Session;

use crate::Reply;
use crate::evidence::{Once, Seq};
use crate::query::TimeCursor;
pub(crate) use records::key_of;
pub use records::{RecordCursor, SessionRecord, SessionRecords};
pub use summary::SessionSummary;

/// How long after its last event a session is over, in milliseconds.
const IDLE_MS: i64 = 30 * 60 * 1000;

/// For how long nothing of it may have arrived.
const QUIET_MS: i64 = 5 * 1000;

/// How many sessions may be open. Beyond that the one that is idle for longest is over.
pub(crate) const OPEN_MAX: usize = 100_000;

/// How many sessions are closed at a time.
pub(crate) const CLOSED_AT_ONCE: usize = 500;

/// Whose a session is.
pub(crate) fn agent_of(session: Option<&Session>, told: Option<&AgentId>) -> Result<AgentId, IdError> {
    match (session.and_then(Session::named_agent), told) {
        (Some(named), _) => named.parse(),
        (None, Some(told)) => Ok(told.clone()),
        (None, None) => UNKNOWN_AGENT_ID.value.parse(),
    }
}

/// When a session is over of which something arrived last then, and whose last event was then.
pub(crate) fn over_at(last_event: Timestamp, arrived_at: Timestamp) -> Timestamp {
    let millis = (last_event.millis() + IDLE_MS).max(arrived_at.millis() + QUIET_MS);
    Timestamp::from_millis(millis).unwrap_or(Timestamp::MAX)
}

/// When a session began whose first event, or first trace, was then, and which was first heard of then.
pub(crate) fn began_at(first: Option<Timestamp>, first_seen: Timestamp) -> Timestamp {
    first.map_or(first_seen, |first| first.min(first_seen))
}

/// When a record happened, for whether its session is over.
pub(crate) fn last_event(origin: &RecordOrigin<&str>, arrived_at: Timestamp) -> Timestamp {
    origin.until.max(origin.at).map_or(arrived_at, |at| at.min(arrived_at))
}

/// Signals of a session that are to be kept.
#[derive(Clone, Debug)]
pub struct NewSignals {
    /// Whose session it is, if that was said.
    pub agent: Option<AgentId>,
    /// Its traces, each once; one that is known is replaced.
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

/// The traces of a session by when they began, then as they arrived: those that were sent, in that order, and those that are derived.
pub(crate) fn traces(
    sent: Vec<NewTrace>,
    derived: impl IntoIterator<Item = (Option<Timestamp>, Trace)>,
) -> Vec<SessionTrace> {
    let source = Some(Source::Sent);
    let sent = sent
        .into_iter()
        .map(|NewTrace { trace, started_at }| SessionTrace { trace: Trace { source, ..trace }, started_at });
    let mut traces: Vec<SessionTrace> = sent.collect();
    let mut places: std::collections::HashMap<_, _> =
        traces.iter().enumerate().map(|(place, known)| (known.trace.trace_id.clone(), place)).collect();
    for (started_at, trace) in derived {
        match places.remove(&trace.trace_id).and_then(|place| traces.get_mut(place)) {
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

/// A trace that was sent, with derived signals where none were.
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

/// A session of the log.
#[derive(Clone, Debug)]
pub struct StoredSession {
    /// Its place: one that was heard of later has a greater number.
    pub seq: Seq,
    /// Its id.
    pub id: SessionId,
    /// Whose it is.
    pub agent: AgentId,
    /// What its records add up to; none where only signals were sent.
    pub ledger: Option<Session>,
    /// When it began; where nothing says so, or says that it will, when it was first heard of.
    pub began_at: Timestamp,
    /// When something of it arrived last.
    pub last_seen: Timestamp,
    /// Since when it is over; none while it is open.
    pub closed_at: Option<Timestamp>,
    /// What its traces say.
    pub summary: SessionSummary,
    /// Its traces, if they were asked for.
    pub traces: Vec<SessionTrace>,
}

/// The event of its agent's identity that a session becomes when it is closed. `None` for a session with nothing to score.
pub(crate) fn bridged(
    org: &OrgId,
    agent: &AgentId,
    session: &Session,
    closed_at: Timestamp,
) -> Option<Event> {
    let report = session.report()?;
    let id = report.session_id.parse().ok()?;
    let ended_at = report.ended_at.unwrap_or(closed_at);
    Some(bridge(identity_of(org, agent), &id, &report.performance.0, ended_at))
}

/// Which sessions, the last to begin first.
#[derive(Clone, Debug, Default)]
pub struct SessionQuery {
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Only those that began at this time or later.
    pub from: Option<Timestamp>,
    /// Only those that began at this time or earlier.
    pub to: Option<Timestamp>,
    /// Only those after this one.
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
    /// A page of sessions that stand in their order, one more than fits if there are more.
    pub(crate) fn page(mut sessions: Vec<StoredSession>, limit: usize) -> Self {
        let more = sessions.len() > limit;
        sessions.truncate(limit);
        let cursor = |session: &StoredSession| TimeCursor { at: session.began_at, seq: session.seq };
        let next = sessions.last().filter(|_| more).map(cursor);
        Self { sessions, next }
    }
}

/// A session that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Of which organization.
    pub org: OrgId,
    /// Which.
    pub session: SessionId,
    /// Whose.
    pub agent: AgentId,
}

/// The sessions of many organizations.
pub trait SessionStore: Send + Sync + 'static {
    /// Adds the records of a batch, each once, all or none; what became of them. The organization has to exist.
    fn add_records<'a>(
        &'a self,
        org: &OrgId,
        batch: Batch,
        once: Option<Once<Account>>,
    ) -> Reply<'a, Account>;

    /// Keeps signals of a session. The organization has to exist.
    fn add_signals<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        signals: NewSignals,
        once: Option<Once<()>>,
    ) -> Reply<'a, ()>;

    /// One session, with its traces if they are wanted.
    fn session<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        with_traces: bool,
    ) -> Reply<'a, Option<StoredSession>>;

    /// Some records of a session, after one of them. `None` if there is no such session. For their order see [`RecordCursor`].
    fn session_records<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        after: Option<RecordCursor>,
        limit: usize,
    ) -> Reply<'a, Option<SessionRecords>>;

    /// Sessions, the last to begin first, without their traces.
    fn sessions<'a>(&'a self, org: &OrgId, query: SessionQuery) -> Reply<'a, Sessions>;

    /// Closes some of the sessions that are over; those. There may be more if it were any.
    fn close_sessions(&self) -> Reply<'_, Vec<Closed>>;
}
