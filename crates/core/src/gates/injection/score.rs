//! The score of a sentence, together with the next.

use super::words::{self, Word};
use crate::gates::scan::{Deadline, TimedOut};

/// Extra points for hidden text.
pub(super) const HIDDEN: i32 = 2;
/// Points taken off text about injection.
const ABOUT: i32 = 2;
/// Largest distance from the verb of an override to its other words, in words.
const NEAR: usize = 8;
/// Most words in the name of a tool.
const TOOL_WORDS_MAX: usize = 6;

/// A set of kinds, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds(u8);

/// Names and points, in the order in which a reason names them.
const KINDS: [(&str, i32); 5] =
    [("override", 3), ("exfiltration", 3), ("concealment", 2), ("role", 2), ("tool", 1)];

/// Returns the names of all kinds.
pub(in crate::gates) fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, _)| *name)
}

impl Kinds {
    fn has(self, bit: usize) -> bool {
        self.0 & (1 << bit) != 0
    }

    pub(super) fn names(self) -> String {
        let names = KINDS.iter().enumerate().filter(|(bit, _)| self.has(*bit));
        names.map(|(_, (name, _))| *name).collect::<Vec<_>>().join(", ")
    }

    fn points(self) -> i32 {
        KINDS.iter().enumerate().filter(|(bit, _)| self.has(*bit)).map(|(_, (_, points))| points).sum()
    }
}

/// The sets of kinds that were seen, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen(u32);

impl Seen {
    pub(super) fn add(&mut self, kinds: Kinds) {
        self.0 |= 1 << kinds.0;
    }

    /// Returns whether one sentence with all these kinds was seen.
    pub(super) fn covers(self, kinds: Kinds) -> bool {
        (0..1_u8 << KINDS.len()).any(|set| self.0 & (1 << set) != 0 && set & kinds.0 == kinds.0)
    }
}

/// Calls `found` with the kinds and the score of each sentence, together with the next, that has any.
pub(super) fn each_sentence(
    text: &str,
    deadline: &Deadline<'_>,
    mut found: impl FnMut(Kinds, i32),
) -> Result<(), TimedOut> {
    let mut window: Vec<Word> = Vec::with_capacity(2 * words::SENTENCE_WORDS_MAX);
    let mut judge = |words: &[Word]| {
        if let Some((kinds, score)) = judged(words) {
            found(kinds, score);
        }
    };
    words::each(text, deadline, |sentence| {
        let last = window.len();
        window.extend_from_slice(sentence);
        if last > 0 {
            judge(&window);
        }
        // The next sentence is now the first.
        window.drain(..last);
    })?;
    judge(&window);
    Ok(())
}

fn judged(words: &[Word]) -> Option<(Kinds, i32)> {
    let all = words.iter().fold(0, |all, word| all | word);
    let has = |bits: Word| all & bits == bits;
    let phrase = |parts: &[Word]| {
        has(parts.iter().fold(0, |all, part| all | part))
            && words
                .windows(parts.len())
                .any(|here| here.iter().zip(parts).all(|(word, part)| word & part != 0))
    };
    let kinds = [
        has(words::VERB | words::WHOSE | words::NOUN) && is_override(words),
        has(words::SEND | words::TARGET),
        has(words::SILENTLY)
            || phrase(&[words::DO, words::NOT, words::TELL])
            || phrase(&[words::DONT, words::TELL])
            || phrase(&[words::WITHOUT, words::TELLING]),
        has(words::ROLE)
            || phrase(&[words::NEW, words::ORDERS])
            || phrase(&[words::YOU, words::ARE, words::NOW]),
        has(words::CALL | words::THE | words::TOOL) && is_tool_order(words)
            || phrase(&[words::BEFORE, words::ANY, words::OTHER, words::TOOL]),
    ];
    let kinds = Kinds(kinds.iter().enumerate().fold(0, |bits, (bit, is)| bits | u8::from(*is) << bit));
    if kinds == Kinds::default() {
        return None;
    }
    let address = i32::from(kinds.has(1) && has(words::ADDRESS));
    let about = phrase(&[words::PROMPT, words::ATTACK]) || phrase(&[words::SUCH, words::AS]);
    Some((kinds, kinds.points() + address - if about { ABOUT } else { 0 }))
}

/// Returns whether a verb has both other words near it.
fn is_override(words: &[Word]) -> bool {
    words.iter().enumerate().filter(|(_, word)| **word & words::VERB != 0).any(|(at, _)| {
        let near = words.get(at.saturating_sub(NEAR)..(at + NEAR + 1).min(words.len())).unwrap_or_default();
        let all = near.iter().fold(0, |all, word| all | word);
        all & words::WHOSE != 0 && all & words::NOUN != 0
    })
}

/// Returns whether there is `call the … tool`.
fn is_tool_order(words: &[Word]) -> bool {
    words.windows(2).enumerate().any(|(at, pair)| {
        matches!(pair, [call, the] if call & words::CALL != 0 && the & words::THE != 0)
            && words.iter().skip(at + 2).take(TOOL_WORDS_MAX + 1).any(|word| word & words::TOOL != 0)
    })
}
