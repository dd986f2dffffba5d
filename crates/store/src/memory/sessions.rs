//! Sessions in a list, each with all of its records.

use renown_core::identity::{bridge_id, identity_of};
use renown_core::ids::{AgentId, OrgId, SessionId};
use renown_core::time::Timestamp;
use renown_telemetry::account::Account;
use renown_telemetry::facts::{Batch, Fingerprint, UNKNOWN_AGENT_ID};
use renown_telemetry::ledger::{Session, TimeRange};
use renown_telemetry::{derived, stored};
use uuid::Uuid;

use super::{Memory, answer};
use crate::engines::Reply;
use crate::error::StoreError;
use crate::evidence::Position;
use crate::identities::ReputationEvent;
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, RequestKey};
use crate::sessions::{
    Closed, NewSignals, NewTrace, OPEN_MAX, RecordCursor, SessionQuery, SessionRecord, SessionRecords,
    SessionSummary, Sessions, StoredSession, agent_of, began_at, last_event, over_at, session_event, traces,
};

/// A session with all its records.
#[derive(Clone)]
pub(super) struct SessionEntry {
    position: Position,
    id: SessionId,
    signal_agent: Option<AgentId>,
    first_seen: Timestamp,
    last_seen: Timestamp,
    last_event: Option<Timestamp>,
    is_open: bool,
    closed_at: Option<Timestamp>,
    records: Vec<(Option<Fingerprint>, Vec<u8>)>,
    traces: Vec<NewTrace>,
    /// The id of the reputation event that it became when it was closed.
    event: Option<Uuid>,
}

impl SessionEntry {
    fn records(&self) -> impl Iterator<Item = stored::StoredRecord<'_>> {
        let id = self.id.as_str();
        self.records.iter().filter_map(move |(repeat, bytes)| stored::decode(id, *repeat, bytes))
    }

    pub(super) fn id(&self) -> &SessionId {
        &self.id
    }

    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// Returns whether it became this reputation event when it was closed at this time.
    pub(super) fn became(&self, event: Uuid, closed_at: Timestamp) -> bool {
        !self.is_open && self.event == Some(event) && self.closed_at == Some(closed_at)
    }

    /// Folds its records within a time range. Returns `None` without records.
    pub(super) fn within(&self, range: TimeRange) -> Option<Session> {
        (!self.records.is_empty()).then(|| Session::of(self.id.as_str(), range, self.records()))
    }

    pub(super) fn stored(&self) -> Result<StoredSession, StoreError> {
        let ledger = self.within(TimeRange::default());
        let derived =
            ledger.as_ref().map(|ledger| derived::traces(self.id.as_str(), ledger.signal(), self.records()));
        let of_traces = || self.traces.iter().filter_map(|trace| trace.started_at).min();
        let first = ledger.as_ref().and_then(Session::started_at).or_else(of_traces);
        let agent = agent_of(ledger.as_ref(), self.signal_agent.as_ref());
        let traces = traces(self.traces.clone(), derived.into_iter().flatten());
        Ok(StoredSession {
            position: self.position,
            id: self.id.clone(),
            agent: agent.map_err(|error| StoreError::Damaged(format!("an agent: {error}")))?,
            ledger,
            began_at: began_at(first, self.first_seen),
            last_seen: self.last_seen,
            closed_at: self.closed_at.filter(|_| !self.is_open),
            summary: SessionSummary::of(&traces),
            traces,
        })
    }

    /// Returns a page of its records.
    fn page(&self, after: Option<RecordCursor>, limit: usize) -> SessionRecords {
        let numbered = self.records().zip(1..);
        let mut found: Vec<_> = numbered
            .map(|(kept, number)| (RecordCursor::of(&kept.origin, number), SessionRecord::from(kept)))
            .filter(|(cursor, _)| after.is_none_or(|after| *cursor > after))
            .collect();
        found.sort_by_key(|(cursor, _)| *cursor);
        found.truncate(limit.saturating_add(1));
        SessionRecords::page(found, limit)
    }

    /// Returns whether its reputation event is about another agent than `agent`.
    fn has_event_of_another(&self, org: &OrgId, agent: &AgentId) -> bool {
        self.event.is_some_and(|event| event != bridge_id(identity_of(org, agent), &self.id))
    }

    /// Returns when it is over, if it is open.
    fn over_at(&self) -> Option<Timestamp> {
        self.is_open.then(|| over_at(self.last_event.unwrap_or(self.last_seen), self.last_seen))
    }
}

