//! Redaction: finds the position of each match in the output and replaces it by a label.
//!
//! A gate finds matches in texts that may have been decoded several times. Each match is mapped back, text by text,
//! to the bytes of the output that encode it. These are replaced by `[label]`, and all other bytes stay unchanged. A
//! label needs no escapes, so strings that are JSON themselves stay JSON:
//!
//! | match | replacement |
//! |---|---|
//! | in a key or string | its label |
//! | in a string that is JSON, across several strings of that JSON | its label in each of these strings |
//! | a number of the output, or of JSON inside a string | its label as a string: `{"card": "[payment card number]"}` |
//! | that begins or ends within an escape or a character | its label; the escape at its start stays, the one at its end is replaced too |
//! | that is one of more than 65 536 of its gate | none: the gate fails, `more than 65536 findings to redact` |
//! | that overlaps others | one label for all of them, of the kind that comes first |

use std::collections::BTreeMap;
use std::ops::Range;

use super::scan::{Deadline, TimedOut};
use super::text::{View, step};

/// A finding in one of the texts of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    /// The index of the text.
    pub(super) text: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The index of its kind. Of overlapping matches the smallest one counts.
    pub(super) kind: usize,
}

/// A part of a text that a label replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    start: usize,
    end: usize,
    kind: usize,
    /// Text on both sides of the label: nothing, or quotes if a number becomes a string.
    quote: String,
}

/// Returns the parts of the output that encode these matches, in order and without overlaps.
pub(super) fn edits(
    view: &View<'_>,
    matches: Vec<Match>,
    deadline: &Deadline<'_>,
) -> Result<Vec<Edit>, TimedOut> {
    let within: BTreeMap<usize, Range<usize>> = view.within().collect();
    let mut waiting: BTreeMap<usize, Vec<Edit>> = BTreeMap::new();
    let mut of_output = Vec::new();
    for Match { text, start, end, kind } in matches {
        // A part of a number cannot be replaced, so the whole number becomes a string.
        if let Some((start, end)) = view.number(text) {
            of_output.push(Edit { start, end, kind, quote: "\"".to_owned() });
            continue;
        }
        waiting.entry(text).or_default().push(Edit { start, end, kind, quote: String::new() });
    }
    // A text has a larger index than the text that contains it. First, matches in a text that is JSON are moved to
    // the strings inside it, so that no escape is cut at any level. Then all matches are mapped back to the output.
    let mut next = 0;
    while let Some(index) = waiting.range(next..).next().map(|(index, _)| *index) {
        next = index + 1;
        if let Some(strings) = within.get(&index) {
            let found = merged(waiting.remove(&index).unwrap_or_default());
            move_to_strings(view, index, strings, &found, &mut waiting, deadline)?;
        }
    }
    while let Some((index, found)) = waiting.pop_last() {
        let found = merged(found);
        let Some((holder, raw)) = view.origin(index) else { continue };
        let text = holder.map_or(view.source(), |holder| view.text(holder));
        let found = mapped_to_container(text.get(raw.0..raw.1).unwrap_or_default(), raw.0, found, deadline)?;
        match holder {
            None => of_output.extend(found),
            Some(holder) => waiting.entry(holder).or_default().extend(found),
        }
    }
    Ok(merged(of_output))
}

/// Everything that the gates of an evaluation replace.
#[derive(Debug, Default)]
pub(super) struct Redaction {
    edits: Vec<Edit>,
    /// The labels of the kinds. Kinds of a later gate have larger indexes.
    labels: Vec<String>,
}

impl Redaction {
    /// Adds the matches of a gate. Returns the reason: `redacted 2 email address, 1 iban`, with the kinds in order.
    pub(super) fn add(
        &mut self,
        view: &View<'_>,
        found: Vec<Match>,
        label: &dyn Fn(usize) -> String,
        deadline: &Deadline<'_>,
    ) -> Result<Option<String>, TimedOut> {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let found = edits(view, found, deadline)?;
        for edit in &found {
            *counts.entry(edit.kind).or_default() += 1;
        }
        let counted: Vec<String> =
            counts.iter().map(|(kind, count)| format!("{count} {}", label(*kind))).collect();
        let first = self.labels.len();
        for edit in found {
            let index = counts.keys().position(|kind| *kind == edit.kind).unwrap_or_default();
            self.edits.push(Edit { kind: first + index, ..edit });
        }
        self.labels.extend(counts.keys().map(|kind| label(*kind)));
        Ok((!counted.is_empty()).then(|| format!("redacted {}", counted.join(", "))))
    }

    /// Returns the redacted output, or `None` if there is nothing to replace.
    pub(super) fn apply(self, source: &str) -> Option<String> {
        let label = |kind: usize| self.labels.get(kind).map_or("", String::as_str);
        (!self.edits.is_empty()).then(|| replaced(source, &merged(self.edits), label))
    }
}

