//! Random choices from a seed.

/// Splitmix64.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `sides`.
    pub(crate) fn below(&mut self, sides: usize) -> usize {
        (self.number() % sides as u64) as usize
    }

    /// Returns true in one of `cases` cases.
    pub(crate) fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// Makes something in one of `cases` cases.
    pub(crate) fn sometimes<T>(&mut self, cases: usize, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.one_in(cases) { Some(make(self)) } else { None }
    }
}
