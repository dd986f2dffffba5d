//! Phrases as one tree of characters, followed from each position where a phrase may begin.

use crate::gates::scan::{DONE, Deadline, TimedOut, before, char_before, each};

const HAVE: [&str; 2] = ["i don't have", "i do not have"];
const HAVE_WHAT: [&str; 2] = ["access", "the ability"];
const CANNOT: [&str; 2] = ["i can't", "i cannot"];
const CANNOT_WHAT: [&str; 7] = ["do", "help", "provide", "access", "complete", "fulfill", "assist"];
const UNABLE: [&str; 4] = ["i'm unable to", "i am unable to", "i'm not able to", "i am not able to"];
const UNABLE_WHAT: [&str; 5] = ["help", "assist", "provide", "complete", "comply"];
const WHOLE: [&str; 6] = [
    "as an ai model",
    "as an ai language model",
    "i'm an ai",
    "i'm just an ai",
    "i am an ai",
    "i am just an ai",
];

/// A set of phrases.
#[derive(Debug)]
pub(super) struct Phrases {
    /// The first node is the root.
    nodes: Vec<Node>,
    /// The first bytes of configured phrases.
    own_starts: Option<Box<[bool; 256]>>,
    built_in: bool,
}

#[derive(Debug, Default)]
struct Node {
    next: Vec<(char, usize)>,
    is_end: bool,
}

impl Phrases {
    /// Builds the tree of the built-in phrases, if `built_in`, and the configured ones.
    pub(super) fn new(built_in: bool, own: &[&str]) -> Self {
        let mut phrases = Self { nodes: vec![Node::default()], own_starts: None, built_in };
        if built_in {
            for (starts, ends) in
                [(&HAVE[..], &HAVE_WHAT[..]), (&CANNOT, &CANNOT_WHAT), (&UNABLE, &UNABLE_WHAT)]
            {
                for start in starts {
                    for end in ends {
                        phrases.add(&format!("{start} {end}"));
                    }
                }
            }
            for phrase in WHOLE {
                phrases.add(phrase);
            }
        }
        if !own.is_empty() {
            let mut starts = Box::new([false; 256]);
            for phrase in own {
                let phrase = phrase.trim();
                phrases.add(phrase);
                for first in phrase.chars().next().into_iter().flat_map(variants) {
                    let lead = first.encode_utf8(&mut [0; 4]).as_bytes().first().copied().unwrap_or_default();
                    if let Some(start) = starts.get_mut(usize::from(lead)) {
                        *start = true;
                    }
                }
            }
            phrases.own_starts = Some(starts);
        }
        phrases
    }

    fn add(&mut self, phrase: &str) {
        let mut at = 0;
        let mut blank = false;
        for char in phrase.chars().flat_map(folded) {
            if std::mem::replace(&mut blank, char == ' ') && blank {
                continue;
            }
            let new = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return };
            at = if let Some((_, next)) = node.next.iter().find(|(known, _)| *known == char) {
                *next
            } else {
                node.next.push((char, new));
                self.nodes.push(Node::default());
                new
            };
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.is_end = true;
        }
    }

    /// Returns whether a text contains one of the phrases.
    pub(super) fn are_in(&self, text: &str, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
        if self.built_in && self.built_in_are_in(text, deadline)? {
            return Ok(true);
        }
        let Some(starts) = &self.own_starts else { return Ok(false) };
        let mut found = false;
        let is_start = |_: u8, byte: u8| starts.get(usize::from(byte)).copied().unwrap_or(false);
        each(text.as_bytes(), deadline, is_start, |at| {
            found = found || self.begins_at(text, at, deadline)?;
            Ok(if found { DONE } else { at + 1 })
        })?;
        Ok(found)
    }

    /// Returns whether a text contains a built-in phrase. These begin with an `i` in front of a blank or an
    /// apostrophe, or have such an `i` after `as an a`. Most texts have none. Both kinds of apostrophe and every
    /// blank are below `(` or above ASCII.
    fn built_in_are_in(&self, text: &str, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
        let may_be =
            |letter: u8, next: u8| ((letter | 0x20) == b'i') & (next.wrapping_sub(b'(') >= 0x80 - b'(');
        let mut found = false;
        each(text.as_bytes(), deadline, may_be, |next| {
            found = self.built_in_is_at(text, next.saturating_sub(1), deadline)?;
            Ok(if found { DONE } else { next + 1 })
        })?;
        Ok(found)
    }

    /// Returns whether a built-in phrase begins with the `i` here, or this is the `i` of `as an ai`.
    fn built_in_is_at(&self, text: &str, at: usize, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
        if self.begins_at(text, at, deadline)? {
            return Ok(true);
        }
        // Goes back over `as an a` and the blanks in it. The `i` at its end was already found.
        let mut rest = text.get(..at).unwrap_or_default();
        for word in ["a", "an", "as"] {
            let trimmed = if word == "a" { rest } else { rest.trim_end() };
            deadline.spend(rest.len() - trimmed.len())?;
            let Some((before, found)) =
                trimmed.len().checked_sub(word.len()).and_then(|at| trimmed.split_at_checked(at))
            else {
                return Ok(false);
            };
            if !found.eq_ignore_ascii_case(word) {
                return Ok(false);
            }
            rest = before;
        }
        self.begins_at(text, rest.len(), deadline)
    }

    /// Returns whether a phrase begins here, as whole words.
    fn begins_at(&self, text: &str, at: usize, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
        let Some(rest) = text.get(at..) else { return Ok(false) };
        // Most candidates are at the end of a word.
        if before(text.as_bytes(), at).is_some_and(|byte| byte.is_ascii_alphanumeric())
            && rest.starts_with(['i', 'I'])
        {
            return Ok(false);
        }
        let mut chars = rest.chars().peekable();
        let starts_word = chars.peek().copied().is_some_and(is_word);
        if starts_word && char_before(text, at).is_some_and(is_word) {
            return Ok(false);
        }
        let mut node = self.nodes.first();
        let mut last_is_word = false;
        loop {
            let next = chars.peek().copied();
            if node.is_some_and(|node| node.is_end) && !(last_is_word && next.is_some_and(is_word)) {
                return Ok(true);
            }
            let Some(char) = next else { return Ok(false) };
            chars.next();
            last_is_word = is_word(char);
            deadline.spend(1)?;
            for char in folded(char) {
                let Some(here) = node else { return Ok(false) };
                let found = here.next.iter().find(|(known, _)| *known == char);
                node = found.and_then(|(_, next)| self.nodes.get(*next));
            }
            if node.is_none() {
                return Ok(false);
            }
            if char.is_whitespace() {
                while chars.next_if(|char| char.is_whitespace()).is_some() {
                    deadline.spend(1)?;
                }
            }
        }
    }
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Folds the case of a character. All blanks become one character, and so do all apostrophes.
fn folded(char: char) -> impl Iterator<Item = char> {
    let folded = match char {
        '\u{2018}' | '\u{2019}' | '\u{2bc}' => '\'',
        char if char.is_whitespace() => ' ',
        char => char,
    };
    folded.to_lowercase()
}

/// Returns the character in every case and form.
fn variants(char: char) -> Vec<char> {
    let mut variants: Vec<char> =
        [char].into_iter().chain(char.to_lowercase()).chain(char.to_uppercase()).collect();
    if char == '\'' {
        variants.extend(['\u{2018}', '\u{2019}', '\u{2bc}']);
    }
    variants
}
