//! Parses evidence from JSON. Errors say where the problem is.
//!
//! - Unknown fields are ignored in files ([`parse`]), so that an older reader accepts a newer file. The API rejects
//!   them ([`parse_strict`]), or reports them as warnings where clients of another API may send more
//!   ([`parse_noted`]).
//! - An optional field may be null, which means absent.
//! - A known field that occurs twice is rejected: either value could be the intended one.
//! - Where an object is expected, a JSON array is rejected. (Serde would accept it.)
//! - Nesting costs no stack. Ignored values are skipped without recursion, and parsed values are never deeper than
//!   their type.
//! - The input is parsed from memory: numbers are borrowed exactly as written, which is not possible from a stream.
//!
//! `Fields` is for the one place where an invalid optional part counts as absent (`scorecard`). It keeps the JSON
//! text of each field, to be parsed one by one.

mod fields;
mod named;
mod unknown;

use std::fmt;
use std::marker::PhantomData;
use std::str::Utf8Error;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::limits;

pub(crate) use fields::{Fields, Given};
pub(crate) use named::named;
pub use unknown::{Noted, Strict, UnknownFields};

/// Why an input was rejected.
#[derive(Debug)]
pub enum InputError {
    /// The bytes are not UTF-8.
    NotUtf8 {
        /// The line of the first bad byte, from 1.
        line: usize,
        /// Its column in bytes, from 1.
        column: usize,
        /// The error of the decoder.
        source: Utf8Error,
    },
    /// The text is not JSON, or does not have the expected shape.
    Json {
        /// Path in the document, such as `evaluations[3].latency_ms`; empty at the root.
        path: String,
        /// What was found and what is allowed.
        source: serde_json::Error,
    },
}

impl InputError {
    /// Returns the line and column of the error in the input, both from 1.
    pub fn position(&self) -> Option<(usize, usize)> {
        match self {
            Self::NotUtf8 { line, column, .. } => Some((*line, *column)),
            Self::Json { source, .. } => Some((source.line(), source.column())).filter(|&(line, _)| line > 0),
        }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 { .. } => f.write_str("not UTF-8, expected JSON text"),
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
            Self::NotUtf8 { source, .. } => Some(source),
            Self::Json { source, .. } => Some(source),
        }
    }
}

/// Returns the message of a JSON error on one line, without its position and with long values shortened.
///
/// The position is relative to the parsed text, so the caller prints it if it knows where that text came from. The
/// message may contain a value of any length; the start of the value and the end of the message are kept.
pub(crate) fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(position.as_str()).unwrap_or(&text) {
        "number out of range" => "number out of range, expected one that a 64-bit float can hold".to_owned(),
        text if error.is_syntax() || error.is_eof() => format!("not JSON: {}", shortened(text, 100, 200)),
        text => shortened(text, 100, 200),
    }
}

/// Escapes control characters, and cuts out the middle of a text that is longer than head and tail together.
fn shortened(text: &str, head_chars: usize, tail_chars: usize) -> String {
    let mut shown = String::new();
    let mut push =
        |char: char| if char.is_control() { shown.extend(char.escape_default()) } else { shown.push(char) };
    let chars = text.chars().count();
    if chars <= head_chars + tail_chars {
        text.chars().for_each(push);
    } else {
        text.chars().take(head_chars).for_each(&mut push);
        push('…');
        text.chars().skip(chars - tail_chars).for_each(push);
    }
    shown
}

/// Parses one object. Unknown fields are ignored.
pub fn parse<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, InputError> {
    from_bytes::<Object<T>>(bytes).map(|Object(value)| value)
}

/// Parses one object. An unknown field is an error; nested objects are as strict as their types.
pub fn parse_strict<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, InputError> {
    from_bytes::<Strict<T>>(bytes).map(|Strict(value)| value)
}

/// Parses one object and collects its unknown fields.
pub fn parse_noted<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<Noted<T>, InputError> {
    from_bytes(bytes)
}

fn from_bytes<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, InputError> {
    let text = std::str::from_utf8(bytes).map_err(|source| {
        let mut good = bytes.split_at(source.valid_up_to()).0.rsplit(|&byte| byte == b'\n');
        let column = 1 + good.next().map_or(0, <[u8]>::len);
        InputError::NotUtf8 { line: 1 + good.count(), column, source }
    })?;
    from_text(text).map_err(|(path, source)| InputError::Json { path, source })
}

