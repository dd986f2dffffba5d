//! The rules for messages of a server: exactly one well-formed JSON-RPC message or batch per line, body or event.
//!
//! Everything else is dropped, because two parsers could read it differently, and one of them may be the client's.
//!
//! | part | rule |
//! |---|---|
//! | bytes | UTF-8 without a byte order mark |
//! | JSON | strictly RFC 8259, at most 128 levels deep; only whitespace before and after it |
//! | keys | no key that a client folds into another one or into a name of the protocol, see `keys.rs` |
//! | batch | an array of one or more messages |
//! | message | an object: a request or notification (`method`), or an answer (`result` or `error`), never both |
//! | `jsonrpc` | "2.0"; may be absent, because it contains no text and some servers omit it |
//! | `id` | a string or a number; in an answer also null |
//! | `method` | a string |
//! | `params` | an object, an array or null |
//! | `error` | an object; a null error next to a result, and a null result next to an error, count as absent |
//!
//! Some clients also end lines at CR, U+0085, U+2028 and U+2029. JSON allows CR between tokens and the others in strings. Honest servers may
//! send them, so they are not refused: CR and LF become spaces, and the others become escapes. The value stays the same.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use memchr::{memchr2, memmem};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::keys::{Keys, is_free};
use crate::message::{Key, LooseId, Members, without_lone_surrogates};

/// Why bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    NotUtf8,
    NotJson,
    NotMessage,
    Keys,
    TooDeep,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUtf8 => "not UTF-8",
            Self::NotJson => "not exactly one JSON value",
            Self::NotMessage => "not a JSON-RPC message",
            Self::Keys => "a key that some clients read as another key",
            Self::TooDeep => "nested too deeply",
        })
    }
}

/// A text of the server that passed the checks.
pub(crate) struct Strict<'s> {
    /// The text for the gates: lone surrogates are replaced.
    pub(crate) text: Cow<'s, str>,
    /// The text to forward, if it differs from the original.
    pub(crate) normal: Option<String>,
}

impl<'s> Strict<'s> {
    /// Checks bytes, JSON and keys. [`envelope`] checks the messages.
    pub(crate) fn read(bytes: &'s [u8]) -> Result<Self, Malformed> {
        let text = str::from_utf8(bytes).map_err(|_| Malformed::NotUtf8)?;
        let replaced = without_lone_surrogates(text);
        check(replaced.as_deref().unwrap_or(text))?;
        let normal = normal(text);
        let text = match replaced {
            Some(replaced) => Cow::Owned(replaced),
            None => Cow::Borrowed(text),
        };
        Ok(Self { text, normal })
    }
}

/// Checks that an object is a message.
pub(crate) fn envelope(message: &Members<'_>) -> Result<(), Malformed> {
    let one = |key: &str| message.all(key).next();
    let starts = |value: Option<&RawValue>, with: &[u8]| {
        value.is_none_or(|value| value.get().bytes().next().is_some_and(|first| with.contains(&first)))
    };
    let is_version = message.all("jsonrpc").all(|version| version.get() == "\"2.0\"");
    let is_present = |key: &str| one(key).is_some_and(|value| value.get() != "null");
    let (method, id) = (one("method"), one("id"));
    let has_id = id.is_some_and(|id| LooseId::of(id.get()).is_some());
    let is_sound = if method.is_some() {
        let is_request = has_id || id.is_none();
        is_request && one("result").is_none() && one("error").is_none() && starts(one("params"), b"{[n")
    } else {
        let is_answer = match (one("result").is_some(), is_present("error")) {
            (true, false) => true,
            (_, true) => !is_present("result"),
            (false, false) => false,
        };
        is_answer && id.is_some_and(|id| has_id || id.get() == "null")
    };
    let is_sound = is_sound && starts(method, b"\"") && starts(one("error"), b"{n");
    if is_sound && is_version { Ok(()) } else { Err(Malformed::NotMessage) }
}

