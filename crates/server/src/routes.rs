//! The routes, one file per group, and the OpenAPI document that is generated from them.

pub(crate) mod agents;
pub(crate) mod docs;
pub(crate) mod eval_runs;
pub(crate) mod evaluate;
pub(crate) mod events;
pub(crate) mod identities;
mod in_place;
pub(crate) mod ingest;
pub(crate) mod keys;
pub(crate) mod operations;
pub(crate) mod overview;
pub(crate) mod paths;
pub(crate) mod reputation;
pub(crate) mod runs;
pub(crate) mod schedules;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod standing;
pub(crate) mod stream;

use std::sync::Arc;

use axum::{Router, middleware};
use utoipa::openapi::OpenApi as Document;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{IntoResponses, Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::Api;
use crate::error::ErrorBody;
use crate::query::{self, Parameters};

/// The errors that every route under `/v1` may return.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "a list of statuses for the document; `ApiError` builds the replies")]
pub(crate) enum ErrorReplies {
    /// `bad_json` or `validation_error`: the request contains an invalid value.
    #[response(status = 400)]
    BadRequest(ErrorBody),
    /// `auth_missing`, `auth_format`, `auth_invalid` or `auth_revoked`: the request has no valid key.
    #[response(status = 401)]
    Unauthorized(ErrorBody),
    /// `forbidden`: the key does not have the permission.
    #[response(status = 403)]
    Forbidden(ErrorBody),
    /// `not_found`: the route or the resource does not exist.
    #[response(status = 404)]
    NotFound(ErrorBody),
    /// `method_not_allowed`: the route does not have this method.
    #[response(status = 405)]
    MethodNotAllowed(ErrorBody),
    /// `timeout`: the body did not arrive in time.
    #[response(status = 408)]
    Timeout(ErrorBody),
    /// `conflict`: the request conflicts with an earlier one, for example because its `Idempotency-Key` was used for another request or
    /// for one that is still in flight.
    #[response(status = 409)]
    Conflict(ErrorBody),
    /// `too_large`: the body is larger than 1 MiB.
    #[response(status = 413)]
    TooLarge(ErrorBody),
    /// `unsupported_media_type`: the content type is not JSON.
    #[response(status = 415)]
    UnsupportedMediaType(ErrorBody),
    /// `rate_limited`: the rate limit of the organization is reached; retry after `Retry-After` seconds.
    #[response(status = 429)]
    RateLimited(ErrorBody),
    /// `head_too_large`: the head of the request is larger than 64 KiB (16 KiB in HTTP/2) or has more than 100 headers.
    #[response(status = 431)]
    HeadTooLarge(ErrorBody),
    /// `internal`: an internal error; the log of the server has the cause under the request id.
    #[response(status = 500)]
    Internal(ErrorBody),
    /// `overloaded`, `store_unavailable` or `clock`: retry after `Retry-After` seconds.
    #[response(status = 503)]
    Unavailable(ErrorBody),
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Renown",
        description = "Shows whether you can trust the work of an AI agent. Send outputs or verdicts, read reputations.\n\n\
            Every route under `/v1` needs `Authorization: Bearer <key>`. A 2xx reply to a write means: the data is durable, counted exactly \
            once, and visible to every read that starts later. Every reply has an `X-Request-Id`. Times are RFC 3339 in UTC; in requests \
            they may also be whole milliseconds after 1970. Unknown and repeated query parameters and fields are refused, but \
            `/v1/evaluate`, `/v1/ingest` and `/v1/runs` ignore unknown fields and list them in `warnings`. Every POST accepts an \
            `Idempotency-Key` of 1 to 200 characters: a retry within 24 hours returns the first reply.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    security(("key" = [])),
    modifiers(&Security),
    tags(
        (name = "evaluations", description = "Verdicts on outputs, and the list of all evaluations"),
        (name = "reputation", description = "Agents and their reputation"),
        (name = "runs", description = "Scorecards of finished runs, and rankings of agents"),
        (name = "sessions", description = "Live sessions of agents, and the metrics of their traces"),
        (name = "evals", description = "Session metrics over many sessions, on request or by a schedule"),
        (name = "identities", description = "Long-term reputation of identities"),
        (name = "keys", description = "API keys; these routes need a secret key"),
        (name = "operations", description = "Health, metrics and settings of the server"),
    )
)]
struct Described;

struct Security;

impl Modify for Security {
    fn modify(&self, document: &mut Document) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some(
                "An `rn_pub_…` key sends evidence and reads data, an `rn_sec_…` key may also administer.",
            ))
            .build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("key", SecurityScheme::Http(scheme));
    }
}

fn described() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::with_openapi(Described::openapi())
        .routes(routes!(evaluate::evaluate))
        .routes(routes!(ingest::ingest))
        .routes(routes!(events::events))
        .routes(routes!(reputation::reputation))
        .routes(routes!(reputation::explain))
        .routes(routes!(reputation::history))
        .routes(routes!(agents::list, agents::add))
        .routes(routes!(overview::overview))
        .routes(routes!(overview::breakdown))
        .routes(routes!(standing::standing, standing::publish, standing::erase))
        .routes(routes!(runs::submit, runs::list))
        .routes(routes!(runs::run))
        .routes(routes!(runs::score))
        .routes(routes!(runs::competition::ranking))
        .routes(routes!(sessions::list))
        .routes(routes!(sessions::session))
        .routes(routes!(sessions::performance))
        .routes(routes!(sessions::records))
        .routes(routes!(sessions::add_signals))
        .routes(routes!(sessions::metrics::of_session))
        .routes(routes!(sessions::metrics::list))
        .routes(routes!(eval_runs::list, eval_runs::create))
        .routes(routes!(eval_runs::run))
        .routes(routes!(eval_runs::scores))
        .routes(routes!(eval_runs::cancel))
        .routes(routes!(eval_runs::retry))
        .routes(routes!(schedules::list, schedules::create))
        .routes(routes!(schedules::schedule, schedules::update, schedules::delete))
        .routes(routes!(schedules::pause))
        .routes(routes!(schedules::resume))
        .routes(routes!(schedules::trigger))
        .routes(routes!(schedules::runs))
        .routes(routes!(identities::add))
        .routes(routes!(identities::reputation))
        .routes(routes!(identities::events))
        .routes(routes!(settings::read, settings::change))
        .routes(routes!(keys::list, keys::create))
        .routes(routes!(keys::revoke))
        .routes(routes!(stream::stream))
        .routes(routes!(operations::health))
        .routes(routes!(operations::ready))
        .routes(routes!(operations::metrics))
        .routes(routes!(docs::document))
        .routes(routes!(docs::page))
}

/// The routes of the API.
pub(crate) fn router() -> Router<Arc<Api>> {
    let (router, document) = described().split_for_parts();
    let parameters = Arc::new(Parameters::of(&document));
    router.route_layer(middleware::from_fn_with_state(parameters, query::check))
}

/// Builds the OpenAPI document.
pub fn openapi() -> Document {
    let mut document = described().split_for_parts().1;
    in_place::show(&mut document);
    document
}
