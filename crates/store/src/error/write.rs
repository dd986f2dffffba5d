//! Why a write failed.

use std::error::Error;
use std::fmt;

use super::{EngineCause, ReadError, StoreError};
use crate::clock::ClockError;

/// The reason why a write failed. Nothing was changed, except that [`WriteError::Unknown`] does not know it.
#[derive(Debug)]
pub enum WriteError {
    /// Too many writes wait already. The caller may retry later.
    Overloaded,
    /// No organization has this name.
    NoOrganization(String),
    /// The clock cannot be right, so nothing can be accepted.
    Clock(ClockError),
    /// The store accepts no write until an operator has acted. The text says what is wrong.
    Refused(String),
    /// The store does not contain what was written to it.
    Damaged(EngineCause),
    /// The engine cannot write now.
    Unavailable(EngineCause),
    /// The reply was lost: the write may have been accepted or not. The caller sends it again with the same request key, or with
    /// the same ids.
    Unknown(EngineCause),
    /// A state that cannot occur: a bug in this program. The store is intact.
    Bug(&'static str),
}

impl WriteError {
    /// Returns whether the store does not contain what was written to it.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_))
    }
}

impl From<StoreError> for WriteError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Overloaded => Self::Overloaded,
            StoreError::NoOrganization(name) => Self::NoOrganization(name),
            StoreError::Bug(what) => Self::Bug(what),
            StoreError::Unanswered => Self::Unknown(error.into()),
            StoreError::TooLong
            | StoreError::Closed
            | StoreError::Open(_)
            | StoreError::Clock(_)
            | StoreError::Damaged(_)
            | StoreError::NoRandomness(_)
            | StoreError::Sqlite(_)
            | StoreError::Io { .. }
            | StoreError::GaveWay
            | StoreError::Vanished(_)
            | StoreError::RolledBack(_) => match error.clock() {
                Some(clock) => Self::Clock(clock),
                None if error.is_vanished() => Self::Refused(error.to_string()),
                None if error.is_damage() => Self::Damaged(error.into()),
                None => Self::Unavailable(error.into()),
            },
        }
    }
}

/// For work that reads before it writes: an engine that cannot be read cannot be written either.
impl From<ReadError> for WriteError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Overloaded => Self::Overloaded,
            ReadError::NoOrganization(name) => Self::NoOrganization(name),
            ReadError::Damaged(cause) => Self::Damaged(cause),
            ReadError::Bug(what) => Self::Bug(what),
            ReadError::Clock(error) => Self::Clock(error),
            other @ (ReadError::TooLong | ReadError::GaveWay | ReadError::Unavailable(_)) => {
                Self::Unavailable(other.into())
            }
        }
    }
}

impl From<ClockError> for WriteError {
    fn from(error: ClockError) -> Self {
        Self::Clock(error)
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overloaded => StoreError::Overloaded.fmt(f),
            Self::NoOrganization(name) => super::no_organization(name, f),
            Self::Clock(error) => error.fmt(f),
            Self::Refused(what) => f.write_str(what),
            Self::Damaged(cause) | Self::Unavailable(cause) | Self::Unknown(cause) => cause.fmt(f),
            Self::Bug(what) => StoreError::Bug(what).fmt(f),
        }
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Damaged(cause) | Self::Unavailable(cause) | Self::Unknown(cause) => cause.source(),
            Self::Overloaded | Self::NoOrganization(_) | Self::Clock(_) | Self::Refused(_) | Self::Bug(_) => {
                None
            }
        }
    }
}
