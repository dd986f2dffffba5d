//! Writes request keys: what was accepted for each, and the agents that the write was about.

use renown_core::ids::AgentId;
use rusqlite::params;

use super::{FORGOTTEN_AT_ONCE, Transaction};
use crate::error::StoreError;
use crate::evidence::Position;
use crate::fold::request_keys::deleted_before_ms;
use crate::request_keys::kept::Kept;
use crate::request_keys::{KnownRequest, RequestKey};
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::request_keys;

impl Transaction<'_> {
    /// Looks up the key of a write, before the write changes anything. Returns `None` if the write is to be done.
    pub(super) fn known(&self, request_key: Option<&RequestKey>) -> Result<Option<KnownRequest>, StoreError> {
        let Some(request_key) = request_key else { return Ok(None) };
        let org = self.orgs.get(&request_key.org)?;
        request_keys::find(self.connection, org, request_key, self.latest)
    }

    /// Keeps what a write with a key has accepted. The key may have expired before.
    pub(super) fn keep(
        &self,
        request_key: Option<RequestKey>,
        kept: impl FnOnce() -> Kept,
    ) -> Result<(), StoreError> {
        let Some(RequestKey { org, key, fingerprint }) = request_key else { return Ok(()) };
        let (org, kept) = (self.orgs.get(&org)?, kept());
        self.connection
            .prepare_cached("DELETE FROM request_key_agents WHERE org = ?1 AND key = ?2")?
            .execute(params![org, key])?;
        let mut insert = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO request_keys (org, key, fingerprint, kind, accepted, repeated, position, api_key, created_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        insert.execute(params![
            org,
            key,
            fingerprint,
            kept.kind.name(),
            kept.accepted,
            kept.repeated,
            kept.position.map(Position::number),
            kept.api_key.as_ref().map(uuid::Uuid::as_bytes),
            self.latest.millis(),
        ])?;
        let mut about = self.connection.prepare_cached(
            "INSERT INTO request_key_agents (org, key, place, agent, score, evaluations) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        for (place, (agent, standing)) in kept.agents.iter().enumerate() {
            about.execute(params![
                org,
                key,
                place,
                agent.as_str(),
                standing.map(|standing| standing.score),
                standing.map(|standing| standing.eval_count),
            ])?;
        }
        Ok(())
    }

    /// Removes an erased agent. A key whose write was about no other agent is deleted.
    pub(super) fn remove_agent_from_request_keys(
        &self,
        org: OrgKey,
        agent: &AgentId,
    ) -> Result<(), StoreError> {
        for delete in [
            "DELETE FROM request_keys WHERE org = ?1 \
             AND key IN (SELECT key FROM request_key_agents WHERE org = ?1 AND agent = ?2) \
             AND NOT EXISTS (SELECT 1 FROM request_key_agents o WHERE o.org = ?1 AND o.key = request_keys.key AND o.agent <> ?2)",
            "DELETE FROM request_key_agents WHERE org = ?1 AND agent = ?2",
        ] {
            self.connection.prepare_cached(delete)?.execute(params![org, agent.as_str()])?;
        }
        Ok(())
    }

    /// Deletes some keys that expired long ago.
    pub(in crate::sqlite) fn delete_old_request_keys(&self) -> Result<(), StoreError> {
        let mut delete = self.connection.prepare_cached(
            "DELETE FROM request_keys WHERE created_at <= (SELECT max(created_at) FROM \
             (SELECT created_at FROM request_keys WHERE created_at < ?1 ORDER BY created_at LIMIT ?2))",
        )?;
        delete.execute([deleted_before_ms(self.latest), FORGOTTEN_AT_ONCE])?;
        Ok(())
    }
}
