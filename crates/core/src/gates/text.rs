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

use super::scan::{Deadline, TimedOut, before, count_byte, run_end, run_start};
use super::settings::Part;
pub(super) use string::{decoded_char, step};
use walk::Walk;

/// All texts of an output.
///
/// An output may have a string for every three of its bytes. So what is kept of each is small: memory is a small multiple of the
/// output, whatever is in it.
#[derive(Debug)]
pub(super) struct View<'a> {
    part: Part,
    source: &'a str,
    /// What had to be decoded, or lies within a string; one text after the other.
    decoded: String,
    pieces: Vec<Piece>,
    /// Where the decoded ones among them come from.
    origins: Vec<Origin>,
    /// The strings that are JSON themselves, and which pieces lie in each: from a number up to another.
    within: Vec<(u32, u32, u32)>,
    /// Long numbers of the output itself; those within strings are seen in their text.
    numbers: Vec<Number>,
}

/// So many digits in a number may be more than an amount.
const NUMBER_DIGITS_MIN: usize = 13;

/// The longest output that is looked at, in bytes: all places have to fit into 32 bits, also those of what is decoded.
const SOURCE_BYTES_MAX: usize = 1 << 28;

/// A number with many digits.
#[derive(Clone, Copy, Debug)]
struct Number {
    /// Where it stands in the output.
    start: u32,
    end: u32,
    key: u32,
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
    /// It is longer than is looked at.
    TooLong,
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
            Self::TooLong => format!("{is} longer than {} MiB", SOURCE_BYTES_MAX >> 20),
            Self::NotJson => format!("{is} not JSON"),
        }
    }
}

/// One string or key.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Where it stands in the output; or the number of its origin, and [`DECODED`].
    start: u32,
    end: u32,
    /// The number of the key under which a value stands, or [`NO_KEY`]; for elements of an array, the array's.
    key: u32,
}

/// The end of a piece that was decoded.
const DECODED: u32 = u32::MAX;

/// There is no key.
const NO_KEY: u32 = u32::MAX;

/// Where a piece comes from that was decoded.
#[derive(Clone, Copy, Debug)]
struct Origin {
    /// Where it begins in what was decoded. It ends where the next begins.
    start: u32,
    /// Where it stands between its quotes, escapes and all, in the text that holds it.
    raw: (u32, u32),
}

