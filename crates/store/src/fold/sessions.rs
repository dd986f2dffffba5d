//! What the telemetry and the signals of a session mean, and when it is closed.
//!
//! | what arrives | what changes |
//! |---|---|
//! | a record with a known key | nothing: it is a duplicate |
//! | a record | one row, and the fold of the session; the session is added if it is new, and opened if it is closed |
//! | signals | each trace replaces the one with its id and keeps its place, or comes last; the session is added if it is new, and never opened; if it is closed, its reputation event is written again |
//!
//! After either, the session has the agent that its records name, else the one that was last sent with signals. That
//! agent is added or was seen. If the agent has changed and the session has a reputation event, that is written again.
//!
//! ```text
//! last event = the latest time of its records (the end of a span), none later than its arrival
//! over at    = max(last event + 30 minutes, last arrival + 5 seconds)
//! began at   = min(first event or trace, first arrival)
//! ```
//!
//! **Closing.** An open session is closed when it is over. If more than 100 000 sessions are open after records
//! arrived, those that are over first are closed at once. A closed session becomes one reputation event: the one
//! before is deleted, and so is an event with its id that a client has sent before the session existed.
//!
//! **A clock that was ahead.** When times of acceptance go back, later times of open sessions go back with them,
//! so that no session waits for them. So does the time at which a session was closed, unless an event follows from it.

use renown_core::identity::{Event, bridge, bridge_id, identity_of};
use renown_core::ids::{AgentId, IdError, IdentityId, OrgId, SessionId};
use renown_core::time::Timestamp;
use renown_telemetry::account::Account;
use renown_telemetry::facts::{RecordOrigin, UNKNOWN_AGENT_ID};
use renown_telemetry::ledger::Session;
use uuid::Uuid;

use crate::error::StoreError;
use crate::evidence::Position;
use crate::sessions::Closed;

/// How long after its last event a session is over, in milliseconds.
const IDLE_MS: i64 = 30 * 60 * 1000;

/// How long nothing of a session must have arrived before it is over, in milliseconds.
const QUIET_MS: i64 = 5 * 1000;

/// Maximum number of open sessions.
const OPEN_MAX: usize = 100_000;

/// The state of a session that decisions depend on, beside the fold of its records.
#[derive(Clone, Debug)]
pub(crate) struct SessionState {
    /// Its agent; `None` until something of it was written.
    pub(crate) agent: Option<AgentId>,
    /// The agent that was last sent with signals.
    pub(crate) signal_agent: Option<AgentId>,
    /// When something of it first arrived.
    pub(crate) first_seen: Timestamp,
    /// When something of it last arrived.
    pub(crate) last_seen: Timestamp,
    /// The time of the last event that decides when it is over.
    pub(crate) last_event: Timestamp,
    /// Whether it is open.
    pub(crate) is_open: bool,
    /// When it was last closed.
    pub(crate) closed_at: Option<Timestamp>,
    /// Its reputation event, from when it was last closed.
    pub(crate) event: Option<Position>,
}

/// What arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Records.
    Records,
    /// Signals of traces.
    Signals,
}

/// The change of a session after something of it arrived. Its agent has shown work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionChange {
    /// Its agent.
    pub(crate) agent: AgentId,
    /// The id that its reputation event has or will have; `None` without records. No client may use it.
    pub(crate) event_id: Option<Uuid>,
    /// When to check whether it is over, if it was opened now.
    pub(crate) check_at: Option<Timestamp>,
    /// Whether its reputation event is written again.
    pub(crate) rewrites_event: bool,
}

/// What to do with an open session that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// Close it.
    Close,
    /// Check it again at this time.
    Later(Timestamp),
}

/// The reputation event of a closed session.
#[derive(Clone, Debug)]
pub(crate) struct SessionEvent {
    /// The identity of its agent, which is added if it is new.
    pub(crate) identity: IdentityId,
    /// The event.
    pub(crate) event: Event,
}

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
pub(crate) fn over_at(last_event: Timestamp, last_seen: Timestamp) -> Timestamp {
    let millis = (last_event.millis() + IDLE_MS).max(last_seen.millis() + QUIET_MS);
    Timestamp::from_millis(millis).unwrap_or(Timestamp::MAX)
}

