//! What can go wrong, as far as a caller can tell it apart.

use std::fmt;
use std::path::PathBuf;

use crate::clock::ClockError;
use crate::holder::LockHolder;

/// Why the store could not do what was asked.
#[derive(Debug)]
pub enum StoreError {
    /// The queue of writes is full.
    Overloaded,
    /// The read took longer than a read may.
    TooLong,
    /// The store has shut down.
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
    /// The database was written by an older release and is not upgraded by who only reads.
    Older {
        /// The version that was found.
        found: i64,
        /// The version that is known here.
        known: i64,
    },
    /// There is no database where one was expected.
    Missing(PathBuf),
    /// The file is no database of Renown.
    Foreign(PathBuf),
    /// The clock cannot be right, so nothing can be accepted.
    Clock(ClockError),
    /// There is no organization of this name.
    NoOrganization(String),
    /// A row holds what was never written: the file is damaged.
    Damaged(String),
    /// The system has no random bytes.
    NoRandomness(getrandom::Error),
    /// A state that cannot occur: a bug in this program. The file is fine.
    Bug(&'static str),
    /// The database refused.
    Sqlite(rusqlite::Error),
    /// A file or a thread could not be had.
    Io {
        /// What was being done.
        doing: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A long read stopped because an erasure waited for it.
    GaveWay,
    /// A file of the open store was deleted, moved or replaced, so that no write is accepted any more. The text says which.
    Vanished(String),
    /// A transaction failed, and with it every write that it held. The text is the reason.
    RolledBack(std::sync::Arc<StoreError>),
}

impl StoreError {
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }

    /// The reason behind a transaction that failed, or the error itself.
    fn reason(&self) -> &Self {
        let mut error = self;
        while let Self::RolledBack(reason) = error {
            error = reason;
        }
        error
    }

    /// What the clock shows, where that is the reason.
    pub fn clock(&self) -> Option<ClockError> {
        if let Self::Clock(error) = self.reason() { Some(*error) } else { None }
    }

    /// Whether the file does not hold what was written to it.
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

    /// Whether files of the store are not where they were when it was opened.
    pub fn is_vanished(&self) -> bool {
        matches!(self.reason(), Self::Vanished(_))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overloaded => f.write_str("too much is waiting"),
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
            Self::NoRandomness(source) => write!(f, "the system has no random bytes: {source}"),
            Self::Bug(what) => write!(f, "internal error: {what}"),
            Self::Sqlite(source) => write!(f, "the database refused: {source}"),
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
