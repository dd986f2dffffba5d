//! A clock that a test sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// The time at which a [`TestClock`] starts, in milliseconds: 2026-11-15T12:00:00Z.
pub const NOON_MS: i64 = 1_794_744_000_000;

/// The value of a clock that fails.
const FAILED: i64 = i64::MIN;

/// A clock that does not move until it is set. Its clones show the same time.
#[derive(Clone, Debug)]
pub struct TestClock(Arc<AtomicI64>);

impl TestClock {
    /// Creates a clock that shows [`NOON_MS`].
    pub fn at_noon() -> Self {
        Self(Arc::new(AtomicI64::new(NOON_MS)))
    }

    /// Sets the clock to a time, in milliseconds after noon.
    pub fn set(&self, after_noon_ms: i64) {
        self.0.store(NOON_MS + after_noon_ms, Ordering::Relaxed);
    }

    /// Moves the clock forwards, or backwards if `by_ms` is negative.
    pub fn turn(&self, by_ms: i64) {
        self.0.fetch_add(by_ms, Ordering::Relaxed);
    }

    /// Makes the clock fail until it is set.
    pub fn fail(&self) {
        self.0.store(FAILED, Ordering::Relaxed);
    }

    /// Returns the time in milliseconds since 1970, or `None` while the clock fails.
    pub fn millis(&self) -> Option<i64> {
        let millis = self.0.load(Ordering::Relaxed);
        (millis != FAILED).then_some(millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_shows_what_it_was_set_to() {
        let clock = TestClock::at_noon();
        let shown = clock.clone();
        assert_eq!(shown.millis(), Some(NOON_MS));
        clock.set(5);
        clock.turn(-7);
        assert_eq!(shown.millis(), Some(NOON_MS - 2));
        clock.fail();
        assert_eq!(shown.millis(), None);
        clock.set(0);
        assert_eq!(shown.millis(), Some(NOON_MS));
    }
}
