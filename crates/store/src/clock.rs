//! The clock: which readings can be right, and how times of acceptance follow it.
//!
//! | the system clock | what happens |
//! |---|---|
//! | shows a time before the date of this release, or after 2099 | it cannot be right: every write fails with [`ClockError`] until the clock is set |
//! | goes on, or jumps ahead | times of acceptance follow it |
//! | shows a time before the latest time of acceptance | times of acceptance stay at the latest one for at most [`STANDSTILL_MS`] by the clock; then they follow the clock again, back to its earlier time |
//!
//! So after a clock was set back by seconds, times of acceptance wait until it catches up, and no time goes
//! backwards. After a clock was years ahead for a while, all times are equal for five minutes, not for years. The
//! order of acceptance does not depend on times but on positions, so it is correct in both cases.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use renown_core::time::Timestamp;

/// The clock of a store. Tests set it back.
pub type Clock = Arc<dyn Fn() -> Result<Timestamp, ClockError> + Send + Sync>;

/// The earliest time that a correct clock can show: 2026-11-01T00:00:00Z, before this release was made. Move it
/// with each release.
pub const RELEASED_MS: i64 = 1_793_491_200_000;

/// How long times of acceptance wait for a clock that was set back, in milliseconds.
pub const STANDSTILL_MS: i64 = 5 * 60 * 1000;

/// The clock shows a time that cannot be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockError {
    found_ms: i64,
}

impl ClockError {
    /// Makes the error for a clock that shows this time, in milliseconds since 1970.
    pub fn new(found_ms: i64) -> Self {
        Self { found_ms }
    }
}

impl fmt::Display for ClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let day = |ms| jiff::Timestamp::from_millisecond(ms).unwrap_or_default().strftime("%Y-%m-%d");
        let (found, released) = (day(self.found_ms), day(RELEASED_MS));
        write!(f, "the system clock shows {found}, expected {released} to 2099-12-31: set the clock")
    }
}

impl std::error::Error for ClockError {}

/// Returns the system clock.
pub fn system_clock() -> Clock {
    Arc::new(|| reading(SystemTime::now()))
}

/// Checks a reading of the system clock.
fn reading(now: SystemTime) -> Result<Timestamp, ClockError> {
    let millis = |duration: std::time::Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    let found_ms = match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => millis(since),
        Err(before) => -millis(before.duration()),
    };
    let time = Timestamp::from_millis(found_ms).ok().filter(|time| time.millis() >= RELEASED_MS);
    time.filter(|time| *time < Timestamp::MAX).ok_or(ClockError { found_ms })
}

/// The state of a store that accepts writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The latest time of acceptance, while the clock shows an earlier time.
    pub standstill: Option<Timestamp>,
}

impl Ready {
    pub(crate) fn of(acceptance_clock: &AcceptanceClock, latest: Option<Timestamp>) -> Self {
        Self { standstill: latest.filter(|_| acceptance_clock.behind_since.is_some()) }
    }
}

/// Computes times of acceptance from the clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AcceptanceClock {
    /// What the clock showed when it was first behind the latest time of acceptance.
    behind_since: Option<Timestamp>,
}

impl AcceptanceClock {
    /// Returns the time of acceptance after `latest` when the clock shows `now`, in whole milliseconds. It is
    /// before `latest` only once: when times have waited for [`STANDSTILL_MS`].
    pub(crate) fn next(&mut self, latest: Timestamp, now: Timestamp) -> Timestamp {
        let now = Timestamp::from_millis(now.millis()).unwrap_or(now);
        if now >= latest {
            self.behind_since = None;
            return now;
        }
        let since = self.behind_since.map_or(now, |since| since.min(now));
        self.behind_since = Some(since);
        if now.millis() - since.millis() < STANDSTILL_MS {
            return latest;
        }
        self.behind_since = None;
        now
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(RELEASED_MS + 60_000 * minutes).unwrap()
    }

    #[test]
    fn times_follow_the_clock_ahead_and_back_again() {
        let years = 10 * 365 * 24 * 60;
        let mut acceptance_clock = AcceptanceClock::default();
        let mut latest = at(0);
        for (step, (now, expected)) in [
            (1, 1),
            // Set back by a little: it catches up.
            (0, 1),
            (1, 1),
            (2, 2),
            // Years ahead for a while, then right again.
            (years, years),
            (3, years),
            (5, years),
            (7, years),
            (8, 8),
            (9, 9),
            // Set back again while times wait: the five minutes begin again.
            (years, years),
            (14, years),
            (12, years),
            (16, years),
            (17, 17),
        ]
        .into_iter()
        .enumerate()
        {
            latest = acceptance_clock.next(latest, at(now));
            let standstill = Ready::of(&acceptance_clock, Some(latest)).standstill;
            assert_eq!((latest, standstill.is_some()), (at(expected), expected > now), "step {step}");
        }
    }

    #[test]
    fn a_clock_that_cannot_be_right_is_an_error() {
        let since = |ms: u64| SystemTime::UNIX_EPOCH + Duration::from_millis(ms);
        let released = RELEASED_MS.unsigned_abs();
        let in_1969 = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        let in_2100 = since(Timestamp::MAX.millis().unsigned_abs());
        for (time, shown) in [
            (in_1969, "1969-12-31"),
            (since(0), "1970-01-01"),
            (since(900_000_000_000), "1998-07-09"),
            (since(1_000_000_000_000), "2001-09-09"),
            (since(released - 1), "2026-10-31"),
            (in_2100, "2100-01-01"),
        ] {
            let error = reading(time).unwrap_err().to_string();
            assert!(error.starts_with(&format!("the system clock shows {shown}, ")), "{error}");
        }
        for ms in [released, Timestamp::MAX.millis().unsigned_abs() - 1] {
            assert_eq!(reading(since(ms)).unwrap().millis().unsigned_abs(), ms);
        }
    }
}
