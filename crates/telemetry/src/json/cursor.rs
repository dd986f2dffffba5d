//! A position in one line of JSON, and the few moves that reading OTLP needs.
//!
//! Nothing is built: texts are slices of the line, values that nobody asked for are stepped over. Stepping over still
//! checks the grammar, because a line that is no JSON counts as a whole or not at all.
//!
//! Most of the time goes into finding the end of texts, which [`special`] does sixteen bytes at a time.

use super::LineError;
use super::text::{Quoted, special, unescape};
use crate::limits::NESTING_MAX;

/// A position in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
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

    /// What is not yet read.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// How much of a text, that was the rest once, is read by now.
    pub(super) fn since(&self, rest: &str) -> usize {
        (self.at + rest.len()).saturating_sub(self.text.len())
    }

    /// Steps over so many bytes.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
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
    pub(super) fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), LineError> {
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
    #[inline]
    pub(super) fn quoted(&mut self) -> Result<Quoted<'a>, LineError> {
        if self.eat(b"\"") { self.quoted_rest() } else { Err(self.error("a text")) }
    }

    /// A text without escapes whose opening quote is already read; none if it has some or does not end.
    #[inline]
    pub(super) fn plain_rest(&mut self) -> Option<&'a str> {
        let (start, end) = (self.at, special(self.text.as_bytes(), self.at));
        if self.text.as_bytes().get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// A text whose opening quote is already read.
    #[inline]
    pub(super) fn quoted_rest(&mut self) -> Result<Quoted<'a>, LineError> {
        match self.plain_rest() {
            Some(raw) => Ok(Quoted { raw, escaped: false }),
            None => self.escaped_rest(),
        }
    }

    /// The same of a text that has escapes, or an error.
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
}
