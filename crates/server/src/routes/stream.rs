//! `GET /v1/stream`: new scores as they happen, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::Refused;
use super::ingest::Update;
use crate::api::Api;
use crate::feed::Change;
use crate::keys::Caller;

/// A comment is sent so often while nothing happens, so that nobody in between closes the connection.
const COMMENT_EVERY: Duration = Duration::from_secs(15);

struct Listener {
    api: Arc<Api>,
    caller: Arc<Caller>,
    changes: broadcast::Receiver<Change>,
    closed: watch::Receiver<bool>,
}

/// Listen to new scores
///
/// Server-sent events: `score` with `agent_id`, `score`, `lifecycle`, `eval_count` whenever an agent was evaluated; many
/// evaluations of one agent in an instant may be one event. `missed` tells that this listener was too slow for some. The stream
/// ends when the server does, or when the key is revoked.
#[utoipa::path(
    get,
    path = "/v1/stream",
    tag = "reputation",
    responses((status = 200, description = "The events, without end", body = String, content_type = "text/event-stream"), Refused)
)]
pub(crate) async fn stream(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
) -> Response {
    let (changes, closed) = api.feed.listen();
    let events = stream::unfold(Listener { api, caller, changes, closed }, |mut listener| async move {
        let event = listener.next().await?;
        Some((Ok::<_, Infallible>(event), listener))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(COMMENT_EVERY)).into_response()
}

impl Listener {
    /// The next event; none when the server ends or the key is revoked.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if *self.closed.borrow_and_update() {
                return None;
            }
            let change = tokio::select! {
                looked = self.closed.changed() => match looked {
                    Ok(()) if self.api.keys.still_holds(&self.caller) => continue,
                    Ok(()) | Err(_) => return None,
                },
                change = self.changes.recv() => change,
            };
            match change {
                Ok(_) if !self.api.keys.still_holds(&self.caller) => return None,
                Ok(change) if change.org == self.caller.org => {
                    if let Ok(tally) = self.api.store.tally(&change.org, &change.agent).await {
                        let score = Update { agent_id: change.agent, standing: tally.standing() };
                        let data = serde_json::to_string(&score).unwrap_or_default();
                        return Some(Event::default().event("score").data(data));
                    }
                }
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => {
                    return Some(Event::default().event("missed").data(missed.to_string()));
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
