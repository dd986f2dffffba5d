//! Redaction: where matches lie in the output, and the output with a label in the place of each.
//!
//! A gate finds matches in texts that may have been decoded several times. Each match is carried back, text by text, to
//! the bytes of the output that mean it; those are replaced by `[label]`, and every other byte stays as it was. A label
//! needs no escapes, so that strings that are JSON themselves stay JSON:
//!
//! | a match | is replaced |
//! |---|---|
//! | in a key or string | by its label |
//! | in the text of a JSON string, across quotes of that JSON | by its label in each of the strings it touches |
//! | a number of the JSON in a string | by its label as a string: `{"card": "[payment card number]"}` |
//! | that begins or ends within an escape or a character | without the escape at its beginning, with the one at its end |
//! | that overlaps others | together with them, by the label of the kind that stands first |

use std::collections::BTreeMap;
use std::ops::Range;

use super::scan::{Deadline, TimedOut};
use super::text::{View, step};

/// A finding in one of the texts of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    /// The number of the text.
    pub(super) text: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number of its kind; where matches overlap the smallest counts.
    pub(super) kind: usize,
}

/// A part of a text that a label replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    start: usize,
    end: usize,
    pub(super) kind: usize,
    /// What stands on both sides of the label: nothing, or the quotes of a string that was none.
    quote: String,
}

/// The parts of the output that mean these matches, in order and without overlaps.
pub(super) fn edits(
    view: &View<'_>,
    matches: Vec<Match>,
    deadline: &Deadline<'_>,
) -> Result<Vec<Edit>, TimedOut> {
    let within: BTreeMap<usize, Range<usize>> = view.within().collect();
    let mut waiting: BTreeMap<usize, Vec<Edit>> = BTreeMap::new();
    for Match { text, start, end, kind } in matches {
        waiting.entry(text).or_default().push(Edit { start, end, kind, quote: String::new() });
    }
    let mut of_output = Vec::new();
    // A text has a larger number than the one that holds it, so the last one is not added to any more.
    while let Some((index, found)) = waiting.pop_last() {
        let mut found = merged(found);
        if let Some(strings) = within.get(&index) {
            found = aligned(view, index, strings, &found, deadline)?;
        }
        let Some((holder, raw)) = view.origin(index) else { continue };
        let text = holder.map_or(view.source(), |holder| view.text(holder));
        let found = carried(text.get(raw.0..raw.1).unwrap_or_default(), raw.0, found, deadline)?;
        match holder {
            None => of_output.extend(found),
            Some(holder) => waiting.entry(holder).or_default().extend(found),
        }
    }
    Ok(merged(of_output))
}

/// The output with labels in the place of these parts, which do not overlap.
pub(super) fn replaced<'l>(source: &str, edits: &[Edit], label: impl Fn(usize) -> &'l str) -> String {
    let mut redacted = String::with_capacity(source.len());
    let mut rest = 0;
    for Edit { start, end, kind, quote } in edits {
        redacted.push_str(source.get(rest..*start).unwrap_or_default());
        for part in [quote, "[", label(*kind), "]", quote] {
            redacted.push_str(part);
        }
        rest = *end;
    }
    redacted.push_str(source.get(rest..).unwrap_or_default());
    redacted
}

/// In order, and what overlaps as one.
pub(super) fn merged(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let mut merged: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match merged.last_mut() {
            Some(last) if edit.start < last.end => {
                last.end = last.end.max(edit.end);
                last.kind = last.kind.min(edit.kind);
            }
            _ => merged.push(edit),
        }
    }
    merged
}

/// Parts of a text that is JSON, cut to its strings, so that it stays JSON.
fn aligned(
    view: &View<'_>,
    index: usize,
    strings: &Range<usize>,
    edits: &[Edit],
    deadline: &Deadline<'_>,
) -> Result<Vec<Edit>, TimedOut> {
    let text = view.text(index);
    let mut tokens = strings.clone().filter_map(|string| view.origin(string).map(|(_, raw)| raw)).peekable();
    let mut aligned: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        let mut touched = false;
        while let Some((from, to)) = tokens.peek().copied().filter(|(from, _)| *from < edit.end) {
            deadline.spend(8)?;
            if to > edit.start {
                touched = true;
                let start = after_escape(text, from, edit.start.max(from));
                let end = to.min(after_escape(text, from, edit.end.min(to)));
                if start < end {
                    aligned.push(Edit { start, end, ..edit.clone() });
                }
            }
            if to > edit.end {
                break;
            }
            tokens.next();
        }
        if !touched {
            let is_number =
                |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
            let bytes = text.as_bytes();
            let head = bytes.get(..edit.start).unwrap_or_default().iter().rev();
            let tail = bytes.get(edit.end..).unwrap_or_default().iter();
            let start = edit.start - head.take_while(|byte| is_number(byte)).count();
            let end = edit.end + tail.take_while(|byte| is_number(byte)).count();
            deadline.spend(end - start)?;
            aligned.push(Edit { start, end, kind: edit.kind, quote: "\"".to_owned() });
        }
    }
    Ok(merged(aligned))
}

/// A place, or if it lies within an escape or a character, the end of that. Nothing before `from` is part of the string.
fn after_escape(text: &str, from: usize, place: usize) -> usize {
    let place = (place..text.len()).find(|place| text.is_char_boundary(*place)).unwrap_or(text.len());
    let string = text.get(from..place).unwrap_or_default();
    // An escape is at most six bytes long, and the backslash that begins one is not itself escaped.
    for back in 1..=string.len().min(5) {
        let at = string.len() - back;
        if string.as_bytes().get(at) == Some(&b'\\') {
            let before = string.as_bytes().get(..at).unwrap_or_default();
            let escaped = before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
            let begin = from + if escaped { at - 1 } else { at };
            let (length, _) = single_step(text.get(begin..).unwrap_or_default());
            return place.max(begin + length);
        }
    }
    place
}

/// The length of one escape, where a pair of surrogates is two.
fn single_step(raw: &str) -> (usize, usize) {
    if raw.starts_with("\\u") { (6, 0) } else { step(raw) }
}

/// Parts of a decoded text as parts of the text that holds it, in which it stands as `raw` from `offset` on.
fn carried(
    raw: &str,
    offset: usize,
    mut edits: Vec<Edit>,
    deadline: &Deadline<'_>,
) -> Result<Vec<Edit>, TimedOut> {
    let (mut at, mut decoded) = (0, 0);
    // The raw place of a decoded one: before the character that covers it, or after it.
    let mut place = |wanted: usize, after: bool| -> Result<usize, TimedOut> {
        while decoded < wanted {
            let rest = raw.get(at..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            let plain = rest.find('\\').unwrap_or(rest.len()).min(wanted - decoded);
            let (length, meant) = if plain > 0 { (plain, plain) } else { step(rest) };
            deadline.spend(length)?;
            if decoded + meant > wanted && !after {
                break;
            }
            (at, decoded) = (at + length, decoded + meant);
        }
        Ok(offset + at)
    };
    for edit in &mut edits {
        edit.start = place(edit.start, false)?;
        edit.end = place(edit.end, true)?;
        edit.quote = edit.quote.replace('\\', "\\\\").replace('"', "\\\"");
    }
    Ok(edits)
}

#[cfg(test)]
mod tests;
