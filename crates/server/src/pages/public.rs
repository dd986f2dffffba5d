//! The public page and the badge of a published agent. They need no login.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use hyper::HeaderMap;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use renown_core::ids::{AgentId, OrgId, Slug};
use renown_pages::Section;
use renown_pages::agent::Audience;
use renown_pages::badge::Badge;

use super::reply::{Page, PageError};
use super::{agent, origin, shell};
use crate::api::Api;
use crate::routes::paths::{Segment, segment};

/// Finds the public agent with a name.
async fn public(api: &Api, slug: &str) -> Result<(OrgId, AgentId), PageError> {
    let nothing = || PageError::not_found("there is no public agent with this name");
    let slug: Slug = slug.parse().map_err(|_| nothing())?;
    api.store.public_agent(&slug).await?.ok_or_else(nothing)
}

/// Shows the page of a public agent.
pub(super) async fn page(State(api): State<Arc<Api>>, path: Segment, headers: HeaderMap) -> Page {
    let slug: String = segment(path, "slug")?;
    let (org, agent) = public(&api, &slug).await?;
    let origin = origin(&headers);
    let shell = shell(&api, None, &origin, Section::Other);
    agent::show(&api, &shell, &org, agent, Audience::Public).await
}

/// Returns the badge of a public agent: `NAME.svg`, or `NAME.json` for shields.io.
pub(super) async fn badge(State(api): State<Arc<Api>>, path: Segment) -> Result<Response, PageError> {
    let file: String = segment(path, "badge")?;
    let (slug, extension) = file.rsplit_once('.').unwrap_or((&file, ""));
    let content_type = match extension {
        "svg" => "image/svg+xml",
        "json" => "application/json",
        _ => return Err(PageError::not_found("there is no such badge, expected NAME.svg or NAME.json")),
    };
    let (org, agent) = public(&api, slug).await?;
    let standing = api.store.tally(&org, &agent).await?.standing();
    let lifecycle = standing.lifecycle;
    let badge = Badge::of(standing.score, lifecycle, standing.eval_count, api.attention_below);
    let text = if extension == "svg" { badge.svg() } else { badge.shields() };
    // Other sites embed the badge. Caching it for a minute limits the load.
    Ok(([(CONTENT_TYPE, content_type), (CACHE_CONTROL, "public, max-age=60")], text).into_response())
}
