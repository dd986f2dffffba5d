//! Random numbers for ids, which must be unique but not secret. Secrets come directly from the random source of the system.

use std::sync::atomic::{AtomicU64, Ordering};

/// A pseudorandom sequence: `splitmix64` over a counter, seeded by the system. A number costs no system call.
pub(crate) struct Sequence(AtomicU64);

impl Sequence {
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        getrandom::u64().map(|seed| Self(AtomicU64::new(seed)))
    }

    pub(crate) fn next(&self) -> u64 {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut z = self.0.fetch_add(GOLDEN, Ordering::Relaxed);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn numbers_do_not_repeat() {
        let sequence = Sequence::new().unwrap();
        let numbers: HashSet<u64> = (0..10_000).map(|_| sequence.next()).collect();
        assert_eq!(numbers.len(), 10_000);
    }
}
