//! Generates evaluation ids.

use super::EvaluationId;

impl EvaluationId {
    /// Digits of a generated id in ASCII order, so that ids sort like the numbers they encode.
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const HALF: usize = 8;

    /// Creates an id: eight digits of the milliseconds since 1970 and eight of a random number, both in base 62.
    ///
    /// Eight digits hold milliseconds for 6900 years, or 47 bits of the random number.
    pub fn made(millis: u64, random: u64) -> Self {
        let mut text = [b'0'; 2 * Self::HALF];
        let (time, chance_digits) = text.split_at_mut(Self::HALF);
        for (half, mut number) in [(time, millis), (chance_digits, random)] {
            for digit in half.iter_mut().rev() {
                let value = usize::try_from(number % 62).unwrap_or_default();
                *digit = Self::DIGITS.get(value).copied().unwrap_or(b'0');
                number /= 62;
            }
        }
        Self(text.map(char::from).iter().collect::<String>().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::IdProblem;

    #[test]
    fn generated_evaluation_ids_sort_by_time() {
        let made = |millis, random| EvaluationId::made(millis, random).to_string();
        assert_eq!(made(0, 0), "0000000000000000");
        assert_eq!(made(1, 61), "000000010000000z");
        assert_eq!(made(62, 62 * 62), "0000001000000100");
        // The digits by hand: 31 is V, 36 is a, 4 is 4, 26 is Q, 60 is y, 40 is e, 48 is m.
        let millis = [31, 36, 4, 26, 60, 40, 48].iter().fold(0_u64, |sum, digit| sum * 62 + digit);
        assert_eq!(made(millis, u64::MAX).get(..8), Some("0Va4Qyem"));
        let mut ids: Vec<String> = (0..10_000).map(|step| made(step * 977_777, u64::MAX - step)).collect();
        assert!(ids.is_sorted() && ids.iter().all(|id| id.parse::<EvaluationId>().is_ok()));
        ids.dedup();
        assert_eq!(ids.len(), 10_000);
    }

    #[test]
    fn evaluation_ids_of_clients_have_a_limit() {
        for id in ["a", "A-_9", &"x".repeat(64)] {
            assert!(id.parse::<EvaluationId>().is_ok(), "{id}");
        }
        for (id, problem) in [
            ("", IdProblem::Empty),
            ("a b", IdProblem::Character(' ')),
            ("é", IdProblem::Character('é')),
            (&"x".repeat(65), IdProblem::TooLong),
        ] {
            assert_eq!(id.parse::<EvaluationId>().unwrap_err().problem(), problem, "{id}");
        }
    }
}
