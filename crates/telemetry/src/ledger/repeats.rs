//! Deduplication: a set of fingerprints with a maximum size.

use std::collections::HashSet;

use crate::facts::Fingerprint;
use crate::limits::REPEATS_MAX;

/// The fingerprints of a session's records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats {
    /// The set hashes with a secret key. Fingerprints are not keyed, so the author of a log could choose colliding
    /// ones.
    seen: HashSet<Fingerprint>,
    full: bool,
}

impl Repeats {
    /// Whether the fingerprint is new. A record without a fingerprint is always new. Once the set is full, every record
    /// is.
    pub(crate) fn is_first(&mut self, fingerprint: Option<Fingerprint>) -> bool {
        let Some(fingerprint) = fingerprint else { return true };
        if self.full {
            return true;
        }
        if !self.seen.insert(fingerprint) {
            return false;
        }
        if self.seen.len() > REPEATS_MAX {
            self.full = true;
            self.seen = HashSet::default();
        }
        true
    }

    /// Whether the set was full, so that later records are not deduplicated.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_found_up_to_the_limit() {
        let mut repeats = Repeats::default();
        let fingerprint = |number: usize| Fingerprint::new(number as u64 + 1);
        for number in 0..REPEATS_MAX {
            assert!(repeats.is_first(fingerprint(number)));
        }
        assert!(!repeats.is_full());
        assert!(!repeats.is_first(fingerprint(0)));
        assert!(!repeats.is_first(fingerprint(REPEATS_MAX - 1)));
        assert!(repeats.is_first(None) && repeats.is_first(None));
        assert!(repeats.is_first(fingerprint(REPEATS_MAX)));
        assert!(repeats.is_full());
        assert!(repeats.is_first(fingerprint(0)), "no longer deduplicated");
    }
}
