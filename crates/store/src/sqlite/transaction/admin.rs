//! Settings, publications, and the first step of an erasure.

use renown_core::identity::identity_of;
use renown_core::ids::{AgentId, OrgId, Slug};
use rusqlite::{OptionalExtension, params};

use super::Transaction;
use crate::admin::{LatencySource, OrgSettings, Publication, PublicationChange, Published, Tombstone};
use crate::error::StoreError;
use crate::fold::erasure::{self, KnownAgent};
use crate::fold::publications;
use crate::sqlite::agent_cache::AgentKey;
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::{admin, identities, rows};

impl Transaction<'_> {
    /// Returns whose latency counts in an organization.
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

    /// Changes the publication of an agent.
    pub(in crate::sqlite) fn publish(
        &mut self,
        org: &OrgId,
        agent: &AgentId,
        change: &PublicationChange,
    ) -> Result<Published, StoreError> {
        let org = self.orgs.get(org)?;
        let known = admin::publication(self.connection, org, agent)?;
        let published = publications::publish(known.as_ref(), change, |slug| {
            let mut taken = self
                .connection
                .prepare_cached("SELECT 1 FROM agents WHERE slug = ?1 AND NOT (org = ?2 AND name = ?3)")?;
            Ok(taken.exists(params![slug.as_str(), org, agent.as_str()])?)
        })?;
        if let Published::Changed(Publication { public, slug }) = &published {
            let mut update = self
                .connection
                .prepare_cached("UPDATE agents SET public = ?3, slug = ?4 WHERE org = ?1 AND name = ?2")?;
            update.execute(params![org, agent.as_str(), public, slug.as_ref().map(Slug::as_str)])?;
        }
        Ok(published)
    }

    /// Hides an agent from all reads, and adds a tombstone that names what [`Transaction::delete_some`] has to
    /// delete.
    pub(in crate::sqlite) fn erase(&mut self, org: &OrgId, agent: &AgentId) -> Result<bool, StoreError> {
        let identity = identity_of(org, agent);
        let key = (self.orgs.get(org)?, agent.clone());
        let agent = self.locate_agent(&key)?;
        let identity = identities::find(self.connection, key.0, identity)?;
        let is_named = self.is_agent_named(key.0, &key.1)?;
        let known = KnownAgent { agent: agent.is_some(), identity: identity.is_some(), is_named };
        let Some(tombstone) = erasure::erase(&key.1, known, self.latest) else { return Ok(false) };
        self.with_secure_delete(|transaction| {
            transaction.insert_tombstone(&key, &tombstone, agent, identity)
        })?;
        self.drop_cached_agent(key);
        Ok(true)
    }

    /// Deletes something and overwrites it with zeros.
    pub(super) fn with_secure_delete<T>(
        &mut self,
        delete: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.connection.pragma_update(None, "secure_delete", true)?;
        let done = delete(self);
        self.connection.pragma_update(None, "secure_delete", false)?;
        done
    }

    /// Returns the number of an agent and the position of its last evaluation, also if nothing else of it can be
    /// read.
    fn locate_agent(&self, key: &AgentKey) -> Result<Option<(i64, Option<i64>)>, StoreError> {
        let cached = self.agents.peek(key).map(|agent| agent.state);
        if let Some(state) =
            cached.or_else(|| self.agent_cache.latest(key).filter(|_| !self.erased.contains(key)))
        {
            return Ok(Some((state.agent, state.last_position)));
        }
        let mut select = self
            .connection
            .prepare_cached("SELECT agent, last_seq FROM agents WHERE org = ?1 AND name = ?2")?;
        let found = select.query_row(params![key.0, key.1.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(found.optional()?)
    }

    /// Adds the tombstone of an agent, and deletes its row and that of its identity.
    fn insert_tombstone(
        &mut self,
        key: &AgentKey,
        tombstone: &Tombstone,
        agent: Option<(i64, Option<i64>)>,
        identity: Option<i64>,
    ) -> Result<(), StoreError> {
        let (number, last_position) = agent.unzip();
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO tombstones (org, digest, asked_at, agent, last_seq, identity) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        insert.execute(params![
            key.0,
            tombstone.digest,
            tombstone.asked_at.millis(),
            number,
            last_position.flatten(),
            identity
        ])?;
        self.note_named_sessions(self.connection.last_insert_rowid(), key.0, &key.1)?;
        self.connection.prepare_cached("DELETE FROM agents WHERE agent = ?1")?.execute([number])?;
        self.connection.prepare_cached("DELETE FROM identities WHERE identity = ?1")?.execute([identity])?;
        self.save_top_position(key.0)?;
        self.remove_agent_from_request_keys(key.0, &key.1)
    }

    /// Removes everything of an agent from the caches.
    fn drop_cached_agent(&mut self, key: AgentKey) {
        self.agents.pop(&key);
        self.sessions.remove_agent(key.0, &key.1);
        self.touched.retain(|touched| *touched != key);
        self.erased.insert(key);
    }

    /// Saves the highest position of an organization, so that it is not used again when its evaluation is deleted.
    pub(super) fn save_top_position(&mut self, org: OrgKey) -> Result<(), StoreError> {
        let next = self.next_position(org)?;
        let mut update =
            self.connection.prepare_cached("UPDATE orgs SET top = max(top, ?2) WHERE org = ?1")?;
        update.execute(params![org, next.number() - 1])?;
        Ok(())
    }

    /// Returns the next number of an agent: never one of a tombstone, whose evidence may still exist.
    pub(super) fn next_agent_number(&self) -> Result<i64, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT max(coalesce((SELECT max(agent) FROM agents), 0), coalesce((SELECT max(agent) FROM tombstones), 0)) + 1",
        )?;
        Ok(select.query_row([], |row| row.get(0))?)
    }
}
