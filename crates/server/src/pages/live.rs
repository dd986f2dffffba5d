//! `/live`: notifies open pages of changes in their organization. The pages then reload their content.
//!
//! An event says only that agents or sessions changed. All changes within [`BATCH_TIME`] are one event, so the cost of an open page does not
//! depend on the load.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use hyper::HeaderMap;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use super::visits::Visit;
use crate::api::Api;
use crate::changes::{Change, Changed, Subscription};
use crate::error::{ApiError, Code};
use crate::limits::STREAM_COMMENT_EVERY;

/// Changes within this time are one event.
const BATCH_TIME: Duration = Duration::from_millis(500);

struct Listener {
    api: Arc<Api>,
    visit: Arc<Visit>,
    subscription: Subscription,
}

/// Opens the stream of a visit.
pub(super) async fn stream(State(api): State<Arc<Api>>, headers: HeaderMap) -> Response {
    let Some(visit) = api.visits.find(&headers, &api.keys) else {
        return ApiError::new(Code::AuthMissing, "not logged in; open /login").into_response();
    };
    let subscription = match api.changes.subscribe(&visit.org, &*api.store).await {
        Ok(subscription) => subscription,
        Err(error) => return ApiError::from(error).into_response(),
    };
    let events = stream::unfold(Listener { api, visit, subscription }, |mut listener| async move {
        let name = listener.next().await?;
        // A browser drops an event without data.
        Some((Ok::<_, Infallible>(Event::default().event(name).data(name)), listener))
    });
    let stream = Sse::new(events).keep_alive(KeepAlive::new().interval(STREAM_COMMENT_EVERY));
    // Without this header, nginx holds events back until its buffer is full.
    ([("x-accel-buffering", "no")], stream).into_response()
}

impl Listener {
    /// Waits for the next event and returns its name. Returns `None` when the server stops or the visit ends.
    async fn next(&mut self) -> Option<&'static str> {
        let Subscription { changes, closed, .. } = &mut self.subscription;
        loop {
            if *closed.borrow_and_update() || !self.visit.is_valid(&self.api.keys) {
                return None;
            }
            let change = tokio::select! {
                rechecked = closed.changed() => {
                    rechecked.ok()?;
                    continue;
                }
                change = changes.recv() => change,
            };
            let name = match change {
                Ok(change) if change.org != self.visit.org => continue,
                Ok(Change { what: Changed::Agent(_), .. }) => "score",
                Ok(Change { what: Changed::Session(_) | Changed::Evidence, .. }) => "session",
                Err(RecvError::Lagged(_)) => "missed",
                Err(RecvError::Closed) => return None,
            };
            tokio::time::sleep(BATCH_TIME).await;
            while !matches!(changes.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)) {}
            return Some(name);
        }
    }
}
