//! For whoever runs the server: is it alive, can it write, what are its figures. None of it takes a key.

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

/// The server answers.
#[derive(Serialize, ToSchema)]
pub(crate) struct HealthReply {
    /// Always `ok`.
    status: &'static str,
    /// The version of the program.
    version: &'static str,
    /// The port that takes OTLP over HTTP, also without a key from this machine; null if there is none.
    otlp_http_port: Option<u16>,
    /// The same for OTLP over gRPC.
    otlp_grpc_port: Option<u16>,
}

/// Is it alive?
#[utoipa::path(get, path = "/health", tag = "operations", security(()),
    responses((status = 200, description = "The server answers", body = HealthReply)))]
pub(crate) async fn health(State(api): State<Arc<Api>>) -> Response {
    let OtlpPorts { http, grpc } = api.otlp_ports.get().copied().unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    json(StatusCode::OK, &HealthReply { status: "ok", version, otlp_http_port: http, otlp_grpc_port: grpc })
}

/// The store takes writes.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReadyReply {
    /// Always `ready`.
    status: &'static str,
    /// The time that everything gets which is accepted now, while the system clock shows an earlier one. It was ahead, or it is
    /// late. After five minutes times follow the clock again.
    #[schema(value_type = Option<String>, format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    standstill: Option<Timestamp>,
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

/// Figures for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "operations", security(()),
    responses((status = 200, description = "The figures", body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(State(api): State<Arc<Api>>) -> Response {
    let mut response = api.measures.render(&api.store.write_waits()).into_response();
    let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, text);
    response
}
