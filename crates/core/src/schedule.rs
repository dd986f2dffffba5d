//! # Schedules: when an evaluation runs by itself
//!
//! ```text
//! every_6h   00:00, 06:00, 12:00 and 18:00 of every day
//! daily      00:00 of every day
//! weekly     00:00 of every Monday
//! cron:…     minute hour day-of-month month day-of-week
//! due        = the latest tick that is not after now, if it is after the last tick that ran
//! ```
//!
//! | symbol | meaning | source |
//! |---|---|---|
//! | tick | a time at which the cadence fires | the cadence |
//! | last tick that ran | the tick of the latest run; for a new schedule the time when it was created or resumed | the schedule |
//!
//! All times are UTC, so a tick never happens twice or not at all when clocks change.
//!
//! **Why missed ticks collapse.** A run evaluates what is there when it runs. Running once for each tick that was missed
//! would give the same result many times. So after a pause only the latest tick is due.
//!
//! **Which cron.** Five fields with `*`, lists, ranges, steps and English names (`MON-FRI`, `JAN`). If both days are
//! limited, either of them is enough, as in Vixie cron. A pattern that never fires (`0 0 30 2 *`) is rejected.
//!
//! **What it ignores.** Whether anything has changed since the last run; the runner decides that.

use std::fmt;
use std::str::FromStr;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Zoned;
use jiff::tz::TimeZone;

use crate::time::{Day, NANOS_PER_DAY, Timestamp};

/// Starts a cadence that is a cron pattern.
const CRON_PREFIX: &str = "cron:";

/// Number of fields of a pattern.
const CRON_FIELDS: usize = 5;

/// Maximum number of bytes of a pattern. A list of every minute has 169.
const CRON_BYTES_MAX: usize = 256;

const NANOS_PER_6H: i64 = NANOS_PER_DAY / 4;

/// Monday is the fourth day after 1970-01-01, a Thursday.
const FIRST_MONDAY: i64 = 4;

/// When a schedule fires.
#[derive(Clone, Debug)]
pub enum Cadence {
    /// Four times per day.
    Every6h,
    /// At midnight.
    Daily,
    /// At midnight before Monday.
    Weekly,
    /// When a cron pattern matches.
    Cron(Box<CronPattern>),
}

/// A cron pattern that fires at least once.
#[derive(Clone, Debug)]
pub struct CronPattern {
    text: String,
    cron: Cron,
}

/// Why a cadence was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CadenceError {
    /// The text is no known cadence.
    Unknown,
    /// The pattern has another number of fields than five.
    Fields(usize),
    /// The pattern is longer than any useful one.
    TooLong,
    /// A field is invalid.
    Invalid(String),
    /// No time before 2100 matches.
    Never,
}

impl fmt::Display for CadenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str(
                "expected every_6h, daily, weekly, or cron: and five fields, such as \"cron:30 2 * * MON-FRI\"",
            ),
            Self::Fields(found) => write!(
                f,
                "{found} fields, expected {CRON_FIELDS}: minute, hour, day of month, month, day of week"
            ),
            Self::TooLong => write!(f, "longer than {CRON_BYTES_MAX} bytes"),
            Self::Invalid(reason) => write!(f, "invalid pattern: {reason}"),
            Self::Never => f.write_str("never fires, expected a pattern that matches a time"),
        }
    }
}

impl std::error::Error for CadenceError {}

impl FromStr for Cadence {
    type Err = CadenceError;

    fn from_str(text: &str) -> Result<Self, CadenceError> {
        match text {
            "every_6h" => return Ok(Self::Every6h),
            "daily" => return Ok(Self::Daily),
            "weekly" => return Ok(Self::Weekly),
            _ => {}
        }
        let pattern = text.strip_prefix(CRON_PREFIX).ok_or(CadenceError::Unknown)?;
        CronPattern::parse(pattern).map(|pattern| Self::Cron(Box::new(pattern)))
    }
}

impl fmt::Display for Cadence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every6h => f.write_str("every_6h"),
            Self::Daily => f.write_str("daily"),
            Self::Weekly => f.write_str("weekly"),
            Self::Cron(pattern) => write!(f, "{CRON_PREFIX}{}", pattern.text),
        }
    }
}

