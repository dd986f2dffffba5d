//! API keys as they are stored: never the key itself, only its SHA-256 and its last four characters.

use std::fmt;
use std::str::FromStr;

use renown_core::ids::OrgId;
use renown_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What a key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyKind {
    /// Sends evidence and reads scores.
    Publishable,
    /// Also administers.
    Secret,
}

impl KeyKind {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Publishable => "publishable",
            Self::Secret => "secret",
        }
    }
}

/// A text that is no kind of key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoKeyKind;

impl fmt::Display for NoKeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected publishable or secret")
    }
}

impl std::error::Error for NoKeyKind {}

impl FromStr for KeyKind {
    type Err = NoKeyKind;

    fn from_str(text: &str) -> Result<Self, NoKeyKind> {
        [Self::Publishable, Self::Secret].into_iter().find(|kind| kind.name() == text).ok_or(NoKeyKind)
    }
}

/// The SHA-256 of a key.
pub type KeyHash = [u8; 32];

/// The id of a key: a UUIDv7.
pub type KeyId = Uuid;

/// A key that is to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    /// Its id, made by the caller.
    pub id: KeyId,
    /// The organization that it belongs to.
    pub org: OrgId,
    /// What it may do.
    pub kind: KeyKind,
    /// What its owner calls it.
    pub label: Option<String>,
    /// Its digest.
    pub hash: KeyHash,
    /// Its last four characters.
    pub last_four: String,
}

/// A key that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// The key as it was added.
    pub key: NewKey,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}
