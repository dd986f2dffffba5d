//! What a server may send: exactly one well-formed JSON-RPC message, or a batch of them, for each line, body or event.
//!
//! Everything else is dropped, since two readers would not read it alike, and one of them may be the client.
//!
//! | of the text | rule |
//! |---|---|
//! | bytes | UTF-8 without a byte order mark |
//! | JSON | RFC 8259 to the letter, 128 levels deep at most; nothing before or after it but blanks |
//! | keys | none that a reader folds into another or into a name of the protocol, see `keys.rs` |
//! | batch | an array of one or more messages |
//! | message | an object: a request or notification (`method`), or an answer (`result` or `error`), and never both |
//! | `jsonrpc` | "2.0"; it may be missing, since it holds no text and some servers leave it out |
//! | `id` | a text or a number, in an answer also null |
//! | `method` | a text |
//! | `params` | an object, an array or null |
//! | `error` | an object; null beside a result, and a null result beside an error, count as missing |
//!
//! Some readers also end lines at CR, U+0085, U+2028 and U+2029. JSON allows the first between tokens and the others in texts. An honest
//! server may send them, so they are not refused: CR and LF become blanks, the others are written as escapes, and the value stays.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use memchr::{memchr2, memmem};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::keys::{Keys, is_free};
use crate::message::{Key, LooseId, Members, without_half_characters};

/// Why a text is not a message.
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
            Self::Keys => "keys that some readers take for others",
            Self::TooDeep => "nested too deep",
        })
    }
}

/// A text of the server that was found to be one message or one batch.
pub(crate) struct Strict<'s> {
    /// The text as the gates read it: without halves of characters.
    pub(crate) text: Cow<'s, str>,
    /// The text as it goes on, if it may not go on as it was written.
    pub(crate) normal: Option<String>,
}

impl<'s> Strict<'s> {
    /// Checks everything but the shape of the messages, see [`envelope`].
    pub(crate) fn read(bytes: &'s [u8]) -> Result<Self, Malformed> {
        let text = str::from_utf8(bytes).map_err(|_| Malformed::NotUtf8)?;
        let whole = without_half_characters(text);
        check(whole.as_deref().unwrap_or(text))?;
        let normal = normal(text);
        let text = match whole {
            Some(whole) => Cow::Owned(whole),
            None => Cow::Borrowed(text),
        };
        Ok(Self { text, normal })
    }
}

/// Whether an object is a message.
pub(crate) fn envelope(message: &Members<'_>) -> Result<(), Malformed> {
    let one = |key: &str| message.all(key).next();
    let starts = |value: Option<&RawValue>, with: &[u8]| {
        value.is_none_or(|value| value.get().bytes().next().is_some_and(|first| with.contains(&first)))
    };
    let is_version = message.all("jsonrpc").all(|version| version.get() == "\"2.0\"");
    let is_there = |key: &str| one(key).is_some_and(|value| value.get() != "null");
    let (method, id) = (one("method"), one("id"));
    let has_id = id.is_some_and(|id| LooseId::of(id.get()).is_some());
    let is_sound = if method.is_some() {
        let is_request = has_id || id.is_none();
        is_request && one("result").is_none() && one("error").is_none() && starts(one("params"), b"{[n")
    } else {
        let is_answer = match (one("result").is_some(), is_there("error")) {
            (true, false) => true,
            (_, true) => !is_there("result"),
            (false, false) => false,
        };
        is_answer && id.is_some_and(|id| has_id || id.get() == "null")
    };
    let is_sound = is_sound && starts(method, b"\"") && starts(one("error"), b"{n");
    if is_sound && is_version { Ok(()) } else { Err(Malformed::NotMessage) }
}

/// Checks that a text is one JSON value whose keys every reader reads alike.
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

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A message, or a batch.
    Message,
    Inside,
    /// In data of a free form.
    Free,
}

/// Reads a value to its end and keeps nothing of it.
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

/// The characters beside CR and LF at which some reader ends a line.
const LINE_ENDS: [(&str, &str); 3] =
    [("\u{85}", "\\u0085"), ("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029")];

/// JSON text in which no reader finds the end of a line; none if it is so already.
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
    fn messages_are_well_formed() {
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
    fn no_reader_finds_the_end_of_a_line_in_a_message() {
        for (text, flat) in [
            ("{\"id\":1,\"result\":{}}", None),
            ("{\"id\":1,\r\"result\":\n{}}", Some("{\"id\":1, \"result\": {}}")),
            ("[\"a\u{2028}b\u{2029}\u{85}é\"]", Some("[\"a\\u2028b\\u2029\\u0085é\"]")),
        ] {
            assert_eq!(normal(text).as_deref(), flat, "{text}");
        }
    }
}
