//! Braces, tags and redirections.

use super::{Lexer, Target};
use crate::gates::scan::{TimedOut, run_end};

/// Longest number of an open file, in digits.
const FILE_DIGITS_MAX: usize = 10;

impl Lexer<'_, '_, '_, '_> {
    /// Reads `{` at the start of a word: `{}` is a word, `{a,b}` are two words, and otherwise a command begins.
    pub(super) fn brace(&mut self) -> Result<(), TimedOut> {
        let (bytes, start) = (self.text.as_bytes(), self.at + 1);
        let ends = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}' | b';' | b'"' | b'\'');
        let end = run_end(bytes, start, self.deadline, |byte| !ends(byte))?;
        let is_closed = bytes.get(end) == Some(&b'}');
        if is_closed && end == start {
            self.literal(2);
        } else if is_closed && run_end(bytes, start, self.deadline, |byte| byte != b',')? < end {
            self.at += 1;
            self.frame.braces = true;
        } else {
            self.step(1, |lexer| lexer.end_command(false));
        }
        Ok(())
    }

    /// Returns the end of the tag that begins here, as in `<b>`.
    fn tag(&self) -> Result<Option<usize>, TimedOut> {
        let bytes = self.text.as_bytes();
        let is_first = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!' | b'?');
        if !self.options.prose || self.options.anywhere || !self.peek(1).is_some_and(is_first) {
            return Ok(None);
        }
        let inside = |byte: u8| !matches!(byte, b'<' | b'>' | b'\n');
        let end = run_end(bytes, self.at + 1, self.deadline, inside)?;
        Ok((bytes.get(end) == Some(&b'>')).then_some(end + 1))
    }

    pub(super) fn redirect_in(&mut self) -> Result<(), TimedOut> {
        if let Some(end) = self.tag()? {
            self.end_word();
            self.literal_to(end)?;
            self.end_word();
            return Ok(());
        }
        self.end_number();
        self.at = run_end(self.text.as_bytes(), self.at, self.deadline, |byte| byte == b'<')?;
        if self.peek(0) == Some(b'>') {
            self.redirect(1);
        } else {
            self.frame.target = Some(Target::Read);
        }
        Ok(())
    }

    pub(super) fn redirect(&mut self, bytes: usize) {
        self.end_number();
        self.at += bytes;
        if let Some(b'>' | b'|') = self.peek(0) {
            self.at += 1;
        }
        let duplicate = bytes == 1 && self.peek(0) == Some(b'&');
        self.at += usize::from(duplicate);
        self.frame.target = Some(if duplicate { Target::Duplicate } else { Target::Write });
    }

    /// Ends the word in front of a redirection. A number is a file number, not a word.
    fn end_number(&mut self) {
        let is_plain = self.frame.word.is_some_and(|word| !word.is_quoted);
        if is_plain && is_file_number(self.frame.command.words.open_text()) && !self.options.anywhere {
            self.frame.command.words.drop_open();
            self.frame.word = None;
        }
        self.end_word();
    }
}

/// Returns whether a word is the number of an open file.
pub(super) fn is_file_number(word: &str) -> bool {
    word.len() <= FILE_DIGITS_MAX && word.bytes().all(|byte| byte.is_ascii_digit())
}
