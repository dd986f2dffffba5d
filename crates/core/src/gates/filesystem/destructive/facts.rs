//! Facts about the words after a position.
//!
//! A command may begin at any word, so reading from each word to the end would be quadratic. Instead the words are
//! read from last to first, and each word adds its facts to those of the words after it.

use super::super::operands;
use super::super::paths::Roots;
use super::super::shell::{Word, is_transparent, mentions, name_of};

/// Facts, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts(pub(super) u32);

impl Facts {
    /// `-r`, `-R` or `--recursive` of rm.
    pub(super) const RECURSIVE: Self = Self(1);
    /// `-f` or `--force` of rm.
    pub(super) const FORCE: Self = Self(1 << 1);
    pub(super) const NO_PRESERVE_ROOT: Self = Self(1 << 2);
    /// `-R` or `--recursive` of chmod and chown.
    pub(super) const RECURSIVE_MODE: Self = Self(1 << 3);
    /// `-a` or `--all` of wipefs.
    pub(super) const ALL: Self = Self(1 << 4);
    /// `-delete` of find.
    pub(super) const DELETE: Self = Self(1 << 5);
    /// `-exec rm` of find.
    pub(super) const EXEC_RM: Self = Self(1 << 6);
    /// `-Recurse` and `-Force` of PowerShell.
    pub(super) const PS_RECURSE: Self = Self(1 << 7);
    pub(super) const PS_FORCE: Self = Self(1 << 8);
    /// Bits that options set. After `--` there are no options.
    const OPTIONS: u32 = (1 << 9) - 1;
    /// An operand means everything: `/`, `~`, `.`, `*`.
    pub(super) const EVERYTHING: Self = Self(1 << 9);
    /// An operand must not be deleted.
    pub(super) const LOSS: Self = Self(1 << 10);
    /// `of=` a device.
    pub(super) const OF_DEVICE: Self = Self(1 << 11);
    pub(super) const DISK: Self = Self(1 << 12);
    /// `/` or a system directory.
    pub(super) const SYSTEM_ROOT: Self = Self(1 << 13);
    /// `/s`, `/q` and `/f` of cmd.
    pub(super) const WIN_S: Self = Self(1 << 14);
    pub(super) const WIN_Q: Self = Self(1 << 15);
    pub(super) const WIN_F: Self = Self(1 << 16);
    /// The first operand is a drive.
    pub(super) const FIRST_IS_DRIVE: Self = Self(1 << 17);
    /// The next program is rm, possibly after options and wrappers, or a text that runs rm.
    pub(super) const NEXT_IS_RM: Self = Self(1 << 18);
    /// There are operands in front of the first option.
    pub(super) const LEADING: Self = Self(1 << 19);
    /// One of these operands must not be deleted.
    pub(super) const LEADING_LOSS: Self = Self(1 << 20);

    /// There is an operand.
    pub(super) const OPERAND: Self = Self(1 << 21);
    /// There is an operand that is not a switch of cmd.
    const NO_SWITCH: Self = Self(1 << 22);
    /// The only such operand is a drive.
    pub(super) const ONLY_DRIVE: Self = Self(1 << 23);

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn add(&mut self, other: Self, if_so: bool) {
        if if_so {
            self.0 |= other.0;
        }
    }

    fn remove(&mut self, other: Self) {
        self.0 &= !other.0;
    }
}

/// What the facts depend on besides the words.
#[derive(Clone, Copy)]
pub(super) struct About<'r> {
    /// Whether it matters which operands may be deleted. Only then are the roots checked.
    pub(super) losses: bool,
    pub(super) windows: bool,
    pub(super) roots: &'r Roots,
}

