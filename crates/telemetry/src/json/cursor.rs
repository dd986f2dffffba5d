//! A position in one line of JSON, and the few moves that reading OTLP needs.
//!
//! Nothing is built: texts are slices of the line, values that nobody asked for are stepped over. Stepping over still
//! checks the grammar, because a line that is no JSON counts as a whole or not at all.
//!
//! Most of the time goes into finding the end of texts, so that is done eight bytes at a time ([`special`]).

use std::borrow::Cow;

use super::LineError;
use crate::limits::NESTING_MAX;

/// A position in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// A JSON text as it stands between its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quoted<'a> {
    pub(crate) raw: &'a str,
    /// Whether it contains escapes.
    pub(crate) escaped: bool,
}

impl<'a> Quoted<'a> {
    /// What the text means.
    pub(crate) fn text(self) -> Cow<'a, str> {
        if self.escaped { Cow::Owned(unescape(self.raw)) } else { Cow::Borrowed(self.raw) }
    }
}

/// What a value begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Object,
    Array,
    Text,
    Number,
    True,
    False,
    Null,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn error(&self, expected: &'static str) -> LineError {
        LineError::NotJson { column: self.at + 1, expected }
    }

    /// Steps over these bytes if they come next.
    #[inline]
    pub(super) fn eat(&mut self, bytes: &[u8]) -> bool {
        let found = self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(bytes));
        if found {
            self.at += bytes.len();
        }
        found
    }

    #[inline]
    pub(super) fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    /// Steps over this byte and the blanks before it.
    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), LineError> {
        self.blanks();
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.error(expected))
    }

    /// What comes next, after blanks.
    pub(super) fn start(&mut self) -> Result<Start, LineError> {
        self.blanks();
        match self.peek() {
            Some(b'{') => Ok(Start::Object),
            Some(b'[') => Ok(Start::Array),
            Some(b'"') => Ok(Start::Text),
            Some(b'-' | b'0'..=b'9') => Ok(Start::Number),
            Some(b't') => Ok(Start::True),
            Some(b'f') => Ok(Start::False),
            Some(b'n') => Ok(Start::Null),
            _ => Err(self.error("a value")),
        }
    }

    /// Whether nothing but blanks is left.
    pub(super) fn end(&mut self) -> Result<(), LineError> {
        self.blanks();
        if self.at == self.text.len() { Ok(()) } else { Err(self.error("the end of the line")) }
    }

    /// Steps through an object: `field` is called after each colon and steps over the value.
    pub(super) fn object(
        &mut self,
        depth: usize,
        mut field: impl FnMut(&mut Self, &str) -> Result<(), LineError>,
    ) -> Result<(), LineError> {
        nested(depth)?;
        self.expect(b'{', "an object")?;
        self.blanks();
        if self.eat(b"}") {
            return Ok(());
        }
        loop {
            self.blanks();
            let name = self.quoted()?;
            self.expect(b':', "a colon")?;
            self.blanks();
            if name.escaped {
                field(self, &unescape(name.raw))?;
            } else {
                field(self, name.raw)?;
            }
            self.blanks();
            if !self.eat(b",") {
                return self.expect(b'}', "a comma or the end of the object");
            }
        }
    }

    /// Steps through an array: `element` is called at each element and steps over it. `null` is an empty array.
    pub(super) fn array(
        &mut self,
        depth: usize,
        mut element: impl FnMut(&mut Self) -> Result<(), LineError>,
    ) -> Result<(), LineError> {
        if self.start()? == Start::Null {
            return self.skip(depth);
        }
        nested(depth)?;
        self.expect(b'[', "an array")?;
        self.blanks();
        if self.eat(b"]") {
            return Ok(());
        }
        loop {
            self.blanks();
            element(self)?;
            self.blanks();
            if !self.eat(b",") {
                return self.expect(b']', "a comma or the end of the array");
            }
        }
    }

    /// A text with its quotes.
    pub(super) fn quoted(&mut self) -> Result<Quoted<'a>, LineError> {
        if self.eat(b"\"") { self.quoted_rest() } else { Err(self.error("a text")) }
    }

    /// A text whose opening quote is already read.
    #[inline]
    pub(super) fn quoted_rest(&mut self) -> Result<Quoted<'a>, LineError> {
        let (start, mut escaped) = (self.at, false);
        loop {
            self.at = special(self.text.as_bytes(), self.at);
            match self.peek() {
                Some(b'"') => {
                    let raw = self.text.get(start..self.at).unwrap_or_default();
                    self.at += 1;
                    return Ok(Quoted { raw, escaped });
                }
                Some(b'\\') => {
                    self.escape()?;
                    escaped = true;
                }
                Some(_) => return Err(self.error("no control character in a text")),
                None => return Err(self.error("the end of a text")),
            }
        }
    }

    /// Steps over one escape. Half of a surrogate pair is no error: agents cut texts anywhere.
    fn escape(&mut self) -> Result<(), LineError> {
        let rest = self.text.as_bytes().get(self.at + 1..).unwrap_or_default();
        self.at += match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', hex @ ..] if hex.iter().take(4).filter(|byte| byte.is_ascii_hexdigit()).count() == 4 => 6,
            _ => return Err(self.error("an escape")),
        };
        Ok(())
    }

    /// A number as it is written.
    pub(super) fn number(&mut self) -> Result<&'a str, LineError> {
        let start = self.at;
        let _ = self.eat(b"-");
        if !self.eat(b"0") && self.digits() == 0 {
            return Err(self.error("a digit"));
        }
        if self.eat(b".") && self.digits() == 0 {
            return Err(self.error("a digit"));
        }
        if self.eat(b"e") || self.eat(b"E") {
            let _ = self.eat(b"+") || self.eat(b"-");
            if self.digits() == 0 {
                return Err(self.error("a digit"));
            }
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    fn digits(&mut self) -> usize {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    pub(super) fn literal(&mut self, word: &'static str) -> Result<(), LineError> {
        if self.eat(word.as_bytes()) { Ok(()) } else { Err(self.error("true, false or null")) }
    }

    /// Steps over a value of any kind.
    pub(super) fn skip(&mut self, depth: usize) -> Result<(), LineError> {
        match self.start()? {
            Start::Object => self.object(depth, |cursor, _| cursor.skip(depth + 1)),
            Start::Array => self.array(depth, |cursor| cursor.skip(depth + 1)),
            Start::Text => self.quoted().map(|_| ()),
            Start::Number => self.number().map(|_| ()),
            Start::True => self.literal("true"),
            Start::False => self.literal("false"),
            Start::Null => self.literal("null"),
        }
    }

    /// Steps over a value of any kind and returns its text, to be read later.
    pub(super) fn raw(&mut self, depth: usize) -> Result<&'a str, LineError> {
        self.blanks();
        let start = self.at;
        self.skip(depth)?;
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }
}

