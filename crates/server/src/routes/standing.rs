//! `/v1/agents/{agent_id}`: everything known about an agent, its publication, and its erasure.
//!
//! The tier is the tier of the latest run with a score. A second `DELETE` is 404.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};
use renown_core::hex;
use renown_core::identity::identity_of;
use renown_core::ids::{AgentId, OrgId, Slug};
use renown_core::json;
use renown_core::time::Timestamp;
use renown_store::{Publication, PublicationChange, Published, RunQuery, SessionQuery};
use renown_view::standing::{RUNS_SHOWN, SESSIONS_SHOWN};
use renown_view::{AgentFacts, AgentStanding};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::ErrorReplies;
use super::paths::Segment;
use super::reputation::agent_of;
use crate::api::Api;
use crate::body::read_json;
use crate::error::{ApiError, Code};
use crate::keys::Caller;
use crate::query::{Query, refused};
use crate::reply::json as reply;

/// Read everything about an agent
///
/// For an unknown agent, all scores are 0 and all lists are empty.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}",
    operation_id = "get_agent",
    tag = "reputation",
    params(("agent_id" = AgentId, Path, description = "The agent, percent-encoded")),
    responses((status = 200, description = "Everything known about the agent", body = AgentStanding<'_>), ErrorReplies)
)]
pub(crate) async fn standing(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    let facts = facts(&api, &caller.org, agent_of(path)?, api.now()?).await?;
    Ok(reply(StatusCode::OK, &facts.standing()))
}

/// Reads everything that the store knows about an agent.
pub(crate) async fn facts(
    api: &Api,
    org: &OrgId,
    agent: AgentId,
    as_of: Timestamp,
) -> Result<AgentFacts, ApiError> {
    let runs = RunQuery { agent: Some(agent.clone()), limit: RUNS_SHOWN, ..RunQuery::default() };
    let sessions =
        SessionQuery { agent: Some(agent.clone()), limit: SESSIONS_SHOWN, ..SessionQuery::default() };
    let (known, publication, tally, runs, sessions, identity) = tokio::join!(
        api.store.agent(org, &agent),
        api.store.publication(org, &agent),
        api.store.tally(org, &agent),
        api.store.runs(org, runs),
        api.store.sessions(org, sessions),
        api.store.identity_windows(org, identity_of(org, &agent), as_of),
    );
    Ok(AgentFacts {
        org: org.clone(),
        known: known?,
        publication: publication?.unwrap_or_default(),
        tally: tally?,
        runs: runs?.runs,
        sessions: sessions?.sessions,
        identity: identity?,
        agent,
        as_of,
    })
}

/// The publication of an agent to change.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PublishRequest)]
pub(crate) struct PublishRequest {
    /// Whether the agent is public; default: as before.
    public: Option<bool>,
    /// Name in the public address; default: the current name, or one derived from the id.
    slug: Option<Slug>,
}

/// The publication of an agent.
#[derive(Serialize, ToSchema)]
#[schema(as = PublishReply)]
pub(crate) struct PublishReply<'s> {
    agent_id: &'s AgentId,
    public: bool,
    slug: Option<Slug>,
}

/// Publish or unpublish an agent
///
/// A public agent has a page and a badge that need no login. Needs a secret key.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}",
    operation_id = "publish_agent",
    tag = "reputation",
    params(("agent_id" = AgentId, Path, description = "The agent, percent-encoded")),
    request_body = PublishRequest,
    responses((status = 200, description = "The new publication", body = PublishReply<'_>), ErrorReplies)
)]
pub(crate) async fn publish(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    let agent_id = agent_of(path)?;
    let body = read_json(&headers, body, api.limits.body_time_max).await?;
    let PublishRequest { public, slug } = json::parse_strict(&body)?;
    let Publication { public, slug } = set_public(&api, &caller.org, &agent_id, public, slug).await?;
    Ok(reply(StatusCode::OK, &PublishReply { agent_id: &agent_id, public, slug }))
}

