//! Splits a text into sentences and words, as far as scores need them.

use crate::gates::scan::{Deadline, TimedOut};

/// The meanings of a word, one bit each.
pub(super) type Word = u32;

macro_rules! bits {
    ($($name:ident = $bit:expr),* $(,)?) => { $(pub(super) const $name: Word = 1 << $bit;)* };
}

bits! {
    VERB = 0, WHOSE = 1, NOUN = 2, SEND = 3, TARGET = 4, ADDRESS = 5, DO = 6, NOT = 7, DONT = 8, TELL = 9,
    WITHOUT = 10, TELLING = 11, SILENTLY = 12, ROLE = 13, NEW = 14, ORDERS = 15, YOU = 16, ARE = 17, NOW = 18,
    CALL = 19, THE = 20, TOOL = 21, BEFORE = 22, ANY = 23, OTHER = 24, PROMPT = 25, ATTACK = 26, SUCH = 27, AS = 28,
}

/// Longest sentence, in words. A longer one is cut.
pub(super) const SENTENCE_WORDS_MAX: usize = 64;

/// Longest known word, in bytes.
const WORD_BYTES_MAX: usize = 13;

/// Returns the meanings of a word in lower case.
fn meaning(word: &[u8]) -> Word {
    match word {
        b"ignore" | b"disregard" | b"forget" | b"override" | b"bypass" => VERB,
        b"previous" | b"prior" | b"above" | b"system" | b"your" => WHOSE,
        b"instructions" | b"instruction" => NOUN | ORDERS,
        b"prompt" => NOUN | PROMPT,
        b"prompts" | b"rules" | b"rule" => NOUN,
        b"send" | b"post" | b"upload" | b"forward" | b"leak" | b"reveal" => SEND,
        b"key" | b"password" | b"token" | b"credential" | b"secret" | b"env" | b"conversation" | b"keys"
        | b"passwords" | b"tokens" | b"credentials" | b"secrets" | b"envs" | b"conversations" => TARGET,
        b"do" => DO,
        b"not" => NOT,
        b"dont" => DONT,
        b"tell" | b"mention" | b"inform" => TELL,
        b"without" => WITHOUT,
        b"telling" => TELLING,
        b"silently" => SILENTLY,
        b"new" => NEW,
        b"you" => YOU,
        b"are" => ARE,
        b"now" => NOW,
        b"call" | b"use" | b"run" => CALL,
        b"the" => THE,
        b"tool" => TOOL,
        b"before" => BEFORE,
        b"any" => ANY,
        b"other" => OTHER,
        b"injection" | b"injections" => ATTACK,
        b"such" => SUCH,
        b"as" => AS,
        _ => 0,
    }
}

/// Calls `sentence` with the words of each sentence.
pub(super) fn each(
    text: &str,
    deadline: &Deadline<'_>,
    mut sentence: impl FnMut(&[Word]),
) -> Result<(), TimedOut> {
    let mut words: Vec<Word> = Vec::with_capacity(SENTENCE_WORDS_MAX);
    let mut at = 0;
    while let Some((char, length)) = next(text, at) {
        if char.is_alphanumeric() {
            let (end, bits) = word(text, at, deadline)?;
            words.push(bits | around(text, at, end));
            at = end;
        } else {
            deadline.spend(length)?;
            at += length;
        }
        if words.len() == SENTENCE_WORDS_MAX || !words.is_empty() && ends(char, next(text, at)) {
            sentence(&words);
            words.clear();
        }
    }
    if !words.is_empty() {
        sentence(&words);
    }
    Ok(())
}

/// Returns the character at a position and its length. Most are ASCII.
#[inline]
fn next(text: &str, at: usize) -> Option<(char, usize)> {
    match text.as_bytes().get(at) {
        Some(byte) if byte.is_ascii() => Some((char::from(*byte), 1)),
        _ => text.get(at..)?.chars().next().map(|char| (char, char.len_utf8())),
    }
}

