//! JSON-RPC messages from untrusted senders.
//!
//! Two parsers can read the same text differently: which of two equal keys counts, whether 1 and "1" are the same id, bytes that are not
//! UTF-8, `NaN`. A malicious server could use such a difference to get a result past the gates, so its messages are parsed strictly, see
//! `strict.rs`. Messages of the client are parsed as the most tolerant server would: every occurrence of a key counts, and ids are compared
//! loosely.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

mod ids;

pub(crate) use ids::{Ids, LooseId};

/// The members of an object in their order. Repeated keys are all present.
pub(crate) struct Members<'m>(pub(crate) Vec<(Cow<'m, str>, &'m RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(Key(key)) = map.next_key()? {
                    members.push((key, map.next_value()?));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

/// A key, borrowed if it has no escapes.
pub(crate) struct Key<'m>(pub(crate) Cow<'m, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Reader)
    }
}

impl<'m> IntoIterator for Members<'m> {
    type Item = (Cow<'m, str>, &'m RawValue);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'m> Members<'m> {
    /// Parses a value. Returns `None` if it is not an object.
    pub(crate) fn of(value: &'m RawValue) -> Option<Self> {
        serde_json::from_str(value.get()).ok()
    }

    /// Returns every value of a key.
    pub(crate) fn all<'s>(&'s self, key: &'s str) -> impl Iterator<Item = &'m RawValue> {
        self.0.iter().filter(move |(name, _)| name == key).map(|(_, value)| *value)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.all(key).next().is_some()
    }

    /// Returns every value of a key that is a string.
    pub(crate) fn texts(&self, key: &str) -> Vec<String> {
        self.all(key).filter_map(text).collect()
    }

    /// Returns every value of a key that is an object.
    pub(crate) fn objects(&self, key: &str) -> Vec<Members<'m>> {
        self.all(key).filter_map(Members::of).collect()
    }

    /// Returns the loose ids of the message.
    pub(crate) fn ids(&self) -> impl Iterator<Item = LooseId> {
        self.written_ids().map(|(id, _)| id)
    }

    /// Returns the loose ids of the message, each with its spelling.
    pub(crate) fn written_ids(&self) -> impl Iterator<Item = (LooseId, &'m str)> {
        self.all("id").filter_map(|id| Some((LooseId::of(id.get())?, id.get())))
    }
}

/// Returns the text of a value, if it is a string.
pub(crate) fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// Returns whether a value is a string of whitespace.
pub(crate) fn is_blank(value: &RawValue) -> bool {
    match value.get().as_bytes() {
        // A shortcut for most texts.
        [b'"', first, ..] if first.is_ascii_alphanumeric() => false,
        _ => text(value).is_some_and(|text| text.trim().is_empty()),
    }
}

/// Returns the items of a value, if it is an array.
pub(crate) fn items(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A line as the most tolerant parser would read it.
pub(crate) struct Line<'l> {
    pub(crate) text: Cow<'l, str>,
}

impl<'l> Line<'l> {
    pub(crate) fn read(bytes: &'l [u8]) -> Self {
        // Some parsers remove a byte order mark.
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        match str::from_utf8(bytes) {
            Ok(text) => Self { text: Cow::Borrowed(text) },
            Err(_) => Self { text: String::from_utf8_lossy(bytes) },
        }
    }

    /// Parses the message or batch in the line. Returns `None` if it is not JSON. `NaN` and infinities become null.
    pub(crate) fn messages(&mut self) -> Option<Messages<'_>> {
        let first = self.text.trim_start().as_bytes().first().copied();
        if !matches!(first, Some(b'{' | b'[')) {
            return None;
        }
        let is_json = |text: &str| serde_json::from_str::<&RawValue>(text).is_ok();
        if !is_json(&self.text) {
            let tolerated = without_odd_numbers(&self.text);
            if !is_json(&tolerated) {
                return None;
            }
            self.text = Cow::Owned(tolerated);
        }
        if let Some(whole) = without_lone_surrogates(&self.text) {
            self.text = Cow::Owned(whole);
        }
        Messages::of(&self.text)
    }
}