fn narrow(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

fn wide(place: u32) -> usize {
    usize::try_from(place).unwrap_or(usize::MAX)
}

/// Adds an item, and makes room for half as many again and not for twice as many.
fn push<T>(items: &mut Vec<T>, item: T) {
    if items.len() == items.capacity() {
        items.reserve_exact((items.len() / 2).max(16));
    }
    items.push(item);
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
        if source.len() > SOURCE_BYTES_MAX {
            return Err(Unseen::TooLong);
        }
        // As many as there can be but for quotes that are escaped as `\u0022`: lists that grow hold their items twice for a while.
        let count = |byte| count_byte(source.as_bytes(), byte, deadline);
        let strings = count(b'"')? / 2;
        let (decoded, pieces) = (String::new(), Vec::with_capacity(strings));
        let origins = Vec::with_capacity(strings.min(count(b'\\')?));
        let (within, numbers) = (Vec::new(), Vec::new());
        let mut view = Self { part, source, decoded, pieces, origins, within, numbers };
        let mut within = Vec::new();
        Walk::new(source, false, 0, NO_KEY, deadline).run(&mut view, &mut within)?;
        view.read_within(within, deadline)?;
        Ok(view)
    }

    /// Reads the strings that look like JSON, and those within them.
    fn read_within(&mut self, mut within: Vec<Within>, deadline: &Deadline<'_>) -> Result<(), Unseen> {
        let mut left = self.source.len().saturating_mul(GATE_EMBEDDED_TIMES_MAX);
        while let Some(Within { index, depth }) = within.pop() {
            let text = self.text(wide(index)).to_owned();
            left = left.checked_sub(text.len()).ok_or(Unseen::TooMuch)?;
            let key = self.pieces.get(wide(index)).map_or(NO_KEY, |piece| piece.key);
            let (pieces, origins, decoded, waiting) =
                (self.pieces.len(), self.origins.len(), self.decoded.len(), within.len());
            match Walk::new(&text, true, wide(depth), key, deadline).run(self, &mut within) {
                // One without strings matters only if a long number may be in it.
                Ok(()) if pieces == self.pieces.len() && text.len() < NUMBER_DIGITS_MIN => {}
                Ok(()) => push(&mut self.within, (index, narrow(pieces), narrow(self.pieces.len()))),
                // It only looked like JSON: it was seen as the text it is.
                Err(Unseen::NotJson) => {
                    self.pieces.truncate(pieces);
                    self.origins.truncate(origins);
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
            text: self.source.get(wide(number.start)..wide(number.end)).unwrap_or_default(),
            key: self.key(number.key),
        };
        self.texts().chain(self.numbers.iter().map(number))
    }

    /// Where a number of the output stands, by its place in [`Self::texts_and_numbers`]; none if that is a text.
    pub(super) fn number(&self, index: usize) -> Option<(usize, usize)> {
        let number = self.numbers.get(index.checked_sub(self.pieces.len())?)?;
        Some((wide(number.start), wide(number.end)))
    }

    /// The texts from a number on.
    pub(super) fn texts_from(&self, index: usize) -> impl Iterator<Item = Text<'_>> {
        self.pieces.get(index..).unwrap_or_default().iter().map(|piece| self.seen(piece))
    }

    fn seen(&self, piece: &Piece) -> Text<'_> {
        Text { text: self.get(piece), key: self.key(piece.key) }
    }

    fn key(&self, key: u32) -> Option<&str> {
        (key != NO_KEY).then(|| self.text(wide(key)))
    }

    /// The output itself.
    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    /// A text by its number in [`Self::texts`].
    pub(super) fn text(&self, index: usize) -> &str {
        self.pieces.get(index).map_or("", |piece| self.get(piece))
    }

    /// Where a text comes from: the number of the text that holds it (none for the output), and where it stands in
    /// there, escapes and all.
    pub(super) fn origin(&self, index: usize) -> Option<(Option<usize>, (usize, usize))> {
        let piece = self.pieces.get(index)?;
        let (start, end) = if piece.end == DECODED {
            self.origins.get(wide(piece.start))?.raw
        } else {
            (piece.start, piece.end)
        };
        // Those within strings come after those of the output, and each string has a row of them.
        let row = self.within.partition_point(|(_, _, to)| wide(*to) <= index);
        let holder = self.within.get(row).filter(|(_, from, _)| wide(*from) <= index);
        Some((holder.map(|(holder, ..)| wide(*holder)), (wide(start), wide(end))))
    }

    /// The texts that are JSON themselves, and the numbers of the texts in each.
    pub(super) fn within(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        self.within.iter().map(|(index, from, to)| (wide(*index), wide(*from)..wide(*to)))
    }

    fn get(&self, piece: &Piece) -> &str {
        if piece.end != DECODED {
            return self.source.get(wide(piece.start)..wide(piece.end)).unwrap_or_default();
        }
        let start_of = |number: usize| self.origins.get(number).map(|origin| wide(origin.start));
        let number = wide(piece.start);
        let end = start_of(number + 1).unwrap_or(self.decoded.len());
        start_of(number).and_then(|start| self.decoded.get(start..end)).unwrap_or_default()
    }
}

/// A string that may be JSON.
#[derive(Clone, Copy, Debug)]
struct Within {
    index: u32,
    /// How many objects and arrays it lies in.
    depth: u32,
}

/// Whether a text begins and ends as a JSON object or array does.
fn looks_like_json(text: &str, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
    let (bytes, blank) = (text.as_bytes(), |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    let start = run_end(bytes, 0, deadline, blank)?;
    let closes = match bytes.get(start) {
        Some(b'{') => b'}',
        Some(b'[') => b']',
        _ => return Ok(false),
    };
    let end = run_start(bytes, bytes.len(), deadline, blank)?;
    Ok(before(bytes, end) == Some(closes))
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
