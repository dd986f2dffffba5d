//! What changes of API keys mean.
//!
//! | change | effect |
//! |---|---|
//! | create | one row; its organization is added if it is new |
//! | revoke | the time of the first revocation stays |
//! | use | the time that was reported last, in whole milliseconds; unknown keys are ignored |

use renown_core::time::Timestamp;

use crate::evidence::whole_millis;
use crate::keys::{ApiKey, NewKey};
use crate::request_keys::kept::Kept;

/// Returns the row of a new key, and what to keep for the request key.
pub(crate) fn create(new: NewKey, now: Timestamp) -> (ApiKey, Kept) {
    let kept = Kept::api_key(new.id);
    (ApiKey { key: new, created_at: now, last_used_at: None, revoked_at: None }, kept)
}

/// Returns since when a key is revoked that is revoked now.
pub(crate) fn revoke(revoked_at: Option<Timestamp>, now: Timestamp) -> Timestamp {
    revoked_at.unwrap_or(now)
}

/// Returns when a key was last used.
pub(crate) fn used(at: Timestamp) -> Timestamp {
    whole_millis(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KeyKind;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(1_794_744_000_000 + ms).unwrap()
    }

    #[test]
    fn a_new_key_is_neither_used_nor_revoked() {
        let new = NewKey {
            id: uuid::Uuid::from_bytes([1; 16]),
            org: "default".parse().unwrap(),
            kind: KeyKind::Secret,
            label: None,
            hash: [2; 32],
            last_four: "abcd".to_owned(),
        };
        let (key, kept) = create(new.clone(), at(5));
        assert_eq!(key, ApiKey { key: new.clone(), created_at: at(5), last_used_at: None, revoked_at: None });
        assert_eq!(kept.api_key, Some(new.id));
    }

    #[test]
    fn a_key_that_is_revoked_again_keeps_its_first_time() {
        assert_eq!(revoke(None, at(5)), at(5));
        assert_eq!(revoke(Some(at(1)), at(5)), at(1));
    }

    #[test]
    fn a_use_is_kept_in_whole_milliseconds() {
        assert_eq!(used(Timestamp::from_nanos(at(5).nanos() + 999_999).unwrap()), at(5));
    }
}
