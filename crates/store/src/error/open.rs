//! Why a store cannot be opened, created or copied.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use super::{EngineCause, StoreError};
use crate::clock::ClockError;
use crate::holder::LockHolder;

/// The reason why a store cannot be opened, created or copied.
#[derive(Debug)]
pub enum OpenError {
    /// Another process holds the data directory.
    InUse {
        /// The directory.
        dir: PathBuf,
        /// The process that holds it.
        holder: LockHolder,
    },
    /// A newer release wrote the store.
    Newer {
        /// The version that was found.
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// An older release wrote the store. Only opening it for writing upgrades it.
    Older {
        /// The version that was found.
        found: i64,
        /// The version that is known here.
        known: i64,
    },
    /// No store is at this path.
    Missing(PathBuf),
    /// What is at this path is not a store of Renown.
    Foreign(PathBuf),
    /// The clock cannot be right, so nothing can be accepted.
    Clock(ClockError),
    /// The store does not contain what was written to it.
    Damaged(EngineCause),
    /// A file cannot be used.
    Io {
        /// What was being done.
        doing: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A copy was stopped because an erasure waited for it.
    GaveWay,
    /// The engine cannot be used now.
    Unavailable(EngineCause),
    /// A state that cannot occur: a bug in this program.
    Bug(&'static str),
}

impl OpenError {
    /// Returns whether the store does not contain what was written to it.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_))
    }
}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Open(error) => *error,
            StoreError::Clock(error) => Self::Clock(error),
            StoreError::Io { doing, source } => Self::Io { doing, source },
            StoreError::GaveWay => Self::GaveWay,
            StoreError::Bug(what) => Self::Bug(what),
            StoreError::Overloaded
            | StoreError::TooLong
            | StoreError::Closed
            | StoreError::Unanswered
            | StoreError::NoOrganization(_)
            | StoreError::Damaged(_)
            | StoreError::NoRandomness(_)
            | StoreError::Sqlite(_)
            | StoreError::Vanished(_)
            | StoreError::RolledBack(_) => {
                if error.is_damage() {
                    Self::Damaged(error.into())
                } else {
                    Self::Unavailable(error.into())
                }
            }
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { dir, holder } => {
                write!(f, "the data directory {} is in use by {holder}", dir.display())
            }
            Self::Newer { found, known } => write!(
                f,
                "the database has schema version {found}, this release knows up to {known}: use a newer release"
            ),
            Self::Older { found, known } => write!(
                f,
                "the database has schema version {found}, this release reads {known}: `renown serve` upgrades it"
            ),
            Self::Missing(path) => write!(f, "there is no database at {}", path.display()),
            Self::Foreign(path) => write!(f, "{} is not a database of Renown", path.display()),
            Self::Clock(error) => error.fmt(f),
            Self::Io { doing, source } => write!(f, "{doing}: {source}"),
            Self::Damaged(cause) | Self::Unavailable(cause) => cause.fmt(f),
            Self::GaveWay => StoreError::GaveWay.fmt(f),
            Self::Bug(what) => StoreError::Bug(what).fmt(f),
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Damaged(cause) | Self::Unavailable(cause) => cause.source(),
            Self::InUse { .. }
            | Self::Newer { .. }
            | Self::Older { .. }
            | Self::Missing(_)
            | Self::Foreign(_)
            | Self::Clock(_)
            | Self::GaveWay
            | Self::Bug(_) => None,
        }
    }
}