fn nested(depth: usize) -> Result<(), LineError> {
    if depth < NESTING_MAX { Ok(()) } else { Err(LineError::TooDeep) }
}

const EACH: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
const QUOTE: u64 = EACH * 0x22;
const BACKSLASH: u64 = EACH * 0x5c;
const SPACE: u64 = EACH * 0x20;

/// Where the next quote, backslash or control character stands, or the end.
///
/// Eight bytes at a time: a byte is zero after the exclusive or with what is looked for, and subtracting one from a zero
/// (or 0x20 from a control character) borrows into its highest bit. A borrow can also mark the byte *above* a found
/// one, never one below, so the lowest mark is right.
#[inline]
fn special(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*word);
        let quote = word ^ QUOTE;
        let backslash = word ^ BACKSLASH;
        let found = (quote.wrapping_sub(EACH) & !quote)
            | (backslash.wrapping_sub(EACH) & !backslash)
            | (word.wrapping_sub(SPACE) & !word);
        let marks = found & HIGH;
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)).count()
}

/// What an escaped text means. Half of a surrogate pair becomes the replacement character.
pub(super) fn unescape(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((plain, after)) = rest.split_once('\\') {
        text.push_str(plain);
        let mut chars = after.chars();
        let char = match chars.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let (char, length) = unicode(after);
                chars = after.get(length..).unwrap_or_default().chars();
                char
            }
            Some(other) => other,
            None => break,
        };
        text.push(char);
        rest = chars.as_str();
    }
    text.push_str(rest);
    text
}

