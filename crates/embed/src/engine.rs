//! Builds a set of gates from a list or from a file.

use core::fmt;
use std::path::Path;
use std::time::Duration;

use renown_core::gates::{self, Choice, GateSettings, Place, SettingsError, SettingsProblem};
use renown_core::limits::{GATE_NAME_CHARS_MAX, GATES_MAX};

use crate::settings;

/// A set of gates.
#[derive(Debug)]
pub struct Engine {
    pub(crate) engine: gates::Engine,
}

/// Why an engine could not be built.
#[derive(Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The settings file cannot be read.
    File(String),
    /// Gates or options are invalid.
    Settings(String),
}

impl fmt::Display for BuildError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(what) | Self::Settings(what) => formatter.write_str(what),
        }
    }
}

impl core::error::Error for BuildError {}

impl Engine {
    /// Builds the gates with these names. `tables` holds the tables of a settings file as JSON. Without names, builds
    /// the gates of `POST /v1/evaluate`. The caller runs the gates in `customs`.
    pub fn of(tables: &str, names: Option<&[String]>, customs: &[String]) -> Result<Self, BuildError> {
        let tables: GateSettings =
            serde_json::from_str(tables).map_err(|error| BuildError::Settings(error.to_string()))?;
        let choice = Choice { gates: names, customs, ..Choice::of(Place::Evaluate) };
        Self::build(tables, &choice, Path::new("")).map_err(BuildError::Settings)
    }

    /// Builds the gates that a settings file defines for a place. Custom gates that its set does not name are added
    /// at the end.
    pub fn from_file(path: &Path, place: &str, customs: &[String]) -> Result<Self, BuildError> {
        let place = settings::place(place).map_err(BuildError::Settings)?;
        let shown = path.display();
        let text =
            std::fs::read_to_string(path).map_err(|error| BuildError::File(format!("{shown}: {error}")))?;
        let rejected = |what: String| BuildError::Settings(format!("{shown}: {what}"));
        let tables = settings::read(&text).map_err(rejected)?;
        let dir = path.parent().unwrap_or(Path::new(""));
        let choice = Choice { customs, ..Choice::of(place) };
        Self::build(tables, &choice, dir).map_err(rejected)
    }

    fn build(mut tables: GateSettings, choice: &Choice<'_>, dir: &Path) -> Result<Self, String> {
        settings::make_absolute(&mut tables, dir)?;
        if let Some(name) = choice.customs.iter().find(|name| is_built_in(&tables, name)) {
            return Err(format!("gates: {name:?} is a built-in gate, expected another name for your own"));
        }
        let mut read_schema =
            |name: &str| std::fs::read_to_string(dir.join(name)).map_err(|error| format!("{name}: {error}"));
        let engine =
            gates::Engine::new(&tables, choice, &mut read_schema).map_err(|error| error.to_string())?;
        check_server_limits(engine.names())?;
        Ok(Self { engine })
    }

    /// Returns the names of its gates, in order.
    pub fn names(&self) -> Vec<String> {
        self.engine.names().map(str::to_owned).collect()
    }

    /// Returns the time budget of a whole evaluation.
    pub fn budget(&self) -> Duration {
        self.engine.budget()
    }

    /// Returns whether gates after the first failing one are skipped.
    pub fn fail_fast(&self) -> bool {
        self.engine.fail_fast()
    }
}

/// Returns whether a name is taken by a gate of the file, or by one that a list may name without options.
fn is_built_in(tables: &GateSettings, name: &str) -> bool {
    let names = [name.to_owned()];
    let choice = Choice { gates: Some(&names), ..Choice::of(Place::Evaluate) };
    let mut no_schema = |_: &str| Err(String::new());
    // The core knows all kinds. If a kind cannot be built without options, its error names the option, not the list.
    let built = gates::Engine::new(&GateSettings::default(), &choice, &mut no_schema);
    let is_unknown = |error: SettingsError| matches!(error.problem, SettingsProblem::UnknownGate { .. });
    tables.gate.contains_key(name) || !built.is_err_and(is_unknown)
}

/// Checks the limits of a server, which would reject the verdicts of a set with more gates or longer names.
fn check_server_limits<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut count = 0;
    for name in names {
        count += 1;
        let length = name.chars().count();
        if !(1..=GATE_NAME_CHARS_MAX).contains(&length) {
            return Err(format!("gates: a name of {length} characters, expected 1 to {GATE_NAME_CHARS_MAX}"));
        }
    }
    if count > GATES_MAX {
        Err(format!("gates: {count} of them, expected at most {GATES_MAX}"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_whose_verdicts_a_server_would_reject_is_rejected() {
        let build =
            |names: &[String]| Engine::of("{}", Some(names), names).map(|_| ()).map_err(|e| e.to_string());
        let numbered = |count: usize| (0..count).map(|number| format!("g{number}")).collect::<Vec<_>>();
        assert_eq!(build(&numbered(50)), Ok(()));
        assert_eq!(build(&numbered(51)).unwrap_err(), "gates: 51 of them, expected at most 50");
        assert_eq!(build(&["é".repeat(200)]), Ok(()));
        let long = build(&["é".repeat(201)]).unwrap_err();
        assert_eq!(long, "gates: a name of 201 characters, expected 1 to 200");
        assert!(build(&[String::new()]).is_err());
    }

    #[test]
    fn a_custom_gate_cannot_replace_a_built_in_one() {
        for name in ["pii", "schema", "latency", "rtb.tmax-guard"] {
            let names = [name.to_owned()];
            let error = Engine::of("{}", Some(&names), &names).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("gates: {name:?} is a built-in gate, expected another name for your own")
            );
        }
        let tables = r#"{"gate":{"mail":{"kind":"pii"}}}"#;
        let names = ["mail".to_owned()];
        assert!(Engine::of(tables, Some(&names), &names).is_err());
        assert!(Engine::of("{}", Some(&names), &names).is_ok());
    }

    #[test]
    fn errors_name_what_is_invalid() {
        let own = ["mine".to_owned(), "pii".to_owned()];
        let engine = Engine::of("{}", Some(&own), &own[..1]).unwrap();
        assert_eq!(engine.names(), own);
        assert_eq!(Engine::of("{}", None, &[]).unwrap().names(), ["filesystem", "pii", "content", "secrets"]);
        let error = Engine::of("{}", Some(&[]), &[]).unwrap_err();
        assert!(matches!(&error, BuildError::Settings(what) if what.starts_with("gates: ")), "{error}");
        let error = Engine::from_file(Path::new("no/such.toml"), "cli", &[]).unwrap_err();
        assert!(matches!(&error, BuildError::File(what) if what.starts_with("no/such.toml: ")), "{error}");
    }
}
