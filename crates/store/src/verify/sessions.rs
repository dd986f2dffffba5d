//! Folds sessions again.

use renown_core::identity::{Event, identity_of};
use renown_core::ids::OrgId;
use renown_core::limits::REPUTATION_EVENT_DAYS_MAX;
use renown_core::time::Timestamp;
use renown_telemetry::ledger::{Session, TimeRange};

use super::totals::Totals;
use super::{Compared, Difference, Found, Verified, differs};
use crate::cursors::after_all_at;
use crate::error::ReadError;
use crate::sessions::{SessionSummary, StoredSession, session_event};
use crate::traits::{ReadOnlyStore, SCAN_MAX};

/// Number of sessions per read.
const PART: usize = SCAN_MAX / 10;

/// Maximum number of events with one timestamp that are looked through.
const EVENTS_MAX: usize = 100;

/// Compares all sessions of an organization.
pub(super) async fn compare(
    store: &dyn ReadOnlyStore,
    org: &OrgId,
    verified: &mut Verified,
    totals: &mut Totals,
) -> Compared {
    let latest = store.latest_acceptance().await?.unwrap_or(Timestamp::MIN);
    let mut after = None;
    loop {
        let part = store.scan_sessions(org, after, PART).await?;
        let Some(last) = part.last() else { return Ok(Ok(())) };
        after = Some(last.position);
        for session in part {
            totals.add_session(&session);
            if let Some(found) = compare_one(store, org, &session, latest).await? {
                let of_agent = *Difference::of_agent(org, &session.agent, found);
                let session = Some(session.id.to_string());
                return Ok(Err(Box::new(Difference { session, ..of_agent })));
            }
            verified.sessions += 1;
        }
    }
}

async fn compare_one(
    store: &dyn ReadOnlyStore,
    org: &OrgId,
    session: &StoredSession,
    latest: Timestamp,
) -> Result<Option<Found>, ReadError> {
    let fresh = store.session_within(org, &session.id, TimeRange::default()).await?;
    if session.ledger.as_ref().map(Session::to_bytes) != fresh.as_ref().map(Session::to_bytes) {
        let (kept, fresh) = ("a different state".to_owned(), "another state".to_owned());
        return Ok(Some(("what its records add up to", kept, fresh)));
    }
    if let Some(with_traces) = store.session(org, &session.id, true).await? {
        let fresh = SessionSummary::of(&with_traces.traces);
        if let Some(found) = differs("its summary", &session.summary, &fresh) {
            return Ok(Some(found));
        }
    }
    compare_event(store, org, session, latest).await
}

/// Compares the reputation event of a closed session, unless it is too old and may have been deleted.
async fn compare_event(
    store: &dyn ReadOnlyStore,
    org: &OrgId,
    session: &StoredSession,
    latest: Timestamp,
) -> Result<Option<Found>, ReadError> {
    let (Some(closed_at), Some(ledger)) = (session.closed_at, &session.ledger) else { return Ok(None) };
    let Some(fresh) = session_event(org, &session.agent, ledger, closed_at) else { return Ok(None) };
    let kept_ms = REPUTATION_EVENT_DAYS_MAX * 86_400_000;
    if fresh.timestamp.millis() < latest.millis().saturating_sub(kept_ms) {
        return Ok(None);
    }
    let identity = identity_of(org, &session.agent);
    let from = Some(after_all_at(fresh.timestamp));
    let page = store.reputation_events(org, identity, from, EVENTS_MAX).await?;
    let compared =
        |event: &Event| (event.event_id, event.timestamp, event.score_delta, event.confidence.get());
    let kept = page.events.iter().map(|kept| &kept.event).find(|event| event.event_id == fresh.event_id);
    Ok(differs("the event that it became", &kept.map(compared), &Some(compared(&fresh))))
}
