//! Random bytes from the system, fetched many at a time.

use crate::evidence::Salt;

const SALTS_AT_ONCE: usize = 256;

/// A supply of salts.
#[derive(Default)]
pub(super) struct Salts(Vec<Salt>);

impl Salts {
    /// Returns sixteen bytes that it has never returned before.
    pub(super) fn draw(&mut self) -> Result<Salt, getrandom::Error> {
        if self.0.is_empty() {
            let mut bytes = vec![0; SALTS_AT_ONCE * size_of::<Salt>()];
            getrandom::fill(&mut bytes)?;
            self.0.extend(bytes.as_chunks().0);
        }
        // The supply was just filled, so the default is never taken.
        Ok(self.0.pop().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_salt_is_returned_twice() {
        let mut salts = Salts::default();
        let given: HashSet<Salt> = (0..3 * SALTS_AT_ONCE).map(|_| salts.draw().unwrap()).collect();
        assert_eq!(given.len(), 3 * SALTS_AT_ONCE);
    }
}
