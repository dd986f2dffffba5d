//! Exact fractions in 256 bits.
//!
//! **Why they cannot overflow.** A category has fewer than 2^32 events of at most 10^12 millionths each. An overall
//! score puts three such means, weighted by up to 40, over a common denominator and divides by 100: a numerator below
//! 120·10^12·2^96 over a denominator below 100·2^96. The difference of two of them is a numerator below
//! 2·120·10^12·100·2^192 < 2^247, which fits in the 255 bits of an `I256`.

use ethnum::I256;

use crate::decimal::Decimal;

/// A fraction of millionths with a positive denominator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    numerator: I256,
    denominator: I256,
}

impl Fraction {
    pub(super) const ZERO: Self = Self { numerator: I256::ZERO, denominator: I256::ONE };

    /// Creates `numerator / denominator`. The denominator must not be 0.
    pub(super) fn new(numerator: I256, denominator: u32) -> Self {
        assert!(denominator > 0, "a fraction needs a denominator");
        Self { numerator, denominator: I256::from(denominator) }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            numerator: self.numerator * other.denominator + other.numerator * self.denominator,
            denominator: self.denominator * other.denominator,
        }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.plus(Self { numerator: -other.numerator, ..other })
    }

    pub(super) fn times(self, factor: i32) -> Self {
        Self { numerator: self.numerator * I256::from(factor), ..self }
    }

    pub(super) fn over(self, divisor: u32) -> Self {
        Self { denominator: self.denominator * I256::from(divisor), ..self }
    }

    /// Rounds to the nearest whole number of millionths, half away from zero.
    pub(super) fn round(self) -> Decimal<6> {
        let magnitude = self.numerator.abs();
        let (quotient, remainder) = (magnitude / self.denominator, magnitude % self.denominator);
        let rounded = if remainder >= self.denominator - remainder { quotient + I256::ONE } else { quotient };
        let units = rounded.as_i128();
        Decimal::from_units(if self.numerator < I256::ZERO { -units } else { units })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_away_from_zero() {
        for ((numerator, denominator), units) in [
            ((0, 7), 0),
            ((1, 3), 0),
            ((1, 2), 1),
            ((-1, 2), -1),
            ((-1, 3), 0),
            ((5, 2), 3),
            ((-5, 2), -3),
            ((-7, 7), -1),
        ] {
            let fraction = Fraction::new(I256::from(numerator), denominator);
            assert_eq!(fraction.round().units(), units, "{numerator}/{denominator}");
        }
    }

    #[test]
    fn sums_and_differences_are_exact() {
        let third = Fraction::new(I256::from(1), 3);
        let sixth = Fraction::new(I256::from(1), 6);
        assert_eq!(third.plus(sixth).round().units(), 1, "exactly one half");
        assert_eq!(sixth.minus(third).plus(sixth).round().units(), 0, "exactly zero");
        assert_eq!(Fraction::new(I256::from(5), 1).times(30).over(100).round().units(), 2, "1.5");
    }
}
