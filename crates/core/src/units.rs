//! Quantities of evidence, parsed once at the door: private field, one way in, a typed reason when it is shut.
//!
//! | type | is | allowed |
//! |---|---|---|
//! | [`Unit`] | a signal or a confidence | a finite number from 0 to 1 |
//! | [`Micros`] | the latency of one evaluation | 0 to 60 000 ms, kept as whole microseconds |
//! | [`Whole`] | a count, bytes, milliseconds | a whole number from 0 to 2^63 − 1 |
//! | [`NanoUsd`] | a cost | a decimal that is not negative, kept as whole nano-dollars |

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::json::{Found, number_within};
use crate::limits;

/// A finite number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
pub struct Unit(f64);

/// Why a number is no [`Unit`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitError(f64);

impl Unit {
    /// One.
    pub const ONE: Self = Self(1.0);
    /// One half, the default threshold of the session metrics.
    pub const HALF: Self = Self(0.5);

    /// The number, if it is one of these.
    pub fn new(number: f64) -> Result<Self, UnitError> {
        if (0.0..=1.0).contains(&number) { Ok(Self(number)) } else { Err(UnitError(number)) }
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, expected a number from 0 to 1", self.0)
    }
}

impl std::error::Error for UnitError {}

impl<'de> Deserialize<'de> for Unit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number_within(deserializer, "a number from 0 to 1", |number| Self::new(number).ok())
    }
}

/// The latency of one evaluation in whole microseconds, from 0 to 60 000 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Micros(u32);

/// Why a latency was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MicrosError(f64);

impl Micros {
    /// The largest latency.
    pub const MAX: Self = Self(60_000_000);

    /// `floor(ms × 1000 + 0.5)` in `f64`: the contract fixes this arithmetic, so that every client agrees on the
    /// last microsecond.
    #[expect(clippy::float_arithmetic, reason = "the rounding rule is defined in f64")]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to 60 000 000 after the check"
    )]
    pub fn from_ms(ms: f64) -> Result<Self, MicrosError> {
        if (0.0..=limits::LATENCY_MS_MAX).contains(&ms) {
            Ok(Self((ms * 1000.0 + 0.5).floor() as u32))
        } else {
            Err(MicrosError(ms))
        }
    }

    /// The latency of so many microseconds, if it is not above the largest.
    pub const fn from_us(us: u32) -> Option<Self> {
        if us <= Self::MAX.0 { Some(Self(us)) } else { None }
    }

    /// Microseconds.
    pub const fn us(self) -> u32 {
        self.0
    }
}

impl fmt::Display for MicrosError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, expected milliseconds from 0 to {}", self.0, limits::LATENCY_MS_MAX)
    }
}

impl std::error::Error for MicrosError {}

/// Takes a number of milliseconds.
impl<'de> Deserialize<'de> for Micros {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number_within(deserializer, "milliseconds from 0 to 60000", |ms| Self::from_ms(ms).ok())
    }
}

/// A whole number that is not negative: a count, bytes or milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Whole(u64);

/// Why a number is no [`Whole`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WholeError {
    /// The JSON value is no number.
    NotNumber(Found),
    /// The number is below 0.
    Negative(Found),
    /// The number has a fraction.
    NotWhole(Found),
    /// The number is above 2^63 − 1.
    TooLarge(Found),
}

impl Whole {
    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Reads the JSON text of a number. `61000.0` and `6.1e4` are whole numbers too: JSON does not tell them apart.
impl FromStr for Whole {
    type Err = WholeError;

    fn from_str(text: &str) -> Result<Self, WholeError> {
        let found = || Found::new(text);
        if !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            return Err(WholeError::NotNumber(found()));
        }
        if let Ok(number) = text.parse::<u64>() {
            return if number <= limits::WHOLE_MAX {
                Ok(Self(number))
            } else {
                Err(WholeError::TooLarge(found()))
            };
        }
        let number: f64 = text.parse().map_err(|_| WholeError::NotNumber(found()))?;
        if number < 0.0 {
            Err(WholeError::Negative(found()))
        } else if number >= TWO_TO_63 {
            Err(WholeError::TooLarge(found()))
        } else if number.fract() > 0.0 {
            Err(WholeError::NotWhole(found()))
        } else {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole and from 0 to 2^63"
            )]
            Ok(Self(number as u64))
        }
    }
}

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

