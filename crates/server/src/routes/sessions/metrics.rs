//! `/v1/metrics` and `/v1/sessions/{session_id}/metrics`: reliability and consistency of the agent in a session.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::StatusCode;
use renown_core::ids::SessionId;
use renown_core::json;
use renown_core::session_metrics::{Definition, Metrics, SignalWeights, Thresholds, registry};
use renown_view::sessions::session_of;
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use crate::api::Api;
use crate::error::ApiError;
use crate::keys::Caller;
use crate::query::Query;
use crate::reply::json as reply;
use crate::routes::ErrorReplies;
use crate::routes::paths::Segment;

/// Read the metrics of a session
///
/// Computes the metrics over the traces of the session, in the order of `started_at`, then of arrival; traces without a start come last.
/// If no signals were sent, they are derived from telemetry, with one trace per prompt.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}/metrics",
    operation_id = "get_session_metrics",
    tag = "sessions",
    params(
        ("session_id" = SessionId, Path, description = "The session, percent-encoded"),
        ("signal_weights" = Option<String>, Query, format = "signal-weights",
            description = "A JSON object with weights from 0 to 10 for any of `confidence`, `loop_detection`, `tool_correctness`, `coherence`"),
        ("thresholds" = Option<String>, Query, format = "thresholds",
            description = "A JSON object with the score from 0 to 1 at which `agent_reliability` or `agent_consistency` passes"),
    ),
    responses((status = 200, description = "Both metrics", body = Metrics), ErrorReplies)
)]
pub(crate) async fn of_session(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let weights: SignalWeights = parameter(&query, "signal_weights")?.unwrap_or_default();
    let thresholds: Thresholds = parameter(&query, "thresholds")?.unwrap_or_default();
    let session = super::find(&api, &caller, path, true).await?;
    Ok(reply(StatusCode::OK, &session_of(&session).metrics(&weights, &thresholds)))
}

/// Reads a query parameter that is a JSON object.
fn parameter<T: DeserializeOwned>(query: &Query, name: &str) -> Result<Option<T>, ApiError> {
    let Some(text) = query.text(name)? else { return Ok(None) };
    let parsed = json::parse_strict(text.as_bytes());
    parsed.map(Some).map_err(|error| ApiError::invalid(format!("{name}: {error}")))
}

/// All session metrics.
#[derive(Serialize, ToSchema)]
pub(crate) struct RegistryReply {
    data: Vec<Definition>,
    /// Always null: there is one page.
    next_cursor: Option<String>,
}

/// List the metrics
#[utoipa::path(
    get,
    path = "/v1/metrics",
    operation_id = "list_metrics",
    tag = "sessions",
    responses((status = 200, description = "The metrics", body = RegistryReply), ErrorReplies)
)]
pub(crate) async fn list() -> Response {
    reply(StatusCode::OK, &RegistryReply { data: registry().into(), next_cursor: None })
}
