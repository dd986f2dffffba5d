//! The lexer: one pass with a stack of its own, a frame for each substitution that is open.

mod quotes;
mod redirect;

use crate::gates::scan::{Deadline, TimedOut, before, char_at};
use crate::limits::SHELL_LEVELS_MAX;

use super::command::Command;
use super::{How, Trouble};
use redirect::is_file_number;

/// What is known of a command to the one that reads its output.
pub(in crate::gates::filesystem) type Fed = Option<u32>;

/// Takes each command as it ends, with what is known of the one whose output it reads, and answers what is known of it.
pub(super) type Sink<'s> = dyn FnMut(&mut Command, Fed) -> Result<Fed, Trouble> + 's;

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

/// The word that is being read; its letters are the last of its command.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    is_quoted: bool,
}

/// A substitution that is open, or the text itself.
#[derive(Debug)]
struct Frame {
    closer: Closer,
    /// Parentheses that are open in it.
    parens: usize,
    command: Command,
    word: Option<Open>,
    target: Option<Target>,
    /// Where double quotes began in the letters of the command, if they are open.
    double: Option<usize>,
    /// Whether commas part words, since `{a,b}` is open.
    braces: bool,
    /// What is known of the last command.
    last: Fed,
    piped: bool,
}

impl Frame {
    fn new(closer: Closer) -> Self {
        let command = Command::default();
        let (word, target, double, last) = (None, None, None, None);
        Self { closer, parens: 0, command, word, target, double, braces: false, last, piped: false }
    }
}

struct Lexer<'t, 'o, 's, 'd> {
    text: &'t str,
    at: usize,
    quotes: Quotes,
    level: usize,
    how: How,
    /// The frames around the one that is read.
    outer: Vec<Frame>,
    frame: Frame,
    /// Where commands go; none if only the quotes of the text are of interest.
    sink: Option<&'o mut Sink<'s>>,
    trouble: Option<Trouble>,
    unbalanced: bool,
    /// Up to there no `#` begins a comment.
    no_comment_to: usize,
    deadline: &'t Deadline<'d>,
}

/// What reading a byte costs, in bytes that are only looked at.
pub(super) const COST: usize = 16;

/// Most bytes that are taken at once, so that the deadline is looked at between them.
const RUN_BYTES_MAX: usize = 4096;

/// Hands over the commands of a text that lies at a level, each as it ends.
pub(super) fn lex(
    text: &str,
    quotes: Quotes,
    level: usize,
    how: How,
    deadline: &Deadline<'_>,
    sink: Option<&mut Sink<'_>>,
) -> Result<Lexed, Trouble> {
    let (outer, frame) = (Vec::new(), Frame::new(Closer::End));
    let (at, trouble, unbalanced, no_comment_to) = (0, None, false, 0);
    let mut lexer = Lexer {
        text,
        at,
        quotes,
        level,
        how,
        outer,
        frame,
        sink,
        trouble,
        unbalanced,
        no_comment_to,
        deadline,
    };
    while let Some(byte) = lexer.peek(0) {
        let from = lexer.at;
        if lexer.frame.double.is_some() {
            lexer.in_double(byte)?;
        } else {
            lexer.plain(byte)?;
        }
        deadline.spend((lexer.at - from) * COST)?;
        if let Some(trouble) = lexer.trouble {
            return Err(trouble);
        }
    }
    while lexer.close() {}
    lexer.end_command(false);
    match lexer.trouble {
        Some(trouble) => Err(trouble),
        None => Ok(if lexer.unbalanced { Lexed::Unbalanced } else { Lexed::Whole }),
    }
}