impl fmt::Display for WholeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNumber(found) => write!(f, "{found} is not a number"),
            Self::Negative(found) => write!(f, "{found} is negative"),
            Self::NotWhole(found) => write!(f, "{found} is not a whole number"),
            Self::TooLarge(found) => write!(f, "{found} is above {}", limits::WHOLE_MAX),
        }
    }
}

impl std::error::Error for WholeError {}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        raw.get().parse().map_err(|error: WholeError| {
            serde::de::Error::custom(format_args!(
                "{error}, expected a whole number from 0 to {}",
                limits::WHOLE_MAX
            ))
        })
    }
}

/// A cost in whole nano-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NanoUsd(u128);

/// Why a cost was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NanoUsdError {
    /// The text is no decimal number.
    NotDecimal(Found),
    /// The cost is below 0.
    Negative(Found),
    /// The cost is above 10^15 US dollars.
    TooLarge(Found),
}

impl NanoUsd {
    const PER_USD_DIGITS: i64 = 9;

    /// The cost of so many nano-dollars.
    pub const fn from_nano(nano: u128) -> Self {
        Self(nano)
    }

    /// Nano-dollars.
    pub const fn nano(self) -> u128 {
        self.0
    }
}

/// The exact decimal as written, rounded half up to whole nano-dollars.
///
/// Parsing through `f64` would turn a cost of `0.0000000005` into one that rounds the other way.
impl FromStr for NanoUsd {
    type Err = NanoUsdError;

    fn from_str(text: &str) -> Result<Self, NanoUsdError> {
        let not_decimal = || NanoUsdError::NotDecimal(Found::new(text));
        let too_large = || NanoUsdError::TooLarge(Found::new(text));
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
        if whole.len() + part.len() == 0 || !all_digits(whole) || !all_digits(part) {
            return Err(not_decimal());
        }
        let exponent_digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if exponent_digits.is_empty() || !all_digits(exponent_digits) {
            return Err(not_decimal());
        }
        let digits = || whole.bytes().chain(part.bytes()).map(|b| u128::from(b - b'0'));
        if digits().all(|digit| digit == 0) {
            return Ok(Self(0));
        }
        if negative {
            return Err(NanoUsdError::Negative(Found::new(text)));
        }
        // An exponent beyond i64 leaves nothing but "far too large" or "far too small".
        let exponent: i64 =
            exponent.parse().unwrap_or(if exponent.starts_with('-') { i64::MIN } else { i64::MAX });
        let length = |digits: &str| i64::try_from(digits.len()).unwrap_or(i64::MAX);
        // How many of the digits stand before the point once the number counts nano-dollars.
        let kept = length(whole).saturating_add(exponent).saturating_add(Self::PER_USD_DIGITS);
        let Ok(kept) = usize::try_from(kept) else { return Ok(Self(0)) };
        let max = limits::COST_USD_MAX * 1_000_000_000;
        let mut nano: u128 = 0;
        for digit in digits().chain(std::iter::repeat(0)).take(kept) {
            nano = nano * 10 + digit;
            if nano > max {
                return Err(too_large());
            }
        }
        nano += u128::from(digits().nth(kept).is_some_and(|digit| digit >= 5));
        if nano > max { Err(too_large()) } else { Ok(Self(nano)) }
    }
}

impl fmt::Display for NanoUsdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDecimal(found) => write!(f, "{found}, expected a decimal number of US dollars"),
            Self::Negative(found) => write!(f, "{found}, expected a cost of 0 or more"),
            Self::TooLarge(found) => write!(f, "{found}, expected a cost of at most 10^15 US dollars"),
        }
    }
}

impl std::error::Error for NanoUsdError {}

