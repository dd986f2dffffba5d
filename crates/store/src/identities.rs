//! Reputation events of identities, and what they add up to.

use renown_core::identity::{Event, Windows};
use renown_core::ids::{AgentId, IdentityId, OrgId};
use renown_core::time::Timestamp;

use crate::Reply;
use crate::evidence::{Once, Seq};
use crate::query::TimeCursor;

/// A reputation event that is to be counted.
#[derive(Clone, Debug)]
pub struct NewReputationEvent {
    /// Whom it is about.
    pub identity: IdentityId,
    /// The agent, where the event names one: it becomes known by it.
    pub agent: Option<AgentId>,
    /// What was said.
    pub event: Event,
}

/// What became of a batch of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// How many were counted.
    pub accepted: usize,
    /// How many had been counted before.
    pub duplicates: usize,
    /// The first that has the id of an event that a session became or will become. Then nothing was counted.
    pub refused: Option<usize>,
}

/// A reputation event of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct ReputationEvent {
    /// Its place: a later accepted one has a greater number.
    pub seq: Seq,
    /// Whom it is about.
    pub identity: IdentityId,
    /// What was said.
    pub event: Event,
    /// When it was accepted.
    pub accepted_at: Timestamp,
}

/// A page of the events of an identity, the latest first.
#[derive(Debug, Default)]
pub struct ReputationEvents {
    /// The events; of one moment the last accepted first.
    pub events: Vec<ReputationEvent>,
    /// Where the next page begins, if there is one.
    pub next: Option<TimeCursor>,
}

impl ReputationEvents {
    /// A page of events that stand in their order, one more than fits if there are more.
    pub(crate) fn page(mut events: Vec<ReputationEvent>, limit: usize) -> Self {
        let more = events.len() > limit;
        events.truncate(limit);
        let cursor = |event: &ReputationEvent| TimeCursor { at: event.event.timestamp, seq: event.seq };
        let next = events.last().filter(|_| more).map(cursor);
        Self { events, next }
    }
}

/// The reputation events of many organizations.
pub trait IdentityStore: Send + Sync + 'static {
    /// Counts events, all or none; the first copy of an id stands. The organization has to exist.
    fn add_reputation_events<'a>(
        &'a self,
        org: &OrgId,
        events: Vec<NewReputationEvent>,
        once: Option<Once<Recorded>>,
    ) -> Reply<'a, Recorded>;

    /// What the events of an identity add up to as of a time.
    fn identity_windows<'a>(
        &'a self,
        org: &OrgId,
        identity: IdentityId,
        as_of: Timestamp,
    ) -> Reply<'a, Windows>;

    /// The events of an identity, the latest first.
    fn reputation_events<'a>(
        &'a self,
        org: &OrgId,
        identity: IdentityId,
        after: Option<TimeCursor>,
        limit: usize,
    ) -> Reply<'a, ReputationEvents>;
}