/// Checks that a text is one JSON value whose keys all clients read in the same way.
fn check(text: &str) -> Result<(), Malformed> {
    let why = Cell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    let walk = Walk { why: &why, place: Place::Message };
    let read = walk.deserialize(&mut reader).and_then(|()| reader.end());
    match (read, why.get()) {
        (Ok(()), None) => Ok(()),
        (_, Some(why)) => Err(why),
        (Err(error), None) if error.to_string().starts_with("recursion limit") => Err(Malformed::TooDeep),
        (Err(_), None) => Err(Malformed::NotJson),
    }
}

/// The position of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A message, or a batch.
    Message,
    Inside,
    /// In free-form data.
    Free,
}

/// Checks the keys of a value without storing it.
#[derive(Clone, Copy)]
struct Walk<'w> {
    why: &'w Cell<Option<Malformed>>,
    place: Place,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.place == Place::Free {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(drop);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let refused = || {
            self.why.set(Some(Malformed::Keys));
            A::Error::custom("keys")
        };
        let mut keys = if self.place == Place::Message { Keys::of_message() } else { Keys::inside() };
        while let Some(Key(key)) = map.next_key()? {
            if !keys.add(&key) {
                return Err(refused());
            }
            let place = if is_free(&key) { Place::Free } else { Place::Inside };
            map.next_value_seed(Walk { place, ..self })?;
        }
        if keys.are_distinct() { Ok(()) } else { Err(refused()) }
    }
}

/// The characters besides CR and LF that some clients read as a line end, and their escapes.
const LINE_ENDS: [(&str, &str); 3] =
    [("\u{85}", "\\u0085"), ("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029")];

