//! The receivers of telemetry: OTLP over HTTP and over gRPC.
//!
//! ```text
//! request ─► key, or this machine ─► format ─► body within the budget ─► inflated ─► records ─► one write ─► reply
//! ```
//!
//! | port | accepts |
//! |---|---|
//! | API | `POST /otlp/v1/logs`, `/otlp/v1/traces`, `/otlp/v1/metrics` |
//! | OTLP/HTTP | the same, with or without `/otlp` |
//! | OTLP/gRPC | the three `Export` calls, over HTTP/2 |
//!
//! **Authentication.** If a key is sent, it must be valid, of either kind; the records go to its organization. Telemetry without a key is
//! accepted only from this machine on the OTLP ports, by the rule in `auth::loopback`, and goes to the default organization.
//!
//! **Limits.** A body has at most 16 MiB, compressed and decompressed, and at most 150 000 records. All bodies in flight together hold at
//! most 64 MiB until the store has answered. Past that the reply is 503 with `Retry-After`, in gRPC `RESOURCE_EXHAUSTED` with the retry
//! delay. The rate limit of `/v1/ingest` counts these requests too.
//!
//! **Replies.** One body is one write, all or nothing: a body that cannot be parsed is 400 and counts nothing. Records with an invalid number
//! are rejected one by one and reported in the partial success. Unknown events, repeated records and records without a session are
//! accepted. With an `Idempotency-Key` a retry returns the first reply; without one, records that carry no id count again. Metrics are
//! accepted and dropped unread. Replies are in the encoding of the request. A malformed head is refused as on every other port.
//!
//! A JSON body may contain both logs and spans, as files do. Each is read as what it is.
//!
//! What is deliberately absent: CORS. A web page cannot send telemetry, and no reply has an `Access-Control-` header.
//!
//! An error that follows from the head does not wait for the body. The rest of the body is read for a short time, so that the sender can
//! read the error. A sender that sent `Expect: 100-continue` gets the error at once.

mod body;
mod budget;
mod content_type;
mod grpc;
mod read;
mod reply;

use std::panic::resume_unwind;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::header::EXPECT;
use hyper::http::request::Parts;
use hyper::{Method, Request, Version};
use renown_core::ids::OrgId;
use renown_store::{Accepted, Receipt};
use renown_telemetry::account::Account;
use renown_telemetry::prices::Prices;
use tokio::sync::Semaphore;

use crate::api::Api;
use crate::auth;
use crate::dispatch::{Arrival, Port};
use crate::error::{ApiError, Code};
use crate::idempotency::{self, Lookup};
use crate::limits::{OTLP_IN_FLIGHT_BYTES_MAX, OTLP_READERS_MAX};

use budget::{Budget, Reservation};
use content_type::BodyFormat;
use read::Records;
use reply::ReplyEncoding;

/// The state that the receivers share.
pub(crate) struct Telemetry {
    prices: Prices,
    budget: Budget,
    /// Limits how many large bodies are parsed at the same time.
    readers: Semaphore,
}

impl Telemetry {
    pub(crate) fn new(prices: Prices) -> Self {
        let (budget, readers) = (Budget::new(OTLP_IN_FLIGHT_BYTES_MAX), Semaphore::new(OTLP_READERS_MAX));
        Self { prices, budget, readers }
    }
}

/// A kind of telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Logs,
    Traces,
    Metrics,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Logs, Self::Traces, Self::Metrics];

    fn path(self) -> &'static str {
        match self {
            Self::Logs => "/otlp/v1/logs",
            Self::Traces => "/otlp/v1/traces",
            Self::Metrics => "/otlp/v1/metrics",
        }
    }
}

/// A request to the receivers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// `None` if the path is not one of a receiver.
    kind: Option<Kind>,
    reply: ReplyEncoding,
}

impl Call {
    /// Recognizes a request to the receivers. Returns `None` if the request is for the API.
    pub(crate) fn of(arrival: Arrival, request: &Request<Body>) -> Option<Self> {
        let path = request.uri().path();
        let of_path = |path: &str| Kind::ALL.into_iter().find(|kind| kind.path() == path);
        let kind = match arrival.port {
            Port::Api | Port::OtlpHttp if path.starts_with("/otlp/") => of_path(path),
            // Exporters send here if they are configured with the API's address. They get a 404 that names the right paths.
            Port::Api if matches!(path, "/v1/logs" | "/v1/traces") => None,
            Port::Api => return None,
            Port::OtlpHttp => of_path(&format!("/otlp{path}")),
            Port::OtlpGrpc => grpc::kind(path),
        };
        let is_http2 = request.version() == Version::HTTP_2;
        Some(Self { kind, reply: ReplyEncoding::of(arrival.port, is_http2, request.headers()) })
    }

    /// Returns the route's name in metrics and spans, or `None` if there is no such receiver.
    pub(crate) fn route(self) -> Option<&'static str> {
        self.kind.map(|kind| match self.reply {
            ReplyEncoding::Grpc => grpc::method(kind),
            ReplyEncoding::Json | ReplyEncoding::Protobuf => kind.path(),
        })
    }

    /// Builds an error reply in the encoding of the request.
    pub(crate) fn refused(self, error: ApiError) -> Response {
        self.reply.refused(error)
    }
}

