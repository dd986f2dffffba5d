//! Reputation events in a list.

use renown_core::identity::{Event, EventPart, Sums, Windows};
use renown_core::ids::{IdentityId, OrgId};
use renown_core::time::Timestamp;

use super::{Memory, State, answer};
use crate::engines::Reply;
use crate::error::StoreError;
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

    /// Counts an event. Returns `false` if its id is known.
    fn count_event(&mut self, org: &OrgId, new: &NewReputationEvent, now: Timestamp) -> bool {
        let id = new.event.event_id;
        if self.reputation_events.iter().any(|(o, known)| o == org && known.event.event_id == id) {
            return false;
        }
        let event = Event { identity_id: Some(new.identity), agent_id: None, ..new.event.clone() };
        let (position, identity) = (self.next_position(), new.identity);
        self.reputation_events
            .push((org.clone(), ReputationEvent { position, identity, event, accepted_at: now }));
        if let Some(agent) = &new.agent {
            self.add_agent(org, agent, now);
        }
        true
    }
}

impl Memory {
    pub(crate) fn add_reputation_events<'a>(
        &'a self,
        org: &OrgId,
        events: Vec<NewReputationEvent>,
        request_key: Option<RequestKey>,
    ) -> Reply<'a, Accepted<Recorded>> {
        let (mut state, now) = match self.begin_write() {
            Ok(begin_write) => begin_write,
            Err(error) => return answer(Err(error)),
        };
        answer(state.check_org(org).and_then(|()| {
            state.once(request_key, now, |state| {
                let refused = events.iter().position(|new| state.is_session_event(org, new.event.event_id));
                if refused.is_some() {
                    return Ok((Recorded { refused, ..Recorded::default() }, None));
                }
                let accepted = events.iter().filter(|new| state.count_event(org, new, now)).count();
                let recorded = Recorded { accepted, duplicates: events.len() - accepted, refused };
                Ok((recorded, Some(Kept::reputation_events(recorded))))
            })
        }))
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
