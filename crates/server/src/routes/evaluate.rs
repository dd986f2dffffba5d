//! `POST /v1/evaluate`: runs the gates on one output, counts the verdict, answers with it and the agent's reputation.

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
use renown_core::reputation::Standing;
use renown_core::units::{Micros, Whole};
use renown_store::{NewEvaluation, Outcome};
use renown_view::shared::LifecycleView;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use tokio::runtime::{Handle, RuntimeFlavor};
use utoipa::ToSchema;

use super::Refused;
use super::shapes::{AgentName, TimeMillis};
use crate::api::Api;
use crate::body::discard;
use crate::changes::Changed;
use crate::error::{ApiError, Code};
use crate::idempotency::{self, Begun};
use crate::keys::Caller;
use crate::reply::json_bytes;

/// Up to so many bytes are judged without asking another thread to go on with the requests.
const JUDGED_AT_ONCE_BYTES: usize = 32 * 1024;

/// The longest time for an output: an hour.
const TMAX_MS_MAX: u64 = 3_600_000;

/// What a time that is sent may be: 2000 to 2100.
const TIME_MS_MIN: u64 = 946_684_800_000;
const TIME_MS_MAX: u64 = 4_102_444_800_000;

/// What is to be judged.
#[derive(Deserialize, ToSchema)]
pub(crate) struct EvaluateRequest<'a> {
    /// Whose output it is.
    #[schema(value_type = AgentName)]
    agent_id: AgentId,
    /// The output, any JSON; it may be null but has to be there. It is never stored, logged or echoed.
    #[serde(borrow)]
    #[schema(value_type = Value)]
    output: &'a RawValue,
    /// The tool that made it.
    #[schema(value_type = Option<String>, max_length = 200)]
    tool: Option<ToolName>,
    /// What the tool was given, any JSON. It is never stored, logged or echoed.
    #[serde(borrow)]
    #[schema(value_type = Option<Value>)]
    input: Option<&'a RawValue>,
    /// How long the agent took.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 60000)]
    latency_ms: Option<Micros>,
    /// The caller's own id of this evaluation: its second arrival returns the first result and counts nothing.
    #[schema(value_type = Option<String>, pattern = "^[A-Za-z0-9_-]{1,64}$")]
    evaluation_id: Option<EvaluationId>,
    /// The time that whoever asked for the output gives for it, in milliseconds, for `rtb.tmax-guard`.
    #[schema(value_type = Option<u32>, maximum = 3_600_000)]
    tmax_ms: Option<WholeMs<0, TMAX_MS_MAX>>,
    /// When that time began, in milliseconds after 1970.
    #[schema(value_type = Option<TimeMillis>)]
    started_at: Option<WholeMs<TIME_MS_MIN, TIME_MS_MAX>>,
}

/// A whole number of milliseconds from a smallest to a largest one.
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

/// The verdict on one output. A failed gate is still 200.
#[derive(Serialize, ToSchema)]
pub(crate) struct EvaluateReply<'a> {
    /// The id of this evaluation, as sent or made here.
    #[schema(value_type = String)]
    evaluation_id: &'a EvaluationId,
    /// Whether every gate passed or was skipped.
    passed: bool,
    /// One result a gate, in the configured order.
    #[schema(value_type = Vec<super::ingest::GateReport<'_>>)]
    gates: &'a RawValue,
    /// How long the gates took.
    #[schema(value_type = f64)]
    total_latency_ms: Micros,
    /// The agent's reputation right after this evaluation.
    #[schema(value_type = ReputationReply)]
    reputation: Standing,
    /// Fields of the request that are unknown and were ignored; absent if there are none.
    #[serde(skip_serializing_if = "is_empty")]
    #[schema(value_type = Vec<String>, required = false)]
    warnings: &'a [String],
}

/// A slice behind the reference that serde hands over.
fn is_empty(warnings: &&[String]) -> bool {
    warnings.is_empty()
}

/// The short form of a reputation.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct ReputationReply {
    /// 0 to 1000.
    #[schema(maximum = 1000)]
    score: u32,
    lifecycle: LifecycleView,
    /// Evaluations in the window, at most 500.
    #[schema(maximum = 500)]
    eval_count: u64,
}

