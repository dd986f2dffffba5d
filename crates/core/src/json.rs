//! Reading evidence from JSON: one function, and errors that say where.
//!
//! - Unknown fields are ignored, so that a newer client can talk to an older reader.
//! - A field of ours given twice is refused: which of the two was meant cannot be known.
//! - An object is an object: a JSON array in its place, which serde would take, is refused.
//! - Nesting costs no stack. What is not looked at is skipped without recursion, and what is looked at is never
//!   deeper than its type.
//!
//! `Fields` is for the one place where bad optional parts are evidence of absence (`scorecard`): it keeps each field
//! as the text it was written in, to be read one by one.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::Utf8Error;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::limits;

/// Why a JSON text is no evidence of the wanted kind.
#[derive(Debug)]
pub enum InputError {
    /// The bytes are not UTF-8.
    NotUtf8(Utf8Error),
    /// The text is not JSON, or not of the wanted shape.
    Json {
        /// Where in the document, e.g. `evaluations[3].latency_ms`; empty at its root.
        path: String,
        /// What was found and what is allowed.
        source: serde_json::Error,
    },
}

impl InputError {
    /// Line and column inside the input, both from 1, where the reader stopped.
    pub fn position(&self) -> Option<(usize, usize)> {
        match self {
            Self::NotUtf8(_) => None,
            Self::Json { source, .. } => Some((source.line(), source.column())).filter(|&(line, _)| line > 0),
        }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8(source) => write!(f, "not UTF-8: bad byte at offset {}", source.valid_up_to()),
            Self::Json { path, source } => {
                if !path.is_empty() {
                    write!(f, "{path}: ")?;
                }
                f.write_str(&message(source))
            }
        }
    }
}

impl std::error::Error for InputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotUtf8(source) => Some(source),
            Self::Json { source, .. } => Some(source),
        }
    }
}

/// What a JSON error says, without its position and with long values shortened.
///
/// The position is relative to the text that was read, so whoever knows where that text stood prints it. A value of any
/// length may stand in the middle of the message: how it begins and what is allowed stay.
pub(crate) fn message(error: &serde_json::Error) -> String {
    const HEAD_CHARS: usize = 100;
    const TAIL_CHARS: usize = 200;
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(position.as_str()).unwrap_or(&text);
    let chars = text.chars().count();
    if chars <= HEAD_CHARS + TAIL_CHARS {
        return text.to_owned();
    }
    text.chars().take(HEAD_CHARS).chain(['…']).chain(text.chars().skip(chars - TAIL_CHARS)).collect()
}

/// Reads one input.
pub fn parse<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, InputError> {
    let text = std::str::from_utf8(bytes).map_err(InputError::NotUtf8)?;
    from_text::<Object<T>>(text)
        .map(|Object(value)| value)
        .map_err(|(path, source)| InputError::Json { path, source })
}

/// Reads a JSON text, or says where it stopped and why.
///
/// Good text is read once at full speed. Only when it is refused is it read again with a reader that keeps track of
/// where it is.
pub(crate) fn from_text<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, (String, serde_json::Error)> {
    serde_json::from_str(text).map_err(|error| {
        let mut reader = serde_json::Deserializer::from_str(text);
        match serde_path_to_error::deserialize::<_, T>(&mut reader) {
            // A part that could not be told, as at the end of a broken text, is left out of the path.
            Err(located) => {
                let path = located.path().to_string().trim_end_matches(['.', '?']).to_owned();
                (path, located.into_inner())
            }
            // The value was fine: something stands after it.
            Ok(_) => (String::new(), error),
        }
    })
}

/// A `T` that is written as a JSON object and as nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// Reads a JSON number that `accept` turns into a value; `expected` says which numbers it takes.
pub(crate) fn number_within<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: &'static str,
    accept: impl FnOnce(f64) -> Option<T>,
) -> Result<T, D::Error> {
    let number = deserializer.deserialize_f64(NumberVisitor(expected))?;
    accept(number).ok_or_else(|| D::Error::invalid_value(Unexpected::Float(number), &expected))
}

struct NumberVisitor(&'static str);

impl Visitor<'_> for NumberVisitor {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<f64, E> {
        Ok(number)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "JSON has one kind of number; integers are read as any other"
    )]
    fn visit_u64<E: Error>(self, number: u64) -> Result<f64, E> {
        Ok(number as f64)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "JSON has one kind of number; integers are read as any other"
    )]
    fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }
}