impl Cadence {
    /// Returns the first tick after a time. `None` if there is no further tick before 2100.
    pub fn next_after(&self, time: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Every6h => {
                Timestamp::from_nanos((time.nanos() / NANOS_PER_6H + 1).checked_mul(NANOS_PER_6H)?).ok()
            }
            Self::Daily => Day::from_number(Day::of(time).number() + 1).map(Day::start),
            Self::Weekly => Day::from_number(monday(time) + 7).map(Day::start),
            Self::Cron(pattern) => pattern.next_after(time),
        }
    }

    /// Returns the latest tick that is not after a time. `None` if there is no tick since 2000.
    pub fn latest(&self, time: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Every6h => Timestamp::from_nanos(time.nanos() / NANOS_PER_6H * NANOS_PER_6H).ok(),
            Self::Daily => Some(Day::of(time).start()),
            Self::Weekly => Day::from_number(monday(time)).map(Day::start),
            Self::Cron(pattern) => pattern.latest(time),
        }
    }

    /// Returns the tick that has to run now: the latest one, if it is after the last tick that ran.
    pub fn due(&self, last: Timestamp, now: Timestamp) -> Option<Timestamp> {
        self.latest(now).filter(|&tick| tick > last)
    }
}

/// Returns the number of the last Monday that is not after a time.
fn monday(time: Timestamp) -> i64 {
    let day = Day::of(time).number();
    day - (day - FIRST_MONDAY).rem_euclid(7)
}

impl CronPattern {
    fn parse(text: &str) -> Result<Self, CadenceError> {
        if text.len() > CRON_BYTES_MAX {
            return Err(CadenceError::TooLong);
        }
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        if fields.len() != CRON_FIELDS {
            return Err(CadenceError::Fields(fields.len()));
        }
        let text = fields.join(" ");
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let cron = parser.parse(&text).map_err(|error| CadenceError::Invalid(error.to_string()))?;
        let pattern = Self { text, cron };
        // Every pattern that fires does so within the 28 years after which the calendar repeats.
        pattern.next_after(Timestamp::MIN).ok_or(CadenceError::Never)?;
        Ok(pattern)
    }

    fn next_after(&self, time: Timestamp) -> Option<Timestamp> {
        self.cron.find_next_occurrence(&zoned(time)?, false).ok().and_then(|found| timestamp(&found))
    }

    fn latest(&self, time: Timestamp) -> Option<Timestamp> {
        // Ticks are whole minutes, and the search begins at a whole second.
        self.cron.find_previous_occurrence(&zoned(time)?, true).ok().and_then(|found| timestamp(&found))
    }
}

/// Converts a time to whole seconds of UTC, cut off.
fn zoned(time: Timestamp) -> Option<Zoned> {
    let seconds = time.nanos().div_euclid(1_000_000_000);
    jiff::Timestamp::from_second(seconds).ok().map(|time| time.to_zoned(TimeZone::UTC))
}

