//! `POST /v1/ingest`: counts verdicts of other programs, all or nothing.

mod gates;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};
use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::json::{self, Noted, UnknownFields};
use renown_core::limits::{BATCH_EVENTS_MAX, GATES_MAX};
use renown_core::reputation::ReputationSummary;
use renown_core::schema::Moment;
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use renown_store::{Accepted, EvaluationOutcome, EvaluationsReceipt, NewEvaluation, Receipt};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(crate) use self::gates::GateReport;
use self::gates::Gates;
use super::ErrorReplies;
use crate::api::Api;
use crate::body::discard;
use crate::error::ApiError;
use crate::idempotency::{self, Guard, Lookup};
use crate::keys::Caller;
use crate::reply::json as reply;

/// Verdicts of other programs.
#[derive(Deserialize, ToSchema)]
pub(crate) struct IngestRequest {
    /// Verdicts, in the order in which they are counted.
    #[schema(value_type = Vec<IngestEvent>, min_items = 1, max_items = 100)]
    events: Vec<Noted<IngestEvent>>,
}

/// One verdict.
#[derive(Deserialize, ToSchema)]
pub(crate) struct IngestEvent {
    /// Agent that produced the output.
    agent_id: AgentId,
    /// Whether every gate passed.
    passed: bool,
    /// Latency of the gates.
    total_latency_ms: Micros,
    /// Results of the gates.
    #[schema(value_type = Option<Vec<GateReport<'_>>>, max_items = 50)]
    gates: Option<Gates>,
    /// Tool that returned the output.
    tool: Option<ToolName>,
    /// Latency of the agent.
    latency_ms: Option<Micros>,
    /// Id of the evaluation. A repeated id counts nothing.
    evaluation_id: Option<EvaluationId>,
    /// Time of the evaluation; default: the time of acceptance.
    #[schema(value_type = Option<Moment>)]
    timestamp: Option<Timestamp>,
}

/// The result of a batch of verdicts.
#[derive(Serialize, ToSchema)]
pub(crate) struct IngestReply {
    /// Number of verdicts that were counted.
    accepted: usize,
    /// Number of verdicts that had been counted before.
    duplicates: usize,
    /// Reputation of each agent in the batch, after the whole batch.
    reputation_updates: Vec<Update>,
    /// Unknown fields of the request, which were ignored. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, required = false)]
    warnings: Vec<String>,
}

/// The reputation of an agent after the batch.
#[derive(Serialize, ToSchema)]
#[schema(as = ReputationUpdate)]
pub(crate) struct Update {
    /// Id of the agent.
    pub(crate) agent_id: AgentId,
    /// Reputation of the agent.
    #[serde(flatten)]
    pub(crate) standing: ReputationSummary,
}

/// Count verdicts
///
/// Counts verdicts of an SDK, a proxy or another system. All or nothing: if one event is invalid, the whole batch is refused and the error
/// names the index of the event.
#[utoipa::path(
    post,
    path = "/v1/ingest",
    tag = "evaluations",
    request_body = IngestRequest,
    responses((status = 202, description = "The verdicts are counted", body = IngestReply), ErrorReplies)
)]
pub(crate) async fn ingest(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    if let Err(refused) = api.ingesting.check() {
        discard(&headers, body, api.limits.body_time_max).await;
        return Err(refused);
    }
    let (body, lookup) = idempotency::begin(&api, &caller.org, "POST /v1/ingest", &headers, body).await?;
    let _slot = match &lookup {
        Lookup::Replay(_) => None,
        Lookup::Fresh(_) => Some(api.ingesting.enter()?),
    };
    let Noted { value: IngestRequest { events }, unknown } = json::parse_noted(&body)?;
    let warnings = warnings(unknown, &events);
    let Counted { accepted, duplicates, standings } = match lookup {
        Lookup::Replay(receipt) => Counted::before(receipt)?,
        Lookup::Fresh(guard) => count(&api, &caller, events, &guard).await?,
    };
    let update = |(agent_id, standing)| Update { agent_id, standing };
    let reputation_updates = standings.into_iter().map(update).collect();
    let counted = IngestReply { accepted, duplicates, reputation_updates, warnings };
    Ok(reply(StatusCode::ACCEPTED, &counted))
}

