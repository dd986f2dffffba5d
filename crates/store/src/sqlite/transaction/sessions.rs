//! Writes sessions: new records are stored and folded, and the folds are written with them.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use renown_core::ids::{AgentId, OrgId, SessionId};
use renown_core::time::Timestamp;
use renown_telemetry::account::Account;
use renown_telemetry::facts::Batch;
use renown_telemetry::ledger::Session;
use rusqlite::params;

use super::Transaction;
use super::session_cache::{CachedSession, SessionKey};
use crate::error::StoreError;
use crate::evidence::Position;
use crate::fold::sessions::{Arrival, Received, SessionState, began_at};
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, RequestKey};
use crate::sessions::NewSignals;
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::rows::{damaged, nanos, time};
use crate::sqlite::sessions::ledger;
use crate::sqlite::summaries::{SUMMARY, SummaryRow, folded, scores, write};

/// The number of no agent, in the row of a session that is new or deleted.
pub(super) const NO_AGENT: i64 = 0;

/// A session that is being changed.
struct ChangedSession {
    key: SessionKey,
    cached: CachedSession,
    is_changed: bool,
}

impl Transaction<'_> {
    /// Adds the records of a batch, each once.
    pub(in crate::sqlite) fn add_records(
        &mut self,
        org: &OrgId,
        batch: &Batch,
        request_key: Option<RequestKey>,
    ) -> Result<Accepted<Account>, StoreError> {
        let (name, org) = (org, self.orgs.get(org)?);
        if let Some(known) = self.known(request_key.as_ref())? {
            return Ok(known.into());
        }
        // Load agents and sessions before anything is written: one with damaged evidence fails only the writes that
        // name it.
        let agents: HashSet<&str> = batch.records().map(|(origin, _)| origin.agent_id.value).collect();
        for agent in agents {
            self.load_agent(&(org, agent.parse().map_err(damaged("an agent id"))?), 0)?;
        }
        let (mut loaded, mut indexes) = (Vec::new(), HashMap::new());
        for (origin, _) in batch.records() {
            if let Entry::Vacant(vacant) = indexes.entry(origin.session) {
                let key = (org, origin.session.parse().map_err(damaged("a session id"))?);
                vacant.insert(loaded.len());
                loaded.push((self.take_session(&key)?, key));
            }
        }
        let mut received = Received::new(batch.account);
        let mut sessions = Vec::with_capacity(loaded.len());
        for (cached, key) in loaded {
            let is_new = cached.is_none();
            if is_new {
                received.add_session();
            }
            let cached = cached.map_or_else(|| self.insert_session(&key), Ok)?;
            sessions.push(ChangedSession { key, cached, is_changed: is_new });
        }
        for (origin, facts) in batch.records() {
            let index = indexes.get(origin.session).copied();
            let Some(session) = index.and_then(|index| sessions.get_mut(index)) else { continue };
            let facts: Vec<_> = facts.collect();
            let (insert, insert_name) = (&mut self.insert_record, &mut self.insert_name);
            let is_known = !session.cached.add_record(insert, insert_name, &origin, &facts, self.latest)?;
            session.is_changed |= received.add_record(&origin, facts.len(), is_known);
        }
        let mut agents = Vec::new();
        for ChangedSession { key, mut cached, is_changed } in sessions {
            if is_changed {
                agents.push(self.write_session(name, &key, &mut cached, Arrival::Records)?);
            }
            self.sessions.insert(key, cached);
        }
        self.close_early()?;
        self.keep(request_key, || Kept::records(agents))?;
        Ok(Accepted::Fresh(received.account()))
    }

    /// Stores signals of a session.
    pub(in crate::sqlite) fn add_signals(
        &mut self,
        org: &OrgId,
        session: SessionId,
        signals: &NewSignals,
        request_key: Option<RequestKey>,
    ) -> Result<Accepted<()>, StoreError> {
        let (name, org) = (org, self.orgs.get(org)?);
        if let Some(known) = self.known(request_key.as_ref())? {
            return Ok(known.into());
        }
        let key = (org, session);
        if let Some(agent) = &signals.agent {
            self.load_agent(&(org, agent.clone()), 0)?;
        }
        let known = self.take_session(&key)?;
        let mut cached = known.map_or_else(|| self.insert_session(&key), Ok)?;
        let mut upsert = self.connection.prepare_cached(
            "INSERT INTO session_traces (session, trace_id, position, started_ns, confidence, loop_detection, tool_correctness, \
             coherence) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (session, trace_id) DO UPDATE SET \
             started_ns = excluded.started_ns, confidence = excluded.confidence, loop_detection = excluded.loop_detection, \
             tool_correctness = excluded.tool_correctness, coherence = excluded.coherence",
        )?;
        for new in &signals.traces {
            cached.traces = cached.traces.saturating_add(1);
            cached.arrived = cached.arrived.saturating_add(1);
            let signals = new.trace.signals;
            let signal = |signal: Option<renown_core::units::Unit>| signal.map(renown_core::units::Unit::get);
            upsert.execute(params![
                cached.number,
                new.trace.trace_id.as_str(),
                cached.traces,
                new.started_at.map(Timestamp::nanos),
                signal(signals.confidence),
                signal(signals.loop_detection),
                signal(signals.tool_correctness),
                signal(signals.coherence),
            ])?;
        }
        drop(upsert);
        if let Some(agent) = &signals.agent {
            self.insert_name.execute(params![cached.number, agent.as_str()])?;
        }
        cached.state.add_signal_agent(signals.agent.clone());
        let agent = self.write_session(name, &key, &mut cached, Arrival::Signals)?;
        self.sessions.insert(key, cached);
        self.keep(request_key, || Kept::signals(agent))?;
        Ok(Accepted::Fresh(()))
    }

    /// Removes a session from the cache, or loads it, to change it. Returns `None` if it is new.
    fn take_session(&mut self, key: &SessionKey) -> Result<Option<CachedSession>, StoreError> {
        match self.sessions.remove(key) {
            None => self.load_session(key),
            cached => Ok(cached),
        }
    }

    /// Adds a session.
    fn insert_session(&mut self, key: &SessionKey) -> Result<CachedSession, StoreError> {
        // The id may belong to a session of an erased agent that is not deleted yet.
        let mut free = self
            .connection
            .prepare_cached("UPDATE sessions SET session_id = NULL WHERE org = ?1 AND session_id = ?2")?;
        free.execute(params![key.0, key.1.as_str()])?;
        drop(free);
        // The agent is known when everything that arrived with the session was read.
        let now = self.latest;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO sessions (org, session_id, agent, first_seen, last_seen, began_ns, last_ns, state) \
             VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, x'')",
        )?;
        let (first_seen, began_ns) = (now.millis(), now.nanos());
        insert.execute(params![
            key.0,
            key.1.as_str(),
            NO_AGENT,
            first_seen,
            began_ns,
            Timestamp::MIN.nanos()
        ])?;
        Ok(CachedSession::new(self.connection.last_insert_rowid(), &key.1, now))
    }

    /// Loads a session that is not cached. Returns `None` if it does not exist.
    pub(super) fn load_session(&self, key: &SessionKey) -> Result<Option<CachedSession>, StoreError> {
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT s.session, a.name, s.signal_agent, s.first_seen, s.last_seen, s.last_ns, s.check_at IS NOT NULL, \
             s.closed_at, s.records, s.state, s.traces, s.event, s.folded, {SUMMARY} FROM sessions s \
             JOIN agents a ON a.agent = s.agent WHERE s.org = ?1 AND s.session_id = ?2"
        ))?;
        let mut rows = select.query(params![key.0, key.1.as_str()])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (agent, signal_agent): (String, Option<String>) = (row.get(1)?, row.get(2)?);
        let closed_at: Option<i64> = row.get(7)?;
        let state = row.get_ref(9)?.as_blob().map_err(damaged("a session's state"))?;
        let derived = row.get_ref(12)?.as_blob().map_err(damaged("a session's traces"))?;
        let records: i64 = row.get(8)?;
        Ok(Some(CachedSession {
            number: row.get(0)?,
            state: SessionState {
                agent: Some(agent.parse().map_err(damaged("an agent id"))?),
                signal_agent: signal_agent
                    .map(|signal_agent| signal_agent.parse())
                    .transpose()
                    .map_err(damaged("an agent id"))?,
                first_seen: time(row.get(3)?)?,
                last_seen: time(row.get(4)?)?,
                last_event: nanos(row.get(5)?)?,
                is_open: row.get(6)?,
                closed_at: closed_at.map(time).transpose()?,
                event: row.get::<_, Option<i64>>(11)?.map(Position::of),
            },
            named: None,
            records,
            folded: folded(records, derived),
            summary: SummaryRow::read(row, 13)?.summary(),
            // It is not stored since when a summary is missing, so it may be computed at once.
            arrived: records,
            ledger: ledger(self.connection, key.1.as_str(), Position::of(row.get(0)?), state)?
                .unwrap_or_else(|| Session::new(key.1.as_str())),
            traces: row.get(10)?,
        }))
    }

    /// Writes the row of a session after something of it arrived, its agent, and its reputation event if that changes.
    fn write_session(
        &mut self,
        org: &OrgId,
        key: &SessionKey,
        cached: &mut CachedSession,
        arrival: Arrival,
    ) -> Result<AgentId, StoreError> {
        let now = self.latest;
        let ledger = (cached.records > 0).then_some(&cached.ledger);
        let change = cached.state.arrive((org, &key.1), ledger, arrival, now)?;
        let number = self.touch_session_agent(key.0, &change.agent)?;
        if change.rewrites_event {
            self.write_session_event(org, cached)?;
        }
        self.summarize(&key.1, cached)?;
        let [cost, performance] = scores(cached.scored());
        let mut update = self.connection.prepare_cached(
            "UPDATE sessions SET signal_agent = ?2, last_seen = ?3, last_ns = ?4, records = ?5, traces = ?6, state = ?7, \
             cost_nano = ?8, performance = ?9 WHERE session = ?1",
        )?;
        update.execute(params![
            cached.number,
            cached.state.signal_agent.as_ref().map(AgentId::as_str),
            now.millis(),
            cached.state.last_event.nanos(),
            cached.records,
            cached.traces,
            cached.scored().map(Session::to_bytes).unwrap_or_default(),
            cost,
            performance,
        ])?;
        write(self.connection, cached.number, &cached.folded_bytes(), cached.summary.as_ref())?;
        // In a statement of its own, because setting an indexed column writes its index even if the value stays the
        // same.
        let mut moves = self.connection.prepare_cached(
            "UPDATE sessions SET agent = ?2, began_ns = ?3, event_id = ?4 WHERE session = ?1 \
             AND (agent <> ?2 OR began_ns <> ?3 OR event_id IS NOT ?4)",
        )?;
        let (began_at, event_id) = (self.began_at(cached)?, change.event_id.map(uuid::Uuid::into_bytes));
        moves.execute(params![cached.number, number, began_at.nanos(), event_id])?;
        if let Some(check_at) = change.check_at {
            let mut open =
                self.connection.prepare_cached("UPDATE sessions SET check_at = ?2 WHERE session = ?1")?;
            open.execute(params![cached.number, check_at.millis()])?;
            self.open_sessions = self.open_sessions.map(|open| open + 1);
        }
        Ok(change.agent)
    }

    /// Returns when a session began.
    fn began_at(&self, cached: &CachedSession) -> Result<Timestamp, StoreError> {
        if let Some(started_at) = cached.scored().and_then(Session::started_at) {
            return Ok(began_at(Some(started_at), cached.state.first_seen));
        }
        let mut select = self
            .connection
            .prepare_cached("SELECT min(started_ns) FROM session_traces WHERE session = ?1")?;
        let of_traces: Option<i64> = select.query_row([cached.number], |row| row.get(0))?;
        Ok(began_at(of_traces.map(nanos).transpose()?, cached.state.first_seen))
    }

    /// Adds the agent of a session if it is new, and saves when it was last seen. Returns its number.
    fn touch_session_agent(&mut self, org: OrgKey, agent: &AgentId) -> Result<i64, StoreError> {
        let number = self.touch_agent(&(org, agent.clone()))?;
        let mut update =
            self.connection.prepare_cached("UPDATE agents SET session_seen_at = ?2 WHERE agent = ?1")?;
        update.execute(params![number, self.latest.millis()])?;
        Ok(number)
    }
}
