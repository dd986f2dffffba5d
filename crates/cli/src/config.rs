//! `renown.toml`: `--config`, else `RENOWN_CONFIG`, else the file of this name in the data directory.
//!
//! Never the working directory, where a cloned repository could put one.
//!
//! ```toml
//! [prices."gpt-5*"]              # USD per million tokens; the longest pattern that matches the model wins
//! input = 1.25
//! output = 10.0
//! cache_read = 0.125             # default: input; cache_creation likewise
//! ```

use std::collections::BTreeMap;
use std::env;
use std::io;
use std::path::{Path, PathBuf};

use renown_core::units::NanoUsd;
use renown_telemetry::prices::{Price, Prices};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::failure::Failure;

/// What is configured.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) prices: Prices,
}

impl Config {
    /// Reads the file. Only one that was not asked for may be missing.
    pub(crate) fn load(flag: Option<&Path>) -> Result<Self, Failure> {
        let asked_for = flag.map(Path::to_owned).or_else(|| path_variable("RENOWN_CONFIG"));
        let Some(path) = asked_for.clone().or_else(|| Some(data_dir()?.join("renown.toml"))) else {
            return Ok(Self::default());
        };
        let refused = |what: &dyn std::fmt::Display| Failure::new(format!("{}: {what}", path.display()));
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                Self::parse(&text).map_err(|(line, what)| refused(&format_args!("line {line}: {what}")))
            }
            Err(error) if asked_for.is_none() && error.kind() == io::ErrorKind::NotFound => {
                Ok(Self::default())
            }
            Err(error) => Err(refused(&error)),
        }
    }

    /// The configuration in a text, or the line and what is wrong with it.
    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let file: File = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            (before.matches('\n').count() + 1, error.message().replace('\n', " "))
        })?;
        let prices = file.prices.into_iter().map(|(pattern, price)| {
            let input = price.input.0;
            let cached = |given: Option<Usd>| given.map_or(input, |usd| usd.0);
            let price = Price {
                input,
                output: price.output.0,
                cache_read: cached(price.cache_read),
                cache_creation: cached(price.cache_creation),
            };
            (pattern, price)
        });
        Ok(Self { prices: Prices::new(prices) })
    }
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    prices: BTreeMap<String, PriceEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceEntry {
    input: Usd,
    output: Usd,
    cache_read: Option<Usd>,
    cache_creation: Option<Usd>,
}

/// The decimal that is written, which is the shortest that reads back as the float that TOML gives.
struct Usd(NanoUsd);

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        number.to_string().parse().map(Self).map_err(D::Error::custom)
    }
}

/// Where data is kept: `RENOWN_DATA`, else the platform's directory for it.
fn data_dir() -> Option<PathBuf> {
    let home = || path_variable("HOME");
    let platform = if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else if cfg!(windows) {
        path_variable("LOCALAPPDATA")
    } else {
        path_variable("XDG_DATA_HOME").or_else(|| home().map(|home| home.join(".local/share")))
    };
    path_variable("RENOWN_DATA").or_else(|| Some(platform?.join("renown")))
}

/// A path from the environment; a variable that is set to nothing is not set.
pub(crate) fn path_variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(text: &str) -> NanoUsd {
        text.parse().unwrap()
    }

    #[test]
    fn prices_are_exact_and_the_cache_costs_what_the_input_costs() {
        let text =
            "[prices.\"gpt-5*\"]\ninput = 1.25\noutput = 10\ncache_read = 0.125\n[server]\nlisten = \"x\"\n";
        let price = Price {
            input: usd("1.25"),
            output: usd("10"),
            cache_read: usd("0.125"),
            cache_creation: usd("1.25"),
        };
        let expected = Config { prices: Prices::new([("gpt-5*".to_owned(), price)]) };
        assert_eq!(Config::parse(text), Ok(expected));
        assert_eq!(Config::parse(""), Ok(Config::default()));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, line, part) in [
            ("[prices.a]\ninput = 1\n", 1, "missing field `output`"),
            ("[prices.a]\ninput = 1\noutput = -2.5\n", 3, "expected a cost of 0 or more"),
            ("[prices.a]\ninput = 1\noutput = 2\ncache = 3\n", 4, "unknown field `cache`"),
            ("[prices.a]\ninput = \"cheap\"\noutput = 2\n", 2, "invalid type"),
            ("[prices\n", 1, ""),
        ] {
            let (found, what) = Config::parse(text).unwrap_err();
            assert!(found == line && what.contains(part), "{text}: line {found}: {what}");
        }
    }
}
