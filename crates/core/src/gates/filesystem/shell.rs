//! Parses shell text into commands. This part of the grammar is supported:
//!
//! | written | read as |
//! |---|---|
//! | `'…'`, `"…"`, `$'…'`, `\x`, `\` at a line's end | quotes and escapes, resolved: `r\m`, `'r'm` and `r""m` are `rm` |
//! | `$IFS`, `${IFS…}` | a blank |
//! | `#` at the start of a word, if no quote or bracket is open and the rest of the line has an even number of each quote | a comment, to the end of the line; if commands may begin at any word, nothing |
//! | newline, `; & && \| \|\| ( ) { }`, `then do else if elif while until !` in front of a name | the next command begins |
//! | `{a,b}` | the words `a` and `b` |
//! | `$(…)`, backticks | separate commands; the word around them contains `$()` |
//! | `<(…)`, `>(…)` | separate commands |
//! | `> f`, `>> f`, `>\| f`, `&> f`, `>& f` | `f` is written to |
//! | `< f`, `<< word`, `2>&1` | nothing |
//! | `A=b` in front of a name | nothing |
//! | wrappers and programs passed as text | the inner commands, see `shell/wrappers.rs` |
//!
//! Unclosed quotes do not count as quotes: the text is split at blanks. Other variables, functions, aliases and
//! arithmetic are not followed, and every line is read separately.
//!
//! A substitution, a program passed as text, `find -exec` and, if commands may begin inside quotes, a quoted text add
//! one level each. Beyond [`SHELL_LEVELS_MAX`] reading stops with [`Trouble::TooDeep`]. Each level reads a byte a
//! fixed number of times, so the time is linear in the text. Memory is that of one command: each command is dropped
//! after it was visited.

mod command;
mod encoded;
mod lex;
mod lines;
mod open_quotes;
mod programs;
mod root_prompt;
mod waiting;
mod wrappers;

use crate::gates::scan::{DONE, Deadline, TimedOut, each, find_byte};
use crate::limits::SHELL_LEVELS_MAX;
use lex::{COST, Fed, Lexed, Quotes};
use waiting::Waiting;

pub(super) use command::{Command, Word, Words};
pub(super) use lines::{Line, Lines};
pub(super) use wrappers::{is_transparent, is_wrapper, mentions, name_of, takes_text};

/// Why a text cannot be read to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The budget is spent.
    TimedOut,
    /// Commands are nested too deep.
    TooDeep,
}

impl From<TimedOut> for Trouble {
    fn from(TimedOut: TimedOut) -> Self {
        Self::TimedOut
    }
}

/// Options for reading a text.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent property of a text")]
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadOptions {
    /// A command may begin at any word, also inside quotes.
    pub(super) anywhere: bool,
    /// The text may be prose: an apostrophe is not a quote, and `->` and `=>` do not redirect.
    pub(super) prose: bool,
    /// Paths and programs of Windows count.
    pub(super) windows: bool,
    /// `#` may begin a comment. If not, a quote from an earlier line may still be open.
    pub(super) comments: bool,
}

impl ReadOptions {
    /// Returns the options for a line in which commands begin only where a shell begins one.
    pub(super) fn balanced(line: &Line<'_>, prose: bool, windows: bool) -> Self {
        Self { anywhere: false, prose, windows, comments: line.has_comments }
    }
}

/// Receives each command at its end, with what is known about the command whose output it reads. Returns what is
/// known about it.
pub(super) type Visit<'v> = dyn FnMut(&Command, Fed) -> Result<Fed, TimedOut> + 'v;

/// Calls `visit` with the commands of a line, see [`read`]. In balanced mode, only text in backticks is read in a
/// Markdown table.
pub(super) fn read_line(
    line: &Line<'_>,
    options: ReadOptions,
    deadline: &Deadline<'_>,
    visit: &mut Visit<'_>,
) -> Result<(), Trouble> {
    if options.anywhere || !options.prose || !line.is_table() {
        return read(line.body, options, deadline, visit);
    }
    line.body.split('`').skip(1).step_by(2).try_for_each(|part| read(part, options, deadline, visit))
}

