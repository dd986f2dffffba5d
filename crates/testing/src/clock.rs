//! A clock that a test sets.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// The time at which a [`TestClock`] starts, in milliseconds: 2026-11-15T12:00:00Z.
pub const NOON_MS: i64 = 1_794_744_000_000;

/// The value of a clock that fails.
const FAILED: i64 = i64::MIN;

/// A clock that does not move until it is set. Its clones show the same time.
#[derive(Clone, Debug)]
pub struct TestClock {
    millis: Arc<AtomicI64>,
    held: Arc<Mutex<Option<Hold>>>,
}

/// Reports that a caller of the clock waits, and ends its wait.
type Hold = (Sender<()>, Receiver<()>);

impl TestClock {
    /// Creates a clock that shows [`NOON_MS`].
    pub fn at_noon() -> Self {
        Self { millis: Arc::new(AtomicI64::new(NOON_MS)), held: Arc::default() }
    }

    /// Sets the clock to a time, in milliseconds after noon.
    pub fn set(&self, after_noon_ms: i64) {
        self.millis.store(NOON_MS + after_noon_ms, Ordering::Relaxed);
    }

    /// Moves the clock forwards, or backwards if `by_ms` is negative.
    pub fn turn(&self, by_ms: i64) {
        self.millis.fetch_add(by_ms, Ordering::Relaxed);
    }

    /// Makes the clock fail until it is set.
    pub fn fail(&self) {
        self.millis.store(FAILED, Ordering::Relaxed);
    }

    /// Returns the time in milliseconds since 1970, or `None` while the clock fails.
    pub fn millis(&self) -> Option<i64> {
        let hold = self.held.lock().unwrap().take();
        if let Some((waits, released)) = hold {
            let _ = waits.send(());
            let _ = released.recv();
        }
        let millis = self.millis.load(Ordering::Relaxed);
        (millis != FAILED).then_some(millis)
    }

    /// Lets the next caller of the clock wait until the returned sender is dropped. The returned receiver reports
    /// that it waits.
    pub fn hold_next(&self) -> (Sender<()>, Receiver<()>) {
        let ((waits, has_begun), (release, released)) = (channel(), channel());
        *self.held.lock().unwrap() = Some((waits, released));
        (release, has_begun)
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
    #[test]
    fn a_held_caller_waits_until_it_is_released() {
        let clock = TestClock::at_noon();
        let (release, has_begun) = clock.hold_next();
        let caller = clock.clone();
        let waiting = std::thread::spawn(move || caller.millis());
        has_begun.recv().unwrap();
        clock.set(3);
        drop(release);
        assert_eq!(waiting.join().unwrap(), Some(NOON_MS + 3));
        assert_eq!(clock.millis(), Some(NOON_MS + 3), "only the next caller waits");
    }
}
