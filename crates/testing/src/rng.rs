//! Random numbers that depend only on a seed, so that a failure can be repeated.

/// A `SplitMix64` generator.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Creates the generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns 64 random bits.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.number() % limit as u64) as usize
    }

    /// Returns true in one of `cases` cases.
    pub fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }

    /// Makes something in one of `cases` cases.
    pub fn sometimes<T>(&mut self, cases: usize, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.one_in(cases) { Some(make(self)) } else { None }
    }

    /// Returns one element of a list, which must not be empty.
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// Changes the order of a list.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for index in (1..list.len()).rev() {
            list.swap(index, self.below(index + 1));
        }
    }

    /// Splits a list into consecutive parts of random lengths.
    pub fn parts<T: Clone>(&mut self, list: &[T]) -> Vec<Vec<T>> {
        let mut parts: Vec<Vec<T>> = Vec::new();
        for item in list {
            match parts.last_mut() {
                Some(part) if !self.one_in(5) => part.push(item.clone()),
                _ => parts.push(vec![item.clone()]),
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_reference_implementation() {
        // The first outputs of SplitMix64 for the seed 1234567, from its reference implementation.
        let mut rng = Rng::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(expected.map(|_| rng.number()), expected);
    }

    #[test]
    fn choices_stay_within_their_limits() {
        let mut rng = Rng::new(1);
        let numbers: Vec<usize> = (0..1000).map(|_| rng.below(3)).collect();
        assert!((0..3).all(|number| numbers.contains(&number)) && numbers.iter().all(|number| *number < 3));
        assert!((0..1000).all(|_| [4, 5].contains(&rng.pick(&[4, 5]))));
        assert!((0..100).all(|_| rng.one_in(1)));
        assert_eq!(rng.sometimes(1, |rng| rng.below(1)), Some(0));
    }

    #[test]
    fn lists_keep_their_elements() {
        let (mut rng, list) = (Rng::new(1), (0..100).collect::<Vec<_>>());
        let mut shuffled = list.clone();
        rng.shuffle(&mut shuffled);
        assert_ne!(shuffled, list);
        shuffled.sort_unstable();
        assert_eq!(shuffled, list);
        let parts = rng.parts(&list);
        assert!(parts.len() > 1 && parts.iter().all(|part| !part.is_empty()));
        assert_eq!(parts.concat(), list);
    }
}
