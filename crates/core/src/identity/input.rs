//! Reputation events as they are sent, and what `renown score identity` reads:
//! `{"as_of":"2026-11-15T00:00:00Z","events":[{"event_id":…,"timestamp":…,"category":…,"event_type":…,"score_delta":…}, …]}`.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use super::{Category, Standing, Windows};
use crate::explain::Explanation;
use crate::ids::{IdentityId, deserialize_uuid};
use crate::json::{Object, number_within};
use crate::limits;
use crate::time::Timestamp;
use crate::units::Unit;

/// How an event moves its category, in whole millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScoreDelta(i64);

impl ScoreDelta {
    /// `x × 10^6` in `f64`, rounded half away from zero; none unless `x` is finite and |x| ≤ 1 000 000.
    #[expect(clippy::float_arithmetic, reason = "the rounding rule is defined in f64")]
    #[expect(clippy::cast_possible_truncation, reason = "at most 10^12 after the check")]
    pub fn new(delta: f64) -> Option<Self> {
        (delta.abs() <= limits::SCORE_DELTA_ABS_MAX).then(|| Self((delta * 1_000_000.0).round() as i64))
    }

    /// Millionths.
    pub fn millionths(self) -> i64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for ScoreDelta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number_within(deserializer, "a number from -1000000 to 1000000", Self::new)
    }
}

/// One event about an identity.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Event {
    /// The event's own id: it counts once however often it is sent.
    #[serde(deserialize_with = "deserialize_uuid")]
    pub event_id: Uuid,
    /// When it happened.
    pub timestamp: Timestamp,
    /// The identity it is about, where it is said.
    pub identity_id: Option<IdentityId>,
    /// What it is about.
    pub category: Category,
    #[serde(rename = "event_type")]
    _event_type: EventType,
    /// How it moves its category.
    pub score_delta: ScoreDelta,
    #[serde(rename = "confidence", default = "full_confidence")]
    _confidence: Unit,
}

fn full_confidence() -> Unit {
    Unit::ONE
}

/// The name of an event's kind. It is checked, and the rule does not look at it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct EventType;

impl<'de> Deserialize<'de> for EventType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EventTypeVisitor;

        impl Visitor<'_> for EventTypeVisitor {
            type Value = EventType;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "text of 1 to {} characters", limits::EVENT_TYPE_CHARS_MAX)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<EventType, E> {
                match text.chars().count() {
                    1..=limits::EVENT_TYPE_CHARS_MAX => Ok(EventType),
                    length => Err(E::invalid_length(length, &self)),
                }
            }
        }

        deserializer.deserialize_str(EventTypeVisitor)
    }
}

/// The events of one identity, and the time as of which they are scored.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "RawInput")]
pub struct Input {
    as_of: Timestamp,
    windows: Windows,
}

#[derive(Deserialize)]
struct RawInput {
    as_of: Timestamp,
    events: Vec<Object<Event>>,
}

/// Events of two identities in one input: adding them up would say nothing about either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixedIdentities {
    index: usize,
    found: IdentityId,
    expected: IdentityId,
}

impl fmt::Display for MixedIdentities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, found, expected } = self;
        write!(f, "events[{index}].identity_id: {found}, expected {expected} as in the events before it")
    }
}

impl std::error::Error for MixedIdentities {}

impl TryFrom<RawInput> for Input {
    type Error = MixedIdentities;

    fn try_from(RawInput { as_of, events }: RawInput) -> Result<Self, MixedIdentities> {
        let mut identity = None;
        for (index, Object(event)) in events.iter().enumerate() {
            let Some(found) = event.identity_id else { continue };
            let expected = *identity.get_or_insert(found);
            if found != expected {
                return Err(MixedIdentities { index, found, expected });
            }
        }
        let mut windows = Windows::default();
        let mut seen = BTreeSet::new();
        // The first copy of an event stands, also when only a later one would fall into the window.
        for Object(event) in events.iter().filter(|Object(event)| seen.insert(event.event_id)) {
            windows.add(as_of, event.timestamp, event.category, event.score_delta);
        }
        Ok(Self { as_of, windows })
    }
}