/// Returns whether a sentence ends with this character, given the next one.
#[inline]
fn ends(char: char, next: Option<(char, usize)>) -> bool {
    match char {
        '.' | '!' | '?' => next.is_none_or(|(next, _)| closes(next)),
        '\n' => next.is_none_or(|(next, _)| !next.is_lowercase()),
        '\u{3002}' => true,
        _ => false,
    }
}

/// Returns the end and the meanings of the word that begins here. An apostrophe between letters is part of it.
fn word(text: &str, start: usize, deadline: &Deadline<'_>) -> Result<(usize, Word), TimedOut> {
    let mut buffer = [0_u8; WORD_BYTES_MAX];
    let (mut length, mut at) = (0, start);
    while let Some((char, bytes)) = next(text, at) {
        deadline.spend(bytes)?;
        let is_inner = matches!(char, '\'' | '\u{2019}') && letter_after(text, at, char);
        if !char.is_alphanumeric() && !is_inner {
            break;
        }
        if !is_inner {
            length = put(&mut buffer, length, char);
        }
        at += bytes;
    }
    Ok((at, buffer.get(..length).map_or(0, meaning)))
}

/// Adds a character to the word. A character that no known word has makes the word too long to match.
fn put(buffer: &mut [u8; WORD_BYTES_MAX], length: usize, char: char) -> usize {
    match (buffer.get_mut(length), u8::try_from(char)) {
        (Some(slot), Ok(byte)) if byte.is_ascii() => {
            *slot = byte.to_ascii_lowercase();
            length + 1
        }
        _ => WORD_BYTES_MAX + 1,
    }
}

/// Returns whether a character may follow the mark that ends a sentence.
fn closes(char: char) -> bool {
    char.is_whitespace()
        || matches!(char, '"' | '\'' | ')' | ']' | '}' | '*' | '_' | '<' | '\u{201d}' | '\u{2019}')
}

fn letter_after(text: &str, position: usize, mark: char) -> bool {
    let rest = text.get(position + mark.len_utf8()..).unwrap_or_default();
    rest.chars().next().is_some_and(char::is_alphabetic)
}

/// Returns the meanings that the marks around a word add: a forged role or an address.
fn around(text: &str, start: usize, end: usize) -> Word {
    let bytes = text.as_bytes();
    let after = bytes.get(end..).unwrap_or_default();
    let word = bytes.get(start..end).unwrap_or_default();
    let begins =
        |rest: &[u8], with: &[u8]| rest.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with));
    let before = |mark: &[u8]| bytes.get(..start).unwrap_or_default().ends_with(mark);
    let is_role = match after.first() {
        Some(b':') => word.eq_ignore_ascii_case(b"system") && !before(b"_") && !before(b"-"),
        Some(b'_') => begins(after, b"_start|>") && word.eq_ignore_ascii_case(b"im") && before(b"<|"),
        Some(b']') => word.eq_ignore_ascii_case(b"inst") && before(b"["),
        _ => false,
    };
    let is_address = match after.first() {
        Some(b':') => {
            after.starts_with(b"://") && after.get(3).is_some_and(|byte| !byte.is_ascii_whitespace())
        }
        Some(b'.') => word.eq_ignore_ascii_case(b"www") && is_host(bytes.get(start..).unwrap_or_default()),
        Some(b'@') => is_host(after.get(1..).unwrap_or_default()),
        _ => false,
    };
    (if is_role { ROLE } else { 0 }) | (if is_address { ADDRESS } else { 0 })
}

/// Returns whether a text begins with a name, a dot and two letters.
fn is_host(text: &[u8]) -> bool {
    const HOST_BYTES_MAX: usize = 253;
    let host = text.iter().take(HOST_BYTES_MAX);
    let host: Vec<u8> = host
        .copied()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
        .collect();
    host.windows(3)
        .skip(1)
        .any(|part| matches!(part, [b'.', a, b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic()))
}
