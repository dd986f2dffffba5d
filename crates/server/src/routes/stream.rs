//! `GET /v1/stream`: new scores as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use renown_view::SessionView;
use tokio::sync::broadcast::error::RecvError;

use super::ErrorReplies;
use super::ingest::Update;
use crate::api::Api;
use crate::changes::{Change, Changed, Subscription};
use crate::error::ApiError;
use crate::keys::Caller;
use crate::limits::STREAM_COMMENT_EVERY;

struct Listener {
    api: Arc<Api>,
    caller: Arc<Caller>,
    subscription: Subscription,
}

/// Stream new scores
///
/// Sends server-sent events. `score` has `agent_id`, `score`, `lifecycle` and `eval_count`, and is sent after an agent was evaluated; many
/// evaluations of one agent in a short time may be one event. `session.scored` has the session, and is sent when a session with a
/// performance is closed, also when it is closed again after late records. `missed` has the number of changes that this client was too slow
/// to receive. The stream ends when the server stops or the key is revoked.
#[utoipa::path(
    get,
    path = "/v1/stream",
    tag = "reputation",
    responses((status = 200, description = "An endless stream of events", body = String, content_type = "text/event-stream"), ErrorReplies)
)]
pub(crate) async fn stream(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
) -> Response {
    let subscription = match api.changes.subscribe(&caller.org, &*api.store).await {
        Ok(subscription) => subscription,
        Err(error) => return ApiError::from(error).into_response(),
    };
    let events = stream::unfold(Listener { api, caller, subscription }, |mut listener| async move {
        let event = listener.next().await?;
        Some((Ok::<_, Infallible>(event), listener))
    });
    let stream = Sse::new(events).keep_alive(KeepAlive::new().interval(STREAM_COMMENT_EVERY));
    // Without this header, nginx holds events back until its buffer is full.
    ([("x-accel-buffering", "no")], stream).into_response()
}

impl Listener {
    /// Waits for the next event. Returns `None` when the server stops or the key is revoked.
    async fn next(&mut self) -> Option<Event> {
        loop {
            let Subscription { changes, closed, .. } = &mut self.subscription;
            if *closed.borrow_and_update() {
                return None;
            }
            let change = tokio::select! {
                rechecked = closed.changed() => match rechecked {
                    Ok(()) if self.api.keys.is_valid(&self.caller) => continue,
                    Ok(()) | Err(_) => return None,
                },
                change = changes.recv() => change,
            };
            match change {
                Ok(_) if !self.api.keys.is_valid(&self.caller) => return None,
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

    /// Builds the event of a change from the current score. Returns `None` if the change has no event.
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
