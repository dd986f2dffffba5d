//! Objects whose unknown names are noticed while they are read: [`Strict`] refuses them, [`Noted`] keeps them as warnings.
//!
//! Only names of a struct can be unknown; a map takes any. An object of known names is read in one pass and without an
//! allocation: a batch of 100 events with two gates each takes 60 µs in place of 51.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};

use super::Found;
use crate::limits::UNKNOWN_FIELDS_MAX;
use crate::spelling;

/// A `T` that is written as a JSON object of known names: an unknown one is an error that names the nearest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strict<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Strict<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectOf { unknown: None, of: PhantomData }).map(Self)
    }
}

/// A `T` that is written as a JSON object, and the fields of this object that `T` does not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noted<T> {
    /// What was read.
    pub value: T,
    /// What was skipped. Objects inside of it have their own.
    pub unknown: UnknownFields,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Noted<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut unknown = UnknownFields::default();
        let value =
            deserializer.deserialize_map(ObjectOf { unknown: Some(&mut unknown), of: PhantomData })?;
        Ok(Self { value, unknown })
    }
}

/// The unknown fields of an object, or of several: each up to a limit, then only their number.
///
/// Every object that is read has one, and hardly any of them has an unknown field: so that it costs one word, what there is
/// is boxed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownFields(Option<Box<Listed>>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Listed {
    named: Vec<UnknownField>,
    more: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct UnknownField {
    /// Where its object is, such as `events[3].`; empty for the outermost one.
    path: String,
    /// Its name in short. Its value is never kept.
    name: Found,
    /// The names that its object has.
    known: &'static [&'static str],
}

impl UnknownFields {
    /// Notes a field.
    pub(crate) fn note(&mut self, name: &str, known: &'static [&'static str]) {
        self.push(|| UnknownField { path: String::new(), name: Found::new(name), known });
    }

    /// Adds the fields of an object inside; `path` is where it is, such as `events[3].`.
    pub fn add(&mut self, path: impl fmt::Display, inside: &Self) {
        let Some(inside) = &inside.0 else { return };
        for field in &inside.named {
            let path = || format!("{path}{}", field.path);
            self.push(|| UnknownField { path: path(), name: field.name.clone(), known: field.known });
        }
        self.0.get_or_insert_default().more += inside.more;
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// A warning for each; the last one says how many there are beyond the limit.
    pub fn into_warnings(self) -> Vec<String> {
        // The nearest names are looked for here, since only few of the fields of many objects come this far.
        let warning = |UnknownField { path, name, known }: &UnknownField| {
            let nearest = spelling::nearest(name.as_str(), known.iter().copied(), |known| known);
            format!("{path}{name}: unknown field, ignored{}", spelling::hint(nearest))
        };
        let Listed { named, more } = self.0.map(|listed| *listed).unwrap_or_default();
        let mut warnings: Vec<String> = named.iter().map(warning).collect();
        match more {
            0 => {}
            1 => warnings.push("1 more unknown field, ignored".to_owned()),
            more => warnings.push(format!("{more} more unknown fields, ignored")),
        }
        warnings
    }

    fn push(&mut self, field: impl FnOnce() -> UnknownField) {
        let listed = self.0.get_or_insert_default();
        if listed.named.len() < UNKNOWN_FIELDS_MAX {
            listed.named.push(field());
        } else {
            listed.more += 1;
        }
    }
}

/// Reads a `T` from an object. Unknown names are noted, or refused where there is nobody to note them.
struct ObjectOf<'u, T> {
    unknown: Option<&'u mut UnknownFields>,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectOf<'_, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(Watched { map, known: &[], next: 0, unknown: self.unknown })
    }
}

/// An object between its reader and a struct: it learns the names of the struct, and lets no other pass.
struct Watched<'u, A> {
    map: A,
    known: &'static [&'static str],
    /// Which name probably comes next: names mostly come in the order of the struct.
    next: usize,
    unknown: Option<&'u mut UnknownFields>,
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Watched<'_, A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.map)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_map(Self { known, ..self })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Watched<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            let refuses = self.unknown.is_none();
            match self.map.next_key_seed(KnownName { known: self.known, next: self.next, refuses })? {
                None => return Ok(None),
                Some(Ok((index, known))) => {
                    self.next = index + 1;
                    let name: StrDeserializer<'_, A::Error> = known.into_deserializer();
                    return seed.deserialize(name).map(Some);
                }
                Some(Err(name)) => {
                    if let Some(unknown) = &mut self.unknown {
                        unknown.note(&name, self.known);
                    }
                    self.map.next_value::<IgnoredAny>()?;
                }
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Reads a name: a known one, or else the one that was written. A refusal happens here, where the reader still knows the
/// name as the place of the error.
struct KnownName {
    known: &'static [&'static str],
    next: usize,
    refuses: bool,
}

