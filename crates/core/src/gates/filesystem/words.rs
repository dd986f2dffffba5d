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
use super::shell::{Command, Word, name_of};

/// The files that a command writes to. Where it is not `sure` that it is one, it may be a sentence.
pub(super) fn written<'c>(command: &'c Command<'_>, sure: bool) -> Vec<&'c str> {
    let mut written: Vec<&str> = command.writes.iter().map(|word| word.text.as_ref()).collect();
    for run in &command.runs {
        let Some((first, rest)) = command.words.get(run.start..run.end).and_then(|argv| argv.split_first())
        else {
            continue;
        };
        if !sure && is_sentence(rest) {
            continue;
        }
        match name_of(&first.text) {
            "tee" | "mkdir" | "rm" | "rmdir" | "mv" => {
                written.extend(Operands::of(rest, "").chain(targets(rest)));
            }
            "touch" => written.extend(Operands::of(rest, "drt")),
            "truncate" => written.extend(Operands::of(rest, "rs")),
            name @ ("cp" | "install" | "ln") => {
                let operands: Vec<&str> = Operands::of(rest, "tSmgo").collect();
                let to: Vec<&str> = targets(rest).collect();
                let makes_folders = name == "install" && has_letter(rest, 'd');
                match operands.last() {
                    _ if makes_folders => written.extend(operands),
                    Some(last) if to.is_empty() && operands.len() > 1 => written.push(last),
                    _ => written.extend(to),
                }
            }
            "dd" => written.extend(rest.iter().filter_map(|word| word.text.strip_prefix("of="))),
            "sed" if has_letter(rest, 'i') || has_long(rest, "in-place") => {
                let has_script =
                    has_letter(rest, 'e') || has_letter(rest, 'f') || has_long(rest, "expression");
                written.extend(Operands::of(rest, "efl").skip(usize::from(!has_script)));
            }
            _ => {}
        }
    }
    written
}

/// Whether what follows a name are words of a human, as in `install the package into /usr/local`: no option, more than two of
/// them, and the first is made of letters only.
fn is_sentence(words: &[Word<'_>]) -> bool {
    let has_option = words.iter().any(|word| word.text.starts_with('-'));
    let is_plain = |word: &Word<'_>| {
        let text = word.text.trim_end_matches([',', '.', ':', ';']);
        !word.is_quoted() && !text.is_empty() && text.chars().all(char::is_alphabetic)
    };
    words.len() > 2 && !has_option && words.first().is_some_and(is_plain)
}

/// The operands among words, without options and the values of those that take one.
struct Operands<'c, 't> {
    words: core::slice::Iter<'c, Word<'t>>,
    valued: &'static str,
    ended: bool,
}

impl<'c, 't> Operands<'c, 't> {
    fn of(words: &'c [Word<'t>], valued: &'static str) -> Self {
        Self { words: words.iter(), valued, ended: false }
    }
}

impl<'c> Iterator for Operands<'c, '_> {
    type Item = &'c str;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = self.words.next()?.text.as_ref();
            if self.ended || !text.starts_with('-') || text == "-" {
                return Some(text);
            }
            self.ended = text == "--";
            let takes_value = |letter: char| text.len() == 2 && text.ends_with(letter);
            if self.valued.chars().any(takes_value) {
                self.words.next();
            }
        }
    }
}

/// The directory after `-t` or `--target-directory`.
fn targets<'c>(words: &'c [Word<'_>]) -> impl Iterator<Item = &'c str> {
    let pairs = words.iter().zip(words.iter().skip(1));
    let apart = pairs.filter(|(option, _)| matches!(option.text.as_ref(), "-t" | "--target-directory"));
    let attached = words.iter().filter_map(|word| word.text.strip_prefix("--target-directory="));
    apart.map(|(_, value)| value.text.as_ref()).chain(attached)
}

fn has_letter(words: &[Word<'_>], letter: char) -> bool {
    let is_it = |word: &Word<'_>| {
        // After the letter a suffix may follow, as in `-i.bak`.
        let letters = word.text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        letters.is_some_and(|letters| {
            letters.chars().take_while(char::is_ascii_alphabetic).any(|one| one == letter)
        })
    };
    words.iter().any(is_it)
}

fn has_long(words: &[Word<'_>], name: &str) -> bool {
    words.iter().any(|word| word.text.strip_prefix("--").is_some_and(|long| long.starts_with(name)))
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

/// The paths among the operands of a command and what it is redirected to. Where it is not `sure` that it is one, only
/// programs that are known to take paths count.
pub(super) fn paths<'c>(command: &'c Command<'_>, sure: bool, windows: bool) -> Vec<&'c str> {
    let mut found = Vec::new();
    for run in &command.runs {
        let Some((first, rest)) = command.words.get(run.start..run.end).and_then(|argv| argv.split_first())
        else {
            continue;
        };
        let name = name_of(&first.text);
        if !sure && !takes_paths(name) {
            continue;
        }
        found.extend(command.writes.iter().map(|word| word.text.as_ref()));
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
        found.extend(Operands::of(rest, "").skip(skipped).chain(values));
    }
    found.retain(|path| is_path(path, windows));
    found
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