/// Takes a JSON number of US dollars, exactly as it is written.
impl<'de> Deserialize<'de> for NanoUsd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        raw.get().parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_finite_and_from_0_to_1() {
        for number in [0.0, -0.0, f64::MIN_POSITIVE, 0.5, 1.0] {
            assert!(Unit::new(number).is_ok(), "{number}");
        }
        for number in [-f64::MIN_POSITIVE, 1.0 + f64::EPSILON, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Unit::new(number).is_err(), "{number}");
        }
        assert_eq!(Unit::new(1.5).unwrap_err().to_string(), "1.5, expected a number from 0 to 1");
    }

    #[test]
    fn latencies_round_half_up_to_microseconds() {
        for (ms, us) in [
            (0.0, 0),
            (0.000_49, 0),
            (0.0005, 1),
            (12.5, 12_500),
            (99.999_5, 100_000),
            (60_000.0, 60_000_000),
        ] {
            assert_eq!(Micros::from_ms(ms).unwrap().us(), us, "{ms}");
        }
        for ms in [-0.001, 60_000.001, f64::NAN, f64::INFINITY] {
            assert!(Micros::from_ms(ms).is_err(), "{ms}");
        }
        assert_eq!(Micros::from_us(60_000_000), Some(Micros::MAX));
        assert_eq!(Micros::from_us(60_000_001), None);
    }

    #[test]
    fn whole_numbers_may_be_written_in_any_way_json_has() {
        for (text, number) in [
            ("0", 0),
            ("-0", 0),
            ("-0.0", 0),
            ("61000", 61_000),
            ("61000.0", 61_000),
            ("6.1e4", 61_000),
            ("9223372036854775807", limits::WHOLE_MAX),
        ] {
            assert_eq!(text.parse::<Whole>().map(Whole::get), Ok(number), "{text}");
        }
        for (text, problem) in [
            ("-5", "-5 is negative"),
            ("-1e-400", ""),
            ("0.5", "0.5 is not a whole number"),
            ("9223372036854775808", "9223372036854775808 is above 9223372036854775807"),
            ("1e400", "1e400 is above 9223372036854775807"),
            ("\"fast\"", "\"fast\" is not a number"),
            ("true", "true is not a number"),
            ("[]", "[] is not a number"),
            ("1-2", "1-2 is not a number"),
        ] {
            let found = text.parse::<Whole>().err().map(|error| error.to_string()).unwrap_or_default();
            assert_eq!(found, problem, "{text}");
        }
    }

    #[test]
    fn costs_are_the_decimal_as_written() {
        for (text, nano) in [
            ("0", 0),
            ("-0.0", 0),
            ("0.34", 340_000_000),
            ("1", 1_000_000_000),
            (".5", 500_000_000),
            ("5.", 5_000_000_000),
            ("0.0000000005", 1),
            ("0.00000000049999999999999999999999999999", 0),
            ("5e-10", 1),
            ("4.9e-10", 0),
            ("1.5E+3", 1_500_000_000_000),
            ("0.0421234567894", 42_123_457),
            ("1e-99999999999999999999", 0),
            ("0e99999999999999999999", 0),
            ("1e15", 1_000_000_000_000_000_000_000_000),
            ("0000000000000000000000000000000000000000000000000001", 1_000_000_000),
        ] {
            assert_eq!(text.parse::<NanoUsd>().map(NanoUsd::nano), Ok(nano), "{text}");
        }
    }

    #[test]
    fn a_cost_that_cannot_be_is_refused_with_its_reason() {
        for text in ["", ".", "e5", "1e", "1e+", "--1", "1.2.3", "0x10", "NaN", "inf", "\"1\"", "null", "1 "]
        {
            assert!(matches!(text.parse::<NanoUsd>(), Err(NanoUsdError::NotDecimal(_))), "{text}");
        }
        assert!(matches!("-0.01".parse::<NanoUsd>(), Err(NanoUsdError::Negative(_))));
        for text in ["1000000000000000.000000001", "1e16", "1e99999999999999999999", "1e400"] {
            assert!(matches!(text.parse::<NanoUsd>(), Err(NanoUsdError::TooLarge(_))), "{text}");
        }
    }
}
