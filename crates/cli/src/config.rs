//! `renown.toml`: `--config`, else `RENOWN_CONFIG`, else the file of this name in the data directory.
//!
//! Never in the working directory, where a cloned repository could contain one.
//!
//! ```toml
//! [prices."gpt-5*"]              # USD per million tokens; the longest pattern that matches the model wins
//! input = 1.25
//! output = 10.0
//! cache_read = 0.125             # default: input; cache_creation likewise; cache_creation_1h: 1.6 times that
//!
//! [gates]                        # options of all gates, and one table per gate: see `renown_core::gates`
//! evaluate = ["filesystem", "pii", "content", "secrets"]
//! [gate.pii]
//! ipv4 = true
//! ```

mod unknown;

use std::collections::BTreeMap;
use std::env;
use std::io;
use std::path::{Path, PathBuf};

use renown_core::gates::{Choice, Engine, GateSettings, SettingsError};
use renown_core::units::NanoUsd;
use renown_telemetry::prices::{Price, Prices};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::proxy::ProxyTable;
use crate::settings::{Days, Listen, OtlpKeys, OtlpListen, PerMinute, ScoreBelow, StoreUrl};
use crate::store_location;

/// The configuration.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) prices: Prices,
    pub(crate) server: ServerTable,
    pub(crate) proxy: ProxyTable,
    /// The unchecked settings of gates. `engine` checks them.
    pub(crate) gates: GateSettings,
    /// The path of the file, if there is one. Paths in the file are relative to it.
    pub(crate) path: Option<PathBuf>,
}

/// The settings of the server; see `serve::settings`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerTable {
    pub(crate) data: Option<PathBuf>,
    pub(crate) listen: Option<Listen>,
    pub(crate) store: Option<StoreUrl>,
    pub(crate) limits: LimitsTable,
    pub(crate) retention: RetentionTable,
    pub(crate) otlp: OtlpTable,
    pub(crate) pages: PagesTable,
}

/// `[limits]`.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsTable {
    pub(crate) requests_per_minute: Option<PerMinute>,
    pub(crate) ingest_per_minute: Option<PerMinute>,
}

/// `[retention]`, in days.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetentionTable {
    pub(crate) evaluations: Option<Days>,
    pub(crate) runs: Option<Days>,
    pub(crate) sessions: Option<Days>,
}

/// `[pages]`.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PagesTable {
    pub(crate) attention_below: Option<ScoreBelow>,
}

/// `[otlp]`.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OtlpTable {
    #[serde(default, deserialize_with = "from_text")]
    pub(crate) grpc: Option<OtlpListen>,
    #[serde(default, deserialize_with = "from_text")]
    pub(crate) http: Option<OtlpListen>,
    #[serde(default, deserialize_with = "from_text")]
    pub(crate) auth: Option<OtlpKeys>,
}

fn from_text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
}

impl Config {
    /// Reads the file. A missing file is an error only if it was named.
    pub(crate) fn load(flag: Option<&Path>) -> Result<Self, Failure> {
        Self::load_for(flag, None)
    }