impl super::State {
    /// Moves times back to `now`, after the clock was ahead for a while. Later times of arrival become `now`, so
    /// that no session waits for them. So does the time at which a session was closed, unless it became a
    /// reputation event, whose time follows from it.
    pub(super) fn move_times_back(&mut self, now: Timestamp) {
        for (_, session) in &mut self.sessions {
            if session.is_open {
                session.last_seen = session.last_seen.min(now);
                session.last_event = session.last_event.map(|at| at.min(now));
            }
            if session.event.is_none() {
                session.closed_at = session.closed_at.map(|at| at.min(now));
            }
        }
        for used in &mut self.request_keys {
            used.at = used.at.min(now);
        }
    }

    fn session(&mut self, org: &OrgId, id: &SessionId, now: Timestamp) -> usize {
        if let Some(index) = self.sessions.iter().position(|(o, entry)| o == org && entry.id == *id) {
            return index;
        }
        let entry = SessionEntry {
            position: self.next_position(),
            id: id.clone(),
            signal_agent: None,
            first_seen: now,
            last_seen: now,
            last_event: None,
            is_open: false,
            closed_at: None,
            records: Vec::new(),
            traces: Vec::new(),
            event: None,
        };
        self.sessions.push((org.clone(), entry));
        self.sessions.len() - 1
    }

    /// Adds records. Returns what became of them, and the agents of the sessions that have changed.
    fn add_records(
        &mut self,
        org: &OrgId,
        batch: &Batch,
        now: Timestamp,
    ) -> Result<(Account, Vec<AgentId>), StoreError> {
        let (mut account, mut changed, mut agents) = (batch.account, Vec::new(), Vec::new());
        for (origin, facts) in batch.records() {
            let id =
                origin.session.parse().map_err(|error| StoreError::Damaged(format!("a session: {error}")))?;
            let before = self.sessions.len();
            let index = self.session(org, &id, now);
            account.sessions += u64::from(self.sessions.len() > before);
            let Some((_, entry)) = self.sessions.get_mut(index) else { continue };
            if origin.repeat.is_some() && entry.records.iter().any(|(known, _)| *known == origin.repeat) {
                account.duplicates += 1;
                continue;
            }
            let facts: Vec<_> = facts.collect();
            account.facts += facts.len() as u64;
            account.unknown_events += u64::from(!origin.known);
            account.no_time += u64::from(origin.at.is_none());
            let at = last_event(&origin, now);
            (entry.last_event, entry.last_seen, entry.is_open) = (entry.last_event.max(Some(at)), now, true);
            entry.records.push((origin.repeat, stored::encode(&origin, facts)));
            if !changed.contains(&index) {
                changed.push(index);
            }
        }
        for index in changed {
            let Some((_, entry)) = self.sessions.get(index) else { continue };
            let agent = entry.stored()?.agent;
            let moved = entry.has_event_of_another(org, &agent);
            self.touch_agent(org, &agent, now);
            agents.push(agent);
            if moved {
                self.write_session_event(index, now)?;
            }
        }
        self.close_early(now)?;
        Ok((account, agents))
    }

    fn add_signals(
        &mut self,
        org: &OrgId,
        id: &SessionId,
        signals: NewSignals,
        now: Timestamp,
    ) -> Result<AgentId, StoreError> {
        let index = self.session(org, id, now);
        let Some((_, entry)) = self.sessions.get_mut(index) else { return Err(StoreError::Closed) };
        for new in signals.traces {
            match entry.traces.iter_mut().find(|known| known.trace.trace_id == new.trace.trace_id) {
                Some(known) => *known = new,
                None => entry.traces.push(new),
            }
        }
        entry.last_seen = now;
        entry.signal_agent = signals.agent.or(entry.signal_agent.take());
        let (is_open, agent) = (entry.is_open, entry.stored()?.agent);
        let moved = entry.has_event_of_another(org, &agent);
        self.touch_agent(org, &agent, now);
        if !is_open || moved {
            self.write_session_event(index, now)?;
        }
        Ok(agent)
    }

