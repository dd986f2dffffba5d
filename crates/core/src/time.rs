//! A point in time, in whole nanoseconds, between the years 2000 and 2100.
//!
//! An agent's clock can be wrong. A time far outside this century is a mistake (seconds read as milliseconds, a dead
//! clock battery). It is rejected on input, so that it cannot distort a window.

mod day;

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use day::{Day, NotADay};

const NANOS_PER_MILLI: i64 = 1_000_000;

/// Nanoseconds in a minute.
pub(crate) const NANOS_PER_MINUTE: u64 = 60_000_000_000;

/// Nanoseconds in a day of 24 hours.
pub(crate) const NANOS_PER_DAY: i64 = 86_400_000_000_000;

/// A time from 2000-01-01T00:00:00Z to 2100-01-01T00:00:00Z, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// Why a time was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimestampError {
    /// The text is not an RFC 3339 time.
    NotRfc3339,
    /// The time is outside 2000 to 2100.
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

    /// Creates the time this many nanoseconds after 1970.
    pub fn from_nanos(nanos: i64) -> Result<Self, TimestampError> {
        let time = Self(nanos);
        if (Self::MIN..=Self::MAX).contains(&time) { Ok(time) } else { Err(TimestampError::OutOfRange) }
    }

    /// Creates the time this many milliseconds after 1970.
    pub fn from_millis(millis: i64) -> Result<Self, TimestampError> {
        let nanos = millis.checked_mul(NANOS_PER_MILLI).ok_or(TimestampError::OutOfRange)?;
        Self::from_nanos(nanos)
    }

    /// Parses an RFC 3339 time. Decimals of a second beyond the ninth are cut off.
    ///
    /// The calendar is jiff's. Its parser also accepts other forms of ISO 8601 and turns a leap second into the
    /// second before. So only RFC 3339 is passed to it, and leap seconds are rejected.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        let not_rfc3339 = || TimestampError::NotRfc3339;
        let (date_time, decimals, offset) = parts(text).ok_or_else(not_rfc3339)?;
        let nanos = decimals.get(..9).unwrap_or(decimals);
        let time: jiff::Timestamp =
            format!("{date_time}.{nanos}{offset}").parse().map_err(|_| not_rfc3339())?;
        let nanos = i64::try_from(time.as_nanosecond()).map_err(|_| TimestampError::OutOfRange)?;
        Self::from_nanos(nanos)
    }

    /// Returns whole milliseconds after 1970.
    pub fn millis(self) -> i64 {
        self.0 / NANOS_PER_MILLI
    }

    /// Returns the number of its month in UTC: 12 · year + month − 1.
    pub fn month(self) -> i64 {
        let since_1970 = jiff::SignedDuration::from_nanos(self.0);
        let civil = jiff::Timestamp::from_duration(since_1970)
            .map(|time| jiff::tz::Offset::UTC.to_datetime(time))
            .unwrap_or_default();
        i64::from(civil.year()) * 12 + i64::from(civil.month()) - 1
    }

    /// Returns nanoseconds after 1970.
    pub fn nanos(self) -> i64 {
        self.0
    }
}

/// Splits a time into `YYYY-MM-DDThh:mm:ss`, the decimals of the second (`0` if absent) and `Z` or `±hh:mm`. Returns
/// `None` if the text does not have this form. The calendar checks whether the day exists.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (date_time, rest) = text.split_at_checked("YYYY-MM-DDThh:mm:ss".len())?;
    let (decimals, offset) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
        None => ("0", rest),
    };
    let offset_fits = match offset.split_at_checked(1)? {
        ("Z" | "z", "") => true,
        ("+" | "-", hours_minutes) => has_shape(hours_minutes, "29:59") && hours_minutes < "24",
        _ => false,
    };
    let fits = has_shape(date_time, "9999-19-39T29:59:59") && !decimals.is_empty() && offset_fits;
    fits.then_some((date_time, decimals, offset))
}

/// Returns whether each character equals that of the shape, or is a digit not above the shape's digit.
fn has_shape(text: &str, shape: &str) -> bool {
    let fits = |(found, shape): (u8, u8)| match shape {
        b'0'..=b'9' => (b'0'..=shape).contains(&found),
        b'T' => matches!(found, b'T' | b't'),
        other => found == other,
    };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
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

/// Parses RFC 3339 text, or a whole number of milliseconds after 1970.
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

    fn visit_f64<E: Error>(self, millis: f64) -> Result<Timestamp, E> {
        // Every whole millisecond of the range is exact in a float.
        #[expect(clippy::cast_possible_truncation, reason = "a saturated value is out of range and rejected")]
        let time = (millis.fract() == 0.0).then(|| Timestamp::from_millis(millis as i64).ok()).flatten();
        time.ok_or_else(|| E::invalid_value(Unexpected::Float(millis), &self))
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
            "2026-11-14T12:01:00-23:59",
            "2026-11-16T07:00:00.0+19:00",
            "2026-11-15t12:00:00z",
            "2026-11-15T12:00:00.0000000009Z",
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
            "2026-11-15 12:00:00Z",
            "2026-11-15T12:00:60Z",
            "2026-11-15T12:00:00,5Z",
            "2026-11-15T12:00:00+01",
            "2026-11-15T12:00:00+0100",
            "2026-11-15T12:00:00+24:00",
            "2026-11-15T12:00:00+01:60",
            "2026-11-15T12:00:00+01:30:15",
            "2026-11-15T12:00:00é",
            "2026-11-15T12:00:0é",
        ];
        for text in others {
            assert_eq!(Timestamp::parse(text), Err(TimestampError::NotRfc3339), "{text}");
        }
    }

    #[test]
    fn both_ends_of_the_range_are_accepted_and_their_neighbors_rejected() {
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
    fn json_accepts_text_or_whole_milliseconds() {
        let noon = Timestamp::parse("2026-11-15T12:00:00Z").unwrap();
        assert_eq!(serde_json::from_str::<Timestamp>("1794744000000").unwrap(), noon);
        assert_eq!(serde_json::from_str::<Timestamp>("1794744000000.0").unwrap(), noon);
        assert_eq!(serde_json::from_str::<Timestamp>("\"2026-11-15T12:00:00Z\"").unwrap(), noon);
        for rejected in
            ["0", "-1", "18446744073709551615", "1794744000000.5", "1e99", "null", "true", "[]", "\"soon\""]
        {
            assert!(serde_json::from_str::<Timestamp>(rejected).is_err(), "{rejected}");
        }
    }
}
