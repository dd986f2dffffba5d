//! `GET /v1/stream`: new scores as they happen, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use renown_view::SessionView;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::Refused;
use super::ingest::Update;
use crate::api::Api;
use crate::changes::{Change, Changed};
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
/// evaluations of one agent in an instant may be one event; `session.scored` with the session whenever one that can be scored is over, also
/// when it is over once more after something of it arrived late. `missed` tells that this listener was too slow for some. The stream
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
    let stream = Sse::new(events).keep_alive(KeepAlive::new().interval(COMMENT_EVERY));
    // nginx would hold events back until it has a buffer full of them.
    ([("x-accel-buffering", "no")], stream).into_response()
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
                    if let Some(event) = self.event(change).await {
                        return Some(event);
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

    /// What is told of a change, as it stands now.
    async fn event(&self, Change { org, what }: Change) -> Option<Event> {
        let (name, data) = match what {
            Changed::Agent(agent_id) => {
                let standing = self.api.store.tally(&org, &agent_id).await.ok()?.standing();
                ("score", serde_json::to_string(&Update { agent_id, standing }))
            }
            Changed::Evidence => return None,
            Changed::Session(id) => {
                let session = self.api.store.session(&org, &id, false).await.ok()??;
                let reply = SessionView::of(&session);
                reply.is_scored().then_some(())?;
                ("session.scored", serde_json::to_string(&reply))
            }
        };
        Some(Event::default().event(name).data(data.ok()?))
    }
}
