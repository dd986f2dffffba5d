//! `POST /v1/evaluate`: runs the gates on one output, counts the verdict, and returns it with the agent's reputation.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};
use renown_clock::MachineClock;
use renown_core::gates::{Context, Tmax, Verdict};
use renown_core::ids::{AgentId, EvaluationId, ToolName};
use renown_core::json::{self, Found, Noted};
use renown_core::reputation::ReputationSummary;
use renown_core::schema::TimeMillis;
use renown_core::units::{Micros, Whole};
use renown_store::{
    Accepted, EvaluationOutcome, EvaluationsReceipt, NewEvaluation, Receipt, StoredEvaluation,
};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use tokio::runtime::{Handle, RuntimeFlavor};
use utoipa::ToSchema;

use super::ErrorReplies;
use crate::api::Api;
use crate::body::discard;
use crate::error::{ApiError, Code};
use crate::idempotency::{self, Guard, Lookup};
use crate::keys::Caller;
use crate::reply::json as reply;

/// The largest body that is judged without moving other requests to another thread first.
const JUDGED_AT_ONCE_BYTES: usize = 32 * 1024;

/// The maximum of `tmax_ms`: one hour.
const TMAX_MS_MAX: u64 = 3_600_000;

/// The range of `started_at`: 2000 to 2100.
const TIME_MS_MIN: u64 = 946_684_800_000;
const TIME_MS_MAX: u64 = 4_102_444_800_000;

/// The output to judge.
#[derive(Deserialize, ToSchema)]
pub(crate) struct EvaluateRequest<'a> {
    /// Agent that produced the output.
    agent_id: AgentId,
    /// The output: any JSON value. Required, but may be null. Never stored, logged or echoed.
    #[serde(borrow)]
    #[schema(value_type = Value)]
    output: &'a RawValue,
    /// Tool that returned the output.
    tool: Option<ToolName>,
    /// Input of the tool: any JSON value. Never stored, logged or echoed.
    #[serde(borrow)]
    #[schema(value_type = Option<Value>)]
    input: Option<&'a RawValue>,
    /// Latency of the agent.
    latency_ms: Option<Micros>,
    /// Id of this evaluation, chosen by the caller. A repeated id returns the first result and counts nothing.
    evaluation_id: Option<EvaluationId>,
    /// Time allowed for the output, in milliseconds, for `rtb.tmax-guard`.
    #[schema(value_type = Option<u32>, maximum = 3_600_000)]
    tmax_ms: Option<WholeMs<0, TMAX_MS_MAX>>,
    /// Start of that time, in milliseconds after 1970.
    #[schema(value_type = Option<TimeMillis>)]
    started_at: Option<WholeMs<TIME_MS_MIN, TIME_MS_MAX>>,
}

/// A whole number of milliseconds, from `MIN` to `MAX`.
#[derive(Clone, Copy)]
struct WholeMs<const MIN: u64, const MAX: u64>(u64);

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for WholeMs<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = <&RawValue>::deserialize(deserializer)?.get();
        let number = written.parse::<Whole>().ok().filter(|number| (MIN..=MAX).contains(&number.get()));
        let refused = || {
            let found = Found::new(written);
            D::Error::custom(format_args!("{found}, expected a whole number from {MIN} to {MAX}"))
        };
        number.map(|number| Self(number.get())).ok_or_else(refused)
    }
}

/// The verdict on one output. The status is 200 even if a gate failed.
#[derive(Serialize, ToSchema)]
pub(crate) struct EvaluateReply<'a> {
    /// Id of this evaluation: the one that was sent, or a new one.
    evaluation_id: &'a EvaluationId,
    /// Whether every gate passed or was skipped.
    passed: bool,
    /// One result per gate, in the configured order.
    #[schema(value_type = Vec<super::ingest::GateReport<'_>>)]
    gates: &'a RawValue,
    /// Latency of the gates.
    total_latency_ms: Micros,
    /// Reputation of the agent right after this evaluation.
    reputation: ReputationSummary,
    /// Unknown fields of the request, which were ignored. Absent if there are none.
    #[serde(skip_serializing_if = "is_empty")]
    #[schema(value_type = Vec<String>, required = false)]
    warnings: &'a [String],
}

/// Returns whether a slice is empty, for serde, which passes a reference to the field.
fn is_empty(warnings: &&[String]) -> bool {
    warnings.is_empty()
}

/// Judge an output
///
/// Runs the configured gates, counts the verdict for the agent, and returns the verdict and the agent's new reputation.
#[utoipa::path(
    post,
    path = "/v1/evaluate",
    tag = "evaluations",
    request_body = EvaluateRequest<'_>,
    responses((status = 200, description = "The verdict", body = EvaluateReply<'_>), ErrorReplies)
)]
pub(crate) async fn evaluate(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    if let Err(refused) = api.evaluating.check() {
        discard(&headers, body, api.limits.body_time_max).await;
        return Err(refused);
    }
    let (body, lookup) = idempotency::begin(&api, &caller.org, "POST /v1/evaluate", &headers, body).await?;
    let (shown, unknown) = match lookup {
        Lookup::Replay(receipt) => {
            let Noted { unknown, .. } = json::parse_noted::<EvaluateRequest<'_>>(&body)?;
            (Shown::before(receipt)?, unknown)
        }
        Lookup::Fresh(guard) => {
            let _slot = api.evaluating.enter()?;
            let Noted { value, unknown } = json::parse_noted::<EvaluateRequest<'_>>(&body)?;
            (evaluate_now(&api, &caller, value, body.len(), &guard).await?, unknown)
        }
    };
    Ok(reply(StatusCode::OK, &shown.reply(&unknown.into_warnings())))
}

