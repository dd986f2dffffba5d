//! Who may send a request: keys, rate limits, and telemetry without a key from this machine.
//!
//! | target | needs |
//! |---|---|
//! | `/v1/…` | a key, and room in the rate limit of its organization |
//! | telemetry | a key, or the rule in [`loopback`]; the receiver calls [`telemetry`] after it has checked port, path and method |
//! | pages, documents, probes | nothing at this stage: pages check the login themselves |

pub(crate) mod loopback;

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use hyper::header::AUTHORIZATION;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request};
use renown_core::ids::OrgId;
use renown_store::{DEFAULT_ORG, KeyKind, ReadError};

use crate::api::Api;
use crate::dispatch::{self, Arrival, Routes, Target};
use crate::error::{ApiError, Cause, Code};
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
    let mut admitted = Admitted::default();
    if matches!(target, Target::Api(_)) {
        match admit(api, &request, &mut admitted.rate) {
            Ok(caller) => {
                admitted.caller = Some(Arc::clone(&caller));
                request.extensions_mut().insert(caller);
            }
            Err(error) => return admitted.describe(error.into_response()),
        }
    }
    let response = dispatch::call(api, routes, arrival, target, request, &mut admitted).await;
    admitted.describe(response)
}

/// What this stage found out about a request.
#[derive(Default)]
pub(crate) struct Admitted {
    rate: Option<Rate>,
    /// The caller of the API.
    caller: Option<Arc<Caller>>,
    /// The organization that telemetry is for.
    telemetry_org: Option<OrgId>,
}

/// The organization of a failed request, for the log. It travels with the response.
#[derive(Clone, Debug)]
pub(crate) struct Org(pub(crate) OrgId);

impl Admitted {
    /// Adds the headers of the rate limit, and what the log needs of a failure.
    fn describe(self, mut response: Response) -> Response {
        if let Some(rate) = self.rate {
            rate.write(response.headers_mut());
        }
        if response.extensions().get::<Cause>().is_some() || response.status().is_server_error() {
            let org = self.telemetry_org.or_else(|| Some(self.caller?.org.clone()));
            if let Some(org) = org {
                response.extensions_mut().insert(Org(org));
            }
        }
        response
    }
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
    admitted: &mut Admitted,
) -> Result<OrgId, ApiError> {
    let org = match caller(api, &parts.headers) {
        Err(error) if error.code() == Code::AuthMissing => {
            loopback::without_key(api.otlp_auth, arrival, &parts.uri, &parts.headers)
                .map_err(|reason| ApiError::new(Code::AuthMissing, reason.to_string()))?;
            let invalid = |_| ReadError::Bug("the default organization is not a valid name");
            DEFAULT_ORG.parse().map_err(invalid)?
        }
        caller => caller?.org.clone(),
    };
    admitted.telemetry_org = Some(org.clone());
    if let Some(limit) = &api.ingests {
        let counted = limit.count(&org, Instant::now());
        admitted.rate = Some(counted);
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
    /// Fails if the caller's key may not administer.
    pub(crate) fn check_administers(&self) -> Result<(), ApiError> {
        match self.kind {
            KeyKind::Secret => Ok(()),
            KeyKind::Publishable => Err(ApiError::new(
                Code::Forbidden,
                "a publishable key may not do this, expected a secret key",
            )),
        }
    }
}
