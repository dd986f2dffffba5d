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
//! | a number, of the output or of the JSON in a string | by its label as a string: `{"card": "[payment card number]"}` |
//! | that begins or ends within an escape or a character | without the escape at its beginning, with the one at its end |
//! | that is one of more than 65 536 of its gate | not: the gate fails, `more than 65536 findings to redact` |
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
    kind: usize,
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
    let mut of_output = Vec::new();
    for Match { text, start, end, kind } in matches {
        // A part of a number is none, so the whole of it becomes a string.
        if let Some((start, end)) = view.number(text) {
            of_output.push(Edit { start, end, kind, quote: "\"".to_owned() });
            continue;
        }
        waiting.entry(text).or_default().push(Edit { start, end, kind, quote: String::new() });
    }
    // A text has a larger number than the one that holds it. First what was found in a text that is JSON is handed down to
    // the strings in it, so that nothing is cut within an escape at any level; then all is carried up again.
    let mut next = 0;
    while let Some(index) = waiting.range(next..).next().map(|(index, _)| *index) {
        next = index + 1;
        if let Some(strings) = within.get(&index) {
            let found = merged(waiting.remove(&index).unwrap_or_default());
            hand_down(view, index, strings, &found, &mut waiting, deadline)?;
        }
    }
    while let Some((index, found)) = waiting.pop_last() {
        let found = merged(found);
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

/// What all gates of an evaluation want to be replaced.
#[derive(Debug, Default)]
pub(super) struct Redaction {
    edits: Vec<Edit>,
    /// The labels of the kinds; those of a later gate have larger numbers.
    labels: Vec<String>,
}

impl Redaction {
    /// Adds what a gate found, and answers what that was: `2 email address, 1 iban` with the kinds in their order.
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
            let place = counts.keys().position(|kind| *kind == edit.kind).unwrap_or_default();
            self.edits.push(Edit { kind: first + place, ..edit });
        }
        self.labels.extend(counts.keys().map(|kind| label(*kind)));
        Ok((!counted.is_empty()).then(|| format!("redacted {}", counted.join(", "))))
    }

    /// The output with everything replaced, if there is anything.
    pub(super) fn apply(self, source: &str) -> Option<String> {
        let label = |kind: usize| self.labels.get(kind).map_or("", String::as_str);
        (!self.edits.is_empty()).then(|| replaced(source, &merged(self.edits), label))
    }
}

/// The output with labels in the place of these parts, which do not overlap.
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

/// In order, and what overlaps as one.
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

/// Parts of a text that is JSON, as parts of its strings. What is in none of them is a number.
fn hand_down(
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
        // Those that end before this string touch none of the later ones.
        while edits.get(first).is_some_and(|edit| edit.end <= from) {
            first += 1;
        }
        let mut cursor = Cursor::default();
        let raw = text.get(from..to).unwrap_or_default();
        for (edit, touched) in
            edits.iter().zip(&mut touched).skip(first).take_while(|(edit, _)| edit.start < to)
        {
            *touched = true;
            let start = cursor.meant(raw, edit.start.saturating_sub(from), deadline)?;
            let end = cursor.meant(raw, edit.end.min(to) - from, deadline)?;
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

/// A place in a string as it is written, and in what it means.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    written: usize,
    meant: usize,
}

impl Cursor {
    /// Goes on over one stretch without escapes that ends where wanted, or one escape. False at the end.
    fn step(&mut self, raw: &str, most: usize, deadline: &Deadline<'_>) -> Result<bool, TimedOut> {
        let rest = raw.get(self.written..).unwrap_or_default();
        let most = (most..=rest.len()).find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
        let near = rest.get(..most).unwrap_or_default();
        let plain = near.find('\\').unwrap_or(near.len());
        let (written, meant) = if plain > 0 { (plain, plain) } else { step(rest) };
        deadline.spend(written)?;
        if rest.is_empty() {
            return Ok(false);
        }
        (self.written, self.meant) = (self.written + written, self.meant + meant);
        Ok(true)
    }

    /// What a written place means. One within an escape is the place after it.
    fn meant(&mut self, raw: &str, written: usize, deadline: &Deadline<'_>) -> Result<usize, TimedOut> {
        while self.written < written && self.step(raw, written - self.written, deadline)? {}
        Ok(self.meant)
    }

    /// Where a place is written. One within a character is the place before it, or after it.
    fn written(
        &mut self,
        raw: &str,
        meant: usize,
        after: bool,
        deadline: &Deadline<'_>,
    ) -> Result<usize, TimedOut> {
        while self.meant < meant {
            let before = *self;
            if !self.step(raw, meant - self.meant, deadline)? {
                break;
            }
            if self.meant > meant && !after {
                *self = before;
                break;
            }
        }
        Ok(self.written)
    }
}

/// Parts of a decoded text as parts of the text that holds it, in which it stands as `raw` from `offset` on.
fn carried(
    raw: &str,
    offset: usize,
    mut edits: Vec<Edit>,
    deadline: &Deadline<'_>,
) -> Result<Vec<Edit>, TimedOut> {
    let mut cursor = Cursor::default();
    for edit in &mut edits {
        edit.start = offset + cursor.written(raw, edit.start, false, deadline)?;
        edit.end = offset + cursor.written(raw, edit.end, true, deadline)?;
        edit.quote = edit.quote.replace('\\', "\\\\").replace('"', "\\\"");
    }
    Ok(edits)
}

#[cfg(test)]
mod tests;
