//! Organizations: their names, and their numbers in the tables.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use renown_core::ids::OrgId;
use rusqlite::Connection;
use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, Value, ValueRef};

use super::schema::POSITION_BITS;
use crate::error::StoreError;

/// The number of an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct OrgKey(i64);

impl OrgKey {
    /// The organization that is added first.
    #[cfg(test)]
    pub(super) const DEFAULT: Self = Self(0);

    /// Maximum number of organizations: the bits that a position has for it.
    pub(super) const COUNT_MAX: i64 = 1 << (62 - POSITION_BITS);

    /// Returns the organization of a position.
    pub(super) fn of(position: i64) -> Self {
        Self(position >> POSITION_BITS)
    }

    /// Returns its number.
    pub(super) fn number(self) -> i64 {
        self.0
    }

    /// Returns its number as a value of a statement.
    pub(super) fn value(self) -> Value {
        Value::Integer(self.0)
    }

    /// Returns the numbers of the positions of its evaluations: the first one, and the one after the last.
    pub(super) fn numbers(self) -> (i64, i64) {
        (self.0 << POSITION_BITS, (self.0 + 1) << POSITION_BITS)
    }
}

impl ToSql for OrgKey {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for OrgKey {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self)
    }
}

/// The organizations of a store.
pub(super) struct Orgs(RwLock<HashMap<OrgId, OrgKey>>);

impl Orgs {
    pub(super) fn load(connection: &Connection) -> Result<Self, StoreError> {
        let mut select = connection.prepare("SELECT name, org FROM orgs")?;
        let mut rows = select.query([])?;
        let mut orgs = HashMap::new();
        while let Some(row) = rows.next()? {
            let name: String = row.get(0)?;
            let name =
                name.parse().map_err(|error| StoreError::Damaged(format!("an organization: {error}")))?;
            orgs.insert(name, row.get(1)?);
        }
        Ok(Self(RwLock::new(orgs)))
    }

    pub(super) fn get(&self, name: &OrgId) -> Result<OrgKey, StoreError> {
        let orgs = self.0.read().unwrap_or_else(PoisonError::into_inner);
        orgs.get(name).copied().ok_or_else(|| StoreError::NoOrganization(name.to_string()))
    }

    /// Returns all names, sorted.
    pub(super) fn names(&self) -> Vec<OrgId> {
        let orgs = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<OrgId> = orgs.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    pub(super) fn add(&self, name: OrgId, key: OrgKey) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(name, key);
    }
}
