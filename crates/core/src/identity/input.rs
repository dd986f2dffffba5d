//! Reputation events as clients send them, and the input of `renown score identity`:
//! `{"as_of":"2026-11-15T00:00:00Z","events":[{"event_id":…,"timestamp":…,"category":…,"event_type":…,"score_delta":…}, …]}`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use super::{Category, IdentityReputation, Windows};
use crate::decimal::Decimal;
use crate::explain::Explanation;
use crate::ids::{AgentId, EventType, IdentityId, deserialize_uuid};
use crate::json::{Object, named, number, or_default};
use crate::limits;
use crate::time::Timestamp;
use crate::units::Unit;

/// How an event moves its category, in whole millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScoreDelta(i64);

impl ScoreDelta {
    /// The neutral delta.
    pub const ZERO: Self = Self(0);

    /// Computes `x × 10^6` in `f64`, rounded half away from zero. Returns `None` unless `x` is finite and |x| ≤ 1 000
    /// 000.
    #[expect(clippy::float_arithmetic, reason = "the rounding rule is defined in f64")]
    #[expect(clippy::cast_possible_truncation, reason = "at most 10^12 after the check")]
    pub fn new(delta: f64) -> Option<Self> {
        (delta.abs() <= limits::SCORE_DELTA_ABS_MAX).then(|| Self((delta * 1_000_000.0).round() as i64))
    }

    /// Creates a delta of this many millionths. Returns `None` if it is out of range.
    pub fn from_millionths(millionths: i64) -> Option<Self> {
        (millionths.unsigned_abs() <= MILLIONTHS_MAX).then_some(Self(millionths))
    }

    /// Returns the delta in millionths.
    pub fn millionths(self) -> i64 {
        self.0
    }
}

/// [`limits::SCORE_DELTA_ABS_MAX`] in millionths.
const MILLIONTHS_MAX: u64 = 1_000_000_000_000;

impl Serialize for ScoreDelta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Decimal::<6>::from_units(i128::from(self.0)).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ScoreDelta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "a number from -1000000 to 1000000";
        let delta = number(deserializer, EXPECTED)?;
        Self::new(delta).ok_or_else(|| D::Error::custom(format_args!("{delta}, expected {EXPECTED}")))
    }
}

/// A reputation event.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ReputationEventRequest))]
pub struct Event {
    /// Id of the event. A repeated event counts once; the first copy is kept.
    #[serde(deserialize_with = "deserialize_uuid")]
    pub event_id: Uuid,
    /// Time of the event: at most three years in the past and one day in the future.
    #[cfg_attr(feature = "schema", schema(value_type = crate::schema::Moment))]
    pub timestamp: Timestamp,
    /// Identity of the agent. Required unless `agent_id` is given.
    pub identity_id: Option<IdentityId>,
    /// The agent. Required unless `identity_id` is given.
    pub agent_id: Option<AgentId>,
    /// Category of the event.
    pub category: Category,
    /// Kind of the event, such as `task_completed`.
    pub event_type: EventType,
    /// Change of the score of its category.
    pub score_delta: ScoreDelta,
    /// How sure the sender is, from 0 to 1; default: 1. It is stored and returned, but does not change scores.
    #[cfg_attr(feature = "schema", schema(value_type = Option<Unit>))]
    #[serde(default = "full", deserialize_with = "full_or")]
    pub confidence: Unit,
    /// Kind of the thing that the event refers to.
    #[cfg_attr(feature = "schema", schema(value_type = Option<Reference>))]
    #[serde(default, deserialize_with = "or_default")]
    pub reference_type: Reference,
    /// Id of the thing that the event refers to.
    pub reference_id: Option<String>,
    /// Other data to store with the event.
    #[cfg_attr(feature = "schema", schema(value_type = Option<BTreeMap<String, String>>))]
    #[serde(default, deserialize_with = "or_default")]
    pub attributes: BTreeMap<String, String>,
}

fn full() -> Unit {
    Unit::ONE
}

fn full_or<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Unit, D::Error> {
    Option::deserialize(deserializer).map(|confidence| confidence.unwrap_or(Unit::ONE))
}

/// What an event may refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reference {
    /// A scored session.
    Session,
    /// A payment.
    Transaction,
    /// A statement by a third party.
    Attestation,
    /// Nothing: the empty string, the same as an absent field.
    #[default]
    #[serde(rename = "")]
    Nothing,
}

