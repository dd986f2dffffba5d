//! Rate limits: requests per minute and organization. A minute begins with its first request.
//!
//! Off unless configured. When on, every reply has the headers `RateLimit-Limit`, `RateLimit-Remaining`, and `RateLimit-Reset` in seconds.
//!
//! `ingest_per_minute` limits `/v1/ingest` and telemetry, `requests_per_minute` everything else under `/v1/`. Both count requests.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use renown_core::ids::OrgId;

use crate::error::{ApiError, Code};

const MINUTE: Duration = Duration::from_mins(1);

/// One of the two limits, for all organizations.
pub(crate) struct RateLimit {
    per_minute: u64,
    /// Start of each organization's current minute, and the requests counted in it.
    minutes: Mutex<HashMap<OrgId, (Instant, u64)>>,
}

/// The state of an organization's limit after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    limit: u64,
    remaining: u64,
    reset_seconds: u64,
    allowed: bool,
}

impl RateLimit {
    /// Creates a limit. Returns `None` for 0, which means no limit.
    pub(crate) fn new(per_minute: u64) -> Option<Self> {
        (per_minute > 0).then(|| Self { per_minute, minutes: Mutex::default() })
    }

    /// Counts a request of an organization.
    pub(crate) fn count(&self, org: &OrgId, now: Instant) -> Rate {
        let mut minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        let (began, used) = minutes.entry(org.clone()).or_insert((now, 0));
        if now.duration_since(*began) >= MINUTE {
            (*began, *used) = (now, 0);
        }
        let allowed = *used < self.per_minute;
        *used += u64::from(allowed);
        let left = MINUTE.saturating_sub(now.duration_since(*began));
        Rate {
            limit: self.per_minute,
            remaining: self.per_minute - *used,
            reset_seconds: left.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX),
            allowed,
        }
    }
}

impl Rate {
    /// Fails if the request is over the limit.
    pub(crate) fn check(self) -> Result<(), ApiError> {
        if self.allowed {
            return Ok(());
        }
        let error = format!("more than {} requests per minute", self.limit);
        Err(ApiError::new(Code::RateLimited, error).retry_after(self.reset_seconds))
    }

    /// Writes the `RateLimit-…` headers.
    pub(crate) fn write(self, headers: &mut HeaderMap) {
        for (name, value) in [
            ("ratelimit-limit", self.limit),
            ("ratelimit-remaining", self.remaining),
            ("ratelimit-reset", self.reset_seconds),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_organization_has_its_own_minute() {
        assert!(RateLimit::new(0).is_none());
        let limit = RateLimit::new(2).unwrap();
        let (start, org, other) = (Instant::now(), "a".parse().unwrap(), "b".parse().unwrap());
        let at = |seconds| start + Duration::from_secs(seconds);
        let rate = |remaining, reset_seconds, allowed| Rate { limit: 2, remaining, reset_seconds, allowed };
        assert_eq!(limit.count(&org, at(0)), rate(1, 60, true));
        assert_eq!(limit.count(&org, at(10)), rate(0, 50, true));
        assert_eq!(limit.count(&org, at(59)), rate(0, 1, false));
        assert_eq!(limit.count(&other, at(59)), rate(1, 60, true));
        assert_eq!(limit.count(&org, at(60)), rate(1, 60, true));
    }
}
