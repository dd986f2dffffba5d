//! What a request key means.
//!
//! | the key in the organization | the write |
//! |---|---|
//! | is unknown, or was used more than 24 hours ago | is done, and what it accepted is kept with the key, unless it was refused |
//! | was used for the same request | is not done; what was accepted then is returned, if it can still be shown |
//! | was used for another request | is not done: a conflict |
//!
//! What is kept, and how it becomes a receipt, is in [`crate::request_keys::kept`]. It is deleted a day after it
//! expired, because a clock that is set back makes it valid again.

use renown_core::time::Timestamp;

use crate::request_keys::{REQUEST_KEYS_KEPT_MS, RequestKey};

/// A key that was used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsedKey {
    /// The digest of the request.
    pub(crate) fingerprint: [u8; 32],
    /// When the request was accepted.
    pub(crate) at: Timestamp,
}

/// What a key says about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recognized {
    /// Nothing: the write is done.
    New,
    /// The request was accepted before.
    Retry,
    /// Another request was accepted with this key.
    Conflict,
}

/// Recognizes a request by its key. `used` is what is stored for the key.
pub(crate) fn recognize(request_key: &RequestKey, used: Option<UsedKey>, now: Timestamp) -> Recognized {
    match used.filter(|used| used.at.millis() >= now.millis() - REQUEST_KEYS_KEPT_MS) {
        None => Recognized::New,
        Some(used) if used.fingerprint == request_key.fingerprint => Recognized::Retry,
        Some(_) => Recognized::Conflict,
    }
}

/// Returns the time in milliseconds before which keys are deleted.
pub(crate) fn deleted_before_ms(now: Timestamp) -> i64 {
    now.millis() - 2 * REQUEST_KEYS_KEPT_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_794_744_000_000;
    const DAY: i64 = 86_400_000;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(NOON + ms).unwrap()
    }

    #[test]
    fn a_key_is_known_for_a_day_and_belongs_to_one_request() {
        let request_key =
            RequestKey { org: "default".parse().unwrap(), key: "k".to_owned(), fingerprint: [1; 32] };
        let used = |fingerprint: u8, ms| Some(UsedKey { fingerprint: [fingerprint; 32], at: at(ms) });
        for (used, expected, label) in [
            (None, Recognized::New, "never used"),
            (used(1, 0), Recognized::Retry, "used now"),
            (used(1, -DAY), Recognized::Retry, "a day ago"),
            (used(1, -DAY - 1), Recognized::New, "more than a day ago"),
            (used(1, 9), Recognized::Retry, "used later, by a clock that was set back"),
            (used(2, 0), Recognized::Conflict, "another request"),
            (used(2, -DAY - 1), Recognized::New, "another request, more than a day ago"),
        ] {
            assert_eq!(recognize(&request_key, used, at(0)), expected, "{label}");
        }
        assert_eq!(deleted_before_ms(at(0)), NOON - 2 * DAY);
    }
}
