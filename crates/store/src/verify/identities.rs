//! Sums reputation events again, and compares the windows of each identity as of its last event.

use std::collections::HashMap;

use renown_core::identity::{Category, EventPart, Sums, Windows};
use renown_core::ids::{IdentityId, OrgId};
use renown_core::time::Timestamp;

use super::{Compared, Difference, Group, Verified};
use crate::error::ReadError;
use crate::identities::ReputationEvent;
use crate::traits::{EvidenceKind, ReadOnlyStore, SCAN_MAX, scan_all};

/// The events of an identity, as far as they count.
type Events = Vec<(Timestamp, Category, EventPart)>;

/// Number of events that are compared like one identity, for the size of groups.
const EVENTS_LIKE_ONE: u64 = 50;

/// Compares all identities of an organization.
pub(super) async fn compare(store: &dyn ReadOnlyStore, org: &OrgId, verified: &mut Verified) -> Compared {
    let events = store.count(org, EvidenceKind::ReputationEvents).await?;
    for group in Group::all(events / EVENTS_LIKE_ONE) {
        for (identity, events) in of_group(store, org, group, verified).await? {
            let Some(as_of) = events.iter().map(|(at, ..)| *at).max() else { continue };
            let fresh = Windows::gather(as_of, |span| {
                let mut sums = Sums::default();
                for (_, category, part) in events.iter().filter(|(at, ..)| span.contains(&at.nanos())) {
                    sums.add(*category, *part);
                }
                Ok::<_, ReadError>(sums)
            })?;
            let kept = store.identity_windows(org, identity, as_of).await?;
            if kept != fresh {
                let kept = format!("sums that differ from the events of {identity}");
                let found = ("the sums of an identity", kept, "other sums".to_owned());
                return Ok(Err(Difference::of(org, found)));
            }
        }
    }
    Ok(Ok(()))
}

/// Collects the events of the identities of a group.
async fn of_group(
    store: &dyn ReadOnlyStore,
    org: &OrgId,
    group: Group,
    verified: &mut Verified,
) -> Result<HashMap<IdentityId, Events>, ReadError> {
    let mut identities: HashMap<IdentityId, Events> = HashMap::new();
    let part = |after| store.scan_reputation_events(org, after, SCAN_MAX);
    scan_all(part, |ReputationEvent { identity, event, .. }: ReputationEvent| {
        if group.contains(&identity) {
            verified.events += 1;
            let part = (event.timestamp, event.category, EventPart::of(event.score_delta));
            identities.entry(identity).or_default().push(part);
        }
        true
    })
    .await?;
    Ok(identities)
}