/// Publishes or unpublishes an agent.
pub(crate) async fn set_public(
    api: &Api,
    org: &OrgId,
    agent_id: &AgentId,
    public: Option<bool>,
    slug: Option<Slug>,
) -> Result<Publication, ApiError> {
    // A derived name may belong to another agent, so a few more are tried.
    for attempt in 0..SLUG_ATTEMPTS {
        let change = PublicationChange { public, slug: slug.clone(), spare: slug_of(agent_id, attempt) };
        match api.store.publish(org, agent_id, change).await? {
            Published::Changed(publication) => return Ok(publication),
            Published::NoAgent => {
                let error = format!("there is no agent {:?}", agent_id.as_str());
                return Err(ApiError::new(Code::NotFound, error));
            }
            Published::SlugTaken if slug.is_some() => break,
            Published::SlugTaken => {}
        }
    }
    Err(ApiError::new(Code::Conflict, "slug: another agent has this name, expected a name that is free"))
}

/// How many derived names are tried.
const SLUG_ATTEMPTS: u32 = 5;

/// Derives a name from the id of an agent. After the first attempt, the name ends in a part of a digest.
fn slug_of(agent: &AgentId, attempt: u32) -> Option<Slug> {
    let plain: String = agent
        .as_str()
        .to_lowercase()
        .chars()
        .map(|char| if char.is_ascii_alphanumeric() { char } else { '-' })
        .take(48)
        .collect();
    let plain = plain.trim_matches('-');
    let digest = hex::encode(&Sha256::digest(format!("{attempt}:{agent}")));
    let suffix = digest.get(..8).unwrap_or_default();
    let slug = match (plain.is_empty(), attempt) {
        (false, 0) => plain.to_owned(),
        (false, _) => format!("{plain}-{suffix}"),
        (true, _) => format!("agent-{suffix}"),
    };
    slug.parse().ok()
}

/// The erased agent.
#[derive(Serialize, ToSchema)]
#[schema(as = EraseReply)]
pub(crate) struct EraseReply {
    /// SHA-256 of the agent's id.
    agent_sha256: String,
}

/// Erase an agent
///
/// The agent is no longer visible from now on. Its evidence, runs, events, scores and request keys are deleted within a minute. A tombstone
/// remains: a time, a count, and the SHA-256 of the id. Needs a secret key.
#[utoipa::path(
    delete,
    path = "/v1/agents/{agent_id}",
    operation_id = "erase_agent",
    tag = "reputation",
    params(
        ("agent_id" = AgentId, Path, description = "The agent, percent-encoded"),
        ("confirm" = AgentId, Query, description = "The `agent_id` again, as a confirmation"),
    ),
    responses((status = 202, description = "The agent is being erased", body = EraseReply), ErrorReplies)
)]
pub(crate) async fn erase(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    let agent_id = agent_of(path)?;
    match query.text("confirm")? {
        Some(confirm) if confirm == agent_id.as_str() => {}
        Some(other) => return Err(refused("confirm", other, "the agent_id of the path")),
        None => {
            let error = "confirm: missing, expected the agent_id of the path";
            return Err(ApiError::new(Code::ValidationError, error));
        }
    }
    if !api.store.erase(&caller.org, &agent_id).await? {
        return Err(ApiError::new(Code::NotFound, format!("there is no agent {:?}", agent_id.as_str())));
    }
    api.wake.retain();
    let digest = Sha256::digest(agent_id.as_str());
    let body = EraseReply { agent_sha256: hex::encode(&digest) };
    Ok(reply(StatusCode::ACCEPTED, &body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_derived_from_the_id() {
        for (agent, slug) in [("Reviewer 1", "reviewer-1"), ("ci/bot", "ci-bot"), ("--x--", "x")] {
            assert_eq!(slug_of(&agent.parse().unwrap(), 0).unwrap().as_str(), slug);
        }
        let made = slug_of(&"кот".parse().unwrap(), 0).unwrap();
        assert!(made.as_str().starts_with("agent-") && made.as_str().len() == 14, "{made}");
        let again = slug_of(&"ci/bot".parse().unwrap(), 1).unwrap();
        assert!(again.as_str().starts_with("ci-bot-"), "{again}");
        let long = "x".repeat(200).parse().unwrap();
        assert!(slug_of(&long, 3).unwrap().as_str().len() <= 64);
    }
}
