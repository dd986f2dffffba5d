//! The receivers of telemetry: OTLP over HTTP and over gRPC.
//!
//! ```text
//! request ─► who: a key, or this machine ─► form ─► bytes within the budget ─► inflated ─► records ─► one write ─► reply
//! ```
//!
//! | port | takes |
//! |---|---|
//! | the API's | `POST /otlp/v1/logs`, `/otlp/v1/traces`, `/otlp/v1/metrics` |
//! | OTLP/HTTP | the same, with or without `/otlp` |
//! | OTLP/gRPC | the three `Export` calls, over HTTP/2 |
//!
//! **Who.** A key that is sent has to be right, whatever its kind, and the records are its organization's. Without one they are
//! taken only from this machine on the OTLP ports, by the rule in `auth::loopback`, and go to the default organization.
//!
//! **Limits.** A body has at most 16 MiB, as it arrives and inflated, and at most 150 000 records. All bodies in flight together
//! hold at most 64 MiB until the store has answered; past that it is 503 with `Retry-After`, and in gRPC `RESOURCE_EXHAUSTED`
//! with the time to come back. The limit of `/v1/ingest` per organization counts these requests too.
//!
//! **What is answered.** One body is one write, all or none: what cannot be read is 400 and counts nothing. Records with a
//! number that cannot be are rejected one by one and told in the partial success; events that nobody knows, repeats and records
//! without a session are accepted. An `Idempotency-Key` makes a retry return the first reply, which tells records apart that do
//! not say which they are. Metrics are accepted and dropped without a look. Replies are in the encoding of the request;
//! a head that is no request at all is refused as everywhere.
//!
//! JSON may hold logs and spans in one body, as files do; each is read as what it is.
//!
//! What is deliberately absent: CORS. A web page cannot send telemetry, and no reply has an `Access-Control-` header.
//!
//! A refusal that the head decides does not wait for the body. The rest of the body is read for a moment, so that its sender
//! can read the refusal; a sender that asks first with `Expect` is refused at once.

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
use hyper::{Method, Request, StatusCode, Version};
use renown_core::ids::OrgId;
use renown_telemetry::account::Account;
use renown_telemetry::prices::Prices;
use tokio::sync::Semaphore;

use crate::api::Api;
use crate::auth;
use crate::changes::Changed;
use crate::dispatch::{Arrival, Port};
use crate::error::{ApiError, Code};
use crate::idempotency::{self, Looked, Ticket};

use budget::{Budget, Hold, IN_FLIGHT_BYTES_MAX};
use content_type::Form;
use read::{READERS_MAX, Read};
use reply::Shape;

/// What the receivers share.
pub(crate) struct Telemetry {
    prices: Prices,
    budget: Budget,
    /// Large bodies are read a few at a time.
    readers: Semaphore,
}

impl Telemetry {
    pub(crate) fn new(prices: Prices) -> Self {
        let (budget, readers) = (Budget::new(IN_FLIGHT_BYTES_MAX), Semaphore::new(READERS_MAX));
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
    kind: Option<Kind>,
    shape: Shape,
}

impl Call {
    /// The call that a request is; none where it is for others.
    pub(crate) fn of(arrival: Arrival, request: &Request<Body>) -> Option<Self> {
        let path = request.uri().path();
        let of_path = |path: &str| Kind::ALL.into_iter().find(|kind| kind.path() == path);
        let kind = match arrival.port {
            Port::Api | Port::OtlpHttp if path.starts_with("/otlp/") => of_path(path),
            // Where exporters send that were given the address of the API: they are told where to.
            Port::Api if matches!(path, "/v1/logs" | "/v1/traces") => None,
            Port::Api => return None,
            Port::OtlpHttp => of_path(&format!("/otlp{path}")),
            Port::OtlpGrpc => grpc::kind(path),
        };
        let is_http2 = request.version() == Version::HTTP_2;
        Some(Self { kind, shape: Shape::of(arrival.port, is_http2, request.headers()) })
    }

    /// Its route in metrics and spans. `None` if there is no such receiver.
    pub(crate) fn route(self) -> Option<&'static str> {
        self.kind.map(|kind| match self.shape {
            Shape::Grpc => grpc::method(kind),
            Shape::Json | Shape::Protobuf => kind.path(),
        })
    }

