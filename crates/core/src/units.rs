//! Typed quantities, parsed once where they enter the system. The field is private and the only constructor checks it.
//!
//! | type | is | allowed |
//! |---|---|---|
//! | [`Unit`] | a signal or a confidence | a finite number from 0 to 1 |
//! | [`Micros`] | the latency of one evaluation | 0 to 60 000 ms, stored as whole microseconds |
//! | [`Whole`] | a count, bytes, milliseconds | a whole number from 0 to 2^63 − 1, in any notation of JSON |
//! | [`NanoUsd`] | a cost | a decimal from 0 to 10^15, stored as whole nano-dollars |

use core::time::Duration;
use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::decimal::{Cut, Decimal, Rest, Written};
use crate::json::{Found, number};
use crate::limits;

/// A finite number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
pub struct Unit(f64);

/// The error for a number that is not a [`Unit`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitError(f64);

impl Unit {
    /// Zero.
    pub const ZERO: Self = Self(0.0);
    /// One.
    pub const ONE: Self = Self(1.0);
    /// One half.
    pub const HALF: Self = Self(0.5);

    const EXPECTED: &str = "a number from 0 to 1";

    /// Creates a unit. Fails if the number is out of range.
    pub fn new(number: f64) -> Result<Self, UnitError> {
        if (0.0..=1.0).contains(&number) { Ok(Self(number)) } else { Err(UnitError(number)) }
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, expected {}", self.0, Unit::EXPECTED)
    }
}

impl std::error::Error for UnitError {}

impl<'de> Deserialize<'de> for Unit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(number(deserializer, Self::EXPECTED)?).map_err(D::Error::custom)
    }
}

/// The latency of one evaluation in whole microseconds, from 0 to 60 000 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Micros(u32);

/// The error for milliseconds that are out of range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MicrosError(f64);

impl Micros {
    /// The largest latency.
    pub const MAX: Self = Self(limits::LATENCY_MS_MAX * 1000);

    const EXPECTED: &str = "milliseconds from 0 to 60000";

    /// Computes `floor(ms × 1000 + 0.5)` in `f64`. The contract fixes this arithmetic, so that every client agrees on
    /// the last microsecond.
    #[expect(clippy::float_arithmetic, reason = "the rounding rule is defined in f64")]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to 60 000 000 after the check"
    )]
    pub fn from_ms(ms: f64) -> Result<Self, MicrosError> {
        if (0.0..=f64::from(limits::LATENCY_MS_MAX)).contains(&ms) {
            // For a non-negative number the cast is the floor, without a function call.
            Ok(Self((ms * 1000.0 + 0.5) as u32))
        } else {
            Err(MicrosError(ms))
        }
    }

    /// Creates a latency of this many microseconds. Returns `None` above [`Micros::MAX`].
    pub const fn from_us(us: u32) -> Option<Self> {
        if us <= Self::MAX.0 { Some(Self(us)) } else { None }
    }

    /// Returns the latency in microseconds.
    pub const fn us(self) -> u32 {
        self.0
    }

    /// Returns the latency in milliseconds with three decimals, as the API returns it.
    pub fn ms(self) -> Decimal<3> {
        Decimal::from_units(self.0.into())
    }

    /// Appends the milliseconds to a JSON text. Writes the same as [`Serialize`], without a float.
    pub fn write_ms(self, text: &mut String) {
        let (whole, rest) = (self.0 / 1000, self.0 % 1000);
        write_whole(whole, text);
        text.push('.');
        text.extend(digit(rest / 100));
        if rest % 100 > 0 {
            text.extend(digit(rest / 10));
        }
        if rest % 10 > 0 {
            text.extend(digit(rest));
        }
    }
}

/// Returns the last digit of a number.
fn digit(number: u32) -> Option<char> {
    char::from_digit(number % 10, 10)
}

fn write_whole(number: u32, text: &mut String) {
    if number >= 10 {
        write_whole(number / 10, text);
    }
    text.extend(digit(number));
}

