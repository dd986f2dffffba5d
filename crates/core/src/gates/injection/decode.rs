//! Decodes base64, hex and percent escapes.

use super::views::normalized;
use crate::gates::scan::{Deadline, TimedOut, each, run_end};

/// Most decoded text per string, in bytes.
pub(super) const DECODED_BYTES_MAX: usize = 64 * 1024;
const LAYERS: usize = 2;
const BASE64_CHARS_MIN: usize = 24;
const HEX_CHARS_MIN: usize = 32;
/// Text around a percent escape that is decoded with it, in bytes: a sentence or two.
const AROUND: usize = 200;

/// Returns the texts that are encoded in a text, and the texts encoded in those.
pub(super) fn decoded(text: &str, deadline: &Deadline<'_>) -> Result<Vec<String>, TimedOut> {
    let mut left = DECODED_BYTES_MAX;
    let mut found = layer(text, &mut left, deadline)?;
    let mut begin = 0;
    for _ in 1..LAYERS {
        let end = found.len();
        for at in begin..end {
            let mut inner = layer(found.get(at).map_or("", String::as_str), &mut left, deadline)?;
            found.append(&mut inner);
        }
        begin = end;
    }
    found.iter().map(|text| Ok(normalized(text, deadline)?.into_owned())).collect()
}

fn layer(text: &str, left: &mut usize, deadline: &Deadline<'_>) -> Result<Vec<String>, TimedOut> {
    let mut found = Vec::new();
    runs(text, left, &mut found, deadline)?;
    percent(text, left, &mut found, deadline)?;
    Ok(found)
}

/// Adds a text, cut to the remaining room.
fn add(mut text: String, left: &mut usize, found: &mut Vec<String>) {
    let end = (0..=text.len().min(*left)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.truncate(end);
    *left -= end;
    if !text.is_empty() {
        found.push(text);
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Decodes base64 and hex. A long run covers every 24th position, so most of a text is not even read. Runs that are
/// separated only by white space, such as folded lines, are one text.
fn runs(
    text: &str,
    left: &mut usize,
    found: &mut Vec<String>,
    deadline: &Deadline<'_>,
) -> Result<(), TimedOut> {
    let bytes = text.as_bytes();
    let (mut probe, mut last_end) = (0, 0);
    let mut joined = String::new();
    while *left > joined.len() && probe < bytes.len() {
        deadline.spend(BASE64_CHARS_MIN)?;
        if !bytes.get(probe).copied().is_some_and(is_base64) {
            probe += BASE64_CHARS_MIN;
            continue;
        }
        let head = bytes.get(last_end..probe).unwrap_or_default();
        let start = probe - head.iter().rev().take_while(|byte| is_base64(**byte)).count();
        let end = run_end(bytes, probe, deadline, is_base64)?;
        deadline.spend(probe - start)?;
        if end - start >= BASE64_CHARS_MIN {
            let gap = bytes.get(last_end..start).unwrap_or_default();
            if !gap.iter().all(|byte| byte.is_ascii_whitespace() || *byte == b'=') {
                add(std::mem::take(&mut joined), left, found);
            }
            // Decodes no more than there is room for. Hex needs the most characters.
            let room = (*left - joined.len()).saturating_mul(2).next_multiple_of(4);
            match text.get(start..end.min(start + room)).and_then(plain) {
                Some(plain) => joined.push_str(&plain),
                None => add(std::mem::take(&mut joined), left, found),
            }
            last_end = end;
        }
        probe = end + BASE64_CHARS_MIN;
    }
    add(joined, left, found);
    Ok(())
}

/// Decodes a run, if the result is readable. A word in front of the run may look like a part of it.
fn plain(run: &str) -> Option<String> {
    let is_hex = run.len() >= HEX_CHARS_MIN && run.bytes().all(|byte| byte.is_ascii_hexdigit());
    let whole = if is_hex { printable(hex(run)) } else { None }.or_else(|| printable(base64(run)));
    whole.or_else(|| {
        let parts = run
            .split(['-', '_', '/', '+'])
            .filter(|part| part.len() >= BASE64_CHARS_MIN && part.len() < run.len());
        let texts: Vec<String> = parts.filter_map(|part| printable(base64(part))).collect();
        (!texts.is_empty()).then(|| texts.concat())
    })
}

fn printable(bytes: Vec<u8>) -> Option<String> {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // A cut text may end within a character.
        Err(error) => {
            let whole =
                error.utf8_error().error_len().is_none().then_some(error.utf8_error().valid_up_to())?;
            let mut bytes = error.into_bytes();
            bytes.truncate(whole);
            String::from_utf8(bytes).ok()?
        }
    };
    let readable = text.chars().all(|char| !char.is_control() || matches!(char, '\t' | '\n' | '\r'));
    (readable && !text.trim().is_empty()).then_some(text)
}

fn hex(text: &str) -> Vec<u8> {
    let digit =
        |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()).unwrap_or(0);
    text.as_bytes()
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |byte, half| byte << 4 | digit(*half)))
        .collect()
}

/// Decodes both alphabets, with or without padding. Leftover bits at the end are ignored.
fn base64(text: &str) -> Vec<u8> {
    let (mut bits, mut count) = (0_u32, 0);
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            _ => 63,
        };
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap_or_default());
        }
    }
    bytes
}

/// Decodes percent escapes, with the text around them.
fn percent(
    text: &str,
    left: &mut usize,
    found: &mut Vec<String>,
    deadline: &Deadline<'_>,
) -> Result<(), TimedOut> {
    let bytes = text.as_bytes();
    let is_escape = |at: usize| {
        let digits = bytes.get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    // Ranges of text, each from a little before its first escape to a little after its last.
    let mut stretch: Option<(usize, usize)> = None;
    let mut stretches = Vec::new();
    each(
        bytes,
        deadline,
        |_, byte| byte == b'%',
        |at| {
            if is_escape(at) {
                match &mut stretch {
                    Some((_, end)) if at <= *end + AROUND => *end = at + 3,
                    _ => stretches.extend(stretch.replace((at.saturating_sub(AROUND), at + 3))),
                }
            }
            Ok(at + 1)
        },
    )?;
    stretches.extend(stretch);
    for (start, end) in stretches {
        if *left == 0 {
            break;
        }
        let part = bytes.get(start..(end + AROUND).min(bytes.len())).unwrap_or_default();
        deadline.spend(part.len())?;
        let mut decoded = Vec::with_capacity(part.len().min(*left));
        let mut rest = part;
        while let Some((first, after)) = rest.split_first() {
            if decoded.len() >= *left {
                break;
            }
            let escaped =
                after.get(..2).filter(|pair| *first == b'%' && pair.iter().all(u8::is_ascii_hexdigit));
            let escaped = escaped.and_then(|pair| std::str::from_utf8(pair).ok());
            let (byte, length) = match escaped.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
                Some(byte) => (byte, 2),
                None => (*first, 0),
            };
            decoded.push(byte);
            rest = after.get(length..).unwrap_or_default();
        }
        // The range may begin and end within a character.
        let text = String::from_utf8_lossy(&decoded);
        let text = text.trim_matches(char::REPLACEMENT_CHARACTER);
        if !text.contains(char::REPLACEMENT_CHARACTER)
            && let Some(text) = printable(text.as_bytes().to_vec())
        {
            add(text, left, found);
        }
    }
    Ok(())
}
