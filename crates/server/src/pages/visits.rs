//! Who is logged in.
//!
//! ```text
//! one-time link (printed at each start, read by `renown open`) ─┐
//! a key, typed into /login ─────────────────────────────────────┴─► visit ─► cookie
//! ```
//!
//! - A **one-time link** logs in the owner of the server, who may administer the default organization. It works once; using it makes
//!   the next one.
//! - A visit that began with a **key** may do what its key may, and ends when the key is revoked.
//! - The **cookie** is 32 random bytes, `HttpOnly` and `SameSite=Strict`. Visits are kept by its SHA-256, in memory only: a restart logs
//!   everybody out, and the new start prints a new link.
//! - A visit ends [`VISIT_MAX`] after it began. There are at most [`VISITS_MAX`]; the oldest makes room.
//! - Each visit has a **CSRF token**, which every form has to send back.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::HeaderMap;
use hyper::header::COOKIE;
use renown_core::hex;
use renown_core::ids::OrgId;
use renown_store::KeyKind;
use sha2::{Digest, Sha256};

use crate::error::{ApiError, Code};
use crate::keys::{Caller, KeyRing};

/// How long a visit lasts.
const VISIT_MAX: Duration = Duration::from_hours(30 * 24);

/// How many visits there may be.
const VISITS_MAX: usize = 1000;

/// The name of the cookie.
pub(crate) const COOKIE_NAME: &str = "renown";

type Hash = [u8; 32];

/// Somebody who is logged in.
pub(crate) struct Visit {
    pub(crate) org: OrgId,
    /// The key that it began with; `None` for the owner of the server.
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
    /// Whether keys, settings and what is public may be changed.
    pub(crate) fn administers(&self) -> bool {
        self.caller.as_ref().is_none_or(|caller| caller.kind == KeyKind::Secret)
    }

    /// Refuses what only an administrator may do.
    pub(crate) fn check_administers(&self) -> Result<(), ApiError> {
        if self.administers() {
            return Ok(());
        }
        let error = "you are logged in with a publishable key, which reads; log in with a secret key";
        Err(ApiError::new(Code::Forbidden, error))
    }

    /// The token that forms send back.
    pub(crate) fn csrf(&self) -> &str {
        &self.csrf
    }

    /// Whether it may go on: it is not too old, and its key still holds.
    pub(crate) fn holds(&self, keys: &KeyRing) -> bool {
        self.began.elapsed() < VISIT_MAX && self.caller.as_ref().is_none_or(|caller| keys.still_holds(caller))
    }
}

/// Hears of each new one-time token, and keeps it where only the owner of the server can read it.
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

    /// Makes the next one-time token; the one before is worth nothing then.
    pub(crate) fn new_token(&self) -> Result<String, getrandom::Error> {
        let token = secret()?;
        *lock(&self.token) = Some(hash(&token));
        (self.on_token)(&token);
        Ok(token)
    }

    /// Uses a one-time token up; whether it was the one.
    pub(crate) fn spend(&self, token: &str) -> bool {
        let mut known = lock(&self.token);
        let is_it = known.is_some_and(|known| known == hash(token));
        if is_it {
            *known = None;
        }
        is_it
    }

    /// Begins a visit; its cookie.
    pub(crate) fn begin(&self, org: OrgId, caller: Option<Arc<Caller>>) -> Result<String, getrandom::Error> {
        let cookie = secret()?;
        let visit = Visit { org, caller, csrf: secret()?, began: Instant::now() };
        let mut visits = lock(&self.by_cookie);
        visits.retain(|_, visit| visit.began.elapsed() < VISIT_MAX);
        if visits.len() >= VISITS_MAX
            && let Some(oldest) = visits.iter().min_by_key(|(_, visit)| visit.began).map(|(hash, _)| *hash)
        {
            visits.remove(&oldest);
        }
        visits.insert(hash(&cookie), Arc::new(visit));
        Ok(cookie)
    }

    /// The visit whose cookie a request carries, if it may go on.
    pub(crate) fn find(&self, headers: &HeaderMap, keys: &KeyRing) -> Option<Arc<Visit>> {
        let cookie = cookie(headers)?;
        let visit = lock(&self.by_cookie).get(&hash(cookie)).cloned()?;
        visit.holds(keys).then_some(visit)
    }

    /// Ends the visit whose cookie a request carries.
    pub(crate) fn end(&self, headers: &HeaderMap) {
        if let Some(cookie) = cookie(headers) {
            lock(&self.by_cookie).remove(&hash(cookie));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// 32 random bytes as text.
fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(hex::encode(&bytes))
}

fn hash(secret: &str) -> Hash {
    Sha256::digest(secret.as_bytes()).into()
}

/// Our cookie among those of a request.
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
    fn a_one_time_token_works_once_and_is_told() {
        let told = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&told);
        let visits = Visits::new(Box::new(move |token| {
            assert_eq!(token.len(), 64);
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        assert!(!visits.spend(""), "there is no token yet");
        let token = visits.new_token().unwrap();
        assert!(!visits.spend("other"));
        assert!(visits.spend(&token));
        assert!(!visits.spend(&token), "it was used");
        let (old, new) = (visits.new_token().unwrap(), visits.new_token().unwrap());
        assert!(!visits.spend(&old), "a newer one took its place");
        assert!(visits.spend(&new));
        assert_eq!(told.load(Ordering::Relaxed), 3);
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
    fn the_oldest_visit_makes_room() {
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
