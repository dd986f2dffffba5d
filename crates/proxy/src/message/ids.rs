//! Loose comparison of ids, and finding ids in messages that are too long to keep.

use crate::framing::Oversized;

/// An id for comparison: 1, 1.0, 10e-1, "1" and "0x1" are equal, as they are for a client that converts ids with JavaScript's `Number`. If
/// several requests match, the one with the same spelling is preferred, see [`crate::pending`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LooseId(String);

impl LooseId {
    /// Parses the id in a JSON text. Returns `None` for null and everything else that is not an id.
    pub(crate) fn of(json: &str) -> Option<Self> {
        let text = match json.trim().as_bytes().first()? {
            b'"' => serde_json::from_str(json).ok()?,
            b'-' | b'0'..=b'9' => json.trim().to_owned(),
            _ => return None,
        };
        Some(Self(number(&text).map_or(text, |number| number.to_string())))
    }
}

/// Converts a text to a number like JavaScript: a blank text and -0 are 0, and numbers are 64-bit floats.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let radix = |prefixes: [&str; 2], radix: u32| {
        let digits = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))?;
        let digit = |char: char| char.to_digit(radix);
        let number = digits
            .chars()
            .try_fold(0.0, |number, char| Some(number * f64::from(radix) + f64::from(digit(char)?)));
        number.filter(|_| !digits.is_empty())
    };
    let number = match text {
        "" => Some(0.0),
        _ => radix(["0x", "0X"], 16)
            .or_else(|| radix(["0o", "0O"], 8))
            .or_else(|| radix(["0b", "0B"], 2))
            .or_else(|| text.parse().ok()),
    };
    // Adding 0 turns -0 into 0.
    number.filter(|number| number.is_finite()).map(|number| number + 0.0)
}

/// Maximum length of a key or id; the rest is ignored.
const TOKEN_BYTES_MAX: usize = 1024;

/// Maximum number of ids that are collected per message.
const IDS_MAX: usize = 1000;

/// Scans a message that is too long to keep, and collects the ids at its top level, or at the top level of each member of a batch.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    depth: usize,
    /// The depth of a message's members: 1, in a batch 2. 0 before the first bracket.
    top: usize,
    in_string: bool,
    escaped: bool,
    /// The current string or literal at the top level.
    token: Vec<u8>,
    /// The key of the next value.
    key: Option<Key>,
    found: Oversized,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Id,
    Other,
}

impl Ids {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.next(*byte);
        }
    }

    pub(crate) fn finish(self) -> Oversized {
        self.found
    }

    fn next(&mut self, byte: u8) {
        let at_top = self.depth == self.top && self.top > 0;
        if self.in_string {
            self.push_token(at_top, byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.push_token(at_top, byte);
            }
            b'{' | b'[' => {
                if self.top == 0 {
                    self.top = if byte == b'{' { 1 } else { 2 };
                }
                self.depth += 1;
            }
            b'}' | b']' => {
                self.value_ends(at_top);
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if at_top => {
                let key: Option<String> = serde_json::from_slice(&self.token).ok();
                self.token.clear();
                self.found.is_request |= key.as_deref() == Some("method");
                self.found.is_answer |= matches!(key.as_deref(), Some("result" | "error"));
                self.key = Some(if key.as_deref() == Some("id") { Key::Id } else { Key::Other });
            }
            b',' => self.value_ends(at_top),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.push_token(at_top, byte),
        }
    }

    fn push_token(&mut self, at_top: bool, byte: u8) {
        if at_top && self.token.len() < TOKEN_BYTES_MAX {
            self.token.push(byte);
        }
    }

    fn value_ends(&mut self, at_top: bool) {
        if !at_top {
            return;
        }
        let token = std::mem::take(&mut self.token);
        if self.key.take() == Some(Key::Id) && self.found.ids.len() < IDS_MAX {
            self.found.ids.extend(String::from_utf8(token).ok().filter(|id| LooseId::of(id).is_some()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_compared_loosely() {
        let same = |a, b| LooseId::of(a) == LooseId::of(b);
        for id in
            ["1", "1.0", "\"1\"", "10e-1", " 1 ", "\"1.0\"", "\"\\u0031\"", "\"0x1\"", "\"0B1\"", "\" +1 \""]
        {
            assert!(same(id, "1"), "{id}");
        }
        for id in ["2", "\"a\"", "\"1a\"", "-1", "1.5"] {
            assert!(!same(id, "1") && LooseId::of(id).is_some(), "{id}");
        }
        for (id, other) in
            [("-0.0", "0"), ("\"\"", "0"), ("9007199254740993", "9007199254740992"), ("\"0o17\"", "15")]
        {
            assert!(same(id, other), "{id}");
        }
        for id in ["\"0x\"", "\"0xg\"", "\"inf\"", "\"1_0\""] {
            assert!(!same(id, "0") && !same(id, "1") && LooseId::of(id).is_some(), "{id}");
        }
        for none in ["null", "{}", "[1]", "true", ""] {
            assert_eq!(LooseId::of(none), None, "{none}");
        }
    }

    #[test]
    fn ids_are_found_without_keeping_the_message() {
        for (text, found, is_request) in [
            (r#"{"id":7,"result":{"id":8,"x":["id"]}}"#, vec!["7"], false),
            (r#"{"result":{"a":"}\"{"},"id":"a,b"}"#, vec!["\"a,b\""], false),
            (r#" { "jsonrpc" : "2.0" , "method" : "m" , "i\u0064" : 1.0 } "#, vec!["1.0"], true),
            (r#"[{"id":1,"result":0},{"result":"id","id":2}]"#, vec!["1", "2"], false),
            (r#"{"id":null,"error":{}}"#, vec![], false),
            (r#"{"id":3,"id":4"#, vec!["3"], false),
            ("no json", vec![], false),
        ] {
            for cut in 0..=text.len() {
                let mut ids = Ids::default();
                ids.push(&text.as_bytes()[..cut]);
                ids.push(&text.as_bytes()[cut..]);
                let oversized = ids.finish();
                assert_eq!(
                    (oversized.ids, oversized.is_request),
                    (found.iter().map(|id| (*id).to_owned()).collect(), is_request),
                    "{text}"
                );
            }
        }
    }
}