/// Returns when a session began: its first event or trace, but never later than when it was first seen.
pub(crate) fn began_at(first: Option<Timestamp>, first_seen: Timestamp) -> Timestamp {
    first.map_or(first_seen, |first| first.min(first_seen))
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

/// Returns the id that the reputation event of a session has or will have.
pub(crate) fn event_id(org: &OrgId, agent: &AgentId, session: &SessionId) -> Uuid {
    bridge_id(identity_of(org, agent), session)
}

/// Returns how many sessions are closed early when this many are open: those that are over first.
pub(crate) fn excess(open: usize) -> usize {
    open.saturating_sub(OPEN_MAX)
}

impl SessionState {
    /// The state of a session when something of it arrives for the first time.
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            agent: None,
            signal_agent: None,
            first_seen: now,
            last_seen: now,
            last_event: Timestamp::MIN,
            is_open: false,
            closed_at: None,
            event: None,
        }
    }

    /// Adds a new record.
    pub(crate) fn add_record(&mut self, origin: &RecordOrigin<&str>, now: Timestamp) {
        let at = origin.until.max(origin.at).map_or(now, |at| at.min(now));
        self.last_event = self.last_event.max(at);
    }

    /// Adds the agent that was sent with signals, if one was.
    pub(crate) fn add_signal_agent(&mut self, agent: Option<AgentId>) {
        self.signal_agent = agent.or(self.signal_agent.take());
    }

    /// Decides what changes after everything that arrived together was added. `ledger` is the fold of all records;
    /// `None` without records.
    pub(crate) fn arrive(
        &mut self,
        (org, id): (&OrgId, &SessionId),
        ledger: Option<&Session>,
        arrival: Arrival,
        now: Timestamp,
    ) -> Result<SessionChange, StoreError> {
        let agent = agent_of(ledger, self.signal_agent.as_ref())
            .map_err(|error| StoreError::Damaged(format!("an agent id: {error}")))?;
        let before = self.agent.replace(agent.clone());
        let is_moved = self.event.is_some() && before.as_ref() != Some(&agent);
        let is_late = arrival == Arrival::Signals && !self.is_open;
        let is_opened = arrival == Arrival::Records && !self.is_open;
        self.last_seen = now;
        self.is_open |= is_opened;
        Ok(SessionChange {
            event_id: ledger.map(|_| event_id(org, &agent, id)),
            check_at: is_opened.then(|| self.over_at()),
            rewrites_event: is_moved || is_late,
            agent,
        })
    }

    /// Returns when it is over, if nothing more of it arrives.
    pub(crate) fn over_at(&self) -> Timestamp {
        over_at(self.last_event, self.last_seen)
    }

    /// Decides what to do with an open session. `is_excess` says that too many are open, and that no other one is
    /// over earlier.
    pub(crate) fn check(&self, is_excess: bool, now: Timestamp) -> Check {
        let over_at = self.over_at();
        if is_excess || over_at <= now { Check::Close } else { Check::Later(over_at) }
    }

    /// Closes it. Returns the news of it. Its reputation event is written too.
    pub(crate) fn close(
        &mut self,
        (org, id): (&OrgId, &SessionId),
        now: Timestamp,
    ) -> Result<Closed, StoreError> {
        let agent = self.agent.clone().ok_or(StoreError::Bug("a closed session has no agent"))?;
        (self.is_open, self.closed_at) = (false, Some(now));
        Ok(Closed { org: org.clone(), session: id.clone(), agent })
    }

    /// Returns the reputation event of a closed session; `None` if it has nothing to score. It replaces the one
    /// before ([`SessionState::event`]), and an event of a client with its id.
    pub(crate) fn reputation_event(
        &self,
        org: &OrgId,
        ledger: Option<&Session>,
        now: Timestamp,
    ) -> Option<SessionEvent> {
        let agent = self.agent.as_ref()?;
        let event = session_event(org, agent, ledger?, self.closed_at.unwrap_or(now))?;
        Some(SessionEvent { identity: identity_of(org, agent), event })
    }

    /// Moves its times back to `now`, after the clock was ahead for a while.
    pub(crate) fn move_back(&mut self, now: Timestamp) {
        if self.is_open {
            self.last_seen = self.last_seen.min(now);
            self.last_event = self.last_event.min(now);
        }
        if self.event.is_none() {
            self.closed_at = self.closed_at.map(|at| at.min(now));
        }
    }
}

/// Counts what became of the records of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received(Account);

impl Received {
    /// Begins with what was counted when the records were read.
    pub(crate) fn new(read: Account) -> Self {
        Self(read)
    }

    /// Counts a session that was added.
    pub(crate) fn add_session(&mut self) {
        self.0.sessions += 1;
    }

    /// Counts a record. `is_known` says whether its key is known in its session. Returns whether it changes anything.
    pub(crate) fn add_record(&mut self, origin: &RecordOrigin<&str>, facts: usize, is_known: bool) -> bool {
        if is_known {
            self.0.duplicates += 1;
            return false;
        }
        self.0.facts += facts as u64;
        self.0.unknown_events += u64::from(!origin.known);
        self.0.no_time += u64::from(origin.at.is_none());
        true
    }

    /// Returns the outcome for the caller.
    pub(crate) fn account(self) -> Account {
        self.0
    }
}

#[cfg(test)]
mod tests;