/// The fields of an object, each as the JSON text it was written in.
#[derive(Debug)]
pub(crate) struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// What an object says about one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given<'a> {
    /// Nothing, or null.
    Absent,
    /// One value, as the JSON text it was written in.
    Once(&'a str),
    /// More than one.
    Repeated,
}

impl<'a> Fields<'a> {
    pub(crate) fn get(&self, name: &str) -> Given<'a> {
        let mut values = self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.get());
        match (values.next(), values.next()) {
            (_, Some(_)) => Given::Repeated,
            (None | Some("null"), None) => Given::Absent,
            (Some(text), None) => Given::Once(text),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((Name(name), value)) = map.next_entry()? {
                    fields.push((name, value));
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// A key, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// A refused value as an error repeats it: its beginning, on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found(Box<str>);

impl Found {
    /// The beginning of a text, with control characters escaped.
    pub fn new(text: &str) -> Self {
        let mut shown = String::new();
        for (index, char) in text.chars().enumerate() {
            if index == limits::FOUND_CHARS_MAX {
                shown.push('…');
                break;
            }
            if char.is_control() { shown.extend(char.escape_default()) } else { shown.push(char) }
        }
        Self(shown.into())
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Outer {
        #[serde(default)]
        items: Vec<Object<Inner>>,
    }

    #[derive(Debug, Deserialize)]
    struct Inner {
        #[expect(dead_code, reason = "only its reading is tested")]
        flag: bool,
    }

    fn refusal(text: &str) -> String {
        parse::<Outer>(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn errors_name_the_path_what_was_found_and_what_is_allowed() {
        assert_eq!(
            refusal(r#"{"items":[{"flag":true},{"flag":1}]}"#),
            "items[1].flag: invalid type: integer `1`, expected a boolean"
        );
        assert_eq!(refusal(r#"{"items":[{}]}"#), "items[0]: missing field `flag`");
        assert_eq!(refusal(r#"{"items":[{"flag":true,"flag":true}]}"#), "items[0]: duplicate field `flag`");
        assert_eq!(refusal(r#"{"items":[[true]]}"#), "items[0]: invalid type: sequence, expected an object");
        assert_eq!(refusal("7"), "invalid type: integer `7`, expected an object");
        assert_eq!(refusal("{} x"), "trailing characters");
        assert_eq!(refusal("{"), "EOF while parsing an object");
    }

    #[test]
    fn a_long_value_does_not_flood_its_error() {
        let error = refusal(&format!(r#"{{"items":[{{"flag":"{}"}}]}}"#, "x".repeat(1_000_000)));
        assert!(error.starts_with("items[0].flag: invalid type: string \"xxx"), "{error}");
        assert!(error.ends_with("xxx\", expected a boolean"), "{error}");
        assert!(error.len() < 400, "{error}");
    }

    #[test]
    fn bad_bytes_are_refused_with_their_offset() {
        assert_eq!(
            parse::<Outer>(b"{\"\xff\":1}").unwrap_err().to_string(),
            "not UTF-8: bad byte at offset 2"
        );
    }

    #[test]
    fn unknown_fields_are_skipped_however_deep() {
        let deep = format!(r#"{{"unknown":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse::<Outer>(deep.as_bytes()).unwrap().items.is_empty());
        let misplaced = format!(r#"{{"items":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(refusal(&misplaced), "items[0]: invalid type: sequence, expected an object");
    }

    #[test]
    fn fields_tell_absent_once_and_repeated_apart() {
        let fields: Fields<'_> =
            serde_json::from_str(r#"{"a":1e999,"b":null,"c":1,"c":2,"\u0064":"x"}"#).unwrap();
        assert_eq!(fields.get("a"), Given::Once("1e999"));
        assert_eq!(fields.get("b"), Given::Absent);
        assert_eq!(fields.get("c"), Given::Repeated);
        assert_eq!(fields.get("d"), Given::Once("\"x\""));
        assert_eq!(fields.get("e"), Given::Absent);
    }

    #[test]
    fn what_was_found_is_shown_short_and_on_one_line() {
        assert_eq!(Found::new("a\nb").to_string(), "a\\nb");
        assert_eq!(
            Found::new(&"x".repeat(limits::FOUND_CHARS_MAX)).to_string(),
            "x".repeat(limits::FOUND_CHARS_MAX)
        );
        assert_eq!(
            Found::new(&"x".repeat(limits::FOUND_CHARS_MAX + 1)).to_string(),
            format!("{}…", "x".repeat(limits::FOUND_CHARS_MAX))
        );
    }
}
