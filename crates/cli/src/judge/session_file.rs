//! Reads the session file of a masque: YAML with `active: {name: …, donned_at: …}`.

use std::path::Path;

use renown_core::time::Timestamp;
use saphyr::{LoadableYamlNode, Yaml};

use crate::failure::Failure;

/// Maximum length of a session file, in bytes. A real one has a few lines.
const BYTES_MAX: u64 = 1 << 20;

/// The used fields of a session file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SessionFile {
    /// The active masque, if there is one.
    pub(super) name: Option<String>,
    /// When the masque was put on.
    pub(super) donned_at: Option<Timestamp>,
}

impl SessionFile {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let refused = |what: &dyn std::fmt::Display| Failure::new(format!("{}: {what}", path.display()));
        let length = std::fs::metadata(path).map_err(|error| refused(&error))?.len();
        if length > BYTES_MAX {
            return Err(refused(&"longer than 1 MiB, expected a session file"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| refused(&error))?;
        Self::parse(&text).map_err(|error| {
            refused(&error)
                .hint("a session file has `active: {name: Codesmith, donned_at: 2026-11-15T12:00:00Z}`")
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let documents = Yaml::load_from_str(text).map_err(|error| format!("not YAML: {error}"))?;
        let active = documents.first().and_then(|document| document.as_mapping_get("active"));
        let field = |name: &str| {
            let value =
                active.and_then(|active| active.as_mapping_get(name)).filter(|value| !value.is_null());
            let text = |value: &Yaml<'_>| match (value.as_str(), value.as_integer()) {
                (Some(text), _) => Ok(text.to_owned()),
                (None, Some(number)) => Ok(number.to_string()),
                (None, None) => Err(format!("active.{name}: expected a text")),
            };
            value.map(text).transpose()
        };
        let donned_at = field("donned_at")?.map(|text| {
            Timestamp::parse(&text).map_err(|error| format!("active.donned_at: {text:?} is {error}"))
        });
        let name = field("name")?.filter(|name| !name.trim().is_empty());
        Ok(Self { name, donned_at: donned_at.transpose()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_active_masque_counts() {
        let noon = Timestamp::parse("2026-11-15T12:00:00Z").ok();
        let named = |name: &str, donned_at| SessionFile { name: Some(name.to_owned()), donned_at };
        for (text, expected) in [
            ("active:\n  name: Codesmith\n  donned_at: 2026-11-15T12:00:00Z\n", named("Codesmith", noon)),
            ("active: {name: Codesmith, donned_at: '2026-11-15T12:00:00Z'}", named("Codesmith", noon)),
            ("active: {name: null}\nprevious: {name: Chartwright}", SessionFile::default()),
            ("active:\nprevious:\n  name: Chartwright\n", SessionFile::default()),
            ("active: {version: 1}", SessionFile::default()),
            ("active: {name: 42}", named("42", None)),
            ("", SessionFile::default()),
            ("just text", SessionFile::default()),
        ] {
            assert_eq!(SessionFile::parse(text), Ok(expected), "{text}");
        }
        for (text, part) in [
            ("active: {name: [1]}", "active.name: expected a text"),
            ("active: {donned_at: yesterday}", "active.donned_at: \"yesterday\" is not an RFC 3339 time"),
            ("active: {name: 'x", "not YAML"),
        ] {
            assert!(SessionFile::parse(text).unwrap_err().contains(part), "{text}");
        }
    }
}
