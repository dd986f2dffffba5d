//! Reads publications, and passes decisions to the writer.

use renown_core::ids::{AgentId, OrgId, Slug};
use rusqlite::{Connection, OptionalExtension, params};

use super::Sqlite;
use super::orgs::OrgKey;
use super::rows::{self, damaged};
use crate::admin::{OrgSettings, Publication, PublicationChange, Published, Retention, Tombstone};
use crate::engines::Reply;
use crate::error::StoreError;
use crate::traits::Progress;

/// Returns the publication of an agent, or `None` if it is unknown.
pub(super) fn publication(
    connection: &Connection,
    org: OrgKey,
    agent: &AgentId,
) -> Result<Option<Publication>, StoreError> {
    let mut select =
        connection.prepare_cached("SELECT public, slug FROM agents WHERE org = ?1 AND name = ?2")?;
    let found: Option<(bool, Option<String>)> =
        select.query_row(params![org, agent.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((public, slug)) = found else { return Ok(None) };
    let slug = slug.map(|slug| slug.parse()).transpose().map_err(damaged("a slug"))?;
    Ok(Some(Publication { public, slug }))
}

/// Finds the public agent with a slug, and its organization.
pub(super) fn public_agent(
    connection: &Connection,
    slug: &Slug,
) -> Result<Option<(OrgId, AgentId)>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT o.name, a.name FROM agents a JOIN orgs o ON o.org = a.org WHERE a.slug = ?1 AND a.public",
    )?;
    let mut rows = select.query([slug.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some((rows::text(row, 0, "an organization")?, rows::text(row, 1, "an agent id")?)))
}

impl Sqlite {
    pub(crate) fn settings<'a>(&'a self, org: &OrgId) -> Reply<'a, OrgSettings> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| rows::settings(connection, org?))
    }

    pub(crate) fn set_settings<'a>(&'a self, org: &OrgId, settings: OrgSettings) -> Reply<'a, ()> {
        let org = org.clone();
        self.writer.send(1, move |transaction| transaction.set_settings(&org, settings))
    }

    pub(crate) fn publication<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, Option<Publication>> {
        let (org, agent) = (self.orgs.get(org), agent.clone());
        self.readers.run(move |connection, _| publication(connection, org?, &agent))
    }

    pub(crate) fn public_agent<'a>(&'a self, slug: &Slug) -> Reply<'a, Option<(OrgId, AgentId)>> {
        let slug = slug.clone();
        self.readers.run(move |connection, _| public_agent(connection, &slug))
    }

    pub(crate) fn publish<'a>(
        &'a self,
        org: &OrgId,
        agent: &AgentId,
        change: PublicationChange,
    ) -> Reply<'a, Published> {
        let (org, agent) = (org.clone(), agent.clone());
        self.writer.send(1, move |transaction| transaction.publish(&org, &agent, &change))
    }

    pub(crate) fn erase<'a>(&'a self, org: &OrgId, agent: &AgentId) -> Reply<'a, bool> {
        let (org, agent) = (org.clone(), agent.clone());
        self.writer.send(1, move |transaction| transaction.erase(&org, &agent))
    }

    pub(crate) fn tombstones<'a>(&'a self, org: &OrgId) -> Reply<'a, Vec<Tombstone>> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| rows::tombstones(connection, org?))
    }

    pub(crate) fn delete_some(&self, retention: Retention) -> Reply<'_, Progress> {
        self.writer.send(1, move |transaction| transaction.delete_some(retention).map(Progress::of_more))
    }
}
