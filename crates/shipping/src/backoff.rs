//! How long to wait before the next attempt.
//!
//! `wait = min(60 s, 1 s · 2^failures) · (0.5 … 1)`, and never less than the server asked for. The jitter keeps a hundred
//! proxies that lost their server together from coming back together.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(1);

/// The longest wait that a server may ask for: an answer of nonsense must not silence a client for a year.
const ASKED_LONGEST: Duration = Duration::from_hours(1);

/// Failures in a row.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The wait after one more failure. `chance` is any number at random.
    pub(crate) fn next(&mut self, asked: Option<Duration>, chance: u32) -> Duration {
        let whole = FIRST.saturating_mul(1 << self.failures.min(6)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        let half = whole / 2;
        // A share of the half in 1024ths.
        let wait = half + half.saturating_mul(chance % 1025) / 1024;
        wait.max(asked.unwrap_or_default().min(ASKED_LONGEST))
    }

    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_to_a_minute_and_start_anew() {
        let mut backoff = Backoff::default();
        let longest: Vec<u64> = (0..9).map(|_| backoff.next(None, 1024).as_secs()).collect();
        assert_eq!(longest, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        backoff.reset();
        assert_eq!(backoff.next(None, 0), Duration::from_millis(500));
        for chance in [0, 1, 512, 1024, 1025, u32::MAX] {
            let wait = Backoff::default().next(None, chance);
            assert!(wait >= FIRST / 2 && wait <= FIRST, "{wait:?}");
        }
    }

    #[test]
    fn a_server_may_ask_for_more() {
        let asked = |seconds| Backoff::default().next(Some(Duration::from_secs(seconds)), 0).as_secs();
        assert_eq!((asked(7), asked(u64::MAX)), (7, 3600));
        assert_eq!(Backoff::default().next(Some(Duration::ZERO), 1024), FIRST);
    }
}