impl Reference {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Session, Self::Transaction, Self::Attestation, Self::Nothing];

    /// Returns its name; empty for [`Reference::Nothing`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Transaction => "transaction",
            Self::Attestation => "attestation",
            Self::Nothing => "",
        }
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, &Self::ALL, Self::name)
    }
}

/// The events of one identity, and the point in time for which they are scored.
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

/// The error for an input with events of two identities: their sum would mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixedIdentities {
    index: usize,
    found: IdentityId,
    expected: IdentityId,
}

impl fmt::Display for MixedIdentities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, found, expected } = self;
        write!(f, "events[{index}].identity_id: {found}, expected {expected} as in the previous events")
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
        // The first copy of an event counts, even if only a later copy would fall into the window.
        for Object(event) in events.iter().filter(|Object(event)| seen.insert(event.event_id)) {
            windows.add(as_of, event.timestamp, event.category, event.score_delta);
        }
        Ok(Self { as_of, windows })
    }
}

impl Input {
    /// Computes the reputation of the identity.
    pub fn score(&self) -> IdentityReputation {
        self.windows.breakdown().standing(self.as_of)
    }

    /// Explains the reputation: the contribution of each category.
    pub fn explain(&self) -> Explanation {
        self.windows.breakdown().explain()
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
    fn errors_name_the_invalid_field() {
        assert!(parse::<Input>(input(GOOD).as_bytes()).is_ok());
        for (field, bad, named) in [
            (
                "\"economic\"",
                "\"karma\"",
                "events[0].category: \"karma\", expected task_quality, economic or identity_hygiene",
            ),
            (
                "\"economic\"",
                "null",
                "events[0].category: invalid type: null, expected task_quality, economic or identity_hygiene",
            ),
            (
                ":1",
                ":1000000.5",
                "events[0].score_delta: 1000000.5, expected a number from -1000000 to 1000000",
            ),
            (
                ":1",
                ":1e999",
                "events[0].score_delta: number out of range, expected one that a 64-bit float can hold",
            ),
            (":1", ":1,\"confidence\":1.01", "events[0].confidence: 1.01, expected a number from 0 to 1"),
            (
                ":1",
                ":1,\"reference_type\":\"rumour\"",
                "events[0].reference_type: \"rumour\", expected session, transaction or attestation",
            ),
            (
                ":1",
                ":1,\"reference_id\":5",
                "events[0].reference_id: invalid type: integer `5`, expected a string",
            ),
            (":1", ":1,\"attributes\":3", "events[0].attributes: invalid type: integer `3`, expected a map"),
            ("\"paid\"", "\"\"", "events[0].event_type: empty string, expected 1 to 200 characters"),
            (
                "6f2a",
                "6f2",
                "events[0].event_id: \"6f20a3e-0d67-4d0e-9c55-2c1b7e0d0001\", expected a UUID such as 6f2a0a3e-0d67-4d0e-9c55-2c1b7e0d0001",
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
    fn optional_fields_may_be_null_or_empty() {
        let more = r#","confidence":null,"reference_type":"","reference_id":null,"attributes":null,"identity_id":null"#;
        assert!(parse::<Input>(input(&format!("{GOOD}{more}")).as_bytes()).is_ok());
        let more =
            r#","confidence":0.5,"reference_type":"session","reference_id":"s-1","attributes":{"k":"v"}"#;
        assert!(parse::<Input>(input(&format!("{GOOD}{more}")).as_bytes()).is_ok());
    }

    #[test]
    fn events_of_two_identities_are_rejected() {
        let two = [("0001", "a"), ("0002", "b")].map(|(event, identity)| {
            let event = GOOD.replace("0001", event);
            format!(r#"{{{event},"identity_id":"00000000-0000-0000-0000-00000000000{identity}"}}"#)
        });
        let text = format!(r#"{{"as_of":"2026-11-15T12:00:00Z","events":[{}]}}"#, two.join(","));
        assert_eq!(
            parse::<Input>(text.as_bytes()).unwrap_err().to_string(),
            "events[1].identity_id: 00000000-0000-0000-0000-00000000000b, expected 00000000-0000-0000-0000-00000000000a as in the previous events"
        );
    }
}