/// Calls `visit` with the commands of a text and of each program inside it. A command comes after the one that feeds
/// it. A command is dropped after it was visited, so that memory does not grow with the number of commands.
fn read(
    text: &str,
    options: ReadOptions,
    deadline: &Deadline<'_>,
    visit: &mut Visit<'_>,
) -> Result<(), Trouble> {
    let mut waiting = Waiting::default();
    // If commands may begin inside quotes, typographic quotes count too.
    let straight = if options.anywhere { with_straight_quotes(text, deadline)? } else { None };
    read_level(straight.as_deref().unwrap_or(text), 0, options, &mut waiting, deadline, visit)?;
    while let Some((text, level)) = waiting.pop() {
        if level > SHELL_LEVELS_MAX {
            return Err(Trouble::TooDeep);
        }
        // A text that is passed to a program is complete.
        let options = ReadOptions { comments: options.comments || !options.anywhere, ..options };
        read_level(&text, level, options, &mut waiting, deadline, visit)?;
    }
    Ok(())
}

/// Returns the text with straight quotes instead of typographic ones, if it has any.
#[expect(clippy::needless_bitwise_bool, reason = "code without branches is vectorized")]
fn with_straight_quotes(text: &str, deadline: &Deadline<'_>) -> Result<Option<String>, TimedOut> {
    const QUOTES: [char; 5] = ['“', '”', '„', '«', '»'];
    // The last two bytes of each typographic quote.
    let may_be = |before: u8, byte: u8| {
        ((before == 0x80) & (byte.wrapping_sub(0x9c) < 3))
            | ((before == 0xc2) & ((byte == 0xab) | (byte == 0xbb)))
    };
    let (mut straight, mut from) = (String::new(), 0);
    each(text.as_bytes(), deadline, may_be, |at| {
        let quote = (2..=3).find_map(|length| {
            let start = (at + 1).checked_sub(length)?;
            let char = text.get(start..=at)?.chars().next()?;
            QUOTES.contains(&char).then_some(start)
        });
        if let Some(start) = quote {
            straight.push_str(text.get(from..start).unwrap_or_default());
            straight.push('"');
            from = at + 1;
        }
        Ok(at + 1)
    })?;
    if from == 0 {
        return Ok(None);
    }
    straight.push_str(text.get(from..).unwrap_or_default());
    Ok(Some(straight))
}

/// Visits the commands of one text, and adds the texts of its programs to the waiting ones.
fn read_level(
    text: &str,
    level: usize,
    options: ReadOptions,
    waiting: &mut Waiting,
    deadline: &Deadline<'_>,
    visit: &mut Visit<'_>,
) -> Result<(), Trouble> {
    let mut sink = |command: &mut Command, fed: Fed| {
        deadline.spend(COST * command.words.all().len())?;
        let mut push = |text: &str| waiting.push(text, level + 1);
        if options.anywhere {
            programs::texts_anywhere(command, options.windows, deadline, &mut push)?;
        } else {
            wrappers::open(command, level, options.windows, deadline, &mut push)?;
        }
        Ok(visit(command, fed)?)
    };
    let quotes_of = |quotes| lex::lex(text, quotes, level, options, deadline, None);
    if has_quote(text, deadline)? && quotes_of(Quotes::Shell)? == Lexed::Unbalanced {
        lex::lex(text, Quotes::None, level, options, deadline, Some(&mut sink))?;
        return Ok(());
    }
    lex::lex(text, Quotes::Shell, level, options, deadline, Some(&mut sink))?;
    // Two apostrophes may form a pair by chance, and the text between them looks quoted.
    let may_be_prose = options.prose && !options.anywhere && level == 0 && has_apostrophe(text, deadline)?;
    if may_be_prose && quotes_of(Quotes::NoApostrophes)? == Lexed::Whole {
        lex::lex(text, Quotes::NoApostrophes, level, options, deadline, Some(&mut sink))?;
    }
    if !options.anywhere && !options.comments {
        // An earlier quote is still open, so the text that looks quoted here is not.
        lex::lex(text, Quotes::None, level, options, deadline, Some(&mut sink))?;
    }
    Ok(())
}

/// Returns whether a text has a quote, which may be unclosed.
fn has_quote(text: &str, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
    let bytes = text.as_bytes();
    Ok(find_byte(bytes, 0, b'"', deadline)?.is_some() || find_byte(bytes, 0, b'\'', deadline)?.is_some())
}

/// Returns whether a text has a `'` between two letters.
fn has_apostrophe(text: &str, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
    let (bytes, mut found) = (text.as_bytes(), false);
    each(
        bytes,
        deadline,
        |_, byte| byte == b'\'',
        |at| {
            found = open_quotes::is_apostrophe(bytes, at);
            Ok(if found { DONE } else { at + 1 })
        },
    )?;
    Ok(found)
}
