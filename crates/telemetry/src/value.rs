//! One attribute value, and the types it can be read as.
//!
//! A scalar is accepted in any OTLP value type, because agents differ, even between versions of one agent:
//!
//! | wanted | accepted |
//! |---|---|
//! | text | `stringValue`; `intValue`, `doubleValue`, `boolValue` as their text |
//! | integer | `intValue` as number or string, `stringValue` of decimal digits, `doubleValue` without fraction |
//! | decimal | the same with fraction and exponent, as the exact decimal of the input (protobuf: the shortest decimal of the double) |
//! | boolean | `boolValue`; `true`/`false` in any case; `1`/`0` as text or integer; any other value is unknown |
//! | list | `arrayValue`; a single text is a list of one element; a text that is a JSON array is read as that array |
//!
//! Texts are trimmed. An empty text counts as absent, and so do `kvlistValue`, `bytesValue`, and an array where a
//! scalar is expected. A record with an invalid number is rejected and counted: a visible gap is better than a wrong
//! sum.

use std::borrow::Cow;

use renown_core::decimal::Written;
use renown_core::units::{NanoUsd, Whole};

use crate::json::{self, Quoted};
use crate::limits::NUMBER_MAX;
use crate::protobuf;

/// An attribute value in the form in which it was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Value<'a> {
    /// Absent, or neither a scalar nor a list.
    #[default]
    Absent,
    Text(Quoted<'a>),
    Int(i64),
    /// The text of a JSON number. Not validated: it may be a text that is not a number.
    Decimal(&'a str),
    /// A double of protobuf.
    Double(f64),
    Bool(bool),
    /// An array, not yet decoded.
    List(List<'a>),
}

/// An undecoded array.
#[derive(Clone, Copy, Debug)]
pub(crate) enum List<'a> {
    Json(&'a str),
    Protobuf(&'a [u8]),
}

/// An error: the value is not a valid number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotNumber;

impl<'a> Value<'a> {
    /// Creates a text without escapes.
    pub(crate) fn plain(text: &'a str) -> Self {
        Self::Text(Quoted { raw: text, escaped: false })
    }

    /// Whether the value is absent or an empty text.
    pub(crate) fn is_absent(self) -> bool {
        match self {
            Self::Absent => true,
            Self::Text(quoted) => trimmed(quoted.text()).is_empty(),
            Self::Decimal(written) => written.trim().is_empty(),
            Self::Int(_) | Self::Double(_) | Self::Bool(_) | Self::List(_) => false,
        }
    }

    /// Returns the value as a scalar: an array becomes absent.
    pub(crate) fn scalar(self) -> Self {
        if let Self::List(_) = self { Self::Absent } else { self }
    }

    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let text = match self {
            Self::Text(quoted) => trimmed(quoted.text()),
            Self::Int(number) => Cow::Owned(number.to_string()),
            // One spelling in all encodings, so that 1.0, 1e0 and a protobuf double give equal texts.
            Self::Decimal(written) => match written.parse::<f64>() {
                Ok(number) => Cow::Owned(number.to_string()),
                Err(_) => trimmed(Cow::Borrowed(written)),
            },
            Self::Double(number) => Cow::Owned(number.to_string()),
            Self::Bool(flag) => Cow::Borrowed(if flag { "true" } else { "false" }),
            Self::Absent | Self::List(_) => return None,
        };
        (!text.is_empty()).then_some(text)
    }

    pub(crate) fn integer(self) -> Result<Option<u64>, NotNumber> {
        let number = match self {
            Self::Absent | Self::List(_) => return Ok(None),
            Self::Bool(_) => return Err(NotNumber),
            Self::Int(number) => u64::try_from(number).ok(),
            Self::Decimal(written) if written.trim().is_empty() => return Ok(None),
            Self::Decimal(written) => whole(written.trim()),
            Self::Double(number) => whole(&number.to_string()),
            Self::Text(quoted) => {
                let text = trimmed(quoted.text());
                if text.is_empty() {
                    return Ok(None);
                }
                if !text.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(NotNumber);
                }
                text.parse().ok()
            }
        };
        number.filter(|&number| number <= NUMBER_MAX).map(Some).ok_or(NotNumber)
    }

    /// Reads a cost in dollars, exactly.
    pub(crate) fn dollars(self) -> Result<Option<NanoUsd>, NotNumber> {
        self.decimal(|written| written.parse().ok())
    }

    /// Reads a cost in millionths of a dollar.
    pub(crate) fn micro_dollars(self) -> Result<Option<NanoUsd>, NotNumber> {
        self.decimal(|written| {
            let nano = Written::parse(written)?.half_up(3, u128::from(NUMBER_MAX) * 1000)?;
            Some(NanoUsd::from_nano(nano))
        })
    }

    /// Reads milliseconds and returns microseconds, rounded half up.
    pub(crate) fn milliseconds(self) -> Result<Option<u64>, NotNumber> {
        // Nearly all durations are whole numbers, and parsing those as decimals takes ten times as long.
        if let Ok(Some(whole)) = self.integer() {
            return Ok(Some(whole * 1000));
        }
        self.decimal(|written| {
            let micros = Written::parse(written)?.half_up(3, u128::from(NUMBER_MAX) * 1000)?;
            u64::try_from(micros).ok()
        })
    }

    fn decimal<T>(self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, NotNumber> {
        let written = match self {
            Self::Absent | Self::List(_) => return Ok(None),
            Self::Bool(_) => return Err(NotNumber),
            Self::Int(number) => Cow::Owned(number.to_string()),
            Self::Decimal(written) => Cow::Borrowed(written.trim()),
            Self::Double(number) => Cow::Owned(number.to_string()),
            Self::Text(quoted) => trimmed(quoted.text()),
        };
        if written.is_empty() {
            return Ok(None);
        }
        read(&written).map(Some).ok_or(NotNumber)
    }

    /// Reads a boolean. Returns `None` if the value is neither true nor false.
    pub(crate) fn boolean(self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(flag),
            Self::Int(1) => Some(true),
            Self::Int(0) => Some(false),
            Self::Text(quoted) => {
                let text = trimmed(quoted.text());
                if text == "1" || text.eq_ignore_ascii_case("true") {
                    Some(true)
                } else if text == "0" || text.eq_ignore_ascii_case("false") {
                    Some(false)
                } else {
                    None
                }
            }
            Self::Absent | Self::Int(_) | Self::Decimal(_) | Self::Double(_) | Self::List(_) => None,
        }
    }

    /// Whether the list contains a wanted text.
    pub(crate) fn lists_any(self, mut wanted: impl FnMut(&str) -> bool) -> bool {
        match self {
            Self::List(List::Json(raw)) => json::any_of_list(raw, wanted),
            Self::List(List::Protobuf(bytes)) => protobuf::any_of_list(bytes, wanted),
            Self::Text(_) | Self::Int(_) | Self::Decimal(_) | Self::Double(_) | Self::Bool(_) => {
                let Some(text) = self.text() else { return false };
                if text.starts_with('[') { json::any_of_array(&text, wanted) } else { wanted(&text) }
            }
            Self::Absent => false,
        }
    }
}

/// Parses a whole number that may have a decimal point or an exponent.
fn whole(written: &str) -> Option<u64> {
    written.parse::<Whole>().ok().map(Whole::get)
}

/// Returns the text without whitespace at both ends.
pub(crate) fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    // Nearly all texts begin and end with a printable ASCII character. This check is faster than a Unicode-aware trim.
    if let [b'!'..=b'~', .., b'!'..=b'~'] = text.as_bytes() {
        return text;
    }
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => {
            let trimmed = text.trim();
            if trimmed.len() == text.len() { Cow::Owned(text) } else { Cow::Owned(trimmed.to_owned()) }
        }
    }
}

