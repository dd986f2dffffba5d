//! The errors of a store. A caller sees one type per kind of operation, see [`OpenError`], [`ReadError`] and
//! [`WriteError`]; inside, the engine on SQLite has one for all of them.

mod open;
mod read;
mod write;

use std::fmt;

use crate::clock::ClockError;

pub use open::OpenError;
pub use read::ReadError;
pub use write::WriteError;

/// The error of an engine, as the log shows it.
pub type EngineCause = Box<dyn std::error::Error + Send + Sync>;

/// The reason why an operation of the engine on SQLite failed.
#[derive(Debug)]
pub(crate) enum StoreError {
    /// A queue is full, or another limit is reached. Nothing was changed; the caller may retry later.
    Overloaded,
    /// The read exceeded its time limit.
    TooLong,
    /// The store has shut down, or the thread that should reply to a read panicked.
    Closed,
    /// The thread that should reply to a write has ended: it is not known whether the write was accepted.
    Unanswered,
    /// The database cannot be opened.
    Open(Box<OpenError>),
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
    pub(crate) fn clock(&self) -> Option<ClockError> {
        if let Self::Clock(error) = self.reason() { Some(*error) } else { None }
    }

    /// Returns whether the file does not contain what was written to it.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            Self::Sqlite(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt),
            Self::RolledBack(reason) => reason.is_damage(),
            Self::Overloaded
            | Self::TooLong
            | Self::Closed
            | Self::Unanswered
            | Self::Clock(_)
            | Self::NoOrganization(_)
            | Self::GaveWay
            | Self::Vanished(_)
            | Self::NoRandomness(_)
            | Self::Bug(_)
            | Self::Io { .. } => false,
            Self::Open(error) => error.is_damage(),
        }
    }

    /// Returns whether files of the open store were deleted, moved or replaced.
    pub(crate) fn is_vanished(&self) -> bool {
        matches!(self.reason(), Self::Vanished(_))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overloaded => f.write_str("overloaded: too many requests are waiting"),
            Self::TooLong => f.write_str("the read took too long"),
            Self::Closed => f.write_str("the store has shut down"),
            Self::Unanswered => {
                f.write_str("the reply to the write was lost, so it may have been accepted or not")
            }
            Self::Open(error) => error.fmt(f),
            Self::Clock(error) => error.fmt(f),
            Self::NoOrganization(name) => no_organization(name, f),
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

fn no_organization(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "there is no organization \"{name}\"")
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
            | Self::Unanswered
            | Self::Clock(_)
            | Self::NoOrganization(_)
            | Self::GaveWay
            | Self::Vanished(_)
            | Self::Bug(_)
            | Self::Damaged(_) => None,
            Self::NoRandomness(source) => Some(source),
            Self::Open(error) => error.source(),
        }
    }
}

impl From<ClockError> for StoreError {
    fn from(error: ClockError) -> Self {
        Self::Clock(error)
    }
}

impl From<OpenError> for StoreError {
    fn from(error: OpenError) -> Self {
        Self::Open(Box::new(error))
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
