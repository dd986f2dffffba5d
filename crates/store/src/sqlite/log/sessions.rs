//! Sessions: records that are new are kept and folded, and what they add up to is written with them.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use renown_core::identity::{bridge_id, identity_of};
use renown_core::ids::{AgentId, OrgId, SessionId};
use renown_core::time::Timestamp;
use renown_telemetry::account::Account;
use renown_telemetry::facts::Batch;
use renown_telemetry::ledger::Session;
use rusqlite::params;

use super::Log;
use super::session_cache::{Held, SessionKey};
use crate::error::StoreError;
use crate::evidence::{Once, Seq};
use crate::sessions::{NewSignals, agent_of, began_at, over_at};
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::rows::{damaged, nanos, time};
use crate::sqlite::sessions::ledger;
use crate::sqlite::summaries::{SUMMARY, SummaryRow, folded, scores, write};

/// The number of an agent that is none: of a session that is new, or forgotten.
pub(super) const NOBODY: i64 = 0;

/// A session that is being changed.
struct Taken {
    key: SessionKey,
    held: Held,
    is_changed: bool,
}

impl Log<'_> {
    /// Adds the records of a batch, each once.
    pub(in crate::sqlite) fn add_records(
        &mut self,
        org: &OrgId,
        batch: &Batch,
        once: Option<Once<Account>>,
    ) -> Result<Account, StoreError> {
        let (name, org) = (org, self.orgs.get(org)?);
        // Before anything is written: an agent or a session that makes no sense fails only the writes that name it.
        let agents: HashSet<&str> = batch.records().map(|(origin, _)| origin.agent_id.value).collect();
        for agent in agents {
            self.recall(&(org, agent.parse().map_err(damaged("an agent id"))?), 0)?;
        }
        let (mut taken, mut places) = (Vec::new(), HashMap::new());
        for (origin, _) in batch.records() {
            if let Entry::Vacant(vacant) = places.entry(origin.session) {
                let key = (org, origin.session.parse().map_err(damaged("a session id"))?);
                vacant.insert(taken.len());
                taken.push((self.take_known(&key)?, key));
            }
        }
        let mut account = batch.account;
        let mut sessions = Vec::with_capacity(taken.len());
        for (held, key) in taken {
            account.sessions += u64::from(held.is_none());
            let is_changed = held.is_none();
            let held = held.map_or_else(|| self.insert_session(&key), Ok)?;
            sessions.push(Taken { key, held, is_changed });
        }
        for (origin, facts) in batch.records() {
            let place = places.get(origin.session).copied();
            let Some(session) = place.and_then(|place| sessions.get_mut(place)) else { continue };
            let facts: Vec<_> = facts.collect();
            let (insert, insert_name) = (&mut self.insert_record, &mut self.insert_name);
            if !session.held.take(insert, insert_name, &origin, &facts, self.latest)? {
                account.duplicates += 1;
                continue;
            }
            session.is_changed = true;
            account.facts += facts.len() as u64;
            account.unknown_events += u64::from(!origin.known);
            account.no_time += u64::from(origin.at.is_none());
        }
        let mut agents = Vec::new();
        for Taken { key, mut held, is_changed } in sessions {
            if is_changed {
                agents.push(self.write_session(name, &key, &mut held, true)?);
            }
            self.sessions.hold(key, held);
        }
        self.close_early()?;
        self.keep_reply(once, &account, org, || agents)?;
        Ok(account)
    }

    /// Keeps signals of a session.
    pub(in crate::sqlite) fn add_signals(
        &mut self,
        org: &OrgId,
        session: SessionId,
        signals: &NewSignals,
        once: Option<Once<()>>,
    ) -> Result<(), StoreError> {
        let (name, org) = (org, self.orgs.get(org)?);
        let key = (org, session);
        if let Some(agent) = &signals.agent {
            self.recall(&(org, agent.clone()), 0)?;
        }
        let known = self.take_known(&key)?;
        let mut held = known.map_or_else(|| self.insert_session(&key), Ok)?;
        let mut upsert = self.connection.prepare_cached(
            "INSERT INTO session_traces (session, trace_id, place, started_ns, confidence, loop_detection, tool_correctness, \
             coherence) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (session, trace_id) DO UPDATE SET \
             started_ns = excluded.started_ns, confidence = excluded.confidence, loop_detection = excluded.loop_detection, \
             tool_correctness = excluded.tool_correctness, coherence = excluded.coherence",
        )?;
        for new in &signals.traces {
            held.traces = held.traces.saturating_add(1);
            held.arrived = held.arrived.saturating_add(1);
            let signals = new.trace.signals;
            let signal = |signal: Option<renown_core::units::Unit>| signal.map(renown_core::units::Unit::get);
            upsert.execute(params![
                held.number,
                new.trace.trace_id.as_str(),
                held.traces,
                new.started_at.map(Timestamp::nanos),
                signal(signals.confidence),
                signal(signals.loop_detection),
                signal(signals.tool_correctness),
                signal(signals.coherence),
            ])?;
        }
        drop(upsert);
        if let Some(agent) = &signals.agent {
            self.insert_name.execute(params![held.number, agent.as_str()])?;
        }
        held.told = signals.agent.clone().or(held.told.take());
        let was_open = held.is_open;
        let agent = self.write_session(name, &key, &mut held, was_open)?;
        if !was_open {
            self.tell(name, &mut held)?;
        }
        self.sessions.hold(key, held);
        self.keep_reply(once, &(), org, || vec![agent])
    }

    /// Takes a session up to change it, if it is known.
    fn take_known(&mut self, key: &SessionKey) -> Result<Option<Held>, StoreError> {
        match self.sessions.take(key) {
            None => self.find_session(key),
            held => Ok(held),
        }
    }

    /// Makes a session known.
    fn insert_session(&mut self, key: &SessionKey) -> Result<Held, StoreError> {
        // The id may be that of a session whose agent was erased, and which is not gone yet.
        let mut free = self
            .connection
            .prepare_cached("UPDATE sessions SET session_id = NULL WHERE org = ?1 AND session_id = ?2")?;
        free.execute(params![key.0, key.1.as_str()])?;
        drop(free);
        // Whose it is, is known when all that arrived with it is read.
        let now = self.latest;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO sessions (org, session_id, agent, first_seen, last_seen, began_ns, last_ns, state) \
             VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, x'')",
        )?;
        let (first_seen, began_ns) = (now.millis(), now.nanos());
        insert.execute(params![
            key.0,
            key.1.as_str(),
            NOBODY,
            first_seen,
            began_ns,
            Timestamp::MIN.nanos()
        ])?;
        Ok(Held::new(self.connection.last_insert_rowid(), &key.1, now))
    }

    /// Takes up a session that is known and not held.
    pub(super) fn find_session(&self, key: &SessionKey) -> Result<Option<Held>, StoreError> {
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT s.session, a.name, s.told, s.first_seen, s.last_seen, s.began_ns, s.last_ns, s.due_at IS NOT NULL, \
             s.closed_at, s.records, s.state, s.traces, s.event, s.folded, {SUMMARY} FROM sessions s \
             JOIN agents a ON a.agent = s.agent WHERE s.org = ?1 AND s.session_id = ?2"
        ))?;
        let mut rows = select.query(params![key.0, key.1.as_str()])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (agent, told): (String, Option<String>) = (row.get(1)?, row.get(2)?);
        let closed_at: Option<i64> = row.get(8)?;
        let state = row.get_ref(10)?.as_blob().map_err(damaged("a session's state"))?;
        let derived = row.get_ref(13)?.as_blob().map_err(damaged("a session's traces"))?;
        let records: i64 = row.get(9)?;
        Ok(Some(Held {
            number: row.get(0)?,
            agent: Some(agent.parse().map_err(damaged("an agent id"))?),
            told: told.map(|told| told.parse()).transpose().map_err(damaged("an agent id"))?,
            named: None,
            first_seen: time(row.get(3)?)?,
            last_seen: time(row.get(4)?)?,
            began_at: nanos(row.get(5)?)?,
            last_event: nanos(row.get(6)?)?,
            is_open: row.get(7)?,
            closed_at: closed_at.map(time).transpose()?,
            records,
            folded: folded(records, derived),
            summary: SummaryRow::read(row, 14)?.summary(),
            // Since when a summary is missing is not kept: it may be made at once.
            arrived: records,
            ledger: ledger(self.connection, key.1.as_str(), Seq(row.get(0)?), state)?
                .unwrap_or_else(|| Session::new(key.1.as_str())),
            traces: row.get(11)?,
            event: row.get(12)?,
        }))
    }

    /// Writes what is known of a session of which something has just arrived, and its agent. It is open from then on, or not.
    fn write_session(
        &mut self,
        org: &OrgId,
        key: &SessionKey,
        held: &mut Held,
        is_open: bool,
    ) -> Result<AgentId, StoreError> {
        let now = self.latest;
        let agent = agent_of(held.scored(), held.told.as_ref()).map_err(damaged("an agent id"))?;
        let number = self.hear_of(key.0, &agent)?;
        let before = held.agent.replace(agent.clone());
        held.last_seen = now;
        // What was told of the agent before is told of this one, at once.
        if held.event.is_some() && before.as_ref() != Some(&agent) {
            self.tell(org, held)?;
        }
        self.summarize(&key.1, held)?;
        let [cost, performance] = scores(held.scored());
        let mut update = self.connection.prepare_cached(
            "UPDATE sessions SET told = ?2, last_seen = ?3, last_ns = ?4, records = ?5, traces = ?6, state = ?7, \
             cost_nano = ?8, performance = ?9 WHERE session = ?1",
        )?;
        update.execute(params![
            held.number,
            held.told.as_ref().map(AgentId::as_str),
            now.millis(),
            held.last_event.nanos(),
            held.records,
            held.traces,
            held.scored().map(Session::to_bytes).unwrap_or_default(),
            cost,
            performance,
        ])?;
        write(self.connection, held.number, &held.folded_bytes(), held.summary.as_ref())?;
        // Apart, because an indexed column that is set is written to its index also where it stays the same.
        let mut moves = self.connection.prepare_cached(
            "UPDATE sessions SET agent = ?2, began_ns = ?3, event_id = ?4 WHERE session = ?1 \
             AND (agent <> ?2 OR began_ns <> ?3 OR event_id IS NOT ?4)",
        )?;
        held.began_at = self.began_at(held)?;
        let event_id = held.scored().map(|_| bridge_id(identity_of(org, &agent), &key.1).into_bytes());
        moves.execute(params![held.number, number, held.began_at.nanos(), event_id])?;
        if is_open && !held.is_open {
            let due_at = over_at(held.last_event, now).millis();
            let mut open =
                self.connection.prepare_cached("UPDATE sessions SET due_at = ?2 WHERE session = ?1")?;
            open.execute(params![held.number, due_at])?;
            held.is_open = true;
            self.open_sessions = self.open_sessions.map(|open| open + 1);
        }
        Ok(agent)
    }

    /// When a session began.
    fn began_at(&self, held: &Held) -> Result<Timestamp, StoreError> {
        if let Some(started_at) = held.scored().and_then(Session::started_at) {
            return Ok(began_at(Some(started_at), held.first_seen));
        }
        let mut select = self
            .connection
            .prepare_cached("SELECT min(started_ns) FROM session_traces WHERE session = ?1")?;
        let of_traces: Option<i64> = select.query_row([held.number], |row| row.get(0))?;
        Ok(began_at(of_traces.map(nanos).transpose()?, held.first_seen))
    }

    /// Makes the agent of a session known, if it is not, and notes that it was heard of. Gives its number.
    fn hear_of(&mut self, org: OrgKey, agent: &AgentId) -> Result<i64, StoreError> {
        let number = self.see_agent(&(org, agent.clone()))?;
        let mut update =
            self.connection.prepare_cached("UPDATE agents SET heard_at = ?2 WHERE agent = ?1")?;
        update.execute(params![number, self.latest.millis()])?;
        Ok(number)
    }
}
