//! What every request gets: an id, a span, metrics, and a reply even if its handler panics.
//!
//! A request has at most one `tracing` span, with its id, method, route and organization. The cause of a 5xx is logged once, here, inside the
//! span. No log line holds a payload, a key or an agent's words.
//!
//! A span costs as much as half a read of a score. So at the level `debug` each request has its span from the start, and every line about
//! it carries its fields. At higher levels the span is created when there is something to log.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use futures_util::FutureExt;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Request, StatusCode, Version};
use tracing::field::Empty;
use tracing::{Instrument, Level, Span};
use uuid::Uuid;

use crate::api::Api;
use crate::auth::{self, Org};
use crate::dispatch::{Arrival, Routes, Target, TaskMode};
use crate::error::{ApiError, Cause, Code, LoadShed};
use crate::limits::{HEAD_BYTES_MAX, HEADER_LIST_BYTES_MAX};
use crate::prometheus::method_name;

/// The status to log and count if it differs from the HTTP status: gRPC replies always have HTTP status 200.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedStatus(pub(crate) StatusCode);

/// Answers one request.
pub(crate) async fn answer(
    api: Arc<Api>,
    routes: Arc<Routes>,
    arrival: Arrival,
    request: Request<Body>,
) -> Response {
    let started = Instant::now();
    let mut buffer = Uuid::encode_buffer();
    let request_id: &str = api.request_id().hyphenated().encode_lower(&mut buffer);
    let target = Target::of(arrival, &request);
    let (method, route) = (method_name(request.method()), target.route());
    let new_span = || tracing::error_span!("request", request_id, method, route, org = Empty);
    let span = if tracing::enabled!(Level::DEBUG) { new_span() } else { Span::none() };
    let answered = match target.task_mode(&request) {
        TaskMode::CancelOnDisconnect => {
            let handled = handle(&api, &routes, arrival, target, request).instrument(span.clone());
            AssertUnwindSafe(handled).catch_unwind().await.ok()
        }
        TaskMode::Detached => {
            let api = Arc::clone(&api);
            let handled = async move { handle(&api, &routes, arrival, target, request).await };
            tokio::spawn(handled.instrument(span.clone())).await.ok()
        }
    };
    let mut response = answered.unwrap_or_else(|| {
        // The panic message may hold a payload. The panic hook logs the location.
        target.refused(ApiError::internal(request_id).because("the handler panicked"))
    });
    let logged = response.extensions().get::<LoggedStatus>().map(|logged| logged.0);
    let (status, took) = (logged.unwrap_or(response.status()), started.elapsed());
    api.metrics.request(method, route, status, took);
    let is_failure = status.is_server_error() && response.extensions().get::<LoadShed>().is_none();
    if is_failure || !span.is_none() {
        let span = if span.is_none() { new_span() } else { span };
        span.in_scope(|| log(&response, status, took, is_failure));
    }
    if let Ok(id) = HeaderValue::from_str(request_id) {
        response.headers_mut().insert(HeaderName::from_static("x-request-id"), id);
    }
    response
}

/// Logs how a request ended, with the cause of a failure. Load shedding is not a failure, and one line per refused request would cost more
/// than the refusal.
fn log(response: &Response, status: StatusCode, took: Duration, is_failure: bool) {
    if let Some(Org(org)) = response.extensions().get() {
        Span::current().record("org", org.as_str());
    }
    let (code, micros) = (status.as_u16(), u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    match response.extensions().get::<Cause>() {
        _ if !is_failure => tracing::debug!(status = code, micros, "request"),
        Some(Cause(cause)) => tracing::error!(status = code, micros, %cause, "request failed"),
        None => tracing::warn!(status = code, micros, "request failed"),
    }
}

async fn handle(
    api: &Arc<Api>,
    routes: &Routes,
    arrival: Arrival,
    target: Target,
    request: Request<Body>,
) -> Response {
    if request.version() == Version::HTTP_2
        && let Err(error) = check_header_list(&request)
    {
        return target.refused(error);
    }
    auth::pass(api, routes, arrival, target, request).await
}

/// Checks the size of the header list of an HTTP/2 request, as the protocol counts it.
fn check_header_list(request: &Request<Body>) -> Result<(), ApiError> {
    const FIELD_BYTES: usize = 32;
    let field = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + FIELD_BYTES;
    let path = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    let bytes = path + request.headers().iter().map(field).sum::<usize>();
    if bytes > HEADER_LIST_BYTES_MAX {
        let error =
            format!("the header list has {bytes} bytes, expected at most {HEADER_LIST_BYTES_MAX} in HTTP/2");
        return Err(ApiError::new(Code::HeadTooLarge, error));
    }
    Ok(())
}

/// Builds the reply to a request head that could not be parsed. It replaces hyper's own reply, which has no body.
pub(crate) fn refuse_head(api: &Api, status: StatusCode, hyper_reply: &str) -> Vec<u8> {
    let error = if status == StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE {
        let error = format!(
            "the head of the request, or the length it announces, is too large: expected at most {HEAD_BYTES_MAX} bytes and 100 headers"
        );
        ApiError::new(Code::HeadTooLarge, error)
    } else {
        ApiError::invalid(
            "the head of the request is malformed: expected a request line, headers and one body length, as in HTTP/1.1",
        )
    };
    let request_id = api.request_id();
    api.metrics.request("other", "other", status, Duration::ZERO);
    tracing::debug!(%request_id, status = status.as_u16(), "refused a malformed request head");
    let body = error.into_body();
    let mut lines = hyper_reply.lines();
    let status_line = lines.next().unwrap_or_default();
    let date =
        lines.find(|line| line.starts_with("date:")).map(|date| format!("{date}\r\n")).unwrap_or_default();
    let head = format!(
        "{status_line}\r\n{date}x-request-id: {request_id}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}
