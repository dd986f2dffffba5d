//! Destructive commands.
//!
//! | finding | command |
//! |---|---|
//! | `rm-recursive-force` | rm with `-r`, `-R` or `--recursive`, and `-f` or `--force`; long names may be abbreviated |
//! | `rm-root` | rm, recursive, on `/ /* ~ $HOME . .. *` or a drive; rm with `--no-preserve-root` |
//! | `find-delete` | find with `-delete`, with `-exec rm`, or piped to `xargs rm` |
//! | `mkfs` | mkfs, mkfs.*, mke2fs, `wipefs -a`, `format X:` |
//! | `dd-device` | dd with `of=/dev/…`, except null, zero, stdout, stderr, tty, fd |
//! | `device-write` | shred, tee or `>` on a disk |
//! | `mode-root` | chmod or chown `-R` on `/` or a system directory |
//! | `fork-bomb` | a function that calls itself twice, see `destructive/bomb.rs` |
//! | `win-delete` | del or erase with `/s` and (`/q` or `/f`); rd or rmdir with `/s` and `/q`; Remove-Item or an alias with `-Recurse` and `-Force` |
//!
//! Drives, `format` and `win-delete` count only with the option `windows`.
//!
//! A command may also be given as a list of words, see `destructive/vectors.rs`.
//!
//! Strict: a command may begin at any word, also inside quotes. Balanced: a command begins only where a shell begins
//! one: at the start of a line, after a prompt, after a separator, and in a substitution. In balanced mode, rm and
//! find pass if every path may be deleted: it is relative (but not `.`, `..` or `*`), in an allowed directory, or below
//! `/tmp`. Paths that `xargs` or `find -exec` give to rm are allowed if all paths of that find are allowed. mkfs without
//! an operand passes too.

mod bomb;
mod facts;
mod hint;
mod vectors;

use crate::gates::scan::{DONE, Deadline, TimedOut};
use crate::gates::text::{Text, View};

use super::operands;
use super::paths::Roots;
use super::shell::{self, Command, Lines, ReadOptions, Trouble, Words, mentions, name_of, takes_text};
use facts::{About, Facts, switches_of};
use hint::{Hint, each_hint};
use vectors::Vectors;

/// The findings, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Findings(u16);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    RmRecursiveForce,
    RmRoot,
    FindDelete,
    Mkfs,
    DdDevice,
    DeviceWrite,
    ModeRoot,
    ForkBomb,
    WinDelete,
}

/// Their names, in the order in which they are reported.
const NAMES: [(Finding, &str); 9] = [
    (Finding::RmRecursiveForce, "rm-recursive-force"),
    (Finding::RmRoot, "rm-root"),
    (Finding::FindDelete, "find-delete"),
    (Finding::Mkfs, "mkfs"),
    (Finding::DdDevice, "dd-device"),
    (Finding::DeviceWrite, "device-write"),
    (Finding::ModeRoot, "mode-root"),
    (Finding::ForkBomb, "fork-bomb"),
    (Finding::WinDelete, "win-delete"),
];

/// Returns the names of all findings.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(_, name)| *name)
}

impl Findings {
    fn add(&mut self, finding: Finding, if_so: bool) {
        self.0 |= u16::from(if_so) << finding as u16;
    }

    fn has(self, finding: Finding) -> bool {
        self.0 >> finding as u16 & 1 == 1
    }

    /// Returns the names of the findings, if there are any.
    pub(super) fn names(self) -> Option<String> {
        let names: Vec<&str> =
            NAMES.iter().filter(|(finding, _)| self.has(*finding)).map(|(_, name)| *name).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// Keys whose values are shell text.
const COMMAND_KEYS: [&str; 3] = ["command", "cmd", "script"];

/// Returns whether the key of a value says that it is shell text.
pub(super) fn is_shell(text: Text<'_>) -> bool {
    text.key.is_some_and(|key| COMMAND_KEYS.iter().any(|name| key.eq_ignore_ascii_case(name)))
}

/// Cost of judging a word, in bytes of plain scanning.
const WORD_COST: usize = 128;
/// Cost of judging each letter of a word.
const LETTER_COST: usize = 8;

/// The settings of a search.
pub(super) struct Search<'s> {
    pub(super) roots: &'s Roots,
    pub(super) windows: bool,
    pub(super) balanced: bool,
}

impl Search<'_> {
    /// Adds the findings in an output.
    pub(super) fn run_all(
        &self,
        view: &View<'_>,
        found: &mut Findings,
        deadline: &Deadline<'_>,
    ) -> Result<(), Trouble> {
        let mut vectors = Vectors::default();
        for text in view.texts() {
            self.run(text, found, deadline)?;
            for command in vectors.next(text, deadline)? {
                self.run(Text { text: &command, key: Some(COMMAND_KEYS[0]) }, found, deadline)?;
            }
        }
        for command in vectors.finish() {
            self.run(Text { text: &command, key: Some(COMMAND_KEYS[0]) }, found, deadline)?;
        }
        Ok(())
    }