/// Writes milliseconds with three decimals.
impl Serialize for Micros {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.ms().serialize(serializer)
    }
}

/// Converts a duration, capped at [`Micros::MAX`].
impl From<Duration> for Micros {
    fn from(duration: Duration) -> Self {
        u32::try_from(duration.as_micros()).ok().and_then(Self::from_us).unwrap_or(Self::MAX)
    }
}

impl From<Micros> for Duration {
    fn from(micros: Micros) -> Self {
        Self::from_micros(micros.us().into())
    }
}

/// Converts milliseconds of any size to whole microseconds. Returns `None` if the number is negative or not finite.
#[expect(clippy::float_arithmetic, reason = "milliseconds are sent as floats and rounded like Micros")]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is not negative, and the cast saturates"
)]
pub fn duration_of_ms(ms: f64) -> Option<Duration> {
    (ms.is_finite() && ms >= 0.0).then(|| Duration::from_micros((ms * 1000.0 + 0.5).floor() as u64))
}

impl fmt::Display for MicrosError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, expected {}", self.0, Micros::EXPECTED)
    }
}

impl std::error::Error for MicrosError {}

/// Parses a number of milliseconds.
impl<'de> Deserialize<'de> for Micros {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_ms(number(deserializer, Self::EXPECTED)?).map_err(D::Error::custom)
    }
}

/// A non-negative whole number: a count, bytes or milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Whole(u64);

/// Why a number is not a [`Whole`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WholeError {
    /// The text is not a number.
    NotNumber(Found),
    /// The number is below 0.
    Negative(Found),
    /// The number has a fraction.
    NotWhole(Found),
    /// The number is above 2^63 − 1.
    TooLarge(Found),
}

impl Whole {
    /// Creates a whole number. Returns `None` above [`limits::WHOLE_MAX`].
    pub const fn new(number: u64) -> Option<Self> {
        if number <= limits::WHOLE_MAX { Some(Self(number)) } else { None }
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Parses a number as written. `61000.0` and `6.1e4` are whole numbers too: JSON does not distinguish them.
impl FromStr for Whole {
    type Err = WholeError;

    fn from_str(text: &str) -> Result<Self, WholeError> {
        let rejected = |reason: fn(Found) -> WholeError| Err(reason(Found::new(text)));
        let Some(written) = Written::parse(text) else { return rejected(WholeError::NotNumber) };
        if written.is_negative() {
            return rejected(WholeError::Negative);
        }
        match written.cut(0, u128::from(limits::WHOLE_MAX)) {
            None => rejected(WholeError::TooLarge),
            Some(Cut { whole, rest: Rest::Nothing }) => {
                Ok(Self(u64::try_from(whole).unwrap_or(limits::WHOLE_MAX)))
            }
            Some(_) => rejected(WholeError::NotWhole),
        }
    }
}

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
            D::Error::custom(format_args!("{error}, expected a whole number from 0 to {}", limits::WHOLE_MAX))
        })
    }
}

/// A cost in whole nano-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NanoUsd(u128);

/// Why a cost was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NanoUsdError {
    /// The text is not a decimal number.
    NotDecimal(Found),
    /// The cost is below 0.
    Negative(Found),
    /// The cost is above 10^15 US dollars.
    TooLarge(Found),
}

impl NanoUsd {
    const PLACES: i64 = 9;
    const PER_USD: u128 = 1_000_000_000;

    /// Creates a cost of this many nano-dollars.
    pub const fn from_nano(nano: u128) -> Self {
        Self(nano)
    }

    /// Returns the cost in nano-dollars.
    pub const fn nano(self) -> u128 {
        self.0
    }
}

/// Parses the exact decimal as written, rounded half up to whole nano-dollars.
impl FromStr for NanoUsd {
    type Err = NanoUsdError;