/// Judge an output
///
/// Runs the configured gates, counts the verdict for the agent, and returns both the verdict and the reputation after it.
#[utoipa::path(
    post,
    path = "/v1/evaluate",
    tag = "evaluations",
    request_body = EvaluateRequest<'_>,
    responses((status = 200, description = "The verdict", body = EvaluateReply<'_>), Refused)
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
    let (body, ticket) =
        match idempotency::begin(&api, &caller.org, "POST /v1/evaluate", &headers, body).await? {
            Begun::Replay(saved) => return Ok(idempotency::replay(saved)),
            Begun::Fresh(body, ticket) => (body, ticket),
        };
    let _place = api.evaluating.enter()?;
    let Noted { value: request, unknown } = json::parse_noted::<EvaluateRequest<'_>>(&body)?;
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
    let hold = api.judging.hold(api.engine.memory_max(body.len()))?;
    let verdict = judge(&api, &context, body.len());
    drop(hold);
    let gates: Arc<str> = serde_json::to_string(&verdict.gates).unwrap_or_default().into();
    let id = api.event_id(request.evaluation_id);
    let judged = Judged {
        id: id.get().clone(),
        passed: verdict.passed,
        gates: Arc::clone(&gates),
        total: verdict.total,
        warnings: unknown.into_warnings(),
    };
    let evaluation = NewEvaluation {
        agent: request.agent_id.clone(),
        id,
        passed: verdict.passed,
        gate_latency: verdict.total,
        agent_latency: request.latency_ms,
        tool: request.tool,
        gates,
        timestamp: None,
    };
    let kept = judged.clone();
    let once = ticket.once::<[Outcome]>(|| {
        Box::new(move |outcomes| {
            (200, outcomes.first().map(|outcome| kept.reply(outcome)).unwrap_or_default())
        })
    });
    let outcomes = api.store.append(&caller.org, vec![evaluation], once).await?;
    let Some(outcome) = outcomes.first() else { return Err(ApiError::new(Code::Internal, "no outcome")) };
    match outcome {
        Outcome::Counted { .. } => {
            api.measures.evaluations(u64::from(verdict.passed), u64::from(!verdict.passed), 0);
            api.feed.tell(&caller.org, || Changed::Agent(request.agent_id.clone()));
        }
        Outcome::Repeated { .. } => api.measures.evaluations(0, 0, 1),
    }
    Ok(json_bytes(StatusCode::OK, judged.reply(outcome)))
}

/// Runs the gates. A large output may take them milliseconds, in which this thread could not answer anybody else.
fn judge(api: &Api, context: &Context<'_>, bytes: usize) -> Verdict {
    let judge = || api.engine.evaluate(context, &MachineClock::start());
    let may_block = Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread;
    if bytes > JUDGED_AT_ONCE_BYTES && may_block { tokio::task::block_in_place(judge) } else { judge() }
}

/// What this request found, in case it is the first with its id.
#[derive(Clone)]
struct Judged {
    id: EvaluationId,
    passed: bool,
    gates: Arc<str>,
    total: Micros,
    warnings: Vec<String>,
}

impl Judged {
    /// The reply: of this verdict, or of the first one with its id.
    fn reply(&self, outcome: &Outcome) -> Vec<u8> {
        let reply = |id, passed, gates, total, reputation| {
            let gates = serde_json::from_str(gates).unwrap_or(RawValue::NULL);
            let warnings = &self.warnings;
            let reply = EvaluateReply {
                evaluation_id: id,
                passed,
                gates,
                total_latency_ms: total,
                reputation,
                warnings,
            };
            serde_json::to_vec(&reply).unwrap_or_default()
        };
        match outcome {
            Outcome::Counted { tally } => {
                reply(&self.id, self.passed, &self.gates, self.total, tally.standing())
            }
            Outcome::Repeated { first, .. } => {
                reply(&first.id, first.passed, &first.gates, first.gate_latency, first.standing)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use renown_core::time::Timestamp;

    #[test]
    fn there_is_room_for_the_largest_body() {
        let limits = crate::limits::Limits::default();
        let tables = serde_json::json!({"gate": {"any": {"kind": "schema", "schema": {}}}, "gates": {"evaluate": ["any", "rtb"]}});
        let settings = serde_json::from_value(tables).unwrap();
        let choice = renown_core::gates::Choice::of(renown_core::gates::Place::Evaluate);
        let engine =
            renown_core::gates::Engine::new(&settings, &choice, &mut |_| Err(String::new())).unwrap();
        assert!(engine.memory_max(crate::body::BODY_BYTES_MAX) <= limits.judging_bytes_max);
    }

    #[test]
    fn a_start_may_be_any_time_that_can_be_kept() {
        for (ms, expected) in
            [(TIME_MS_MIN - 1, false), (TIME_MS_MIN, true), (TIME_MS_MAX, true), (TIME_MS_MAX + 1, false)]
        {
            let read = serde_json::from_str::<WholeMs<TIME_MS_MIN, TIME_MS_MAX>>(&ms.to_string());
            assert_eq!(read.is_ok(), expected, "{ms}");
            assert_eq!(Timestamp::from_millis(ms.try_into().unwrap()).is_ok(), expected, "{ms}");
        }
    }
}
