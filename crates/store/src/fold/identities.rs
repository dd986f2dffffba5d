//! What reputation events mean.
//!
//! | an event of a call | what changes |
//! |---|---|
//! | its id belongs to the event of a session, now or when the session is closed | nothing at all: the call is refused, with the index of the first such event |
//! | its id is known in the organization | nothing: it is a duplicate, and adds neither its identity nor its agent |
//! | its id is new | one row; its identity is added if it is new; the agent that it names is added if it is new; the sums of its minute, hour and day |
//!
//! The sums of an identity are kept per minute, hour and day, so that a span of any length takes few rows.
//! A span without events has no sums.

use std::collections::BTreeMap;

use renown_core::identity::{Category, Event, EventPart};
use renown_core::ids::{AgentId, IdentityId};

use crate::identities::{NewReputationEvent, Recorded};
use crate::request_keys::kept::Kept;

/// The length of the spans of each level in nanoseconds: minutes, hours, days.
pub(crate) const LEVELS_NS: [i64; 3] = [60_000_000_000, 3_600_000_000_000, 86_400_000_000_000];

/// The changes of sums, by identity (as an engine calls it), level, number of the span, and category.
#[derive(Debug)]
pub(crate) struct SumChanges<K>(BTreeMap<(K, usize, i64, &'static str), EventPart>);

impl<K> Default for SumChanges<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Copy> SumChanges<K> {
    /// Adds an event to its minute, hour and day.
    pub(crate) fn add(&mut self, identity: K, at_ns: i64, category: Category, part: EventPart) {
        for (level, width) in LEVELS_NS.iter().enumerate() {
            let sums =
                self.0.entry((identity, level, at_ns.div_euclid(*width), category.name())).or_default();
            sums.count += part.count;
            sums.positive += part.positive;
            sums.negative += part.negative;
            sums.units += part.units;
            sums.millionths += part.millionths;
        }
    }

    /// Adds an event.
    pub(crate) fn add_event(&mut self, identity: K, event: &Event) {
        let Event { timestamp, category, score_delta, .. } = event;
        self.add(identity, timestamp.nanos(), *category, EventPart::of(*score_delta));
    }

    /// Returns each change: the identity, the level, the number of the span, the category, and what to add.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, usize, i64, &'static str, &EventPart)> {
        self.0
            .iter()
            .map(|((identity, level, start, category), part)| (*identity, *level, *start, *category, part))
    }
}

/// The events of one call, counted one after the other.
#[derive(Debug, Default)]
pub(crate) struct Recording(Recorded);

/// The change that an event with a new id makes.
#[derive(Debug)]
pub(crate) struct EventChange<'e> {
    /// Its identity, which is added if it is new.
    pub(crate) identity: IdentityId,
    /// The row.
    pub(crate) event: &'e Event,
    /// The agent that it names ([`Mention::Name`](crate::fold::agents::Mention::Name)).
    pub(crate) agent: Option<&'e AgentId>,
}

impl Recording {
    /// Begins with the index of the first event whose id belongs to the event of a session. If there is one, the call
    /// is refused: returns the outcome for the caller.
    pub(crate) fn begin(of_session: Option<usize>) -> Result<Self, Recorded> {
        match of_session {
            Some(_) => Err(Recorded { refused: of_session, ..Recorded::default() }),
            None => Ok(Self::default()),
        }
    }

    /// Counts an event. `is_known` says whether its id is known. Returns `None` if nothing changes.
    pub(crate) fn count<'e>(
        &mut self,
        is_known: bool,
        new: &'e NewReputationEvent,
    ) -> Option<EventChange<'e>> {
        if is_known {
            self.0.duplicates += 1;
            return None;
        }
        self.0.accepted += 1;
        Some(EventChange { identity: new.identity, event: &new.event, agent: new.agent.as_ref() })
    }

    /// Returns the outcome for the caller, and what to keep for its request key.
    pub(crate) fn finish(self) -> (Recorded, Kept) {
        (self.0, Kept::reputation_events(self.0))
    }
}

