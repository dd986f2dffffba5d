//! Decides whether a quote is open at the start of a line.
//!
//! A line is read separately, and a `#` in it begins a comment unless it is inside quotes, which may have been opened
//! on an earlier line. In shell text every `'` is a quote; in prose a `'` between letters is not. Both readings are
//! followed, so that an attacker cannot choose the one that hides a command behind a `#`.

use crate::gates::scan::{Deadline, TimedOut, before, find_byte};
use crate::limits::GATE_STRIDE_BYTES;

/// Both readings of a text, up to the current position.
#[derive(Debug)]
pub(super) struct OpenQuotes([Reading; 2]);

impl Default for OpenQuotes {
    fn default() -> Self {
        let reading = |words| Reading { words, at: 0, open: None };
        Self([reading(false), reading(true)])
    }
}

impl OpenQuotes {
    /// Returns whether a quote is open at a position in either reading. Positions must be requested in order.
    pub(super) fn at(
        &mut self,
        bytes: &[u8],
        position: usize,
        deadline: &Deadline<'_>,
    ) -> Result<bool, TimedOut> {
        for reading in &mut self.0 {
            reading.go(bytes.get(..position).unwrap_or(bytes), deadline)?;
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
    /// Whether a `'` between letters does not count as a quote.
    words: bool,
    at: usize,
    open: Option<Quote>,
}

impl Reading {
    /// Follows the text to the end.
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
            let Some(position) = next.map(|next| self.at + next) else {
                self.at += near.len();
                continue;
            };
            self.at = position + 1;
            match (bytes.get(position), self.open) {
                (Some(b'\\'), _) => self.at += 1,
                (Some(b'#'), _) => {
                    if begins_word(bytes, position) {
                        self.at = find_byte(bytes, position, b'\n', deadline)?.unwrap_or(bytes.len());
                    }
                }
                (_, Some(_)) => self.open = None,
                (Some(b'"'), None) => self.open = Some(Quote::Double),
                (_, None) if self.words && is_apostrophe(bytes, position) => {}
                (_, None) => {
                    let of_c = before(bytes, position) == Some(b'$');
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

/// Returns whether a `'` is between two letters.
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
            // Prose or shell text: the quote may be open.
            ("don't\n", true),
            ("it's 'a\n", true),
            ("a'b\n", true),
        ] {
            let mut quotes = OpenQuotes::default();
            assert_eq!(quotes.at(text.as_bytes(), text.len(), &deadline), Ok(open), "{text:?}");
            // Line by line the result is the same.
            let mut quotes = OpenQuotes::default();
            for (at, _) in text.match_indices('\n') {
                let _ = quotes.at(text.as_bytes(), at + 1, &deadline);
            }
            assert_eq!(quotes.at(text.as_bytes(), text.len(), &deadline), Ok(open), "{text:?}");
        }
    }
}