impl<'t> Lexer<'t, '_, '_, '_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The word that is read here; perhaps it begins.
    fn word(&mut self) -> &mut Open {
        self.frame.word.get_or_insert_default()
    }

    /// Adds letters to the word that is read here.
    fn push_str(&mut self, part: &str) {
        self.word();
        self.frame.command.words.push_str(part);
    }

    /// How many letters the command has.
    fn letters(&self) -> usize {
        self.frame.command.words.letters()
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
            b'{' if self.is_word_start() => self.brace()?,
            b'}' if self.frame.braces => self.step(1, |lexer| {
                lexer.end_word();
                lexer.frame.braces = false;
            }),
            b'}' if self.is_word_start() => self.step(1, |lexer| lexer.end_command(false)),
            b'<' => self.redirect_in()?,
            b'>' if self.is_arrow() => self.literal(1),
            b'>' => self.redirect(1),
            b'#' if self.is_word_start() => self.hash()?,
            b'\'' | b'"' if self.quotes == Quotes::None => self.at += 1,
            b'\'' if self.is_apostrophe() => self.literal(1),
            b'\'' => self.single()?,
            b'"' => {
                self.at += 1;
                self.word().is_quoted = true;
                self.frame.double = Some(self.letters());
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
        let part: &'t str = self.text.get(self.at..self.at + bytes).unwrap_or_default();
        self.push_str(part);
        self.at += bytes;
    }

    /// Takes everything up to a place as it is.
    fn literal_to(&mut self, end: usize) -> Result<(), TimedOut> {
        self.word();
        while self.at < end {
            let near = (self.at + RUN_BYTES_MAX).min(end);
            let cut = (near..=end).find(|cut| self.text.is_char_boundary(*cut)).unwrap_or(end);
            self.deadline.spend(cut - self.at)?;
            self.literal(cut - self.at);
        }
        Ok(())
    }

    /// Takes the character that stands here, and what follows while it is such. A long row of them is taken in parts.
    fn run(&mut self, is: impl Fn(u8) -> bool) {
        let first = char_at(self.text, self.at).map_or(1, char::len_utf8);
        let more = self.text.as_bytes().get(self.at + first..).unwrap_or_default();
        let end = first + more.iter().take(RUN_BYTES_MAX).take_while(|byte| is(**byte)).count();
        let cut = (first..=end).rev().find(|cut| self.text.is_char_boundary(self.at + cut));
        self.literal(cut.unwrap_or(first));
    }

    fn is_arrow(&self) -> bool {
        self.how.prose
            && !self.how.anywhere
            && matches!(before(self.text.as_bytes(), self.at), Some(b'-' | b'='))
    }

    fn backtick(&mut self) -> Result<(), Trouble> {
        let is_open = |frame: &Frame| frame.closer == Closer::Backtick;
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
        self.push_str("$()");
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

    fn end_word(&mut self) {
        let Some(Open { is_quoted }) = self.frame.word.take() else { return };
        let target = self.frame.target.take();
        let Command { words, writes, .. } = &mut self.frame.command;
        let text = words.open_text();
        match target {
            None if words.is_empty() && !is_quoted && is_reserved(text) => words.forget(),
            None => words.end(is_quoted),
            Some(Target::Duplicate) if text == "-" || is_file_number(text) => words.forget(),
            Some(target) => {
                if target != Target::Read {
                    writes.push_str(text);
                    writes.end(is_quoted);
                }
                if self.how.anywhere { words.end(is_quoted) } else { words.forget() }
            }
        }
    }

    fn end_command(&mut self, piped: bool) {
        self.end_word();
        let frame = &mut self.frame;
        frame.target = None;
        if frame.command.is_empty() {
            frame.piped = piped || (frame.piped && before(self.text.as_bytes(), self.at) == Some(b'\n'));
            return;
        }
        let fed = frame.last.filter(|_| frame.piped);
        let known = self.sink.as_mut().map_or(Ok(None), |sink| sink(&mut frame.command, fed));
        frame.command.clear();
        frame.piped = piped;
        match known {
            Ok(known) => frame.last = known,
            Err(trouble) => self.trouble = self.trouble.or(Some(trouble)),
        }
    }
}

/// Bytes that are more than a part of a word.
const SPECIAL: &[u8] = b" \t\r\n\x0b\x0c;&|(){}<>'\"`$\\,#";

/// Words before a command that are no part of it.
fn is_reserved(word: &str) -> bool {
    matches!(word, "then" | "do" | "else" | "if" | "elif" | "while" | "until" | "!")
}