impl KnownName {
    /// A known name and its index, looked for from the next one on.
    fn find(&self, name: &str) -> Option<(usize, &'static str)> {
        let known = || self.known.iter().copied().enumerate();
        known().skip(self.next).chain(known().take(self.next)).find(|(_, known)| *known == name)
    }
}

impl<'de> DeserializeSeed<'de> for KnownName {
    type Value = Result<(usize, &'static str), String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KnownName {
    type Value = Result<(usize, &'static str), String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        match self.find(name) {
            Some(known) => Ok(Ok(known)),
            None if self.refuses => Err(E::custom(spelling::unknown("field", name, self.known))),
            None => Ok(Err(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse_noted, parse_strict};
    use super::*;
    use serde_json::value::RawValue;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Inner {
        #[serde(default)]
        latency_ms: u32,
    }

    #[derive(Debug, Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        any: Option<&'a RawValue>,
        #[serde(default)]
        strict: Vec<Strict<Inner>>,
        #[serde(default)]
        noted: Vec<Noted<Inner>>,
    }

    fn refusal(text: &str) -> String {
        parse_strict::<Outer<'_>>(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_name_is_refused_with_its_path_and_the_nearest_one() {
        for (text, expected) in [
            (
                r#"{"strikt":[],"any":1}"#,
                "strikt: unknown field, expected one of any, strict, noted; did you mean strict?",
            ),
            (
                r#"{"strict":[{"latency_ms":1},{"latency":1}]}"#,
                "strict[1].latency: unknown field, expected latency_ms; did you mean latency_ms?",
            ),
            (r#"{"":1}"#, "unknown field, expected one of any, strict, noted"),
            (r#"{"strict":[7]}"#, "strict[0]: invalid type: integer `7`, expected an object"),
            (r#"{"any":1,"any":2}"#, "duplicate field `any`"),
            (
                r#"{"strict":[{"latency_ms":-1}]}"#,
                "strict[0].latency_ms: invalid value: integer `-1`, expected u32",
            ),
        ] {
            assert_eq!(refusal(text), expected);
        }
        let long = refusal(&format!(r#"{{"a\n{}":1}}"#, "b".repeat(100_000)));
        assert!(long.starts_with("a\\nbbb") && long.len() < 300, "{long}");
        let known = parse_strict::<Outer<'_>>(br#"{"any":{"x":1},"strict":[{"latency_ms":3}]}"#).unwrap();
        assert_eq!((known.any.unwrap().get(), known.strict[0].0.latency_ms), (r#"{"x":1}"#, 3));
    }

    #[test]
    fn an_unknown_name_is_noted_where_it_is() {
        let text = r#"{"colour":{"deep":[1]},"any":"x","noted":[{},{"latency":"secret","latency_ms":5}]}"#;
        let Noted { value, unknown } = parse_noted::<Outer<'_>>(text.as_bytes()).unwrap();
        assert_eq!((value.any.unwrap().get(), value.noted[1].value.latency_ms), ("\"x\"", 5));
        let mut all = unknown;
        for (index, inside) in value.noted.iter().enumerate() {
            all.add(format_args!("noted[{index}]."), &inside.unknown);
        }
        assert_eq!(
            all.into_warnings(),
            [
                "colour: unknown field, ignored",
                "noted[1].latency: unknown field, ignored; did you mean latency_ms?"
            ]
        );
        let refused =
            parse_noted::<Outer<'_>>(br#"{"x":1,"noted":[{"y":1,"latency_ms":true}]}"#).unwrap_err();
        let expected = "noted[0].latency_ms: invalid type: boolean `true`, expected u32";
        assert_eq!(refused.to_string(), expected);
    }

    #[test]
    fn many_unknown_names_are_counted() {
        let names = |count: usize| {
            (0..count).map(|index| format!("\"field{index}\":0")).collect::<Vec<_>>().join(",")
        };
        let warnings = |count: usize| {
            let text = format!(r#"{{"noted":[{{{}}}]}}"#, names(count));
            let Noted { value, unknown } = parse_noted::<Outer<'_>>(text.as_bytes()).unwrap();
            let mut all = unknown;
            value.noted.iter().for_each(|inside| all.add("noted[0].", &inside.unknown));
            all.into_warnings()
        };
        assert_eq!(warnings(0), [""; 0]);
        assert_eq!(warnings(UNKNOWN_FIELDS_MAX).len(), UNKNOWN_FIELDS_MAX);
        let one = warnings(UNKNOWN_FIELDS_MAX + 1);
        assert_eq!((one.len(), one.last().unwrap().as_str()), (21, "1 more unknown field, ignored"));
        let many = warnings(UNKNOWN_FIELDS_MAX + 9000);
        assert_eq!((many.len(), many.last().unwrap().as_str()), (21, "9000 more unknown fields, ignored"));
    }
}
