//! Sessions, folded again.

use renown_core::identity::Event;
use renown_core::ids::OrgId;
use renown_telemetry::ledger::{Cut, Session};
use rusqlite::Connection;

use super::{Difference, Found, Verified, differs};
use crate::error::StoreError;
use crate::evidence::Seq;
use crate::sessions::{StoredSession, bridged};
use crate::sqlite::identities;
use crate::sqlite::rows::damaged;
use crate::sqlite::sessions::{SESSION, refold, session};

/// Folds the records of every session again, and compares what they add up to and the event that it became.
pub(super) fn compare(
    connection: &Connection,
    verified: &mut Verified,
) -> Result<Option<Box<Difference>>, StoreError> {
    Ok(first(connection, 0, verified)?.map(|(_, difference)| difference))
}

/// The first session after this one that differs: its number, and how.
pub(super) fn first(
    connection: &Connection,
    after: i64,
    verified: &mut Verified,
) -> Result<Option<(i64, Box<Difference>)>, StoreError> {
    let mut numbers = connection.prepare(
        "SELECT session, org, event, state FROM sessions WHERE session > ?1 AND session_id IS NOT NULL",
    )?;
    let mut select = connection.prepare(&format!("{SESSION} WHERE s.session = ?1"))?;
    let mut orgs = connection.prepare("SELECT name FROM orgs WHERE org = ?1")?;
    let mut rows = numbers.query([after])?;
    while let Some(row) = rows.next()? {
        let (number, event): (i64, Option<i64>) = (row.get(0)?, row.get(2)?);
        let org: String = orgs.query_row([row.get::<_, i64>(1)?], |row| row.get(0))?;
        let mut found = select.query([number])?;
        // Those of an agent that is erased are seen by nobody.
        let Some(found) = found.next()? else { continue };
        let kept = session(connection, found)?;
        let fresh = refold(connection, kept.id.as_str(), Seq(number), Cut::default())?;
        let state: Vec<u8> = row.get(3)?;
        let found = if state == fresh.as_ref().map(Session::to_bytes).unwrap_or_default() {
            compare_event(connection, &org, &kept, fresh.as_ref(), event)?
        } else {
            Some((
                "what its records add up to",
                "another state".to_owned(),
                "a state that differs".to_owned(),
            ))
        };
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

/// Compares the event of a session that is closed, unless it has grown too old.
fn compare_event(
    connection: &Connection,
    org: &str,
    kept: &StoredSession,
    fresh: Option<&Session>,
    event: Option<i64>,
) -> Result<Option<Found>, StoreError> {
    let (Some(closed_at), Some(fresh)) = (kept.closed_at, fresh) else { return Ok(None) };
    let org: OrgId = org.parse().map_err(damaged("an organization"))?;
    let fresh = bridged(&org, &kept.agent, fresh, closed_at);
    let Some(number) = event else {
        return Ok(fresh.map(|_| ("the event that it became", "none".to_owned(), "one".to_owned())));
    };
    let mut select = connection.prepare_cached(&format!("{} WHERE e.event = ?1", identities::EVENT))?;
    let mut rows = select.query([number])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let told = |event: &Event| (event.event_id, event.timestamp, event.score_delta, event.confidence.get());
    let found = identities::event(row)?.event;
    Ok(differs("the event that it became", &Some(told(&found)), &fresh.as_ref().map(told)))
}