impl EventChange<'_> {
    /// Returns the event as it is read later: it has its identity, whatever the caller named.
    pub(crate) fn stored(&self) -> Event {
        Event { identity_id: Some(self.identity), agent_id: None, ..self.event.clone() }
    }
}

#[cfg(test)]
mod tests {
    use renown_core::identity::ScoreDelta;

    use super::*;

    fn new(json: &str) -> NewReputationEvent {
        let event: Event = serde_json::from_str(json).unwrap();
        let identity = IdentityId::from(uuid::Uuid::from_bytes([7; 16]));
        NewReputationEvent { identity, agent: event.agent_id.clone(), event }
    }

    const PAID: &str = r#"{"event_id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-15T12:34:56Z",
        "agent_id":"a","category":"economic","event_type":"paid","score_delta":0.25}"#;

    #[test]
    fn an_event_of_a_session_refuses_the_whole_call() {
        let refused = Recording::begin(Some(3)).unwrap_err();
        assert_eq!(refused, Recorded { accepted: 0, duplicates: 0, refused: Some(3) });
        assert!(Recording::begin(None).is_ok());
    }

    #[test]
    fn a_known_id_changes_nothing_and_a_new_one_counts() {
        let new = new(PAID);
        let mut recording = Recording::begin(None).unwrap();
        assert!(recording.count(true, &new).is_none(), "neither a row, nor an identity, nor an agent");
        let change = recording.count(false, &new).unwrap();
        assert_eq!((change.identity, change.agent), (new.identity, new.agent.as_ref()));
        let stored = change.stored();
        assert_eq!((stored.identity_id, stored.agent_id), (Some(new.identity), None));
        assert_eq!((stored.event_id, stored.score_delta), (new.event.event_id, new.event.score_delta));
        let (recorded, kept) = recording.finish();
        assert_eq!(recorded, Recorded { accepted: 1, duplicates: 1, refused: None });
        assert_eq!((kept.accepted, kept.repeated), (1, 1));
    }

    #[test]
    fn an_event_changes_the_sums_of_its_minute_its_hour_and_its_day() {
        let (minute, hour, day) = (60_000_000_000, 3_600_000_000_000, 86_400_000_000_000_i64);
        let part = |millionths| EventPart::of(ScoreDelta::from_millionths(millionths).unwrap());
        let at = 20_000 * day + 5 * hour + 59 * minute + 7;
        let mut changes = SumChanges::default();
        changes.add('x', at, Category::Economic, part(1_250_000));
        changes.add('x', at + minute, Category::Economic, part(-250_000));
        changes.add('x', at, Category::TaskQuality, part(1));
        changes.add('y', at, Category::Economic, part(1));
        let of_x = |wanted: Category| {
            let iter = changes
                .iter()
                .filter(|(identity, _, _, category, _)| *identity == 'x' && *category == wanted.name());
            iter.map(|(_, level, start, _, part)| (level, start, part.count, part.positive, part.negative))
                .collect::<Vec<_>>()
        };
        let (minutes, hours) = (20_000 * 1440 + 5 * 60 + 59, 20_000 * 24 + 5);
        let expected = [
            (0, minutes, 1, 1, 0),
            (0, minutes + 1, 1, 0, 1),
            (1, hours, 1, 1, 0),
            (1, hours + 1, 1, 0, 1),
            (2, 20_000, 2, 1, 1),
        ];
        assert_eq!(of_x(Category::Economic), expected, "the second one is in the next minute and hour");
        assert_eq!(of_x(Category::TaskQuality).len(), 3, "each category has sums of its own");
        assert_eq!(changes.iter().count(), 5 + 3 + 3, "and so has each identity");
        let (.., day) = changes.iter().find(|(identity, level, ..)| (*identity, *level) == ('x', 2)).unwrap();
        assert_eq!((day.units, day.millionths), (1, 0), "1.250000 − 0.250000: 1 + 0 units, 250000 − 250000");
    }

    #[test]
    fn a_time_before_1970_is_in_the_span_that_contains_it() {
        let mut changes = SumChanges::default();
        changes.add('x', -1, Category::Economic, EventPart::default());
        assert!(changes.iter().all(|(_, _, start, ..)| start == -1));
    }
}
