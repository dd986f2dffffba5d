//! The errors of a store, as far as a caller can distinguish them.

use std::fmt;
use std::path::PathBuf;

use crate::clock::ClockError;
use crate::holder::LockHolder;

/// The reason why a call failed.
#[derive(Debug)]
pub enum StoreError {
    /// A queue is full, or another limit is reached. Nothing was changed; the caller may retry later.
    Overloaded,
    /// The read exceeded its time limit.
    TooLong,
    /// The store has shut down, or the thread that should reply panicked.
    Closed,
    /// Another process holds the data directory.
    InUse {
        /// The directory.
        dir: PathBuf,
        /// The process that holds it.
        holder: LockHolder,
    },
    /// The database was written by a newer release.
    Newer {
        /// The version that was found.
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// The database was written by an older release. Only opening it for writing upgrades it.
    Older {
        /// The version that was found.
        found: i64,
        /// The version that is known here.
        known: i64,
    },
    /// No database is at this path.
    Missing(PathBuf),
    /// The file is not a database of Renown.
    Foreign(PathBuf),
    /// The clock cannot be right, so nothing can be accepted.
    Clock(ClockError),
    /// No organization has this name.
    NoOrganization(String),
    /// A row contains a value that was never written: the file is damaged.
    Damaged(String),
    /// The system does not provide random bytes.
    NoRandomness(getrandom::Error),
    /// A state that cannot occur: a bug in this program. The file is intact.
    Bug(&'static str),
    /// SQLite returned an error.
    Sqlite(rusqlite::Error),
    /// A file operation or the start of a thread failed.
    Io {
        /// What was being done.
        doing: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A long read stopped because an erasure waited for it.
    GaveWay,
    /// A file of the open store was deleted, moved or replaced, so no write is accepted any more. The text names
    /// the file.
    Vanished(String),
    /// The transaction failed, and with it every write that it contained. None of them has changed anything.
    RolledBack(std::sync::Arc<StoreError>),
}

impl StoreError {
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }

    /// Returns the cause of a failed transaction, or the error itself.
    fn reason(&self) -> &Self {
        let mut error = self;
        while let Self::RolledBack(reason) = error {
            error = reason;
        }
        error
    }

    /// Returns the error of the clock, if that is the cause.
    pub fn clock(&self) -> Option<ClockError> {
        if let Self::Clock(error) = self.reason() { Some(*error) } else { None }
    }

    /// Returns whether the file does not contain what was written to it.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            Self::Sqlite(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt),
            Self::RolledBack(reason) => reason.is_damage(),
            Self::Overloaded
            | Self::TooLong
            | Self::Closed
            | Self::InUse { .. }
            | Self::Newer { .. }
            | Self::Older { .. }
            | Self::Missing(_)
            | Self::Foreign(_)
            | Self::Clock(_)
            | Self::NoOrganization(_)
            | Self::GaveWay
            | Self::Vanished(_)
            | Self::NoRandomness(_)
            | Self::Bug(_)
            | Self::Io { .. } => false,
        }
    }

    /// Returns whether files of the open store were deleted, moved or replaced.
    pub fn is_vanished(&self) -> bool {
        matches!(self.reason(), Self::Vanished(_))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overloaded => f.write_str("overloaded: too many requests are waiting"),
            Self::TooLong => f.write_str("the read took too long"),
            Self::Closed => f.write_str("the store has shut down"),
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
            Self::NoOrganization(name) => write!(f, "there is no organization \"{name}\""),
            Self::Damaged(what) => write!(f, "the database is damaged: {what}"),
            Self::NoRandomness(source) => write!(f, "cannot get random bytes from the system: {source}"),
            Self::Bug(what) => write!(f, "internal error: {what}"),
            Self::Sqlite(source) => write!(f, "SQLite error: {source}"),
            Self::Io { doing, source } => write!(f, "{doing}: {source}"),
            Self::GaveWay => {
                f.write_str("the read was stopped: an erasure waited for it to end, run it again")
            }
            Self::Vanished(what) => write!(
                f,
                "{what} while the store was open, so writes are refused until it is opened again: stop this process, put the \
                 file back or restore a backup, then start it again"
            ),
            Self::RolledBack(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sqlite(source) => Some(source),
            Self::Io { source, .. } => Some(source),
            Self::RolledBack(reason) => Some(reason.as_ref()),
            Self::Overloaded
            | Self::TooLong
            | Self::Closed
            | Self::InUse { .. }
            | Self::Newer { .. }
            | Self::Older { .. }
            | Self::Missing(_)
            | Self::Foreign(_)
            | Self::Clock(_)
            | Self::NoOrganization(_)
            | Self::GaveWay
            | Self::Vanished(_)
            | Self::Bug(_)
            | Self::Damaged(_) => None,
            Self::NoRandomness(source) => Some(source),
        }
    }
}

impl From<ClockError> for StoreError {
    fn from(error: ClockError) -> Self {
        Self::Clock(error)
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<getrandom::Error> for StoreError {
    fn from(error: getrandom::Error) -> Self {
        Self::NoRandomness(error)
    }
}
