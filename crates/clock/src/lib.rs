//! The clocks of this machine, for every program that runs the gates.
//!
//! The budget of an evaluation counts the time that its thread ran. Only then an output gets the same verdict on an idle and on
//! a busy machine. Where the system has no clock for a thread, the wall clock counts.

use std::time::{Duration, Instant};

use renown_core::gates::GateClock;

/// The clocks of this machine.
#[derive(Clone, Copy, Debug)]
pub struct MachineClock {
    started: Instant,
}

impl MachineClock {
    /// A clock whose wall begins now.
    pub fn start() -> Self {
        Self { started: Instant::now() }
    }
}

impl GateClock for MachineClock {
    fn wall(&self) -> Duration {
        self.started.elapsed()
    }

    fn ran(&self) -> Duration {
        thread_time().unwrap_or_else(|| self.wall())
    }
}

/// For how long the calling thread has run, where the system can tell.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple", target_os = "freebsd"))]
pub fn thread_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?);
    Some(Duration::new(seconds, nanos))
}

/// For how long the calling thread has run, where the system can tell.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple", target_os = "freebsd")))]
pub fn thread_time() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_thread_that_waits_does_not_run() {
        let clock = MachineClock::start();
        let (wall, ran) = (clock.wall(), clock.ran());
        let (sender, receiver) = channel();
        let other = std::thread::spawn(move || {
            // It runs until it has run for this long, however long that takes.
            let clock = MachineClock::start();
            let began = clock.ran();
            while clock.ran().saturating_sub(began) < Duration::from_millis(200) {}
            sender.send(()).unwrap();
        });
        receiver.recv().unwrap();
        other.join().unwrap();
        let (wall, ran) = (clock.wall().saturating_sub(wall), clock.ran().saturating_sub(ran));
        assert!(wall >= Duration::from_millis(200), "{wall:?}");
        if thread_time().is_some() {
            assert!(ran < wall, "this thread ran for {ran:?} of {wall:?}");
        }
    }
}
