//! A cursor in one line of JSON, with the few operations that reading OTLP needs.
//!
//! The cursor builds no tree: texts are slices of the line, and unused values are skipped. Skipping still checks the
//! grammar, because a line counts as a whole or not at all.
//!
//! Most of the time is spent on finding the end of texts. [`special`] checks sixteen bytes at a time.

use super::LineError;
use super::text::{Quoted, quote, special, unescape};
use crate::limits::NESTING_MAX;

/// A position in a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// The type of a value, known from its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Object,
    Array,
    Text,
    Number,
    True,
    False,
    Null,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the part that is not read yet.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns how many bytes were read since `rest` was the result of [`Cursor::rest`].
    pub(crate) fn since(&self, rest: &str) -> usize {
        (self.at + rest.len()).saturating_sub(self.text.len())
    }

    /// Skips this number of bytes.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(crate) fn error(&self, expected: &'static str) -> LineError {
        LineError::NotJson { column: self.at + 1, expected }
    }

    /// Skips these bytes if they are next. Returns whether they were.
    #[inline]
    pub(crate) fn eat(&mut self, bytes: &[u8]) -> bool {
        let found = self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(bytes));
        if found {
            self.at += bytes.len();
        }
        found
    }

    #[inline]
    pub(crate) fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips blanks and this byte. Returns an error if another byte is next.
    pub(crate) fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), LineError> {
        self.blanks();
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.error(expected))
    }

    /// Skips blanks and returns the type of the next value.
    pub(crate) fn start(&mut self) -> Result<Start, LineError> {
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

    /// Returns an error unless only blanks are left.
    pub(crate) fn end(&mut self) -> Result<(), LineError> {
        self.blanks();
        if self.at == self.text.len() { Ok(()) } else { Err(self.error("the end of the line")) }
    }

    /// Reads an object. Calls `field` after each colon; `field` must read or skip the value.
    pub(crate) fn object(
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
            if !self.eat(b":") {
                self.expect(b':', "a colon")?;
            }
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

    /// Reads an array. Calls `element` at each element, which it must read or skip. `null` is an empty array.
    pub(crate) fn array(
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

    /// Reads a text with its quotes.
    #[inline]
    pub(crate) fn quoted(&mut self) -> Result<Quoted<'a>, LineError> {
        if self.eat(b"\"") { self.quoted_rest() } else { Err(self.error("a text")) }
    }

    /// Reads a text whose opening quote is already read. Returns `None` if it has escapes or does not end.
    #[inline]
    pub(crate) fn plain_rest(&mut self) -> Option<&'a str> {
        let (start, end) = (self.at, special(self.text.as_bytes(), self.at));
        if self.text.as_bytes().get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// Reads a text whose opening quote is already read.
    #[inline]
    pub(crate) fn quoted_rest(&mut self) -> Result<Quoted<'a>, LineError> {
        match self.plain_rest() {
            Some(raw) => Ok(Quoted { raw, escaped: false }),
            None => self.escaped_rest(),
        }
    }

    /// Reads a text with escapes whose opening quote is already read.
    fn escaped_rest(&mut self) -> Result<Quoted<'a>, LineError> {
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

    /// Skips one escape. Half of a surrogate pair is valid, because agents cut texts at any character.
    fn escape(&mut self) -> Result<(), LineError> {
        let rest = self.text.as_bytes().get(self.at + 1..).unwrap_or_default();
        self.at += match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', hex @ ..] if hex.iter().take(4).filter(|byte| byte.is_ascii_hexdigit()).count() == 4 => 6,
            _ => return Err(self.error("an escape")),
        };
        Ok(())
    }

    /// Reads the text of a number.
    pub(crate) fn number(&mut self) -> Result<&'a str, LineError> {
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

    pub(crate) fn literal(&mut self, word: &'static str) -> Result<(), LineError> {
        if self.eat(word.as_bytes()) { Ok(()) } else { Err(self.error("true, false or null")) }
    }

    /// Skips a value of any type.
    pub(crate) fn skip(&mut self, depth: usize) -> Result<(), LineError> {
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

    /// Skips a value of any type without checking the grammar inside it, and to any depth. This is much faster than
    /// [`Cursor::skip`], because most of a transcript is long texts with many escapes.
    pub(crate) fn pass(&mut self) -> Result<(), LineError> {
        self.blanks();
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => drop(self.pass_text()?),
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b',' | b':' | b' ' | b'\t' | b'\r' | b'\n') if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'-') => self.pass_scalar(),
                _ => return Err(self.error("a value")),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Skips a number, `true`, `false` or `null`.
    fn pass_scalar(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let is_scalar = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        self.at += rest.iter().take_while(is_scalar).count();
    }

    /// Skips a text with its quotes, and returns what is between them. Does not check its escapes.
    pub(crate) fn pass_text(&mut self) -> Result<&'a str, LineError> {
        self.expect(b'"', "a text")?;
        let (bytes, start) = (self.text.as_bytes(), self.at);
        let mut at = start;
        loop {
            at = quote(bytes, at);
            let Some(before) = bytes.get(start..at).filter(|_| at < bytes.len()) else {
                return Err(self.error("the end of a text"));
            };
            let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
            at += 1;
            if backslashes % 2 == 0 {
                self.at = at;
                return Ok(self.text.get(start..at - 1).unwrap_or_default());
            }
        }
    }

    /// Skips a value of any type and returns its raw text, to be read later.
    pub(crate) fn raw(&mut self, depth: usize) -> Result<&'a str, LineError> {
        self.blanks();
        let start = self.at;
        self.skip(depth)?;
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }
}

fn nested(depth: usize) -> Result<(), LineError> {
    if depth < NESTING_MAX { Ok(()) } else { Err(LineError::TooDeep) }
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
    fn skips_valid_json_only() {
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
}