/// The character of `uXXXX`, or of `uXXXX\uXXXX` for a surrogate pair, and the length of what was read.
fn unicode(escape: &str) -> (char, usize) {
    const ONE: usize = "uXXXX".len();
    let unit = |from: usize| {
        let hex = escape.get(from + 1..from + ONE)?;
        u16::from_str_radix(hex, 16).ok()
    };
    let first = unit(0).unwrap_or(0xfffd);
    let second = if escape.get(ONE..ONE + 2) == Some("\\u") { unit(ONE + 1) } else { None };
    let mut pair = char::decode_utf16([first].into_iter().chain(second));
    let char = pair.next().and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER);
    (char, if char.len_utf16() == 2 { 2 * ONE + 1 } else { ONE })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(text: &str) -> Result<(), LineError> {
        let mut cursor = Cursor::new(text);
        cursor.skip(0)?;
        cursor.end()
    }

    #[test]
    fn steps_over_json_and_nothing_else() {
        for text in [
            "{}",
            "[]",
            " [ ] ",
            "0",
            "-0.5e+10",
            "1E3",
            "true",
            "null",
            r#""""#,
            r#""é\u00e9\ud800\n\"\\/""#,
            r#"{"a":[1,{"b":null}],"a":"x"}"#,
            "[\t1 ,\r\n2 ]",
        ] {
            assert_eq!(skipped(text), Ok(()), "{text}");
        }
        for text in [
            "",
            "{",
            "[",
            "[1",
            "[1,]",
            "{,}",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            "01",
            "+1",
            ".5",
            "1.",
            "1e",
            "-",
            "tru",
            "nul",
            "nulll",
            r#"""#,
            r#""\x""#,
            r#""\u12""#,
            r#""\u12g4""#,
            "\"\n\"",
            "\"\u{1}\"",
            "1 2",
            "{}{}",
            "NaN",
            "{a:1}",
            "[1 2]",
            "'a'",
        ] {
            assert!(skipped(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(skipped(&nested(NESTING_MAX)), Ok(()));
        assert_eq!(skipped(&nested(NESTING_MAX + 1)), Err(LineError::TooDeep));
        assert_eq!(skipped(&"[".repeat(1_000_000)), Err(LineError::TooDeep));
    }

    #[test]
    fn specials_are_found_at_every_place() {
        for length in 0..40 {
            for at in 0..length {
                for found in [b'"', b'\\', 0, 0x1f, b'\n'] {
                    let mut bytes = vec![b'#'; length];
                    bytes[at] = found;
                    assert_eq!(special(&bytes, 0), at);
                    // What lies around the specials is none: 0x20, 0x21, 0x23, 0x5b, 0x5d and everything above ASCII.
                    for near in [b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                        let mut bytes = vec![near; length];
                        bytes[at] = found;
                        assert_eq!(special(&bytes, 0), at, "{found} after {near}");
                    }
                }
            }
            assert_eq!(special(&vec![0xe9; length], 0), length);
        }
    }

    #[test]
    fn escapes_mean_what_json_says() {
        for (raw, text) in [
            ("plain", "plain"),
            (r#"a\"b\\c\/d"#, "a\"b\\c/d"),
            (r"\b\f\n\r\t", "\u{8}\u{c}\n\r\t"),
            (r"\u00e9\u4E2d", "é中"),
            (r"\ud83d\ude00!", "😀!"),
            (r"\ud83d", "\u{fffd}"),
            (r"\ud83dx", "\u{fffd}x"),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
            (r"\ud83d\u0041", "\u{fffd}A"),
        ] {
            assert_eq!(unescape(raw), text, "{raw}");
        }
    }
}