impl About<'_> {
    /// Returns the facts with one more word in front of the others.
    pub(super) fn before(&self, mut facts: Facts, word: Word<'_>) -> Facts {
        let text = word.text;
        if text == "--" {
            facts.0 &= !Facts::OPTIONS;
            return facts;
        }
        if !is_transparent(text) {
            facts.remove(Facts::NEXT_IS_RM);
            facts.add(Facts::NEXT_IS_RM, name_of(text) == "rm" || mentions(text, "rm"));
        }
        match text.strip_prefix('-') {
            Some(option) if !option.is_empty() => option_of(&mut facts, option),
            _ => self.operand(&mut facts, text),
        }
        facts
    }

    fn operand(&self, facts: &mut Facts, text: &str) {
        let loss = self.losses && !operands::may_be_deleted(text, self.roots, self.windows);
        facts.add(Facts::OPERAND, true);
        facts.add(Facts::LOSS, loss);
        // Such a word begins the expression of find.
        if matches!(text, "(" | ")" | "!" | ",") {
            facts.remove(Facts::LEADING);
            facts.remove(Facts::LEADING_LOSS);
        } else {
            facts.add(Facts::LEADING, true);
            facts.add(Facts::LEADING_LOSS, loss);
        }
        facts.add(Facts::EVERYTHING, operands::is_everything(text, self.windows));
        facts.add(Facts::OF_DEVICE, text.strip_prefix("of=").is_some_and(operands::is_device));
        facts.add(Facts::DISK, operands::is_disk(text));
        facts.add(Facts::SYSTEM_ROOT, operands::is_system_root(text));
        if !self.windows {
            return;
        }
        if let Some(switches) = text.strip_prefix('/') {
            switches_of(facts, switches);
        } else {
            facts.remove(Facts::FIRST_IS_DRIVE);
            facts.add(Facts::FIRST_IS_DRIVE, operands::is_drive(text));
            let is_only = operands::is_drive(text) && !facts.has(Facts::NO_SWITCH);
            facts.remove(Facts::ONLY_DRIVE);
            facts.add(Facts::ONLY_DRIVE, is_only);
            facts.add(Facts::NO_SWITCH, true);
        }
    }
}

/// Adds `s`, `q` and `f` among switches of cmd, as in `/s/q`.
pub(super) fn switches_of(facts: &mut Facts, switches: &str) {
    for switch in switches.split('/').take(8) {
        facts.add(Facts::WIN_S, switch.eq_ignore_ascii_case("s"));
        facts.add(Facts::WIN_Q, switch.eq_ignore_ascii_case("q"));
        facts.add(Facts::WIN_F, switch.eq_ignore_ascii_case("f"));
    }
}

/// Adds the facts of an option, given without its first `-`.
fn option_of(facts: &mut Facts, option: &str) {
    if !matches!(option, "H" | "L" | "P") {
        facts.remove(Facts::LEADING);
        facts.remove(Facts::LEADING_LOSS);
    }
    if let Some(long) = option.strip_prefix('-') {
        let is = |name: &str| !long.is_empty() && name.starts_with(long);
        facts.add(Facts::RECURSIVE, is("recursive"));
        facts.add(Facts::RECURSIVE_MODE, is("recursive"));
        facts.add(Facts::FORCE, is("force"));
        facts.add(Facts::NO_PRESERVE_ROOT, is("no-preserve-root"));
        facts.add(Facts::ALL, is("all"));
        return;
    }
    let of = |letters: &str| option.chars().all(|letter| letters.contains(letter));
    if of("dfiIrRvPWx") {
        facts.add(Facts::RECURSIVE, option.contains(['r', 'R']));
        facts.add(Facts::FORCE, option.contains('f'));
    }
    facts.add(Facts::RECURSIVE_MODE, option.contains('R') && of("cfvRhHLPnx"));
    facts.add(Facts::ALL, option.contains('a') && option.len() <= 8);
    facts.add(Facts::DELETE, option == "delete");
    let is_exec = matches!(option, "exec" | "execdir" | "ok" | "okdir");
    facts.add(Facts::EXEC_RM, is_exec && facts.has(Facts::NEXT_IS_RM));
    let name = option.split(':').next().unwrap_or(option);
    let is = |known: &str| {
        known.get(..name.len()).is_some_and(|known| known.eq_ignore_ascii_case(name)) && !name.is_empty()
    };
    facts.add(Facts::PS_RECURSE, is("recurse"));
    facts.add(Facts::PS_FORCE, is("force") && name.len() > 1);
}
