//! Reading evidence from JSON: one function, and errors that say where.
//!
//! - Unknown fields are ignored in files ([`parse`]), so that a newer writer can talk to an older reader. The API refuses
//!   them ([`parse_strict`]), or reports them where a client of another API may send more ([`parse_noted`]).
//! - An optional field may be null, which is as good as absent.
//! - A field of ours given twice is refused: which of the two was meant cannot be known.
//! - An object is an object: a JSON array in its place, which serde would take, is refused.
//! - Nesting costs no stack. What is not looked at is skipped without recursion, and what is looked at is never
//!   deeper than its type.
//! - The text is read from memory: numbers are taken as they are written, which a reader of a stream cannot lend.
//!
//! `Fields` is for the one place where bad optional parts are evidence of absence (`scorecard`): it keeps each field
//! as the text it was written in, to be read one by one.

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

/// Why a JSON text is no evidence of the wanted kind.
#[derive(Debug)]
pub enum InputError {
    /// The bytes are not UTF-8.
    NotUtf8 {
        /// The line of the first bad byte, from 1.
        line: usize,
        /// Its column in bytes, from 1.
        column: usize,
        /// What is wrong with it.
        source: Utf8Error,
    },
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

/// What a JSON error says, without its position, on one line and with long values shortened.
///
/// The position is relative to the text that was read, so whoever knows where that text stood prints it. A value of any
/// length may stand in the middle of the message: how it begins and what is allowed stay.
pub(crate) fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(position.as_str()).unwrap_or(&text) {
        "number out of range" => "number out of range, expected one that a 64-bit float can hold".to_owned(),
        text if error.is_syntax() || error.is_eof() => format!("not JSON: {}", shortened(text, 100, 200)),
        text => shortened(text, 100, 200),
    }
}

/// The text with control characters escaped, and its middle left out if it is longer than both ends together.
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

/// Reads one object. Its unknown fields are ignored.
pub fn parse<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, InputError> {
    from_bytes::<Object<T>>(bytes).map(|Object(value)| value)
}

/// Reads one object. An unknown field is an error; objects inside of it are as strict as their types.
pub fn parse_strict<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, InputError> {
    from_bytes::<Strict<T>>(bytes).map(|Strict(value)| value)
}

/// Reads one object, and notes its unknown fields.
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
                let path = shortened(located.path().to_string().trim_end_matches(['.', '?']), 60, 60);
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

/// Reads an object in the place of a field: `#[serde(deserialize_with = "object")]`.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(value)| value)
}

/// Reads an optional field, for which null is as good as absent: `#[serde(default, deserialize_with = "or_default")]`.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads a JSON number; `expected` says which numbers are wanted.
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

/// A refused value as an error repeats it: its beginning, on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found(Box<str>);

impl Found {
    /// The beginning of a text, with control characters escaped.
    pub fn new(text: &str) -> Self {
        Self(shortened(text, limits::FOUND_CHARS_MAX, 0).into())
    }

    /// The same in quotes, for what was a JSON string.
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
        assert_eq!(refusal("{} x"), "not JSON: trailing characters");
        assert_eq!(refusal("{"), "not JSON: EOF while parsing an object");
    }

    #[test]
    fn a_long_value_does_not_flood_its_error() {
        let error = refusal(&format!(r#"{{"items":[{{"flag":"{}"}}]}}"#, "x".repeat(1_000_000)));
        assert!(error.starts_with("items[0].flag: invalid type: string \"xxx"), "{error}");
        assert!(error.ends_with("xxx\", expected a boolean"), "{error}");
        assert!(error.len() < 400, "{error}");
    }

    #[test]
    fn an_error_is_one_line_whatever_it_repeats() {
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
    fn bad_bytes_are_refused_with_their_place() {
        let error = parse::<Outer>(b"{\n \"\xff\":1}").unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.position()),
            ("not UTF-8, expected JSON text", Some((2, 3)))
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
