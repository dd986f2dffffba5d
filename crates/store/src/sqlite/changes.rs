//! Reads what has changed in an organization.

use renown_core::ids::OrgId;
use rusqlite::{Connection, params};

use super::Sqlite;
use super::orgs::OrgKey;
use super::rows::{self, text};
use crate::changes::{ChangeCursor, ChangePage};
use crate::engines::Reply;
use crate::error::StoreError;
use crate::evidence::Position;

/// Returns the moment after everything that is stored.
pub(super) fn last(connection: &Connection, org: OrgKey) -> Result<ChangeCursor, StoreError> {
    let mut select = connection.prepare_cached("SELECT max(event) FROM reputation_events")?;
    let event: Option<i64> = select.query_row([], |row| row.get(0))?;
    Ok(ChangeCursor {
        evaluation: rows::last_position(connection, org)?.map(Position::of),
        event: event.map(Position::of),
    })
}

/// Returns the changes after a moment. Those of erased agents are not seen.
///
/// When a session is closed, its event gets the time of closing. An event that replaces it for another reason has a later time.
pub(super) fn page(
    connection: &Connection,
    org: OrgKey,
    after: ChangeCursor,
    limit: usize,
) -> Result<ChangePage, StoreError> {
    let (first, end) = org.numbers();
    let mut select = connection.prepare_cached(
        "SELECT e.seq, a.name FROM evaluations e JOIN agents a ON a.agent = e.agent \
         WHERE e.seq > ?1 AND e.seq < ?2 ORDER BY e.seq LIMIT ?3",
    )?;
    let evaluation = after.evaluation.map_or(first - 1, Position::number);
    let mut rows = select.query(params![evaluation, end, limit])?;
    let mut evaluations = Vec::new();
    while let Some(row) = rows.next()? {
        evaluations.push((Position::of(row.get(0)?), text(row, 1, "an agent id")?));
    }
    // The plus prevents the use of an index of organizations.
    let mut select = connection.prepare_cached(
        "SELECT e.event, s.session_id FROM reputation_events e \
         JOIN sessions s ON s.event_id = e.event_id AND s.event = e.event AND s.closed_at = e.accepted_at \
         JOIN agents a ON a.agent = s.agent \
         WHERE e.event > ?2 AND +e.org = ?1 AND s.org = ?1 AND s.check_at IS NULL AND s.session_id IS NOT NULL \
         ORDER BY e.event LIMIT ?3",
    )?;
    let event = after.event.map_or(-1, Position::number);
    let mut rows = select.query(params![org, event, limit])?;
    let mut closed = Vec::new();
    while let Some(row) = rows.next()? {
        closed.push((Position::of(row.get(0)?), text(row, 1, "a session id")?));
    }
    Ok(ChangePage::of(evaluations, closed, last(connection, org)?.max(after), limit))
}

impl Sqlite {
    pub(crate) fn last_change<'a>(&'a self, org: &OrgId) -> Reply<'a, ChangeCursor> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| last(connection, org?))
    }

    pub(crate) fn changes<'a>(
        &'a self,
        org: &OrgId,
        after: ChangeCursor,
        limit: usize,
    ) -> Reply<'a, ChangePage> {
        let org = self.orgs.get(org);
        self.readers.run(move |connection, _| page(connection, org?, after, limit))
    }
}
