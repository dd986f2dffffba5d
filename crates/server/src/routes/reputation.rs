//! `/v1/reputation/{agent_id}`: the record, why it is what it is, and how it went.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::StatusCode;
use renown_core::ids::AgentId;
use renown_core::reputation::Record;
use renown_core::time::Timestamp;
use renown_store::{Point, Steps};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::Refused;
use super::evaluate::Lifecycle;
use super::paths::{Segment, segment};
use super::shapes::{AgentName, TimeText};
use crate::api::Api;
use crate::error::{ApiError, json};
use crate::keys::Caller;
use crate::query::Query;

const POINTS_MAX: usize = 1000;
const POINTS_DEFAULT: usize = 100;

/// The agent that a path names.
pub(crate) fn agent_of(path: Segment) -> Result<AgentId, ApiError> {
    segment(path, "agent_id")
}

#[derive(Serialize)]
pub(crate) struct Served<'a> {
    pub(crate) agent_id: &'a AgentId,
    #[serde(flatten)]
    pub(crate) record: Record,
}

/// The reputation of an agent.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct RecordReply {
    agent_id: String,
    /// 0 to 1000.
    #[schema(maximum = 1000)]
    score: u32,
    lifecycle: Lifecycle,
    /// The same as `lifecycle`.
    status: Lifecycle,
    /// Evaluations in the window.
    #[schema(maximum = 500)]
    eval_count: u64,
    /// The same as `eval_count`.
    #[schema(maximum = 500)]
    evaluations: u64,
    /// The most evaluations that count.
    window_size: u64,
    /// Those that passed.
    passed: u64,
    /// The share that passed, 0 to 1.
    pass_rate: f64,
    /// The average latency of the gates.
    avg_latency_ms: f64,
    /// Passes counted back from the newest.
    streak: u64,
    /// The version of the formula.
    formula_version: String,
}

/// Read a reputation
///
/// An agent that was never seen has a record of zeros.
#[utoipa::path(
    get,
    path = "/v1/reputation/{agent_id}",
    operation_id = "get_reputation",
    tag = "reputation",
    params(("agent_id" = AgentName, Path, description = "The agent, percent-encoded")),
    responses((status = 200, description = "The record", body = RecordReply), Refused)
)]
pub(crate) async fn reputation(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    read(&api, &caller, &agent_of(path)?).await
}

/// The record of an agent.
pub(crate) async fn read(api: &Api, caller: &Caller, agent: &AgentId) -> Result<Response, ApiError> {
    let tally = api.store.tally(&caller.org, agent).await?;
    Ok(json(StatusCode::OK, &Served { agent_id: agent, record: tally.record() }))
}

/// Why a score is what it is.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct ExplainReply {
    #[schema(maximum = 1000)]
    score: u32,
    formula_version: String,
    /// The parts of the formula.
    components: Vec<ComponentReply>,
    next: NextReply,
}

/// One part of a score.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct ComponentReply {
    name: String,
    /// What the part looked at.
    inputs: Map<String, Value>,
    points: f64,
    points_max: f64,
    points_lost: f64,
}

/// The score after one more evaluation at the window's average latency.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct NextReply {
    pass: u32,
    fail: u32,
}

/// Explain a reputation
///
/// The parts of the score, what went into each, what each contributed, and where the next evaluation would take it.
#[utoipa::path(
    get,
    path = "/v1/reputation/{agent_id}/explain",
    operation_id = "explain_reputation",
    tag = "reputation",
    params(("agent_id" = AgentName, Path, description = "The agent, percent-encoded")),
    responses((status = 200, description = "The parts", body = ExplainReply), Refused)
)]
pub(crate) async fn explain(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    let window = api.store.window(&caller.org, &agent_of(path)?).await?;
    Ok(json(StatusCode::OK, &window.explain()))
}

/// How a score went.
#[derive(Serialize, ToSchema)]
pub(crate) struct HistoryReply {
    /// Oldest first; steps without an evaluation are left out.
    points: Vec<PointReply>,
}

/// One step of a history.
#[derive(Serialize, ToSchema)]
pub(crate) struct PointReply {
    /// Where the step begins.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The score after its last evaluation.
    #[schema(maximum = 1000)]
    score: u32,
    /// How many evaluations it has.
    evaluations: u64,
}

/// Read how a reputation went
///
/// Equal steps from `from` to `to`, the last score in each. Without them, from its first evaluation until now.
#[utoipa::path(
    get,
    path = "/v1/reputation/{agent_id}/history",
    operation_id = "get_reputation_history",
    tag = "reputation",
    params(
        ("agent_id" = AgentName, Path, description = "The agent, percent-encoded"),
        ("from" = Option<TimeText>, Query, description = "Where the first step begins"),
        ("to" = Option<TimeText>, Query, description = "Where the last step ends"),
        ("points" = Option<u32>, Query, description = "How many steps", minimum = 1, maximum = 1000),
    ),
    responses((status = 200, description = "The steps", body = HistoryReply), Refused)
)]
pub(crate) async fn history(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let agent = agent_of(path)?;
    let points = query.number("points", 1..=POINTS_MAX)?.unwrap_or(POINTS_DEFAULT);
    let from = query.time("from")?;
    let to = match query.time("to")? {
        Some(to) => to,
        None => api.now()?,
    };
    let from = match from {
        Some(from) => from,
        None => api.store.earliest(&caller.org, &agent).await?.map_or(to, |earliest| earliest.min(to)),
    };
    // A span that ends before it begins holds nothing, as in the log of evaluations.
    let Some(steps) = Steps::new(from, to, u32::try_from(points).unwrap_or(u32::MAX)) else {
        return Ok(json(StatusCode::OK, &HistoryReply { points: Vec::new() }));
    };
    let reply = |Point { at, score, evaluations }| PointReply { at, score, evaluations };
    let points = api.store.history(&caller.org, &agent, steps).await?.into_iter().map(reply).collect();
    Ok(json(StatusCode::OK, &HistoryReply { points }))
}
