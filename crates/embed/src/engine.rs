//! A set of gates, from a list or from a file.

use core::fmt;
use std::path::Path;
use std::time::Duration;

use renown_core::gates::{self, Choice, Place, Settings};

use crate::settings;

/// A set of gates.
#[derive(Debug)]
pub struct Engine {
    pub(crate) engine: gates::Engine,
}

/// Why there is no engine.
#[derive(Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The file of settings cannot be read.
    File(String),
    /// Gates or options that are not allowed.
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
    /// The gates of a list by their names, with the tables that a file would have as JSON. Without names, those of
    /// `POST /v1/evaluate`. Those in `customs` are run by the caller.
    pub fn of(tables: &str, names: Option<&[String]>, customs: &[String]) -> Result<Self, BuildError> {
        let tables: Settings =
            serde_json::from_str(tables).map_err(|error| BuildError::Settings(error.to_string()))?;
        let choice = Choice { gates: names, customs, ..Choice::of(Place::Evaluate) };
        Self::build(tables, &choice, Path::new("")).map_err(BuildError::Settings)
    }

    /// The gates that a file has for a place. Those of the caller that its set does not name stand after it.
    pub fn from_file(path: &Path, place: &str, customs: &[String]) -> Result<Self, BuildError> {
        let place = settings::place(place).map_err(BuildError::Settings)?;
        let shown = path.display();
        let text =
            std::fs::read_to_string(path).map_err(|error| BuildError::File(format!("{shown}: {error}")))?;
        let refused = |what: String| BuildError::Settings(format!("{shown}: {what}"));
        let tables = settings::read(&text).map_err(refused)?;
        let dir = path.parent().unwrap_or(Path::new(""));
        let choice = Choice { customs, ..Choice::of(place) };
        Self::build(tables, &choice, dir).map_err(refused)
    }

    fn build(mut tables: Settings, choice: &Choice<'_>, dir: &Path) -> Result<Self, String> {
        settings::make_absolute(&mut tables, dir)?;
        let mut read_schema =
            |name: &str| std::fs::read_to_string(dir.join(name)).map_err(|error| format!("{name}: {error}"));
        match gates::Engine::new(&tables, choice, &mut read_schema) {
            Ok(engine) => Ok(Self { engine }),
            // The core calls a list of the caller by the name that it has on the command line.
            Err(error) => Err(error.to_string().replacen("--gates", "gates", 1)),
        }
    }

    /// The names of its gates, in the order in which they stand.
    pub fn names(&self) -> Vec<String> {
        self.engine.names().map(str::to_owned).collect()
    }

    /// The time that a whole evaluation may take.
    pub fn budget(&self) -> Duration {
        self.engine.budget()
    }

    /// Whether gates after the first failing one are skipped.
    pub fn fail_fast(&self) -> bool {
        self.engine.fail_fast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_allowed_is_named() {
        let own = ["mine".to_owned(), "pii".to_owned()];
        let engine = Engine::of("{}", Some(&own), &own[..1]).unwrap();
        assert_eq!(engine.names(), own);
        assert_eq!(Engine::of("{}", None, &[]).unwrap().names(), ["filesystem", "pii", "content"]);
        let error = Engine::of("{}", Some(&[]), &[]).unwrap_err();
        assert!(matches!(&error, BuildError::Settings(what) if what.starts_with("gates: ")), "{error}");
        let error = Engine::from_file(Path::new("no/such.toml"), "cli", &[]).unwrap_err();
        assert!(matches!(&error, BuildError::File(what) if what.starts_with("no/such.toml: ")), "{error}");
    }
}
