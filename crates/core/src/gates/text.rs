//! Every string and key of a JSON text, decoded once for all gates.
//!
//! The walk follows the text and keeps a stack of its own, so that nesting costs no thread stack and every occurrence
//! of a repeated key is seen. A string without escapes is borrowed from the output; others are decoded into one
//! buffer. A string that is itself a JSON object or array is walked too, after the text that holds it, and counts on
//! in the depth.

mod string;
mod walk;

use core::ops::Range;

use crate::limits::{GATE_DEPTH_MAX, GATE_EMBEDDED_TIMES_MAX};

use super::scan::{Deadline, TimedOut};
use super::settings::Part;
pub(super) use string::step;
use walk::Walk;

/// All texts of an output.
#[derive(Debug)]
pub(super) struct View<'a> {
    part: Part,
    source: &'a str,
    /// What had to be decoded, or lies within a string.
    decoded: String,
    pieces: Vec<Piece>,
    /// The strings that are JSON themselves, and which pieces lie in each.
    within: Vec<(usize, Range<usize>)>,
    /// Long numbers of the output itself; those within strings are seen in their text.
    numbers: Vec<Number>,
}

/// So many digits in a number may be more than an amount.
const NUMBER_DIGITS_MIN: usize = 13;

/// A number with many digits.
#[derive(Clone, Copy, Debug)]
struct Number {
    /// Where it stands in the output.
    start: usize,
    end: usize,
    key: Option<Span>,
}

/// Why there is no view of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unseen {
    /// The budget is spent.
    TimedOut,
    /// Something in it lies too deep to be looked at.
    TooDeep,
    /// It repeats itself in strings within strings more often than is looked at.
    TooMuch,
    /// It is no JSON text.
    NotJson,
}

impl From<TimedOut> for Unseen {
    fn from(TimedOut: TimedOut) -> Self {
        Self::TimedOut
    }
}

impl Unseen {
    /// Why text gates fail closed, in the engine's own words.
    pub(super) fn reason(self, part: Part) -> String {
        let (name, is) = (part.name(), part.is());
        match self {
            Self::TimedOut => "renown:timeout".to_owned(),
            Self::TooDeep => format!("{is} nested deeper than {GATE_DEPTH_MAX} levels"),
            Self::TooMuch => {
                format!("strings of JSON in {name} hold more than {GATE_EMBEDDED_TIMES_MAX} times its length")
            }
            Self::NotJson => format!("{is} not JSON"),
        }
    }
}

/// One string or key.
#[derive(Clone, Copy, Debug)]
struct Piece {
    span: Span,
    /// The key under which a value stands; for elements of an array, the array's.
    key: Option<Span>,
    /// Where it stands between its quotes, escapes and all, in the text that holds it.
    raw: (usize, usize),
    /// The string that holds it, by number; none for the output itself.
    holder: Option<usize>,
}

/// Where a text lies: in the output, or in what was decoded.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
    decoded: bool,
}

/// One text as a gate sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text<'v> {
    pub(super) text: &'v str,
    /// The key under which it stands; none for a key.
    pub(super) key: Option<&'v str>,
}

impl<'a> View<'a> {
    /// Reads a JSON text, which is that part of a call.
    pub(super) fn read(source: &'a str, part: Part, deadline: &Deadline<'_>) -> Result<Self, Unseen> {
        let (decoded, pieces) = (String::new(), Vec::new());
        let mut view = Self { part, source, decoded, pieces, within: Vec::new(), numbers: Vec::new() };
        let mut within = Vec::new();
        Walk::new(source, None, 0, None, deadline).run(&mut view, &mut within)?;
        view.read_within(within, deadline)?;
        Ok(view)
    }

