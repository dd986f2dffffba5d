//! Who may send a request: keys, rate limits, and telemetry without a key from this machine.
//!
//! | target | needs |
//! |---|---|
//! | `/v1/…` | a key, and a request left in the minute of its organization |
//! | telemetry | a key, or the rule in [`loopback`]; the receiver asks for it after it has checked the address ([`telemetry`]) |
//! | pages, documents, probes | nothing here: a page asks for a login itself |

pub(crate) mod loopback;

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use hyper::header::AUTHORIZATION;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request};
use renown_core::ids::OrgId;
use renown_store::{DEFAULT_ORG, KeyKind, StoreError};

use crate::api::Api;
use crate::dispatch::{self, Arrival, Routes, Target};
use crate::error::{ApiError, Code};
use crate::keys::{Caller, KeyProblem, KeyText};
use crate::rate_limit::Rate;

/// Checks the key and the rate limit of a request, then dispatches it.
pub(crate) async fn pass(
    api: &Arc<Api>,
    routes: &Routes,
    arrival: Arrival,
    target: Target,
    mut request: Request<Body>,
) -> Response {
    let mut rate = None;
    if matches!(target, Target::Api(_)) {
        match admit(api, &request, &mut rate) {
            Ok(caller) => {
                note_org(&caller.org);
                request.extensions_mut().insert(caller);
            }
            Err(error) => return with_rate(error.into_response(), rate),
        }
    }
    let response = dispatch::call(api, routes, arrival, target, request, &mut rate).await;
    with_rate(response, rate)
}

/// Adds the organization to the span of the request.
fn note_org(org: &OrgId) {
    tracing::Span::current().record("org", org.as_str());
}

fn with_rate(mut response: Response, rate: Option<Rate>) -> Response {
    if let Some(rate) = rate {
        rate.write(response.headers_mut());
    }
    response
}

/// Finds the caller and counts the request for the rate limit of its organization.
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

/// Finds the organization that telemetry is for, and counts the request for its rate limit.
pub(crate) fn telemetry(
    api: &Api,
    arrival: Arrival,
    parts: &Parts,
    rate: &mut Option<Rate>,
) -> Result<OrgId, ApiError> {
    let org = match caller(api, &parts.headers) {
        Err(error) if error.code() == Code::AuthMissing => {
            loopback::without_key(api.otlp_auth, arrival, &parts.uri, &parts.headers)
                .map_err(|barred| ApiError::new(Code::AuthMissing, barred.to_string()))?;
            let invalid = |_| StoreError::Bug("the default organization is not a valid name");
            DEFAULT_ORG.parse().map_err(invalid)?
        }
        caller => caller?.org.clone(),
    };
    note_org(&org);
    if let Some(limit) = &api.ingests {
        let counted = limit.count(&org, Instant::now());
        *rate = Some(counted);
        counted.check()?;
    }
    Ok(org)
}

/// Finds the caller by the key of a request.
fn caller(api: &Api, headers: &HeaderMap) -> Result<Arc<Caller>, ApiError> {
    let key = bearer(headers)?;
    api.keys.find(&key, api.now().ok()).map_err(|problem| match problem {
        KeyProblem::Unknown => ApiError::new(Code::AuthInvalid, "there is no such key"),
        KeyProblem::Revoked => ApiError::new(Code::AuthRevoked, "the key was revoked"),
    })
}

/// Reads the key from the `Authorization` header.
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
    /// Refuses callers whose key may not administer.
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
