//! The clock: which readings can be right, and how times of acceptance follow it.
//!
//! | the system clock | what happens |
//! |---|---|
//! | shows a time before this release was made, or after 2099 | it cannot be right: every write fails with [`ClockError`] until it is |
//! | goes on, or jumps ahead | times of acceptance follow it |
//! | shows a time before the latest time of acceptance | times stand still at the latest one, for at most [`STANDSTILL_MS`] by the clock, then they follow the clock again |
//!
//! A clock that was set back by seconds catches up, and no time goes backwards. A clock that was years ahead for a while costs five
//! minutes with one and the same time, not years. The order of acceptance is that of positions, so it survives either.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use renown_core::time::Timestamp;

/// Where a store learns the time. A test can turn it back.
pub type Clock = Arc<dyn Fn() -> Result<Timestamp, ClockError> + Send + Sync>;

/// No clock shows an earlier time and is right: 2026-11-01T00:00:00Z, before this release was made. Move it with each release.
pub const RELEASED_MS: i64 = 1_793_491_200_000;

/// How long times of acceptance stand still, in milliseconds.
pub const STANDSTILL_MS: i64 = 5 * 60 * 1000;

/// The clock shows a time that cannot be right, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockError {
    found_ms: i64,
}

impl ClockError {
    /// For a clock that shows this, in milliseconds since 1970.
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

/// The clock of the system.
pub fn system_clock() -> Clock {
    Arc::new(|| reading(SystemTime::now()))
}

/// A reading of the system clock, if it can be right.
fn reading(now: SystemTime) -> Result<Timestamp, ClockError> {
    let millis = |duration: std::time::Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    let found_ms = match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => millis(since),
        Err(before) => -millis(before.duration()),
    };
    let time = Timestamp::from_millis(found_ms).ok().filter(|time| time.millis() >= RELEASED_MS);
    time.filter(|time| *time < Timestamp::MAX).ok_or(ClockError { found_ms })
}

/// A store that takes writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The time at which times of acceptance stand still, while the clock shows an earlier one.
    pub standstill: Option<Timestamp>,
}

impl Ready {
    pub(crate) fn of(following: &Following, latest: Option<Timestamp>) -> Self {
        Self { standstill: latest.filter(|_| following.still_since.is_some()) }
    }
}

/// How times of acceptance follow the clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Following {
    /// What the clock showed when times began to stand still.
    still_since: Option<Timestamp>,
}

impl Following {
    /// The time of acceptance after `latest` when the clock shows `now`, in whole milliseconds. It is before `latest` once,
    /// when times have stood still for long enough.
    pub(crate) fn next(&mut self, latest: Timestamp, now: Timestamp) -> Timestamp {
        let now = Timestamp::from_millis(now.millis()).unwrap_or(now);
        if now >= latest {
            self.still_since = None;
            return now;
        }
        let since = self.still_since.map_or(now, |since| since.min(now));
        self.still_since = Some(since);
        if now.millis() - since.millis() < STANDSTILL_MS {
            return latest;
        }
        self.still_since = None;
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
        let mut following = Following::default();
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
            // Set back again while times stand still: the five minutes begin again.
            (years, years),
            (14, years),
            (12, years),
            (16, years),
            (17, 17),
        ]
        .into_iter()
        .enumerate()
        {
            latest = following.next(latest, at(now));
            let standstill = Ready::of(&following, Some(latest)).standstill;
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