/// Returns the output with labels in place of these parts, which must not overlap.
fn replaced<'l>(source: &str, edits: &[Edit], label: impl Fn(usize) -> &'l str) -> String {
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

/// Sorts the parts and merges overlapping ones.
fn merged(mut edits: Vec<Edit>) -> Vec<Edit> {
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

/// Moves parts of a text that is JSON to its strings. A part outside all strings is a number.
fn move_to_strings(
    view: &View<'_>,
    index: usize,
    strings: &Range<usize>,
    edits: &[Edit],
    waiting: &mut BTreeMap<usize, Vec<Edit>>,
    deadline: &Deadline<'_>,
) -> Result<(), TimedOut> {
    let text = view.text(index);
    let mut touched = vec![false; edits.len()];
    let mut first = 0;
    for string in strings.clone() {
        let Some((_, (from, to))) = view.origin(string) else { continue };
        deadline.spend(8)?;
        // Parts that end in front of this string cannot touch a later one.
        while edits.get(first).is_some_and(|edit| edit.end <= from) {
            first += 1;
        }
        let mut cursor = Cursor::default();
        let raw = text.get(from..to).unwrap_or_default();
        for (edit, touched) in
            edits.iter().zip(&mut touched).skip(first).take_while(|(edit, _)| edit.start < to)
        {
            *touched = true;
            let start = cursor.decoded(raw, edit.start.saturating_sub(from), deadline)?;
            let end = cursor.decoded(raw, edit.end.min(to) - from, deadline)?;
            if start < end {
                waiting.entry(string).or_default().push(Edit { start, end, ..edit.clone() });
            }
        }
    }
    for (edit, _) in edits.iter().zip(touched).filter(|(_, touched)| !touched) {
        let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
        let bytes = text.as_bytes();
        let head = bytes.get(..edit.start).unwrap_or_default().iter().rev();
        let tail = bytes.get(edit.end..).unwrap_or_default().iter();
        let start = edit.start - head.take_while(|byte| is_number(byte)).count();
        let end = edit.end + tail.take_while(|byte| is_number(byte)).count();
        deadline.spend(end - start)?;
        let number = Edit { start, end, kind: edit.kind, quote: "\"".to_owned() };
        waiting.entry(index).or_default().push(number);
    }
    Ok(())
}

/// A position in a raw string and in the decoded string.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    raw_position: usize,
    decoded: usize,
}

impl Cursor {
    /// Advances over at most `most` bytes without an escape, or over one escape. Returns false at the end.
    fn step(&mut self, raw: &str, most: usize, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
        let rest = raw.get(self.raw_position..).unwrap_or_default();
        let most = (most..=rest.len()).find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
        let near = rest.get(..most).unwrap_or_default();
        let plain = near.find('\\').unwrap_or(near.len());
        let (raw_position, decoded) = if plain > 0 { (plain, plain) } else { step(rest) };
        deadline.spend(raw_position)?;
        if rest.is_empty() {
            return Ok(false);
        }
        (self.raw_position, self.decoded) = (self.raw_position + raw_position, self.decoded + decoded);
        Ok(true)
    }

    /// Converts a raw position to a decoded one. A position within an escape becomes the position after it.
    fn decoded(
        &mut self,
        raw: &str,
        raw_position: usize,
        deadline: &Deadline<'_>,
    ) -> Result<usize, TimedOut> {
        while self.raw_position < raw_position
            && self.step(raw, raw_position - self.raw_position, deadline)?
        {}
        Ok(self.decoded)
    }

    /// Converts a decoded position to a raw one. A position within a character becomes the position before or after it.
    fn raw_position(
        &mut self,
        raw: &str,
        decoded: usize,
        after: bool,
        deadline: &Deadline<'_>,
    ) -> Result<usize, TimedOut> {
        while self.decoded < decoded {
            let before = *self;
            if !self.step(raw, decoded - self.decoded, deadline)? {
                break;
            }
            if self.decoded > decoded && !after {
                *self = before;
                break;
            }
        }
        Ok(self.raw_position)
    }
}

/// Maps parts of a decoded text to the containing text, where it is `raw` at `offset`.
fn mapped_to_container(
    raw: &str,
    offset: usize,
    mut edits: Vec<Edit>,
    deadline: &Deadline<'_>,
) -> Result<Vec<Edit>, TimedOut> {
    let mut cursor = Cursor::default();
    for edit in &mut edits {
        edit.start = offset + cursor.raw_position(raw, edit.start, false, deadline)?;
        edit.end = offset + cursor.raw_position(raw, edit.end, true, deadline)?;
        edit.quote = edit.quote.replace('\\', "\\\\").replace('"', "\\\"");
    }
    Ok(edits)
}

#[cfg(test)]
mod tests;
