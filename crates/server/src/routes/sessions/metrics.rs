//! `/v1/metrics` and `/v1/sessions/{session_id}/metrics`: what the traces of a session say about its agent.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::StatusCode;
use renown_core::json;
use renown_core::session_metrics::{Definition, SignalWeights, Thresholds, registry};
use renown_view::sessions::session_of;
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use super::shapes::{MetricDefinition, MetricsReply, SessionName};
use crate::api::Api;
use crate::error::ApiError;
use crate::keys::Caller;
use crate::query::Query;
use crate::reply::json as reply;
use crate::routes::Refused;
use crate::routes::paths::Segment;

/// Read the metrics of a session
///
/// Computed now, over its traces by `started_at`, then as they arrived; those without a start come last. Where nobody sent signals
/// they are derived from telemetry, one trace a prompt.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}/metrics",
    operation_id = "get_session_metrics",
    tag = "sessions",
    params(
        ("session_id" = SessionName, Path, description = "The session, percent-encoded"),
        ("signal_weights" = Option<String>, Query, format = "signal-weights",
            description = "A JSON object with weights from 0 to 10 of any of `confidence`, `loop_detection`, `tool_correctness`, `coherence`"),
        ("thresholds" = Option<String>, Query, format = "thresholds",
            description = "A JSON object with the score from 0 to 1 from which `agent_reliability` or `agent_consistency` passes"),
    ),
    responses((status = 200, description = "Both metrics", body = MetricsReply), Refused)
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

/// A JSON object that stands in the query.
fn parameter<T: DeserializeOwned>(query: &Query, name: &str) -> Result<Option<T>, ApiError> {
    let Some(text) = query.text(name)? else { return Ok(None) };
    let parsed = json::parse_strict(text.as_bytes());
    parsed.map(Some).map_err(|error| ApiError::invalid(format!("{name}: {error}")))
}

/// Every metric that there is.
#[derive(Serialize, ToSchema)]
pub(crate) struct RegistryReply {
    #[schema(value_type = Vec<MetricDefinition>)]
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
    responses((status = 200, description = "What there is", body = RegistryReply), Refused)
)]
pub(crate) async fn list() -> Response {
    reply(StatusCode::OK, &RegistryReply { data: registry().into(), next_cursor: None })
}
