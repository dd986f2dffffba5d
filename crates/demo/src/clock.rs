//! The clock of a store that is filled with past events. It shows a fixed time, then switches to a real clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use renown_core::time::Timestamp;
use renown_store::{Clock, ClockError};

/// The value that means: use the real clock.
const FOLLOWS: i64 = i64::MIN;

/// A clock that can be set, and then be switched to a real clock.
#[derive(Clone)]
pub struct DemoClock {
    set_ms: Arc<AtomicI64>,
    then: Clock,
}

impl DemoClock {
    /// Creates a clock that shows `first`, and later follows `then`.
    pub fn new(first: Timestamp, then: Clock) -> Self {
        Self { set_ms: Arc::new(AtomicI64::new(first.millis())), then }
    }

    /// Returns the clock for a store.
    pub fn clock(&self) -> Clock {
        let Self { set_ms, then } = self.clone();
        Arc::new(move || match set_ms.load(Ordering::Relaxed) {
            FOLLOWS => then(),
            ms => Timestamp::from_millis(ms).map_err(|_| ClockError::new(ms)),
        })
    }

    pub(crate) fn set(&self, ms: i64) {
        self.set_ms.store(ms, Ordering::Relaxed);
    }

    pub(crate) fn follow(&self) {
        self.set(FOLLOWS);
    }
}
