//! Saved replies for request keys, and the agents that each reply is about.
//!
//! `reply_agents` has the agents that a reply is about. When an agent is erased, its replies are deleted. From the
//! reply to a batch only the parts about that agent are removed, so that a retry for the other agents still counts
//! once.

use renown_core::ids::AgentId;
use rusqlite::params;

use super::{FORGOTTEN_AT_ONCE, Transaction};
use crate::REPLIES_KEPT_MS;
use crate::error::StoreError;
use crate::evidence::RequestKey;
use crate::sqlite::orgs::OrgKey;

impl Transaction<'_> {
    /// Saves a reply, and which agents of an organization it is about. One write may name an agent many times.
    pub(super) fn keep_reply<T: ?Sized>(
        &self,
        request_key: Option<RequestKey<T>>,
        outcome: &T,
        of: OrgKey,
        agents: impl FnOnce() -> Vec<AgentId>,
    ) -> Result<(), StoreError> {
        let Some(RequestKey { org, key, fingerprint, reply }) = request_key else { return Ok(()) };
        let org = self.orgs.get(&org)?;
        let (status, body) = reply(outcome);
        self.connection
            .prepare_cached("DELETE FROM reply_agents WHERE org = ?1 AND key = ?2")?
            .execute(params![org, key])?;
        let mut about = self.connection.prepare_cached(
            "INSERT OR IGNORE INTO reply_agents (org, key, agent) SELECT ?1, ?2, agent FROM agents WHERE org = ?3 AND name = ?4",
        )?;
        for agent in agents() {
            about.execute(params![org, key, of, agent.as_str()])?;
        }
        let mut insert = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO replies (org, key, fingerprint, status, body, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        insert.execute(params![org, key, fingerprint, status, body, self.latest.millis()])?;
        Ok(())
    }

    /// Deletes replies a day after they expired, because a clock that is set back makes them valid again.
    pub(in crate::sqlite) fn delete_old_replies(&self) -> Result<(), StoreError> {
        let mut delete = self.connection.prepare_cached(
            "DELETE FROM replies WHERE created_at <= (SELECT max(created_at) FROM \
             (SELECT created_at FROM replies WHERE created_at < ?1 ORDER BY created_at LIMIT ?2))",
        )?;
        delete.execute([self.latest.millis() - 2 * REPLIES_KEPT_MS, FORGOTTEN_AT_ONCE])?;
        Ok(())
    }
}
