//! Reads the options of a table by name, and rejects unknown ones.

use std::fmt;

use serde_json::{Map, Value};

use crate::json::Found;

/// Why settings were rejected: the key, what was found and what is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The key as in the file, such as `gate.pii.email`, or the flag.
    pub key: String,
    /// What is wrong with it.
    pub problem: SettingsProblem,
}

/// What is wrong with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsProblem {
    /// The option is unknown.
    UnknownOption {
        /// The known options.
        known: Vec<&'static str>,
    },
    /// The gate is unknown.
    UnknownGate {
        /// The name that was given.
        found: Found,
        /// The known names.
        known: Vec<String>,
    },
    /// The value is not allowed.
    Value {
        /// The value that was given.
        found: Found,
        /// What is allowed.
        expected: &'static str,
    },
    /// A required option is missing.
    Missing {
        /// What is expected.
        expected: &'static str,
    },
    /// A set has no gates.
    NoGates,
    /// A set names a gate twice.
    Repeated(Found),
    /// The schema cannot be read or is invalid.
    Schema(String),
    /// The rule is unknown.
    UnknownRule {
        /// The name that was given.
        found: Found,
        /// The known names.
        known: Vec<&'static str>,
    },
    /// The regular expression is invalid.
    Regex(String),
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.key)?;
        match &self.problem {
            SettingsProblem::UnknownOption { known } => {
                write!(f, "unknown option, expected one of {}", known.join(", "))
            }
            SettingsProblem::UnknownGate { found, known } => {
                write!(f, "{found} is not a gate, expected one of {}", known.join(", "))
            }
            SettingsProblem::Value { found, expected } => write!(f, "{found}, expected {expected}"),
            SettingsProblem::Missing { expected } => write!(f, "missing, expected {expected}"),
            SettingsProblem::NoGates => f.write_str("no gates, expected at least one"),
            SettingsProblem::Repeated(found) => write!(f, "{found} is listed twice, expected each name once"),
            SettingsProblem::Schema(what) | SettingsProblem::Regex(what) => f.write_str(what),
            SettingsProblem::UnknownRule { found, known } => {
                write!(f, "{found} is not a rule, expected one of {}", known.join(", "))
            }
        }
    }
}

impl std::error::Error for SettingsError {}

/// A table whose options are read one by one.
pub(super) struct Options<'s> {
    key: String,
    table: &'s Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'s> Options<'s> {
    pub(super) fn new(key: String, table: &'s Map<String, Value>) -> Self {
        Self { key, table, known: Vec::new() }
    }

    /// Returns the value of an option, and adds the option to the known ones.
    pub(super) fn get(&mut self, name: &'static str) -> Option<&'s Value> {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
        self.table.get(name)
    }

    pub(super) fn flag(&mut self, name: &'static str, default: bool) -> Result<bool, SettingsError> {
        let value = self.get(name);
        self.read(name, value, "true or false", Value::as_bool).map(|flag| flag.unwrap_or(default))
    }

    pub(super) fn text(
        &mut self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Option<&'s str>, SettingsError> {
        let value = self.get(name);
        self.read(name, value, expected, |value| value.as_str())
    }

    /// Reads an option that is one of several words, and returns the meaning of the word.
    pub(super) fn word<T: Copy>(
        &mut self,
        name: &'static str,
        expected: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, SettingsError> {
        let value = self.get(name);
        let meaning = |value: &Value| {
            let found = value.as_str()?;
            words.iter().find(|(word, _)| *word == found).map(|(_, meaning)| *meaning)
        };
        self.read(name, value, expected, meaning)
    }

    /// Reads a list of non-empty strings. Returns `None` if the option is absent.
    pub(super) fn texts(
        &mut self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Option<Vec<&'s str>>, SettingsError> {
        let value = self.get(name);
        let texts = |value: &'s Value| {
            let texts =
                value.as_array()?.iter().map(|text| text.as_str().filter(|text| !text.trim().is_empty()));
            texts.collect()
        };
        self.read(name, value, expected, texts)
    }

    /// Reads a number that satisfies `allowed`.
    pub(super) fn number(
        &mut self,
        name: &'static str,
        expected: &'static str,
        allowed: impl Fn(f64) -> bool,
    ) -> Result<Option<f64>, SettingsError> {
        let value = self.get(name);
        // TOML has `inf` and `nan`. JSON does not, so they arrive as null.
        if value.is_some_and(Value::is_null) {
            let found = Found::new("not a finite number");
            return Err(self.error(name, SettingsProblem::Value { found, expected }));
        }
        self.read(name, value, expected, |value| value.as_f64().filter(|number| allowed(*number)))
    }

    fn read<T>(
        &self,
        name: &'static str,
        value: Option<&'s Value>,
        expected: &'static str,
        meaning: impl Fn(&'s Value) -> Option<T>,
    ) -> Result<Option<T>, SettingsError> {
        let rejected = |value: &Value| {
            self.error(name, SettingsProblem::Value { found: Found::new(&value.to_string()), expected })
        };
        value.map(|value| meaning(value).ok_or_else(|| rejected(value))).transpose()
    }

    /// Returns the full name of an option, for a nested table.
    pub(super) fn key_of(&self, name: &str) -> String {
        format!("{}.{}", self.key, quoted(name))
    }

    pub(super) fn error(&self, name: &str, problem: SettingsProblem) -> SettingsError {
        SettingsError { key: self.key_of(name), problem }
    }

    /// Rejects options that were not read.
    pub(super) fn finish(self) -> Result<(), SettingsError> {
        match self.table.keys().find(|name| !self.known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(self.error(name, SettingsProblem::UnknownOption { known: self.known.clone() })),
        }
    }
}

/// Returns a name as part of a TOML key, quoted if necessary.
pub(super) fn quoted(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !name.is_empty() && name.bytes().all(is_bare) {
        name.to_owned()
    } else {
        Found::quoted(name).to_string()
    }
}
