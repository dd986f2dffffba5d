//! `/health`, `/ready` and `/metrics`, for operators. They need no key.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use renown_core::time::Timestamp;
use renown_store::Ready;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::{Api, NotReady, OtlpPorts};
use crate::error::{ApiError, ErrorBody};
use crate::reply::json;

/// The health of the server.
#[derive(Serialize, ToSchema)]
pub(crate) struct HealthReply {
    /// Always `ok`.
    status: &'static str,
    /// Version of the program.
    version: &'static str,
    /// Port for OTLP over HTTP, which may accept telemetry from this machine without a key; null if it is disabled.
    otlp_http_port: Option<u16>,
    /// Port for OTLP over gRPC; null if it is disabled.
    otlp_grpc_port: Option<u16>,
}

/// Check whether the server is alive
#[utoipa::path(get, path = "/health", tag = "operations", security(()),
    responses((status = 200, description = "The server is alive", body = HealthReply)))]
pub(crate) async fn health(State(api): State<Arc<Api>>) -> Response {
    let OtlpPorts { http, grpc } = api.otlp_ports.get().copied().unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    json(StatusCode::OK, &HealthReply { status: "ok", version, otlp_http_port: http, otlp_grpc_port: grpc })
}

/// The readiness of the store.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReadyReply {
    /// Always `ready`.
    status: &'static str,
    /// Only while the system clock shows an earlier time than already stored evidence, because it was ahead or is late: the time that all
    /// new evidence gets. After five minutes new evidence gets the time of the clock again.
    #[serde(skip_serializing_if = "Option::is_none")]
    standstill: Option<Timestamp>,
}

/// Check whether the store can write
///
/// Writes to the store and waits until the write is durable, at most once per second.
#[utoipa::path(get, path = "/ready", tag = "operations", security(()),
    responses(
        (status = 200, description = "The store can write", body = ReadyReply),
        (status = 503, description = "The store cannot write now", body = ErrorBody),
    ))]
pub(crate) async fn ready(State(api): State<Arc<Api>>) -> Result<Response, ApiError> {
    match api.ready().await {
        Ok(Ready { standstill }) => Ok(json(StatusCode::OK, &ReadyReply { status: "ready", standstill })),
        Err(NotReady { cause, answer: (code, error) }) => {
            let error = ApiError::new(code, error);
            Err(match cause {
                Some(cause) => error.because(cause),
                None => error,
            })
        }
    }
}

/// Read the metrics for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "operations", security(()),
    responses((status = 200, description = "The metrics", body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(State(api): State<Arc<Api>>) -> Response {
    let mut response = api.metrics.render(&api.store.write_waits()).into_response();
    let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, text);
    response
}