impl Input {
    /// The standing of the identity.
    pub fn standing(&self) -> Standing {
        self.windows.standing(self.as_of)
    }

    /// What each category contributed to it.
    pub fn explain(&self) -> Explanation {
        self.windows.explain(self.as_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn input(event: &str) -> String {
        format!(r#"{{"as_of":"2026-11-15T12:00:00Z","events":[{{{event}}}]}}"#)
    }

    const GOOD: &str = r#""event_id":"6f2a0a3e-0d67-4d0e-9c55-2c1b7e0d0001","timestamp":"2026-11-15T12:00:00Z","category":"economic","event_type":"paid","score_delta":1"#;

    #[test]
    fn bad_fields_are_refused_by_name() {
        assert!(parse::<Input>(input(GOOD).as_bytes()).is_ok());
        for (field, bad, named) in [
            (
                "\"economic\"",
                "\"karma\"",
                "events[0].category: unknown variant `karma`, expected one of `task_quality`, `economic`, `identity_hygiene`",
            ),
            (
                ":1",
                ":1000000.5",
                "events[0].score_delta: invalid value: floating point `1000000.5`, expected a number from -1000000 to 1000000",
            ),
            (":1", ":1e999", "events[0].score_delta: number out of range"),
            (
                ":1",
                ":1,\"confidence\":1.01",
                "events[0].confidence: invalid value: floating point `1.01`, expected a number from 0 to 1",
            ),
            (
                "\"paid\"",
                "\"\"",
                "events[0].event_type: invalid length 0, expected text of 1 to 200 characters",
            ),
            (
                "6f2a",
                "6f2",
                "events[0].event_id: not a UUID, expected a UUID such as 6f2a0a3e-0d67-4d0e-9c55-2c1b7e0d0001",
            ),
            (
                "2026-11",
                "1970-11",
                "events[0].timestamp: invalid value: string \"1970-11-15T12:00:00Z\", expected an RFC 3339 time or whole milliseconds, from 2000 to 2100",
            ),
        ] {
            assert_eq!(
                parse::<Input>(input(&GOOD.replacen(field, bad, 1)).as_bytes()).unwrap_err().to_string(),
                named
            );
        }
        assert_eq!(parse::<Input>(br#"{"events":[]}"#).unwrap_err().to_string(), "missing field `as_of`");
    }

    #[test]
    fn deltas_are_whole_millionths_and_bounded() {
        for (delta, millionths) in [
            (0.5, 500_000),
            (0.000_000_5, 1),
            (-0.000_000_5, -1),
            (0.000_000_49, 0),
            (1e6, 1_000_000_000_000),
        ] {
            assert_eq!(ScoreDelta::new(delta).map(ScoreDelta::millionths), Some(millionths), "{delta}");
        }
        for delta in [1_000_000.000_001, -1_000_000.1, f64::NAN, f64::INFINITY] {
            assert_eq!(ScoreDelta::new(delta), None, "{delta}");
        }
    }

    #[test]
    fn event_types_have_a_length() {
        let long = |length| input(&GOOD.replace("paid", &"x".repeat(length)));
        assert!(parse::<Input>(long(limits::EVENT_TYPE_CHARS_MAX).as_bytes()).is_ok());
        assert!(parse::<Input>(long(limits::EVENT_TYPE_CHARS_MAX + 1).as_bytes()).is_err());
    }

    #[test]
    fn events_of_two_identities_are_not_added_up() {
        let two = [("0001", "a"), ("0002", "b")].map(|(event, identity)| {
            let event = GOOD.replace("0001", event);
            format!(r#"{{{event},"identity_id":"00000000-0000-0000-0000-00000000000{identity}"}}"#)
        });
        let text = format!(r#"{{"as_of":"2026-11-15T12:00:00Z","events":[{}]}}"#, two.join(","));
        assert_eq!(
            parse::<Input>(text.as_bytes()).unwrap_err().to_string(),
            "events[1].identity_id: 00000000-0000-0000-0000-00000000000b, expected 00000000-0000-0000-0000-00000000000a as in the events before it"
        );
    }
}
