//! Why a read failed.

use std::error::Error;
use std::fmt;

use super::{EngineCause, StoreError};
use crate::clock::ClockError;

/// The reason why a read failed.
#[derive(Debug)]
pub enum ReadError {
    /// Too many reads wait already. The caller may retry later.
    Overloaded,
    /// The read exceeded its time limit. The caller may ask for less.
    TooLong,
    /// No organization has this name.
    NoOrganization(String),
    /// A long read stopped because an erasure waited for it.
    GaveWay,
    /// The clock cannot be right, and the answer depends on the time.
    Clock(ClockError),
    /// The store does not contain what was written to it.
    Damaged(EngineCause),
    /// The engine cannot answer now.
    Unavailable(EngineCause),
    /// A state that cannot occur: a bug in this program. The store is intact.
    Bug(&'static str),
}

impl ReadError {
    /// Returns whether the store does not contain what was written to it.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_))
    }
}

impl From<StoreError> for ReadError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Overloaded => Self::Overloaded,
            StoreError::TooLong => Self::TooLong,
            StoreError::NoOrganization(name) => Self::NoOrganization(name),
            StoreError::GaveWay => Self::GaveWay,
            StoreError::Clock(error) => Self::Clock(error),
            StoreError::Bug(what) => Self::Bug(what),
            StoreError::Damaged(_)
            | StoreError::Closed
            | StoreError::Unanswered
            | StoreError::Open(_)
            | StoreError::NoRandomness(_)
            | StoreError::Sqlite(_)
            | StoreError::Io { .. }
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

impl From<ClockError> for ReadError {
    fn from(error: ClockError) -> Self {
        Self::Clock(error)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overloaded => StoreError::Overloaded.fmt(f),
            Self::TooLong => StoreError::TooLong.fmt(f),
            Self::NoOrganization(name) => super::no_organization(name, f),
            Self::GaveWay => StoreError::GaveWay.fmt(f),
            Self::Clock(error) => error.fmt(f),
            Self::Damaged(cause) | Self::Unavailable(cause) => cause.fmt(f),
            Self::Bug(what) => StoreError::Bug(what).fmt(f),
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Damaged(cause) | Self::Unavailable(cause) => cause.source(),
            Self::Overloaded
            | Self::TooLong
            | Self::NoOrganization(_)
            | Self::GaveWay
            | Self::Clock(_)
            | Self::Bug(_) => None,
        }
    }
}
