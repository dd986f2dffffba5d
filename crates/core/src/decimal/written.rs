//! A decimal number exactly as written, digit by digit.
//!
//! Parsing a number as a float loses digits: a cost of `0.0000000005` dollars would round the other way, and
//! `9007199254740993.0` would become the next number.

/// The digits of a number and the position of its point.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    negative: bool,
    whole: &'a str,
    part: &'a str,
    exponent: i64,
}

/// A number truncated to a whole one, and the truncated rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) whole: u128,
    pub(crate) rest: Rest,
}

/// The part of a number that was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    Nothing,
    BelowHalf,
    HalfOrMore,
}

impl<'a> Written<'a> {
    /// Parses digits with an optional sign, point and exponent. Returns `None` for any other text.
    pub fn parse(text: &'a str) -> Option<Self> {
        if let Some(plain) = Self::parse_plain(text) {
            return Some(plain);
        }
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent_digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        let digits = [whole, part, exponent_digits];
        let all_digits = digits.iter().all(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        if !all_digits || whole.len() + part.len() == 0 || exponent_digits.is_empty() {
            return None;
        }
        // A number with an exponent beyond i64 is far too large or far too small.
        let beyond = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
        Some(Self { negative, whole, part, exponent: exponent.parse().unwrap_or(beyond) })
    }

    /// Parses a number without sign and exponent, as nearly all numbers are written.
    fn parse_plain(text: &'a str) -> Option<Self> {
        let bytes = text.as_bytes();
        let count = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let whole = count(bytes);
        let part = match bytes.get(whole..)? {
            [] => "",
            [b'.', rest @ ..] if count(rest) == rest.len() => text.get(whole + 1..)?,
            _ => return None,
        };
        (whole + part.len() > 0).then_some(Self {
            negative: false,
            whole: text.get(..whole)?,
            part,
            exponent: 0,
        })
    }

    fn digits(&self) -> impl Iterator<Item = u64> {
        self.whole.bytes().chain(self.part.bytes()).map(|byte| u64::from(byte - b'0'))
    }

    fn is_zero(&self) -> bool {
        self.digits().all(|digit| digit == 0)
    }

    /// Returns whether the number is below 0.
    pub fn is_negative(&self) -> bool {
        self.negative && !self.is_zero()
    }

    /// Rounds the number times 10^`places` to the nearest whole number, half up. Returns `None` if the number is
    /// negative or the result is above `max`.
    pub fn half_up(&self, places: i64, max: u128) -> Option<u128> {
        if self.is_negative() {
            return None;
        }
        let Cut { whole, rest } = self.cut(places, max)?;
        Some(whole + u128::from(rest == Rest::HalfOrMore)).filter(|&rounded| rounded <= max)
    }

    /// Truncates the magnitude times 10^`places` to a whole number. Returns `None` if the result is above `max`.
    pub(crate) fn cut(&self, places: i64, max: u128) -> Option<Cut> {
        /// Any number with this many digits fits into 64 bits.
        const DIGITS_FIT: usize = 19;
        // Number of digits before the point. If there are fewer digits, zeros follow them.
        let before_point = i64::try_from(self.whole.len()).unwrap_or(i64::MAX);
        let kept = before_point.saturating_add(self.exponent).saturating_add(places);
        if kept < 0 {
            let rest = if self.is_zero() { Rest::Nothing } else { Rest::BelowHalf };
            return Some(Cut { whole: 0, rest });
        }
        let kept = usize::try_from(kept).unwrap_or(usize::MAX);
        let digits = self.digits().chain(std::iter::repeat(0)).take(kept);
        let mut whole: u128 = 0;
        if kept <= DIGITS_FIT {
            whole = u128::from(digits.fold(0, |whole: u64, digit| whole * 10 + digit));
        } else if !self.is_zero() {
            // The number is not zero, so beyond its digits it grows tenfold at each step and soon exceeds any limit.
            for digit in digits {
                whole = whole.checked_mul(10)?.checked_add(u128::from(digit))?;
                if whole > max {
                    return None;
                }
            }
        }
        if whole > max {
            return None;
        }
        let mut cut_off = self.digits().skip(kept);
        let rest = match cut_off.next() {
            Some(5..) => Rest::HalfOrMore,
            Some(1..) => Rest::BelowHalf,
            Some(0) if cut_off.any(|digit| digit > 0) => Rest::BelowHalf,
            _ => Rest::Nothing,
        };
        Some(Cut { whole, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_truncated_exactly() {
        use Rest::{BelowHalf, HalfOrMore, Nothing};
        for (text, places, whole, rest) in [
            ("0", 0, 0, Nothing),
            ("-0.0e99999999999999999999", 9, 0, Nothing),
            ("12.5", 0, 12, HalfOrMore),
            ("12.5", 1, 125, Nothing),
            ("12.49999999999999999999999999999", 0, 12, BelowHalf),
            ("12.05", 0, 12, BelowHalf),
            ("12.000", 0, 12, Nothing),
            ("6.1e4", 0, 61_000, Nothing),
            ("61000e-3", 0, 61, Nothing),
            ("5e-10", 9, 0, HalfOrMore),
            ("5e-11", 9, 0, BelowHalf),
            ("1e-99999999999999999999", 9, 0, BelowHalf),
            ("9007199254740993.0", 0, 9_007_199_254_740_993, Nothing),
        ] {
            assert_eq!(
                Written::parse(text).unwrap().cut(places, u128::MAX),
                Some(Cut { whole, rest }),
                "{text}"
            );
        }
    }

    #[test]
    fn numbers_above_the_limit_give_none() {
        let cut = |text| Written::parse(text).unwrap().cut(0, 100);
        assert!(cut("100").is_some() && cut("100.9").is_some() && cut("101").is_none());
        assert!(cut("1e3").is_none() && cut("1e99999999999999999999").is_none());
    }

    #[test]
    fn only_decimals_are_numbers() {
        for text in [
            "", ".", "-", "e5", "1e", "1e+", "--1", "1.2.3", "0x10", "NaN", "-nan", "inf", "\"1\"", "null",
            "1 ", "1_0",
        ] {
            assert!(Written::parse(text).is_none(), "{text}");
        }
        assert!(Written::parse("-0.1").unwrap().is_negative());
        assert!(Written::parse("-1e-400").unwrap().is_negative());
        assert!(!Written::parse("-0.0").unwrap().is_negative());
    }
}
