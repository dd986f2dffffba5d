//! Quotes, escapes and variables.

use super::{COST, Closer, Lexer, Quotes};
use crate::gates::filesystem::shell::Trouble;
use crate::gates::filesystem::shell::open_quotes::is_apostrophe;
use crate::gates::scan::{Deadline, TimedOut, char_at, find_byte, rfind_byte, run_end};
use crate::limits::GATE_STRIDE_BYTES;

impl Lexer<'_, '_, '_, '_> {
    pub(super) fn is_apostrophe(&self) -> bool {
        self.quotes == Quotes::NoApostrophes && is_apostrophe(self.text.as_bytes(), self.at)
    }

    /// Reads a `#` at the start of a word: skips a comment if it certainly is one, else skips only the `#`.
    pub(super) fn hash(&mut self) -> Result<(), TimedOut> {
        // Once per line: finds its end and counts its quotes.
        if self.at >= self.no_comment_to {
            let end =
                find_byte(self.text.as_bytes(), self.at, b'\n', self.deadline)?.unwrap_or(self.text.len());
            if self.is_comment(end)? {
                self.at = end;
                return Ok(());
            }
            self.no_comment_to = end;
        }
        if self.options.anywhere {
            self.at += 1;
        } else {
            self.literal(1);
        }
        Ok(())
    }

    /// Returns whether `#` begins a comment. An odd number of quotes may close an earlier one, and then it does not.
    fn is_comment(&self, end: usize) -> Result<bool, TimedOut> {
        let is_open = !self.outer.is_empty() || self.frame.parens > 0;
        if !self.options.comments || is_open {
            return Ok(false);
        }
        let bytes = self.text.as_bytes();
        let start = rfind_byte(bytes, 0, self.at, b'\n', self.deadline)?.map_or(0, |newline| newline + 1);
        Ok(are_pairs(bytes, self.at, end, self.deadline)?
            && (self.quotes != Quotes::None || are_pairs(bytes, start, self.at, self.deadline)?))
    }

    pub(super) fn single(&mut self) -> Result<(), TimedOut> {
        self.at += 1;
        let end = find_byte(self.text.as_bytes(), self.at, b'\'', self.deadline)?;
        self.unbalanced |= end.is_none();
        let from = self.letters();
        self.literal_to(end.unwrap_or(self.text.len()))?;
        self.at += 1;
        self.quoted_since(from);
        Ok(())
    }

    /// Reads `$'…'`, with C escapes.
    fn single_of_c(&mut self) -> Result<(), TimedOut> {
        self.at += 2;
        let from = self.letters();
        loop {
            self.deadline.spend(COST)?;
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
                Some(_) => {
                    let start = self.at;
                    self.run(|byte| !matches!(byte, b'\'' | b'\\'));
                    self.deadline.spend(self.at - start)?;
                }
            }
        }
        self.quoted_since(from);
        Ok(())
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
                self.push_str(" ");
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
        self.push_str(char.encode_utf8(&mut [0; 4]));
        self.at += 1 + skip + length;
    }

    fn quoted_since(&mut self, from: usize) {
        self.word().is_quoted = true;
        if self.options.anywhere {
            self.frame.command.words.quoted_since(from);
        }
    }

    pub(super) fn end_double(&mut self) {
        if let Some(from) = self.frame.double.take() {
            self.quoted_since(from);
        }
    }

    pub(super) fn escape(&mut self) {
        // In a Windows path it separates names and escapes nothing.
        let is_of_windows = self.options.windows
            && self.frame.word.is_some()
            && matches!(self.frame.command.words.open_text().as_bytes(), [b'%', ..] | [b'a'..=b'z' | b'A'..=b'Z', b':', ..]);
        match self.peek(1) {
            Some(b'\n') => self.at += 2,
            Some(b'\r') if self.peek(2) == Some(b'\n') => self.at += 3,
            _ if is_of_windows => self.literal(1),
            // Inside backticks it is a backtick of a deeper level.
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
            Some(b'\'') if !is_double && self.quotes != Quotes::None => self.single_of_c()?,
            Some(b'"') if !is_double => self.at += 1,
            _ => {
                let (end, is_blank) = variable(self.text, self.at, self.deadline)?;
                if !is_blank {
                    return Ok(self.literal_to(end)?);
                }
                self.at = end;
                // `$IFS$9` is also a blank: there is no ninth argument.
                if let [b'$', b'0'..=b'9' | b'@' | b'*', ..] = self.rest().as_bytes() {
                    self.at += 2;
                }
                if is_double { self.push_str(" ") } else { self.end_word() }
            }
        }
        Ok(())
    }
}

/// Returns whether there is an even number of each quote between two positions. Apostrophes do not count.
fn are_pairs(bytes: &[u8], from: usize, to: usize, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
    let (mut single, mut double, mut start) = (false, false, from);
    for part in bytes.get(from..to).unwrap_or_default().chunks(GATE_STRIDE_BYTES) {
        deadline.spend(part.len())?;
        for at in memchr::memchr2_iter(b'\'', b'"', part) {
            if part.get(at) == Some(&b'"') {
                double = !double;
            } else if !is_apostrophe(bytes, start + at) {
                single = !single;
            }
        }
        start += part.len();
    }
    Ok(!single && !double)
}

/// Returns the end of the variable that begins here, and whether it is `$IFS`.
fn variable(text: &str, at: usize, deadline: &Deadline<'_>) -> Result<(usize, bool), TimedOut> {
    const NAME: &str = "IFS";
    let (bytes, start) = (text.as_bytes(), at + 1);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if bytes.get(start) != Some(&b'{') {
        let end = run_end(bytes, start, deadline, is_name)?;
        return Ok((end, text.get(start..end) == Some(NAME)));
    }
    let inside = start + 1;
    let is_simple = |byte: u8| is_name(byte) || b":@#%/*^,!?+=~.-".contains(&byte);
    let end = run_end(bytes, inside, deadline, is_simple)?;
    // Another variable may contain commands.
    if bytes.get(end) != Some(&b'}') {
        return Ok((start, false));
    }
    let name = text.get(inside..end).unwrap_or_default();
    let rest = name.strip_prefix(NAME);
    let is_blank = rest.is_some_and(|rest| !rest.bytes().next().is_some_and(is_name));
    Ok((end + 1, is_blank))
}
