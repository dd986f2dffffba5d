//! Whether a quote is open where a line begins.
//!
//! A line is read by itself, and a `#` in it begins a comment unless it stands in quotes, which may have been opened lines
//! before. A text may be a shell's, where every `'` is a quote, or a human's, where one between letters is none. Both are
//! followed: who would hide a command behind a `#` must not have the choice.

use crate::gates::scan::{Deadline, TimedOut, before, find_byte};
use crate::limits::GATE_STRIDE_BYTES;

/// Both readings of a text, as far as they were followed.
#[derive(Debug)]
pub(super) struct OpenQuotes([Reading; 2]);

impl Default for OpenQuotes {
    fn default() -> Self {
        let reading = |words| Reading { words, at: 0, open: None };
        Self([reading(false), reading(true)])
    }
}

impl OpenQuotes {
    /// Whether a quote is open at a place in either reading. Places are asked for in their order.
    pub(super) fn at(
        &mut self,
        bytes: &[u8],
        place: usize,
        deadline: &Deadline<'_>,
    ) -> Result<bool, TimedOut> {
        for reading in &mut self.0 {
            reading.go(bytes.get(..place).unwrap_or(bytes), deadline)?;
        }
        Ok(self.0.iter().any(|reading| reading.open.is_some()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    Single,
    /// `$'`, in which a backslash escapes.
    SingleOfC,
    Double,
}

#[derive(Debug)]
struct Reading {
    /// Whether a `'` between letters is none.
    words: bool,
    at: usize,
    open: Option<Quote>,
}

impl Reading {
    /// Follows the text to its end.
    fn go(&mut self, bytes: &[u8], deadline: &Deadline<'_>) -> Result<(), TimedOut> {
        while let Some(rest) = bytes.get(self.at..).filter(|rest| !rest.is_empty()) {
            let near = rest.get(..GATE_STRIDE_BYTES).unwrap_or(rest);
            let next = match self.open {
                None => near.iter().position(|byte| matches!(byte, b'\'' | b'"' | b'\\' | b'#')),
                Some(Quote::Single) => memchr::memchr(b'\'', near),
                Some(Quote::SingleOfC) => memchr::memchr2(b'\'', b'\\', near),
                Some(Quote::Double) => memchr::memchr2(b'"', b'\\', near),
            };
            deadline.spend(next.map_or(near.len(), |next| next + 1))?;
            let Some(place) = next.map(|next| self.at + next) else {
                self.at += near.len();
                continue;
            };
            self.at = place + 1;
            match (bytes.get(place), self.open) {
                (Some(b'\\'), _) => self.at += 1,
                (Some(b'#'), _) => {
                    if begins_word(bytes, place) {
                        self.at = find_byte(bytes, place, b'\n', deadline)?.unwrap_or(bytes.len());
                    }
                }
                (_, Some(_)) => self.open = None,
                (Some(b'"'), None) => self.open = Some(Quote::Double),
                (_, None) if self.words && is_apostrophe(bytes, place) => {}
                (_, None) => {
                    let of_c = before(bytes, place) == Some(b'$');
                    self.open = Some(if of_c { Quote::SingleOfC } else { Quote::Single });
                }
            }
        }
        Ok(())
    }
}

fn begins_word(bytes: &[u8], at: usize) -> bool {
    before(bytes, at).is_none_or(|byte| byte.is_ascii_whitespace() || b";&|()".contains(&byte))
}

/// Whether a `'` stands between two letters.
pub(super) fn is_apostrophe(bytes: &[u8], at: usize) -> bool {
    let is_letter = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic());
    is_letter(before(bytes, at)) && is_letter(bytes.get(at + 1).copied())
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    #[test]
    fn quotes_stay_open_until_they_close() {
        let clock = || Duration::ZERO;
        let deadline = Deadline::new(&clock, Duration::ZERO);
        for (text, open) in [
            ("", false),
            ("a 'b\n", true),
            ("a 'b\nc'\n", false),
            ("a \"b\n", true),
            ("a \"b \\\" c\n", true),
            ("a \\\" c\n", false),
            ("a '\\' c\n", false),
            ("a $'\\' c\n", true),
            ("# a 'b\n", false),
            ("x; # a 'b\n", false),
            ("x#y 'b\n", true),
            ("# don't\n", false),
            // A human's text, or a shell's: it may be open.
            ("don't\n", true),
            ("it's 'a\n", true),
            ("a'b\n", true),
        ] {
            let mut quotes = OpenQuotes::default();
            assert_eq!(quotes.at(text.as_bytes(), text.len(), &deadline), Ok(open), "{text:?}");
            // Asked for line by line, it is the same.
            let mut quotes = OpenQuotes::default();
            for (at, _) in text.match_indices('\n') {
                let _ = quotes.at(text.as_bytes(), at + 1, &deadline);
            }
            assert_eq!(quotes.at(text.as_bytes(), text.len(), &deadline), Ok(open), "{text:?}");
        }
    }
}
