//! A simple command and its words.
//!
//! Words are stored one after the other in one text, so that a word costs 4 bytes besides its letters: a line of one
//! megabyte may have half a million words.

use super::wrappers::Run;

/// A word, with quotes and escapes resolved.
#[derive(Clone, Copy, Debug)]
pub(in crate::gates::filesystem) struct Word<'c> {
    pub(in crate::gates::filesystem) text: &'c str,
    /// Whether a part of it is quoted or escaped.
    pub(in crate::gates::filesystem) is_quoted: bool,
}

/// Words in order.
#[derive(Debug, Default)]
pub(in crate::gates::filesystem) struct WordList {
    /// The letters of all words, including the one that is being read.
    text: String,
    /// The end of each word times two, plus one if a part of it is quoted or escaped.
    ends: Vec<u32>,
    /// Quoted parts in which commands may begin: index of the word, start and end of the part.
    quoted: Vec<(u32, u32, u32)>,
}

impl WordList {
    fn end_of(&self, word: usize) -> usize {
        self.ends.get(word).map_or(0, |end| usize::try_from(end / 2).unwrap_or_default())
    }

    /// Returns the start of the word that is being read.
    fn open_start(&self) -> usize {
        self.ends.len().checked_sub(1).map_or(0, |last| self.end_of(last))
    }

    /// Returns the letters of the word that is being read.
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

    /// Returns the number of letters.
    pub(super) fn letters(&self) -> usize {
        self.text.len()
    }

    /// Records a quoted part of the word that is being read, starting at `from`. A single quoted word is not
    /// recorded: it is read as a word anyway.
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

    /// Drops the word that is being read.
    pub(super) fn drop_open(&mut self) {
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

    /// Returns all words.
    pub(in crate::gates::filesystem) fn all(&self) -> Words<'_> {
        Words { list: self, start: 0, end: self.ends.len() }
    }

    /// Returns the index of the word and the text of a quoted part, by the index of the part.
    pub(super) fn quoted_at(&self, number: usize) -> Option<(usize, &str)> {
        let index = |position: u32| usize::try_from(position).unwrap_or_default();
        let (word, start, end) = self.quoted.get(number).copied()?;
        Some((index(word), self.text.get(index(start)..index(end)).unwrap_or_default()))
    }
}

/// Converts a position in a text of at most 64 MiB.
fn narrow(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX / 2)
}

/// Grows by half, not to twice the size: the input may be hostile.
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

    /// Returns the word with this index.
    pub(in crate::gates::filesystem) fn get(self, number: usize) -> Option<Word<'c>> {
        let at = self.start.checked_add(number).filter(|at| *at < self.end)?;
        let start = at.checked_sub(1).map_or(0, |before| self.list.end_of(before));
        let text = self.list.text.get(start..self.list.end_of(at)).unwrap_or_default();
        Some(Word { text, is_quoted: self.list.ends.get(at).is_some_and(|end| end % 2 == 1) })
    }

    pub(in crate::gates::filesystem) fn first(self) -> Option<Word<'c>> {
        self.get(0)
    }

    /// Returns the words from an index on. Returns `None` if there are fewer.
    pub(in crate::gates::filesystem) fn from(self, number: usize) -> Option<Self> {
        self.between(number, self.len())
    }

    /// Returns the words from `start` to `end`.
    pub(in crate::gates::filesystem) fn between(self, start: usize, end: usize) -> Option<Self> {
        (start <= end && end <= self.len()).then(|| Self {
            start: self.start + start,
            end: self.start + end,
            ..self
        })
    }

    /// Returns the first word and the rest.
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
    /// The files to which its output is redirected.
    pub(in crate::gates::filesystem) writes: WordList,
    /// The commands inside wrappers. Only set in balanced mode.
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

    /// Returns the name and arguments of one of its runs.
    pub(in crate::gates::filesystem) fn argv(&self, run: Run) -> Option<(Word<'_>, Words<'_>)> {
        self.words.all().between(run.start, run.end)?.split_first()
    }
}