    /// Adds the findings in a text.
    pub(super) fn run(
        &self,
        text: Text<'_>,
        found: &mut Findings,
        deadline: &Deadline<'_>,
    ) -> Result<(), Trouble> {
        let (bytes, prose, mut too_deep) = (text.text.as_bytes(), !is_shell(text), false);
        let mut lines = Lines::new(text.text, prose);
        each_hint(bytes, self.windows, deadline, |at, hint| {
            let is_bomb = match hint {
                Hint::Command => None,
                Hint::Function => Some(bomb::is_at(bytes, at, self.balanced)),
                Hint::Keyword => Some(bomb::is_after_keyword(bytes, at, self.balanced)),
            };
            if let Some(is_bomb) = is_bomb {
                found.add(Finding::ForkBomb, is_bomb);
                return Ok(at + 1);
            }
            let line = lines.at(at, deadline)?;
            let options = if self.balanced {
                ReadOptions::balanced(&line, prose, self.windows)
            } else {
                ReadOptions { anywhere: true, prose, windows: self.windows, comments: false }
            };
            let read = shell::read_line(&line, options, deadline, &mut |command, fed| {
                self.judge(command, fed.map(Facts), found, deadline)
                    .map(|known| known.map(|Facts(bits)| bits))
            });
            match read {
                Ok(()) => Ok(line.end),
                Err(Trouble::TimedOut) => Err(TimedOut),
                Err(Trouble::TooDeep) => {
                    too_deep = true;
                    Ok(DONE)
                }
            }
        })?;
        if too_deep { Err(Trouble::TooDeep) } else { Ok(()) }
    }

    /// Judges one command. Takes what is known about the find that feeds it, and returns what is known for the next
    /// command.
    fn judge(
        &self,
        command: &Command,
        fed: Option<Facts>,
        found: &mut Findings,
        deadline: &Deadline<'_>,
    ) -> Result<Option<Facts>, TimedOut> {
        for word in command.writes.all().iter() {
            deadline.spend(WORD_COST + word.text.len())?;
            found.add(Finding::DeviceWrite, operands::is_disk(word.text));
        }
        let own = if self.balanced {
            self.runs(command, fed, found, deadline)?
        } else {
            self.anywhere(command.words.all(), fed.is_some(), found, deadline)?
        };
        Ok(own.or(fed))
    }

