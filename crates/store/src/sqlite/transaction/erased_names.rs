//! Removes the names of erased agents from the sessions of other agents.
//!
//! A session belongs to one agent, but its records and signals may name others. When one of the others is erased,
//! the session and its evidence stay, because they belong to another agent. The name is removed from every record,
//! a little at a time, like everything that an erased agent leaves. By then only the hash of the name is known.

use renown_core::ids::AgentId;
use rusqlite::{OptionalExtension, params};

use super::Transaction;
use super::erasure::PendingErasure;
use crate::error::StoreError;
use crate::fold::erasure::ErasedName;
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::rows::damaged;

/// Maximum number of records that are searched at a time.
const RECORDS_AT_ONCE: usize = 5000;

/// How far the records of a session were searched.
#[derive(Clone, Copy)]
pub(super) struct Reached {
    session: i64,
    at_ns: i64,
    key: i64,
}

/// A session that names an erased agent.
struct NamingSession {
    number: i64,
    org: OrgKey,
    id: Option<String>,
    agent: Option<String>,
    signal_agent: Option<String>,
}

impl Transaction<'_> {
    /// Returns whether a session of an organization names an agent.
    pub(super) fn is_agent_named(&self, org: OrgKey, agent: &AgentId) -> Result<bool, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT 1 FROM session_names n JOIN sessions s ON s.session = n.session \
             WHERE n.name = ?1 AND s.org = ?2 AND s.session_id IS NOT NULL",
        )?;
        Ok(select.exists(params![agent.as_str(), org])?)
    }

    /// Saves in which sessions the name of an erased agent has to be searched for.
    pub(super) fn note_named_sessions(
        &self,
        tombstone: i64,
        org: OrgKey,
        agent: &AgentId,
    ) -> Result<(), StoreError> {
        let mut note = self.connection.prepare_cached(
            "INSERT INTO session_erasures (tombstone, session) SELECT ?1, n.session FROM session_names n \
             JOIN sessions s ON s.session = n.session WHERE n.name = ?2 AND s.org = ?3",
        )?;
        note.execute(params![tombstone, agent.as_str(), org])?;
        let mut forget = self.connection.prepare_cached(
            "DELETE FROM session_names WHERE name = ?1 AND session IN \
             (SELECT session FROM session_erasures WHERE tombstone = ?2)",
        )?;
        forget.execute(params![agent.as_str(), tombstone])?;
        Ok(())
    }

    /// Removes the name of an erased agent from some records. Returns whether there are more to search.
    pub(super) fn remove_name(&mut self, erasure: &PendingErasure) -> Result<bool, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT g.session, s.org, s.session_id, a.name, s.signal_agent FROM session_erasures g \
             LEFT JOIN sessions s ON s.session = g.session LEFT JOIN agents a ON a.agent = s.agent \
             WHERE g.tombstone = ?1 ORDER BY g.session LIMIT 1",
        )?;
        let session = select.query_row([erasure.tombstone], |row| {
            let (number, org) = (row.get(0)?, row.get::<_, Option<OrgKey>>(1)?.unwrap_or(erasure.org));
            Ok(NamingSession { number, org, id: row.get(2)?, agent: row.get(3)?, signal_agent: row.get(4)? })
        });
        let Some(session) = session.optional()? else { return Ok(false) };
        drop(select);
        let is_done = erasure.name.stays_in_session_of(session.agent.as_deref())
            || self.remove_name_from_records(&session, erasure.name)?;
        if is_done {
            self.finish_name_removal(erasure, &session)?;
        }
        Ok(true)
    }

    /// Searches some records of a session, and removes the erased name from them. Returns whether these were the
    /// last ones.
    fn remove_name_from_records(
        &mut self,
        session: &NamingSession,
        name: ErasedName,
    ) -> Result<bool, StoreError> {
        let start = Reached { session: session.number, at_ns: i64::MIN, key: i64::MIN };
        let reached = self.reached.filter(|reached| reached.session == session.number).unwrap_or(start);
        let mut select = self.connection.prepare_cached(
            "SELECT at_ns, key, record FROM session_records WHERE session = ?1 AND (at_ns, key) > (?2, ?3) \
             ORDER BY at_ns, key LIMIT ?4",
        )?;
        let found = select
            .query_map(params![session.number, reached.at_ns, reached.key, RECORDS_AT_ONCE], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        let found: Vec<(i64, i64, Vec<u8>)> = found.collect::<Result<_, _>>()?;
        let mut update = self.connection.prepare_cached(
            "UPDATE session_records SET record = ?4, seal = renown_seal(session, at_ns, key, ?4) \
             WHERE session = ?1 AND at_ns = ?2 AND key = ?3",
        )?;
        let id = session.id.as_deref().unwrap_or_default();
        for (at_ns, key, record) in &found {
            if let Some(record) = name.removed_from(id, record) {
                update.execute(params![session.number, at_ns, key, record])?;
            }
        }
        let last = found.last().filter(|_| found.len() == RECORDS_AT_ONCE);
        self.reached =
            last.map(|(at_ns, key, _)| Reached { session: session.number, at_ns: *at_ns, key: *key });
        Ok(self.reached.is_none())
    }

    /// Finishes a session that has no record with the name any more.
    fn finish_name_removal(
        &mut self,
        erasure: &PendingErasure,
        session: &NamingSession,
    ) -> Result<(), StoreError> {
        if session.signal_agent.as_deref().is_some_and(|name| erasure.name.is(name)) {
            let mut update = self
                .connection
                .prepare_cached("UPDATE sessions SET signal_agent = NULL WHERE session = ?1")?;
            update.execute([session.number])?;
        }
        if let Some(id) = &session.id {
            self.sessions.remove(&(session.org, id.parse().map_err(damaged("a session id"))?));
        }
        let mut delete = self
            .connection
            .prepare_cached("DELETE FROM session_erasures WHERE tombstone = ?1 AND session = ?2")?;
        delete.execute(params![erasure.tombstone, session.number])?;
        Ok(())
    }
}
