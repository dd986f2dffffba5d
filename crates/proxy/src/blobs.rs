//! Data in base64: either text, which the gates read, or binary data, which no gate can read.
//!
//! | MIME type | the data is |
//! |---|---|
//! | text: `text/*`, JSON, XML, scripts, and similar | text, whatever its bytes |
//! | any other type, or no type | text if its beginning looks like text |
//!
//! The decoder is as tolerant as the most tolerant client: it accepts both alphabets, missing padding, and any other characters between
//! the digits. The `base64` crate has no such mode, and a stricter decoder would let a server hide text from the gates.

/// Number of decoded bytes that are checked to find out whether data is text.
const SNIFFED_BYTES: usize = 4096;

/// Parts of MIME types that mean text.
const TEXT_TYPES: [&str; 18] = [
    "json",
    "xml",
    "script",
    "yaml",
    "toml",
    "text/",
    "sql",
    "graphql",
    "markdown",
    "html",
    "csv",
    "rtf",
    "urlencoded",
    "x-sh",
    "message/",
    "latex",
    "x-tex",
    "multipart/",
];

/// Decodes the text in base64 data. Returns `None` if the data is not text.
pub(crate) fn text(base64: &str, mime_type: Option<&str>) -> Option<String> {
    let mime_type = mime_type.unwrap_or_default().to_ascii_lowercase();
    let is_text = TEXT_TYPES.iter().any(|word| mime_type.contains(word));
    if !is_text && !looks_like_text(&decoded(base64, SNIFFED_BYTES)) {
        return None;
    }
    let bytes = decoded(base64, usize::MAX);
    Some(match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        rest if mime_type.contains("utf-16be") => utf16(rest, u16::from_be_bytes),
        rest if mime_type.contains("utf-16") => utf16(rest, u16::from_le_bytes),
        rest => String::from_utf8_lossy(rest).into_owned(),
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit(pair.try_into().unwrap_or_default()));
    char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Returns whether bytes look like text: at most one character in ten is a control character or invalid. The last one may be cut.
fn looks_like_text(bytes: &[u8]) -> bool {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return true;
    }
    let text = String::from_utf8_lossy(bytes);
    let is_odd =
        |char: &char| *char == char::REPLACEMENT_CHARACTER || (char.is_control() && !char.is_whitespace());
    let odd = text.chars().filter(is_odd).count();
    !bytes.contains(&0)
        && odd.saturating_mul(10) <= text.chars().count().saturating_add(10)
        && !bytes.is_empty()
}

/// Decodes the first bytes of base64 text, at most `bytes_max`.
fn decoded(base64: &str, bytes_max: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity((base64.len() / 4 * 3).min(bytes_max));
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in base64.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            // Padding ends a group. The next digit begins a new one.
            b'=' => {
                (bits, count) = (0, 0);
                continue;
            }
            _ => continue,
        };
        bits = (bits << 6) | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.extend((bits >> count).to_be_bytes().last());
            bits &= (1 << count) - 1;
            if bytes.len() >= bytes_max {
                break;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_tolerantly() {
        for (base64, bytes) in [
            ("aGVsbG8=", "hello"),
            ("aGVsbG8", "hello"),
            (" aG\nVs\tbG8= ", "hello"),
            ("aGk=aGk=", "hihi"),
            ("", ""),
            ("a", ""),
        ] {
            assert_eq!(decoded(base64, 100), bytes.as_bytes(), "{base64}");
        }
        assert_eq!(decoded("-_-_", 100), [0xfb, 0xff, 0xbf]);
        assert_eq!(decoded("aGVsbG8=", 2), b"he");
    }

    #[test]
    fn text_is_recognized_by_its_type_or_its_beginning() {
        let hello = "aGVsbG8gd29ybGQ=";
        let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ";
        for (base64, mime_type, is_text) in [
            (hello, Some("text/plain"), true),
            (hello, Some("application/octet-stream"), true),
            (hello, Some("image/png"), true),
            (hello, None, true),
            (png, Some("image/png"), false),
            (png, None, false),
            (png, Some("text/plain"), true),
            (png, Some("image/svg+xml"), true),
            ("", None, false),
        ] {
            assert_eq!(text(base64, mime_type).is_some(), is_text, "{base64} {mime_type:?}");
        }
        assert_eq!(text(hello, None).as_deref(), Some("hello world"));
        // "hi" in UTF-16, with a byte order mark and with a type.
        assert_eq!(text("//5oAGkA", None).as_deref(), Some("hi"));
        assert_eq!(text("aABpAA==", Some("text/plain; charset=UTF-16LE")).as_deref(), Some("hi"));
        assert_eq!(text("AGgAaQ==", Some("text/plain; charset=utf-16be")).as_deref(), Some("hi"));
    }
}
