//! Visits: the logins of browsers.
//!
//! ```text
//! one-time link (printed at each start, read by `renown open`) ─┐
//! a key, typed into /login ─────────────────────────────────────┴─► visit ─► cookie
//! ```
//!
//! - A **one-time link** logs in the owner of the server, who may administer the default organization. It works once; after its use the
//!   server creates the next one.
//! - A visit that began with a **key** has the permissions of the key, and ends when the key is revoked.
//! - The **cookie** is 32 random bytes, `HttpOnly` and `SameSite=Strict`. The server keeps visits by the SHA-256 of the cookie, in memory
//!   only: a restart logs all users out and prints a new link.
//! - A visit ends [`VISIT_TIME_MAX`] after its start. There are at most [`VISITS_MAX`] visits; a new one replaces the oldest.
//! - Each visit has a **CSRF token**, which every form must send.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hyper::HeaderMap;
use hyper::header::COOKIE;
use renown_core::hex;
use renown_core::ids::OrgId;
use renown_store::KeyKind;
use sha2::{Digest, Sha256};

use crate::error::{ApiError, Code};
use crate::keys::{Caller, KeyRing};
use crate::limits::{VISIT_TIME_MAX, VISITS_MAX};

/// The name of the cookie.
pub(crate) const COOKIE_NAME: &str = "renown";

type Hash = [u8; 32];

/// A logged-in browser.
pub(crate) struct Visit {
    pub(crate) org: OrgId,
    /// The key of the login; `None` for the owner of the server.
    caller: Option<Arc<Caller>>,
    csrf: String,
    began: Instant,
}

impl fmt::Debug for Visit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visit").field("org", &self.org).finish_non_exhaustive()
    }
}

impl Visit {
    /// Returns whether this visit may change keys, settings and publications.
    pub(crate) fn administers(&self) -> bool {
        self.caller.as_ref().is_none_or(|caller| caller.kind == KeyKind::Secret)
    }

    /// Fails if this visit may not administer.
    pub(crate) fn check_administers(&self) -> Result<(), ApiError> {
        if self.administers() {
            return Ok(());
        }
        let error = "you are logged in with a publishable key, which may only read; log in with a secret key";
        Err(ApiError::new(Code::Forbidden, error))
    }

    /// Returns the token that every form must send.
    pub(crate) fn csrf(&self) -> &str {
        &self.csrf
    }

    /// Returns whether the visit is not too old and its key is still valid.
    pub(crate) fn is_valid(&self, keys: &KeyRing) -> bool {
        self.began.elapsed() < VISIT_TIME_MAX
            && self.caller.as_ref().is_none_or(|caller| keys.is_valid(caller))
    }
}

/// Called with each new one-time token. Stores it in a place that only the owner of the server can read.
pub type OnToken = Box<dyn Fn(&str) + Send + Sync>;

/// All visits, and the one-time token.
pub(crate) struct Visits {
    by_cookie: Mutex<HashMap<Hash, Arc<Visit>>>,
    token: Mutex<Option<Hash>>,
    on_token: OnToken,
}

impl Visits {
    pub(crate) fn new(on_token: OnToken) -> Self {
        Self { by_cookie: Mutex::default(), token: Mutex::default(), on_token }
    }

    /// Creates a one-time token. The previous one becomes invalid.
    pub(crate) fn new_token(&self) -> Result<String, getrandom::Error> {
        let token = secret()?;
        *lock(&self.token) = Some(hash(&token));
        (self.on_token)(&token);
        Ok(token)
    }

    /// Invalidates the one-time token if this is the right one. Returns whether it was.
    pub(crate) fn use_token(&self, token: &str) -> bool {
        let mut known = lock(&self.token);
        let is_right = known.is_some_and(|known| known == hash(token));
        if is_right {
            *known = None;
        }
        is_right
    }

    /// Begins a visit. Returns its cookie.
    pub(crate) fn begin(&self, org: OrgId, caller: Option<Arc<Caller>>) -> Result<String, getrandom::Error> {
        let cookie = secret()?;
        let visit = Visit { org, caller, csrf: secret()?, began: Instant::now() };
        let mut visits = lock(&self.by_cookie);
        visits.retain(|_, visit| visit.began.elapsed() < VISIT_TIME_MAX);
        if visits.len() >= VISITS_MAX
            && let Some(oldest) = visits.iter().min_by_key(|(_, visit)| visit.began).map(|(hash, _)| *hash)
        {
            visits.remove(&oldest);
        }
        visits.insert(hash(&cookie), Arc::new(visit));
        Ok(cookie)
    }

    /// Finds the visit by the cookie of a request. Returns `None` if there is none or it is no longer valid.
    pub(crate) fn find(&self, headers: &HeaderMap, keys: &KeyRing) -> Option<Arc<Visit>> {
        let cookie = cookie(headers)?;
        let visit = lock(&self.by_cookie).get(&hash(cookie)).cloned()?;
        visit.is_valid(keys).then_some(visit)
    }

    /// Ends the visit that the cookie of a request belongs to.
    pub(crate) fn end(&self, headers: &HeaderMap) {
        if let Some(cookie) = cookie(headers) {
            lock(&self.by_cookie).remove(&hash(cookie));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Generates 32 random bytes as hex text.
fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(hex::encode(&bytes))
}

fn hash(secret: &str) -> Hash {
    Sha256::digest(secret.as_bytes()).into()
}

/// Returns the value of our cookie in a request.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    let sent = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    sent.flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE_NAME)
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn visits() -> Visits {
        Visits::new(Box::new(|_| {}))
    }

    fn carrying(cookie: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, format!("theme=dark; {COOKIE_NAME}={cookie}; x=y").parse().unwrap());
        headers
    }

    #[test]
    fn a_one_time_token_works_once_and_is_passed_to_the_callback() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let visits = Visits::new(Box::new(move |token| {
            assert_eq!(token.len(), 64);
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        assert!(!visits.use_token(""), "there is no token yet");
        let token = visits.new_token().unwrap();
        assert!(!visits.use_token("other"));
        assert!(visits.use_token(&token));
        assert!(!visits.use_token(&token), "it was used");
        let (old, new) = (visits.new_token().unwrap(), visits.new_token().unwrap());
        assert!(!visits.use_token(&old), "a newer token replaced it");
        assert!(visits.use_token(&new));
        assert_eq!(calls.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn a_visit_is_found_by_its_cookie_until_it_ends() {
        let (visits, keys) = (visits(), KeyRing::default());
        let org: OrgId = "default".parse().unwrap();
        let cookie = visits.begin(org.clone(), None).unwrap();
        let found = visits.find(&carrying(&cookie), &keys).unwrap();
        assert!(found.org == org && found.administers() && found.csrf() != cookie);
        assert!(!format!("{found:?}").contains(found.csrf()), "tokens are secrets");
        assert!(visits.find(&carrying("other"), &keys).is_none());
        assert!(visits.find(&HeaderMap::new(), &keys).is_none());
        visits.end(&carrying(&cookie));
        assert!(visits.find(&carrying(&cookie), &keys).is_none());
    }

    #[test]
    fn a_new_visit_replaces_the_oldest() {
        let (visits, keys) = (visits(), KeyRing::default());
        let org: OrgId = "default".parse().unwrap();
        let begin = || visits.begin(org.clone(), None).unwrap();
        let (first, second) = (begin(), begin());
        for _ in 2..=VISITS_MAX {
            begin();
        }
        assert!(visits.find(&carrying(&first), &keys).is_none());
        assert!(visits.find(&carrying(&second), &keys).is_some());
    }
}
