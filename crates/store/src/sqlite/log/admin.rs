//! Settings, who is shown to everybody, and the first step of forgetting an agent.

use renown_core::identity::identity_of;
use renown_core::ids::{AgentId, OrgId, Slug};
use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::Log;
use crate::admin::{LatencySource, OrgSettings, Publication, Published, is_named};
use crate::error::StoreError;
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::standings::AgentKey;
use crate::sqlite::{identities, rows};

impl Log<'_> {
    /// Whose latency counts in an organization.
    pub(super) fn latency_source(&mut self, org: OrgKey) -> Result<LatencySource, StoreError> {
        if let Some(source) = self.latency_sources.get(&org) {
            return Ok(*source);
        }
        let source = rows::settings(self.connection, org)?.latency_source;
        self.latency_sources.insert(org, source);
        Ok(source)
    }

    /// Changes the settings of an organization.
    pub(in crate::sqlite) fn set_settings(
        &mut self,
        org: &OrgId,
        settings: OrgSettings,
    ) -> Result<(), StoreError> {
        let org = self.orgs.get(org)?;
        let mut update =
            self.connection.prepare_cached("UPDATE orgs SET latency_source = ?2 WHERE org = ?1")?;
        update.execute(params![org, settings.latency_source.name()])?;
        self.latency_sources.insert(org, settings.latency_source);
        Ok(())
    }

    /// Shows an agent to everybody, or no longer.
    pub(in crate::sqlite) fn publish(
        &mut self,
        org: &OrgId,
        agent: &AgentId,
        publication: &Publication,
    ) -> Result<Published, StoreError> {
        let key = (self.orgs.get(org)?, agent.clone());
        self.recall(&key, 0)?;
        let Some(number) = self.agents.peek(&key).map(|agent| agent.state.agent) else {
            return Ok(Published::NoAgent);
        };
        let slug = publication.slug.as_ref().map(Slug::as_str);
        let mut taken =
            self.connection.prepare_cached("SELECT 1 FROM agents WHERE slug = ?1 AND agent <> ?2")?;
        if taken.exists(params![slug, number])? {
            return Ok(Published::Taken);
        }
        let mut update = self.connection.prepare_cached(
            "UPDATE agents SET public = ?2, slug = coalesce(?3, slug) WHERE agent = ?1 RETURNING slug",
        )?;
        let slug: Option<String> =
            update.query_row(params![number, publication.public, slug], |row| row.get(0))?;
        let slug = slug.map(|slug| slug.parse()).transpose().map_err(rows::damaged("a slug"))?;
        Ok(Published::Done(Publication { public: publication.public, slug }))
    }

    /// Erases an agent: nobody sees it from here on. What it leaves is named by a tombstone, for [`Log::tend`].
    pub(in crate::sqlite) fn erase(&mut self, org: &OrgId, agent: &AgentId) -> Result<bool, StoreError> {
        let name = org;
        let org = self.orgs.get(name)?;
        let key = (org, agent.clone());
        self.recall(&key, 0)?;
        let state = self.agents.peek(&key).map(|agent| agent.state);
        let identity = identities::find(self.connection, org, identity_of(name, agent))?;
        let known = state.is_some() || identity.is_some();
        if known {
            self.connection.pragma_update(None, "secure_delete", true)?;
            let mut bury = self.connection.prepare_cached(
                "INSERT INTO tombstones (org, digest, asked_at, agent, last_seq, identity) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?;
            let digest: [u8; 32] = Sha256::digest(agent.as_str()).into();
            let (number, last) = (state.map(|state| state.agent), state.and_then(|state| state.last_seq));
            bury.execute(params![org, digest, self.latest.millis(), number, last, identity])?;
            self.connection.prepare_cached("DELETE FROM agents WHERE agent = ?1")?.execute([number])?;
            self.connection
                .prepare_cached("DELETE FROM identities WHERE identity = ?1")?
                .execute([identity])?;
            self.remember_top(org)?;
            self.forget_replies_of(org, agent)?;
            self.forget_agent(key);
            self.connection.pragma_update(None, "secure_delete", false)?;
        }
        Ok(known)
    }

    /// Lets go of everything that is held of an agent.
    fn forget_agent(&mut self, key: AgentKey) {
        self.agents.pop(&key);
        self.touched.retain(|touched| *touched != key);
        self.erased.insert(key);
    }

    /// Keeps the highest place of an organization, so that it is not given again when its evaluation is gone.
    pub(super) fn remember_top(&mut self, org: OrgKey) -> Result<(), StoreError> {
        let next = self.next_seq(org)?;
        let mut update =
            self.connection.prepare_cached("UPDATE orgs SET top = max(top, ?2) WHERE org = ?1")?;
        update.execute(params![org, next.0 - 1])?;
        Ok(())
    }

    /// Forgets the kept replies that name an agent.
    fn forget_replies_of(&self, org: OrgKey, agent: &AgentId) -> Result<(), StoreError> {
        let mut select = self.connection.prepare("SELECT key, body FROM replies WHERE org = ?1")?;
        let mut rows = select.query([org])?;
        let mut naming: Vec<String> = Vec::new();
        while let Some(row) = rows.next()? {
            let body = row.get_ref(1)?.as_blob().map_err(rows::damaged("a reply"))?;
            if is_named(agent, body) {
                naming.push(row.get(0)?);
            }
        }
        let mut delete = self.connection.prepare("DELETE FROM replies WHERE org = ?1 AND key = ?2")?;
        for key in naming {
            delete.execute(params![org, key])?;
        }
        Ok(())
    }

    /// The next number of an agent: never one that a tombstone has, whose evidence may still be there.
    pub(super) fn next_agent(&self) -> Result<i64, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT max(coalesce((SELECT max(agent) FROM agents), 0), coalesce((SELECT max(agent) FROM tombstones), 0)) + 1",
        )?;
        Ok(select.query_row([], |row| row.get(0)).optional()?.unwrap_or(1))
    }
}
