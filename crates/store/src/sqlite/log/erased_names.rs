//! The agents that a session names: of them one is the agent whose session it is, the others are only named in its records or were
//! said with signals.
//!
//! When one of the others is erased the session stays, and its evidence too: it is that of the agent whose it is. The name goes from
//! every record, a little at a time, like all that an erased agent leaves. Of names that are searched for only the hash is known by
//! then.

use renown_core::ids::AgentId;
use renown_telemetry::facts::UNKNOWN_AGENT_ID;
use renown_telemetry::stored::{self, StoredRecord};
use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::Log;
use super::erasure::Grave;
use crate::error::StoreError;
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::rows::damaged;

/// How many records are looked through at a time.
const RECORDS_AT_ONCE: usize = 5000;

/// How far the records of a session were looked through.
#[derive(Clone, Copy)]
pub(super) struct Reached {
    session: i64,
    at_ns: i64,
    key: i64,
}

/// A session that names an erased agent.
struct Naming {
    number: i64,
    org: OrgKey,
    id: Option<String>,
    agent: Option<String>,
    told: Option<String>,
}

impl Log<'_> {
    /// Whether a session of an organization names an agent.
    pub(super) fn is_named(&self, org: OrgKey, agent: &AgentId) -> Result<bool, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT 1 FROM session_names n JOIN sessions s ON s.session = n.session \
             WHERE n.name = ?1 AND s.org = ?2 AND s.session_id IS NOT NULL",
        )?;
        Ok(select.exists(params![agent.as_str(), org])?)
    }

    /// Notes in which sessions the name of an agent has to be searched for, which is buried under this tombstone.
    pub(super) fn bury_name(&self, tombstone: i64, org: OrgKey, agent: &AgentId) -> Result<(), StoreError> {
        let mut note = self.connection.prepare_cached(
            "INSERT INTO session_graves (tombstone, session) SELECT ?1, n.session FROM session_names n \
             JOIN sessions s ON s.session = n.session WHERE n.name = ?2 AND s.org = ?3",
        )?;
        note.execute(params![tombstone, agent.as_str(), org])?;
        let mut forget = self.connection.prepare_cached(
            "DELETE FROM session_names WHERE name = ?1 AND session IN \
             (SELECT session FROM session_graves WHERE tombstone = ?2)",
        )?;
        forget.execute(params![agent.as_str(), tombstone])?;
        Ok(())
    }

    /// Takes the name of an erased agent out of some records; whether there are more to look through.
    pub(super) fn take_name_out(&mut self, grave: &Grave) -> Result<bool, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT g.session, s.org, s.session_id, a.name, s.told FROM session_graves g \
             LEFT JOIN sessions s ON s.session = g.session LEFT JOIN agents a ON a.agent = s.agent \
             WHERE g.tombstone = ?1 ORDER BY g.session LIMIT 1",
        )?;
        let naming = select.query_row([grave.tombstone], |row| {
            let (number, org) = (row.get(0)?, row.get::<_, Option<OrgKey>>(1)?.unwrap_or(grave.org));
            Ok(Naming { number, org, id: row.get(2)?, agent: row.get(3)?, told: row.get(4)? })
        });
        let Some(naming) = naming.optional()? else { return Ok(false) };
        drop(select);
        let is_erased = |name: &str| <[u8; 32]>::from(Sha256::digest(name)) == grave.digest;
        // A session that will be gone, or one of the same name's next life.
        let is_over = naming.agent.as_deref().is_none_or(is_erased) || self.unnamed(&naming, is_erased)?;
        if is_over {
            self.name_is_out(grave, &naming, is_erased)?;
        }
        Ok(true)
    }

    /// Looks through some records of a session, and takes the agent out of those that name it; whether those were the last.
    fn unnamed(&mut self, naming: &Naming, is_erased: impl Fn(&str) -> bool) -> Result<bool, StoreError> {
        let start = Reached { session: naming.number, at_ns: i64::MIN, key: i64::MIN };
        let reached = self.reached.filter(|reached| reached.session == naming.number).unwrap_or(start);
        let mut select = self.connection.prepare_cached(
            "SELECT at_ns, key, record FROM session_records WHERE session = ?1 AND (at_ns, key) > (?2, ?3) \
             ORDER BY at_ns, key LIMIT ?4",
        )?;
        let found = select
            .query_map(params![naming.number, reached.at_ns, reached.key, RECORDS_AT_ONCE], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        let found: Vec<(i64, i64, Vec<u8>)> = found.collect::<Result<_, _>>()?;
        let mut update = self.connection.prepare_cached(
            "UPDATE session_records SET record = ?4, seal = renown_seal(session, at_ns, key, ?4) \
             WHERE session = ?1 AND at_ns = ?2 AND key = ?3",
        )?;
        let id = naming.id.as_deref().unwrap_or_default();
        for (at_ns, key, record) in &found {
            let Some(StoredRecord { mut origin, facts }) = stored::decode(id, None, record) else { continue };
            if origin.named_agent().is_some_and(&is_erased) {
                origin.agent_id = UNKNOWN_AGENT_ID;
                update.execute(params![naming.number, at_ns, key, stored::encode(&origin, facts)])?;
            }
        }
        let last = found.last().filter(|_| found.len() == RECORDS_AT_ONCE);
        self.reached =
            last.map(|(at_ns, key, _)| Reached { session: naming.number, at_ns: *at_ns, key: *key });
        Ok(self.reached.is_none())
    }

    /// The name is in no record of a session any more.
    fn name_is_out(
        &mut self,
        grave: &Grave,
        naming: &Naming,
        is_erased: impl Fn(&str) -> bool,
    ) -> Result<(), StoreError> {
        if naming.told.as_deref().is_some_and(is_erased) {
            let mut update =
                self.connection.prepare_cached("UPDATE sessions SET told = NULL WHERE session = ?1")?;
            update.execute([naming.number])?;
        }
        if let Some(id) = &naming.id {
            self.sessions.forget(&(naming.org, id.parse().map_err(damaged("a session id"))?));
        }
        let mut delete = self
            .connection
            .prepare_cached("DELETE FROM session_graves WHERE tombstone = ?1 AND session = ?2")?;
        delete.execute(params![grave.tombstone, naming.number])?;
        Ok(())
    }
}
