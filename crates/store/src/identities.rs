//! Reputation events of identities, and their sums.

use renown_core::identity::Event;
use renown_core::ids::{AgentId, IdentityId};
use renown_core::time::Timestamp;

use crate::evidence::Position;
use crate::query::TimeCursor;

/// A reputation event to count.
#[derive(Clone, Debug)]
pub struct NewReputationEvent {
    /// The identity that it is about.
    pub identity: IdentityId,
    /// The agent, if the event names one. It is added if it is new.
    pub agent: Option<AgentId>,
    /// The event as it was sent.
    pub event: Event,
}

/// The result of adding a batch of reputation events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Number of events that were counted.
    pub accepted: usize,
    /// Number of events that had been counted before.
    pub duplicates: usize,
    /// Index of the first event whose id belongs to the event of a session. If there is one, nothing was counted.
    pub refused: Option<usize>,
}

/// A reputation event in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct ReputationEvent {
    /// Its position in the order of acceptance.
    pub position: Position,
    /// The identity that it is about.
    pub identity: IdentityId,
    /// The event as it was sent.
    pub event: Event,
    /// When it was accepted.
    pub accepted_at: Timestamp,
}

/// A page of the events of an identity, the latest first.
#[derive(Debug, Default)]
pub struct ReputationEvents {
    /// The events. Of events with the same time, the last accepted comes first.
    pub events: Vec<ReputationEvent>,
    /// Where the next page begins, if there is one.
    pub next: Option<TimeCursor>,
}

impl ReputationEvents {
    /// Makes a page from sorted events. The caller reads one more than the limit, if there are more.
    pub(crate) fn page(mut events: Vec<ReputationEvent>, limit: usize) -> Self {
        let more = events.len() > limit;
        events.truncate(limit);
        let cursor =
            |event: &ReputationEvent| TimeCursor { at: event.event.timestamp, position: event.position };
        let next = events.last().filter(|_| more).map(cursor);
        Self { events, next }
    }
}
