//! For whoever runs the server: is it alive, can it write, what are its figures. None of it takes a key.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::{Api, NotReady};
use crate::error::{ApiError, Code, ErrorBody, json};

/// The server answers.
#[derive(Serialize, ToSchema)]
pub(crate) struct HealthReply {
    /// Always `ok`.
    status: &'static str,
    /// The version of the program.
    version: &'static str,
}

/// Is it alive?
#[utoipa::path(get, path = "/health", tag = "operations", security(()),
    responses((status = 200, description = "The server answers", body = HealthReply)))]
pub(crate) async fn health() -> Response {
    json(StatusCode::OK, &HealthReply { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// The store takes writes.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReadyReply {
    /// Always `ready`.
    status: &'static str,
}

/// Can it write?
///
/// Writes to the store and waits until that is durable, at most once a second.
#[utoipa::path(get, path = "/ready", tag = "operations", security(()),
    responses(
        (status = 200, description = "The store takes writes", body = ReadyReply),
        (status = 503, description = "The store cannot write now", body = ErrorBody),
    ))]
pub(crate) async fn ready(State(api): State<Arc<Api>>) -> Result<Response, ApiError> {
    match api.ready().await {
        Ok(()) => Ok(json(StatusCode::OK, &ReadyReply { status: "ready" })),
        Err(NotReady { cause, shown }) => {
            if let Some(error) = cause {
                tracing::warn!(error, "not ready");
            }
            let shown = shown.map(|shown| format!(": {shown}")).unwrap_or_default();
            Err(ApiError::new(Code::StoreUnavailable, format!("the store cannot write now{shown}")))
        }
    }
}

/// Figures for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "operations", security(()),
    responses((status = 200, description = "The figures", body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(State(api): State<Arc<Api>>) -> Response {
    let mut response = api.measures.render().into_response();
    let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, text);
    response
}
