//! Parses a JSON text into a tree and rejects repeated keys, for gates that check structure instead of text.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

use super::scan::Deadline;

/// Why a JSON text cannot become such a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoTree {
    RepeatedKey,
    /// It is nested deeper than `serde_json` reads.
    TooDeep,
    /// It has a number that does not fit into a 64-bit float, or half of a surrogate pair.
    Unreadable,
    /// The budget is spent.
    TimedOut,
}

impl NoTree {
    /// Returns the reason with which a gate fails closed.
    pub(super) fn reason(self, what: &str) -> String {
        match self {
            Self::RepeatedKey => format!("repeated key in {what}"),
            Self::TooDeep => format!("{what} is nested too deep"),
            Self::TimedOut => "renown:timeout".to_owned(),
            Self::Unreadable => format!("{what} has a number or escape out of range"),
        }
    }
}

/// Parses a text that is known to be JSON. Checks the deadline, if there is one.
pub(super) fn tree(text: &str, deadline: Option<&Deadline<'_>>) -> Result<Value, NoTree> {
    let stopped = Cell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    let tree = Tree { stopped: &stopped, deadline };
    tree.deserialize(&mut reader).map_err(|error| match stopped.get() {
        Some(why) => why,
        None if error.to_string().starts_with("recursion limit") => NoTree::TooDeep,
        None => NoTree::Unreadable,
    })
}

/// A visitor that parses a value and records why it stopped.
#[derive(Clone, Copy)]
struct Tree<'t, 'd> {
    stopped: &'t Cell<Option<NoTree>>,
    deadline: Option<&'t Deadline<'d>>,
}

impl Tree<'_, '_> {
    fn stop<E: Error>(self, why: NoTree) -> E {
        self.stopped.set(Some(why));
        E::custom("stopped")
    }

    fn spend<E: Error>(self, bytes: usize) -> Result<(), E> {
        match self.deadline.map(|deadline| deadline.spend(bytes)) {
            Some(Err(_)) => Err(self.stop(NoTree::TimedOut)),
            _ => Ok(()),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Number::from_f64(number).map(Value::Number).ok_or_else(|| E::custom("not finite"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.spend(text.len())?;
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            self.spend(8)?;
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(Key(key)) = fields.next_key()? {
            let value = fields.next_value_seed(self)?;
            self.spend(8 + key.len())?;
            if object.insert(key, value).is_some() {
                return Err(self.stop(NoTree::RepeatedKey));
            }
        }
        Ok(Value::Object(object))
    }
}

#[derive(Deserialize)]
struct Key(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_equals_that_of_serde_json_except_for_repeated_keys() {
        for text in ["null", "true", "-7", "18446744073709551615", "0.1", r#""é""#, r#"[1,{"a":[]}]"#] {
            assert_eq!(tree(text, None), Ok(serde_json::from_str(text).unwrap()), "{text}");
        }
        assert_eq!(tree(r#"[{"a":{"b":1,"\u0062":2}}]"#, None), Err(NoTree::RepeatedKey));
        assert_eq!(tree("1e400", None), Err(NoTree::Unreadable));
        assert_eq!(tree(&format!("{}{}", "[".repeat(200), "]".repeat(200)), None), Err(NoTree::TooDeep));
    }
}
