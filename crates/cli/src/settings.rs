//! Settings and their origin: flag, else environment, else file, else default.

use std::env;
use std::fmt::{self, Display};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use renown_server::OtlpAuth;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::failure::Failure;

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Flag(String),
    Environment(String),
    File,
    Default,
}

impl Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) | Self::Environment(name) => f.write_str(name),
            Self::File => f.write_str("config file"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value and its origin.
#[derive(Clone, Debug)]
pub(crate) struct Setting<T> {
    pub(crate) name: &'static str,
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

impl<T> Setting<T> {
    /// Returns the first that is set of flag, environment, file and default. The variable is `RENOWN_` and the name.
    pub(crate) fn pick(
        name: &'static str,
        flag: Option<T>,
        file: Option<T>,
        default: impl FnOnce() -> T,
    ) -> Result<Self, Failure>
    where
        T: FromStr<Err: Display>,
    {
        let set = |value, origin| Ok(Self { name, value, origin });
        if let Some(value) = flag {
            return set(value, Origin::Flag(format!("--{name}")));
        }
        let variable = variable(name);
        if let Some(text) = env::var_os(&variable).filter(|text| !text.is_empty()) {
            let refused = |what: &dyn Display| Failure::new(format!("{variable}: {what}"));
            let text = text.to_str().ok_or_else(|| refused(&"is not UTF-8"))?;
            let value = text.parse().map_err(|error| refused(&error))?;
            return set(value, Origin::Environment(variable));
        }
        match file {
            Some(value) => set(value, Origin::File),
            None => set(default(), Origin::Default),
        }
    }
}

/// Returns the environment variable of a setting: `limits.requests_per_minute` is `RENOWN_LIMITS_REQUESTS_PER_MINUTE`.
fn variable(name: &str) -> String {
    format!("RENOWN_{}", name.to_uppercase().replace(['.', '-'], "_"))
}

/// The address that a server listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listen(pub(crate) SocketAddr);

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected an address and a port, such as 127.0.0.1:7070";
        text.parse().map(Self).map_err(|_| format!("{text:?}, {expected}"))
    }
}

impl Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The address of an OTLP receiver, or `None` if it is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OtlpListen(pub(crate) Option<SocketAddr>);

impl FromStr for OtlpListen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self(None));
        }
        let expected = "expected an address and a port, such as 127.0.0.1:4318, or off";
        text.parse().map(|address| Self(Some(address))).map_err(|_| format!("{text:?}, {expected}"))
    }
}

impl Display for OtlpListen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(address) => address.fmt(f),
            None => f.write_str("off"),
        }
    }
}

/// Whether telemetry needs a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OtlpKeys(pub(crate) OtlpAuth);

impl FromStr for OtlpKeys {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "loopback" => Ok(Self(OtlpAuth::Loopback)),
            "required" => Ok(Self(OtlpAuth::Required)),
            _ => Err(format!("{text:?}, expected loopback or required")),
        }
    }
}

impl Display for OtlpKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            OtlpAuth::Loopback => "loopback",
            OtlpAuth::Required => "required",
        })
    }
}

/// A limit per minute. 0 means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PerMinute(pub(crate) u64);

impl FromStr for PerMinute {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| format!("{text}, expected a whole number, 0 for no limit"))
    }
}

impl<'de> Deserialize<'de> for PerMinute {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer)?.to_string().parse().map_err(D::Error::custom)
    }
}

/// A retention period in days. 0 keeps everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Days(pub(crate) u32);

impl Days {
    /// Returns the period, or `None` for no limit.
    pub(crate) fn limit(self) -> Option<u32> {
        Some(self.0).filter(|days| *days > 0)
    }
}

impl FromStr for Days {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| format!("{text}, expected a whole number of days, 0 for no limit"))
    }
}

impl<'de> Deserialize<'de> for Days {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer)?.to_string().parse().map_err(D::Error::custom)
    }
}

/// The reputation below which an agent needs attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScoreBelow(pub(crate) u32);

impl FromStr for ScoreBelow {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let score = text.parse().ok().filter(|score| *score <= 1000);
        score.map(Self).ok_or_else(|| format!("{text}, expected a reputation from 0 to 1000"))
    }
}

impl<'de> Deserialize<'de> for ScoreBelow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer)?.to_string().parse().map_err(D::Error::custom)
    }
}

/// A store: `sqlite:` in the data directory, or `sqlite:PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreUrl(Option<PathBuf>);

impl StoreUrl {
    pub(crate) const DEFAULT: Self = Self(None);

    /// Resolves the path relative to a directory.
    pub(crate) fn relative_to(self, dir: &Path) -> Self {
        Self(self.0.map(|path| dir.join(path)))
    }

    /// Returns whether it names a file, independent of the data directory.
    pub(crate) fn names_a_file(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the path of the database file.
    pub(crate) fn file(&self, data: &Path) -> PathBuf {
        self.0.clone().unwrap_or_else(|| data.join(crate::store_location::FILE))
    }
}

impl FromStr for StoreUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("sqlite", "")) => Ok(Self(None)),
            Some(("sqlite", path)) => Ok(Self(Some(path.into()))),
            Some(("clickhouse", _)) => {
                Err("clickhouse is not supported in this release, expected sqlite:[PATH]".to_owned())
            }
            _ => Err(format!("{text:?}, expected sqlite:[PATH]")),
        }
    }
}

impl Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sqlite:{}", self.0.as_deref().unwrap_or(Path::new("")).display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_url_is_a_kind_and_a_path() {
        let data = Path::new("/data");
        for (text, file) in [("sqlite:", "/data/renown.db"), ("sqlite:/x/copy.db", "/x/copy.db")] {
            let url: StoreUrl = text.parse().unwrap();
            assert_eq!((url.file(data), url.to_string()), (PathBuf::from(file), text.to_owned()));
        }
        for refused in ["", "sqlite", "postgres:x", "clickhouse:http://localhost:8123/renown"] {
            assert!(refused.parse::<StoreUrl>().unwrap_err().contains("expected sqlite:[PATH]"), "{refused}");
        }
    }

    #[test]
    fn an_otlp_receiver_has_an_address_or_is_off() {
        for text in ["off", "127.0.0.1:4317", "[::1]:4318"] {
            assert_eq!(text.parse::<OtlpListen>().unwrap().to_string(), text);
        }
        for text in ["loopback", "required"] {
            assert_eq!(text.parse::<OtlpKeys>().unwrap().to_string(), text);
        }
        for refused in ["", "Off", "4317", "localhost:4317"] {
            assert!(refused.parse::<OtlpListen>().unwrap_err().ends_with("or off"), "{refused}");
        }
        assert!("none".parse::<OtlpKeys>().unwrap_err().contains("expected loopback or required"));
    }

    #[test]
    fn a_flag_precedes_the_file_and_the_file_the_default() {
        let pick = |flag, file| Setting::pick("no.such.setting", flag, file, || 3).unwrap();
        assert_eq!(
            (pick(Some(1), Some(2)).value, pick(None, Some(2)).value, pick(None, None).value),
            (1, 2, 3)
        );
        assert_eq!(pick(None, Some(2)).origin, Origin::File);
        assert_eq!(variable("limits.requests_per_minute"), "RENOWN_LIMITS_REQUESTS_PER_MINUTE");
    }
}
