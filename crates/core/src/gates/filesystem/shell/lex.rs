//! The lexer: one pass with a stack of its own, a frame for each substitution that is open.

mod quotes;

use std::borrow::Cow;

use crate::gates::scan::{Deadline, before, char_at};
use crate::limits::SHELL_LEVELS_MAX;

use super::wrappers::Run;
use super::{How, Trouble};

/// A word, its quotes and escapes resolved.
#[derive(Clone, Debug, Default)]
pub(in crate::gates::filesystem) struct Word<'t> {
    /// Borrowed where it stands so in what was read, which is almost everywhere.
    pub(in crate::gates::filesystem) text: Cow<'t, str>,
    /// Where quoted parts lie in the text.
    pub(super) quoted: Vec<(usize, usize)>,
    /// Whether a part of it is quoted or escaped.
    pub(super) is_quoted: bool,
}

impl Word<'_> {
    /// Whether a part of it is quoted or escaped.
    pub(in crate::gates::filesystem) fn is_quoted(&self) -> bool {
        self.is_quoted
    }
}

/// A simple command.
#[derive(Debug, Default)]
pub(in crate::gates::filesystem) struct Command<'t> {
    /// Assignments, the name and the arguments.
    pub(in crate::gates::filesystem) words: Vec<Word<'t>>,
    /// The files to which it is redirected.
    pub(in crate::gates::filesystem) writes: Vec<Word<'t>>,
    /// The command whose output it reads, as its number among all.
    pub(in crate::gates::filesystem) fed_by: Option<usize>,
    /// What is run when wrappers are opened; only where commands do not begin anywhere.
    pub(in crate::gates::filesystem) runs: Vec<Run>,
}

/// What counts as a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// What a shell says.
    Shell,
    /// The same but for a `'` between two letters.
    NoApostrophes,
    /// None: they do not close.
    None,
}

/// How a text ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lexed {
    Whole,
    /// In quotes.
    Unbalanced,
}

/// What follows a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Read,
    Write,
    /// After `>&`: the number of a file that is open, or a file.
    Duplicate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closer {
    End,
    Paren,
    Backtick,
}

/// A substitution that is open, or the text itself.
#[derive(Debug)]
struct Frame<'t> {
    closer: Closer,
    /// Parentheses that are open in it.
    parens: usize,
    command: Command<'t>,
    word: Option<Word<'t>>,
    target: Option<Target>,
    /// Where double quotes began in the word, if they are open.
    double: Option<usize>,
    /// Whether commas part words, since `{a,b}` is open.
    braces: bool,
    last: Option<usize>,
    piped: bool,
}

impl Frame<'_> {
    fn new(closer: Closer) -> Self {
        let command = Command::default();
        let (word, target, double, last) = (None, None, None, None);
        Self { closer, parens: 0, command, word, target, double, braces: false, last, piped: false }
    }
}

struct Lexer<'t, 'o> {
    text: &'t str,
    at: usize,
    quotes: Quotes,
    level: usize,
    how: How,
    /// The frames around the one that is read.
    outer: Vec<Frame<'t>>,
    frame: Frame<'t>,
    out: &'o mut Vec<Command<'t>>,
    unbalanced: bool,
    /// Up to there no `#` begins a comment.
    no_comment_to: usize,
}

/// What reading a byte costs, in bytes that are only looked at.
pub(super) const COST: usize = 16;

/// Adds the commands of a text that lies at a level.
pub(super) fn lex<'t>(
    text: &'t str,
    quotes: Quotes,
    level: usize,
    how: How,
    deadline: &Deadline<'_>,
    out: &mut Vec<Command<'t>>,
) -> Result<Lexed, Trouble> {
    let (outer, frame) = (Vec::new(), Frame::new(Closer::End));
    let (unbalanced, no_comment_to) = (false, 0);
    let mut lexer = Lexer { text, at: 0, quotes, level, how, outer, frame, out, unbalanced, no_comment_to };
    while let Some(byte) = lexer.peek(0) {
        let from = lexer.at;
        if lexer.frame.double.is_some() {
            lexer.in_double(byte)?;
        } else {
            lexer.plain(byte)?;
        }
        deadline.spend((lexer.at - from) * COST)?;
    }
    while lexer.close() {}
    lexer.end_command(false);
    Ok(if lexer.unbalanced { Lexed::Unbalanced } else { Lexed::Whole })
}