/// Removes everything that a client could read as a line end from JSON text. Returns `None` if there is nothing to remove.
fn normal(json: &str) -> Option<String> {
    let has_break = memchr2(b'\r', b'\n', json.as_bytes()).is_some();
    let has = |end: &str| memmem::find(json.as_bytes(), end.as_bytes()).is_some();
    let ends: Vec<_> = LINE_ENDS.into_iter().filter(|(end, _)| has(end)).collect();
    if !has_break && ends.is_empty() {
        return None;
    }
    let flat = json.replace(['\r', '\n'], " ");
    Some(ends.into_iter().fold(flat, |flat, (end, escape)| flat.replace(end, escape)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Messages;

    fn read(text: &str) -> Result<(), Malformed> {
        let strict = Strict::read(text.as_bytes())?;
        match Messages::of(&strict.text).ok_or(Malformed::NotMessage)? {
            Messages::One(message) => envelope(&message),
            Messages::Batch(items) if items.is_empty() => Err(Malformed::NotMessage),
            Messages::Batch(items) => {
                items.iter().try_for_each(|item| envelope(&Members::of(item).ok_or(Malformed::NotMessage)?))
            }
        }
    }

    #[test]
    fn well_formed_messages_pass() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            "\t {\"id\":\"a\",\"result\":null} ",
            "{\r\n  \"id\": 1,\n  \"result\": {}\n}",
            r#"{"id":1,"error":{"code":-1,"message":"m"}}"#,
            r#"{"id":null,"error":{"code":-1,"message":"m"}}"#,
            r#"{"id":1,"result":{},"error":null}"#,
            r#"{"id":1,"result":null,"error":{"code":1}}"#,
            r#"{"method":"notifications/x"}"#,
            r#"{"id":1,"method":"ping","params":null}"#,
            r#"[{"id":1,"result":{}},{"method":"x","params":[1]}]"#,
            r#"{"id":1,"result":{"structuredContent":{"Id":1,"id":2,"content":0,"Content":[{"a":1,"A":2}]}}}"#,
            r#"{"id":1,"result":{"tools":[{"name":"t","inputSchema":{"properties":{"Text":{},"text":{}}}}]}}"#,
            r#"{"id":1,"result":{"content":[{"type":"text","text":"\ud800","_meta":{"A":1,"a":1}}]}}"#,
        ] {
            assert_eq!(read(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn everything_else_is_malformed() {
        let deep = format!("{{\"id\":1,\"result\":{}0{}}}", "[".repeat(200), "]".repeat(200));
        for (text, why) in [
            ("hello", Malformed::NotJson),
            ("x\r{\"id\":1,\"result\":{}}", Malformed::NotJson),
            ("\u{a0}{\"id\":1,\"result\":{}}", Malformed::NotJson),
            ("\u{c}{\"id\":1,\"result\":{}}", Malformed::NotJson),
            ("\u{feff}{\"id\":1,\"result\":{}}", Malformed::NotJson),
            ("{\"id\":1,\"result\":{}}{\"id\":2,\"result\":{}}", Malformed::NotJson),
            ("{\"id\":1,\"result\":{}} x", Malformed::NotJson),
            ("{\"id\":1,", Malformed::NotJson),
            ("{\"id\":1,\"result\":NaN}", Malformed::NotJson),
            ("{\"id\":1,\"result\":\"\n\"}", Malformed::NotJson),
            ("{\"id\":1,\"result\":{},}", Malformed::NotJson),
            ("17", Malformed::NotMessage),
            ("\"text\"", Malformed::NotMessage),
            ("{}", Malformed::NotMessage),
            ("[]", Malformed::NotMessage),
            ("[[]]", Malformed::NotMessage),
            ("[{\"id\":1,\"result\":{}},5]", Malformed::NotMessage),
            ("{\"id\":1}", Malformed::NotMessage),
            ("{\"result\":{}}", Malformed::NotMessage),
            ("{\"id\":{},\"result\":{}}", Malformed::NotMessage),
            ("{\"id\":1,\"result\":{},\"error\":{}}", Malformed::NotMessage),
            ("{\"id\":1,\"method\":\"m\",\"result\":{}}", Malformed::NotMessage),
            ("{\"id\":1,\"method\":7}", Malformed::NotMessage),
            ("{\"id\":null,\"method\":\"m\"}", Malformed::NotMessage),
            ("{\"method\":\"m\",\"params\":\"text\"}", Malformed::NotMessage),
            ("{\"id\":1,\"error\":\"text\"}", Malformed::NotMessage),
            ("{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{}}", Malformed::NotMessage),
            ("{\"id\":1,\"Result\":{}}", Malformed::Keys),
            ("{\"id\":1,\"re\u{17f}ult\":{},\"result\":{}}", Malformed::Keys),
            ("{\"id\":1,\"result\\u0000\":{},\"result\":{}}", Malformed::Keys),
            ("{\"id\":1,\"result\":{\"content\":[],\"Content\":[]}}", Malformed::Keys),
            ("{\"id\":1,\"result\":{},\"r\\u0065sult\":{}}", Malformed::Keys),
            ("{\"id\":1,\"id\":2,\"result\":{}}", Malformed::Keys),
            (deep.as_str(), Malformed::TooDeep),
        ] {
            assert_eq!(read(text), Err(why), "{text}");
        }
        assert_eq!(Strict::read(b"{\"id\":1,\"result\":\"\xff\"}").err(), Some(Malformed::NotUtf8));
        assert_eq!(Strict::read(b"\xff\xfe{\0\"\0").err(), Some(Malformed::NotUtf8));
    }

    #[test]
    fn line_ends_are_removed_from_messages() {
        for (text, flat) in [
            ("{\"id\":1,\"result\":{}}", None),
            ("{\"id\":1,\r\"result\":\n{}}", Some("{\"id\":1, \"result\": {}}")),
            ("[\"a\u{2028}b\u{2029}\u{85}é\"]", Some("[\"a\\u2028b\\u2029\\u0085é\"]")),
        ] {
            assert_eq!(normal(text).as_deref(), flat, "{text}");
        }
    }
}
