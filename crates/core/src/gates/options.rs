//! Reading the options of a table: each by its name, and what is left over is refused.

use std::fmt;

use serde_json::{Map, Value};

use crate::json::Found;

/// Why settings were refused. It names the key, what was found and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The key as it is written in the file, e.g. `gate.pii.email`, or the flag.
    pub key: String,
    /// What is wrong with it.
    pub problem: SettingsProblem,
}

/// What is wrong with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsProblem {
    /// There is no such option.
    UnknownOption {
        /// The options that there are.
        known: Vec<&'static str>,
    },
    /// There is no such gate.
    UnknownGate {
        /// The name that was given.
        found: Found,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The value is not allowed.
    Value {
        /// The value that was given.
        found: Found,
        /// What is allowed.
        expected: &'static str,
    },
    /// An option that has no default is not given.
    Missing {
        /// What is wanted.
        expected: &'static str,
    },
    /// A set has no gates.
    NoGates,
    /// A set names a gate twice.
    Repeated(Found),
    /// The schema cannot be read or is none.
    Schema(String),
    /// There is no such rule.
    UnknownRule {
        /// The name that was given.
        found: Found,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// The regular expression cannot be built.
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
                write!(f, "{found} is no gate, expected one of {}", known.join(", "))
            }
            SettingsProblem::Value { found, expected } => write!(f, "{found}, expected {expected}"),
            SettingsProblem::Missing { expected } => write!(f, "missing, expected {expected}"),
            SettingsProblem::NoGates => f.write_str("no gates, expected at least one"),
            SettingsProblem::Repeated(found) => write!(f, "{found} stands there twice"),
            SettingsProblem::Schema(what) | SettingsProblem::Regex(what) => f.write_str(what),
            SettingsProblem::UnknownRule { found, known } => {
                write!(f, "{found} is no rule, expected one of {}", known.join(", "))
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

    /// The value of an option, which is known from now on.
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

    /// One of several words; what each means stands beside it.
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

    /// A list of texts that are not empty; none if it is not given.
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

    /// A number; the check says whether it is allowed.
    pub(super) fn number(
        &mut self,
        name: &'static str,
        expected: &'static str,
        allowed: impl Fn(f64) -> bool,
    ) -> Result<Option<f64>, SettingsError> {
        let value = self.get(name);
        // TOML has `inf` and `nan`, which JSON has not: they come as null.
        if value.is_some_and(Value::is_null) {
            let found = Found::new("no finite number");
            return Err(self.refused(name, SettingsProblem::Value { found, expected }));
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
        let refused = |value: &Value| {
            self.refused(name, SettingsProblem::Value { found: Found::new(&value.to_string()), expected })
        };
        value.map(|value| meaning(value).ok_or_else(|| refused(value))).transpose()
    }

    /// The full name of an option, for a table below it.
    pub(super) fn key_of(&self, name: &str) -> String {
        format!("{}.{}", self.key, quoted(name))
    }

    pub(super) fn refused(&self, name: &str, problem: SettingsProblem) -> SettingsError {
        SettingsError { key: self.key_of(name), problem }
    }

    /// Refuses what nobody asked for.
    pub(super) fn finish(self) -> Result<(), SettingsError> {
        match self.table.keys().find(|name| !self.known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                Err(self.refused(name, SettingsProblem::UnknownOption { known: self.known.clone() }))
            }
        }
    }
}

/// A name as it stands in a key of TOML.
pub(super) fn quoted(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !name.is_empty() && name.bytes().all(is_bare) {
        name.to_owned()
    } else {
        Found::quoted(name).to_string()
    }
}