    /// An error in the encoding of the request.
    pub(crate) fn refused(self, error: ApiError) -> Response {
        self.shape.refused(error)
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
    let received = match admitted(api, arrival, call, &parts, &body, by) {
        Ok(admitted) => receive(api, admitted, &parts, &mut body).await,
        // Whoever asks before it sends is not told to go on.
        Err(error) if parts.headers.contains_key(EXPECT) => return call.refused(error),
        Err(error) => Err(error),
    };
    match received {
        Ok(message) => call.shape.accepted(message),
        Err(error) => {
            // A sender that is still sending reads no reply.
            if error.code() != Code::Timeout {
                body::discard(&mut body).await;
            }
            call.refused(error)
        }
    }
}

/// A request whose head says that it can be taken.
struct Admitted {
    org: OrgId,
    kind: Kind,
    form: Form,
    shape: Shape,
}

fn admitted(
    api: &Api,
    arrival: Arrival,
    call: Call,
    parts: &Parts,
    body: &Body,
    by: &mut auth::Admitted,
) -> Result<Admitted, ApiError> {
    if arrival.port == Port::OtlpGrpc && call.shape != Shape::Grpc {
        let error = "this port takes gRPC over HTTP/2, expected the content type application/grpc: OTLP over HTTP has a port of its own, 4318 by default, and the API's port takes it below /otlp";
        return Err(ApiError::new(Code::UnsupportedMediaType, error));
    }
    let kind = call.kind.ok_or_else(|| nothing_here(arrival, parts))?;
    if parts.method != Method::POST {
        return Err(ApiError::new(Code::MethodNotAllowed, "telemetry is sent with POST"));
    }
    let org = auth::telemetry(api, arrival, parts, by)?;
    let form = Form::of(call, kind, &parts.headers)?;
    body::check_length(body, form)?;
    Ok(Admitted { org, kind, form, shape: call.shape })
}

/// Where telemetry goes, for whoever is at the wrong place.
fn nothing_here(arrival: Arrival, parts: &Parts) -> ApiError {
    let error = match arrival.port {
        Port::Api => {
            "there is nothing here: on this port telemetry goes to /otlp/v1/logs, /otlp/v1/traces and /otlp/v1/metrics"
        }
        Port::OtlpHttp if grpc::kind(parts.uri.path()).is_some() => {
            "this port takes OTLP over HTTP: OTLP over gRPC has a port of its own, 4317 by default"
        }
        Port::OtlpHttp => "there is nothing here: telemetry goes to /v1/logs, /v1/traces and /v1/metrics",
        Port::OtlpGrpc => "there is nothing here: telemetry goes to the three Export calls of OTLP",
    };
    ApiError::new(Code::NotFound, error)
}

/// Takes a body in and keeps what it holds; the message of the reply.
async fn receive(
    api: &Arc<Api>,
    admitted: Admitted,
    parts: &Parts,
    body: &mut Body,
) -> Result<Vec<u8>, ApiError> {
    let mut hold = api.telemetry.budget.hold();
    let taken = body::take_in(body, admitted.form, &mut hold, api.limits.body_time_max).await;
    let kept = match taken {
        Ok(bytes) => {
            let Admitted { org, kind, shape, .. } = &admitted;
            let route = format!("POST {} {shape:?}", kind.path());
            let ticket = match idempotency::look(api, org, &route, &parts.headers, &bytes).await? {
                Looked::Replay(saved) => return Ok(saved.body),
                Looked::Fresh(ticket) => ticket,
            };
            // In a task of its own: what waits for the store is there, and counts against the budget, also when its sender is gone.
            let keep = tokio::spawn(keep(Arc::clone(api), admitted, bytes, hold, ticket));
            keep.await.unwrap_or_else(|error| resume_unwind(error.into_panic()))
        }
        Err(error) => Err(error),
    };
    kept.inspect_err(|error| {
        let is_bad = matches!(error.code(), Code::BadJson | Code::ValidationError | Code::TooLarge);
        api.measures.telemetry(&Account { bad_lines: u64::from(is_bad), ..Account::default() });
    })
}

/// Reads the records of a body and writes them; the message of the reply.
async fn keep(
    api: Arc<Api>,
    admitted: Admitted,
    body: Bytes,
    hold: Hold,
    ticket: Ticket,
) -> Result<Vec<u8>, ApiError> {
    let Admitted { org, kind, form, shape } = admitted;
    let Read { batch, rejected, hold } = read::read(&api, body, form, kind, hold).await?;
    let message = shape.message(kind, rejected.as_ref());
    if kind == Kind::Metrics {
        return Ok(message);
    }
    let account = if batch.is_empty() {
        // There is nothing to write, but whoever sends it is told whether there could be.
        api.store.ready().await?;
        batch.account
    } else {
        let once = ticket.once::<Account>(|| {
            let message = message.clone();
            Box::new(move |_| (StatusCode::OK.as_u16(), message))
        });
        let account = api.store.add_records(&org, batch, once).await?;
        api.feed.tell(&org, || Changed::Evidence);
        account
    };
    drop(hold);
    api.measures.telemetry(&account);
    Ok(message)
}