    /// Writes the reputation event of a closed session, and removes the one before.
    fn write_session_event(&mut self, index: usize, now: Timestamp) -> Result<(), StoreError> {
        let Some((org, entry)) = self.sessions.get(index).cloned() else { return Ok(()) };
        let session = entry.stored()?;
        let closed_at = entry.closed_at.unwrap_or(now);
        let event =
            session.ledger.as_ref().and_then(|ledger| session_event(&org, &session.agent, ledger, closed_at));
        let new = event.as_ref().map(|event| event.event_id);
        self.reputation_events.retain(|(o, known)| {
            let id = Some(known.event.event_id);
            *o != org || (id != entry.event && id != new)
        });
        if let Some(event) = event {
            let (position, identity) = (self.next_position(), identity_of(&org, &session.agent));
            self.reputation_events
                .push((org, ReputationEvent { position, identity, event, accepted_at: now }));
        }
        if let Some((_, entry)) = self.sessions.get_mut(index) {
            entry.event = new;
        }
        Ok(())
    }

    fn close(&mut self, index: usize, now: Timestamp) -> Result<Option<Closed>, StoreError> {
        let Some((org, entry)) = self.sessions.get_mut(index) else { return Ok(None) };
        (entry.is_open, entry.closed_at) = (false, Some(now));
        let closed = Closed { org: org.clone(), session: entry.id.clone(), agent: entry.stored()?.agent };
        self.write_session_event(index, now)?;
        Ok(Some(closed))
    }

    /// Closes the sessions that have been idle for longest, while too many are open.
    fn close_early(&mut self, now: Timestamp) -> Result<(), StoreError> {
        loop {
            let open = self
                .sessions
                .iter()
                .enumerate()
                .filter_map(|(index, (_, entry))| Some((entry.over_at()?, index)));
            if open.clone().count() <= OPEN_MAX {
                return Ok(());
            }
            let Some((_, index)) = open.min() else { return Ok(()) };
            self.close(index, now)?;
        }
    }

    /// Returns whether an id belongs to the event of a session, now or when the session is closed.
    pub(super) fn is_session_event(&self, org: &OrgId, event: Uuid) -> bool {
        let becomes = |entry: &SessionEntry| {
            let agent = entry.stored().ok().filter(|_| !entry.records.is_empty())?.agent;
            Some(bridge_id(identity_of(org, &agent), &entry.id))
        };
        self.sessions.iter().any(|(o, entry)| o == org && becomes(entry) == Some(event))
    }

    /// Returns whether a session names an agent.
    pub(super) fn is_named(&self, org: &OrgId, agent: &AgentId) -> bool {
        let names = |entry: &SessionEntry| {
            entry.signal_agent.as_ref() == Some(agent)
                || entry.records().any(|kept| kept.origin.named_agent() == Some(agent.as_str()))
        };
        self.sessions.iter().any(|(o, entry)| o == org && names(entry))
    }

    /// Removes the name of an agent from the sessions of other agents.
    pub(super) fn remove_name(&mut self, org: &OrgId, agent: &AgentId) {
        for (_, entry) in self.sessions.iter_mut().filter(|(o, _)| o == org) {
            entry.signal_agent.take_if(|named| named == agent);
            for (_, record) in &mut entry.records {
                let Some(stored::StoredRecord { mut origin, facts }) = stored::decode("", None, record)
                else {
                    continue;
                };
                if origin.named_agent() == Some(agent.as_str()) {
                    origin.agent_id = UNKNOWN_AGENT_ID;
                    *record = stored::encode(&origin, facts);
                }
            }
        }
    }

