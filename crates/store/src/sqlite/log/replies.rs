//! Replies that are kept for whoever asks again, and whom each is about.
//!
//! `reply_agents` names the agents that a reply concerns. When an agent is erased, its replies are deleted. Of the reply to a
//! batch, the parts about other agents stay, so that their retry still counts once.

use renown_core::ids::AgentId;
use rusqlite::params;

use super::{FORGOTTEN_AT_ONCE, Log};
use crate::REPLIES_KEPT_MS;
use crate::error::StoreError;
use crate::evidence::Once;
use crate::sqlite::orgs::OrgKey;

impl Log<'_> {
    /// Keeps a reply, and which agents of an organization it is about. One write may name an agent many times.
    pub(super) fn keep_reply<T: ?Sized>(
        &self,
        once: Option<Once<T>>,
        outcome: &T,
        of: OrgKey,
        agents: impl FnOnce() -> Vec<AgentId>,
    ) -> Result<(), StoreError> {
        let Some(Once { org, key, fingerprint, reply }) = once else { return Ok(()) };
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

    /// Forgets replies a day after they are no longer asked for: a clock that is turned back asks for them again.
    pub(in crate::sqlite) fn forget_replies(&self) -> Result<(), StoreError> {
        let mut delete = self.connection.prepare_cached(
            "DELETE FROM replies WHERE created_at <= (SELECT max(created_at) FROM \
             (SELECT created_at FROM replies WHERE created_at < ?1 ORDER BY created_at LIMIT ?2))",
        )?;
        delete.execute([self.latest.millis() - 2 * REPLIES_KEPT_MS, FORGOTTEN_AT_ONCE])?;
        Ok(())
    }
}
