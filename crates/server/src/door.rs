//! What every request passes, in one place: its id, its key, its rate limit, its figures, and the net under panics.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, StatusCode, Version};
use renown_store::KeyKind;
use tower_service::Service;
use uuid::Uuid;

use crate::accept::{HEAD_BYTES_MAX, HEADER_LIST_BYTES_MAX};
use crate::api::Api;
use crate::error::{ApiError, Code, Shed};
use crate::keys::{Caller, KeyProblem, KeyText};
use crate::otlp::{self, Arrival, Call, Told};
use crate::prometheus::{method_name, route};
use crate::rate_limit::Rate;
use crate::routes::{evaluate, ingest, reputation};

/// Answers one request, whatever happens.
pub(crate) async fn answer(
    api: Arc<Api>,
    router: Router,
    arrival: Arrival,
    request: Request<Body>,
) -> Response {
    let started = Instant::now();
    let mut buffer = Uuid::encode_buffer();
    let request_id: &str = api.request_id().hyphenated().encode_lower(&mut buffer);
    let call = Call::of(arrival, &request);
    let method = method_name(request.method());
    let route = call.map_or_else(|| route(request.uri().path()), Call::route);
    let answered = if is_finished_alone(&request) {
        let api = Arc::clone(&api);
        tokio::spawn(async move { pass(&api, router, arrival, call, request).await }).await.ok()
    } else {
        AssertUnwindSafe(pass(&api, router, arrival, call, request)).catch_unwind().await.ok()
    };
    let mut response = answered.unwrap_or_else(|| {
        // What the panic said may hold a payload; where it was is printed by the hook.
        tracing::error!(request_id, method, "a request panicked");
        refused(call, ApiError::internal(request_id))
    });
    let told = response.extensions().get::<Told>().map(|told| told.0);
    let (status, took) = (told.unwrap_or(response.status()), started.elapsed());
    api.measures.request(method, route, status, took);
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    // A server that is asked for too much says so to its clients; a line for each of them would cost more than the refusal.
    if status.is_server_error() && response.extensions().get::<Shed>().is_none() {
        tracing::warn!(request_id, method, status = status.as_u16(), micros, "request failed");
    } else {
        tracing::debug!(request_id, method, status = status.as_u16(), micros, "request");
    }
    if let Ok(id) = HeaderValue::from_str(request_id) {
        response.headers_mut().insert(HeaderName::from_static("x-request-id"), id);
    }
    response
}

/// Whether a request is finished even when its client goes away, which would else stop it where it waits. A key that is
/// revoked in the store has to leave the ring too, and an idempotency key that is let go while its write still waits would
/// let a retry count twice. All other writes are one step, done or not.
fn is_finished_alone(request: &Request<Body>) -> bool {
    let path = request.uri().path();
    !request.method().is_safe()
        && (request.headers().contains_key("idempotency-key")
            || path.starts_with("/v1/keys")
            || path.starts_with("/keys"))
}

/// A refusal, in the encoding of its request where that is telemetry.
fn refused(call: Option<Call>, error: ApiError) -> Response {
    match call {
        Some(call) => call.shape.refused(error),
        None => error.into_response(),
    }
}

async fn pass(
    api: &Arc<Api>,
    mut router: Router,
    arrival: Arrival,
    call: Option<Call>,
    mut request: Request<Body>,
) -> Response {
    if request.version() == Version::HTTP_2
        && let Err(error) = check_header_list(&request)
    {
        return refused(call, error);
    }
    let mut rate = None;
    if let Some(call) = call {
        let response = otlp::answer(api, arrival, call, request, &mut rate).await;
        return with_rate(response, rate);
    }
    if request.uri().path().starts_with("/v1/") {
        match admit(api, &request, &mut rate) {
            Ok(caller) => {
                request.extensions_mut().insert(caller);
            }
            Err(error) => return with_rate(error.into_response(), rate),
        }
    }
    let response = match hot(api, request).await {
        Ok(response) => response,
        Err(request) => router.call(request).await.into_response(),
    };
    with_rate(response, rate)
}

