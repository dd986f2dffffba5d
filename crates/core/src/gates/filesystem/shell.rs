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
//! are a level each. Past [`SHELL_LEVELS_MAX`] nothing is read: [`Trouble::TooDeep`]. Each level reads a byte at most
//! twice, so the time is linear in the text.

mod encoded;
mod lex;
mod lines;
mod open_quotes;
mod wrappers;

use crate::gates::scan::{Deadline, TimedOut};
use crate::limits::SHELL_LEVELS_MAX;
use lex::{COST, Lexed, Quotes};

pub(super) use lex::{Command, Word};
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

/// Calls `visit` with the commands of a line, see [`read`]. Where commands begin only where a shell begins one, those of a table
/// stand in backticks.
pub(super) fn read_line(
    line: &Line<'_>,
    how: How,
    deadline: &Deadline<'_>,
    visit: &mut dyn FnMut(&[Command<'_>]) -> Result<(), TimedOut>,
) -> Result<(), Trouble> {
    if how.anywhere || !how.prose || !line.is_table() {
        return read(line.body, how, deadline, visit);
    }
    line.body.split('`').skip(1).step_by(2).try_for_each(|part| read(part, how, deadline, visit))
}

/// Calls `visit` with the commands of a text, and with those of each program that it holds. Who feeds a command stands
/// before it.
fn read(
    text: &str,
    how: How,
    deadline: &Deadline<'_>,
    visit: &mut dyn FnMut(&[Command<'_>]) -> Result<(), TimedOut>,
) -> Result<(), Trouble> {
    const QUOTES: [char; 5] = ['“', '”', '„', '«', '»'];
    // Where commands may begin inside of quotes, those of printers are quotes too.
    let curly = how.anywhere && text.contains(QUOTES);
    let mut texts = vec![(if curly { text.replace(QUOTES, "\"") } else { text.to_owned() }, 0)];
    while let Some((text, level)) = texts.pop() {
        if level > SHELL_LEVELS_MAX {
            return Err(Trouble::TooDeep);
        }
        // A text that is given to a program is a whole one.
        let how = How { comments: how.comments || level > 0 && !how.anywhere, ..how };
        let mut commands = read_level(&text, level, how, deadline)?;
        for command in &mut commands {
            deadline.spend(COST * command.words.len())?;
            let inner = if how.anywhere {
                wrappers::texts_anywhere(command, how.windows)
            } else {
                wrappers::open(command, level, how.windows)?
            };
            texts.extend(inner.into_iter().map(|text| (text, level + 1)));
        }
        visit(&commands)?;
    }
    Ok(())
}

/// The commands of one text without what its programs hold.
fn read_level<'t>(
    text: &'t str,
    level: usize,
    how: How,
    deadline: &Deadline<'_>,
) -> Result<Vec<Command<'t>>, Trouble> {
    let mut commands = Vec::new();
    if lex::lex(text, Quotes::Shell, level, how, deadline, &mut commands)? == Lexed::Unbalanced {
        commands.clear();
        lex::lex(text, Quotes::None, level, how, deadline, &mut commands)?;
        return Ok(commands);
    }
    if how.prose && !how.anywhere && level == 0 && has_apostrophe(text) {
        // By chance two apostrophes are a pair, and what stands between them looks quoted.
        let from = commands.len();
        if lex::lex(text, Quotes::NoApostrophes, level, how, deadline, &mut commands)? == Lexed::Unbalanced {
            commands.truncate(from);
        }
    }
    if !how.anywhere && !how.comments {
        // A quote is open from before, so what looks quoted here is not.
        lex::lex(text, Quotes::None, level, how, deadline, &mut commands)?;
    }
    Ok(commands)
}

/// Whether a `'` stands between two letters.
fn has_apostrophe(text: &str) -> bool {
    memchr::memchr_iter(b'\'', text.as_bytes()).any(|at| open_quotes::is_apostrophe(text.as_bytes(), at))
}
