//! Decimal numbers with a fixed number of places, stored as integers.
//!
//! `Decimal<1>` holds tenths, `Decimal<6>` holds millionths. A score with one decimal *is* a number of tenths, so no
//! float is needed to compare it with a threshold or to weight it. The only float appears at the very end, when JSON
//! is written: the one nearest to the decimal.

mod written;

use std::fmt;

use serde::{Serialize, Serializer};

pub use written::Written;
pub(crate) use written::{Cut, Rest};

/// A number with exactly `PLACES` decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal<const PLACES: u32>(i128);

impl<const PLACES: u32> Decimal<PLACES> {
    /// The number of units in one whole: 10^PLACES.
    pub const ONE: i128 = 10_i128.pow(PLACES);

    /// Creates a decimal of this many units: `Decimal::<1>::from_units(78)` is 7.8.
    pub const fn from_units(units: i128) -> Self {
        Self(units)
    }

    /// Returns the number of units: 78 for 7.8.
    pub const fn units(self) -> i128 {
        self.0
    }

    /// Returns the decimal nearest to a float, ties to even, decided on the exact binary value. This is what a
    /// correctly rounded `"%.4f"` prints for four places, but many times faster.
    ///
    /// A float is `mantissa · 2^exponent`, and `10^PLACES` is `5^PLACES · 2^PLACES`, so the units are
    /// `mantissa · 5^PLACES · 2^(exponent + PLACES)`: one multiplication and one shift of integers.
    ///
    /// # Panics
    ///
    /// Panics if the number is 2^53 or more, or not finite. No score comes near that.
    pub fn nearest(number: f64) -> Self {
        const MANTISSA_BITS: u32 = 52;
        const SMALLEST_EXPONENT: i32 = -1074;
        let bits = number.to_bits();
        let (exponent_field, fraction) = ((bits >> MANTISSA_BITS) & 0x7ff, bits & ((1 << MANTISSA_BITS) - 1));
        let exponent = i32::try_from(exponent_field.max(1)).unwrap_or(i32::MAX) + SMALLEST_EXPONENT - 1;
        let mantissa = if exponent_field == 0 { fraction } else { fraction | (1 << MANTISSA_BITS) };
        assert!(exponent <= 0, "{number} is too large to be rounded to decimals");
        let scaled = u128::from(mantissa) * 5_u128.pow(PLACES);
        let shift = exponent + PLACES.cast_signed();
        let units = if shift >= 0 {
            scaled << shift
        } else {
            let shift = shift.unsigned_abs();
            let whole = scaled.checked_shr(shift).unwrap_or(0);
            let rest = scaled - whole.checked_shl(shift).unwrap_or(0);
            let half = 1_u128.checked_shl(shift - 1).unwrap_or(u128::MAX);
            whole + u128::from(rest > half || (rest == half && whole % 2 == 1))
        };
        let signed = units.cast_signed();
        Self(if number.is_sign_negative() { -signed } else { signed })
    }

    /// Returns the nearest `f64`, only for JSON.
    #[expect(
        clippy::float_arithmetic,
        clippy::cast_precision_loss,
        reason = "the only conversion to JSON numbers"
    )]
    pub fn to_f64(self) -> f64 {
        const EXACT: u128 = 1 << f64::MANTISSA_DIGITS;
        if self.0.unsigned_abs() <= EXACT {
            // Both are exact, so this rounds once.
            self.0 as f64 / Self::ONE as f64
        } else {
            // Parsing text rounds once, at any length.
            self.to_string().parse().unwrap_or(f64::NAN)
        }
    }
}

impl<const PLACES: u32> fmt::Display for Decimal<PLACES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let one = Self::ONE.unsigned_abs();
        let (whole, part) = (self.0.unsigned_abs() / one, self.0.unsigned_abs() % one);
        if PLACES == 0 {
            write!(f, "{sign}{whole}")
        } else {
            write!(f, "{sign}{whole}.{part:0width$}", width = PLACES as usize)
        }
    }
}

impl<const PLACES: u32> Serialize for Decimal<PLACES> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

