//! A UTC day.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::{NANOS_PER_DAY, Timestamp};

/// A UTC day from 2000-01-01 to 2100-01-01, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i64);

/// The error for a text that is not a day such as `2026-11-15` between 2000-01-01 and 2100-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotADay;

impl fmt::Display for NotADay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a day such as 2026-11-15, from 2000-01-01 to 2100-01-01")
    }
}

impl std::error::Error for NotADay {}

impl Day {
    /// Returns the day of a time.
    pub fn of(time: Timestamp) -> Self {
        Self(time.nanos() / NANOS_PER_DAY)
    }

    /// Returns the day with this number, counted from 1970-01-01, if it is in range.
    pub fn from_number(number: i64) -> Option<Self> {
        (Self::of(Timestamp::MIN)..=Self::of(Timestamp::MAX)).contains(&Self(number)).then_some(Self(number))
    }

    /// Returns the number of days since 1970-01-01.
    pub fn number(self) -> i64 {
        self.0
    }

    /// Returns the first moment of the day.
    pub fn start(self) -> Timestamp {
        Timestamp::from_nanos(self.0 * NANOS_PER_DAY).unwrap_or(Timestamp::MIN)
    }

    /// Returns the first moment of the next day. For the last day in range, returns its own first moment.
    pub fn end(self) -> Timestamp {
        Timestamp::from_nanos((self.0 + 1) * NANOS_PER_DAY).unwrap_or(Timestamp::MAX)
    }

    /// Returns the day this many days earlier, or the first day in range.
    #[must_use]
    pub fn back(self, days: u32) -> Self {
        Self((self.0 - i64::from(days)).max(Self::of(Timestamp::MIN).0))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.start().to_string();
        f.write_str(text.get(.."YYYY-MM-DD".len()).unwrap_or(&text))
    }
}

impl FromStr for Day {
    type Err = NotADay;

    fn from_str(text: &str) -> Result<Self, NotADay> {
        Timestamp::parse(&format!("{text}T00:00:00Z")).map(Self::of).map_err(|_| NotADay)
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_and_ends_at_the_next() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        for (time, day) in [
            ("2026-11-15T00:00:00Z", "2026-11-15"),
            ("2026-11-15T23:59:59.999999999Z", "2026-11-15"),
            ("2026-11-16T00:30:00+01:00", "2026-11-15"),
            ("2000-01-01T00:00:00Z", "2000-01-01"),
            ("2100-01-01T00:00:00Z", "2100-01-01"),
        ] {
            let found = Day::of(at(time));
            assert_eq!(found.to_string(), day, "{time}");
            assert_eq!(day.parse(), Ok(found));
            assert_eq!(Day::from_number(found.number()), Some(found));
        }
        let day: Day = "2024-02-29".parse().unwrap();
        assert_eq!(day.end(), at("2024-03-01T00:00:00Z"));
        assert_eq!(day.back(59).to_string(), "2024-01-01");
        assert_eq!(day.back(u32::MAX).start(), Timestamp::MIN);
        assert_eq!(Day::of(Timestamp::MAX).end(), Timestamp::MAX);
    }

    #[test]
    fn invalid_days_are_rejected() {
        for text in ["", "2026-11-31", "2026-1-1", "1999-12-31", "2100-01-02", "2026-11-15T00", "20261115"] {
            assert_eq!(text.parse::<Day>(), Err(NotADay), "{text}");
        }
        assert_eq!(Day::from_number(0), None);
        assert_eq!(Day::from_number(i64::MAX), None);
    }
}
