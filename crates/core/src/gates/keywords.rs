//! Finds which of a few dozen words occur in a text, ignoring case.
//!
//! A block of the text is converted to lower case and searched with vector instructions, 16 or 32 positions at a
//! time. Short blocks, machines without such instructions and sets that are too large for them use an automaton,
//! which is three times slower. Both find every word that begins in the block, even if words overlap, and sometimes
//! one that begins just after it.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Span, packed};
use memchr::memmem;

use super::scan::{Deadline, TimedOut};
use crate::limits::GATE_STRIDE_BYTES;

/// Below this many bytes the automaton is faster.
const VECTOR_BYTES_MIN: usize = 64;
/// The most passes over a text that are still faster than the automaton.
const PASSES_MAX: usize = 4;
/// The most words of a pass.
const PASS_WORDS_MAX: usize = 64;

/// A set of words.
#[derive(Debug)]
pub(super) struct Keywords {
    automaton: AhoCorasick,
    /// `None` if vector instructions cannot be used.
    passes: Option<Vec<Pass>>,
    longest: usize,
}

/// A word in lower case, with its index.
#[derive(Clone, Debug)]
struct Word {
    number: usize,
    text: Vec<u8>,
}

/// One pass over a text.
#[derive(Debug)]
enum Pass {
    /// A word of one or two bytes. Its first position is enough.
    Short(Word),
    Several {
        searcher: packed::Searcher,
        /// For each word, the words that may begin at the same position: itself, its prefixes and its extensions.
        together: Vec<Vec<Word>>,
    },
}

impl Keywords {
    /// Builds the set. The error says why it cannot be built.
    pub(super) fn new(words: &[&str]) -> Result<Self, String> {
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words)
            .map_err(|error| error.to_string())?;
        let longest = words.iter().map(|word| word.len()).max().unwrap_or(0);
        Ok(Self { automaton, passes: passes(words), longest })
    }

    /// Calls `found` with the start of a block and the index of each word that begins in it, possibly more than once.
    pub(super) fn each(
        &self,
        text: &[u8],
        deadline: &Deadline<'_>,
        mut found: impl FnMut(usize, usize),
    ) -> Result<(), TimedOut> {
        let mut lower = Vec::new();
        for start in (0..text.len()).step_by(GATE_STRIDE_BYTES) {
            // A word that begins in the block may end after it.
            let end = (start + GATE_STRIDE_BYTES + self.longest).min(text.len());
            let block = text.get(start..end).unwrap_or_default();
            deadline.spend(block.len())?;
            match &self.passes {
                Some(passes) if block.len() >= VECTOR_BYTES_MIN => {
                    lower.clear();
                    lower.extend_from_slice(block);
                    lower.make_ascii_lowercase();
                    for pass in passes {
                        pass.each(&lower, |word| found(start, word));
                    }
                }
                _ => {
                    let words = self.automaton.find_overlapping_iter(block);
                    words.for_each(|word| found(start, word.pattern().as_usize()));
                }
            }
        }
        Ok(())
    }
}

/// Returns the passes that search for all words. A pass searches for the first three or four bytes of its words, if
/// all words are that long.
fn passes(words: &[&str]) -> Option<Vec<Pass>> {
    let words = words.iter().enumerate();
    let words = words.map(|(number, word)| Word { number, text: word.to_ascii_lowercase().into_bytes() });
    let (short, others): (Vec<Word>, Vec<Word>) = words.partition(|word| word.text.len() <= 2);
    let (three, more): (Vec<Word>, Vec<Word>) = others.into_iter().partition(|word| word.text.len() == 3);
    let groups = three.chunks(PASS_WORDS_MAX).chain(more.chunks(PASS_WORDS_MAX));
    let several = groups.map(several);
    let passes: Vec<Pass> =
        several.chain(short.into_iter().map(|word| Some(Pass::Short(word)))).collect::<Option<_>>()?;
    (passes.len() <= PASSES_MAX).then_some(passes)
}

fn several(words: &[Word]) -> Option<Pass> {
    let searcher = packed::Config::new().builder().extend(words.iter().map(|word| &word.text)).build()?;
    let together = |word: &Word| {
        let shares = |other: &&Word| word.text.starts_with(&other.text) || other.text.starts_with(&word.text);
        words.iter().filter(shares).cloned().collect()
    };
    Some(Pass::Several { searcher, together: words.iter().map(together).collect() })
}

impl Pass {
    fn each(&self, lower: &[u8], mut found: impl FnMut(usize)) {
        let (searcher, together) = match self {
            Self::Short(word) => {
                if memmem::find(lower, &word.text).is_some() {
                    found(word.number);
                }
                return;
            }
            Self::Several { searcher, together } => (searcher, together),
        };
        let mut span = Span::from(0..lower.len());
        while let Some(found_at) = searcher.find_in(lower, span) {
            let rest = lower.get(found_at.start()..).unwrap_or_default();
            let words = together.get(found_at.pattern().as_usize()).into_iter().flatten();
            words.filter(|word| rest.starts_with(&word.text)).for_each(|word| found(word.number));
            span.start = found_at.start() + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const WORDS: [&str; 9] = ["token", "env", "tok", "TOKENS", "aba", "[inst]", "bab", "-----begin", "Sk"];

    fn found(keywords: &Keywords, text: &str) -> BTreeSet<(usize, usize)> {
        let clock = || Duration::ZERO;
        let deadline = Deadline::new(&clock, Duration::ZERO);
        let mut found = BTreeSet::new();
        keywords.each(text.as_bytes(), &deadline, |block, word| _ = found.insert((block, word))).unwrap();
        found
    }

    /// Searches every position for every word.
    fn by_hand(text: &str) -> BTreeSet<(usize, usize)> {
        let text = text.to_ascii_lowercase();
        let block = |at: usize| at / GATE_STRIDE_BYTES * GATE_STRIDE_BYTES;
        let places =
            |word: &str| text.match_indices(&word.to_ascii_lowercase()).map(|(at, _)| at).collect::<Vec<_>>();
        WORDS
            .iter()
            .enumerate()
            .flat_map(|(number, word)| places(word).into_iter().map(move |at| (block(at), number)))
            .collect()
    }

    #[test]
    fn vectors_are_used_unless_there_are_too_many_words() {
        let has_vectors = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
        assert_eq!(
            Keywords::new(&WORDS).unwrap().passes.map(|passes| passes.len()),
            has_vectors.then_some(3)
        );
        let many: Vec<String> = (1000..1400).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(Keywords::new(&many).unwrap().passes.is_none());
        assert!(found(&Keywords::new(&[]).unwrap(), &"x".repeat(100)).is_empty());
    }

    #[test]
    fn words_that_cross_from_block_to_block_are_found() {
        let keywords = Keywords::new(&WORDS).unwrap();
        for before in GATE_STRIDE_BYTES - 6..=GATE_STRIDE_BYTES {
            let text = format!("{}tokens env", " ".repeat(before));
            assert!(found(&keywords, &text).is_superset(&by_hand(&text)), "{before}");
        }
    }

    proptest! {
        #[test]
        fn both_find_every_word(parts in prop::collection::vec("tok|en|s|SK|env|ab|a|b|ba|\\[INST|\\]|-----|BEGIN| |É|K", 0..60)) {
            let text = parts.concat();
            let with = Keywords::new(&WORDS).unwrap();
            let without = Keywords { passes: None, ..Keywords::new(&WORDS).unwrap() };
            prop_assert_eq!(found(&with, &text), by_hand(&text));
            prop_assert_eq!(found(&without, &text), by_hand(&text));
        }
    }
}
