//! A tree of a JSON text in which no key hides another.

use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

/// Why a JSON text is no such tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoTree {
    RepeatedKey,
    /// Deeper than `serde_json` reads.
    TooDeep,
    /// It has a number that no 64-bit float can hold, or half of a surrogate pair.
    Unreadable,
}

/// Reads a text that is known to be JSON.
pub(super) fn tree(text: &str) -> Result<Value, NoTree> {
    let mut repeated = false;
    let mut reader = serde_json::Deserializer::from_str(text);
    Tree(&mut repeated).deserialize(&mut reader).map_err(|error| match error {
        _ if repeated => NoTree::RepeatedKey,
        error if error.to_string().starts_with("recursion limit") => NoTree::TooDeep,
        _ => NoTree::Unreadable,
    })
}

/// Remembers whether it stopped at a repeated key.
struct Tree<'r>(&'r mut bool);

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
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
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Tree(&mut *self.0))? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(Key(key)) = fields.next_key()? {
            let value = fields.next_value_seed(Tree(&mut *self.0))?;
            if object.insert(key, value).is_some() {
                *self.0 = true;
                return Err(A::Error::custom("repeated key"));
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
    fn a_tree_is_what_serde_json_reads_but_for_repeated_keys() {
        for text in ["null", "true", "-7", "18446744073709551615", "0.1", r#""é""#, r#"[1,{"a":[]}]"#] {
            assert_eq!(tree(text), Ok(serde_json::from_str(text).unwrap()), "{text}");
        }
        assert_eq!(tree(r#"[{"a":{"b":1,"\u0062":2}}]"#), Err(NoTree::RepeatedKey));
        assert_eq!(tree("1e400"), Err(NoTree::Unreadable));
        assert_eq!(tree(&format!("{}{}", "[".repeat(200), "]".repeat(200))), Err(NoTree::TooDeep));
    }
}