    fn about(&self) -> About<'_> {
        About { losses: self.balanced, windows: self.windows, roots: self.roots }
    }

    /// Judges every word as a possible command name (strict). Returns what is known about a find among the words.
    fn anywhere(
        &self,
        words: Words<'_>,
        fed_by_find: bool,
        found: &mut Findings,
        deadline: &Deadline<'_>,
    ) -> Result<Option<Facts>, TimedOut> {
        let (about, mut facts, mut find) = (self.about(), Facts::default(), None);
        for word in words.iter().rev() {
            deadline.spend(WORD_COST + LETTER_COST * word.text.len())?;
            // In prose a name may follow marks of emphasis directly.
            let text = word.text.trim_start_matches(['*', '_', '[', '@']);
            let name = name_of(text);
            self.command(text, facts, found);
            found.add(Finding::FindDelete, fed_by_find && name == "xargs" && facts.has(Facts::NEXT_IS_RM));
            if name == "find" {
                find = Some(facts);
                found.add(Finding::FindDelete, facts.has(Facts::EXEC_RM));
            }
            facts = about.before(facts, word);
        }
        Ok(find)
    }

    /// Judges the commands inside wrappers (balanced).
    fn runs(
        &self,
        command: &Command,
        fed: Option<Facts>,
        found: &mut Findings,
        deadline: &Deadline<'_>,
    ) -> Result<Option<Facts>, TimedOut> {
        let about = self.about();
        let is_loss = |find: Facts| !find.has(Facts::LEADING) || find.has(Facts::LEADING_LOSS);
        let mut find: Option<(usize, Facts)> = None;
        for run in &command.runs {
            let Some((first, rest)) = command.argv(*run) else { continue };
            // Operands from find or xargs are judged by the operands of that find.
            let is_given = run.by_xargs || run.by_find.is_some();
            let mut facts = Facts::default();
            for word in rest.iter().rev() {
                deadline.spend(WORD_COST + LETTER_COST * word.text.len())?;
                if !is_given || !word.text.contains("{}") {
                    facts = about.before(facts, word);
                }
            }
            let name = name_of(first.text);
            if name == "find" {
                find = Some((run.start, facts));
            }
            // A shell may get rm as text.
            let removes = || takes_text(name) && rest.iter().any(|word| mentions(word.text, "rm"));
            if name == "rm" || is_given && removes() {
                let by_find = find.filter(|(start, _)| run.by_find == Some(*start)).map(|(_, find)| find);
                let by_pipe = fed.filter(|_| run.by_xargs);
                let giver = by_find.or(by_pipe);
                found.add(Finding::FindDelete, giver.is_some_and(is_loss));
                // Operands from elsewhere may be anything.
                facts.add(Facts::LOSS, giver.map_or(run.by_xargs, is_loss));
            }
            self.command(first.text, facts, found);
        }
        Ok(find.map(|(_, find)| find))
    }

    /// Judges one command by its name and the facts about its arguments.
    fn command(&self, word: &str, facts: Facts, found: &mut Findings) {
        let passes = self.balanced && !facts.has(Facts::LOSS);
        // A name alone does nothing: in prose it is only a mention.
        let makes = !self.balanced || facts.has(Facts::OPERAND);
        let name = name_of(word);
        match name {
            "rm" if !passes => {
                let recursive = facts.has(Facts::RECURSIVE);
                found.add(Finding::RmRecursiveForce, recursive && facts.has(Facts::FORCE));
                let on_root = recursive && facts.has(Facts::EVERYTHING);
                found.add(Finding::RmRoot, on_root || facts.has(Facts::NO_PRESERVE_ROOT));
            }
            "find" => {
                let may = self.balanced && facts.has(Facts::LEADING) && !facts.has(Facts::LEADING_LOSS);
                found.add(Finding::FindDelete, facts.has(Facts::DELETE) && !may);
            }
            "wipefs" => found.add(Finding::Mkfs, facts.has(Facts::ALL)),
            "mke2fs" | "mkfs" => found.add(Finding::Mkfs, makes),
            "dd" => found.add(Finding::DdDevice, facts.has(Facts::OF_DEVICE)),
            "shred" | "tee" => found.add(Finding::DeviceWrite, facts.has(Facts::DISK)),
            "chmod" | "chown" => {
                let on_root = facts.has(Facts::RECURSIVE_MODE) && facts.has(Facts::SYSTEM_ROOT);
                found.add(Finding::ModeRoot, on_root);
            }
            name => found.add(Finding::Mkfs, makes && name.starts_with("mkfs.")),
        }
        if self.windows && !(name == "rm" && passes) {
            of_windows(word, facts, self.balanced, found);
        }
    }
}

/// Judges the commands of cmd and PowerShell, ignoring case.
fn of_windows(word: &str, mut facts: Facts, balanced: bool, found: &mut Findings) {
    // `rd/s/q` needs no blanks.
    let name = match word.split_once('/') {
        Some((name, switches)) if is_deleter(name) => {
            switches_of(&mut facts, switches);
            name
        }
        _ => name_of(word),
    };
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    // `format C: drives` is a sentence.
    let drive = if balanced { Facts::ONLY_DRIVE } else { Facts::FIRST_IS_DRIVE };
    found.add(Finding::Mkfs, is("format") && facts.has(drive));
    let quiet = facts.has(Facts::WIN_Q);
    let files = (is("del") || is("erase")) && (quiet || facts.has(Facts::WIN_F));
    let folders = (is("rd") || is("rmdir")) && quiet;
    found.add(Finding::WinDelete, (files || folders) && facts.has(Facts::WIN_S));
    let forced = facts.has(Facts::PS_RECURSE) && facts.has(Facts::PS_FORCE);
    let removes = is_deleter(name) || is("Remove-Item") || is("ri") || is("rm");
    found.add(Finding::WinDelete, removes && forced);
}

fn is_deleter(name: &str) -> bool {
    ["del", "erase", "rd", "rmdir"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests;
