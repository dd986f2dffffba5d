//! How much work is admitted at once, so that a server that is asked for too much still does as much as it can.
//!
//! ```text
//! request ──► waiting room full? 503 ──► body ──► waits for a place ──► parsed, judged, written ──► reply
//!             before its body is read              in order of arrival   at most so many at once
//! ```
//!
//! - **Places** bound what is judged and written at once: more of them would not make the server faster, only each request slower and
//!   its memory colder. One is held from the parsing of a body to its reply. A slow sender holds none, since its body comes first.
//! - **The waiting room** takes bursts. Its size is what the server does in some tens of milliseconds. Past it a client is refused at once,
//!   which costs a fraction of an evaluation, and told when to come back. Nothing of it was counted.
//! - **Each route has its own**, so that many ingests do not refuse evaluations. Reads and `/health`, `/ready` and `/metrics`
//!   need no place.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::{ApiError, Code};

/// What one route admits.
pub(crate) struct Admission {
    places: Semaphore,
    waiting: AtomicUsize,
    waiting_max: usize,
}

/// A place in the waiting room, given back when this is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Admission {
    pub(crate) fn new(places: usize, waiting_max: usize) -> Self {
        let places = Semaphore::new(places.min(Semaphore::MAX_PERMITS));
        Self { places, waiting: AtomicUsize::new(0), waiting_max }
    }

    /// Refuses if there is neither a place nor room to wait for one.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        let has_room = self.waiting.load(Ordering::Relaxed) < self.waiting_max;
        if has_room || self.places.available_permits() > 0 { Ok(()) } else { Err(refusal()) }
    }

    /// Waits for a place, in order of arrival.
    pub(crate) async fn enter(&self) -> Result<SemaphorePermit<'_>, ApiError> {
        if let Ok(place) = self.places.try_acquire() {
            return Ok(place);
        }
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(&self.waiting);
        if before >= self.waiting_max {
            return Err(refusal());
        }
        let place = self.places.acquire().await.map_err(|_| refusal());
        drop(waiting);
        place
    }
}

fn refusal() -> ApiError {
    ApiError::new(Code::Overloaded, "too many requests are waiting, try again; nothing was counted")
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn who_finds_no_place_waits_and_who_finds_no_room_is_refused() {
        let admission = Admission::new(1, 1);
        let enter = || admission.enter().boxed();
        let first = enter().now_or_never().unwrap().unwrap();
        assert!(admission.check().is_ok());
        let mut second = enter();
        assert!(second.as_mut().now_or_never().is_none(), "it waits");
        assert_eq!(admission.check().unwrap_err().code(), Code::Overloaded);
        let refused = enter().now_or_never().unwrap().unwrap_err();
        assert_eq!((refused.code(), refused.retry_after_seconds()), (Code::Overloaded, Some(1)));
        drop(first);
        let second = second.now_or_never().unwrap().unwrap();
        assert!(admission.check().is_ok());
        let gone = enter();
        drop(gone);
        let mut third = enter();
        assert!(third.as_mut().now_or_never().is_none());
        drop(third);
        assert!(admission.check().is_ok(), "who went away waits no more");
        drop(second);
        assert!(enter().now_or_never().is_some_and(|entered| entered.is_ok()));
    }
}
