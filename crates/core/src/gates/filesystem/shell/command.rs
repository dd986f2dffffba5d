//! A simple command and its words.
//!
//! Words lie one after the other in one text, so that a word costs 4 bytes beside its letters: a line of a megabyte may have half
//! a million of them.

use super::wrappers::Run;

/// A word, its quotes and escapes resolved.
#[derive(Clone, Copy, Debug)]
pub(in crate::gates::filesystem) struct Word<'c> {
    pub(in crate::gates::filesystem) text: &'c str,
    /// Whether a part of it is quoted or escaped.
    pub(in crate::gates::filesystem) is_quoted: bool,
}

/// Words in their order.
#[derive(Debug, Default)]
pub(in crate::gates::filesystem) struct WordList {
    /// The letters of all words, and of the one that is being read.
    text: String,
    /// Where each word ends, times two, plus one if a part of it is quoted or escaped.
    ends: Vec<u32>,
    /// Quoted parts in which commands may begin: the number of the word, where the part begins and where it ends.
    quoted: Vec<(u32, u32, u32)>,
}

impl WordList {
    fn end_of(&self, word: usize) -> usize {
        self.ends.get(word).map_or(0, |end| usize::try_from(end / 2).unwrap_or_default())
    }

    /// Where the word begins that is being read.
    fn open_start(&self) -> usize {
        self.ends.len().checked_sub(1).map_or(0, |last| self.end_of(last))
    }

    /// The letters of the word that is being read.
    pub(super) fn open_text(&self) -> &str {
        self.text.get(self.open_start()..).unwrap_or_default()
    }

    /// Adds to the word that is being read.
    pub(super) fn push_str(&mut self, part: &str) {
        grow(self.text.capacity() - self.text.len(), part.len(), self.text.len(), |more| {
            self.text.reserve_exact(more);
        });
        self.text.push_str(part);
    }

    /// How many letters there are.
    pub(super) fn letters(&self) -> usize {
        self.text.len()
    }

    /// Notes a quoted part of the word that is being read, from these letters on. A single word is noted nowhere: it is looked
    /// at as a word anyway.
    pub(super) fn quoted_since(&mut self, from: usize) {
        let part = self.text.get(from..).unwrap_or_default();
        if part.bytes().any(|byte| byte.is_ascii_whitespace() || b"\"'`$;&|".contains(&byte)) {
            self.quoted.push((narrow(self.ends.len()), narrow(from), narrow(self.text.len())));
        }
    }

    /// Ends the word that is being read.
    pub(super) fn end(&mut self, is_quoted: bool) {
        grow(self.ends.capacity() - self.ends.len(), 1, self.ends.len(), |more| {
            self.ends.reserve_exact(more);
        });
        self.ends.push(narrow(self.text.len()) * 2 + u32::from(is_quoted));
    }

    /// Forgets the word that is being read.
    pub(super) fn forget(&mut self) {
        let (start, word) = (self.open_start(), narrow(self.ends.len()));
        self.text.truncate(start);
        while self.quoted.last().is_some_and(|(of, ..)| *of == word) {
            self.quoted.pop();
        }
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.quoted.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All of them.
    pub(in crate::gates::filesystem) fn all(&self) -> Words<'_> {
        Words { list: self, start: 0, end: self.ends.len() }
    }

    /// A quoted part in which commands may begin, by its number, and the number of its word.
    pub(super) fn quoted_at(&self, number: usize) -> Option<(usize, &str)> {
        let index = |place: u32| usize::try_from(place).unwrap_or_default();
        let (word, start, end) = self.quoted.get(number).copied()?;
        Some((index(word), self.text.get(index(start)..index(end)).unwrap_or_default()))
    }
}

/// Places in texts of at most 64 MiB.
fn narrow(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX / 2)
}

/// Makes room for half as much again and not for twice as much: what is read may be hostile.
fn grow(room: usize, wanted: usize, length: usize, mut reserve: impl FnMut(usize)) {
    if room < wanted {
        reserve(wanted.max(length / 2).max(64));
    }
}

/// Some of the words of a command.
#[derive(Clone, Copy, Debug)]
pub(in crate::gates::filesystem) struct Words<'c> {
    list: &'c WordList,
    start: usize,
    end: usize,
}

impl<'c> Words<'c> {
    pub(in crate::gates::filesystem) fn len(self) -> usize {
        self.end - self.start
    }

    /// The word with that number.
    pub(in crate::gates::filesystem) fn get(self, number: usize) -> Option<Word<'c>> {
        let at = self.start.checked_add(number).filter(|at| *at < self.end)?;
        let start = at.checked_sub(1).map_or(0, |before| self.list.end_of(before));
        let text = self.list.text.get(start..self.list.end_of(at)).unwrap_or_default();
        Some(Word { text, is_quoted: self.list.ends.get(at).is_some_and(|end| end % 2 == 1) })
    }

    pub(in crate::gates::filesystem) fn first(self) -> Option<Word<'c>> {
        self.get(0)
    }

    /// Those from a number on; none if there are fewer.
    pub(in crate::gates::filesystem) fn from(self, number: usize) -> Option<Self> {
        self.between(number, self.len())
    }

    /// Those from a number up to another.
    pub(in crate::gates::filesystem) fn between(self, start: usize, end: usize) -> Option<Self> {
        (start <= end && end <= self.len()).then(|| Self {
            start: self.start + start,
            end: self.start + end,
            ..self
        })
    }

    /// The first, and those after it.
    pub(in crate::gates::filesystem) fn split_first(self) -> Option<(Word<'c>, Self)> {
        Some((self.first()?, self.from(1)?))
    }

    pub(in crate::gates::filesystem) fn iter(self) -> impl DoubleEndedIterator<Item = Word<'c>> + Clone {
        (0..self.len()).filter_map(move |number| self.get(number))
    }
}

/// A simple command.
#[derive(Debug, Default)]
pub(in crate::gates::filesystem) struct Command {
    /// Assignments, the name and the arguments.
    pub(in crate::gates::filesystem) words: WordList,
    /// The files to which it is redirected.
    pub(in crate::gates::filesystem) writes: WordList,
    /// What is run when wrappers are opened; only where commands do not begin anywhere.
    pub(in crate::gates::filesystem) runs: Vec<Run>,
}

impl Command {
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.writes.clear();
        self.runs.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.writes.is_empty()
    }

    /// The words of one of its runs.
    pub(in crate::gates::filesystem) fn argv(&self, run: Run) -> Option<(Word<'_>, Words<'_>)> {
        self.words.all().between(run.start, run.end)?.split_first()
    }
}
