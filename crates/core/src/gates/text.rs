//! Every string and key of a JSON text, decoded once for all gates.
//!
//! The walk follows the text and has its own stack, so that nesting costs no thread stack and every occurrence of a
//! repeated key is seen. A string without escapes is borrowed from the output; others are decoded into one buffer. A
//! string that is itself a JSON object or array is walked too, after the text that contains it, and its nesting adds
//! to the depth.

mod string;
mod walk;

use core::ops::Range;

use crate::limits::{GATE_DEPTH_MAX, GATE_EMBEDDED_TIMES_MAX};

use super::scan::{Deadline, TimedOut, before, count_byte, run_end, run_start};
use super::settings::JudgedPart;
pub(super) use string::{decoded_char, step};
use walk::Walk;

/// All texts of an output.
///
/// An output may have one string per three bytes. So little is stored per string: memory is a small multiple of any
/// output.
#[derive(Debug)]
pub(super) struct View<'a> {
    part: JudgedPart,
    source: &'a str,
    /// Texts that were decoded, or that are inside a string, one after the other.
    decoded: String,
    pieces: Vec<Piece>,
    /// The origins of the decoded pieces.
    origins: Vec<Origin>,
    /// The strings that are JSON themselves, each with the range of its pieces: index, start, end.
    within: Vec<(u32, u32, u32)>,
    /// Long numbers of the output itself. Numbers inside strings are seen as part of the string.
    numbers: Vec<Number>,
}

/// A number with this many digits may be more than an amount.
const NUMBER_DIGITS_MIN: usize = 13;

/// The longest output that is read, in bytes. All positions have to fit into 32 bits, including those of decoded text.
const SOURCE_BYTES_MAX: usize = 1 << 28;

/// A number with many digits.
#[derive(Clone, Copy, Debug)]
struct Number {
    /// Its position in the output.
    start: u32,
    end: u32,
    key: u32,
}

/// Why an output cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unseen {
    /// The budget is spent.
    TimedOut,
    /// It is nested too deep.
    TooDeep,
    /// JSON inside its strings is more than the limit.
    TooMuch,
    /// It is longer than the limit.
    TooLong,
    /// It is not JSON.
    NotJson,
}

impl From<TimedOut> for Unseen {
    fn from(TimedOut: TimedOut) -> Self {
        Self::TimedOut
    }
}

impl Unseen {
    /// Returns the reason with which text gates fail closed.
    pub(super) fn reason(self, part: JudgedPart) -> String {
        let (name, is) = (part.name(), part.is());
        match self {
            Self::TimedOut => "renown:timeout".to_owned(),
            Self::TooDeep => format!("{is} nested deeper than {GATE_DEPTH_MAX} levels"),
            Self::TooMuch => {
                format!(
                    "JSON inside strings of {name} is more than {GATE_EMBEDDED_TIMES_MAX} times its length"
                )
            }
            Self::TooLong => format!("{is} longer than {} MiB", SOURCE_BYTES_MAX >> 20),
            Self::NotJson => format!("{is} not JSON"),
        }
    }
}

/// One string or key.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Its position in the output; for a decoded piece the index of its origin, and [`DECODED`].
    start: u32,
    end: u32,
    /// The index of the key of a value, or [`NO_KEY`]. Elements of an array have the key of the array.
    key: u32,
}

/// Marks a decoded piece, as its end.
const DECODED: u32 = u32::MAX;

/// Marks a piece without a key.
const NO_KEY: u32 = u32::MAX;

/// The origin of a decoded piece.
#[derive(Clone, Copy, Debug)]
struct Origin {
    /// Its start in the decoded buffer. It ends at the start of the next one.
    start: u32,
    /// Its position between its quotes in the containing text, with escapes.
    raw: (u32, u32),
}

fn narrow(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

fn wide(position: u32) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// Adds an item. Grows the list by half, not to twice its size.
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
    /// Its key; `None` if the text is a key itself.
    pub(super) key: Option<&'v str>,
}

impl<'a> View<'a> {
    /// Reads the JSON text of this part of a call.
    pub(super) fn read(source: &'a str, part: JudgedPart, deadline: &Deadline<'_>) -> Result<Self, Unseen> {
        if source.len() > SOURCE_BYTES_MAX {
            return Err(Unseen::TooLong);
        }
        // An upper bound, apart from quotes that are escaped as `\u0022`. It avoids growing: a growing list needs
        // twice the memory for a while.
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

    /// Reads the strings that look like JSON, and the strings inside them.
    fn read_within(&mut self, mut within: Vec<Within>, deadline: &Deadline<'_>) -> Result<(), Unseen> {
        let mut left = self.source.len().saturating_mul(GATE_EMBEDDED_TIMES_MAX);
        while let Some(Within { index, depth }) = within.pop() {
            let text = self.text(wide(index)).to_owned();
            left = left.checked_sub(text.len()).ok_or(Unseen::TooMuch)?;
            let key = self.pieces.get(wide(index)).map_or(NO_KEY, |piece| piece.key);
            let (pieces, origins, decoded, waiting) =
                (self.pieces.len(), self.origins.len(), self.decoded.len(), within.len());
            match Walk::new(&text, true, wide(depth), key, deadline).run(self, &mut within) {
                // JSON without strings matters only if it may contain a long number.
                Ok(()) if pieces == self.pieces.len() && text.len() < NUMBER_DIGITS_MIN => {}
                Ok(()) => push(&mut self.within, (index, narrow(pieces), narrow(self.pieces.len()))),
                // It only looked like JSON. It has already been added as plain text.
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

    /// Returns the name of the text in reasons: `output` or `arguments`.
    pub(super) fn name(&self) -> &'static str {
        self.part.name()
    }

    /// Returns all texts: those of the output in order, then those inside strings.
    pub(super) fn texts(&self) -> impl Iterator<Item = Text<'_>> {
        self.texts_from(0)
    }

    /// Returns the texts and then the numbers of 13 or more digits, in the order of the output.
    pub(super) fn texts_and_numbers(&self) -> impl Iterator<Item = Text<'_>> {
        let number = |number: &Number| Text {
            text: self.source.get(wide(number.start)..wide(number.end)).unwrap_or_default(),
            key: self.key(number.key),
        };
        self.texts().chain(self.numbers.iter().map(number))
    }

    /// Returns the position of a number in the output, by its index in [`Self::texts_and_numbers`]. Returns `None`
    /// for a text.
    pub(super) fn number(&self, index: usize) -> Option<(usize, usize)> {
        let number = self.numbers.get(index.checked_sub(self.pieces.len())?)?;
        Some((wide(number.start), wide(number.end)))
    }

    /// Returns the texts from an index on.
    pub(super) fn texts_from(&self, index: usize) -> impl Iterator<Item = Text<'_>> {
        self.pieces.get(index..).unwrap_or_default().iter().map(|piece| self.seen(piece))
    }

