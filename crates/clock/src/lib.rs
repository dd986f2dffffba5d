//! The clocks of this machine, for every program that runs the gates.
//!
//! The budget of an evaluation counts the CPU time of its thread. So an output gets the same verdict on an idle and
//! on a busy machine. On systems without a thread clock, the wall clock counts.

use std::time::{Duration, Instant};

use renown_core::gates::GateClock;

/// The clocks of this machine.
#[derive(Clone, Copy, Debug)]
pub struct MachineClock {
    started: Instant,
}

impl MachineClock {
    /// Starts a clock whose wall time begins now.
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

/// Returns the CPU time of the calling thread, where the system has such a clock.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple", target_os = "freebsd"))]
pub fn thread_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?);
    Some(Duration::new(seconds, nanos))
}

/// Returns the CPU time of the calling thread, where the system has such a clock.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple", target_os = "freebsd")))]
pub fn thread_time() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn waiting_does_not_count_as_cpu_time() {
        let clock = MachineClock::start();
        let (wall, ran) = (clock.wall(), clock.ran());
        let (sender, receiver) = channel();
        let other = std::thread::spawn(move || {
            // Uses this much CPU time, however long that takes by the wall clock.
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
            assert!(ran < wall, "this thread used {ran:?} of CPU time in {wall:?}");
        }
    }
}
