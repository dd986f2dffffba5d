//! Strings that must be one of several names.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, Expected, Visitor};

use super::Found;

/// Parses one of several names.
pub(crate) fn named<'de, D: Deserializer<'de>, T: Copy>(
    deserializer: D,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, D::Error> {
    struct Name<'a, T, F>(&'a [T], F);

    impl<T: Copy, F: Fn(T) -> &'static str> Visitor<'_> for Name<'_, T, F> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let names: Vec<&str> =
                self.0.iter().map(|one| (self.1)(*one)).filter(|name| !name.is_empty()).collect();
            match names.split_last() {
                Some((last, [])) => f.write_str(last),
                Some((last, rest)) => write!(f, "{} or {last}", rest.join(", ")),
                None => f.write_str("nothing"),
            }
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            let known = self.0.iter().find(|one| (self.1)(**one) == text).copied();
            known.ok_or_else(|| {
                E::custom(format_args!("{}, expected {}", Found::quoted(text), &self as &dyn Expected))
            })
        }
    }

    deserializer.deserialize_str(Name(all, name))
}
