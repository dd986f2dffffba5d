//! `/v1/agents`: who is known.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};
use renown_core::identity::identity_of;
use renown_core::ids::{AgentId, IdentityId, OrgId};
use renown_core::json;
use renown_core::reputation::Standing;
use renown_core::time::Timestamp;
use renown_store::{AgentCursor, AgentQuery, AgentSort, AgentSummary};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Refused;
use super::evaluate::Lifecycle;
use super::shapes::AgentName;
use crate::api::Api;
use crate::error::{ApiError, json as reply, json_bytes};
use crate::hex;
use crate::keys::Caller;
use crate::once::{self, Begun};
use crate::query::{Query, refused};

#[derive(Serialize)]
struct Page {
    agents: Vec<Listed>,
    next_cursor: Option<String>,
}

#[derive(Serialize)]
struct Listed {
    agent_id: AgentId,
    identity_id: IdentityId,
    first_seen: Timestamp,
    last_seen: Timestamp,
    #[serde(flatten)]
    standing: Standing,
}

impl Listed {
    fn of(org: &OrgId, agent: AgentSummary) -> Self {
        Self {
            identity_id: identity_of(org, &agent.agent),
            first_seen: agent.first_seen,
            last_seen: agent.last_seen,
            standing: agent.tally.standing(),
            agent_id: agent.agent,
        }
    }
}

/// A page of agents.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct AgentsReply {
    agents: Vec<AgentReply>,
    /// Where the next page begins; null on the last one.
    next_cursor: Option<String>,
}

/// An agent as it is listed.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct AgentReply {
    agent_id: String,
    /// The identity of the agent, a UUIDv5 of its organization and id.
    #[schema(format = Uuid)]
    identity_id: String,
    #[schema(format = DateTime)]
    first_seen: String,
    #[schema(format = DateTime)]
    last_seen: String,
    /// Evaluations in the window.
    #[schema(maximum = 500)]
    eval_count: u64,
    #[schema(maximum = 1000)]
    score: u32,
    lifecycle: Lifecycle,
}

fn cursor_text(cursor: &AgentCursor) -> String {
    format!("{:x}.{}", cursor.value, hex::encode(cursor.agent.as_str().as_bytes()))
}

fn cursor_of(text: &str) -> Option<AgentCursor> {
    let (value, agent) = text.split_once('.')?;
    let agent = String::from_utf8(hex::decode(agent)?).ok()?;
    // Only as it was written: no signs, no upper case.
    let written = value.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let value = i64::from_str_radix(value, 16).ok().filter(|_| written)?;
    Some(AgentCursor { value, agent: agent.parse().ok()? })
}

/// List agents
///
/// The last seen first, unless `sort` says otherwise.
#[utoipa::path(
    get,
    path = "/v1/agents",
    operation_id = "list_agents",
    tag = "reputation",
    params(
        ("limit" = Option<u32>, Query, description = "How many at most", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before, with the same `sort`",
            format = "agents-cursor"),
        ("q" = Option<String>, Query, description = "Only those whose id contains this, in any case"),
        ("sort" = Option<String>, Query, description = "`last_seen` (the default), `score` (the best first) or `agent_id`",
            pattern = "^(last_seen|score|agent_id)$"),
    ),
    responses((status = 200, description = "A page of agents", body = AgentsReply), Refused)
)]
pub(crate) async fn list(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let sort = match query.text("sort")? {
        None | Some("last_seen") => AgentSort::LastSeen,
        Some("score") => AgentSort::Score,
        Some("agent_id") => AgentSort::Name,
        Some(other) => return Err(refused("sort", other, "last_seen, score or agent_id")),
    };
    let query = AgentQuery {
        text: query.text("q")?.map(str::to_owned),
        sort,
        after: query.cursor(cursor_of)?,
        limit: query.limit()?,
    };
    let page = api.store.agents(&caller.org, query).await?;
    let next_cursor = page.next.as_ref().map(cursor_text);
    let agents = page.agents.into_iter().map(|agent| Listed::of(&caller.org, agent)).collect();
    Ok(reply(StatusCode::OK, &Page { agents, next_cursor }))
}

/// An agent that is to be known.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AddAgentRequest)]
pub(crate) struct AddRequest {
    #[schema(value_type = AgentName)]
    agent_id: AgentId,
}

/// An agent that is known.
#[derive(Serialize, ToSchema)]
#[schema(as = AddAgentReply)]
pub(crate) struct AddReply {
    #[schema(value_type = String)]
    agent_id: AgentId,
    /// The identity of the agent, a UUIDv5 of its organization and id.
    #[schema(value_type = String, format = Uuid)]
    identity_id: IdentityId,
}

/// Make an agent known
///
/// Before its first evaluation, which would do the same.
#[utoipa::path(
    post,
    path = "/v1/agents",
    operation_id = "add_agent",
    tag = "reputation",
    request_body = AddRequest,
    responses(
        (status = 201, description = "The agent is new", body = AddReply),
        (status = 200, description = "The agent was known", body = AddReply),
        Refused
    )
)]
pub(crate) async fn add(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let (body, ticket) = match once::begin(&api, &caller.org, "POST /v1/agents", &headers, body).await? {
        Begun::Replay(saved) => return Ok(once::replay(saved)),
        Begun::Fresh(body, ticket) => (body, ticket),
    };
    let AddRequest { agent_id } = json::parse_strict(&body)?;
    let added = AddReply { identity_id: identity_of(&caller.org, &agent_id), agent_id: agent_id.clone() };
    let body = serde_json::to_vec(&added).unwrap_or_default();
    let status = |new: bool| if new { StatusCode::CREATED } else { StatusCode::OK };
    let kept = body.clone();
    let once = ticket.once::<bool>(|| Box::new(move |new| (status(*new).as_u16(), kept)));
    let new = api.store.add_agent(&caller.org, agent_id, once).await?;
    Ok(json_bytes(status(new), body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went() {
        for (value, agent) in [(0, "a"), (1_794_744_000_000, "bot/é ½"), (1000, ".x")] {
            let cursor = AgentCursor { value, agent: agent.parse().unwrap() };
            assert_eq!(cursor_of(&cursor_text(&cursor)), Some(cursor));
        }
        for refused in ["", "12", "x.61", "1.6", "1.6g", "1.", "1.ff", "1.2e", "+1.61", "1.+1", "1.6A"] {
            assert_eq!(cursor_of(refused), None, "{refused}");
        }
    }
}
