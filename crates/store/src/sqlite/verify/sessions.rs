//! Folds sessions again.

use renown_core::identity::Event;
use renown_core::ids::OrgId;
use renown_telemetry::derived::FoldedTraces;
use renown_telemetry::ledger::Session;
use rusqlite::{Connection, Row};

use super::{Found, differs};
use crate::error::StoreError;
use crate::evidence::Position;
use crate::sessions::{StoredSession, session_event};
use crate::sqlite::identities;
use crate::sqlite::readers::Deadline;
use crate::sqlite::rows::damaged;
use crate::sqlite::sessions::{select, session};
use crate::sqlite::summaries::{COST_MAX, Fresh, NAMES, SUMMARY, SummaryRow, cost, folded, scores};
use crate::verify::{Difference, Verified};

/// What to do about a summary that is not stored because the session's traces are stale.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stale {
    /// It is not a difference.
    Allowed,
    /// It is a difference, for a repair that computes it.
    Found,
}

/// Folds the records of every session again. Compares the state, the summary and the reputation event.
pub(super) fn compare(
    connection: &Connection,
    verified: &mut Verified,
) -> Result<Option<Box<Difference>>, StoreError> {
    Ok(first(connection, 0, Stale::Allowed, verified)?.map(|(_, difference)| difference))
}

/// Returns the number of the first session after this one that differs, and the difference.
pub(super) fn first(
    connection: &Connection,
    after: i64,
    stale: Stale,
    verified: &mut Verified,
) -> Result<Option<(i64, Box<Difference>)>, StoreError> {
    let mut numbers = connection.prepare(&format!(
        "SELECT s.session, s.org, s.event, s.state, s.records, s.traces, s.folded, s.cost_nano, s.performance, {SUMMARY} \
         FROM sessions s WHERE s.session > ?1 AND s.session_id IS NOT NULL ORDER BY s.session"
    ))?;
    let mut select = connection.prepare(&format!("{} WHERE s.session = ?1", select()))?;
    let mut orgs = connection.prepare("SELECT name FROM orgs WHERE org = ?1")?;
    let mut rows = numbers.query([after])?;
    while let Some(row) = rows.next()? {
        let (number, event): (i64, Option<i64>) = (row.get(0)?, row.get(2)?);
        let org: String = orgs.query_row([row.get::<_, i64>(1)?], |row| row.get(0))?;
        let mut found = select.query([number])?;
        // Sessions of an erased agent are invisible.
        let Some(found) = found.next()? else { continue };
        let kept = session(connection, found, &Deadline::NONE)?;
        let fresh = Fresh::read(connection, kept.id.as_str(), Position::of(number), &Deadline::NONE)?;
        let mut found = compare_state(row, &fresh)?;
        if found.is_none() {
            found = compare_summary(row, &fresh, stale)?;
        }
        if found.is_none() {
            found = compare_event(connection, &org, &kept, fresh.ledger.as_ref(), event)?;
        }
        if let Some((what, kept_as, fresh)) = found {
            let (agent, session) = (Some(kept.agent.to_string()), Some(kept.id.to_string()));
            let difference =
                Difference { org, agent, evaluation: None, run: None, session, what, kept: kept_as, fresh };
            return Ok(Some((number, Box::new(difference))));
        }
        verified.sessions += 1;
    }
    Ok(None)
}

/// Compares the fold of a session's records, and the traces that follow from them.
fn compare_state(row: &Row<'_>, fresh: &Fresh) -> Result<Option<Found>, StoreError> {
    let state: Vec<u8> = row.get(3)?;
    if state != fresh.ledger.as_ref().map(Session::to_bytes).unwrap_or_default() {
        let (kept, fresh) = ("a different state".to_owned(), "another state".to_owned());
        return Ok(Some(("what its records add up to", kept, fresh)));
    }
    let bytes: Vec<u8> = row.get(6)?;
    let is_same = match &fresh.ledger {
        None => bytes.is_empty(),
        Some(_) => FoldedTraces::from_bytes(&bytes).is_some_and(|kept| kept.agrees_with(&fresh.folded)),
    };
    let differ = || {
        ("the traces that follow from its records", "different traces".to_owned(), "other traces".to_owned())
    };
    Ok((!is_same).then(differ))
}

/// Compares what a list shows of a session.
fn compare_summary(row: &Row<'_>, fresh: &Fresh, stale: Stale) -> Result<Option<Found>, StoreError> {
    let (records, sent): (i64, i64) = (row.get(4)?, row.get(5)?);
    let bytes: Vec<u8> = row.get(6)?;
    let [cost_nano, performance] = scores(fresh.ledger.as_ref());
    let found = differs("its cost in nano-dollars", &row.get(7)?, &cost_nano).or(differs(
        "its performance in tenths",
        &row.get(8)?,
        &performance,
    ));
    let kept = SummaryRow::read(row, 9)?;
    let may_be_missing = stale == Stale::Allowed
        && cost(fresh.ledger.as_ref(), i64::MAX, sent, &folded(records, &bytes)) > COST_MAX;
    if found.is_some() || (kept == SummaryRow::STALE && may_be_missing) {
        return Ok(found);
    }
    let expected = SummaryRow::of(Some(&fresh.summary()));
    let columns = NAMES.into_iter().zip(kept.0.iter().zip(&expected.0));
    Ok(columns.map(|(name, (kept, fresh))| differs(name, kept, fresh)).find_map(|found| found))
}

/// Compares the reputation event of a closed session, unless it is too old and was deleted.
fn compare_event(
    connection: &Connection,
    org: &str,
    kept: &StoredSession,
    fresh: Option<&Session>,
    event: Option<i64>,
) -> Result<Option<Found>, StoreError> {
    let (Some(closed_at), Some(fresh)) = (kept.closed_at, fresh) else { return Ok(None) };
    let org: OrgId = org.parse().map_err(damaged("an organization"))?;
    let fresh = session_event(&org, &kept.agent, fresh, closed_at);
    let Some(number) = event else {
        return Ok(fresh.map(|_| ("the event that it became", "none".to_owned(), "one".to_owned())));
    };
    let mut select = connection.prepare_cached(&format!("{} WHERE e.event = ?1", identities::EVENT))?;
    let mut rows = select.query([number])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let compared =
        |event: &Event| (event.event_id, event.timestamp, event.score_delta, event.confidence.get());
    let found = identities::event(row)?.event;
    Ok(differs("the event that it became", &Some(compared(&found)), &fresh.as_ref().map(compared)))
}
