//! Dispatches a request to a telemetry receiver, one of three hot routes, or the router.
//!
//! The names of routes in metrics and spans come from the router's own lists: the paths of the OpenAPI document and of the pages.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use hyper::{Method, Request};
use tower_service::Service;

use crate::api::Api;
use crate::auth::Admitted;
use crate::error::{ApiError, Code};
use crate::keys::Caller;
use crate::otlp::{self, Call};
use crate::pages;
use crate::routes::{self, evaluate, ingest, reputation};

/// The protocol that a port serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Port {
    Api,
    OtlpHttp,
    OtlpGrpc,
}

/// How a connection reached the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) port: Port,
    pub(crate) listener_is_loopback: bool,
    pub(crate) peer_is_loopback: bool,
}

/// What becomes of a handler when its client disconnects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskMode {
    /// The handler is dropped where it waits. Fine for reads, and for writes that are one step: done or not done.
    CancelOnDisconnect,
    /// The handler runs to its end. A key that is revoked in the store must also leave the key ring, and an idempotency key that is released
    /// while its write still waits would let a retry count twice.
    Detached,
}

/// The routes whose unsafe methods are [`TaskMode::Detached`] even without an `Idempotency-Key`.
const DETACHED: [&str; 4] = ["/v1/keys", "/v1/keys/{id}", "/keys", "/keys/{id}/revoke"];

/// The name of every path that is not a route, in metrics and spans.
const OTHER: &str = "other";

/// Names of routes by path.
static NAMES: LazyLock<matchit::Router<&'static str>> = LazyLock::new(|| {
    let mut names = matchit::Router::new();
    let documented = routes::openapi().paths.paths.into_keys().map(|path| &*path.leak());
    for path in documented.chain(pages::paths()) {
        // A test checks that every path is found, so none conflicts with another.
        let _ = names.insert(path, path);
    }
    names
});

/// Returns the route of a path. The result is a name of ours, so clients cannot make up metric labels.
fn route_of(path: &str) -> &'static str {
    NAMES.at(path).map_or(OTHER, |found| found.value)
}

/// What a request is for, according to its port and path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// The telemetry receivers.
    Telemetry(Call),
    /// A path below `/v1`, which needs a key, with its route.
    Api(&'static str),
    /// Pages, documents and probes, with their route.
    Open(&'static str),
}

impl Target {
    pub(crate) fn of(arrival: Arrival, request: &Request<Body>) -> Self {
        let path = request.uri().path();
        match Call::of(arrival, request) {
            Some(call) => Self::Telemetry(call),
            None if path.starts_with("/v1/") => Self::Api(route_of(path)),
            None => Self::Open(route_of(path)),
        }
    }

    /// Returns the route's name in metrics and spans.
    pub(crate) fn route(self) -> &'static str {
        match self {
            Self::Telemetry(call) => call.route().unwrap_or(OTHER),
            Self::Api(route) | Self::Open(route) => route,
        }
    }

    /// Returns what becomes of the handler when its client disconnects.
    pub(crate) fn task_mode(self, request: &Request<Body>) -> TaskMode {
        let is_detached =
            request.headers().contains_key("idempotency-key") || DETACHED.contains(&self.route());
        if is_detached && !request.method().is_safe() {
            TaskMode::Detached
        } else {
            TaskMode::CancelOnDisconnect
        }
    }

    /// Builds an error reply in the encoding that the client reads.
    pub(crate) fn refused(self, error: ApiError) -> Response {
        match self {
            Self::Telemetry(call) => call.refused(error),
            Self::Api(_) | Self::Open(_) => error.into_response(),
        }
    }
}

/// The router of a server.
pub(crate) struct Routes(Router);

impl Routes {
    pub(crate) fn new(api: &Arc<Api>) -> Self {
        let router = routes::router()
            .merge(pages::router())
            .fallback(no_route)
            .method_not_allowed_fallback(no_method)
            .with_state(Arc::clone(api));
        Self(router)
    }
}

/// Calls the code that a request is for.
pub(crate) async fn call(
    api: &Arc<Api>,
    routes: &Routes,
    arrival: Arrival,
    target: Target,
    request: Request<Body>,
    admitted: &mut Admitted,
) -> Response {
    match target {
        Target::Telemetry(call) => otlp::answer(api, arrival, call, request, admitted).await,
        Target::Api(_) | Target::Open(_) => match hot(api, request).await {
            Ok(response) => response,
            Err(request) => routes.0.clone().call(request).await.into_response(),
        },
    }
}

/// Answers the three busiest routes without the router, whose matching and boxing costs as much as the rest of such a request. The
/// router has them too: it makes the document and refuses other methods. None of them has query parameters, and the router refuses those.
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

/// The reply to a path without a route.
async fn no_route() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such route: see /docs")
}

/// The reply to a method that the route does not have.
async fn no_method() -> ApiError {
    ApiError::new(Code::MethodNotAllowed, "the route does not have this method: see /docs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_routes_and_never_ids() {
        for (path, expected) in [
            ("/v1/evaluate", "/v1/evaluate"),
            ("/v1/reputation/a", "/v1/reputation/{agent_id}"),
            ("/v1/reputation/a/explain", "/v1/reputation/{agent_id}/explain"),
            ("/v1/reputation/a/history", "/v1/reputation/{agent_id}/history"),
            ("/v1/reputation/a/b", OTHER),
            ("/v1/keys/1", "/v1/keys/{id}"),
            ("/v1/runs/r", "/v1/runs/{run_id}"),
            ("/v1/runs/r/score", "/v1/runs/{run_id}/score"),
            ("/v1/runs/r/score/x", OTHER),
            ("/v1/specs/s/competition", "/v1/specs/{spec_id}/competition"),
            ("/v1/identities/i/events", "/v1/identities/{identity_id}/events"),
            ("/", "/"),
            ("/agents/a%2Fb", "/agents/{agent_id}"),
            ("/agents/a/b", OTHER),
            ("/agents/", OTHER),
            ("/assets/x.css", "/assets/{file}"),
            ("//", OTHER),
        ] {
            assert_eq!(route_of(path), expected, "{path}");
        }
    }

    #[test]
    fn every_route_is_its_own_label() {
        let documented = routes::openapi().paths.paths.into_keys();
        for path in documented.chain(pages::paths().map(str::to_owned)) {
            assert_eq!(route_of(&path), path);
        }
        for route in DETACHED {
            assert_eq!(route_of(route), route);
        }
    }
}
