//! One line of a stream, and what can be recognized without parsing it as JSON.

use super::nesting::Nesting;
use super::{Input, Text, TextPosition};

/// A line that is not blank, without its line end.
pub(super) struct Line {
    pub(super) position: TextPosition,
    pub(super) text: LineText,
}

pub(super) enum LineText {
    Whole(Vec<u8>),
    /// Longer than the limit of an input; only its brackets were followed.
    TooLong(Nesting),
}

impl Line {
    pub(super) fn nesting(&self) -> Nesting {
        match &self.text {
            LineText::Whole(bytes) => Nesting::of(bytes),
            LineText::TooLong(nesting) => *nesting,
        }
    }

    /// Returns the bytes. A line that is too long has none.
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.text {
            LineText::Whole(bytes) => bytes,
            LineText::TooLong(_) => &[],
        }
    }

    pub(super) fn into_input(self) -> Input {
        let text = match self.text {
            LineText::Whole(bytes) => Text::Whole(bytes),
            LineText::TooLong(_) => Text::TooLong,
        };
        Input { position: self.position, text }
    }

    /// Returns whether an object on the next line can continue this line: in JSON, an object follows only `[`, `,` or `:`.
    pub(super) fn lets_object_follow(&self) -> bool {
        match &self.text {
            LineText::Whole(bytes) => matches!(bytes.trim_ascii_end().last(), Some(b'[' | b',' | b':')),
            LineText::TooLong(_) => true,
        }
    }

    pub(super) fn begins_with_object(&self) -> bool {
        self.bytes().trim_ascii_start().starts_with(b"{")
    }

    /// Returns whether it looks like a complete input, as in JSON Lines.
    pub(super) fn is_object(&self) -> bool {
        let bytes = self.bytes();
        bytes.starts_with(b"{") && bytes.trim_ascii_end().ends_with(b"}") && !self.nesting().open()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        let position = TextPosition { line: 1, column: 1, index: None };
        Line { position, text: LineText::Whole(text.as_bytes().to_vec()) }
    }

    #[test]
    fn objects_are_recognized_without_parsing() {
        for (text, follow, begins, object) in [
            ("{}", false, true, true),
            ("  {}", false, true, false),
            ("{} ", false, true, true),
            ("{\"a\":", true, true, false),
            ("{\"a\":[ ", true, true, false),
            ("{},", true, true, false),
            ("{\"}", false, true, false),
            ("1", false, false, false),
        ] {
            let line = line(text);
            assert_eq!(
                (line.lets_object_follow(), line.begins_with_object(), line.is_object()),
                (follow, begins, object),
                "{text}"
            );
        }
    }
}
