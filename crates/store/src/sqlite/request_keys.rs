//! Reads request keys.

use renown_core::ids::AgentId;
use renown_core::reputation::ReputationSummary;
use renown_core::time::Timestamp;
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::orgs::OrgKey;
use super::rows::text;
use super::{rows, runs};
use crate::error::StoreError;
use crate::evidence::Position;
use crate::fold::request_keys::{Recognized, UsedKey, recognize};
use crate::request_keys::kept::{Kept, WriteKind};
use crate::request_keys::{KnownRequest, RequestKey};

/// Returns what is known about a request key at a time; `None` if it is unknown or has expired.
pub(super) fn find(
    connection: &Connection,
    org: OrgKey,
    request_key: &RequestKey,
    now: Timestamp,
) -> Result<Option<KnownRequest>, StoreError> {
    let key = &request_key.key;
    let mut select = connection.prepare_cached(
        "SELECT fingerprint, kind, accepted, repeated, position, api_key, created_at FROM request_keys \
         WHERE org = ?1 AND key = ?2",
    )?;
    let mut found = select.query(params![org, key])?;
    let Some(row) = found.next()? else { return Ok(None) };
    let used = UsedKey { fingerprint: row.get(0)?, at: rows::time(row.get(6)?)? };
    match recognize(request_key, Some(used), now) {
        Recognized::New => return Ok(None),
        Recognized::Conflict => return Ok(Some(KnownRequest::Conflict)),
        Recognized::Retry => {}
    }
    let kind = row.get_ref(1)?.as_str().map_err(rows::damaged("a kind of write"))?;
    let kept = Kept {
        kind: WriteKind::named(kind)
            .ok_or_else(|| StoreError::Damaged(format!("a kind of write: {kind:?}")))?,
        accepted: row.get(2)?,
        repeated: row.get(3)?,
        position: row.get::<_, Option<i64>>(4)?.map(Position::of),
        api_key: row.get::<_, Option<[u8; 16]>>(5)?.map(Uuid::from_bytes),
        agents: agents(connection, org, key)?,
    };
    let receipt = kept.receipt(
        |position| rows::evaluation_at(connection, position),
        |position| runs::run_at(connection, position),
    );
    Ok(receipt?.map(KnownRequest::Replayed))
}

/// Returns the agents that a write was about, with their standings.
fn agents(
    connection: &Connection,
    org: OrgKey,
    key: &str,
) -> Result<Vec<(AgentId, Option<ReputationSummary>)>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT agent, score, evaluations FROM request_key_agents WHERE org = ?1 AND key = ?2 ORDER BY place",
    )?;
    let mut rows = select.query(params![org, key])?;
    let mut agents = Vec::new();
    while let Some(row) = rows.next()? {
        let standing = row.get::<_, Option<_>>(1)?.zip(row.get::<_, Option<_>>(2)?);
        let standing = standing.map(|(score, evaluations)| ReputationSummary::new(score, evaluations));
        agents.push((text(row, 0, "an agent id")?, standing));
    }
    Ok(agents)
}
