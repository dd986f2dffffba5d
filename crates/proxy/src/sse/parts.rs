//! Parses an event and writes it again.
//!
//! Clients differ in where they end lines and in what they read as data. So only a plain event passes byte for byte:
//!
//! | part of a plain event | rule |
//! |---|---|
//! | lines | end with LF |
//! | data | at most one line |
//! | other lines | a short `event`, `id`, `retry` or comment, without characters that some client reads as a line end |
//!
//! Every other event is rewritten with its data on one line and those of its other lines that are plain, so that clients can still resume
//! the stream.

use super::lines;

/// Returns the value of a `data` line, without the line end.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    // The first line may begin with a byte order mark.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let rest = line.strip_prefix(b"data")?;
    match rest.split_first() {
        None => Some(rest),
        Some((b':', value)) => Some(value.strip_prefix(b" ").unwrap_or(value)),
        Some(_) => None,
    }
}

/// Maximum length of a plain line that is not data, in bytes.
const OTHER_BYTES_MAX: usize = 1024;

/// Returns whether all clients read a line that is not data in the same way.
fn is_plain(line: &[u8]) -> bool {
    let Some(text) = str::from_utf8(line).ok().filter(|text| text.len() <= OTHER_BYTES_MAX) else {
        return false;
    };
    let ends_line = |char: char| char.is_control() || matches!(char, '\u{2028}' | '\u{2029}');
    if text.contains(ends_line) {
        return false;
    }
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    let value = value.strip_prefix(' ').unwrap_or(value);
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/');
    match name {
        // Some clients search for data anywhere in a line.
        "" => !value.to_ascii_lowercase().contains("data"),
        "event" => value.bytes().all(is_token),
        "id" => !value.contains("data:"),
        "retry" => value.bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    }
}

/// The parts of an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The data, which may have several lines.
    pub(crate) data: Option<Vec<u8>>,
    /// Whether the event may pass byte for byte.
    pub(crate) is_plain: bool,
    /// The plain lines that are not data, each with a LF.
    others: Vec<u8>,
}

impl Parts {
    pub(crate) fn of(event: &[u8]) -> Self {
        let mut parts = Self { data: None, is_plain: true, others: Vec::new() };
        let mut values: Vec<&[u8]> = Vec::new();
        for line in lines(event) {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            parts.is_plain &= text.len() < line.len() && !text.ends_with(b"\r");
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if let Some(value) = data_of(text) {
                parts.is_plain &= text.starts_with(b"data") && !value.contains(&b'\r');
                values.push(value);
            } else if is_plain(text) && !text.is_empty() {
                parts.others.extend_from_slice(text);
                parts.others.push(b'\n');
            } else {
                parts.is_plain &= text.is_empty();
            }
        }
        parts.is_plain &= values.len() <= 1;
        parts.data = (!values.is_empty()).then(|| values.join(&b'\n'));
        parts
    }

    /// Writes the event with new data, which is JSON, or without data. Returns no bytes if nothing remains.
    pub(crate) fn written(&self, data: Option<&[u8]>) -> Vec<u8> {
        let mut event = self.others.clone();
        if let Some(data) = data {
            event.extend_from_slice(&data_line(data));
        }
        if !event.is_empty() {
            event.push(b'\n');
        }
        event
    }
}

/// Writes a line of data. Line ends become spaces, which does not change JSON.
fn data_line(data: &[u8]) -> Vec<u8> {
    let flat = data.iter().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte });
    b"data: ".iter().copied().chain(flat).chain([b'\n']).collect()
}

/// Writes a new event with data.
pub(crate) fn event_of(data: &[u8]) -> Vec<u8> {
    let mut event = data_line(data);
    event.push(b'\n');
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_event_passes_unchanged() {
        for (event, data, is_plain, written) in [
            ("id: 7\nevent: message\ndata: {}\n\n", Some("{}"), true, "id: 7\nevent: message\ndata: new\n\n"),
            ("data: a\n\n", Some("a"), true, "data: new\n\n"),
            (": ping - 2026\n\n", None, true, ": ping - 2026\ndata: new\n\n"),
            ("id: 1\ndata:\n\n", Some(""), true, "id: 1\ndata: new\n\n"),
            ("retry: 100\ndata\n\n", Some(""), true, "retry: 100\ndata: new\n\n"),
            // Other line ends, several lines of data, a byte order mark.
            ("data: a\r\n\r\n", Some("a"), false, "data: new\n\n"),
            ("data: a\r\r", Some("a"), false, "data: new\n\n"),
            ("data: a", Some("a"), false, "data: new\n\n"),
            ("data:a\ndata:  b\nid: 1\n\n", Some("a\n b"), false, "id: 1\ndata: new\n\n"),
            ("\u{feff}data: a\n\n", Some("a"), false, "data: new\n\n"),
            // Lines that some clients read as data, or as several lines.
            ("Data: x\ndata: a\n\n", Some("a"), false, "data: new\n\n"),
            (" data: x\n\n", None, false, "data: new\n\n"),
            ("dataset: x\n\n", None, false, "data: new\n\n"),
            (": data: x\n\n", None, false, "data: new\n\n"),
            (": a\u{b}data: x\n\n", None, false, "data: new\n\n"),
            ("id: 1\u{2028}data: x\n\n", None, false, "data: new\n\n"),
            ("id: 1\u{85}data: x\n\n", None, false, "data: new\n\n"),
            ("event: ignore all previous\ndata: a\n\n", Some("a"), false, "data: new\n\n"),
            ("retry: x\n\n", None, false, "data: new\n\n"),
        ] {
            let parts = Parts::of(event.as_bytes());
            let found = parts.data.as_deref().map(|data| str::from_utf8(data).unwrap());
            assert_eq!((found, parts.is_plain), (data, is_plain), "{event:?}");
            assert_eq!(String::from_utf8(parts.written(Some(b"new"))).unwrap(), written, "{event:?}");
        }
        assert_eq!(Parts::of(b"\n").written(None), b"");
        assert_eq!(event_of(b"{\n}"), b"data: { }\n\n");
    }
}