/// What became of a batch.
struct Counted {
    accepted: usize,
    duplicates: usize,
    /// The last standing of each agent, in the order of the agents' first events.
    standings: Vec<(AgentId, ReputationSummary)>,
}

impl Counted {
    /// Returns what became of the batch at the first request.
    fn before(receipt: Receipt) -> Result<Self, ApiError> {
        if let Receipt::Evaluations(EvaluationsReceipt { counted, repeated, standings, .. }) = receipt {
            Ok(Self { accepted: counted, duplicates: repeated, standings })
        } else {
            Err(idempotency::foreign_receipt())
        }
    }
}

/// Counts the events of a batch.
async fn count(
    api: &Api,
    caller: &Caller,
    events: Vec<Noted<IngestEvent>>,
    guard: &Guard,
) -> Result<Counted, ApiError> {
    let evaluations = check(api, events)?;
    let agents: Vec<AgentId> = evaluations.iter().map(|evaluation| evaluation.agent.clone()).collect();
    let verdicts: Vec<bool> = evaluations.iter().map(|evaluation| evaluation.passed).collect();
    let outcomes = match api.store.append(&caller.org, evaluations, guard.request_key()).await? {
        Accepted::Fresh(outcomes) => outcomes,
        Accepted::Replayed(receipt) => return Counted::before(receipt),
        Accepted::Conflict => return Err(idempotency::conflict()),
    };
    let standings = EvaluationOutcome::last_standings(&agents, &outcomes);
    api.counted(&verdicts, &outcomes);
    let accepted =
        outcomes.iter().filter(|outcome| matches!(outcome, EvaluationOutcome::Counted { .. })).count();
    Ok(Counted { accepted, duplicates: outcomes.len() - accepted, standings })
}

/// Lists the unknown fields of a batch: first its own, then those of each event and its gates.
fn warnings(mut unknown: UnknownFields, events: &[Noted<IngestEvent>]) -> Vec<String> {
    for (index, event) in events.iter().enumerate() {
        unknown.add(format_args!("events[{index}]."), &event.unknown);
        for (gate, of_gate) in event.value.gates.iter().flat_map(|gates| &gates.unknown) {
            unknown.add(format_args!("events[{index}].gates[{gate}]."), of_gate);
        }
    }
    unknown.into_warnings()
}

/// Checks the events of a batch and converts them to evaluations.
fn check(api: &Api, events: Vec<Noted<IngestEvent>>) -> Result<Vec<NewEvaluation>, ApiError> {
    if !(1..=BATCH_EVENTS_MAX).contains(&events.len()) {
        return Err(ApiError::invalid(format!(
            "events: {} events, expected 1 to {BATCH_EVENTS_MAX}",
            events.len()
        )));
    }
    let evaluation = |(index, Noted { value: event, .. }): (usize, Noted<IngestEvent>)| {
        let found = event.gates.as_ref().map_or(0, |gates| gates.count);
        if found > GATES_MAX {
            return Err(ApiError::invalid(format!(
                "events[{index}].gates: {found} gates, expected at most {GATES_MAX}"
            )));
        }
        Ok(NewEvaluation {
            agent: event.agent_id,
            id: api.event_id(event.evaluation_id),
            passed: event.passed,
            gate_latency: event.total_latency_ms,
            agent_latency: event.latency_ms,
            tool: event.tool,
            gates: event.gates.map_or_else(|| "[]".into(), |gates| gates.text),
            timestamp: event.timestamp,
        })
    };
    events.into_iter().enumerate().map(evaluation).collect()
}
