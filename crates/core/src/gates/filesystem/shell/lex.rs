//! The lexer: one pass with its own stack, with one frame per open substitution.

mod quotes;
mod redirect;

use crate::gates::scan::{Deadline, TimedOut, before, char_at};
use crate::limits::SHELL_LEVELS_MAX;

use super::command::Command;
use super::{ReadOptions, Trouble};
use redirect::is_file_number;

/// What the next command of a pipe knows about the previous one.
pub(in crate::gates::filesystem) type Fed = Option<u32>;

/// Receives each command at its end, with what is known about the command whose output it reads. Returns what is
/// known about it.
pub(super) type Sink<'s> = dyn FnMut(&mut Command, Fed) -> Result<Fed, Trouble> + 's;

/// The characters that count as quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// As in a shell.
    Shell,
    /// As in a shell, except a `'` between two letters.
    NoApostrophes,
    /// No quotes, because they do not close.
    None,
}

/// The state at the end of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lexed {
    Whole,
    /// Inside quotes.
    Unbalanced,
}

/// The target of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Read,
    Write,
    /// After `>&`: the number of an open file, or a file.
    Duplicate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closer {
    End,
    Paren,
    Backtick,
}

/// The word that is being read. Its letters are the last ones of its command.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    is_quoted: bool,
}

/// An open substitution, or the text itself.
#[derive(Debug)]
struct Frame {
    closer: Closer,
    /// Number of open parentheses in it.
    parens: usize,
    command: Command,
    word: Option<Open>,
    target: Option<Target>,
    /// Start of the open double quotes in the letters of the command; `None` if they are closed.
    double: Option<usize>,
    /// Whether commas separate words, because `{a,b}` is open.
    braces: bool,
    /// What is known about the last command.
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
    options: ReadOptions,
    /// The frames around the current one.
    outer: Vec<Frame>,
    frame: Frame,
    /// Receiver of the commands; `None` if only the quotes of the text matter.
    sink: Option<&'o mut Sink<'s>>,
    trouble: Option<Trouble>,
    unbalanced: bool,
    /// In front of this position no `#` begins a comment.
    no_comment_to: usize,
    deadline: &'t Deadline<'d>,
}

/// Cost of lexing a byte, in bytes of plain scanning.
pub(super) const COST: usize = 16;

/// Most bytes that are read at once, so that the deadline is checked in between.
const RUN_BYTES_MAX: usize = 4096;

/// Passes the commands of a text at this level to `sink`, each at its end.
pub(super) fn lex(
    text: &str,
    quotes: Quotes,
    level: usize,
    options: ReadOptions,
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
        options,
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

    /// Returns the word that is being read, and starts one if there is none.
    fn word(&mut self) -> &mut Open {
        self.frame.word.get_or_insert_default()
    }

    /// Adds letters to the word that is being read.
    fn push_str(&mut self, part: &str) {
        self.word();
        self.frame.command.words.push_str(part);
    }

    /// Returns the number of letters of the command.
    fn letters(&self) -> usize {
        self.frame.command.words.letters()
    }

    fn is_word_start(&self) -> bool {
        self.frame.word.is_none()
    }

    /// Reads a byte outside double quotes.
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

    /// Reads a byte inside double quotes.
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

    /// Adds this many bytes unchanged.
    fn literal(&mut self, bytes: usize) {
        let part: &'t str = self.text.get(self.at..self.at + bytes).unwrap_or_default();
        self.push_str(part);
        self.at += bytes;
    }

    /// Adds all bytes up to a position unchanged.
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

    /// Adds the character here and the following bytes that `is` accepts. A long run is read in parts.
    fn run(&mut self, is: impl Fn(u8) -> bool) {
        let first = char_at(self.text, self.at).map_or(1, char::len_utf8);
        let more = self.text.as_bytes().get(self.at + first..).unwrap_or_default();
        let end = first + more.iter().take(RUN_BYTES_MAX).take_while(|byte| is(**byte)).count();
        let cut = (first..=end).rev().find(|cut| self.text.is_char_boundary(self.at + cut));
        self.literal(cut.unwrap_or(first));
    }

    fn is_arrow(&self) -> bool {
        self.options.prose
            && !self.options.anywhere
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
        // The word continues after it, even if it has nothing else.
        self.word();
        self.outer.push(std::mem::replace(&mut self.frame, Frame::new(closer)));
        if self.level + self.outer.len() > SHELL_LEVELS_MAX { Err(Trouble::TooDeep) } else { Ok(()) }
    }

    /// Ends the innermost substitution, and continues the word around it. Returns false if there is none.
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
            None if words.is_empty() && !is_quoted && is_reserved(text) => words.drop_open(),
            None => words.end(is_quoted),
            Some(Target::Duplicate) if text == "-" || is_file_number(text) => words.drop_open(),
            Some(target) => {
                if target != Target::Read {
                    writes.push_str(text);
                    writes.end(is_quoted);
                }
                if self.options.anywhere { words.end(is_quoted) } else { words.drop_open() }
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

/// Bytes that are not plain parts of a word.
const SPECIAL: &[u8] = b" \t\r\n\x0b\x0c;&|(){}<>'\"`$\\,#";

/// Returns whether a word in front of a command is not part of it.
fn is_reserved(word: &str) -> bool {
    matches!(word, "then" | "do" | "else" | "if" | "elif" | "while" | "until" | "!")
}