impl<'t> Lexer<'t, '_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn word(&mut self) -> &mut Word<'t> {
        self.frame.word.get_or_insert_default()
    }

    fn is_word_start(&self) -> bool {
        self.frame.word.is_none()
    }

    /// Reads on outside of double quotes.
    fn plain(&mut self, byte: u8) -> Result<(), Trouble> {
        match byte {
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.step(1, Self::end_word),
            b',' if self.frame.braces => self.step(1, Self::end_word),
            b'\n' | b';' => self.step(1, |lexer| lexer.end_command(false)),
            b'&' if self.peek(1) == Some(b'>') => self.redirect(2),
            b'&' => self.step(1, |lexer| lexer.end_command(false)),
            b'|' => {
                let double = self.peek(1) == Some(b'|');
                self.step(1 + usize::from(double), |lexer| lexer.end_command(!double));
            }
            b'(' => self.step(1, |lexer| {
                lexer.end_command(false);
                lexer.frame.parens += 1;
            }),
            b')' => self.step(1, Self::close_paren),
            b'{' if self.is_word_start() => self.brace(),
            b'}' if self.frame.braces => self.step(1, |lexer| {
                lexer.end_word();
                lexer.frame.braces = false;
            }),
            b'}' if self.is_word_start() => self.step(1, |lexer| lexer.end_command(false)),
            b'<' => self.redirect_in(),
            b'>' if self.is_arrow() => self.literal(1),
            b'>' => self.redirect(1),
            b'#' if self.is_word_start() => self.hash(),
            b'\'' | b'"' if self.quotes == Quotes::None => self.at += 1,
            b'\'' if self.is_apostrophe() => self.literal(1),
            b'\'' => self.single(),
            b'"' => {
                self.at += 1;
                self.word().is_quoted = true;
                self.frame.double = Some(self.word().text.len());
            }
            b'`' => return self.backtick(),
            b'$' => return self.dollar(),
            b'\\' => self.escape(),
            _ => self.run(|byte| !SPECIAL.contains(&byte)),
        }
        Ok(())
    }

    /// Reads on inside of double quotes.
    fn in_double(&mut self, byte: u8) -> Result<(), Trouble> {
        match byte {
            b'"' => self.step(1, Self::end_double),
            b'`' => return self.backtick(),
            b'$' => return self.dollar(),
            b'\\' => match self.peek(1) {
                Some(b'\n') => self.at += 2,
                Some(b'"' | b'\\' | b'$' | b'`') => {
                    self.at += 1;
                    self.literal(1);
                }
                _ => self.literal(1),
            },
            _ => self.run(|byte| !matches!(byte, b'"' | b'`' | b'$' | b'\\')),
        }
        Ok(())
    }

    fn step(&mut self, bytes: usize, then: impl FnOnce(&mut Self)) {
        self.at += bytes;
        then(self);
    }

    /// Takes so many bytes as they are.
    fn literal(&mut self, bytes: usize) {
        let part = self.text.get(self.at..self.at + bytes).unwrap_or_default();
        self.frame.word.get_or_insert_default().text += part;
        self.at += bytes;
    }

    /// Takes the character that stands here, and what follows while it is such.
    fn run(&mut self, is: impl Fn(u8) -> bool) {
        let first = char_at(self.text, self.at).map_or(1, char::len_utf8);
        let more = self.text.as_bytes().get(self.at + first..).unwrap_or_default();
        self.literal(first + more.iter().take_while(|byte| is(**byte)).count());
    }

    fn is_arrow(&self) -> bool {
        self.how.prose
            && !self.how.anywhere
            && matches!(before(self.text.as_bytes(), self.at), Some(b'-' | b'='))
    }

    fn backtick(&mut self) -> Result<(), Trouble> {
        let is_open = |frame: &Frame<'_>| frame.closer == Closer::Backtick;
        if !is_open(&self.frame) && !self.outer.iter().any(is_open) {
            return self.open(1, Closer::Backtick);
        }
        self.at += 1;
        while !is_open(&self.frame) && self.close() {}
        self.close();
        Ok(())
    }

    fn open(&mut self, bytes: usize, closer: Closer) -> Result<(), Trouble> {
        self.at += bytes;
        // The word goes on after it, also if nothing else is in it.
        self.word();
        self.outer.push(std::mem::replace(&mut self.frame, Frame::new(closer)));
        if self.level + self.outer.len() > SHELL_LEVELS_MAX { Err(Trouble::TooDeep) } else { Ok(()) }
    }

    /// Ends the innermost substitution, and goes on with the word around it. False if there is none.
    fn close(&mut self) -> bool {
        self.end_command(false);
        self.unbalanced |= self.frame.double.is_some();
        let Some(outer) = self.outer.pop() else { return false };
        self.frame = outer;
        self.word().text += "$()";
        true
    }

    fn close_paren(&mut self) {
        if self.frame.parens == 0 && self.frame.closer == Closer::Paren {
            self.close();
            return;
        }
        self.end_command(false);
        self.frame.parens = self.frame.parens.saturating_sub(1);
    }

    /// `{` where a word begins: `{}` is a word, `{a,b}` are two, and else a command begins.
    fn brace(&mut self) {
        let inside = self.rest().get(1..).unwrap_or_default();
        let ends = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}' | b';' | b'"' | b'\'');
        let end = inside.bytes().position(ends);
        let list = end.and_then(|end| inside.get(..end));
        let is_closed = end.is_some_and(|end| inside.as_bytes().get(end) == Some(&b'}'));
        match list {
            Some("") if is_closed => self.literal(2),
            Some(list) if is_closed && list.contains(',') => {
                self.at += 1;
                self.frame.braces = true;
            }
            _ => self.step(1, |lexer| lexer.end_command(false)),
        }
    }

    /// How long a tag is that begins here, as in `<b>`.
    fn tag(&self) -> Option<usize> {
        let rest = self.rest().as_bytes();
        let is_first = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!' | b'?');
        if !self.how.prose || self.how.anywhere || !rest.get(1).is_some_and(is_first) {
            return None;
        }
        let end = rest.iter().skip(1).position(|byte| matches!(byte, b'<' | b'>' | b'\n'))? + 1;
        (rest.get(end) == Some(&b'>')).then_some(end + 1)
    }

    fn redirect_in(&mut self) {
        if let Some(length) = self.tag() {
            self.end_word();
            self.literal(length);
            self.end_word();
            return;
        }
        self.end_number();
        let marks = self.rest().bytes().take_while(|byte| *byte == b'<').count();
        self.at += marks;
        if self.peek(0) == Some(b'>') {
            self.redirect(1);
        } else {
            self.frame.target = Some(Target::Read);
        }
    }

    fn redirect(&mut self, bytes: usize) {
        self.end_number();
        self.at += bytes;
        if let Some(b'>' | b'|') = self.peek(0) {
            self.at += 1;
        }
        let duplicate = bytes == 1 && self.peek(0) == Some(b'&');
        self.at += usize::from(duplicate);
        self.frame.target = Some(if duplicate { Target::Duplicate } else { Target::Write });
    }

    /// Ends the word before a redirection; a number is that of a file, not a word.
    fn end_number(&mut self) {
        let is_number =
            |word: &Word<'_>| !word.is_quoted && word.text.bytes().all(|byte| byte.is_ascii_digit());
        if self.frame.word.as_ref().is_some_and(is_number) && !self.how.anywhere {
            self.frame.word = None;
        }
        self.end_word();
    }

    fn end_word(&mut self) {
        let Some(word) = self.frame.word.take() else { return };
        let command = &mut self.frame.command;
        let is_number =
            |word: &Word<'_>| word.text == "-" || word.text.bytes().all(|byte| byte.is_ascii_digit());
        match self.frame.target.take() {
            None if command.words.is_empty() && !word.is_quoted && is_reserved(&word.text) => {}
            None => command.words.push(word),
            Some(Target::Duplicate) if is_number(&word) => {}
            Some(target) => {
                if self.how.anywhere {
                    command.words.push(word.clone());
                }
                if target != Target::Read {
                    command.writes.push(word);
                }
            }
        }
    }

    fn end_command(&mut self, piped: bool) {
        self.end_word();
        let frame = &mut self.frame;
        frame.target = None;
        if frame.command.words.is_empty() && frame.command.writes.is_empty() {
            frame.command.words.clear();
            frame.piped = piped || (frame.piped && before(self.text.as_bytes(), self.at) == Some(b'\n'));
            return;
        }
        let mut command = std::mem::take(&mut frame.command);
        command.fed_by = frame.last.filter(|_| frame.piped);
        frame.last = Some(self.out.len());
        frame.piped = piped;
        self.out.push(command);
    }
}

/// Bytes that are more than a part of a word.
const SPECIAL: &[u8] = b" \t\r\n\x0b\x0c;&|(){}<>'\"`$\\,#";

/// Words before a command that are no part of it.
fn is_reserved(word: &str) -> bool {
    matches!(word, "then" | "do" | "else" | "if" | "elif" | "while" | "until" | "!")
}
