//! `/v1/agents`: the list of agents.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};
use renown_core::identity::identity_of;
use renown_core::ids::{AgentId, IdentityId, OrgId};
use renown_core::json;
use renown_core::time::{Day, Timestamp};
use renown_store::{Accepted, AgentQuery, AgentSort, Cursor, Receipt};
use renown_view::{AgentRow, AgentsPage, DayPoint};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ErrorReplies;
use crate::api::Api;
use crate::error::ApiError;
use crate::idempotency::{self, Lookup};
use crate::keys::Caller;
use crate::query::{Query, refused};
use crate::reply::json as reply;

/// Maximum number of days per agent in a list.
const DAYS_MAX: usize = 90;

/// List agents
///
/// Returns one row per agent, over all its evidence. The most recently seen agent is first, unless `sort` says otherwise.
#[utoipa::path(
    get,
    path = "/v1/agents",
    operation_id = "list_agents",
    tag = "reputation",
    params(
        ("limit" = Option<u32>, Query, description = "Maximum number of rows", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page, with the same `sort`",
            format = "agents-cursor"),
        ("q" = Option<String>, Query, description = "Only agents whose id contains this text, ignoring case"),
        ("sort" = Option<String>, Query, description = "`last_seen` (the default); `score`: first agents with 50 evaluations or more, \
            best score first, then calibrating agents, then agents without evaluations; `name`; or `evaluations`, highest number first",
            pattern = "^(last_seen|score|name|evaluations)$"),
        ("days" = Option<u32>, Query, description = "Number of latest days to return per agent", minimum = 1, maximum = 90),
    ),
    responses((status = 200, description = "A page of agents", body = AgentsPage), ErrorReplies)
)]
pub(crate) async fn list(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let sort = match query.text("sort")? {
        None | Some("last_seen") => AgentSort::LastSeen,
        Some("score") => AgentSort::Score,
        Some("name") => AgentSort::Name,
        Some("evaluations") => AgentSort::Evaluations,
        Some(other) => return Err(refused("sort", other, "last_seen, score, name or evaluations")),
    };
    // If the clock is obviously wrong, the list is still useful: only values that depend on the current time are empty.
    let now = api.now().unwrap_or(Timestamp::MIN);
    let days = query.number("days", 1..=DAYS_MAX)?.map(|days| {
        let today = Day::of(now);
        (today.back(u32::try_from(days - 1).unwrap_or_default()), today)
    });
    let query = AgentQuery {
        text: query.text("q")?.map(str::to_owned),
        sort,
        after: query.cursor()?,
        limit: query.limit()?,
        ..AgentQuery::default()
    };
    Ok(reply(StatusCode::OK, &page(&api, &caller.org, query, days, now).await?))
}

/// Reads a page of agents with all their evidence, and optionally their days in a range.
pub(crate) async fn page(
    api: &Api,
    org: &OrgId,
    query: AgentQuery,
    days: Option<(Day, Day)>,
    now: Timestamp,
) -> Result<AgentsPage, ApiError> {
    let found = api.store.agents(org, query).await?;
    let names: Vec<AgentId> = found.agents.iter().map(|agent| agent.agent.clone()).collect();
    let evidence = api.store.evidence_of_agents(org, names.clone(), now).await?;
    let rows = found.agents.into_iter().zip(evidence);
    let mut agents: Vec<AgentRow> =
        rows.map(|(agent, evidence)| AgentRow::of(org, agent, evidence, now)).collect();
    if let Some((from, to)) = days {
        let days = api.store.days_of_agents(org, names, from, to).await?;
        for (row, days) in agents.iter_mut().zip(&days) {
            row.days = Some(DayPoint::all(days));
        }
    }
    Ok(AgentsPage { agents, next_cursor: found.next.as_ref().map(Cursor::to_text) })
}

/// The agent to add.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AddAgentRequest)]
pub(crate) struct AddRequest {
    agent_id: AgentId,
}

/// A known agent.
#[derive(Serialize, ToSchema)]
#[schema(as = AddAgentReply)]
pub(crate) struct AddReply {
    agent_id: AgentId,
    /// Identity of the agent: a UUIDv5 of its organization and id.
    identity_id: IdentityId,
}

/// Add an agent
///
/// Adds an agent before its first evaluation. The first evaluation of an unknown agent also adds it.
#[utoipa::path(
    post,
    path = "/v1/agents",
    operation_id = "add_agent",
    tag = "reputation",
    request_body = AddRequest,
    responses(
        (status = 201, description = "The agent was added", body = AddReply),
        (status = 200, description = "The agent was already known", body = AddReply),
        ErrorReplies
    )
)]
pub(crate) async fn add(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let (body, lookup) = idempotency::begin(&api, &caller.org, "POST /v1/agents", &headers, body).await?;
    let AddRequest { agent_id } = json::parse_strict(&body)?;
    let accepted = match lookup {
        Lookup::Replay(receipt) => Accepted::Replayed(receipt),
        Lookup::Fresh(guard) => {
            api.store.add_agent(&caller.org, agent_id.clone(), guard.request_key()).await?
        }
    };
    let new =
        idempotency::outcome(
            accepted,
            |receipt| {
                if let Receipt::Agent { new } = receipt { Some(new) } else { None }
            },
        )?;
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(reply(status, &AddReply { identity_id: identity_of(&caller.org, &agent_id), agent_id }))
}