    /// Reads the file, by default from the given data directory.
    pub(crate) fn load_for(flag: Option<&Path>, data: Option<&Path>) -> Result<Self, Failure> {
        let named = flag.map(Path::to_owned).or_else(|| path_variable("RENOWN_CONFIG"));
        let data = || data.map(Path::to_owned).or_else(data_dir);
        let Some(path) = named.clone().or_else(|| Some(data()?.join("renown.toml"))) else {
            return Ok(Self::default());
        };
        let refused = |what: &dyn std::fmt::Display| Failure::new(format!("{}: {what}", path.display()));
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let config = Self::parse(&text)
                    .map_err(|(line, what)| refused(&format_args!("line {line}: {what}")))?;
                let server = config.server.relative_to(path.parent().unwrap_or(Path::new("")));
                Ok(Self { path: Some(path), server, ..config })
            }
            Err(error) if named.is_none() && error.kind() == io::ErrorKind::NotFound => {
                Ok(Self::default())
            }
            Err(error) if named.is_none() => Err(match path.parent().map(|dir| (dir, usable(dir))) {
                Some((dir, Err(error))) => store_location::unusable(dir, &error),
                _ => refused(&error),
            }),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(refused(&"not UTF-8, expected TOML"))
            }
            Err(error) => Err(refused(&error).hint(
                "--config and RENOWN_CONFIG name the file; without them, renown.toml in the data directory is used",
            )),
        }
    }

    /// Builds the chosen gates.
    pub(crate) fn engine(&self, choice: &Choice<'_>) -> Result<Engine, Failure> {
        self.engine_or(choice, |error| self.engine_failure(error))
    }

    /// Builds the chosen gates. `explain` turns an error of the settings into one for the user.
    pub(crate) fn engine_or(
        &self,
        choice: &Choice<'_>,
        explain: impl FnOnce(&SettingsError) -> Failure,
    ) -> Result<Engine, Failure> {
        let dir = self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let mut settings = self.gates.clone();
        make_absolute(&mut settings, dir)?;
        let mut read_schema =
            |name: &str| std::fs::read_to_string(dir.join(name)).map_err(|error| format!("{name}: {error}"));
        Engine::new(&settings, choice, &mut read_schema).map_err(|error| explain(&error))
    }

    /// Returns the error for invalid settings of gates.
    pub(crate) fn engine_failure(&self, error: &SettingsError) -> Failure {
        match &self.path {
            Some(path) => Failure::new(format!("{}: {error}", path.display())),
            None => Failure::new(error.to_string()).hint(
                "gates are configured in renown.toml: --config FILE, else the one in the data directory",
            ),
        }
    }

    /// Parses a configuration. An error has a line number and a message.
    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let before = |offset: usize| text.get(..offset).unwrap_or_default();
        let line = |before: &str| before.matches('\n').count() + 1;
        if let Some((span, what)) = unknown::find(text) {
            return Err((line(before(span.start)), what));
        }
        let file: File = toml::from_str(text).map_err(|error| {
            let before = before(error.span().map_or(0, |span| span.start));
            let message = error.message().replace('\n', " ");
            // If a value is invalid, its key precedes it on the line.
            let last = before.rsplit('\n').next().unwrap_or_default();
            let key = last.split_once('=').map(|(key, _)| format!("{}: ", key.trim()));
            (line(before), key.unwrap_or_default() + &message)
        })?;
        let prices = file.prices.into_iter().map(|(pattern, price)| (pattern, price.into()));
        let gates = GateSettings { gates: file.gates, gate: file.gate };
        let server = ServerTable {
            data: file.data,
            listen: file.listen,
            store: file.store,
            limits: file.limits,
            retention: file.retention,
            otlp: file.otlp,
            pages: file.pages,
        };
        Ok(Self { prices: Prices::new(prices), server, proxy: file.proxy, gates, path: None })
    }
}

impl ServerTable {
    /// Resolves paths relative to the directory of the configuration file.
    fn relative_to(self, dir: &Path) -> Self {
        Self {
            data: self.data.map(|data| dir.join(data)),
            store: self.store.map(|store| store.relative_to(dir)),
            ..self
        }
    }
}

/// Checks that the files in a directory are accessible.
fn usable(dir: &Path) -> io::Result<()> {
    if !std::fs::metadata(dir)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    std::fs::metadata(dir.join(".")).map(|_| ())
}

/// Resolves paths relative to the directory of the configuration file.
fn make_absolute(settings: &mut GateSettings, dir: &Path) -> Result<(), Failure> {
    for path in settings.relative_paths() {
        let full = std::path::absolute(dir.join(&*path))
            .map_err(|error| Failure::new(format!("{path}: {error}")))?;
        *path = full.to_string_lossy().into_owned();
    }
    Ok(())
}

/// The whole file. Nothing is flattened into it, because that would lose the line numbers of errors. `unknown` lists all keys too,
/// and explains unknown keys better.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    data: Option<PathBuf>,
    #[serde(default, deserialize_with = "from_text")]
    listen: Option<Listen>,
    #[serde(default, deserialize_with = "from_text")]
    store: Option<StoreUrl>,
    #[serde(default)]
    limits: LimitsTable,
    #[serde(default)]
    retention: RetentionTable,
    #[serde(default)]
    otlp: OtlpTable,
    #[serde(default)]
    pages: PagesTable,
    #[serde(default)]
    prices: BTreeMap<String, PriceEntry>,
    #[serde(default)]
    proxy: ProxyTable,
    #[serde(default)]
    gates: Map<String, Value>,
    #[serde(default)]
    gate: BTreeMap<String, Map<String, Value>>,
}

