//! Sessions in a list, each with all of its records.

use renown_core::ids::{AgentId, OrgId, SessionId};
use renown_core::time::Timestamp;
use renown_telemetry::account::Account;
use renown_telemetry::facts::{Batch, Fingerprint};
use renown_telemetry::ledger::{Session, TimeRange};
use renown_telemetry::{derived, stored};
use uuid::Uuid;

use super::{Memory, answer};
use crate::engines::Reply;
use crate::error::StoreError;
use crate::eval_runs::{EvalFilter, SessionMark};
use crate::evidence::Position;
use crate::fold::agents::Mention;
use crate::fold::erasure::ErasedName;
use crate::fold::sessions::{Arrival, Check, Received, SessionState, agent_of, began_at, event_id, excess};
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, RequestKey};
use crate::sessions::{
    Closed, NewSignals, NewTrace, RecordCursor, SessionQuery, SessionRecord, SessionRecords, SessionSummary,
    Sessions, StoredSession, traces,
};

/// A session with all its records.
#[derive(Clone)]
pub(super) struct SessionEntry {
    position: Position,
    id: SessionId,
    state: SessionState,
    records: Vec<(Option<Fingerprint>, Vec<u8>)>,
    traces: Vec<NewTrace>,
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
    pub(super) fn became(&self, event: Position, closed_at: Timestamp) -> bool {
        !self.state.is_open && self.state.event == Some(event) && self.state.closed_at == Some(closed_at)
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
        let agent = agent_of(ledger.as_ref(), self.state.signal_agent.as_ref());
        let traces = traces(self.traces.clone(), derived.into_iter().flatten());
        Ok(StoredSession {
            position: self.position,
            id: self.id.clone(),
            agent: agent.map_err(|error| StoreError::Damaged(format!("an agent: {error}")))?,
            ledger,
            began_at: began_at(first, self.state.first_seen),
            last_seen: self.state.last_seen,
            closed_at: self.state.closed_at.filter(|_| !self.state.is_open),
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
}

impl super::State {
    /// Moves times back to `now`, after the clock was ahead for a while.
    pub(super) fn move_times_back(&mut self, now: Timestamp) {
        for (_, session) in &mut self.sessions {
            session.state.move_back(now);
        }
        for used in &mut self.request_keys {
            used.at = used.at.min(now);
        }
    }

    /// Returns the agent of a session, or `None` if the session is unknown.
    pub(super) fn agent_of_session(&self, org: &OrgId, id: &SessionId) -> Option<AgentId> {
        let (_, entry) = self.sessions.iter().find(|(o, entry)| o == org && entry.id == *id)?;
        entry.stored().ok().map(|session| session.agent)
    }

    /// Returns the sessions of a filter as numbers.
    pub(super) fn session_mark(&self, org: &OrgId, filter: &EvalFilter) -> Result<SessionMark, StoreError> {
        let mut mark = SessionMark::default();
        for (_, entry) in self.sessions.iter().filter(|(o, _)| o == org) {
            let session = entry.stored()?;
            if filter.agent.as_ref().is_none_or(|agent| *agent == session.agent)
                && filter.from.is_none_or(|from| session.began_at >= from)
                && filter.to.is_none_or(|to| session.began_at <= to)
            {
                mark.sessions += 1;
                mark.newest_ms = mark.newest_ms.max(session.last_seen.millis());
                mark.records += entry.records.len() as u64;
                mark.traces += entry.traces.len() as u64;
            }
        }
        Ok(mark)
    }

    /// Returns the place of a session in the list. Adds it if it is new.
    fn session(&mut self, org: &OrgId, id: &SessionId, now: Timestamp) -> usize {
        if let Some(index) = self.sessions.iter().position(|(o, entry)| o == org && entry.id == *id) {
            return index;
        }
        let (position, state) = (self.next_position(), SessionState::new(now));
        let entry = SessionEntry { position, id: id.clone(), state, records: Vec::new(), traces: Vec::new() };
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
        let (mut received, mut changed) = (Received::new(batch.account), Vec::new());
        for (origin, facts) in batch.records() {
            let id =
                origin.session.parse().map_err(|error| StoreError::Damaged(format!("a session: {error}")))?;
            let before = self.sessions.len();
            let index = self.session(org, &id, now);
            if self.sessions.len() > before {
                received.add_session();
            }
            let Some((_, entry)) = self.sessions.get_mut(index) else { continue };
            let facts: Vec<_> = facts.collect();
            let is_known =
                origin.repeat.is_some() && entry.records.iter().any(|(known, _)| *known == origin.repeat);
            if !received.add_record(&origin, facts.len(), is_known) {
                continue;
            }
            entry.state.add_record(&origin, now);
            entry.records.push((origin.repeat, stored::encode(&origin, facts)));
            if !changed.contains(&index) {
                changed.push(index);
            }
        }
        let agents = changed.into_iter().map(|index| self.arrive(index, Arrival::Records, now));
        let agents = agents.collect::<Result<_, _>>()?;
        self.close_excess(now)?;
        Ok((received.account(), agents))
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
        entry.state.add_signal_agent(signals.agent);
        self.arrive(index, Arrival::Signals, now)
    }

    /// Carries out what changes after something of a session arrived. Returns its agent.
    fn arrive(&mut self, index: usize, arrival: Arrival, now: Timestamp) -> Result<AgentId, StoreError> {
        let Some((org, entry)) = self.sessions.get_mut(index) else { return Err(StoreError::Closed) };
        let (org, ledger) = (org.clone(), entry.within(TimeRange::default()));
        let change = entry.state.arrive((&org, &entry.id), ledger.as_ref(), arrival, now)?;
        self.name_agent(&org, &change.agent, Mention::Work, now);
        if change.rewrites_event {
            self.write_session_event(index, now);
        }
        Ok(change.agent)
    }

    /// Writes the reputation event of a closed session, and removes the one before.
    fn write_session_event(&mut self, index: usize, now: Timestamp) {
        let Some((org, entry)) = self.sessions.get_mut(index) else { return };
        let (org, before) = (org.clone(), entry.state.event.take());
        let new = entry.state.reputation_event(&org, entry.within(TimeRange::default()).as_ref(), now);
        let id = new.as_ref().map(|new| new.event.event_id);
        self.reputation_events.retain(|(o, known)| {
            *o != org || (Some(known.position) != before && Some(known.event.event_id) != id)
        });
        let event = new.map(|new| self.add_event(&org, new.identity, new.event, now));
        if let Some((_, entry)) = self.sessions.get_mut(index) {
            entry.state.event = event;
        }
    }

    fn close(&mut self, index: usize, now: Timestamp) -> Result<Option<Closed>, StoreError> {
        let Some((org, entry)) = self.sessions.get_mut(index) else { return Ok(None) };
        let closed = entry.state.close((&*org, &entry.id), now)?;
        self.write_session_event(index, now);
        Ok(Some(closed))
    }

    fn open(&self) -> impl Iterator<Item = (usize, &SessionState)> {
        let states = self.sessions.iter().map(|(_, entry)| &entry.state).enumerate();
        states.filter(|(_, state)| state.is_open)
    }

    /// Closes the sessions that have been idle for longest, while too many are open.
    fn close_excess(&mut self, now: Timestamp) -> Result<(), StoreError> {
        for _ in 0..excess(self.open().count()) {
            if let Some((index, _)) = self.open().min_by_key(|(_, state)| state.over_at()) {
                self.close(index, now)?;
            }
        }
        Ok(())
    }

    /// Returns whether an id belongs to the event of a session, now or when the session is closed.
    pub(super) fn is_session_event(&self, org: &OrgId, event: Uuid) -> bool {
        let becomes = |entry: &SessionEntry| {
            let agent = entry.stored().ok().filter(|_| !entry.records.is_empty())?.agent;
            Some(event_id(org, &agent, &entry.id))
        };
        self.sessions.iter().any(|(o, entry)| o == org && becomes(entry) == Some(event))
    }

    /// Returns whether a session names an agent.
    pub(super) fn is_named(&self, org: &OrgId, agent: &AgentId) -> bool {
        let names = |entry: &SessionEntry| {
            entry.state.signal_agent.as_ref() == Some(agent)
                || entry.records().any(|kept| kept.origin.named_agent() == Some(agent.as_str()))
        };
        self.sessions.iter().any(|(o, entry)| o == org && names(entry))
    }

    /// Removes the name of an agent from the sessions of other agents.
    pub(super) fn remove_name(&mut self, org: &OrgId, agent: &AgentId) {
        let name = ErasedName::of(agent);
        for (_, entry) in self.sessions.iter_mut().filter(|(o, _)| o == org) {
            entry.state.signal_agent.take_if(|named| name.is(named.as_str()));
            for (_, record) in &mut entry.records {
                if let Some(without) = name.removed_from("", record) {
                    *record = without;
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
        self.write_once(org, request_key, |state, now| {
            let (account, agents) = state.add_records(org, &batch, now)?;
            Ok((account, Some(Kept::records(agents))))
        })
    }

    pub(crate) fn add_signals<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        signals: NewSignals,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<()>> {
        self.write_once(org, request_key, |state, now| {
            let agent = state.add_signals(org, session, signals, now)?;
            Ok(((), Some(Kept::signals(agent))))
        })
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
        answer(self.begin_write().and_then(|(mut state, now)| {
            let over = state.open().filter(|(_, session)| session.check(false, now) == Check::Close);
            let over: Vec<usize> = over.map(|(index, _)| index).collect();
            let closed = over.into_iter().map(|index| state.close(index, now)).collect::<Result<Vec<_>, _>>();
            Ok(closed?.into_iter().flatten().collect())
        }))
    }
}

fn wanted(mut session: StoredSession, with_traces: bool) -> StoredSession {
    if !with_traces {
        session.traces = Vec::new();
    }
    session
}
