//! The store that a command opens: `--data` and `--store`, the same on every command.

mod engine;

use std::convert::Infallible;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueHint};
use renown_core::ids::OrgId;
use renown_core::time::Timestamp;
use renown_store::{DEFAULT_ORG, OpenError, ReadError, WriteError, system_clock};

use crate::config::{self, Config};
use crate::failure::Failure;
use crate::settings::{Setting, StoreUrl};
pub(crate) use engine::{FILE, LostWrites, StoreFile, ThrowAwayStore};

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct StoreLocationArgs {
    /// Data directory [default: `RENOWN_DATA`, else `renown` in the platform's data directory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,

    /// Store: `sqlite:` or `sqlite:PATH` [default: `RENOWN_STORE`, else SQLite in the data directory]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
}

const NOT_OURS: &str = "run this as the user who owns it, or choose another data directory with --data DIR";

/// A path of a directory. Every text is valid.
#[derive(Clone, Debug)]
pub(crate) struct Directory(pub(crate) PathBuf);

impl FromStr for Directory {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.into()))
    }
}

/// The location of a store.
#[derive(Clone, Debug)]
pub(crate) struct StoreLocation {
    pub(crate) data: PathBuf,
    pub(crate) file: PathBuf,
}

impl StoreLocationArgs {
    /// Returns the location that the server would use. It includes a store that `renown.toml` names.
    pub(crate) fn resolve(&self) -> Result<StoreLocation, Failure> {
        self.resolve_with(None)
    }

    /// Returns the location, with the configuration file of `--config`.
    pub(crate) fn resolve_with(&self, config: Option<&Path>) -> Result<StoreLocation, Failure> {
        if let Some(store) = self.store.as_ref().filter(|store| store.names_a_file()) {
            let file = store.file(Path::new(""));
            return Ok(StoreLocation { data: file.parent().unwrap_or(Path::new("")).to_owned(), file });
        }
        let config = Config::load_for(config, self.data.as_deref())?;
        Ok(StoreLocation::of(&self.data(&config)?, &self.store(&config)?))
    }

    /// Returns the data directory, and where it was set.
    pub(crate) fn data(&self, config: &Config) -> Result<Setting<Directory>, Failure> {
        let (flag, file) = (self.data.clone(), config.server.data.clone());
        let platform = config::data_dir();
        if flag.is_none() && file.is_none() && platform.is_none() {
            return Err(no_data_dir());
        }
        let platform = || Directory(platform.unwrap_or_default());
        Setting::pick("data", flag.map(Directory), file.map(Directory), platform)
    }

    /// Returns the store, and where it was set.
    pub(crate) fn store(&self, config: &Config) -> Result<Setting<StoreUrl>, Failure> {
        Setting::pick("store", self.store.clone(), config.server.store.clone(), || StoreUrl::DEFAULT)
    }
}

pub(crate) fn no_data_dir() -> Failure {
    Failure::new("no data directory: HOME is not set").hint("set HOME, or choose a directory with --data DIR")
}

/// Returns the time, or an error if the clock is obviously wrong.
pub(crate) fn now() -> Result<Timestamp, Failure> {
    (system_clock())().map_err(|error| Failure::new(error.to_string()))
}

impl StoreLocation {
    pub(crate) fn of(data: &Setting<Directory>, store: &Setting<StoreUrl>) -> Self {
        let data = data.value.0.clone();
        Self { file: store.value.file(&data), data }
    }

    /// Creates the directory of the store, readable by its owner only.
    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        let dir = self.file.parent().unwrap_or(Path::new(""));
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(dir).map_err(|error| unusable(dir, &error))
    }
}

fn is_file(file: &Path) -> Result<(), Failure> {
    if file.is_dir() {
        let error = format!("{}: is a directory, expected a database file", file.display());
        return Err(Failure::new(error).hint("--data DIR names a directory, --store sqlite:PATH a file"));
    }
    Ok(())
}

/// Returns the error for a path that cannot be used.
pub(crate) fn unusable(path: &Path, error: &io::Error) -> Failure {
    if matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists) {
        let error = format!("{}: not a directory, expected the data directory", path.display());
        return Failure::new(error).hint("choose another data directory with --data DIR");
    }
    let failure = Failure::new(format!("{}: {error}", path.display()));
    if error.kind() == io::ErrorKind::PermissionDenied { failure.hint(NOT_OURS) } else { failure }
}

/// While this value lives, new files are readable by their owner only: they contain activity of agents and hashes of keys. Files
/// that SQLite creates later inherit the database file's permissions.
pub(crate) struct Private {
    #[cfg(unix)]
    before: rustix::fs::Mode,
}

pub(crate) fn keep_private() -> Private {
    Private {
        #[cfg(unix)]
        before: rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO),
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        #[cfg(unix)]
        rustix::process::umask(self.before);
    }
}

/// An error of the store, which the user sees with a hint if one helps.
pub(crate) trait StoreFailure: Display {
    /// Returns the hint.
    fn hint(&self) -> Option<&'static str>;
}

const SEE_DOCTOR: &str =
    "`renown doctor` shows details; `renown restore FILE` restores a backup into a new data directory";

const SEE_ORGANIZATIONS: &str = "`renown keys list` shows the organizations that have keys";

impl StoreFailure for OpenError {
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Missing(_) => Some("`renown serve` creates one; --data DIR chooses another data directory"),
            Self::InUse { .. } => Some(
                "stop that process, or go through the server: --server URL, with a secret key in RENOWN_KEY",
            ),
            Self::Damaged(_) | Self::Unavailable(_) => Some(SEE_DOCTOR),
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => Some(NOT_OURS),
            Self::Newer { .. }
            | Self::Older { .. }
            | Self::Foreign(_)
            | Self::Clock(_)
            | Self::Io { .. }
            | Self::GaveWay
            | Self::Bug(_) => None,
        }
    }
}

impl StoreFailure for ReadError {
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoOrganization(_) => Some(SEE_ORGANIZATIONS),
            Self::Damaged(_) | Self::Unavailable(_) => Some(SEE_DOCTOR),
            Self::Overloaded | Self::TooLong | Self::GaveWay | Self::Clock(_) | Self::Bug(_) => None,
        }
    }
}

impl StoreFailure for WriteError {
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoOrganization(_) => Some(SEE_ORGANIZATIONS),
            Self::Damaged(_) => Some(SEE_DOCTOR),
            Self::Overloaded
            | Self::Clock(_)
            | Self::Refused(_)
            | Self::Unavailable(_)
            | Self::Unknown(_)
            | Self::Bug(_) => None,
        }
    }
}

/// Turns an error of the store into one for the user.
pub(crate) fn failure(error: &impl StoreFailure) -> Failure {
    let failure = Failure::new(error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Returns the default organization.
pub(crate) fn default_org() -> Result<OrgId, Failure> {
    DEFAULT_ORG.parse().map_err(|error| Failure::new(format!("{error}")))
}

/// Waits for the reply of a store.
pub(crate) fn wait<T>(answer: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| Failure::new(format!("could not start: {error}")))?;
    Ok(runtime.block_on(answer))
}

/// Waits for the reply of a store, and turns its error into one for the user.
pub(crate) fn ask<T, E: StoreFailure>(answer: impl Future<Output = Result<T, E>>) -> Result<T, Failure> {
    wait(answer)?.map_err(|error| failure(&error))
}
