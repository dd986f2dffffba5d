//! Writes keys, and the organizations that come with them.

use renown_core::ids::OrgId;
use renown_core::time::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::Transaction;
use crate::DEFAULT_ORG;
use crate::error::StoreError;
use crate::fold::keys;
use crate::keys::{ApiKey, KeyId, NewKey};
use crate::request_keys::{Accepted, RequestKey};
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::rows::time;

impl Transaction<'_> {
    /// Adds a key, and its organization if that is new.
    pub(in crate::sqlite) fn create_key(
        &mut self,
        new: NewKey,
        request_key: Option<RequestKey>,
    ) -> Result<Accepted<ApiKey>, StoreError> {
        if let Some(known) = self.known(request_key.as_ref())? {
            return Ok(known.into());
        }
        let org = match self.orgs.get(&new.org) {
            Ok(org) => org,
            Err(_) => self.create_org(&new.org)?,
        };
        let (key, kept) = keys::create(new, self.latest);
        let new = &key.key;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO keys (id, org, kind, label, hash, last_four, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        insert.execute(params![
            new.id.as_bytes(),
            org,
            new.kind.name(),
            new.label,
            new.hash,
            new.last_four,
            key.created_at.millis()
        ])?;
        self.keep(request_key, || kept)?;
        Ok(Accepted::Fresh(key))
    }

    fn create_org(&mut self, name: &OrgId) -> Result<OrgKey, StoreError> {
        let mut select = self.connection.prepare_cached("SELECT org FROM orgs WHERE name = ?1")?;
        if let Some(org) = select.query_row([name.as_str()], |row| row.get(0)).optional()? {
            return Ok(org);
        }
        let count: i64 = self.connection.query_row("SELECT count(*) FROM orgs", [], |row| row.get(0))?;
        if count >= OrgKey::COUNT_MAX {
            return Err(StoreError::Overloaded);
        }
        let mut insert = self
            .connection
            .prepare_cached("INSERT INTO orgs (org, name, created_at) VALUES (?1, ?2, ?3) RETURNING org")?;
        let org = insert.query_row(params![count, name.as_str(), self.latest.millis()], |row| row.get(0))?;
        self.new_orgs.push((name.clone(), org));
        Ok(org)
    }

    /// Returns whether the default organization exists.
    pub(in crate::sqlite) fn has_default_org(&self) -> Result<bool, StoreError> {
        let mut select = self.connection.prepare_cached("SELECT 1 FROM orgs WHERE name = ?1")?;
        Ok(select.exists([DEFAULT_ORG])?)
    }

    /// Adds the default organization if it does not exist.
    pub(in crate::sqlite) fn create_default_org(&mut self) -> Result<(), StoreError> {
        let name: OrgId = DEFAULT_ORG
            .parse()
            .map_err(|_| StoreError::Bug("the default organization is not a valid name"))?;
        self.create_org(&name).map(|_| ())
    }

    /// Revokes a key. Returns whether it exists.
    pub(in crate::sqlite) fn revoke_key(&mut self, org: &OrgId, id: KeyId) -> Result<bool, StoreError> {
        let org = self.orgs.get(org)?;
        let mut select =
            self.connection.prepare_cached("SELECT revoked_at FROM keys WHERE org = ?1 AND id = ?2")?;
        let before: Option<Option<i64>> =
            select.query_row(params![org, id.as_bytes()], |row| row.get(0)).optional()?;
        let Some(before) = before else { return Ok(false) };
        let revoked_at = keys::revoke(before.map(time).transpose()?, self.latest);
        let mut update =
            self.connection.prepare_cached("UPDATE keys SET revoked_at = ?3 WHERE org = ?1 AND id = ?2")?;
        update.execute(params![org, id.as_bytes(), revoked_at.millis()])?;
        Ok(true)
    }

    /// Saves when keys were last used.
    pub(in crate::sqlite) fn touch_keys(&self, used: &[(KeyId, Timestamp)]) -> Result<(), StoreError> {
        let mut update = self.connection.prepare_cached("UPDATE keys SET last_used_at = ?2 WHERE id = ?1")?;
        for (id, at) in used {
            update.execute(params![id.as_bytes(), keys::used(*at).millis()])?;
        }
        Ok(())
    }
}
