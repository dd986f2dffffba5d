//! `/v1/overview` and `/v1/agents/{agent_id}/breakdown`: summaries from the sums per day.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::StatusCode;
use renown_core::ids::AgentId;
use renown_core::time::{Day, Timestamp};
use renown_store::{AgentQuery, AgentSort, OVERVIEW_DAYS};
use renown_view::{AgentBreakdown, Overview};

use super::paths::Segment;
use super::reputation::agent_of;
use super::{ErrorReplies, agents};
use crate::api::Api;
use crate::error::ApiError;
use crate::keys::Caller;
use crate::query::{Query, refused};
use crate::reply::json;

/// Number of agents in the ranking without `limit`.
const RANKED: usize = 20;

/// Number of days in a breakdown without `from`.
const BREAKDOWN_DAYS: u32 = 30;

/// Maximum number of days in a breakdown.
const BREAKDOWN_DAYS_MAX: i64 = 366;

/// Read the overview of an organization
///
/// Returns totals, the largest rises and falls of scores with their causes, failing gates, and the agents with the best scores. Days are
/// UTC days.
#[utoipa::path(
    get,
    path = "/v1/overview",
    operation_id = "get_overview",
    tag = "reputation",
    params(
        ("day" = Option<String>, Query, description = "The day, such as `2026-11-15`; default: today", format = "utc-day"),
        ("limit" = Option<u32>, Query, description = "Number of agents in the ranking", minimum = 1, maximum = 100),
    ),
    responses((status = 200, description = "The overview", body = Overview), ErrorReplies)
)]
pub(crate) async fn overview(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let now = api.now()?;
    let day: Day = query.get("day")?.unwrap_or_else(|| Day::of(now));
    let limit = query.number("limit", 1..=100)?.unwrap_or(RANKED);
    let ranked = AgentQuery { sort: AgentSort::Score, limit, ..AgentQuery::default() };
    let days = Some((day.back(OVERVIEW_DAYS - 1), day));
    let (found, ranking) = tokio::join!(
        api.store.overview(&caller.org, day),
        agents::page(&api, &caller.org, ranked, days, now)
    );
    Ok(json(StatusCode::OK, &Overview::of(day, found?, ranking?.agents)))
}

/// Read the failures and latencies of an agent
///
/// Returns failures by gate and by tool, and latencies, for the UTC days from `from` to `to`, both included: at most 366 days; default: the
/// last 30 days. For an unknown agent, all values are 0.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/breakdown",
    operation_id = "get_breakdown",
    tag = "reputation",
    params(
        ("agent_id" = AgentId, Path, description = "The agent, percent-encoded"),
        ("from" = Option<Timestamp>, Query, description = "A time on the first day"),
        ("to" = Option<Timestamp>, Query, description = "A time on the last day"),
    ),
    responses((status = 200, description = "The breakdown", body = AgentBreakdown), ErrorReplies)
)]
pub(crate) async fn breakdown(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let agent = agent_of(path)?;
    let (from, to) = days(query.time("from")?, query.time("to")?, api.now()?)?;
    let found = api.store.agent_days(&caller.org, &agent, from, to).await?;
    Ok(json(StatusCode::OK, &AgentBreakdown::of(agent, from, to, found)))
}

/// Returns the first and the last day of a breakdown.
fn days(from: Option<Timestamp>, to: Option<Timestamp>, now: Timestamp) -> Result<(Day, Day), ApiError> {
    let to = Day::of(to.unwrap_or(now));
    let from = from.map_or_else(|| to.back(BREAKDOWN_DAYS - 1), Day::of);
    let span = to.number() - from.number() + 1;
    if span > BREAKDOWN_DAYS_MAX {
        let expected = format!("at most {BREAKDOWN_DAYS_MAX} days up to {to}");
        return Err(refused("from", &from.to_string(), &expected));
    }
    Ok((from, to))
}
