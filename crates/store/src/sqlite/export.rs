//! Reads all evidence of one kind, row by row, in one read transaction.

use rusqlite::{Connection, Row, params};

use super::give_way::GiveWay;
use super::orgs::OrgKey;
use super::readers::Deadline;
use super::{identities, rows, runs, sessions};
use crate::error::StoreError;
use crate::evidence::{Position, StoredEvaluation};
use crate::identities::ReputationEvent;
use crate::runs::Run;
use crate::sessions::StoredSession;

/// The kinds of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Evaluations.
    Evaluations,
    /// Runs.
    Runs,
    /// Reputation events.
    ReputationEvents,
    /// Sessions.
    Sessions,
}

/// Receives one row after the other. Returns whether to continue.
pub type Each<'e, T> = dyn FnMut(T) -> bool + 'e;

/// Counts the evidence of one kind.
pub(super) fn count(connection: &Connection, org: OrgKey, evidence: Evidence) -> Result<u64, StoreError> {
    let (Position(first), Position(end)) = org.positions();
    Ok(match evidence {
        Evidence::Evaluations => connection.query_row(
            "SELECT count(*) FROM evaluations WHERE seq >= ?1 AND seq < ?2",
            [first, end],
            |row| row.get(0),
        )?,
        Evidence::Runs => {
            connection
                .query_row("SELECT count(*) FROM agent_run_scores WHERE org = ?1", [org], |row| row.get(0))?
        }
        Evidence::ReputationEvents => {
            connection
                .query_row("SELECT count(*) FROM reputation_events WHERE org = ?1", [org], |row| row.get(0))?
        }
        Evidence::Sessions => connection.query_row(
            "SELECT count(*) FROM sessions WHERE org = ?1 AND session_id IS NOT NULL",
            [org],
            |row| row.get(0),
        )?,
    })
}

fn walk<T>(
    connection: &Connection,
    give_way: &GiveWay,
    sql: &str,
    params: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
    each: &mut Each<'_, T>,
) -> Result<(), StoreError> {
    let transaction = connection.unchecked_transaction()?;
    let mut select = transaction.prepare(sql)?;
    let mut rows = select.query(params)?;
    while let Some(row) = rows.next()? {
        give_way.check()?;
        if !each(read(row)?) {
            break;
        }
    }
    Ok(())
}

pub(super) fn evaluations(
    connection: &Connection,
    give_way: &GiveWay,
    org: OrgKey,
    each: &mut Each<'_, StoredEvaluation>,
) -> Result<(), StoreError> {
    let (Position(first), Position(end)) = org.positions();
    let sql = format!("{} WHERE e.seq >= ?1 AND e.seq < ?2 ORDER BY e.seq", rows::EVALUATION);
    walk(connection, give_way, &sql, [first, end], rows::evaluation, each)
}

pub(super) fn runs(
    connection: &Connection,
    give_way: &GiveWay,
    org: OrgKey,
    each: &mut Each<'_, Run>,
) -> Result<(), StoreError> {
    let sql = format!("{} WHERE r.org = ?1 ORDER BY r.run", runs::RUN);
    walk(connection, give_way, &sql, params![org], runs::run, each)
}

pub(super) fn reputation_events(
    connection: &Connection,
    give_way: &GiveWay,
    org: OrgKey,
    each: &mut Each<'_, ReputationEvent>,
) -> Result<(), StoreError> {
    let sql = format!("{} WHERE +e.org = ?1 ORDER BY e.event", identities::EVENT);
    walk(connection, give_way, &sql, params![org], identities::event, each)
}

pub(super) fn sessions(
    connection: &Connection,
    give_way: &GiveWay,
    org: OrgKey,
    each: &mut Each<'_, StoredSession>,
) -> Result<(), StoreError> {
    let sql =
        format!("{} WHERE +s.org = ?1 AND s.session_id IS NOT NULL ORDER BY s.session", sessions::select());
    let read = |row: &Row<'_>| sessions::session(connection, row, &Deadline::NONE);
    walk(connection, give_way, &sql, params![org], read, each)
}
