//! `/live`: tells open pages that something of their organization changed. They then fetch themselves again.
//!
//! An event says only that agents or a session changed. Many changes within [`TOGETHER`] are one event, so that an open page costs
//! the same whatever the load.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use hyper::HeaderMap;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{broadcast, watch};

use super::visits::Visit;
use crate::api::Api;
use crate::changes::{Change, Changed};
use crate::error::{ApiError, Code};

/// Changes within this time are one event.
const TOGETHER: Duration = Duration::from_millis(500);

/// A comment is sent after this time without an event, so that nobody in between closes the connection.
const COMMENT_EVERY: Duration = Duration::from_secs(15);

struct Listener {
    api: Arc<Api>,
    visit: Arc<Visit>,
    changes: broadcast::Receiver<Change>,
    closed: watch::Receiver<bool>,
}

/// The stream of a visit.
pub(super) async fn stream(State(api): State<Arc<Api>>, headers: HeaderMap) -> Response {
    let Some(visit) = api.visits.find(&headers, &api.keys) else {
        return ApiError::new(Code::AuthMissing, "nobody is logged in").into_response();
    };
    let (changes, closed) = api.feed.listen();
    let events = stream::unfold(Listener { api, visit, changes, closed }, |mut listener| async move {
        let name = listener.next().await?;
        // A browser drops an event without data.
        Some((Ok::<_, Infallible>(Event::default().event(name).data(name)), listener))
    });
    let stream = Sse::new(events).keep_alive(KeepAlive::new().interval(COMMENT_EVERY));
    // nginx would hold events back until it has a buffer full of them.
    ([("x-accel-buffering", "no")], stream).into_response()
}

impl Listener {
    /// The name of the next event; `None` when the server ends or the visit does.
    async fn next(&mut self) -> Option<&'static str> {
        loop {
            if *self.closed.borrow_and_update() || !self.visit.holds(&self.api.keys) {
                return None;
            }
            let change = tokio::select! {
                looked = self.closed.changed() => {
                    looked.ok()?;
                    continue;
                }
                change = self.changes.recv() => change,
            };
            let name = match change {
                Ok(change) if change.org != self.visit.org => continue,
                Ok(Change { what: Changed::Agent(_), .. }) => "score",
                Ok(Change { what: Changed::Session(_) | Changed::Evidence, .. }) => "session",
                Err(RecvError::Lagged(_)) => "missed",
                Err(RecvError::Closed) => return None,
            };
            tokio::time::sleep(TOGETHER).await;
            while !matches!(self.changes.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)) {}
            return Some(name);
        }
    }
}
