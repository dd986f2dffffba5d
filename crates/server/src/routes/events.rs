//! `GET /v1/events`: the list of evaluations, newest first.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::StatusCode;
use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use renown_store::{Cursor, EvaluationQuery, StoredEvaluation};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::ErrorReplies;
use super::ingest::GateReport;
use crate::api::Api;
use crate::error::ApiError;
use crate::keys::Caller;
use crate::query::Query;
use crate::reply::json;

const OFFSET_MAX: usize = 100_000;

/// A page of evaluations.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventsReply<'a> {
    /// Evaluations, the last accepted first.
    events: Vec<EventReply<'a>>,
    /// Maximum number of evaluations on the page.
    limit: usize,
    /// Number of evaluations that were skipped.
    offset: usize,
    /// Number of evaluations on the page.
    count: usize,
    /// Cursor of the next page; null on the last page.
    next_cursor: Option<String>,
}

/// One evaluation.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventReply<'a> {
    id: &'a EvaluationId,
    agent_id: &'a AgentId,
    tool_name: Option<&'a ToolName>,
    /// Whether every gate passed.
    passed: bool,
    #[schema(value_type = Vec<GateReport<'_>>)]
    gates: &'a RawValue,
    /// Latency of the gates.
    total_latency_ms: Micros,
    /// Latency of the agent, if it was sent.
    latency_ms: Option<Micros>,
    /// Reputation score of the agent right after this evaluation.
    #[schema(maximum = 1000)]
    reputation_score: u32,
    /// Time of the evaluation; if it was not sent, the time of acceptance.
    created_at: Timestamp,
}

impl<'a> EventReply<'a> {
    fn of(event: &'a StoredEvaluation) -> Self {
        Self {
            id: &event.id,
            agent_id: &event.agent,
            tool_name: event.tool.as_ref(),
            passed: event.passed,
            gates: serde_json::from_str(&event.gates).unwrap_or(RawValue::NULL),
            total_latency_ms: event.gate_latency,
            latency_ms: event.agent_latency,
            reputation_score: event.standing.score,
            created_at: event.created_at,
        }
    }
}

/// List evaluations
///
/// Returns the last accepted evaluation first. An evaluation must match all filters.
#[utoipa::path(
    get,
    path = "/v1/events",
    operation_id = "list_events",
    tag = "evaluations",
    params(
        ("limit" = Option<u32>, Query, description = "Maximum number of rows", minimum = 1, maximum = 100),
        ("offset" = Option<u32>, Query, description = "Number of rows to skip", maximum = 100_000),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page",
            pattern = "^([0-9a-f]{1,15}|[0-7][0-9a-f]{15})$"),
        ("agent_id" = Option<AgentId>, Query, description = "Only evaluations of this agent"),
        ("tool" = Option<String>, Query, description = "Only evaluations of this tool", max_length = 200),
        ("gate" = Option<String>, Query, description = "Only evaluations with a result of this gate"),
        ("passed" = Option<bool>, Query, description = "Only evaluations that passed, or that failed"),
        ("from" = Option<Timestamp>, Query, description = "Only evaluations at this time or later"),
        ("to" = Option<Timestamp>, Query, description = "Only evaluations at this time or earlier"),
    ),
    responses((status = 200, description = "A page of evaluations", body = EventsReply<'_>), ErrorReplies)
)]
pub(crate) async fn events(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let limit = query.limit()?;
    let offset = query.number("offset", 0..=OFFSET_MAX)?.unwrap_or(0);
    let page = api.store.evaluations(
        &caller.org,
        EvaluationQuery {
            agent: query.get("agent_id")?,
            tool: query.get("tool")?,
            gate: query.text("gate")?.map(str::to_owned),
            failed_gate: None,
            passed: query.flag("passed")?,
            from: query.time("from")?,
            to: query.time("to")?,
            before: query.cursor()?,
            offset,
            limit,
        },
    );
    let page = page.await?;
    let reply = EventsReply {
        events: page.evaluations.iter().map(EventReply::of).collect(),
        limit,
        offset,
        count: page.evaluations.len(),
        next_cursor: page.next.map(|next| next.to_text()),
    };
    Ok(json(StatusCode::OK, &reply))
}
