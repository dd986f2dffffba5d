//! Which store a command opens: `--data` and `--store`, the same on every command.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use renown_core::ids::OrgId;
use renown_store::sqlite::{Reader, Sqlite, system_clock};
use renown_store::{DEFAULT_ORG, StoreError};

use crate::config;
use crate::failure::Failure;
use crate::settings::{Setting, StoreUrl};

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PlaceArgs {
    /// The data directory [default: `RENOWN_DATA`, else the platform's data directory + /renown]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,

    /// The store: sqlite:[PATH] [default: `RENOWN_STORE`, else sqlite: in the data directory]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
}

/// Where data is.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) data: PathBuf,
    pub(crate) file: PathBuf,
}

impl PlaceArgs {
    pub(crate) fn resolve(&self) -> Result<Place, Failure> {
        let data = self.data.clone().or_else(config::data_dir).ok_or_else(no_data_dir)?;
        let store = Setting::pick("store", self.store.clone(), None, || StoreUrl::DEFAULT)?;
        Ok(Place { file: store.value.file(&data), data })
    }
}

pub(crate) fn no_data_dir() -> Failure {
    Failure::new("there is no place for data").hint("set HOME, or name a directory with --data DIR")
}

impl Place {
    /// Opens the store beside whoever writes to it.
    pub(crate) fn read(&self) -> Result<Reader, Failure> {
        Reader::open_file(&self.file).map_err(failure)
    }

    /// Opens the store for writing, alone.
    pub(crate) fn write(&self, purpose: &str) -> Result<Sqlite, Failure> {
        self.prepare()?;
        Sqlite::open_file(&self.file, purpose, system_clock()).map_err(failure)
    }

    /// Makes the data directory, for its owner only.
    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.data).map_err(|error| Failure::new(format!("{}: {error}", self.data.display())))
    }
}

/// What a store says, with a hint where one helps.
pub(crate) fn failure(error: StoreError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        StoreError::Missing(_) => {
            failure.hint("`renown serve` makes one; --data DIR names another data directory")
        }
        StoreError::InUse { .. } => {
            failure.hint("stop that process, or go through it: --server URL with the key in RENOWN_KEY")
        }
        StoreError::Damaged(_) | StoreError::Sqlite(_) => failure.hint(
            "`renown doctor` looks closer; `renown restore FILE` brings a backup to a new data directory",
        ),
        StoreError::Overloaded
        | StoreError::Closed
        | StoreError::TooLong
        | StoreError::Newer { .. }
        | StoreError::Older { .. }
        | StoreError::Foreign(_)
        | StoreError::NoOrganization(_)
        | StoreError::Io { .. }
        | StoreError::RolledBack(_) => failure,
    }
}

/// The default organization.
pub(crate) fn default_org() -> Result<OrgId, Failure> {
    DEFAULT_ORG.parse().map_err(|error| Failure::new(format!("{error}")))
}

/// Waits for what a store will answer.
pub(crate) fn wait<T>(answer: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| Failure::new(format!("could not start: {error}")))?;
    Ok(runtime.block_on(answer))
}
