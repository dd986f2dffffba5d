//! The web pages: thin handlers between the store and `renown-pages`.
//!
//! ```text
//! request ─► visit, found by its cookie ─► handler: reads the store, builds views ─► renown-pages ─► HTML
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`visits`] | logins: one-time links, cookies, CSRF tokens |
//! | [`login`] | `/login` and `/logout` |
//! | [`reply`] | HTML with its headers, redirects, errors as pages |
//! | [`form`] | submitted forms, checked against the CSRF token |
//! | [`overview`] | `/` |
//! | [`agent`] | `/agents/{agent_id}` |
//! | [`keys`], [`settings`] | `/keys` and `/settings`, for administrators |
//! | [`public`] | `/public/{slug}` and `/badge/{file}`, without a login |
//! | [`sessions`], [`runs`], [`specs`], [`evaluations`] | the lists of evidence, and the pages of a session, a run and a spec |
//! | [`evals`] | eval runs and schedules |
//! | [`list_query`] | the query parameters of a list |
//! | [`live`] | `/live`: notifies open pages of changes |
//! | [`assets`] | the stylesheet, the script and the icon |
//!
//! **Access.** A page shows only the organization of its visit. Without a visit every page redirects to `/login`, and `/live` is 401. Only
//! `/login`, `/docs`, the assets, and public agents need no visit.
//!
//! Pages are not part of the OpenAPI document, and their requests do not count for rate limits, which are for programs.

mod agent;

mod assets;
mod evals;
mod evaluations;
mod form;
mod keys;
mod list_query;
mod live;
mod login;
mod overview;
mod public;
mod reply;
mod runs;
mod sessions;
mod settings;
mod specs;
pub(crate) mod visits;

use std::sync::Arc;

use axum::Router;
use axum::routing::{MethodRouter, get, post};
use hyper::{HeaderMap, Uri};
use renown_core::time::Timestamp;
use renown_pages::{Member, Section, Shell};

use crate::api::Api;
use reply::PageError;
use visits::Visit;

/// Builds the handlers of a page, by method.
type Methods = fn() -> MethodRouter<Arc<Api>>;

/// All pages with their paths and handlers. A name in braces is any path segment.
const PAGES: [(&str, Methods); 28] = [
    ("/", || get(overview::page)),
    ("/live", || get(live::stream)),
    ("/login", || get(login::page).post(login::with_key)),
    ("/logout", || post(login::log_out)),
    ("/assets/{file}", || get(assets::file)),
    ("/agents/{agent_id}", || get(agent::page)),
    ("/agents/{agent_id}/public", || post(agent::set_public)),
    ("/public/{slug}", || get(public::page)),
    ("/badge/{file}", || get(public::badge)),
    ("/keys", || get(keys::page).post(keys::create)),
    ("/keys/{id}/revoke", || post(keys::revoke)),
    ("/settings", || get(settings::page).post(settings::change)),
    ("/sessions", || get(sessions::list)),
    ("/sessions/{session_id}", || get(sessions::page)),
    ("/runs", || get(runs::list)),
    ("/runs/{run_id}", || get(runs::page)),
    ("/specs", || get(specs::list)),
    ("/specs/{spec_id}", || get(specs::page)),
    ("/evaluations", || get(evaluations::list)),
    ("/eval-runs", || get(evals::list).post(evals::create)),
    ("/eval-runs/{eval_run_id}", || get(evals::page)),
    ("/eval-runs/{eval_run_id}/cancel", || post(evals::cancel)),
    ("/eval-runs/{eval_run_id}/retry", || post(evals::retry)),
    ("/schedules", || get(evals::schedules).post(evals::create_schedule)),
    ("/schedules/{schedule_id}/pause", || post(evals::pause)),
    ("/schedules/{schedule_id}/resume", || post(evals::resume)),
    ("/schedules/{schedule_id}/trigger", || post(evals::trigger)),
    ("/schedules/{schedule_id}/delete", || post(evals::delete)),
];

/// Returns the paths of the pages.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    PAGES.into_iter().map(|(path, _)| path)
}

/// Builds the router of the pages.
pub(crate) fn router() -> Router<Arc<Api>> {
    PAGES.into_iter().fold(Router::new(), |router, (path, methods)| router.route(path, methods()))
}

/// Renders the API reference. It needs no login; with one, it has the navigation bar.
pub(crate) fn reference(api: &Api, headers: &HeaderMap, document: &serde_json::Value) -> reply::Page {
    let (visit, origin) = (api.visits.find(headers, &api.keys), origin(headers));
    let shell = shell(api, visit.as_deref(), &origin, Section::Api);
    reply::html(renown_pages::reference::render(&shell, document))
}

/// Builds the frame of a page: navigation bar, login state, and current time.
fn shell<'a>(api: &Api, visit: Option<&'a Visit>, origin: &'a str, section: Section) -> Shell<'a> {
    let member = visit.map(|visit| Member { administers: visit.administers(), csrf: visit.csrf() });
    // If the clock is obviously wrong, pages are still shown, and ages count from the earliest time.
    let now = api.now().unwrap_or(Timestamp::MIN);
    Shell { section, demo: api.demo, member, now, standalone: false, origin }
}

/// Finds the visit of a request. Without one, the error redirects to the login.
fn visitor(api: &Api, headers: &HeaderMap, uri: &Uri) -> Result<Arc<Visit>, PageError> {
    let next = || uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    api.visits.find(headers, &api.keys).ok_or_else(|| PageError::LoggedOut(next()))
}

/// Returns the origin of this server, as the browser addressed it.
fn origin(headers: &HeaderMap) -> String {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let scheme = if is_https(headers) { "https" } else { "http" };
    format!("{scheme}://{}", text("host").unwrap_or("127.0.0.1:7070"))
}

/// Returns whether a reverse proxy reports that the browser uses TLS.
fn is_https(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|proto| proto.as_bytes().eq_ignore_ascii_case(b"https"))
}
