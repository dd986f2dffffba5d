//! Generates ids that sort by time: a prefix and a ULID, which is 48 bits of the milliseconds since 1970 and 80 random
//! bits.

use super::{EvalRunId, RunId, ScheduleId};

/// Crockford's digits, which a person can read aloud.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const DIGITS_COUNT: u32 = 26;

fn ulid(millis: u64, random: u128) -> String {
    let number = u128::from(millis) << 80 | random & (u128::MAX >> 48);
    let digit = |index: u32| {
        let digit = number >> (5 * index) & 31;
        DIGITS.get(usize::try_from(digit).unwrap_or_default()).copied().unwrap_or(b'0')
    };
    (0..DIGITS_COUNT).rev().map(|index| char::from(digit(index))).collect()
}

impl RunId {
    /// Creates an id: `run_` and a ULID.
    pub fn made(millis: u64, random: u128) -> Self {
        Self(format!("run_{}", ulid(millis, random)).into())
    }
}

impl EvalRunId {
    /// Creates an id: `eval_` and a ULID.
    pub fn made(millis: u64, random: u128) -> Self {
        Self(format!("eval_{}", ulid(millis, random)).into())
    }
}

impl ScheduleId {
    /// Creates an id: `sched_` and a ULID.
    pub fn made(millis: u64, random: u128) -> Self {
        Self(format!("sched_{}", ulid(millis, random)).into())
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
        assert_eq!(EvalRunId::made(0, 0).as_str(), "eval_00000000000000000000000000");
        assert_eq!(ScheduleId::made(0, 0).as_str(), "sched_00000000000000000000000000");
    }
}
