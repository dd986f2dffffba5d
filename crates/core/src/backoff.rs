//! The wait before the next attempt, for everything that retries.
//!
//! `wait = min(60 s, 1 s · 2^failures) · (0.5 … 1)`, and never less than the other side asks for. Because of the jitter, a
//! hundred proxies that lost the server at the same time do not come back at the same time.

use core::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(1);

/// The longest wait that a server can ask for. A nonsensical answer must not silence a client for a year.
const ASKED_LONGEST: Duration = Duration::from_hours(1);

/// The number of consecutive failures.
#[derive(Debug, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Returns the wait after one more failure. `asked` is the wait that the other side asks for. `random` is the
    /// jitter, in steps of 1/1024: with 1024 the wait is as long as it can be.
    pub fn next(&mut self, asked: Option<Duration>, random: u32) -> Duration {
        let whole = FIRST.saturating_mul(1 << self.failures.min(6)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        let half = whole / 2;
        // A random part of the other half, in steps of 1/1024.
        let wait = half + half.saturating_mul(random % 1025) / 1024;
        wait.max(asked.unwrap_or_default().min(ASKED_LONGEST))
    }

    /// Starts again after a success.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_minute_and_reset_starts_again() {
        let mut backoff = Backoff::default();
        let longest: Vec<u64> = (0..9).map(|_| backoff.next(None, 1024).as_secs()).collect();
        assert_eq!(longest, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        backoff.reset();
        assert_eq!(backoff.next(None, 0), Duration::from_millis(500));
        for random in [0, 1, 512, 1024, 1025, u32::MAX] {
            let wait = Backoff::default().next(None, random);
            assert!(wait >= FIRST / 2 && wait <= FIRST, "{wait:?}");
        }
    }

    #[test]
    fn a_server_can_ask_for_a_longer_wait() {
        let asked = |seconds| Backoff::default().next(Some(Duration::from_secs(seconds)), 0).as_secs();
        assert_eq!((asked(7), asked(u64::MAX)), (7, 3600));
        assert_eq!(Backoff::default().next(Some(Duration::ZERO), 1024), FIRST);
    }
}
