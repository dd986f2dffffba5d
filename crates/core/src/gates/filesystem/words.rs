//! What the words of a command mean: the files that it writes to, and the paths that it is given.
//!
//! | program | writes to |
//! |---|---|
//! | any | what `>`, `>>`, `>\|`, `&>` and `>&` name |
//! | `tee touch mkdir rm rmdir truncate mv` | all operands: what is moved away is gone where it was |
//! | `cp install ln` | the last of several operands, or the directory after `-t`; `install -d` all |
//! | `dd` | `of=` |
//! | `sed -i` | the operands after the script |
//!
//! `install`, `touch` and others begin sentences too. Without a prompt and a key that names commands, a name with no option and
//! more than two words after it, of which the first is made of letters only, is none of these programs.

use super::operands::is_stream;
use super::shell::{Command, Word, Words, name_of};
use crate::gates::scan::{Deadline, TimedOut};

/// What looking at a word costs, in bytes that are only looked at.
const WORD_COST: usize = 16;
/// What judging a path costs, and each of its letters.
const PATH_COST: usize = 128;
const LETTER_COST: usize = 8;

/// Whether a command writes to a file that is such. Where it is not `sure` that it is a command, it may be a sentence.
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

/// Whether one of these words is such.
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

/// The same for words as they are.
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

/// Whether what follows a name are words of a human, as in `install the package into /usr/local`: no option, more than two of
/// them, and the first is made of letters only.
fn is_sentence(words: Words<'_>, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
    let is_plain = |word: Word<'_>| {
        let text = word.text.trim_end_matches([',', '.', ':', ';']);
        !word.is_quoted && !text.is_empty() && text.chars().all(char::is_alphabetic)
    };
    let may_be = words.len() > 2 && words.first().is_some_and(is_plain);
    Ok(may_be && !has_word(words, deadline, &|word| word.text.starts_with('-'))?)
}

/// The operands among words, without options and the values of those that take one.
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

/// The directory after `-t` or `--target-directory`.
fn targets(words: Words<'_>) -> impl Iterator<Item = &str> {
    let pairs = words.iter().zip(words.iter().skip(1));
    let apart = pairs.filter(|(option, _)| matches!(option.text, "-t" | "--target-directory"));
    let attached = words.iter().filter_map(|word| word.text.strip_prefix("--target-directory="));
    apart.map(|(_, value)| value.text).chain(attached)
}

/// Whether a word is an option with that letter. After it a suffix may follow, as in `-i.bak`.
fn has_letter(word: Word<'_>, letter: char) -> bool {
    let letters = word.text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    letters
        .is_some_and(|letters| letters.chars().take_while(char::is_ascii_alphabetic).any(|one| one == letter))
}

fn has_long(word: Word<'_>, name: &str) -> bool {
    word.text.strip_prefix("--").is_some_and(|long| long.starts_with(name))
}

/// Whether a program takes paths and its name is no word that begins a sentence.
pub(super) fn takes_paths(name: &str) -> bool {
    const NAMES: [&str; 31] = [
        "cat", "cd", "chmod", "chown", "cp", "dd", "du", "find", "head", "ls", "ln", "mkdir", "mv", "nano",
        "pushd", "rm", "rmdir", "rsync", "scp", "sed", "shred", "stat", "tail", "tar", "tee", "touch",
        "truncate", "unlink", "vi", "vim", "xxd",
    ];
    NAMES.contains(&name_of(name))
}

/// Whether a path among the operands of a command, or one that it is redirected to, is such. Where it is not `sure` that it is a
/// command, only programs that are known to take paths count.
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
            // They print their operands.
            "echo" | "printf" | "test" | "[" | "[[" | "expr" => continue,
            // Their first operand is a pattern or a program.
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