/// The content of a line.
pub(crate) enum Messages<'l> {
    One(Members<'l>),
    Batch(Vec<&'l RawValue>),
}

impl<'l> Messages<'l> {
    /// Parses a JSON text. Returns `None` if it is neither an object nor an array.
    pub(crate) fn of(json: &'l str) -> Option<Self> {
        match json.trim_start().as_bytes().first()? {
            b'{' => serde_json::from_str(json).ok().map(Self::One),
            b'[' => serde_json::from_str(json).ok().map(Self::Batch),
            _ => None,
        }
    }
}

/// Replaces `NaN`, `Infinity` and `-Infinity` outside of strings with null. Python writes and reads them.
fn without_odd_numbers(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let (mut rest, mut in_string) = (text, false);
    while let Some(char) = rest.chars().next() {
        let odd = ["NaN", "-Infinity", "Infinity"].into_iter().find(|word| rest.starts_with(word));
        let (piece, length) = match (char, odd) {
            ('\\', _) if in_string => (None, 1 + rest.chars().nth(1).map_or(0, char::len_utf8)),
            ('"', _) => {
                in_string = !in_string;
                (None, 1)
            }
            (_, Some(word)) if !in_string => (Some("null"), word.len()),
            (char, _) => (None, char.len_utf8()),
        };
        let Some((head, tail)) = rest.split_at_checked(length) else { break };
        clean.push_str(piece.unwrap_or(head));
        rest = tail;
    }
    clean
}

/// Replaces escapes of lone surrogates with U+FFFD. Returns `None` if the text has no such escape. JavaScript and Python accept lone surrogates, but a
/// Rust string cannot contain them: a key with one would make its whole object unreadable for the proxy only.
pub(crate) fn without_lone_surrogates(json: &str) -> Option<String> {
    let has = |escape: &[u8]| memmem::find(json.as_bytes(), escape).is_some();
    if !(has(b"\\ud") || has(b"\\uD")) {
        return None;
    }
    let mut clean = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        clean.push_str(before);
        let (piece, length) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (None, 12),
            (Some(0xD800..=0xDFFF), _) => (Some("\\ufffd"), 6),
            (Some(_), _) => (None, 6),
            (None, _) => (None, 2),
        };
        let Some((head, tail)) = escape.split_at_checked(length) else { break };
        clean.push_str(piece.unwrap_or(head));
        rest = tail;
    }
    clean.push_str(rest);
    Some(clean)
}

/// Returns the UTF-16 unit of the escape at the beginning of a text.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(line: &str) -> Vec<LooseId> {
        let mut line = Line::read(line.as_bytes());
        match line.messages() {
            Some(Messages::One(message)) => message.ids().collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn every_occurrence_of_a_key_counts_in_every_spelling() {
        let one = LooseId::of("1").unwrap();
        for line in [
            r#"{"id":1}"#,
            r#" {"i\u0064":1}"#,
            r#"{"id":"1"}"#,
            r#"{"id":1.0,"result":NaN}"#,
            r#"{"id":10e-1,"x":[-Infinity,"NaN \" Infinity"]}"#,
        ] {
            assert_eq!(ids(line), std::slice::from_ref(&one), "{line}");
        }
        assert_eq!(ids(r#"{"id":1,"id":2}"#), [one, LooseId::of("2").unwrap()]);
        assert_eq!(ids("hello"), []);
        assert_eq!(ids(r#"{"id":1"#), []);
        assert_eq!(ids(r#"{"id":null}"#), []);
    }

    #[test]
    fn lone_surrogates_do_not_make_a_message_unreadable() {
        for (json, clean) in [
            (r#"{"a":"\u00e9"}"#, None),
            (r#"{"\ud800":1}"#, Some(r#"{"\ufffd":1}"#)),
            (r#"["\uDE00\ud83d\uDE00\ud83d"]"#, Some(r#"["\ufffd\ud83d\uDE00\ufffd"]"#)),
            (r#"["\\ud800","\\\ud800\n"]"#, Some(r#"["\\ud800","\\\ufffd\n"]"#)),
            (r#"["\ud800\u0041é"]"#, Some(r#"["\ufffd\u0041é"]"#)),
        ] {
            assert_eq!(without_lone_surrogates(json).as_deref(), clean, "{json}");
        }
        let one = [LooseId::of("1").unwrap()];
        assert_eq!(ids(r#"{"\udfff":0,"id":1}"#), one);
        assert_eq!(ids("\u{feff}{\"id\":1}"), one);
    }

    #[test]
    fn a_line_that_is_not_utf8_is_still_parsed() {
        let mut line = Line::read(b"{\"id\":7,\"x\":\"\xff\"}");
        assert!(matches!(line.messages(), Some(Messages::One(_))));
    }
}
