//! A random number generator with a seed.
//!
//! Each record is generated from its own seed. So a list of records is cheap to generate, and shrinks by removing
//! records.

/// Splitmix64.
#[derive(Clone, Debug)]
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.number() % limit as u64) as usize
    }

    /// Returns true in one of this many cases.
    pub(crate) fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for index in (1..list.len()).rev() {
            list.swap(index, self.below(index + 1));
        }
    }

    /// Splits a list into consecutive parts of random lengths.
    pub(crate) fn parts<T: Clone>(&mut self, list: &[T]) -> Vec<Vec<T>> {
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