    /// Removes the sessions of an agent. Returns how many pieces of evidence they had.
    pub(super) fn remove_sessions(&mut self, org: &OrgId, agent: &AgentId) -> usize {
        let mut count = 0;
        self.sessions.retain(|(o, entry)| {
            let is_theirs = o == org && entry.stored().is_ok_and(|session| session.agent == *agent);
            count += if is_theirs { entry.records.len() + entry.traces.len() } else { 0 };
            !is_theirs
        });
        count
    }
}

impl Memory {
    pub(crate) fn add_records<'a>(
        &'a self,
        org: &OrgId,
        batch: Batch,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Account>> {
        let (mut state, now) = match self.begin_write() {
            Ok(begin_write) => begin_write,
            Err(error) => return answer(Err(error)),
        };
        answer(state.check_org(org).and_then(|()| {
            state.once(request_key, now, |state| {
                let (account, agents) = state.add_records(org, &batch, now)?;
                Ok((account, Some(Kept::records(agents))))
            })
        }))
    }

    pub(crate) fn add_signals<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        signals: NewSignals,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<()>> {
        let (mut state, now) = match self.begin_write() {
            Ok(begin_write) => begin_write,
            Err(error) => return answer(Err(error)),
        };
        answer(state.check_org(org).and_then(|()| {
            state.once(request_key, now, |state| {
                let agent = state.add_signals(org, session, signals, now)?;
                Ok(((), Some(Kept::signals(agent))))
            })
        }))
    }

    pub(crate) fn session<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        with_traces: bool,
    ) -> Reply<'a, Option<StoredSession>> {
        let state = self.state();
        let found = state.sessions.iter().find(|(o, known)| o == org && known.id == *session);
        let found = state.check_org(org).and_then(|()| found.map(|(_, known)| known.stored()).transpose());
        answer(found.map(|found| found.map(|found| wanted(found, with_traces))))
    }

    pub(crate) fn session_records<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        after: Option<RecordCursor>,
        limit: usize,
    ) -> Reply<'a, Option<SessionRecords>> {
        let state = self.state();
        let found = state.sessions.iter().find(|(o, known)| o == org && known.id == *session);
        answer(state.check_org(org).map(|()| found.map(|(_, known)| known.page(after, limit))))
    }

    pub(crate) fn sessions<'a>(&'a self, org: &OrgId, query: SessionQuery) -> Reply<'a, Sessions> {
        let state = self.state();
        let of_org = state.sessions.iter().filter(|(o, _)| o == org);
        let found = of_org.map(|(_, known)| known.stored()).collect::<Result<Vec<_>, _>>();
        answer(state.check_org(org).and(found).map(|mut found| {
            let place = |session: &StoredSession| (session.began_at, session.position);
            found.retain(|session| {
                query.agent.as_ref().is_none_or(|agent| *agent == session.agent)
                    && query.from.is_none_or(|from| session.began_at >= from)
                    && query.to.is_none_or(|to| session.began_at <= to)
                    && query.after.is_none_or(|after| place(session) < (after.at, after.position))
            });
            found.sort_by_key(|session| std::cmp::Reverse(place(session)));
            found.truncate(query.limit + 1);
            let found = found.into_iter().map(|session| wanted(session, false));
            Sessions::page(found.collect(), query.limit)
        }))
    }

    pub(crate) fn close_sessions(&self) -> Reply<'_, Vec<Closed>> {
        let (mut state, now) = match self.begin_write() {
            Ok(begin_write) => begin_write,
            Err(error) => return answer(Err(error)),
        };
        let over: Vec<usize> = state
            .sessions
            .iter()
            .enumerate()
            .filter(|(_, (_, known))| known.over_at().is_some_and(|over_at| over_at <= now))
            .map(|(place, _)| place)
            .collect();
        let closed: Result<Vec<_>, _> = over.into_iter().map(|place| state.close(place, now)).collect();
        answer(closed.map(|closed| closed.into_iter().flatten().collect()))
    }
}

fn wanted(mut session: StoredSession, with_traces: bool) -> StoredSession {
    if !with_traces {
        session.traces = Vec::new();
    }
    session
}