/// Returns `numerator / denominator` as a decimal, rounded half up on the exact fraction.
///
/// The whole part and the rest are scaled separately, so that a large numerator does not overflow.
///
/// # Panics
///
/// Panics if the denominator is 0.
pub fn ratio<const PLACES: u32>(numerator: u128, denominator: u128) -> Decimal<PLACES> {
    assert!(denominator > 0, "a ratio needs a denominator");
    let one = Decimal::<PLACES>::ONE.unsigned_abs();
    let units = numerator / denominator * one + round_half_up(numerator % denominator * one, denominator);
    Decimal(units.cast_signed())
}

/// Rounds `numerator / denominator` to the nearest whole number, half up.
///
/// For non-negative numbers this is also "half away from zero".
pub(crate) fn round_half_up(numerator: u128, denominator: u128) -> u128 {
    assert!(denominator > 0, "a ratio needs a denominator");
    let (quotient, remainder) = (numerator / denominator, numerator % denominator);
    quotient + u128::from(remainder >= denominator - remainder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_exactly_the_given_places() {
        assert_eq!(Decimal::<1>::from_units(78).to_string(), "7.8");
        assert_eq!(Decimal::<2>::from_units(5).to_string(), "0.05");
        assert_eq!(Decimal::<2>::from_units(-134).to_string(), "-1.34");
        assert_eq!(Decimal::<0>::from_units(12).to_string(), "12");
    }

    #[test]
    fn json_reads_back_as_the_same_decimal() {
        for units in [0, 1, 999_999, 1_000_000, 123_456_789, -1, -1_000_000_000_000] {
            let json = serde_json::to_string(&Decimal::<6>::from_units(units)).unwrap();
            let back: f64 = json.parse().unwrap();
            assert_eq!(format!("{back:.6}"), Decimal::<6>::from_units(units).to_string());
        }
    }

    #[test]
    fn json_is_the_nearest_float_on_both_sides_of_2_to_53() {
        // 2^53 and its neighbors, and two that round to another float when they are rounded twice.
        for units in
            [(1 << 53) - 1, 1 << 53, (1 << 53) + 1, 31_929_780_883_636_467_545, 74_086_553_222_808_597]
        {
            for decimal in [Decimal::<1>::from_units(units), Decimal::<1>::from_units(-units)] {
                let nearest: f64 = decimal.to_string().parse().unwrap();
                assert_eq!(decimal.to_f64().to_bits(), nearest.to_bits(), "{decimal}");
            }
        }
        let cost = Decimal::<2>::from_units(74_086_553_222_808_597);
        assert_eq!(cost.to_f64().to_bits(), 740_865_532_228_085.97_f64.to_bits());
    }

    #[test]
    fn floats_round_to_even_on_their_exact_value() {
        for (number, units) in [
            (0.0, 0),
            (0.03125, 312),
            (0.96875, 9688),
            (0.00005, 1), // stored a little above the tie
            (0.00015, 1), // stored a little below it
            (0.1 + 0.2, 3000),
            (1.0, 10_000),
            (1.48, 14_800),
            (310.0, 3_100_000),
            (f64::MIN_POSITIVE, 0),
            (5e-324, 0),
            (-0.03125, -312),
            (-1.5, -15_000),
        ] {
            assert_eq!(Decimal::<4>::nearest(number).units(), units, "{number}");
        }
        assert_eq!(Decimal::<6>::nearest(0.1).units(), 100_000);
    }

    #[test]
    fn halves_round_up() {
        let cases = [
            ((0, 3), 0),
            ((1, 3), 0),
            ((1, 2), 1),
            ((2, 3), 1),
            ((5, 2), 3),
            ((7, 7), 1),
            ((u128::MAX, 1), u128::MAX),
        ];
        for ((numerator, denominator), expected) in cases {
            assert_eq!(round_half_up(numerator, denominator), expected, "{numerator}/{denominator}");
        }
        assert_eq!(ratio::<6>(2, 3).to_string(), "0.666667");
        assert_eq!(ratio::<2>(u128::MAX, 1_000_000_000).to_string(), "340282366920938463463374607431.77");
    }
}