/// Judges an output and counts the verdict.
async fn evaluate_now(
    api: &Api,
    caller: &Caller,
    request: EvaluateRequest<'_>,
    bytes: usize,
    guard: &Guard,
) -> Result<Shown, ApiError> {
    let tmax = request.tmax_ms.zip(request.started_at).map(|(tmax_ms, started_at)| Tmax {
        tmax_ms: tmax_ms.0,
        started_at_ms: started_at.0,
        now_ms: api.millis(),
    });
    let context = Context {
        tool: request.tool.as_ref().map(ToolName::as_str),
        input: request.input,
        latency: request.latency_ms.map(Duration::from),
        tmax,
        ..Context::of(request.output)
    };
    let memory = api.judging.reserve(api.engine.memory_max(bytes))?;
    let verdict = judge(api, &context, bytes);
    drop(memory);
    let gates: Arc<str> = serde_json::to_string(&verdict.gates).unwrap_or_default().into();
    let id = api.event_id(request.evaluation_id);
    let (passed, total) = (verdict.passed, verdict.total);
    let evaluation = NewEvaluation {
        agent: request.agent_id.clone(),
        id: id.clone(),
        passed,
        gate_latency: total,
        agent_latency: request.latency_ms,
        tool: request.tool,
        gates: Arc::clone(&gates),
        timestamp: None,
    };
    let outcomes = match api.store.append(&caller.org, vec![evaluation], guard.request_key()).await? {
        Accepted::Fresh(outcomes) => outcomes,
        Accepted::Replayed(receipt) => return Shown::before(receipt),
        Accepted::Conflict => return Err(idempotency::conflict()),
    };
    match outcomes.into_iter().next() {
        Some(EvaluationOutcome::Counted { tally }) => {
            api.metrics.evaluations(u64::from(passed), u64::from(!passed), 0);
            api.changes.wake();
            Ok(Shown { id: id.get().clone(), passed, gates, total, standing: tally.standing() })
        }
        Some(EvaluationOutcome::Repeated { first, .. }) => {
            api.metrics.evaluations(0, 0, 1);
            Ok(Shown::stored(*first))
        }
        None => Err(ApiError::new(Code::Internal, "no outcome")),
    }
}

/// Runs the gates. A large output may take milliseconds, so the runtime first moves the other requests of this thread to another thread.
fn judge(api: &Api, context: &Context<'_>, bytes: usize) -> Verdict {
    let judge = || api.engine.evaluate(context, &MachineClock::start());
    let may_block = Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread;
    if bytes > JUDGED_AT_ONCE_BYTES && may_block { tokio::task::block_in_place(judge) } else { judge() }
}

/// The evaluation that the reply shows: the one of this request, or the first one with its id.
struct Shown {
    id: EvaluationId,
    passed: bool,
    gates: Arc<str>,
    total: Micros,
    /// The agent's standing right after it.
    standing: ReputationSummary,
}

impl Shown {
    fn stored(evaluation: StoredEvaluation) -> Self {
        let StoredEvaluation { id, passed, gates, gate_latency, standing, .. } = evaluation;
        Self { id, passed, gates: gates.into(), total: gate_latency, standing }
    }

    /// Returns what the reply to the first request showed.
    fn before(receipt: Receipt) -> Result<Self, ApiError> {
        if let Receipt::Evaluations(EvaluationsReceipt { only: Some(evaluation), .. }) = receipt {
            Ok(Self::stored(*evaluation))
        } else {
            Err(idempotency::foreign_receipt())
        }
    }

    fn reply<'a>(&'a self, warnings: &'a [String]) -> EvaluateReply<'a> {
        EvaluateReply {
            evaluation_id: &self.id,
            passed: self.passed,
            gates: serde_json::from_str(&self.gates).unwrap_or(RawValue::NULL),
            total_latency_ms: self.total,
            reputation: self.standing,
            warnings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use renown_core::time::Timestamp;

    #[test]
    fn the_largest_body_fits_the_memory_limit() {
        let limits = crate::limits::Limits::default();
        let tables = serde_json::json!({"gate": {"any": {"kind": "schema", "schema": {}}}, "gates": {"evaluate": ["any", "rtb"]}});
        let settings = serde_json::from_value(tables).unwrap();
        let choice = renown_core::gates::Choice::of(renown_core::gates::Place::Evaluate);
        let engine =
            renown_core::gates::Engine::new(&settings, &choice, &mut |_| Err(String::new())).unwrap();
        assert!(engine.memory_max(crate::limits::BODY_BYTES_MAX) <= limits.judging_bytes_max);
    }

    #[test]
    fn a_start_may_be_any_time_that_a_timestamp_can_hold() {
        for (ms, expected) in
            [(TIME_MS_MIN - 1, false), (TIME_MS_MIN, true), (TIME_MS_MAX, true), (TIME_MS_MAX + 1, false)]
        {
            let read = serde_json::from_str::<WholeMs<TIME_MS_MIN, TIME_MS_MAX>>(&ms.to_string());
            assert_eq!(read.is_ok(), expected, "{ms}");
            assert_eq!(Timestamp::from_millis(ms.try_into().unwrap()).is_ok(), expected, "{ms}");
        }
    }
}
