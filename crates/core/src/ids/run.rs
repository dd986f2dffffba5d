//! Generates run ids.

use super::RunId;

impl RunId {
    /// Crockford's digits, which a person can read aloud.
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    const DIGITS_COUNT: u32 = 26;

    /// Creates an id: `run_` and a ULID, which is 48 bits of the milliseconds since 1970 and 80 random bits.
    pub fn made(millis: u64, random: u128) -> Self {
        let number = u128::from(millis) << 80 | random & (u128::MAX >> 48);
        let digit = |index: u32| {
            let digit = number >> (5 * index) & 31;
            Self::DIGITS.get(usize::try_from(digit).unwrap_or_default()).copied().unwrap_or(b'0')
        };
        let ulid: String = (0..Self::DIGITS_COUNT).rev().map(|index| char::from(digit(index))).collect();
        Self(format!("run_{ulid}").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_run_ids_are_ulids() {
        assert_eq!(RunId::made(0, 0).as_str(), "run_00000000000000000000000000");
        // The example of the ULID specification, by another implementation: 1469918176385 ms.
        assert_eq!(RunId::made(1_469_918_176_385, 0).as_str().get(4..14), Some("01ARYZ6S41"));
        assert_eq!(RunId::made(0, u128::MAX).as_str(), "run_0000000000ZZZZZZZZZZZZZZZZ");
        assert!(RunId::made(u64::MAX >> 16, u128::MAX).as_str().starts_with("run_7ZZZ"));
    }
}
