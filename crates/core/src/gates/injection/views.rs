//! What a string says to a reader, and what it says to a model that reads its bytes.

use std::borrow::Cow;

use memchr::memmem;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::decode::decoded;
use crate::gates::scan::{Deadline, TimedOut};

/// How much is normalized at a time. It bounds what a row of marks that have to be sorted can cost.
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

/// A text in stretches that end between characters.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    core::iter::from_fn(move || {
        let cut = (PART_BYTES.min(rest.len())..=rest.len()).find(|at| rest.is_char_boundary(*at))?;
        let (part, after) = rest.split_at_checked(cut)?;
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

/// A text in NFKC.
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

/// Two ligatures stand for a whole sentence each, without a Latin letter in it: eleven times the text for nothing.
fn without_ligature(char: char) -> char {
    if matches!(char, '\u{fdfa}' | '\u{fdfb}') { ' ' } else { char }
}

/// The text without what cannot be seen, if it has such, and its tag characters as ASCII.
fn without_invisible(text: &str, deadline: &Deadline<'_>) -> Result<(Option<String>, String), TimedOut> {
    let (mut readable, mut tags) = (String::new(), String::new());
    for part in parts(text) {
        deadline.spend(part.len())?;
        // What cannot be seen is not ASCII.
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

/// Zero-width, bidi and tag characters.
fn is_invisible(char: char) -> bool {
    matches!(char,
        '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// The printable ASCII character that a tag character stands for.
fn tag(char: char) -> Option<char> {
    let byte = u8::try_from(u32::from(char).checked_sub(0xe_0000)?).ok()?;
    (byte.is_ascii_graphic() || byte == b' ' || byte == b'\n').then_some(byte.into())
}

/// What taking a comment out costs, in bytes that are only looked at.
const COMMENT_COST: usize = 64;

/// The text without its HTML comments, and those, if it has any. One that does not end goes on to the end.
fn without_comments(text: &str, deadline: &Deadline<'_>) -> Result<Option<(String, Vec<String>)>, TimedOut> {
    const OPEN: &str = "<!--";
    const CLOSE: &str = "-->";
    // Most texts have none, and this is the quickest way to know.
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