    /// Reads the strings that look like JSON, and those within them.
    fn read_within(&mut self, mut within: Vec<Within>, deadline: &Deadline<'_>) -> Result<(), Unseen> {
        let mut left = self.source.len().saturating_mul(GATE_EMBEDDED_TIMES_MAX);
        while let Some(Within { index, piece, depth }) = within.pop() {
            let text = self.get(piece.span).to_owned();
            left = left.checked_sub(text.len()).ok_or(Unseen::TooMuch)?;
            let (pieces, decoded, waiting) = (self.pieces.len(), self.decoded.len(), within.len());
            match Walk::new(&text, Some(index), depth, piece.key, deadline).run(self, &mut within) {
                Ok(()) => self.within.push((index, pieces..self.pieces.len())),
                // It only looked like JSON: it was seen as the text it is.
                Err(Unseen::NotJson) => {
                    self.pieces.truncate(pieces);
                    self.decoded.truncate(decoded);
                    within.truncate(waiting);
                }
                Err(unseen) => return Err(unseen),
            }
        }
        Ok(())
    }

    /// What a reason calls the text: `output` or `arguments`.
    pub(super) fn name(&self) -> &'static str {
        self.part.name()
    }

    /// All texts: those of the output in its order, then those within strings.
    pub(super) fn texts(&self) -> impl Iterator<Item = Text<'_>> {
        self.texts_from(0)
    }

    /// The texts, and after them the numbers of 13 or more digits, in the order of the output.
    pub(super) fn texts_and_numbers(&self) -> impl Iterator<Item = Text<'_>> {
        let number = |number: &Number| Text {
            text: self.source.get(number.start..number.end).unwrap_or_default(),
            key: number.key.map(|key| self.get(key)),
        };
        self.texts().chain(self.numbers.iter().map(number))
    }

    /// Where a number of the output stands, by its place in [`Self::texts_and_numbers`]; none if that is a text.
    pub(super) fn number(&self, index: usize) -> Option<(usize, usize)> {
        let number = self.numbers.get(index.checked_sub(self.pieces.len())?)?;
        Some((number.start, number.end))
    }

    /// The texts from a number on.
    pub(super) fn texts_from(&self, index: usize) -> impl Iterator<Item = Text<'_>> {
        self.pieces.get(index..).unwrap_or_default().iter().map(|piece| self.seen(piece))
    }

    fn seen(&self, piece: &Piece) -> Text<'_> {
        Text { text: self.get(piece.span), key: piece.key.map(|key| self.get(key)) }
    }

    /// The output itself.
    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    /// A text by its number in [`Self::texts`].
    pub(super) fn text(&self, index: usize) -> &str {
        self.pieces.get(index).map_or("", |piece| self.get(piece.span))
    }

    /// Where a text comes from: the number of the text that holds it (none for the output), and where it stands in
    /// there, escapes and all.
    pub(super) fn origin(&self, index: usize) -> Option<(Option<usize>, (usize, usize))> {
        self.pieces.get(index).map(|piece| (piece.holder, piece.raw))
    }

    /// The texts that are JSON themselves, and the numbers of the texts in each.
    pub(super) fn within(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        self.within.iter().cloned()
    }

    fn get(&self, span: Span) -> &str {
        let from = if span.decoded { &self.decoded } else { self.source };
        from.get(span.start..span.end).unwrap_or_default()
    }
}

/// A string that may be JSON.
#[derive(Clone, Copy, Debug)]
struct Within {
    index: usize,
    piece: Piece,
    /// How many objects and arrays it lies in.
    depth: usize,
}

