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
use crate::Reply;
use crate::error::StoreError;
use crate::evidence::{Once, Seq};
use crate::identities::ReputationEvent;
use crate::sessions::{
    Closed, NewSignals, NewTrace, OPEN_MAX, RecordCursor, SessionQuery, SessionRecord, SessionRecords,
    SessionStore, SessionSummary, Sessions, StoredSession, agent_of, began_at, bridged, last_event, over_at,
    traces,
};

/// All that is known of a session.
#[derive(Clone)]
pub(super) struct Held {
    seq: Seq,
    id: SessionId,
    told: Option<AgentId>,
    first_seen: Timestamp,
    last_seen: Timestamp,
    last_event: Option<Timestamp>,
    is_open: bool,
    closed_at: Option<Timestamp>,
    records: Vec<(Option<Fingerprint>, Vec<u8>)>,
    traces: Vec<NewTrace>,
    /// The event that it became when it was closed.
    event: Option<Uuid>,
}

impl Held {
    fn records(&self) -> impl Iterator<Item = stored::StoredRecord<'_>> {
        let id = self.id.as_str();
        self.records.iter().filter_map(move |(repeat, bytes)| stored::decode(id, *repeat, bytes))
    }

    fn stored(&self) -> Result<StoredSession, StoreError> {
        let ledger = (!self.records.is_empty())
            .then(|| Session::of(self.id.as_str(), TimeRange::default(), self.records()));
        let derived =
            ledger.as_ref().map(|ledger| derived::traces(self.id.as_str(), ledger.signal(), self.records()));
        let of_traces = || self.traces.iter().filter_map(|trace| trace.started_at).min();
        let first = ledger.as_ref().and_then(Session::started_at).or_else(of_traces);
        let agent = agent_of(ledger.as_ref(), self.told.as_ref());
        let traces = traces(self.traces.clone(), derived.into_iter().flatten());
        Ok(StoredSession {
            seq: self.seq,
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

    /// A page of its records.
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

    /// Whether the event that it became is that of another agent than this one, whose it is now.
    fn is_told_of_another(&self, org: &OrgId, agent: &AgentId) -> bool {
        self.event.is_some_and(|event| event != bridge_id(identity_of(org, agent), &self.id))
    }

    /// When it is over, if it is open.
    fn over_at(&self) -> Option<Timestamp> {
        self.is_open.then(|| over_at(self.last_event.unwrap_or(self.last_seen), self.last_seen))
    }
}

impl super::Held {
    /// Times of acceptance go back to this one: what was seen at a later time counts as seen now.
    pub(super) fn come_back(&mut self, now: Timestamp) {
        for (_, session) in self.sessions.iter_mut().filter(|(_, session)| session.is_open) {
            session.last_seen = session.last_seen.min(now);
            session.last_event = session.last_event.map(|at| at.min(now));
        }
        for reply in &mut self.replies {
            reply.at = reply.at.min(now);
        }
    }

    fn session(&mut self, org: &OrgId, id: &SessionId, now: Timestamp) -> usize {
        if let Some(place) = self.sessions.iter().position(|(o, held)| o == org && held.id == *id) {
            return place;
        }
        let held = Held {
            seq: self.next_place(),
            id: id.clone(),
            told: None,
            first_seen: now,
            last_seen: now,
            last_event: None,
            is_open: false,
            closed_at: None,
            records: Vec::new(),
            traces: Vec::new(),
            event: None,
        };
        self.sessions.push((org.clone(), held));
        self.sessions.len() - 1
    }

    /// Adds records; what became of them, and whose sessions have changed.
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
            let place = self.session(org, &id, now);
            account.sessions += u64::from(self.sessions.len() > before);
            let Some((_, held)) = self.sessions.get_mut(place) else { continue };
            if origin.repeat.is_some() && held.records.iter().any(|(known, _)| *known == origin.repeat) {
                account.duplicates += 1;
                continue;
            }
            let facts: Vec<_> = facts.collect();
            account.facts += facts.len() as u64;
            account.unknown_events += u64::from(!origin.known);
            account.no_time += u64::from(origin.at.is_none());
            let at = last_event(&origin, now);
            (held.last_event, held.last_seen, held.is_open) = (held.last_event.max(Some(at)), now, true);
            held.records.push((origin.repeat, stored::encode(&origin, facts)));
            if !changed.contains(&place) {
                changed.push(place);
            }
        }
        for place in changed {
            let Some((_, held)) = self.sessions.get(place) else { continue };
            let agent = held.stored()?.agent;
            let moved = held.is_told_of_another(org, &agent);
            self.see(org, &agent, now);
            agents.push(agent);
            if moved {
                self.tell(place, now)?;
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
        let place = self.session(org, id, now);
        let Some((_, held)) = self.sessions.get_mut(place) else { return Err(StoreError::Closed) };
        for new in signals.traces {
            match held.traces.iter_mut().find(|known| known.trace.trace_id == new.trace.trace_id) {
                Some(known) => *known = new,
                None => held.traces.push(new),
            }
        }
        held.last_seen = now;
        held.told = signals.agent.or(held.told.take());
        let (is_open, agent) = (held.is_open, held.stored()?.agent);
        let moved = held.is_told_of_another(org, &agent);
        self.see(org, &agent, now);
        if !is_open || moved {
            self.tell(place, now)?;
        }
        Ok(agent)
    }

    /// Makes the event of a session that is closed what it has to be.
    fn tell(&mut self, place: usize, now: Timestamp) -> Result<(), StoreError> {
        let Some((org, held)) = self.sessions.get(place).cloned() else { return Ok(()) };
        let session = held.stored()?;
        let closed_at = held.closed_at.unwrap_or(now);
        let event =
            session.ledger.as_ref().and_then(|ledger| bridged(&org, &session.agent, ledger, closed_at));
        let new = event.as_ref().map(|event| event.event_id);
        self.reputation_events.retain(|(o, known)| {
            let id = Some(known.event.event_id);
            *o != org || (id != held.event && id != new)
        });
        if let Some(event) = event {
            let (seq, identity) = (self.next_place(), identity_of(&org, &session.agent));
            self.reputation_events.push((org, ReputationEvent { seq, identity, event, accepted_at: now }));
        }
        if let Some((_, held)) = self.sessions.get_mut(place) {
            held.event = new;
        }
        Ok(())
    }

    fn close(&mut self, place: usize, now: Timestamp) -> Result<Option<Closed>, StoreError> {
        let Some((org, held)) = self.sessions.get_mut(place) else { return Ok(None) };
        (held.is_open, held.closed_at) = (false, Some(now));
        let closed = Closed { org: org.clone(), session: held.id.clone(), agent: held.stored()?.agent };
        self.tell(place, now)?;
        Ok(Some(closed))
    }

    /// Closes the sessions that are idle for longest while too many are open.
    fn close_early(&mut self, now: Timestamp) -> Result<(), StoreError> {
        loop {
            let open = self
                .sessions
                .iter()
                .enumerate()
                .filter_map(|(place, (_, held))| Some((held.over_at()?, place)));
            if open.clone().count() <= OPEN_MAX {
                return Ok(());
            }
            let Some((_, place)) = open.min() else { return Ok(()) };
            self.close(place, now)?;
        }
    }

    /// Whether an id is that of an event that a session became or will become.
    pub(super) fn is_bridge(&self, org: &OrgId, event: Uuid) -> bool {
        let becomes = |held: &Held| {
            let agent = held.stored().ok().filter(|_| !held.records.is_empty())?.agent;
            Some(bridge_id(identity_of(org, &agent), &held.id))
        };
        self.sessions.iter().any(|(o, held)| o == org && becomes(held) == Some(event))
    }

    /// Whether a session names an agent.
    pub(super) fn is_named(&self, org: &OrgId, agent: &AgentId) -> bool {
        let names = |held: &Held| {
            held.told.as_ref() == Some(agent)
                || held.records().any(|kept| kept.origin.named_agent() == Some(agent.as_str()))
        };
        self.sessions.iter().any(|(o, held)| o == org && names(held))
    }

    /// Takes an agent out of the sessions of others that name it.
    pub(super) fn take_name_out(&mut self, org: &OrgId, agent: &AgentId) {
        for (_, held) in self.sessions.iter_mut().filter(|(o, _)| o == org) {
            held.told.take_if(|told| told == agent);
            for (_, record) in &mut held.records {
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

    /// Forgets the sessions of an agent; how much evidence that was.
    pub(super) fn forget_sessions(&mut self, org: &OrgId, agent: &AgentId) -> usize {
        let mut count = 0;
        self.sessions.retain(|(o, held)| {
            let is_theirs = o == org && held.stored().is_ok_and(|session| session.agent == *agent);
            count += if is_theirs { held.records.len() + held.traces.len() } else { 0 };
            !is_theirs
        });
        count
    }
}

impl SessionStore for Memory {
    fn add_records<'a>(
        &'a self,
        org: &OrgId,
        batch: Batch,
        once: Option<Once<Account>>,
    ) -> Reply<'a, Account> {
        let (mut held, now) = match self.at_now() {
            Ok(at_now) => at_now,
            Err(error) => return answer(Err(error)),
        };
        let added = held.known(org).and_then(|()| held.add_records(org, &batch, now));
        answer(added.map(|(account, agents)| {
            held.keep(once, &account, agents, now);
            account
        }))
    }

    fn add_signals<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        signals: NewSignals,
        once: Option<Once<()>>,
    ) -> Reply<'a, ()> {
        let (mut held, now) = match self.at_now() {
            Ok(at_now) => at_now,
            Err(error) => return answer(Err(error)),
        };
        let agent = held.known(org).and_then(|()| held.add_signals(org, session, signals, now));
        answer(agent.map(|agent| held.keep(once, &(), vec![agent], now)))
    }

    fn session<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        with_traces: bool,
    ) -> Reply<'a, Option<StoredSession>> {
        let held = self.held();
        let found = held.sessions.iter().find(|(o, known)| o == org && known.id == *session);
        let found = held.known(org).and_then(|()| found.map(|(_, known)| known.stored()).transpose());
        answer(found.map(|found| found.map(|found| wanted(found, with_traces))))
    }

    fn session_records<'a>(
        &'a self,
        org: &OrgId,
        session: &SessionId,
        after: Option<RecordCursor>,
        limit: usize,
    ) -> Reply<'a, Option<SessionRecords>> {
        let held = self.held();
        let found = held.sessions.iter().find(|(o, known)| o == org && known.id == *session);
        answer(held.known(org).map(|()| found.map(|(_, known)| known.page(after, limit))))
    }

    fn sessions<'a>(&'a self, org: &OrgId, query: SessionQuery) -> Reply<'a, Sessions> {
        let held = self.held();
        let of_org = held.sessions.iter().filter(|(o, _)| o == org);
        let found = of_org.map(|(_, known)| known.stored()).collect::<Result<Vec<_>, _>>();
        answer(held.known(org).and(found).map(|mut found| {
            let place = |session: &StoredSession| (session.began_at, session.seq);
            found.retain(|session| {
                query.agent.as_ref().is_none_or(|agent| *agent == session.agent)
                    && query.from.is_none_or(|from| session.began_at >= from)
                    && query.to.is_none_or(|to| session.began_at <= to)
                    && query.after.is_none_or(|after| place(session) < (after.at, after.seq))
            });
            found.sort_by_key(|session| std::cmp::Reverse(place(session)));
            found.truncate(query.limit + 1);
            let found = found.into_iter().map(|session| wanted(session, false));
            Sessions::page(found.collect(), query.limit)
        }))
    }

    fn close_sessions(&self) -> Reply<'_, Vec<Closed>> {
        let (mut held, now) = match self.at_now() {
            Ok(at_now) => at_now,
            Err(error) => return answer(Err(error)),
        };
        let over: Vec<usize> = held
            .sessions
            .iter()
            .enumerate()
            .filter(|(_, (_, known))| known.over_at().is_some_and(|over_at| over_at <= now))
            .map(|(place, _)| place)
            .collect();
        let closed: Result<Vec<_>, _> = over.into_iter().map(|place| held.close(place, now)).collect();
        answer(closed.map(|closed| closed.into_iter().flatten().collect()))
    }
}

fn wanted(mut session: StoredSession, with_traces: bool) -> StoredSession {
    if !with_traces {
        session.traces = Vec::new();
    }
    session
}