/// Parses a JSON text. The error holds the path and the cause.
///
/// Valid text is parsed once at full speed. Invalid text is parsed a second time, with a reader that tracks the path.
pub(crate) fn from_text<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, (String, serde_json::Error)> {
    serde_json::from_str(text).map_err(|error| {
        let mut reader = serde_json::Deserializer::from_str(text);
        match serde_path_to_error::deserialize::<_, T>(&mut reader) {
            // The path ends in `.?` where the last part is unknown, as at the end of a truncated text.
            Err(located) => {
                let path = shortened(located.path().to_string().trim_end_matches(['.', '?']), 60, 60);
                (path, located.into_inner())
            }
            // The value is valid, but something follows it.
            Ok(_) => (String::new(), error),
        }
    })
}

/// A `T` that must be a JSON object.
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

/// Parses a field that must be an object: `#[serde(deserialize_with = "object")]`.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(value)| value)
}

/// Parses an optional field; null means absent: `#[serde(default, deserialize_with = "or_default")]`.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Parses a JSON number. `expected` describes the allowed numbers for the error.
pub(crate) fn number<'de, D: Deserializer<'de>>(
    deserializer: D,
    expected: &'static str,
) -> Result<f64, D::Error> {
    deserializer.deserialize_f64(NumberVisitor(expected))
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
        reason = "JSON has one kind of number; integers are parsed like any other"
    )]
    fn visit_u64<E: Error>(self, number: u64) -> Result<f64, E> {
        Ok(number as f64)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "JSON has one kind of number; integers are parsed like any other"
    )]
    fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }
}

/// The start of a rejected value, on one line, as error messages show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found(Box<str>);

impl Found {
    /// Takes the start of a text, with control characters escaped.
    pub fn new(text: &str) -> Self {
        Self(shortened(text, limits::FOUND_CHARS_MAX, 0).into())
    }

    /// Does the same in quotes, for a JSON string.
    pub fn quoted(text: &str) -> Self {
        Self(format!("\"{}\"", shortened(text, limits::FOUND_CHARS_MAX, 0)).into())
    }

    fn as_str(&self) -> &str {
        &self.0
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
        #[expect(dead_code, reason = "only parsing is tested")]
        flag: bool,
    }

    fn error_of(text: &str) -> String {
        parse::<Outer>(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn errors_name_the_path_what_was_found_and_what_is_allowed() {
        assert_eq!(
            error_of(r#"{"items":[{"flag":true},{"flag":1}]}"#),
            "items[1].flag: invalid type: integer `1`, expected a boolean"
        );
        assert_eq!(error_of(r#"{"items":[{}]}"#), "items[0]: missing field `flag`");
        assert_eq!(error_of(r#"{"items":[{"flag":true,"flag":true}]}"#), "items[0]: duplicate field `flag`");
        assert_eq!(error_of(r#"{"items":[[true]]}"#), "items[0]: invalid type: sequence, expected an object");
        assert_eq!(error_of("7"), "invalid type: integer `7`, expected an object");
        assert_eq!(error_of("{} x"), "not JSON: trailing characters");
        assert_eq!(error_of("{"), "not JSON: EOF while parsing an object");
    }

    #[test]
    fn a_long_value_is_shortened_in_its_error() {
        let error = error_of(&format!(r#"{{"items":[{{"flag":"{}"}}]}}"#, "x".repeat(1_000_000)));
        assert!(error.starts_with("items[0].flag: invalid type: string \"xxx"), "{error}");
        assert!(error.ends_with("xxx\", expected a boolean"), "{error}");
        assert!(error.len() < 400, "{error}");
    }

    #[test]
    fn an_error_is_one_line_for_any_value() {
        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Choice {
            Only,
        }
        let error = from_text::<Choice>(r#""\u001b]0;\u0007\nerror: forged""#).unwrap_err();
        assert_eq!(message(&error.1), r"unknown variant `\u{1b}]0;\u{7}\nerror: forged`, expected `only`");
        let key = "k\\n".repeat(1000);
        let (path, _) =
            from_text::<std::collections::BTreeMap<String, bool>>(&format!(r#"{{"{key}":1}}"#)).unwrap_err();
        assert!(path.len() < 200 && path.contains("k\\nk\\n") && path.contains('…'), "{path}");
        assert!(matches!(Choice::Only, Choice::Only));
    }

    #[test]
    fn invalid_utf8_is_rejected_with_its_position() {
        let error = parse::<Outer>(b"{\n \"\xff\":1}").unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.position()),
            ("not UTF-8, expected JSON text", Some((2, 3)))
        );
    }

    #[test]
    fn unknown_fields_are_skipped_at_any_depth() {
        let deep = format!(r#"{{"unknown":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse::<Outer>(deep.as_bytes()).unwrap().items.is_empty());
        let misplaced = format!(r#"{{"items":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(error_of(&misplaced), "items[0]: invalid type: sequence, expected an object");
    }

    #[test]
    fn a_found_value_is_shown_short_and_on_one_line() {
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
