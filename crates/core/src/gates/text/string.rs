//! JSON strings: finds their end and decodes their escapes.

use crate::gates::scan::{Deadline, TimedOut};
use crate::limits::GATE_STRIDE_BYTES;

/// Returns the position of the next quote, backslash or control character, or the end.
#[expect(clippy::needless_bitwise_bool, reason = "code without branches is vectorized")]
pub(super) fn special(bytes: &[u8], from: usize, deadline: &Deadline<'_>) -> Result<usize, TimedOut> {
    const BLOCK: usize = 32;
    let is = |byte: u8| (byte == b'"') | (byte == b'\\') | (byte < 0x20);
    let mut at = from;
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<BLOCK>) {
        // A fold over the whole block compiles to vector code; a search that stops at the first match does not.
        if block.iter().fold(false, |any, &byte| any | is(byte)) {
            break;
        }
        deadline.spend(BLOCK)?;
        at += BLOCK;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    Ok(at + rest.iter().take_while(|byte| !is(**byte)).count())
}

/// Decodes an escaped string and appends it. Half of a surrogate pair becomes the replacement character. Returns
/// `None` for an invalid escape.
pub(super) fn unescape(
    raw: &str,
    decoded: &mut String,
    deadline: &Deadline<'_>,
) -> Result<Option<()>, TimedOut> {
    let mut rest = raw;
    while let Some((plain, after)) = rest.split_once('\\') {
        push_plain(plain, decoded, deadline)?;
        deadline.spend(ESCAPE_COST)?;
        let char = match after.as_bytes().first() {
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'u') => {
                let Some((char, length)) = unicode(after) else { return Ok(None) };
                decoded.push(char);
                rest = after.get(length..).unwrap_or_default();
                continue;
            }
            _ => return Ok(None),
        };
        decoded.push(char);
        rest = after.get(1..).unwrap_or_default();
    }
    push_plain(rest, decoded, deadline)?;
    Ok(Some(()))
}

/// Cost of decoding an escape, in bytes of plain scanning.
pub(super) const ESCAPE_COST: usize = 16;

/// Appends a text without escapes.
fn push_plain(mut plain: &str, decoded: &mut String, deadline: &Deadline<'_>) -> Result<(), TimedOut> {
    while !plain.is_empty() {
        let near = plain.len().min(GATE_STRIDE_BYTES);
        let cut = (near..=plain.len()).find(|cut| plain.is_char_boundary(*cut)).unwrap_or(plain.len());
        let (part, after) = plain.split_at_checked(cut).unwrap_or((plain, ""));
        deadline.spend(part.len())?;
        decoded.push_str(part);
        plain = after;
    }
    Ok(())
}

/// Returns the length of the first character or escape of a raw string, raw and decoded.
pub(in crate::gates) fn step(raw: &str) -> (usize, usize) {
    match raw.strip_prefix('\\') {
        None => {
            let length = raw.chars().next().map_or(1, char::len_utf8);
            (length, length)
        }
        Some(escape) if escape.starts_with('u') => {
            unicode(escape).map_or((1, 1), |(char, length)| (1 + length, char.len_utf8()))
        }
        Some(_) => (2, 1),
    }
}

/// Decodes the first character of a raw string. Returns it and its raw length.
pub(in crate::gates) fn decoded_char(raw: &str) -> Option<(char, usize)> {
    let Some(escape) = raw.strip_prefix('\\') else {
        return raw.chars().next().map(|char| (char, char.len_utf8()));
    };
    let char = match escape.as_bytes().first()? {
        b'u' => return unicode(escape).map(|(char, length)| (char, 1 + length)),
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'f' => '\u{c}',
        b'b' => '\u{8}',
        other => char::from(*other),
    };
    Some((char, 2))
}

/// Decodes `uXXXX`, or `uXXXX\uXXXX` for a surrogate pair. Returns the character and the length that was read.
fn unicode(escape: &str) -> Option<(char, usize)> {
    const ONE: usize = "uXXXX".len();
    let unit = |from: usize| {
        let hex = escape
            .get(from + 1..from + ONE)
            .filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u16::from_str_radix(hex, 16).ok()
    };
    let first = unit(0)?;
    let second = if escape.get(ONE..ONE + 2) == Some("\\u") { unit(ONE + 1) } else { None };
    let mut pair = char::decode_utf16([first].into_iter().chain(second));
    let char = pair.next().and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER);
    Some((char, if char.len_utf16() == 2 { 2 * ONE + 1 } else { ONE }))
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    #[test]
    fn escapes_are_decoded_as_json_defines() {
        let clock = || Duration::ZERO;
        let deadline = Deadline::new(&clock, Duration::ZERO);
        for (raw, text) in [
            ("plain", Some("plain")),
            (r#"a\"b\\c\/d"#, Some("a\"b\\c/d")),
            (r"\b\f\n\r\t", Some("\u{8}\u{c}\n\r\t")),
            (r"\u00e9\u4E2d", Some("é中")),
            (r"\ud83d\ude00!", Some("😀!")),
            (r"\ud83dx", Some("\u{fffd}x")),
            (r"\ude00\ud83d", Some("\u{fffd}\u{fffd}")),
            (r"\ud83d\u0041", Some("\u{fffd}A")),
            (r"\x", None),
            (r"\u12", None),
            (r"\u+123", None),
            (r"\", None),
        ] {
            let mut decoded = String::new();
            let found = unescape(raw, &mut decoded, &deadline).unwrap();
            assert_eq!(found.map(|()| decoded.as_str()), text, "{raw}");
        }
    }
}