/// Whether a text begins and ends as a JSON object or array does.
fn looks_like_json(text: &str) -> bool {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let first = text.as_bytes().iter().find(|byte| !blank(byte));
    let last = || text.as_bytes().iter().rfind(|byte| !blank(byte));
    match first {
        Some(b'{') => last() == Some(&b'}'),
        Some(b'[') => last() == Some(&b']'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    fn read(source: &str) -> Result<Vec<String>, Unseen> {
        let clock = || Duration::ZERO;
        let view = View::read(source, Part::Output, &Deadline::new(&clock, Duration::ZERO))?;
        Ok(view.texts().map(|text| text.text.to_owned()).collect())
    }

    #[test]
    fn every_string_and_key_is_seen() {
        for (source, expected) in [
            (r#""a""#, vec!["a"]),
            ("17", vec![]),
            ("null", vec![]),
            (r#"{"k":"v","k":["w",{"l":true}],"m":-1.5e3}"#, vec!["k", "v", "k", "w", "l", "m"]),
            (r#"["a\n\u0041\ud83d\ude00","é"]"#, vec!["a\nA😀", "é"]),
            (r#" [ "a" , { } , [ ] ] "#, vec!["a"]),
        ] {
            assert_eq!(read(source), Ok(expected.into_iter().map(str::to_owned).collect()), "{source}");
        }
    }

    #[test]
    fn a_string_that_is_json_is_also_seen_decoded() {
        let nested = serde_json::json!({"out": r#"{"a":"b\nc","d":"[\"e\"]"}"#}).to_string();
        assert_eq!(
            read(&nested).unwrap(),
            ["out", r#"{"a":"b\nc","d":"[\"e\"]"}"#, "a", "b\nc", "d", r#"["e"]"#, "e"]
        );
        for text in ["[broken", "[1 2]", "{x}", r#"{"a":1"#, r#"["a"] and more"#, "[01]"] {
            let source = serde_json::json!(text).to_string();
            assert_eq!(read(&source).unwrap(), [text], "it only looks like JSON");
        }
    }

    #[test]
    fn values_know_their_key() {
        let clock = || Duration::ZERO;
        let source = r#"{"path":["a",{"b":"c"}],"d":"{\"path\":\"e\"}"}"#;
        let view = View::read(source, Part::Output, &Deadline::new(&clock, Duration::ZERO)).unwrap();
        let keys: Vec<_> = view.texts().map(|text| (text.text, text.key)).collect();
        assert_eq!(keys[1], ("a", Some("path")));
        assert_eq!(keys[3], ("c", Some("b")));
        assert_eq!(keys[7], ("e", Some("path")));
    }

    #[test]
    fn long_numbers_are_seen_beside_the_texts() {
        let clock = || Duration::ZERO;
        let source = r#"{"a":[1234567890123,-1234567890123.5,123456789012],"b":"{\"c\":1234567890123}"}"#;
        let view = View::read(source, Part::Output, &Deadline::new(&clock, Duration::ZERO)).unwrap();
        let numbers: Vec<_> = view.texts_and_numbers().skip(view.texts().count()).collect();
        let number = |text| Text { text, key: Some("a") };
        assert_eq!(numbers, [number("1234567890123"), number("-1234567890123.5")]);
        let (start, end) = view.number(view.texts().count()).unwrap();
        assert_eq!(source.get(start..end), Some("1234567890123"));
        assert_eq!(view.number(0), None);
    }

    #[test]
    fn nesting_has_a_limit_that_strings_count_in() {
        let nested = |depth: usize| format!("{}\"x\"{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(read(&nested(GATE_DEPTH_MAX)).unwrap(), ["x"]);
        assert_eq!(read(&nested(GATE_DEPTH_MAX + 1)), Err(Unseen::TooDeep));
        assert_eq!(read(&"[".repeat(1 << 20)), Err(Unseen::TooDeep));
        let within = |depth: usize| serde_json::json!([nested(depth)]).to_string();
        assert_eq!(read(&within(GATE_DEPTH_MAX - 1)).unwrap().len(), 2);
        assert_eq!(read(&within(GATE_DEPTH_MAX)), Err(Unseen::TooDeep));
    }

    #[test]
    fn strings_within_strings_are_bounded() {
        // Each level escapes its quotes as \u0022 and its backslashes as \u005c, which grows by a little only.
        let level = |text: &str| format!("[\"{}\"]", text.replace('\\', "\\u005c").replace('"', "\\u0022"));
        let levels = |count: usize| (0..count).fold("x".repeat(10_000), |text, _| level(&text));
        assert_eq!(read(&levels(GATE_EMBEDDED_TIMES_MAX)).unwrap().len(), GATE_EMBEDDED_TIMES_MAX);
        assert_eq!(read(&levels(GATE_EMBEDDED_TIMES_MAX + 3)), Err(Unseen::TooMuch));
    }
}