/// Answers a request to the receivers.
pub(crate) async fn answer(
    api: &Arc<Api>,
    arrival: Arrival,
    call: Call,
    request: Request<Body>,
    by: &mut auth::Admitted,
) -> Response {
    let (parts, mut body) = request.into_parts();
    let received = match check_head(api, arrival, call, &parts, &body, by) {
        Ok(checked) => receive(api, checked, &parts, &mut body).await,
        // A client that sent `Expect` waits for permission, so there is no body to read.
        Err(error) if parts.headers.contains_key(EXPECT) => return call.refused(error),
        Err(error) => Err(error),
    };
    match received {
        Ok(message) => call.reply.accepted(message),
        Err(error) => {
            // After a timeout the sender is still sending. It would not read the reply, so nothing is drained.
            if error.code() != Code::Timeout {
                body::discard(&mut body).await;
            }
            call.refused(error)
        }
    }
}

/// What the head of an acceptable request says.
struct CheckedHead {
    org: OrgId,
    kind: Kind,
    format: BodyFormat,
    reply: ReplyEncoding,
}

/// Checks the head of a request: port, path, method, key, rate limit, content type and announced length.
fn check_head(
    api: &Api,
    arrival: Arrival,
    call: Call,
    parts: &Parts,
    body: &Body,
    by: &mut auth::Admitted,
) -> Result<CheckedHead, ApiError> {
    if arrival.port == Port::OtlpGrpc && call.reply != ReplyEncoding::Grpc {
        let error = "this port accepts only gRPC over HTTP/2, expected the content type application/grpc; send OTLP over HTTP to its own port, 4318 by default, or to the API's port below /otlp";
        return Err(ApiError::new(Code::UnsupportedMediaType, error));
    }
    let kind = call.kind.ok_or_else(|| no_receiver(arrival, parts))?;
    if parts.method != Method::POST {
        return Err(ApiError::new(Code::MethodNotAllowed, "telemetry must be sent with POST"));
    }
    let org = auth::telemetry(api, arrival, parts, by)?;
    let format = BodyFormat::of(call, kind, &parts.headers)?;
    body::check_length(body, format)?;
    Ok(CheckedHead { org, kind, format, reply: call.reply })
}

/// Builds the error for a path without a receiver. It names the right paths or port.
fn no_receiver(arrival: Arrival, parts: &Parts) -> ApiError {
    let error = match arrival.port {
        Port::Api => {
            "there is no such route: on this port send telemetry to /otlp/v1/logs, /otlp/v1/traces and /otlp/v1/metrics"
        }
        Port::OtlpHttp if grpc::kind(parts.uri.path()).is_some() => {
            "this port accepts OTLP over HTTP: send OTLP over gRPC to its own port, 4317 by default"
        }
        Port::OtlpHttp => "there is no such route: send telemetry to /v1/logs, /v1/traces and /v1/metrics",
        Port::OtlpGrpc => "there is no such call: send telemetry to the three Export calls of OTLP",
    };
    ApiError::new(Code::NotFound, error)
}

/// Reads a body and stores its records. Returns the message of the reply.
async fn receive(
    api: &Arc<Api>,
    checked: CheckedHead,
    parts: &Parts,
    body: &mut Body,
) -> Result<Vec<u8>, ApiError> {
    let mut reservation = api.telemetry.budget.reserve();
    let read = body::read(body, checked.format, &mut reservation, api.limits.body_time_max).await;
    let stored = match read {
        Ok(bytes) => {
            let CheckedHead { org, kind, reply, .. } = &checked;
            let route = format!("POST {} {reply:?}", kind.path());
            let lookup = idempotency::look_up(api, org, &route, &parts.headers, &bytes).await?;
            // In a task of its own: a write that waits for the store keeps its part of the budget even if its client disconnects.
            let store = tokio::spawn(store(Arc::clone(api), checked, bytes, reservation, lookup));
            store.await.unwrap_or_else(|error| resume_unwind(error.into_panic()))
        }
        Err(error) => Err(error),
    };
    stored.inspect_err(|error| {
        let is_bad = matches!(error.code(), Code::BadJson | Code::ValidationError | Code::TooLarge);
        api.metrics.telemetry(&Account { bad_lines: u64::from(is_bad), ..Account::default() });
    })
}

/// Parses the records of a body and stores them, unless the same request was accepted before. Returns the message of the reply, which
/// follows from the body.
async fn store(
    api: Arc<Api>,
    checked: CheckedHead,
    body: Bytes,
    reservation: Reservation,
    lookup: Lookup,
) -> Result<Vec<u8>, ApiError> {
    let CheckedHead { org, kind, format, reply } = checked;
    let Records { batch, rejected, reservation } = read::read(&api, body, format, kind, reservation).await?;
    let message = reply.message(kind, rejected.as_ref());
    if kind == Kind::Metrics {
        return Ok(message);
    }
    let accepted = match lookup {
        Lookup::Replay(receipt) => Accepted::Replayed(receipt),
        Lookup::Fresh(_) if batch.is_empty() => {
            // There is nothing to write, but the sender still learns whether the store is ready.
            api.store.ready().await?;
            Accepted::Fresh(batch.account)
        }
        Lookup::Fresh(guard) => {
            let accepted = api.store.add_records(&org, batch, guard.request_key()).await?;
            api.changes.evidence(&org);
            accepted
        }
    };
    drop(reservation);
    match accepted {
        Accepted::Fresh(account) => api.metrics.telemetry(&account),
        Accepted::Replayed(Receipt::Records) => {}
        Accepted::Replayed(_) => return Err(idempotency::foreign_receipt()),
        Accepted::Conflict => return Err(idempotency::conflict()),
    }
    Ok(message)
}