/// The price of a model.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriceEntry {
    input: Usd,
    output: Usd,
    cache_read: Option<Usd>,
    cache_creation: Option<Usd>,
    cache_creation_1h: Option<Usd>,
}

impl From<PriceEntry> for Price {
    fn from(entry: PriceEntry) -> Self {
        let input = entry.input.0;
        let cached = |given: Option<Usd>| given.map_or(input, |usd| usd.0);
        let cache_creation = cached(entry.cache_creation);
        Self {
            input,
            output: entry.output.0,
            cache_read: cached(entry.cache_read),
            cache_creation,
            cache_creation_1h: entry
                .cache_creation_1h
                .map_or_else(|| Self::of_long_writes(cache_creation), |usd| usd.0),
        }
    }
}

/// A cost. The decimal as written is the shortest one that parses to the float of the TOML parser.
struct Usd(NanoUsd);

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        number.to_string().parse().map(Self).map_err(D::Error::custom)
    }
}

/// Returns the data directory: `RENOWN_DATA`, else `renown` in the platform's data directory.
pub(crate) fn data_dir() -> Option<PathBuf> {
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

/// Returns a path from the environment. An empty variable counts as absent.
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
    fn prices_are_exact_and_the_cache_price_defaults_to_the_input_price() {
        let text = "[prices.\"gpt-5*\"]\ninput = 1.25\noutput = 10\ncache_read = 0.125\n";
        let price = Price {
            input: usd("1.25"),
            output: usd("10"),
            cache_read: usd("0.125"),
            cache_creation: usd("1.25"),
            cache_creation_1h: usd("2"),
        };
        let prices = Prices::new([("gpt-5*".to_owned(), price)]);
        let expected = Config { prices, ..Config::default() };
        assert_eq!(Config::parse(text), Ok(expected));
        assert_eq!(Config::parse(""), Ok(Config::default()));
    }

    #[test]
    fn paths_of_the_server_are_relative_to_the_file() {
        let server = Config::parse("data = \"d\"\nstore = \"sqlite:s.db\"\n").unwrap().server;
        let server = server.relative_to(Path::new("/etc/renown"));
        assert_eq!(server.data.as_deref(), Some(Path::new("/etc/renown/d")));
        assert_eq!(server.store.unwrap().to_string(), "sqlite:/etc/renown/s.db");
        let server = Config::parse("data = \"/d\"\nstore = \"sqlite:\"\n").unwrap().server;
        let server = server.relative_to(Path::new("/etc/renown"));
        assert_eq!(server.data.as_deref(), Some(Path::new("/d")));
        assert_eq!(server.store, Some(StoreUrl::DEFAULT));
    }

    #[test]
    fn errors_have_the_line_number() {
        for (text, line, part) in [
            ("[prices.a]\ninput = 1\n", 1, "missing field `output`"),
            ("[prices.a]\ninput = 1\noutput = -2.5\n", 3, "expected a cost of 0 or more"),
            (
                "[prices.a]\ninput = 1\noutput = 2\ncache = 3\n",
                4,
                "unknown key prices.a.cache, expected one of input, ",
            ),
            ("lisen = 1\n", 1, "; did you mean listen?"),
            ("listen = 5\n\n[server]\nport = 1\n", 3, "unknown key server"),
            ("[prices.a]\ninput = \"cheap\"\noutput = 2\n", 2, "invalid type"),
            ("[prices\n", 1, ""),
            ("[gate]\npii = true\n", 2, "invalid type"),
            ("\nlisten = \"here\"\n", 2, "listen: \"here\", expected an address and a port"),
            ("listen = 7070\n", 1, "listen: invalid type: integer `7070`"),
            ("store = \"postgres:\"\n", 1, "store: \"postgres:\", expected sqlite:[PATH]"),
            ("[limits]\ningest_per_minute = -1\n", 2, "ingest_per_minute: -1, expected a whole number"),
            ("[otlp]\ngrpc = \"4317\"\n", 2, "grpc: \"4317\", expected an address and a port"),
            ("otlp.auth = \"never\"\n", 1, "expected loopback or required"),
            ("[limits]\nper_hour = 1\n", 2, "unknown key limits.per_hour"),
        ] {
            let (found, what) = Config::parse(text).unwrap_err();
            assert!(found == line && what.contains(part), "{text}: line {found}: {what}");
        }
    }
}
