//! Quotes, escapes and variables.

use super::{Closer, Lexer, Quotes};
use crate::gates::filesystem::shell::Trouble;
use crate::gates::filesystem::shell::open_quotes::is_apostrophe;
use crate::gates::scan::char_at;

impl Lexer<'_, '_> {
    pub(super) fn is_apostrophe(&self) -> bool {
        self.quotes == Quotes::NoApostrophes && is_apostrophe(self.text.as_bytes(), self.at)
    }

    /// `#` where a word begins: a comment if it is sure to be one, and else no part of what follows.
    pub(super) fn hash(&mut self) {
        let end = self.at + memchr::memchr(b'\n', self.rest().as_bytes()).unwrap_or(self.rest().len());
        if self.is_comment(end) {
            self.at = end;
            return;
        }
        // Once a line, since its quotes are counted for that.
        self.no_comment_to = end;
        if self.how.anywhere { self.at += 1 } else { self.literal(1) }
    }

    /// Quotes that are no pairs may close one that was opened before, and then what follows is no comment.
    fn is_comment(&self, end: usize) -> bool {
        let is_open = !self.outer.is_empty() || self.frame.parens > 0;
        if !self.how.comments || is_open || self.at < self.no_comment_to {
            return false;
        }
        let bytes = self.text.as_bytes();
        let head = bytes.get(..self.at).unwrap_or_default();
        let start = memchr::memrchr(b'\n', head).map_or(0, |newline| newline + 1);
        are_pairs(bytes, self.at, end) && (self.quotes != Quotes::None || are_pairs(bytes, start, self.at))
    }

    pub(super) fn single(&mut self) {
        self.at += 1;
        let rest = self.rest();
        let end = rest.find('\'');
        self.unbalanced |= end.is_none();
        let length = end.unwrap_or(rest.len());
        let from = self.word().text.len();
        self.literal(length);
        self.at += 1;
        self.quoted_since(from);
    }

    /// `$'…'`, with the escapes of C.
    fn single_of_c(&mut self) {
        self.at += 2;
        let from = self.word().text.len();
        loop {
            match self.peek(0) {
                None => {
                    self.unbalanced = true;
                    break;
                }
                Some(b'\'') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => self.escape_of_c(),
                Some(_) => self.run(|byte| !matches!(byte, b'\'' | b'\\')),
            }
        }
        self.quoted_since(from);
    }

    fn escape_of_c(&mut self) {
        let number = |digits: &str, radix| {
            u32::from_str_radix(digits, radix).ok().and_then(char::from_u32).unwrap_or('\u{fffd}')
        };
        let digits = |text: &str, most: usize, radix| {
            text.chars().take(most).take_while(|char| char.is_digit(radix)).count()
        };
        let rest = self.text.get(self.at + 1..).unwrap_or_default();
        let (radix, skip, most) = match rest.as_bytes().first() {
            Some(b'x') => (16, 1, 2),
            Some(b'u') => (16, 1, 4),
            Some(b'U') => (16, 1, 8),
            Some(b'0'..=b'7') => (8, 0, 3),
            Some(b'n' | b'r' | b't' | b'v' | b'f') => {
                self.word().text += " ";
                self.at += 2;
                return;
            }
            Some(_) => {
                self.at += 1;
                let length = char_at(self.text, self.at).map_or(1, char::len_utf8);
                self.literal(length);
                return;
            }
            None => {
                self.at += 1;
                return;
            }
        };
        let body = rest.get(skip..).unwrap_or_default();
        let length = digits(body, most, radix);
        let char = number(body.get(..length).unwrap_or_default(), radix);
        self.word().text.to_mut().push(char);
        self.at += 1 + skip + length;
    }

    fn quoted_since(&mut self, from: usize) {
        let word = self.word();
        word.quoted.push((from, word.text.len()));
        word.is_quoted = true;
    }

    pub(super) fn end_double(&mut self) {
        if let Some(from) = self.frame.double.take() {
            self.quoted_since(from);
        }
    }

    pub(super) fn escape(&mut self) {
        // In a path of Windows it parts names, and escapes nothing.
        let is_of_windows = self.how.windows
            && self.frame.word.as_ref().is_some_and(|word| {
                matches!(word.text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
                    || word.text.starts_with('%')
            });
        match self.peek(1) {
            Some(b'\n') => self.at += 2,
            Some(b'\r') if self.peek(2) == Some(b'\n') => self.at += 3,
            _ if is_of_windows => self.literal(1),
            // Inside of backticks it is a backtick of a deeper level.
            Some(b'`') if self.frame.closer == Closer::Backtick => {
                self.step(2, |lexer| lexer.end_command(false));
            }
            Some(_) => {
                self.at += 1;
                self.word().is_quoted = true;
                let length = char_at(self.text, self.at).map_or(1, char::len_utf8);
                self.literal(length);
            }
            None => self.at += 1,
        }
    }

    pub(super) fn dollar(&mut self) -> Result<(), Trouble> {
        let is_double = self.frame.double.is_some();
        match self.peek(1) {
            Some(b'(') => return self.open(2, Closer::Paren),
            Some(b'\'') if !is_double && self.quotes != Quotes::None => self.single_of_c(),
            Some(b'"') if !is_double => self.at += 1,
            _ => {
                let (length, is_blank) = variable(self.rest());
                if !is_blank {
                    self.literal(length);
                    return Ok(());
                }
                self.at += length;
                // `$IFS$9` is a blank too: there is no ninth argument.
                if let [b'$', b'0'..=b'9' | b'@' | b'*', ..] = self.rest().as_bytes() {
                    self.at += 2;
                }
                if is_double { self.word().text += " " } else { self.end_word() }
            }
        }
        Ok(())
    }
}

/// Whether there is an even number of each quote between two places; an apostrophe is none.
fn are_pairs(bytes: &[u8], from: usize, to: usize) -> bool {
    let part = bytes.get(from..to).unwrap_or_default();
    let single = memchr::memchr_iter(b'\'', part).filter(|at| !is_apostrophe(bytes, from + at)).count();
    single.is_multiple_of(2) && memchr::memchr_iter(b'"', part).count().is_multiple_of(2)
}

/// How long a variable is with which a text begins, and whether it is `$IFS`.
fn variable(text: &str) -> (usize, bool) {
    const NAME: &str = "IFS";
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let body = text.get(1..).unwrap_or_default();
    let Some(inside) = body.strip_prefix('{') else {
        let name = body.find(|char| !is_name(char)).and_then(|end| body.get(..end)).unwrap_or(body);
        return (1 + name.len(), name == NAME);
    };
    let is_simple = |char: char| is_name(char) || ":@#%/*^,!?+=~.-".contains(char);
    let end = inside.find(|char| !is_simple(char)).unwrap_or(inside.len());
    match inside.get(..end) {
        Some(name) if inside.get(end..).is_some_and(|rest| rest.starts_with('}')) => {
            let is_blank = name.strip_prefix(NAME).is_some_and(|rest| !rest.starts_with(is_name));
            (2 + end + 1, is_blank)
        }
        // What stands in it may be commands.
        _ => (1, false),
    }
}
