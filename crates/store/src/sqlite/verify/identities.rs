//! Sums reputation events again.

use renown_core::ids::IdentityId;
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use crate::error::StoreError;
use crate::sqlite::identities::LEVELS_NS;
use crate::verify::{Difference, Verified};

/// Sums the events of every identity again, for each level of spans. An identity that is being erased is left out:
/// its events and sums are deleted separately.
pub(super) fn compare(
    connection: &Connection,
    verified: &mut Verified,
) -> Result<Option<Box<Difference>>, StoreError> {
    const KEPT: &str = "SELECT identity, start, category, count, positive, negative, units, millionths FROM identity_sums \
         WHERE level = ?1 AND ?2 > 0 AND identity IN (SELECT identity FROM identities)";
    const FRESH: &str = "SELECT identity, at_ns / ?2, category, count(*), sum(delta > 0), sum(delta < 0), \
         sum(delta / 1000000), sum(delta % 1000000) FROM reputation_events \
         WHERE ?1 >= 0 AND identity IN (SELECT identity FROM identities) GROUP BY 1, 2, 3";
    verified.events = connection.query_row("SELECT count(*) FROM reputation_events", [], |row| row.get(0))?;
    for (level, width) in LEVELS_NS.iter().enumerate() {
        for (one, other) in [(KEPT, FRESH), (FRESH, KEPT)] {
            let sql = format!("SELECT identity FROM ({one} EXCEPT {other}) LIMIT 1");
            let found: Option<i64> =
                connection.query_row(&sql, params![level, width], |row| row.get(0)).optional()?;
            if let Some(identity) = found {
                return name(connection, identity).map(Some);
            }
        }
    }
    Ok(None)
}

fn name(connection: &Connection, identity: i64) -> Result<Box<Difference>, StoreError> {
    let (org, id): (String, [u8; 16]) = connection.query_row(
        "SELECT o.name, i.id FROM identities i JOIN orgs o ON o.org = i.org WHERE i.identity = ?1",
        [identity],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let id = IdentityId::from(Uuid::from_bytes(id));
    Ok(Box::new(Difference {
        org,
        agent: None,
        evaluation: None,
        run: None,
        session: None,
        what: "the sums of an identity",
        kept: format!("sums that differ from the events of {id}"),
        fresh: "other sums".to_owned(),
    }))
}
