//! Texts of JSON: finds their end and decodes their escapes.

use std::borrow::Cow;

use wide::u8x16;

/// The raw JSON text between two quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quoted<'a> {
    pub(crate) raw: &'a str,
    /// Whether it contains escapes.
    pub(crate) escaped: bool,
}

impl<'a> Quoted<'a> {
    /// Returns the decoded text.
    pub(crate) fn text(self) -> Cow<'a, str> {
        if self.escaped { Cow::Owned(unescape(self.raw)) } else { Cow::Borrowed(self.raw) }
    }
}

/// Returns the index of the next quote, backslash or control character at or after `at`, or the end.
#[inline]
pub(super) fn special(bytes: &[u8], mut at: usize) -> usize {
    const QUOTE: u8x16 = u8x16::new([b'"'; 16]);
    const BACKSLASH: u8x16 = u8x16::new([b'\\'; 16]);
    const LAST_CONTROL: u8x16 = u8x16::new([0x1f; 16]);
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        let block = u8x16::new(*block);
        let found = block.simd_eq(QUOTE) | block.simd_eq(BACKSLASH) | block.min(LAST_CONTROL).simd_eq(block);
        let marks = found.to_bitmask();
        if marks != 0 {
            return at + marks.trailing_zeros() as usize;
        }
        at += 16;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)).count()
}

/// Returns the index of the next quote at or after `at`, or the end.
#[inline]
pub(super) fn quote(bytes: &[u8], mut at: usize) -> usize {
    const QUOTE: u8x16 = u8x16::new([b'"'; 16]);
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        let marks = u8x16::new(*block).simd_eq(QUOTE).to_bitmask();
        if marks != 0 {
            return at + marks.trailing_zeros() as usize;
        }
        at += 16;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| **byte != b'"').count()
}

/// Decodes escapes. Half of a surrogate pair becomes the replacement character.
pub(crate) fn unescape(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((plain, after)) = rest.split_once('\\') {
        text.push_str(plain);
        let mut chars = after.chars();
        let char = match chars.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let (char, length) = unicode(after);
                chars = after.get(length..).unwrap_or_default().chars();
                char
            }
            Some(other) => other,
            None => break,
        };
        text.push(char);
        rest = chars.as_str();
    }
    text.push_str(rest);
    text
}

/// Decodes `uXXXX`, or `uXXXX\uXXXX` for a surrogate pair. Returns the character and the length of the escape.
fn unicode(escape: &str) -> (char, usize) {
    const ONE: usize = "uXXXX".len();
    let unit = |from: usize| {
        let hex = escape.get(from + 1..from + ONE)?;
        u16::from_str_radix(hex, 16).ok()
    };
    let first = unit(0).unwrap_or(0xfffd);
    let second = if escape.get(ONE..ONE + 2) == Some("\\u") { unit(ONE + 1) } else { None };
    let mut pair = char::decode_utf16([first].into_iter().chain(second));
    let char = pair.next().and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER);
    (char, if char.len_utf16() == 2 { 2 * ONE + 1 } else { ONE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_found_at_every_index() {
        for length in 0..40 {
            for at in 0..length {
                for found in [b'"', b'\\', 0, 0x1f, b'\n'] {
                    let mut bytes = vec![b'#'; length];
                    bytes[at] = found;
                    assert_eq!(special(&bytes, 0), at);
                    // Neighbors of special characters are not special: 0x20, 0x21, 0x23, 0x5b, 0x5d, and all above
                    // ASCII.
                    for near in [b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                        let mut bytes = vec![near; length];
                        bytes[at] = found;
                        assert_eq!(special(&bytes, 0), at, "{found} after {near}");
                    }
                }
            }
            assert_eq!(special(&vec![0xe9; length], 0), length);
        }
    }

    #[test]
    fn escapes_are_decoded_as_json_defines() {
        for (raw, text) in [
            ("plain", "plain"),
            (r#"a\"b\\c\/d"#, "a\"b\\c/d"),
            (r"\b\f\n\r\t", "\u{8}\u{c}\n\r\t"),
            (r"\u00e9\u4E2d", "é中"),
            (r"\ud83d\ude00!", "😀!"),
            (r"\ud83d", "\u{fffd}"),
            (r"\ud83dx", "\u{fffd}x"),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
            (r"\ud83d\u0041", "\u{fffd}A"),
        ] {
            assert_eq!(unescape(raw), text, "{raw}");
        }
    }
}
