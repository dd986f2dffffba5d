//! Reproducible random numbers: the same seed gives the same data on every machine.

/// A `SplitMix64` generator. It has one word of state, and is good enough for ids and sizes.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates the generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns an independent generator, so that the draws of one session do not affect the others.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self(self.draw())
    }

    /// Returns 64 random bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns 128 random bits, for trace ids and UUIDs.
    pub fn wide(&mut self) -> u128 {
        (u128::from(self.draw()) << 64) | u128::from(self.draw())
    }

    /// Returns a whole number between two ends, both included. The bias of the remainder does not matter here.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        let width = most.saturating_sub(least).saturating_add(1);
        least + self.draw() % width
    }

    /// Returns true with a probability in thousandths.
    pub fn chance(&mut self, per_mille: u64) -> bool {
        self.draw() % 1000 < per_mille
    }

    /// Returns an index into a list of this length; 0 for an empty list.
    pub fn index(&mut self, length: usize) -> usize {
        let length = u64::try_from(length).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.draw() % length).unwrap_or(0)
    }

    /// Returns one element of a list.
    pub fn pick<T: Copy + Default>(&mut self, of: &[T]) -> T {
        of.get(self.index(of.len())).copied().unwrap_or_default()
    }

    /// Returns one element of a list with weights.
    pub fn weighted<T: Copy + Default>(&mut self, of: &[(u64, T)]) -> T {
        self.weighted_of(of).unwrap_or_default()
    }

    /// Returns one element of a list with weights, or `None` if the list is empty.
    pub fn weighted_of<T: Copy>(&mut self, of: &[(u64, T)]) -> Option<T> {
        let total: u64 = of.iter().map(|(weight, _)| weight).sum();
        let mut left = self.draw() % total.max(1);
        for &(weight, value) in of {
            if left < weight {
                return Some(value);
            }
            left -= weight;
        }
        None
    }

    /// Returns a random UUID as text.
    pub fn uuid(&mut self) -> String {
        let (high, low) = (self.draw(), self.draw());
        format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            low >> 52,
            low & 0xffff_ffff_ffff
        )
    }

    /// Returns random words, as in prompts, commands and outputs.
    pub fn words(&mut self, count: u64) -> String {
        let mut text = String::new();
        for _ in 0..count {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(self.pick(&WORDS));
        }
        text
    }

    /// Returns a random path of a source file.
    pub fn path(&mut self) -> String {
        format!("src/{}/{}_{}.rs", self.pick(&FOLDERS), self.pick(&FOLDERS), self.draw() % 100)
    }
}

const WORDS: [&str; 28] = [
    "the",
    "parser",
    "drops",
    "a",
    "trailing",
    "comma",
    "when",
    "its",
    "list",
    "is",
    "empty",
    "so",
    "keep",
    "last",
    "token",
    "and",
    "add",
    "regression",
    "test",
    "for",
    "--release",
    "\"quoted\"",
    "C:\\temp",
    "naïve",
    "→",
    "line\nbreak",
    "\tindent",
    "0x1f",
];

const FOLDERS: [&str; 8] = ["lexer", "parser", "store", "server", "report", "config", "session", "export"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_reference_implementation() {
        // The first outputs of SplitMix64 for the seed 1234567, from its reference implementation.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.draw(), 6_457_827_717_110_365_317);
        assert_eq!(random.draw(), 3_203_168_211_198_807_973);
        assert_eq!(random.draw(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn draws_stay_within_their_range() {
        let mut random = Random::new(1);
        let drawn: Vec<u64> = (0..1000).map(|_| random.between(3, 5)).collect();
        for expected in 3..=5 {
            assert!(drawn.contains(&expected), "{expected}");
        }
        assert!(drawn.iter().all(|drawn| (3..=5).contains(drawn)));
        assert!((0..1000).all(|_| random.weighted(&[(1, "a"), (0, "b")]) == "a"));
        assert_eq!(random.pick::<&str>(&[]), "");
        assert_eq!(random.uuid().len(), 36);
    }
}
