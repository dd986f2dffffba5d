//! The clocks of an evaluation, which the caller provides.

use core::time::Duration;

/// Two clocks: the wall clock, and the CPU time of the calling thread.
///
/// The budget of an evaluation counts CPU time, so that an output gets the same verdict on an idle and on a busy
/// machine. Latencies are wall-clock times. The wall clock also ends an evaluation that gets no core at all.
///
/// Any function that returns a time is such a clock: it gives the same time for both.
pub trait GateClock {
    /// Returns the wall-clock time since any fixed point. It never goes backwards.
    fn wall(&self) -> Duration;

    /// Returns the CPU time of the calling thread since any fixed point.
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
