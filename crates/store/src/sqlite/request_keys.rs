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
use crate::request_keys::kept::{Kept, WriteKind};
use crate::request_keys::{KnownRequest, REQUEST_KEYS_KEPT_MS, RequestKey};

/// Returns what is known about a request key at a time; `None` if it is unknown or has expired.
pub(super) fn find(
    connection: &Connection,
    org: OrgKey,
    request_key: &RequestKey,
    now: Timestamp,
) -> Result<Option<KnownRequest>, StoreError> {
    let RequestKey { key, fingerprint, .. } = request_key;
    let mut select = connection.prepare_cached(
        "SELECT fingerprint, kind, accepted, repeated, position, api_key FROM request_keys \
         WHERE org = ?1 AND key = ?2 AND created_at >= ?3",
    )?;
    let mut found = select.query(params![org, key, now.millis() - REQUEST_KEYS_KEPT_MS])?;
    let Some(row) = found.next()? else { return Ok(None) };
    if row.get::<_, [u8; 32]>(0)? != *fingerprint {
        return Ok(Some(KnownRequest::Conflict));
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