/// Answers the three routes that are asked most, before the router, whose matching and boxing costs as much as the rest of
/// such a request. The router has them too: it makes the document and refuses other methods. None of them takes a
/// parameter, which the router refuses as well.
async fn hot(api: &Arc<Api>, mut request: Request<Body>) -> Result<Response, Request<Body>> {
    if request.uri().query().is_some() {
        return Err(request);
    }
    let path = request.uri().path();
    let agent = path.strip_prefix("/v1/reputation/").filter(|_| request.method() == Method::GET);
    if let Some(agent) = agent.filter(|agent| agent.bytes().all(|byte| !matches!(byte, b'/' | b'%'))) {
        let Ok(agent) = agent.parse() else { return Err(request) };
        let Some(caller) = request.extensions_mut().remove::<Arc<Caller>>() else { return Err(request) };
        return Ok(reputation::read(api, &caller, &agent).await.into_response());
    }
    let is_evaluate = path == "/v1/evaluate";
    if request.method() != Method::POST || !(is_evaluate || path == "/v1/ingest") {
        return Err(request);
    }
    let Some(caller) = request.extensions_mut().remove::<Arc<Caller>>() else { return Err(request) };
    let (state, caller) = (State(Arc::clone(api)), Extension(caller));
    let (parts, body) = request.into_parts();
    let answered = if is_evaluate {
        evaluate::evaluate(state, caller, parts.headers, body).await
    } else {
        ingest::ingest(state, caller, parts.headers, body).await
    };
    Ok(answered.into_response())
}

fn with_rate(mut response: Response, rate: Option<Rate>) -> Response {
    if let Some(rate) = rate {
        rate.write(response.headers_mut());
    }
    response
}

/// Who asks, if that is somebody who may ask now.
fn admit(api: &Api, request: &Request<Body>, rate: &mut Option<Rate>) -> Result<Arc<Caller>, ApiError> {
    let caller = caller(api, request.headers())?;
    let is_ingest = request.method() == Method::POST && request.uri().path() == "/v1/ingest";
    if let Some(limit) = if is_ingest { &api.ingests } else { &api.requests } {
        let counted = limit.count(&caller.org, Instant::now());
        *rate = Some(counted);
        counted.check()?;
    }
    Ok(caller)
}

/// Whose key a request carries.
pub(crate) fn caller(api: &Api, headers: &HeaderMap) -> Result<Arc<Caller>, ApiError> {
    let key = bearer(headers)?;
    api.keys.find(&key, api.now().ok()).map_err(|problem| match problem {
        KeyProblem::Unknown => ApiError::new(Code::AuthInvalid, "there is no such key"),
        KeyProblem::Revoked => ApiError::new(Code::AuthRevoked, "the key was revoked"),
    })
}

/// The key that a request carries.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<KeyText, ApiError> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let Some(header) = sent.next() else {
        return Err(ApiError::new(Code::AuthMissing, "no Authorization header, expected `Bearer` and a key"));
    };
    let refused = |_| {
        let error = "the Authorization header is not `Bearer` and a key: expected rn_pub_ or rn_sec_ and 32 characters of 0-9, A-Z, a-z";
        ApiError::new(Code::AuthFormat, error)
    };
    let text = header.to_str().ok().filter(|_| sent.next().is_none());
    let key = text
        .and_then(|text| text.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    key.map(|(_, key)| key.trim()).unwrap_or_default().parse().map_err(refused)
}

impl Caller {
    /// Whether it may administer.
    pub(crate) fn administers(&self) -> Result<(), ApiError> {
        match self.kind {
            KeyKind::Secret => Ok(()),
            KeyKind::Publishable => Err(ApiError::new(
                Code::Forbidden,
                "a publishable key may not do this, expected a secret key",
            )),
        }
    }
}

/// Whether a request of HTTP/2 has a header list that is small enough, as the protocol counts it.
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

/// The reply to a head that never became a request, in place of the one without a body that hyper would send.
pub(crate) fn refuse_head(api: &Api, status: StatusCode, hypers: &str) -> Vec<u8> {
    let error = if status == StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE {
        let error = format!(
            "the head of the request, or the length it names, is too large: expected at most {HEAD_BYTES_MAX} bytes and 100 headers"
        );
        ApiError::new(Code::HeadTooLarge, error)
    } else {
        let error = "the head of the request cannot be read: expected a request line, headers and one length of the body, as in HTTP/1.1";
        ApiError::invalid(error)
    };
    let request_id = api.request_id();
    api.measures.request("other", "other", status, Duration::ZERO);
    tracing::debug!(%request_id, status = status.as_u16(), "a head was refused");
    let body = error.into_body();
    let mut lines = hypers.lines();
    let status_line = lines.next().unwrap_or_default();
    let date =
        lines.find(|line| line.starts_with("date:")).map(|date| format!("{date}\r\n")).unwrap_or_default();
    let head = format!(
        "{status_line}\r\n{date}x-request-id: {request_id}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}

/// What is answered where no route is.
pub(crate) async fn no_route() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such route: see /docs")
}

/// What is answered where a route has other methods.
pub(crate) async fn no_method() -> ApiError {
    ApiError::new(Code::MethodNotAllowed, "the route does not have this method: see /docs")
}
