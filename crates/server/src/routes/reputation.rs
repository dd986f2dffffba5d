//! `/v1/reputation/{agent_id}`: the reputation of an agent, its explanation and its history.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::StatusCode;
use renown_core::ids::AgentId;
use renown_core::reputation::ReputationExplanation;
use renown_core::time::{Day, Timestamp};
use renown_store::{HistorySteps, Point};
use renown_view::ReputationView;
use serde::Serialize;
use utoipa::ToSchema;

use super::ErrorReplies;
use super::paths::{Segment, segment};
use crate::api::Api;
use crate::error::ApiError;
use crate::keys::Caller;
use crate::query::Query;
use crate::reply::json;

const POINTS_MAX: usize = 1000;
const POINTS_DEFAULT: usize = 100;

/// Minimum number of days for which a history without parameters has one step per day.
const WHOLE_DAYS_MIN: u32 = 3;

/// Parses the agent id in a path.
pub(crate) fn agent_of(path: Segment) -> Result<AgentId, ApiError> {
    segment(path, "agent_id")
}

/// Read a reputation
///
/// For an unknown agent, all values are 0.
#[utoipa::path(
    get,
    path = "/v1/reputation/{agent_id}",
    operation_id = "get_reputation",
    tag = "reputation",
    params(("agent_id" = AgentId, Path, description = "The agent, percent-encoded")),
    responses((status = 200, description = "The reputation", body = ReputationView<'_>), ErrorReplies)
)]
pub(crate) async fn reputation(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    read(&api, &caller, &agent_of(path)?).await
}

/// Reads the reputation of an agent.
pub(crate) async fn read(api: &Api, caller: &Caller, agent: &AgentId) -> Result<Response, ApiError> {
    let tally = api.store.tally(&caller.org, agent).await?;
    Ok(json(StatusCode::OK, &ReputationView::of(agent, &tally.record())))
}

/// Explain a reputation
///
/// Returns the parts of the score with their inputs and points, and the score after one more pass or failure.
#[utoipa::path(
    get,
    path = "/v1/reputation/{agent_id}/explain",
    operation_id = "explain_reputation",
    tag = "reputation",
    params(("agent_id" = AgentId, Path, description = "The agent, percent-encoded")),
    responses((status = 200, description = "The explanation", body = ReputationExplanation), ErrorReplies)
)]
pub(crate) async fn explain(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    let window = api.store.window(&caller.org, &agent_of(path)?).await?;
    Ok(json(StatusCode::OK, &window.explain()))
}

/// The history of a score.
#[derive(Serialize, ToSchema)]
pub(crate) struct HistoryReply {
    /// Steps, oldest first. Steps without an evaluation are left out.
    points: Vec<PointReply>,
}

/// One step of a history.
#[derive(Serialize, ToSchema)]
pub(crate) struct PointReply {
    /// Start of the step.
    at: Timestamp,
    /// Score after the last evaluation of the step.
    #[schema(maximum = 1000)]
    score: u32,
    /// Number of evaluations in the step.
    evaluations: u64,
}

/// Read the history of a reputation
///
/// Returns the last score in each of `points` equal steps from `from` to `to`. Without parameters: one step per UTC day since the first
/// evaluation, or 100 steps if that was less than three days ago. Steps of whole UTC days are fast, because the server keeps sums per day.
/// Other steps read all evaluations of the days that a step boundary cuts.
#[utoipa::path(
    get,
    path = "/v1/reputation/{agent_id}/history",
    operation_id = "get_reputation_history",
    tag = "reputation",
    params(
        ("agent_id" = AgentId, Path, description = "The agent, percent-encoded"),
        ("from" = Option<Timestamp>, Query, description = "Start of the first step"),
        ("to" = Option<Timestamp>, Query, description = "End of the last step"),
        ("points" = Option<u32>, Query, description = "Number of steps", minimum = 1, maximum = 1000),
    ),
    responses((status = 200, description = "The history", body = HistoryReply), ErrorReplies)
)]
pub(crate) async fn history(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let agent = agent_of(path)?;
    let points = query.number("points", 1..=POINTS_MAX)?;
    let (from, to) = (query.time("from")?, query.time("to")?);
    let is_default = from.is_none() && to.is_none() && points.is_none();
    let to = match to {
        Some(to) => to,
        None => api.now()?,
    };
    let from = match from {
        Some(from) => from,
        None => api.store.earliest(&caller.org, &agent).await?.map_or(to, |earliest| earliest.min(to)),
    };
    let points = u32::try_from(points.unwrap_or(POINTS_DEFAULT)).unwrap_or(u32::MAX);
    let whole_days = if is_default { whole_days(from, to) } else { None };
    // A range that ends before it begins is empty, as in the list of evaluations.
    let Some(steps) = whole_days.or_else(|| HistorySteps::new(from, to, points)) else {
        return Ok(json(StatusCode::OK, &HistoryReply { points: Vec::new() }));
    };
    let reply = |Point { at, score, evaluations }| PointReply { at, score, evaluations };
    let points = api.store.history(&caller.org, &agent, steps).await?.into_iter().map(reply).collect();
    Ok(json(StatusCode::OK, &HistoryReply { points }))
}

/// Returns steps of one UTC day each, or of several days if there would be more than [`POINTS_MAX`]. Returns `None` for fewer than
/// [`WHOLE_DAYS_MIN`] days.
fn whole_days(from: Timestamp, to: Timestamp) -> Option<HistorySteps> {
    let (first, last) = (Day::of(from), Day::of(to));
    let days =
        u32::try_from(last.number() - first.number() + 1).ok().filter(|days| *days >= WHOLE_DAYS_MIN)?;
    let each = days.div_ceil(u32::try_from(POINTS_MAX).unwrap_or(u32::MAX));
    let points = days.div_ceil(each);
    // The first step may begin before the first evaluation, so that all steps have the same number of days.
    HistorySteps::new(first.back(points * each - days).start(), last.end(), points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_history_has_steps_of_whole_days() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let now = at("2026-11-15T12:00:00Z");
        assert_eq!(whole_days(at("2026-11-14T00:00:00Z"), now), None);
        let month = HistorySteps::new(at("2026-10-16T00:00:00Z"), at("2026-11-16T00:00:00Z"), 31);
        assert_eq!(whole_days(at("2026-10-16T17:00:00Z"), now), month);
        // 1 501 days are 751 steps of two days; the first step begins one day early.
        let years = HistorySteps::new(at("2022-10-06T00:00:00Z"), at("2026-11-16T00:00:00Z"), 751);
        assert_eq!(whole_days(at("2022-10-07T00:00:00Z"), now), years);
    }
}
