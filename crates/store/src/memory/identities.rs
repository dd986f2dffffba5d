//! Reputation events in a list.

use renown_core::identity::{Event, EventPart, Sums, Windows};
use renown_core::ids::{IdentityId, OrgId};
use renown_core::time::Timestamp;

use super::{Memory, State, answer};
use crate::engines::Reply;
use crate::error::StoreError;
use crate::evidence::Position;
use crate::fold::agents::Mention;
use crate::fold::identities::Recording;
use crate::identities::{NewReputationEvent, Recorded, ReputationEvent, ReputationEvents};
use crate::query::TimeCursor;
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, RequestKey};

impl State {
    pub(super) fn of_identity<'a>(
        &'a self,
        org: &'a OrgId,
        identity: IdentityId,
    ) -> impl Iterator<Item = &'a ReputationEvent> {
        let of_org = self.reputation_events.iter().filter(move |(o, _)| o == org).map(|(_, event)| event);
        of_org.filter(move |event| event.identity == identity)
    }

    fn record(
        &mut self,
        org: &OrgId,
        events: &[NewReputationEvent],
        now: Timestamp,
    ) -> (Recorded, Option<Kept>) {
        let of_session = events.iter().position(|new| self.is_session_event(org, new.event.event_id));
        let mut recording = match Recording::begin(of_session) {
            Ok(recording) => recording,
            Err(refused) => return (refused, None),
        };
        for new in events {
            let mut of_org = self.reputation_events.iter().filter(|(o, _)| o == org);
            let is_known = of_org.any(|(_, known)| known.event.event_id == new.event.event_id);
            let Some(change) = recording.count(is_known, new) else { continue };
            self.add_event(org, change.identity, change.stored(), now);
            if let Some(agent) = change.agent {
                self.name_agent(org, agent, Mention::Name, now);
            }
        }
        let (recorded, kept) = recording.finish();
        (recorded, Some(kept))
    }

    /// Adds a row. Returns its position.
    pub(super) fn add_event(
        &mut self,
        org: &OrgId,
        identity: IdentityId,
        event: Event,
        now: Timestamp,
    ) -> Position {
        let position = self.next_position();
        let row = ReputationEvent { position, identity, event, accepted_at: now };
        self.reputation_events.push((org.clone(), row));
        position
    }
}

impl Memory {
    pub(crate) fn add_reputation_events<'a>(
        &'a self,
        org: &OrgId,
        events: Vec<NewReputationEvent>,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Recorded>> {
        self.write_once(org, request_key, |state, now| Ok(state.record(org, &events, now)))
    }

    pub(crate) fn identity_windows<'a>(
        &'a self,
        org: &OrgId,
        identity: IdentityId,
        as_of: Timestamp,
    ) -> Reply<'a, Windows> {
        let state = self.state();
        answer(state.check_org(org).and_then(|()| {
            Windows::gather(as_of, |span| {
                let mut sums = Sums::default();
                let events = state.of_identity(org, identity).map(|event| &event.event);
                for event in events.filter(|event| span.contains(&event.timestamp.nanos())) {
                    sums.add(event.category, EventPart::of(event.score_delta));
                }
                Ok::<_, StoreError>(sums)
            })
        }))
    }

    pub(crate) fn reputation_events<'a>(
        &'a self,
        org: &OrgId,
        identity: IdentityId,
        after: Option<TimeCursor>,
        limit: usize,
    ) -> Reply<'a, ReputationEvents> {
        let state = self.state();
        answer(state.check_org(org).map(|()| {
            let place = |event: &ReputationEvent| (event.event.timestamp, event.position);
            let wanted = |event: &&ReputationEvent| {
                after.is_none_or(|after| place(event) < (after.at, after.position))
            };
            let mut events: Vec<ReputationEvent> =
                state.of_identity(org, identity).filter(wanted).cloned().collect();
            events.sort_by_key(|event| std::cmp::Reverse(place(event)));
            events.truncate(limit + 1);
            ReputationEvents::page(events, limit)
        }))
    }
}
