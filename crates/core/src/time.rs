//! A point in time, in whole nanoseconds, between the years 2000 and 2100.
//!
//! Agents' clocks are evidence like any other: a time far outside our century is a mistake (seconds read as
//! milliseconds, a dead clock battery), and is refused at the door instead of bending a window.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const NANOS_PER_MILLI: i64 = 1_000_000;

/// Nanoseconds in a minute.
pub(crate) const NANOS_PER_MINUTE: u64 = 60_000_000_000;

/// Nanoseconds in a day of 24 hours.
pub(crate) const NANOS_PER_DAY: i64 = 86_400_000_000_000;

/// A time from 2000-01-01T00:00:00Z to 2100-01-01T00:00:00Z, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// Why a time was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimestampError {
    /// The text is no RFC 3339 time.
    NotRfc3339,
    /// The time lies outside 2000 to 2100.
    OutOfRange,
}

impl fmt::Display for TimestampError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotRfc3339 => "not an RFC 3339 time such as 2026-11-15T12:00:00Z",
            Self::OutOfRange => "outside 2000-01-01T00:00:00Z to 2100-01-01T00:00:00Z",
        })
    }
}

impl std::error::Error for TimestampError {}

impl Timestamp {
    /// The earliest time accepted, 2000-01-01T00:00:00Z.
    pub const MIN: Self = Self(946_684_800_000_000_000);
    /// The latest time accepted, 2100-01-01T00:00:00Z.
    pub const MAX: Self = Self(4_102_444_800_000_000_000);

    /// The time so many nanoseconds after 1970.
    pub fn from_nanos(nanos: i64) -> Result<Self, TimestampError> {
        let time = Self(nanos);
        if (Self::MIN..=Self::MAX).contains(&time) { Ok(time) } else { Err(TimestampError::OutOfRange) }
    }

    /// The time so many milliseconds after 1970.
    pub fn from_millis(millis: i64) -> Result<Self, TimestampError> {
        let nanos = millis.checked_mul(NANOS_PER_MILLI).ok_or(TimestampError::OutOfRange)?;
        Self::from_nanos(nanos)
    }

    /// The time written as RFC 3339, with any offset and up to nine decimals of a second.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        // The calendar is jiff's; its parser also takes other ISO 8601 forms, which are not in the contract.
        if !looks_like_rfc3339(text) {
            return Err(TimestampError::NotRfc3339);
        }
        let time: jiff::Timestamp = text.parse().map_err(|_| TimestampError::NotRfc3339)?;
        let nanos = i64::try_from(time.as_nanosecond()).map_err(|_| TimestampError::OutOfRange)?;
        Self::from_nanos(nanos)
    }

    /// Nanoseconds after 1970.
    pub fn nanos(self) -> i64 {
        self.0
    }
}

/// Whether the text has the fixed part of RFC 3339, `YYYY-MM-DDThh:mm:ss`, and no extension in brackets after it.
fn looks_like_rfc3339(text: &str) -> bool {
    const SHAPE: &[u8; 19] = b"0000-00-00T00:00:00";
    let fits = |(found, wanted): (&u8, &u8)| match wanted {
        b'0' => found.is_ascii_digit(),
        b'T' => matches!(found, b'T' | b't' | b' '),
        other => found == other,
    };
    text.len() > SHAPE.len() && text.bytes().all(|b| b != b'[') && text.as_bytes().iter().zip(SHAPE).all(fits)
}

/// RFC 3339 in UTC, cut to milliseconds.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_nanosecond(i128::from(self.0)) {
            Ok(time) => write!(f, "{time:.3}"),
            Err(_) => f.write_str("(no time)"),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Takes RFC 3339 text, or a whole number of milliseconds after 1970.
impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TimestampVisitor)
    }
}

struct TimestampVisitor;

impl Visitor<'_> for TimestampVisitor {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an RFC 3339 time or whole milliseconds, from 2000 to 2100")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
        Timestamp::parse(text).map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_i64<E: Error>(self, millis: i64) -> Result<Timestamp, E> {
        Timestamp::from_millis(millis).map_err(|_| E::invalid_value(Unexpected::Signed(millis), &self))
    }

    fn visit_u64<E: Error>(self, millis: u64) -> Result<Timestamp, E> {
        let time = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millis(millis).ok());
        time.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(millis), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_rfc3339_and_nothing_else() {
        let noon = Timestamp::from_millis(1_794_744_000_000).unwrap();
        let same = [
            "2026-11-15T12:00:00Z",
            "2026-11-15T12:00:00.000Z",
            "2026-11-15T13:30:00+01:30",
            "2026-11-15t12:00:00z",
            "2026-11-15 12:00:00Z",
        ];
        for text in same {
            assert_eq!(Timestamp::parse(text), Ok(noon), "{text}");
        }
        let others = [
            "",
            "yesterday",
            "2026-11-15",
            "2026-11-15T12:00:00",
            "2026-11-15T12:00Z",
            "20261115T120000Z",
            "2026-13-15T12:00:00Z",
            "2026-11-31T12:00:00Z",
            "2026-11-15T25:00:00Z",
            "2026-11-15T12:00:00Z[UTC]",
            "2026-11-15T12:00:00.Z",
            "+02026-11-15T12:00:00Z",
            "2026-11-15T12:00:00Z ",
            "2026-11-15T12:00:00.0000000001Z",
        ];
        for text in others {
            assert_eq!(Timestamp::parse(text), Err(TimestampError::NotRfc3339), "{text}");
        }
    }

    #[test]
    fn both_ends_of_the_range_are_in_and_their_neighbours_are_out() {
        for (text, accepted) in [
            ("1999-12-31T23:59:59.999999999Z", false),
            ("2000-01-01T00:00:00Z", true),
            ("2100-01-01T00:00:00Z", true),
            ("2100-01-01T00:00:00.000000001Z", false),
        ] {
            assert_eq!(Timestamp::parse(text).is_ok(), accepted, "{text}");
        }
        assert_eq!(Timestamp::from_millis(i64::MAX), Err(TimestampError::OutOfRange));
    }

    #[test]
    fn prints_utc_cut_to_milliseconds() {
        let time = Timestamp::parse("2026-11-15T13:00:00.123999999+01:00").unwrap();
        assert_eq!(time.to_string(), "2026-11-15T12:00:00.123Z");
        assert_eq!(Timestamp::MIN.to_string(), "2000-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::MAX.to_string(), "2100-01-01T00:00:00.000Z");
    }

    #[test]
    fn json_takes_text_or_whole_milliseconds() {
        let noon = Timestamp::parse("2026-11-15T12:00:00Z").unwrap();
        assert_eq!(serde_json::from_str::<Timestamp>("1794744000000").unwrap(), noon);
        assert_eq!(serde_json::from_str::<Timestamp>("\"2026-11-15T12:00:00Z\"").unwrap(), noon);
        for refused in
            ["0", "-1", "18446744073709551615", "1794744000000.5", "null", "true", "[]", "\"soon\""]
        {
            assert!(serde_json::from_str::<Timestamp>(refused).is_err(), "{refused}");
        }
    }
}
