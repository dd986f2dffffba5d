//! Shell text as commands: what of its grammar is understood.
//!
//! | written | read as |
//! |---|---|
//! | `'…'`, `"…"`, `$'…'`, `\x`, `\` at a line's end | quotes and escapes, resolved: `r\m`, `'r'm` and `r""m` are `rm` |
//! | `$IFS`, `${IFS…}` | a blank |
//! | `#` where a word begins, no quote or bracket is open and the rest of the line has pairs of quotes | a comment, to the end of its line; where commands may begin at any word, nothing |
//! | newline, `; & && \| \|\| ( ) { }`, `then do else if elif while until !` before a name | the next command begins |
//! | `{a,b}` | the words `a` and `b` |
//! | `$(…)`, backticks | commands of their own; in the word around them stands `$()` |
//! | `<(…)`, `>(…)` | commands of their own |
//! | `> f`, `>> f`, `>\| f`, `&> f`, `>& f` | `f` is written to |
//! | `< f`, `<< word`, `2>&1` | nothing |
//! | `A=b` before a name | nothing |
//! | wrappers and programs given as text | opened, see `shell/wrappers.rs` |
//!
//! Quotes that do not close are no quotes: the text is cut at blanks. Other variables, functions, aliases and arithmetic
//! are not followed, and every line is read by itself.
//!
//! A substitution, a program given as text, `find -exec` and, where commands may begin inside of quotes, a quoted text
//! are a level each. Past [`SHELL_LEVELS_MAX`] nothing is read: [`Trouble::TooDeep`]. Each level reads a byte a fixed number of
//! times, so the time is linear in the text. Memory is that of one command: each is forgotten when it was looked at.

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

/// Why a text cannot be read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The budget is spent.
    TimedOut,
    /// Commands lie in commands too deep.
    TooDeep,
}

impl From<TimedOut> for Trouble {
    fn from(TimedOut: TimedOut) -> Self {
        Self::TimedOut
    }
}

/// How a text is read.
#[expect(clippy::struct_excessive_bools, reason = "each says something else of a text")]
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    /// A command may begin at any word, also inside of quotes.
    pub(super) anywhere: bool,
    /// It may be words of a human: an apostrophe is no quote, `->` and `=>` write nowhere.
    pub(super) prose: bool,
    /// Paths and programs of Windows are known.
    pub(super) windows: bool,
    /// `#` may begin a comment. Else, where a shell begins commands, a quote may be open from a line before.
    pub(super) comments: bool,
}

impl How {
    /// How a line is read in which commands begin only where a shell begins one.
    pub(super) fn balanced(line: &Line<'_>, prose: bool, windows: bool) -> Self {
        Self { anywhere: false, prose, windows, comments: line.has_comments }
    }
}

/// Takes each command as it ends, with what is known of the one whose output it reads, and answers what is known of it.
pub(super) type Visit<'v> = dyn FnMut(&Command, Fed) -> Result<Fed, TimedOut> + 'v;

/// Calls `visit` with the commands of a line, see [`read`]. Where commands begin only where a shell begins one, those of a table
/// stand in backticks.
pub(super) fn read_line(
    line: &Line<'_>,
    how: How,
    deadline: &Deadline<'_>,
    visit: &mut Visit<'_>,
) -> Result<(), Trouble> {
    if how.anywhere || !how.prose || !line.is_table() {
        return read(line.body, how, deadline, visit);
    }
    line.body.split('`').skip(1).step_by(2).try_for_each(|part| read(part, how, deadline, visit))
}

/// Calls `visit` with the commands of a text, and with those of each program that it holds. Who feeds a command comes before it.
/// A command is forgotten when it was visited, so that memory does not grow with their number.
fn read(text: &str, how: How, deadline: &Deadline<'_>, visit: &mut Visit<'_>) -> Result<(), Trouble> {
    let mut waiting = Waiting::default();
    // Where commands may begin inside of quotes, those of printers are quotes too.
    let straight = if how.anywhere { with_straight_quotes(text, deadline)? } else { None };
    read_level(straight.as_deref().unwrap_or(text), 0, how, &mut waiting, deadline, visit)?;
    while let Some((text, level)) = waiting.pop() {
        if level > SHELL_LEVELS_MAX {
            return Err(Trouble::TooDeep);
        }
        // A text that is given to a program is a whole one.
        let how = How { comments: how.comments || !how.anywhere, ..how };
        read_level(&text, level, how, &mut waiting, deadline, visit)?;
    }
    Ok(())
}

/// The text with straight quotes in the place of those of printers, if it has any.
#[expect(clippy::needless_bitwise_bool, reason = "without branches this is vector code")]
fn with_straight_quotes(text: &str, deadline: &Deadline<'_>) -> Result<Option<String>, TimedOut> {
    const QUOTES: [char; 5] = ['“', '”', '„', '«', '»'];
    // The last two bytes of each of them.
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

/// Visits the commands of one text, and adds what its programs hold to what is waiting.
fn read_level(
    text: &str,
    level: usize,
    how: How,
    waiting: &mut Waiting,
    deadline: &Deadline<'_>,
    visit: &mut Visit<'_>,
) -> Result<(), Trouble> {
    let mut sink = |command: &mut Command, fed: Fed| {
        deadline.spend(COST * command.words.all().len())?;
        let mut push = |text: &str| waiting.push(text, level + 1);
        if how.anywhere {
            programs::texts_anywhere(command, how.windows, deadline, &mut push)?;
        } else {
            wrappers::open(command, level, how.windows, deadline, &mut push)?;
        }
        Ok(visit(command, fed)?)
    };
    let quotes_of = |quotes| lex::lex(text, quotes, level, how, deadline, None);
    if has_quote(text, deadline)? && quotes_of(Quotes::Shell)? == Lexed::Unbalanced {
        lex::lex(text, Quotes::None, level, how, deadline, Some(&mut sink))?;
        return Ok(());
    }
    lex::lex(text, Quotes::Shell, level, how, deadline, Some(&mut sink))?;
    // By chance two apostrophes are a pair, and what stands between them looks quoted.
    let may_be_prose = how.prose && !how.anywhere && level == 0 && has_apostrophe(text, deadline)?;
    if may_be_prose && quotes_of(Quotes::NoApostrophes)? == Lexed::Whole {
        lex::lex(text, Quotes::NoApostrophes, level, how, deadline, Some(&mut sink))?;
    }
    if !how.anywhere && !how.comments {
        // A quote is open from before, so what looks quoted here is not.
        lex::lex(text, Quotes::None, level, how, deadline, Some(&mut sink))?;
    }
    Ok(())
}

/// Whether a text has a quote, which may not be closed.
fn has_quote(text: &str, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
    let bytes = text.as_bytes();
    Ok(find_byte(bytes, 0, b'"', deadline)?.is_some() || find_byte(bytes, 0, b'\'', deadline)?.is_some())
}

/// Whether a `'` stands between two letters.
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
