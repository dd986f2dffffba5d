//! The words of a command: the files that it writes to, and its paths.
//!
//! | program | writes to |
//! |---|---|
//! | any | the targets of `>`, `>>`, `>\|`, `&>` and `>&` |
//! | `tee touch mkdir rm rmdir truncate mv` | all operands: a moved file disappears from its old location |
//! | `cp install ln` | the last of several operands, or the directory after `-t`; `install -d` all |
//! | `dd` | `of=` |
//! | `sed -i` | the operands after the script |
//!
//! `install`, `touch` and others also begin sentences. Without a prompt or a key for commands, a name does not count
//! as a program if it has no option and more than two words follow, and the first of them has only letters.

use super::operands::is_stream;
use super::shell::{Command, Word, Words, name_of};
use crate::gates::scan::{Deadline, TimedOut};

/// Cost of reading a word, in bytes of plain scanning.
const WORD_COST: usize = 16;
/// Costs of judging a path, and each of its letters.
const PATH_COST: usize = 128;
const LETTER_COST: usize = 8;

/// Returns whether a command writes to a file that `is` accepts. If it is not `sure` that this is a command, it may
/// be a sentence.
pub(super) fn any_written(
    command: &Command,
    sure: bool,
    deadline: &Deadline<'_>,
    is: &dyn Fn(&str) -> bool,
) -> Result<bool, TimedOut> {
    if any(command.writes.all().iter().map(|word| word.text), deadline, is)? {
        return Ok(true);
    }
    for run in &command.runs {
        let Some((first, rest)) = command.argv(*run) else { continue };
        if !sure && is_sentence(rest, deadline)? {
            continue;
        }
        let has = |is: &dyn Fn(Word<'_>) -> bool| has_word(rest, deadline, is);
        let found = match name_of(first.text) {
            "tee" | "mkdir" | "rm" | "rmdir" | "mv" => {
                any(Operands::of(rest, "").chain(targets(rest)), deadline, is)?
            }
            "touch" => any(Operands::of(rest, "drt"), deadline, is)?,
            "truncate" => any(Operands::of(rest, "rs"), deadline, is)?,
            name @ ("cp" | "install" | "ln") => {
                let operands = || Operands::of(rest, "tSmgo");
                if name == "install" && has(&|word| has_letter(word, 'd'))? {
                    any(operands(), deadline, is)?
                } else {
                    let (mut count, mut last) = (0, None);
                    for operand in operands() {
                        deadline.spend(WORD_COST)?;
                        (count, last) = (count + 1, Some(operand));
                    }
                    let has_target = any(targets(rest), deadline, &|_| true)?;
                    let to = last.filter(|_| !has_target && count > 1);
                    any(to.into_iter().chain(targets(rest)), deadline, is)?
                }
            }
            "dd" => any(rest.iter().filter_map(|word| word.text.strip_prefix("of=")), deadline, is)?,
            "sed" if has(&|word| has_letter(word, 'i') || has_long(word, "in-place"))? => {
                let is_script = |word: Word<'_>| {
                    has_letter(word, 'e') || has_letter(word, 'f') || has_long(word, "expression")
                };
                any(Operands::of(rest, "efl").skip(usize::from(!has(&is_script)?)), deadline, is)?
            }
            _ => false,
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether `is` accepts one of these words.
fn any<'c>(
    mut words: impl Iterator<Item = &'c str>,
    deadline: &Deadline<'_>,
    is: &dyn Fn(&str) -> bool,
) -> Result<bool, TimedOut> {
    words.try_fold(false, |found, word| {
        deadline.spend(PATH_COST + LETTER_COST * word.len())?;
        Ok(found || is(word))
    })
}

/// Returns whether `is` accepts one of these words, unprocessed.
fn has_word(
    words: Words<'_>,
    deadline: &Deadline<'_>,
    is: &dyn Fn(Word<'_>) -> bool,
) -> Result<bool, TimedOut> {
    for word in words.iter() {
        deadline.spend(WORD_COST)?;
        if is(word) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether the words after a name are prose, as in `install the package into /usr/local`: no option, more
/// than two words, and the first has only letters.
fn is_sentence(words: Words<'_>, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
    let is_plain = |word: Word<'_>| {
        let text = word.text.trim_end_matches([',', '.', ':', ';']);
        !word.is_quoted && !text.is_empty() && text.chars().all(char::is_alphabetic)
    };
    let may_be = words.len() > 2 && words.first().is_some_and(is_plain);
    Ok(may_be && !has_word(words, deadline, &|word| word.text.starts_with('-'))?)
}

/// The operands among words, without options and their values.
struct Operands<'c> {
    words: Words<'c>,
    next: usize,
    valued: &'static str,
    ended: bool,
}

impl<'c> Operands<'c> {
    fn of(words: Words<'c>, valued: &'static str) -> Self {
        Self { words, next: 0, valued, ended: false }
    }
}

impl<'c> Iterator for Operands<'c> {
    type Item = &'c str;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = self.words.get(self.next)?.text;
            self.next += 1;
            if self.ended || !text.starts_with('-') || text == "-" {
                return Some(text);
            }
            self.ended = text == "--";
            let takes_value = |letter: char| text.len() == 2 && text.ends_with(letter);
            if self.valued.chars().any(takes_value) {
                self.next += 1;
            }
        }
    }
}

/// Returns the directories after `-t` or `--target-directory`.
fn targets(words: Words<'_>) -> impl Iterator<Item = &str> {
    let pairs = words.iter().zip(words.iter().skip(1));
    let apart = pairs.filter(|(option, _)| matches!(option.text, "-t" | "--target-directory"));
    let attached = words.iter().filter_map(|word| word.text.strip_prefix("--target-directory="));
    apart.map(|(_, value)| value.text).chain(attached)
}

/// Returns whether a word is an option with this letter. A suffix may follow, as in `-i.bak`.
fn has_letter(word: Word<'_>, letter: char) -> bool {
    let letters = word.text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    letters
        .is_some_and(|letters| letters.chars().take_while(char::is_ascii_alphabetic).any(|one| one == letter))
}

fn has_long(word: Word<'_>, name: &str) -> bool {
    word.text.strip_prefix("--").is_some_and(|long| long.starts_with(name))
}

/// Returns whether a program takes paths and its name does not begin sentences.
pub(super) fn takes_paths(name: &str) -> bool {
    const NAMES: [&str; 31] = [
        "cat", "cd", "chmod", "chown", "cp", "dd", "du", "find", "head", "ls", "ln", "mkdir", "mv", "nano",
        "pushd", "rm", "rmdir", "rsync", "scp", "sed", "shred", "stat", "tail", "tar", "tee", "touch",
        "truncate", "unlink", "vi", "vim", "xxd",
    ];
    NAMES.contains(&name_of(name))
}

/// Returns whether `is` accepts a path among the operands or redirections of a command. If it is not `sure` that this
/// is a command, only programs that are known to take paths count.
pub(super) fn any_path(
    command: &Command,
    sure: bool,
    windows: bool,
    deadline: &Deadline<'_>,
    is: &dyn Fn(&str) -> bool,
) -> Result<bool, TimedOut> {
    let is = |path: &str| is_path(path, windows) && is(path);
    for run in &command.runs {
        let Some((first, rest)) = command.argv(*run) else { continue };
        let name = name_of(first.text);
        if !sure && !takes_paths(name) {
            continue;
        }
        if any(command.writes.all().iter().map(|word| word.text), deadline, &is)? {
            return Ok(true);
        }
        let skipped = match name {
            // These programs print their operands.
            "echo" | "printf" | "test" | "[" | "[[" | "expr" => continue,
            // The first operand of these programs is a pattern or a program.
            "sed" | "awk" | "grep" | "egrep" | "fgrep" | "rg" | "perl" | "jq" => 1,
            _ => 0,
        };
        let values = rest.iter().filter_map(|word| {
            let is_named = word.text.starts_with("--") || name == "dd";
            word.text.split_once('=').filter(|_| is_named).map(|(_, value)| value)
        });
        if any(Operands::of(rest, "").skip(skipped).chain(values), deadline, &is)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_path(word: &str, windows: bool) -> bool {
    let is_drive =
        || matches!(word.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    let is_home =
        word == "~" || word.starts_with("~/") || word.starts_with("$HOME") || word.starts_with("${HOME}");
    let is_unknown = word.starts_with('$') || word.contains("://");
    let has_names = word.contains('/') || word == ".." || (windows && is_drive());
    is_home || (has_names && !is_unknown && !is_stream(word) && !word.contains('\n'))
}