    fn from_str(text: &str) -> Result<Self, NanoUsdError> {
        const MAX: u128 = limits::COST_USD_MAX * NanoUsd::PER_USD;
        let rejected = |reason: fn(Found) -> NanoUsdError| Err(reason(Found::new(text)));
        let Some(written) = Written::parse(text) else { return rejected(NanoUsdError::NotDecimal) };
        if written.is_negative() {
            return rejected(NanoUsdError::Negative);
        }
        match written.half_up(Self::PLACES, MAX) {
            Some(nano) => Ok(Self(nano)),
            None => rejected(NanoUsdError::TooLarge),
        }
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

/// Parses a JSON number of US dollars, exactly as written.
impl<'de> Deserialize<'de> for NanoUsd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer)?.get().parse().map_err(D::Error::custom)
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
    fn latencies_are_written_as_serde_json_writes_them() {
        for us in (0..=20_000).chain((0..=60_000_000).step_by(99_991)).chain([60_000_000]) {
            let latency = Micros::from_us(us).unwrap();
            let mut written = String::new();
            latency.write_ms(&mut written);
            assert_eq!(written, serde_json::to_string(&latency).unwrap());
        }
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
        assert_eq!(Micros::EXPECTED, format!("milliseconds from 0 to {}", limits::LATENCY_MS_MAX));
    }

    #[test]
    fn whole_numbers_may_use_any_json_notation() {
        for (text, number) in [
            ("0", 0),
            ("-0", 0),
            ("-0.0", 0),
            ("61000", 61_000),
            ("61000.0", 61_000),
            ("6.1e4", 61_000),
            ("9007199254740993.0", 9_007_199_254_740_993),
            ("9223372036854775807", limits::WHOLE_MAX),
            ("9223372036854775807.0", limits::WHOLE_MAX),
        ] {
            assert_eq!(text.parse::<Whole>().map(Whole::get), Ok(number), "{text}");
        }
        for (text, problem) in [
            ("-5", "-5 is negative"),
            ("-1e-400", "-1e-400 is negative"),
            ("0.5", "0.5 is not a whole number"),
            ("0.99999999999999999999", "0.99999999999999999999 is not a whole number"),
            ("61000.00000000000000001", "61000.00000000000000001 is not a whole number"),
            ("9223372036854775808", "9223372036854775808 is above 9223372036854775807"),
            ("1e400", "1e400 is above 9223372036854775807"),
            ("\"fast\"", "\"fast\" is not a number"),
            ("true", "true is not a number"),
            ("[]", "[] is not a number"),
            ("-nan", "-nan is not a number"),
        ] {
            assert_eq!(text.parse::<Whole>().unwrap_err().to_string(), problem);
        }
        assert!(Whole::new(limits::WHOLE_MAX).is_some() && Whole::new(limits::WHOLE_MAX + 1).is_none());
    }

    #[test]
    fn costs_are_the_decimal_as_written() {
        for (text, nano) in [
            ("0", 0),
            ("-0.0", 0),
            ("0.34", 340_000_000),
            ("1", 1_000_000_000),
            ("0.0000000005", 1),
            ("0.00000000049999999999999999999999999999", 0),
            ("4.9e-10", 0),
            ("1.5E+3", 1_500_000_000_000),
            ("0.0421234567894", 42_123_457),
            ("1e15", 1_000_000_000_000_000_000_000_000),
            ("1000000000000000.0000000004", 1_000_000_000_000_000_000_000_000),
        ] {
            assert_eq!(text.parse::<NanoUsd>().map(NanoUsd::nano), Ok(nano), "{text}");
        }
    }

    #[test]
    fn invalid_costs_are_rejected_with_the_reason() {
        assert!(matches!("\"1\"".parse::<NanoUsd>(), Err(NanoUsdError::NotDecimal(_))));
        assert!(matches!("-0.01".parse::<NanoUsd>(), Err(NanoUsdError::Negative(_))));
        for text in ["1000000000000000.0000000005", "1000000000000000.000000001", "1e16", "1e400"] {
            assert!(matches!(text.parse::<NanoUsd>(), Err(NanoUsdError::TooLarge(_))), "{text}");
        }
    }
}