    fn seen(&self, piece: &Piece) -> Text<'_> {
        Text { text: self.get(piece), key: self.key(piece.key) }
    }

    fn key(&self, key: u32) -> Option<&str> {
        (key != NO_KEY).then(|| self.text(wide(key)))
    }

    /// Returns the output itself.
    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    /// Returns a text by its index in [`Self::texts`].
    pub(super) fn text(&self, index: usize) -> &str {
        self.pieces.get(index).map_or("", |piece| self.get(piece))
    }

    /// Returns the origin of a text: the index of the containing text (`None` for the output), and its position
    /// there, with escapes.
    pub(super) fn origin(&self, index: usize) -> Option<(Option<usize>, (usize, usize))> {
        let piece = self.pieces.get(index)?;
        let (start, end) = if piece.end == DECODED {
            self.origins.get(wide(piece.start))?.raw
        } else {
            (piece.start, piece.end)
        };
        // Texts inside strings come after those of the output, and each string has a contiguous range of them.
        let row = self.within.partition_point(|(_, _, to)| wide(*to) <= index);
        let holder = self.within.get(row).filter(|(_, from, _)| wide(*from) <= index);
        Some((holder.map(|(holder, ..)| wide(*holder)), (wide(start), wide(end))))
    }

    /// Returns the texts that are JSON themselves, each with the range of the texts inside it.
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
    /// Number of objects and arrays around it.
    depth: u32,
}

/// Returns whether a text begins and ends like a JSON object or array.
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
        let view = View::read(source, JudgedPart::Output, &Deadline::new(&clock, Duration::ZERO))?;
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
        let view = View::read(source, JudgedPart::Output, &Deadline::new(&clock, Duration::ZERO)).unwrap();
        let keys: Vec<_> = view.texts().map(|text| (text.text, text.key)).collect();
        assert_eq!(keys[1], ("a", Some("path")));
        assert_eq!(keys[3], ("c", Some("b")));
        assert_eq!(keys[7], ("e", Some("path")));
    }

    #[test]
    fn long_numbers_are_seen_after_the_texts() {
        let clock = || Duration::ZERO;
        let source = r#"{"a":[1234567890123,-1234567890123.5,123456789012],"b":"{\"c\":1234567890123}"}"#;
        let view = View::read(source, JudgedPart::Output, &Deadline::new(&clock, Duration::ZERO)).unwrap();
        let numbers: Vec<_> = view.texts_and_numbers().skip(view.texts().count()).collect();
        let number = |text| Text { text, key: Some("a") };
        assert_eq!(numbers, [number("1234567890123"), number("-1234567890123.5")]);
        let (start, end) = view.number(view.texts().count()).unwrap();
        assert_eq!(source.get(start..end), Some("1234567890123"));
        assert_eq!(view.number(0), None);
    }

    #[test]
    fn the_nesting_limit_includes_json_inside_strings() {
        let nested = |depth: usize| format!("{}\"x\"{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(read(&nested(GATE_DEPTH_MAX)).unwrap(), ["x"]);
        assert_eq!(read(&nested(GATE_DEPTH_MAX + 1)), Err(Unseen::TooDeep));
        assert_eq!(read(&"[".repeat(1 << 20)), Err(Unseen::TooDeep));
        let within = |depth: usize| serde_json::json!([nested(depth)]).to_string();
        assert_eq!(read(&within(GATE_DEPTH_MAX - 1)).unwrap().len(), 2);
        assert_eq!(read(&within(GATE_DEPTH_MAX)), Err(Unseen::TooDeep));
    }

    #[test]
    fn json_inside_strings_has_a_limit() {
        // Each level escapes its quotes as \u0022 and its backslashes as \u005c, so the text grows only a little.
        let level = |text: &str| format!("[\"{}\"]", text.replace('\\', "\\u005c").replace('"', "\\u0022"));
        let levels = |count: usize| (0..count).fold("x".repeat(10_000), |text, _| level(&text));
        assert_eq!(read(&levels(GATE_EMBEDDED_TIMES_MAX)).unwrap().len(), GATE_EMBEDDED_TIMES_MAX);
        assert_eq!(read(&levels(GATE_EMBEDDED_TIMES_MAX + 3)), Err(Unseen::TooMuch));
    }
}