fn timestamp(found: &Zoned) -> Option<Timestamp> {
    i64::try_from(found.timestamp().as_nanosecond()).ok().and_then(|nanos| Timestamp::from_nanos(nanos).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn cadence(text: &str) -> Cadence {
        text.parse().unwrap()
    }

    #[test]
    fn the_next_and_the_latest_tick_surround_a_time() {
        // 2026-11-19 is a Thursday.
        for (text, time, latest, next) in [
            ("every_6h", "2026-11-19T07:30:00Z", "2026-11-19T06:00:00Z", "2026-11-19T12:00:00Z"),
            ("every_6h", "2026-11-19T06:00:00Z", "2026-11-19T06:00:00Z", "2026-11-19T12:00:00Z"),
            ("every_6h", "2026-11-19T23:59:59.9Z", "2026-11-19T18:00:00Z", "2026-11-20T00:00:00Z"),
            ("daily", "2026-11-19T07:30:00Z", "2026-11-19T00:00:00Z", "2026-11-20T00:00:00Z"),
            ("daily", "2026-11-19T00:00:00Z", "2026-11-19T00:00:00Z", "2026-11-20T00:00:00Z"),
            ("weekly", "2026-11-19T07:30:00Z", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"),
            ("weekly", "2026-11-16T00:00:00Z", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"),
            ("weekly", "2026-11-15T23:59:59Z", "2026-11-09T00:00:00Z", "2026-11-16T00:00:00Z"),
            ("cron:30 2 * * *", "2026-11-19T02:29:59Z", "2026-11-18T02:30:00Z", "2026-11-19T02:30:00Z"),
            ("cron:30 2 * * *", "2026-11-19T02:30:00.5Z", "2026-11-19T02:30:00Z", "2026-11-20T02:30:00Z"),
            (
                "cron:*/15 9-17 * * MON-FRI",
                "2026-11-20T17:50:00Z",
                "2026-11-20T17:45:00Z",
                "2026-11-23T09:00:00Z",
            ),
            ("cron:0 0 29 2 *", "2026-11-19T00:00:00Z", "2024-02-29T00:00:00Z", "2028-02-29T00:00:00Z"),
            // Either day is enough if both are limited.
            ("cron:0 12 13 * FRI", "2026-11-13T12:00:00Z", "2026-11-13T12:00:00Z", "2026-11-20T12:00:00Z"),
            ("cron:0 12 1,13 * SUN", "2026-11-30T00:00:00Z", "2026-11-29T12:00:00Z", "2026-12-01T12:00:00Z"),
        ] {
            let (cadence, time) = (cadence(text), at(time));
            assert_eq!(cadence.latest(time), Some(at(latest)), "{text} at {time}");
            assert_eq!(cadence.next_after(time), Some(at(next)), "{text} at {time}");
        }
    }

    #[test]
    fn missed_ticks_collapse_into_the_latest() {
        let daily = cadence("daily");
        let last = at("2026-11-01T00:00:00Z");
        assert_eq!(daily.due(last, at("2026-11-01T23:59:59Z")), None);
        assert_eq!(daily.due(last, at("2026-11-02T00:00:00Z")), Some(at("2026-11-02T00:00:00Z")));
        assert_eq!(daily.due(last, at("2026-11-19T07:00:00Z")), Some(at("2026-11-19T00:00:00Z")));
        // A clock that went back runs nothing again.
        assert_eq!(daily.due(last, at("2026-10-01T00:00:00Z")), None);
    }

    #[test]
    fn a_year_of_polling_every_minute_runs_each_tick_once() {
        for (text, ticks) in [("every_6h", 4 * 365), ("daily", 365), ("weekly", 52), ("cron:0 9 1 * *", 12)] {
            let cadence = cadence(text);
            let start = at("2026-01-01T00:00:00Z");
            let (mut last, mut runs) = (start, 0);
            for minute in 1..=365 * 24 * 60 {
                let now = Timestamp::from_millis(start.millis() + minute * 60_000).unwrap();
                if let Some(tick) = cadence.due(last, now) {
                    assert!(tick > last && tick <= now, "{text}: {tick} at {now}");
                    (last, runs) = (tick, runs + 1);
                }
            }
            assert_eq!(runs, ticks, "{text}");
        }
    }

    #[test]
    fn a_cadence_is_read_and_written() {
        for text in ["every_6h", "daily", "weekly", "cron:0 0 * * *", "cron:*/5 1,2 1-7 JAN MON"] {
            assert_eq!(cadence(text).to_string(), text);
        }
        assert_eq!(cadence("cron:  0  0 * *\t* ").to_string(), "cron:0 0 * * *");
    }

    #[test]
    fn what_can_never_run_is_rejected_with_a_reason() {
        let rejected = |text: &str| text.parse::<Cadence>().unwrap_err();
        for text in ["", "hourly", "Daily", "0 0 * * *", "cron"] {
            assert_eq!(rejected(text), CadenceError::Unknown, "{text}");
        }
        assert_eq!(rejected("cron:"), CadenceError::Fields(0));
        assert_eq!(rejected("cron:@daily"), CadenceError::Fields(1));
        assert_eq!(rejected("cron:0 0 * * * *"), CadenceError::Fields(6));
        assert_eq!(rejected(&format!("cron:{}", "* ".repeat(61))), CadenceError::Fields(61));
        assert_eq!(rejected(&format!("cron:{}", "*".repeat(300))), CadenceError::TooLong);
        for text in ["cron:0 0 30 2 *", "cron:0 0 31 4,6,9,11 *"] {
            assert_eq!(rejected(text), CadenceError::Never, "{text}");
        }
        for text in
            ["cron:60 0 * * *", "cron:0 24 * * *", "cron:a b c d e", "cron:0 0 0 * *", "cron:5-1 0 * * *"]
        {
            assert!(matches!(rejected(text), CadenceError::Invalid(_)), "{text}: {:?}", rejected(text));
        }
    }
}
