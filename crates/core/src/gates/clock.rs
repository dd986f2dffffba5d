//! The time of an evaluation, which the caller brings.

use core::time::Duration;

/// Two clocks: one on the wall, and one that only runs while the calling thread does.
///
/// The budget of an evaluation counts the second, so that an output gets the same verdict whether the machine is idle or
/// busy. Latencies are read from the first, which also ends an evaluation that gets no core at all.
///
/// Any function that gives a time is a clock whose thread always runs.
pub trait GateClock {
    /// The time since any fixed point. It never goes backwards.
    fn wall(&self) -> Duration;

    /// For how long the calling thread has run since any fixed point.
    fn ran(&self) -> Duration;
}

impl<F: Fn() -> Duration> GateClock for F {
    fn wall(&self) -> Duration {
        self()
    }

    fn ran(&self) -> Duration {
        self()
    }
}