/// Returns at most the first `chars_max` characters.
pub(crate) fn cut(text: &str, chars_max: usize) -> &str {
    // No text has more characters than bytes.
    if text.len() <= chars_max {
        return text;
    }
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_scalar_is_read_as_a_text() {
        for (value, text) in [
            (Value::plain(" s-1 "), Some("s-1")),
            (Value::Text(Quoted { raw: r"\t\u00e9 ", escaped: true }), Some("é")),
            (Value::plain(" \t"), None),
            (Value::Text(Quoted { raw: r"\n", escaped: true }), None),
            (Value::Int(-7), Some("-7")),
            (Value::Decimal("1.50"), Some("1.5")),
            (Value::Decimal("1e0"), Some("1")),
            (Value::Double(1.0), Some("1")),
            (Value::Bool(true), Some("true")),
            (Value::Absent, None),
            (Value::List(List::Json("[]")), None),
        ] {
            assert_eq!(value.text().as_deref(), text, "{value:?}");
        }
    }

    #[test]
    fn integers_are_read_from_numbers_and_digits() {
        for (value, number) in [
            (Value::Int(42), Ok(Some(42))),
            (Value::plain(" 0042 "), Ok(Some(42))),
            (Value::Decimal("42.0"), Ok(Some(42))),
            (Value::Decimal("4.2e1"), Ok(Some(42))),
            (Value::Double(42.0), Ok(Some(42))),
            (Value::Int(1_000_000_000_000_000), Ok(Some(NUMBER_MAX))),
            (Value::Int(1_000_000_000_000_001), Err(NotNumber)),
            (Value::Double(1e15), Ok(Some(NUMBER_MAX))),
            (Value::Double(1.1e15), Err(NotNumber)),
            (Value::Int(-1), Err(NotNumber)),
            (Value::Decimal("42.5"), Err(NotNumber)),
            (Value::Double(f64::NAN), Err(NotNumber)),
            (Value::Decimal("NaN"), Err(NotNumber)),
            (Value::plain("42.0"), Err(NotNumber)),
            (Value::plain("+42"), Err(NotNumber)),
            (Value::plain("many"), Err(NotNumber)),
            (Value::plain("99999999999999999999999"), Err(NotNumber)),
            (Value::Bool(true), Err(NotNumber)),
            (Value::plain(" "), Ok(None)),
            (Value::Decimal(" "), Ok(None)),
            (Value::Absent, Ok(None)),
            (Value::List(List::Json("[]")), Ok(None)),
        ] {
            assert_eq!(value.integer(), number, "{value:?}");
        }
    }

    #[test]
    fn costs_and_durations_are_exact_decimals() {
        for (value, nano) in [
            (Value::Decimal("0.042"), Ok(Some(42_000_000))),
            (Value::plain(" 4.2e-2 "), Ok(Some(42_000_000))),
            (Value::Double(0.042), Ok(Some(42_000_000))),
            (Value::Decimal("0.0000000005"), Ok(Some(1))),
            (Value::Int(1), Ok(Some(1_000_000_000))),
            (Value::Decimal("0.0"), Ok(Some(0))),
            (Value::Decimal("1e15"), Ok(Some(1_000_000_000_000_000_000_000_000))),
            (Value::Decimal("1.0000001e15"), Err(NotNumber)),
            (Value::Decimal("-0.01"), Err(NotNumber)),
            (Value::Double(f64::INFINITY), Err(NotNumber)),
            (Value::plain("$1"), Err(NotNumber)),
            (Value::plain(""), Ok(None)),
            (Value::Decimal(""), Ok(None)),
        ] {
            assert_eq!(value.dollars().map(|cost| cost.map(NanoUsd::nano)), nano, "{value:?}");
        }
        for (value, micros) in [
            (Value::Int(250), Ok(Some(250_000))),
            (Value::Decimal("0.0005"), Ok(Some(1))),
            (Value::Decimal("0.00049999"), Ok(Some(0))),
            (Value::plain("12.5"), Ok(Some(12_500))),
            (Value::Int(-1), Err(NotNumber)),
            (Value::Decimal("1e16"), Err(NotNumber)),
        ] {
            assert_eq!(value.milliseconds(), micros, "{value:?}");
        }
    }

    #[test]
    fn booleans_are_read_from_flags_words_and_digits() {
        for (value, flag) in [
            (Value::Bool(false), Some(false)),
            (Value::plain("TRUE"), Some(true)),
            (Value::plain(" False "), Some(false)),
            (Value::plain("1"), Some(true)),
            (Value::Int(0), Some(false)),
            (Value::Int(2), None),
            (Value::Decimal("1.0"), None),
            (Value::plain("yes"), None),
            (Value::Absent, None),
        ] {
            assert_eq!(value.boolean(), flag, "{value:?}");
        }
    }

    #[test]
    fn arrays_single_texts_and_json_texts_are_lists() {
        let refuses = |value: Value<'_>| value.lists_any(|reason| reason == "refusal");
        let array = r#"{"values":[{"stringValue":"stop"},{"stringValue":"refusal"}]}"#;
        assert!(refuses(Value::List(List::Json(array))));
        assert!(refuses(Value::plain("refusal")));
        assert!(refuses(Value::Text(Quoted { raw: r#"[\"stop\", \"refusal\"]"#, escaped: true })));
        assert!(!refuses(Value::plain("[\"stop\"]")));
        assert!(!refuses(Value::plain("refusals")));
        assert!(!refuses(Value::List(List::Json(r#"{"values":[]}"#))));
        assert!(!refuses(Value::plain("[broken")));
    }
}
