//! The views of a string: what a person sees, and what a model that reads its bytes sees.

use std::borrow::Cow;

use memchr::memmem;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::decode::decoded;
use crate::gates::scan::{Deadline, TimedOut};

/// Bytes that are normalized at a time. This bounds the cost of sorting a long run of combining marks.
const PART_BYTES: usize = 4096;

/// The views of one string.
pub(super) struct Views<'t> {
    pub(super) visible: Cow<'t, str>,
    pub(super) hidden: Vec<String>,
}

impl<'t> Views<'t> {
    pub(super) fn of(text: &'t str, deadline: &Deadline<'_>) -> Result<Self, TimedOut> {
        deadline.spend(text.len())?;
        let mut hidden = Vec::new();
        let mut visible = Cow::Borrowed(text);
        if !text.is_ascii() {
            let (readable, tags) = without_invisible(text, deadline)?;
            visible = normalized(text, deadline)?;
            if let Some(readable) = readable {
                hidden.push(normalized(&readable, deadline)?.into_owned());
            }
            if !tags.is_empty() {
                hidden.push(tags);
            }
        }
        let readable = hidden.first().map_or(&*visible, String::as_str);
        let mut found = decoded(readable, deadline)?;
        hidden.append(&mut found);
        if let Some((shown, comments)) = without_comments(&visible, deadline)? {
            hidden.extend(comments);
            visible = Cow::Owned(shown);
        }
        Ok(Self { visible, hidden })
    }
}

/// Splits a text into parts at character boundaries.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    core::iter::from_fn(move || {
        let cut = (PART_BYTES.min(rest.len())..=rest.len()).find(|at| rest.is_char_boundary(*at))?;
        let (part, after) = rest.split_at_checked(cut)?;
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

/// Normalizes a text to NFKC.
pub(super) fn normalized<'t>(text: &'t str, deadline: &Deadline<'_>) -> Result<Cow<'t, str>, TimedOut> {
    let mut normal: Option<String> = None;
    let mut done = 0;
    for part in parts(text) {
        deadline.spend(part.len())?;
        let is_normal = part.is_ascii() || is_nfkc_quick(part.chars()) == IsNormalized::Yes;
        if !is_normal && normal.is_none() {
            normal = text.get(..done).map(str::to_owned);
        }
        match &mut normal {
            Some(normal) if is_normal => normal.push_str(part),
            Some(normal) => normal.extend(part.chars().map(without_ligature).nfkc()),
            None => {}
        }
        done += part.len();
    }
    Ok(normal.map_or(Cow::Borrowed(text), Cow::Owned))
}

/// Replaces two ligatures that NFKC expands to whole sentences without a Latin letter: eleven times the text for
/// nothing.
fn without_ligature(char: char) -> char {
    if matches!(char, '\u{fdfa}' | '\u{fdfb}') { ' ' } else { char }
}

/// Returns the text without invisible characters, if it has any, and its tag characters as ASCII.
fn without_invisible(text: &str, deadline: &Deadline<'_>) -> Result<(Option<String>, String), TimedOut> {
    let (mut readable, mut tags) = (String::new(), String::new());
    for part in parts(text) {
        deadline.spend(part.len())?;
        // Invisible characters are not ASCII.
        if part.is_ascii() {
            readable.push_str(part);
            continue;
        }
        for char in part.chars() {
            if !is_invisible(char) {
                readable.push(char);
            } else if let Some(tag) = tag(char) {
                tags.push(tag);
            }
        }
    }
    Ok(((readable.len() < text.len()).then_some(readable), tags))
}

/// Returns whether a character is a zero-width, bidi or tag character.
fn is_invisible(char: char) -> bool {
    matches!(char,
        '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns the printable ASCII character that a tag character encodes.
fn tag(char: char) -> Option<char> {
    let byte = u8::try_from(u32::from(char).checked_sub(0xe_0000)?).ok()?;
    (byte.is_ascii_graphic() || byte == b' ' || byte == b'\n').then_some(byte.into())
}

/// Cost of removing a comment, in bytes of plain scanning.
const COMMENT_COST: usize = 64;

/// Returns the text without its HTML comments, and the comments, if it has any. An unclosed comment extends to the end.
fn without_comments(text: &str, deadline: &Deadline<'_>) -> Result<Option<(String, Vec<String>)>, TimedOut> {
    const OPEN: &str = "<!--";
    const CLOSE: &str = "-->";
    // Most texts have no comment, and this is the fastest way to find out.
    deadline.spend(text.len())?;
    let Some(first) = memmem::find(text.as_bytes(), OPEN.as_bytes()) else { return Ok(None) };
    let mut rest =
        (text.get(..first).unwrap_or_default(), text.get(first + OPEN.len()..).unwrap_or_default());
    let (mut shown, mut comments) = (String::with_capacity(text.len()), Vec::new());
    loop {
        let (before, after) = rest;
        shown.push_str(before);
        shown.push(' ');
        let (comment, after) = after.split_once(CLOSE).unwrap_or((after, ""));
        deadline.spend(COMMENT_COST + comment.len())?;
        if !comment.trim().is_empty() {
            comments.push(comment.to_owned());
        }
        let Some(next) = after.split_once(OPEN) else {
            shown.push_str(after);
            return Ok(Some((shown, comments)));
        };
        rest = next;
    }
}
