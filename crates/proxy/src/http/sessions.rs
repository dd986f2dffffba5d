//! The open sessions, by the id that the server gave them.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::header::{HeaderMap, HeaderValue};
use lru::LruCache;

use crate::session::ProxySession;

/// The header that names a session.
pub(super) const HEADER: &str = "mcp-session-id";

/// Returns whether a reply has at most one session id, of visible ASCII characters.
pub(super) fn is_sound(headers: &HeaderMap) -> bool {
    let mut ids = headers.get_all(HEADER).iter();
    let is_visible = |id: &HeaderValue| id.as_bytes().iter().all(u8::is_ascii_graphic);
    ids.next().is_none_or(is_visible) && ids.next().is_none()
}

/// Maximum number of open sessions. A new session replaces the least recently used one.
const SESSIONS_MAX: usize = 10_000;

/// A session that several requests can use at the same time.
pub(super) struct Shared(Mutex<ProxySession>);

impl Shared {
    pub(super) fn new(session: ProxySession) -> Self {
        Self(Mutex::new(session))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ProxySession> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The open sessions.
pub(super) struct Sessions(Mutex<LruCache<HeaderValue, Arc<Shared>>>);

impl Default for Sessions {
    fn default() -> Self {
        let most = NonZeroUsize::new(SESSIONS_MAX).unwrap_or(NonZeroUsize::MIN);
        Self(Mutex::new(LruCache::new(most)))
    }
}

impl Sessions {
    pub(super) fn get(&self, id: &HeaderValue) -> Option<Arc<Shared>> {
        self.lock().get(id).cloned()
    }

    /// Adds a session. Returns the session that it replaced, if any.
    pub(super) fn insert(&self, id: HeaderValue, session: &Arc<Shared>) -> Option<Arc<Shared>> {
        let replaced = self.lock().push(id, Arc::clone(session));
        replaced.filter(|(_, replaced)| !Arc::ptr_eq(replaced, session)).map(|(_, replaced)| replaced)
    }

    pub(super) fn remove(&self, id: &HeaderValue) -> Option<Arc<Shared>> {
        self.lock().pop(id)
    }

    pub(super) fn drain(&self) -> Vec<Arc<Shared>> {
        let mut sessions = self.lock();
        std::iter::from_fn(|| sessions.pop_lru()).map(|(_, session)| session).collect()
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<HeaderValue, Arc<Shared>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
