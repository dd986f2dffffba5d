//! Rate limits per organization: so many requests in each minute, counted from the first one.
//!
//! Off unless configured. When on, every reply says how it stands: `RateLimit-Limit`, `RateLimit-Remaining`, and
//! `RateLimit-Reset` in seconds.
//!
//! `ingest_per_minute` limits `/v1/ingest` and telemetry, `requests_per_minute` everything else under `/v1/`. Both count
//! requests.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use renown_core::ids::OrgId;

use crate::error::{ApiError, Code};

const MINUTE: Duration = Duration::from_mins(1);

/// One kind of limit, over all organizations.
pub(crate) struct RateLimit {
    per_minute: u64,
    /// When the current minute of each organization began, and how much of it is used.
    minutes: Mutex<HashMap<OrgId, (Instant, u64)>>,
}

/// How an organization stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    limit: u64,
    remaining: u64,
    reset_seconds: u64,
    allowed: bool,
}

impl RateLimit {
    /// A limit; none if it is 0.
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
    /// Whether the request may go on.
    pub(crate) fn check(self) -> Result<(), ApiError> {
        if self.allowed {
            return Ok(());
        }
        let error = format!("more than {} requests in a minute", self.limit);
        Err(ApiError::new(Code::RateLimited, error).retry_after(self.reset_seconds))
    }

    /// Says how it stands.
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
    fn so_many_in_a_minute_and_each_organization_for_itself() {
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
