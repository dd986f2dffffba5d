//! Fields that are parsed one by one, because an invalid one counts as absent.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::UnknownFields;

/// The known fields of an object, each as its JSON text.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    known: Vec<(&'static str, &'a RawValue)>,
    /// The unknown fields, which are skipped.
    pub(crate) unknown: UnknownFields,
}

/// How often an object contains a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given<'a> {
    /// Not at all, or null.
    Absent,
    /// Once, with this JSON text.
    Once(&'a str),
    /// More than once.
    Repeated,
}

impl<'a> Fields<'a> {
    /// Reads the fields with these names.
    pub(crate) fn read<D: Deserializer<'a>>(
        deserializer: D,
        names: &'static [&'static str],
    ) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor(names))
    }

    pub(crate) fn get(&self, name: &str) -> Given<'a> {
        let mut values = self.known.iter().filter(|(known, _)| *known == name).map(|(_, value)| value.get());
        match (values.next(), values.next()) {
            (_, Some(_)) => Given::Repeated,
            (None | Some("null"), None) => Given::Absent,
            (Some(text), None) => Given::Once(text),
        }
    }
}

struct FieldsVisitor(&'static [&'static str]);

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Fields { known: Vec::new(), unknown: UnknownFields::default() };
        while let Some(Name(name)) = map.next_key()? {
            let Some(known) = self.0.iter().copied().find(|known| *known == name) else {
                fields.unknown.note(&name, self.0);
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            // Two of a name are as good as a thousand: the field is given more than once.
            if fields.known.iter().filter(|(field, _)| *field == known).count() < 2 {
                fields.known.push((known, map.next_value()?));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(fields)
    }
}

/// A key, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_absent_given_once_or_repeated() {
        const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
        let text = r#"{"a":1e999,"b":null,"c":1,"c":2,"c":3,"\u0064":"x","f":0}"#;
        let fields = Fields::read(&mut serde_json::Deserializer::from_str(text), &NAMES).unwrap();
        assert_eq!(fields.get("a"), Given::Once("1e999"));
        assert_eq!(fields.get("b"), Given::Absent);
        assert_eq!(fields.get("c"), Given::Repeated);
        assert_eq!(fields.get("d"), Given::Once("\"x\""));
        assert_eq!(fields.get("e"), Given::Absent);
        assert_eq!(fields.known.len(), 5, "the third c and the f are not stored");
        assert_eq!(fields.unknown.into_warnings(), ["f: unknown field, ignored"]);
    }
}
