//! `/v1/eval-runs`: session metrics over many sessions. Changing requests need a secret key.

use std::collections::HashSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};
use renown_core::eval::{EvalSettings, EvalStatus, MetricName, SentSettings};
use renown_core::ids::{AgentId, EvalRunId, ScheduleId, SessionId};
use renown_core::json::{self, Found, Object, Strict};
use renown_core::schema::Moment;
use renown_core::session_metrics::{SignalWeights, Thresholds};
use renown_core::time::Timestamp;
use renown_core::units::{Unit, Whole};
use renown_store::{
    Accepted, Cursor, EVAL_SESSIONS_MAX, EvalChange, EvalChanged, EvalCreated, EvalFilter, EvalOutcome,
    EvalResultQuery, EvalRunQuery, EvalTargets, NewEvalRun, Position, Receipt,
};
use renown_view::{EvalRunView, EvalRunsPage, EvalScoreView, EvalScoresPage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ErrorReplies;
use super::paths::{Segment, segment};
use crate::api::Api;
use crate::error::{ApiError, Code};
use crate::idempotency::{self, Lookup};
use crate::keys::Caller;
use crate::query::{Query, refused};
use crate::reply::json as reply;

/// Maximum number of characters of a name.
const NAME_CHARS_MAX: usize = 200;

/// An eval run to start.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EvalRunRequest {
    /// Name of the run, for people.
    #[schema(max_length = 200)]
    name: Option<String>,
    /// Metrics to compute; all if absent.
    #[schema(min_items = 1)]
    metrics: Option<Vec<MetricName>>,
    /// Sessions to evaluate, each once. Either this or `filter`.
    #[schema(min_items = 1, max_items = 1000)]
    session_ids: Option<Vec<SessionId>>,
    /// Filter that selects the sessions to evaluate. `{}` selects all.
    filter: Option<StrictFilter>,
    /// Share of the sessions to evaluate, more than 0; all if absent.
    sampling_rate: Option<Unit>,
    /// Weights of the signals that differ from their defaults.
    signal_weights: Option<StrictWeights>,
    /// Scores from which a metric passes; 0.5 if absent.
    thresholds: Option<StrictThresholds>,
}

/// An alias, because utoipa would add the parameter to the name of the schema.
pub(super) type StrictFilter = Strict<SentFilter>;
/// An alias for the same reason.
pub(super) type StrictWeights = Strict<SignalWeights>;
/// An alias for the same reason.
pub(super) type StrictThresholds = Strict<Thresholds>;

/// A filter of sessions.
#[derive(Deserialize, ToSchema)]
#[schema(as = EvalFilterRequest)]
#[serde(deny_unknown_fields)]
pub(super) struct SentFilter {
    /// Only sessions of this agent.
    agent_id: Option<AgentId>,
    /// Only sessions that began at this time or later.
    #[schema(value_type = Option<Moment>)]
    from: Option<Timestamp>,
    /// Only sessions that began at this time or earlier.
    #[schema(value_type = Option<Moment>)]
    to: Option<Timestamp>,
    /// Only sessions with this many traces or more.
    min_traces: Option<Whole>,
}

impl From<SentFilter> for EvalFilter {
    fn from(SentFilter { agent_id, from, to, min_traces }: SentFilter) -> Self {
        Self { agent: agent_id, from, to, min_traces: min_traces.map_or(0, Whole::get) }
    }
}

/// Checks a name that people read.
pub(crate) fn check_name(name: &str) -> Result<(), ApiError> {
    let is_valid =
        (1..=NAME_CHARS_MAX).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if is_valid {
        return Ok(());
    }
    Err(ApiError::invalid(format!(
        "name: {}, expected 1 to {NAME_CHARS_MAX} characters without control characters",
        Found::quoted(name)
    )))
}

/// Checks settings. Absent ones have their defaults.
pub(crate) fn settings(
    metrics: Option<Vec<MetricName>>,
    sampling_rate: Option<Unit>,
    weights: Option<StrictWeights>,
    thresholds: Option<StrictThresholds>,
) -> Result<EvalSettings, ApiError> {
    let signal_weights = weights.map(|Strict(weights)| Object(weights));
    let thresholds = thresholds.map(|Strict(thresholds)| Object(thresholds));
    let sent = SentSettings { metrics, sampling_rate, signal_weights, thresholds };
    sent.try_into().map_err(|error| ApiError::invalid(format!("{error}")))
}

impl EvalRunRequest {
    fn check(self, id: EvalRunId, seed: u64) -> Result<NewEvalRun, ApiError> {
        let Self { name, metrics, session_ids, filter, sampling_rate, signal_weights, thresholds } = self;
        name.as_deref().map(check_name).transpose()?;
        let settings = settings(metrics, sampling_rate, signal_weights, thresholds)?;
        let targets = match (session_ids, filter) {
            (Some(sessions), None) => EvalTargets::Sessions(check_sessions(sessions)?),
            (None, Some(Strict(filter))) => EvalTargets::Filter(filter.into()),
            (Some(_), Some(_)) => {
                return Err(ApiError::invalid("session_ids and filter: expected only one of them"));
            }
            (None, None) => {
                return Err(ApiError::invalid("neither session_ids nor filter, expected one of them"));
            }
        };
        Ok(NewEvalRun { id, name, settings, targets, seed })
    }
}

fn check_sessions(sessions: Vec<SessionId>) -> Result<Vec<SessionId>, ApiError> {
    if !(1..=EVAL_SESSIONS_MAX).contains(&sessions.len()) {
        let found = sessions.len();
        return Err(ApiError::invalid(format!(
            "session_ids: {found} sessions, expected 1 to {EVAL_SESSIONS_MAX}; a filter can select more"
        )));
    }
    let mut seen = HashSet::new();
    match sessions.iter().enumerate().find(|(_, session)| !seen.insert(*session)) {
        Some((index, session)) => Err(ApiError::invalid(format!(
            "session_ids[{index}]: {:?} is given twice, expected each session once",
            session.as_str()
        ))),
        None => Ok(sessions),
    }
}

/// Builds the error for a filter by an agent that does not exist.
pub(crate) fn no_agent(filter: &EvalFilter) -> ApiError {
    let agent = filter.agent.as_ref().map_or("", AgentId::as_str);
    ApiError::new(Code::NotFound, format!("filter.agent_id: there is no agent {agent:?}"))
}

/// Start an eval run
///
/// Computes session metrics for a list of sessions, or for all sessions that a filter selects. The run continues in the background, also
/// after a restart of the server. A session that cannot be evaluated is counted as failed and does not stop the run. Needs a secret key.
#[utoipa::path(
    post,
    path = "/v1/eval-runs",
    operation_id = "create_eval_run",
    tag = "evals",
    request_body = EvalRunRequest,
    responses((status = 202, description = "The run waits for its turn", body = EvalRunView<'_>), ErrorReplies)
)]
pub(crate) async fn create(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    let (body, lookup) = idempotency::begin(&api, &caller.org, "POST /v1/eval-runs", &headers, body).await?;
    let accepted = match lookup {
        Lookup::Replay(receipt) => Accepted::Replayed(receipt),
        Lookup::Fresh(guard) => {
            let request: EvalRunRequest = json::parse_strict(&body)?;
            let new = request.check(api.eval_run_id(), api.seed())?;
            let targets = new.targets.clone();
            match api.store.create_eval_run(&caller.org, new, guard.request_key()).await? {
                Accepted::Fresh(EvalCreated::Created(run)) => {
                    api.wake.eval_runs();
                    Accepted::Fresh(run.position)
                }
                Accepted::Fresh(EvalCreated::NoAgent) => {
                    let EvalTargets::Filter(filter) = targets else {
                        return Err(no_agent(&EvalFilter::default()));
                    };
                    return Err(no_agent(&filter));
                }
                Accepted::Replayed(receipt) => Accepted::Replayed(receipt),
                Accepted::Conflict => Accepted::Conflict,
            }
        }
    };
    let position = idempotency::outcome(accepted, |receipt| {
        if let Receipt::EvalRun(position) = receipt { Some(position) } else { None }
    })?;
    created(&api, &caller, position).await
}

/// Answers with a run as it was created, also when it has started since.
async fn created(api: &Api, caller: &Caller, position: Position) -> Result<Response, ApiError> {
    let run = api.store.eval_run_at(&caller.org, position).await?;
    let run = run.ok_or_else(|| gone("eval run"))?.as_created();
    Ok(reply(StatusCode::ACCEPTED, &EvalRunView::of(&run)))
}

/// Builds the error for a retry whose first request created something that was deleted since.
pub(super) fn gone(what: &str) -> ApiError {
    let error = format!(
        "the {what} that this Idempotency-Key created was deleted; send another key to create a new one"
    );
    ApiError::new(Code::Conflict, error)
}

/// List eval runs
///
/// Returns the last created run first.
#[utoipa::path(
    get,
    path = "/v1/eval-runs",
    operation_id = "list_eval_runs",
    tag = "evals",
    params(
        ("limit" = Option<u32>, Query, description = "Maximum number of rows", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page",
            pattern = "^[0-9a-f]{1,15}$"),
        ("status" = Option<EvalStatus>, Query, description = "Only runs in this state"),
        ("schedule_id" = Option<ScheduleId>, Query, description = "Only runs of this schedule"),
    ),
    responses((status = 200, description = "A page of eval runs", body = EvalRunsPage<'_>), ErrorReplies)
)]
pub(crate) async fn list(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let schedule = query.get("schedule_id")?;
    runs(&api, &caller, &query, schedule).await
}

/// Answers with a page of runs.
pub(super) async fn runs(
    api: &Api,
    caller: &Caller,
    query: &Query,
    schedule: Option<ScheduleId>,
) -> Result<Response, ApiError> {
    let status = |text: &str| {
        let expected = "pending, running, completed, failed or cancelled";
        text.parse::<EvalStatus>().map_err(|_| refused("status", text, expected))
    };
    let query = EvalRunQuery {
        status: query.text("status")?.map(status).transpose()?,
        schedule,
        before: query.cursor()?,
        limit: query.limit()?,
    };
    let page = api.store.eval_runs(&caller.org, query).await?;
    let next_cursor = page.next.map(|next| next.to_text());
    Ok(reply(
        StatusCode::OK,
        &EvalRunsPage { data: page.runs.iter().map(EvalRunView::of).collect(), next_cursor },
    ))
}

/// Read an eval run
#[utoipa::path(
    get,
    path = "/v1/eval-runs/{eval_run_id}",
    operation_id = "get_eval_run",
    tag = "evals",
    params(("eval_run_id" = EvalRunId, Path, description = "The eval run")),
    responses((status = 200, description = "The eval run", body = EvalRunView<'_>), ErrorReplies)
)]
pub(crate) async fn run(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    let id: EvalRunId = segment(path, "eval_run_id")?;
    let run = api.store.eval_run(&caller.org, &id).await?.ok_or_else(|| unknown(&id))?;
    Ok(reply(StatusCode::OK, &EvalRunView::of(&run)))
}

fn unknown(id: &EvalRunId) -> ApiError {
    ApiError::new(Code::NotFound, format!("there is no eval run {:?}", id.as_str()))
}

/// Read the results of an eval run
///
/// Returns one result per session, sorted by session, with the metadata of each metric.
#[utoipa::path(
    get,
    path = "/v1/eval-runs/{eval_run_id}/scores",
    operation_id = "list_eval_scores",
    tag = "evals",
    params(
        ("eval_run_id" = EvalRunId, Path, description = "The eval run"),
        ("limit" = Option<u32>, Query, description = "Maximum number of rows", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page", format = "session-id"),
        ("status" = Option<String>, Query, description = "Only results in this state", pattern = "^(pending|scored|failed)$"),
    ),
    responses((status = 200, description = "A page of results", body = EvalScoresPage<'_>), ErrorReplies)
)]
pub(crate) async fn scores(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let id: EvalRunId = segment(path, "eval_run_id")?;
    let state = |text: &str| {
        let known = EvalOutcome::NAMES.into_iter().find(|name| *name == text);
        known.ok_or_else(|| refused("status", text, "pending, scored or failed"))
    };
    let query = EvalResultQuery {
        state: query.text("status")?.map(state).transpose()?,
        after: query.cursor_of(|text| text.parse().ok())?,
        limit: query.limit()?,
    };
    let page = api.store.eval_results(&caller.org, &id, query).await?.ok_or_else(|| unknown(&id))?;
    let data = page.results.iter().map(EvalScoreView::of).collect();
    let next_cursor = page.next.as_ref().map(|next| next.as_str().to_owned());
    Ok(reply(StatusCode::OK, &EvalScoresPage { data, next_cursor }))
}

/// The state of an eval run after a change.
#[derive(Serialize, ToSchema)]
pub(crate) struct EvalChangeReply<'e> {
    /// Id of the eval run.
    eval_run_id: &'e EvalRunId,
    /// State of the eval run.
    status: EvalStatus,
}

/// Cancel an eval run
///
/// The results so far stay. Needs a secret key.
#[utoipa::path(
    post,
    path = "/v1/eval-runs/{eval_run_id}/cancel",
    operation_id = "cancel_eval_run",
    tag = "evals",
    params(("eval_run_id" = EvalRunId, Path, description = "The eval run")),
    responses((status = 200, description = "The run is cancelled", body = EvalChangeReply<'_>), ErrorReplies)
)]
pub(crate) async fn cancel(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let id = change(&api, &caller, path, &headers, body, EvalChange::Cancel).await?;
    let status = EvalStatus::Cancelled;
    Ok(reply(StatusCode::OK, &EvalChangeReply { eval_run_id: &id, status }))
}

/// Retry the failed sessions of an eval run
///
/// Evaluates them again; a run that failed as a whole goes on. Results that exist stay. Needs a secret key.
#[utoipa::path(
    post,
    path = "/v1/eval-runs/{eval_run_id}/retry",
    operation_id = "retry_eval_run",
    tag = "evals",
    params(("eval_run_id" = EvalRunId, Path, description = "The eval run")),
    responses((status = 202, description = "The run waits for its turn", body = EvalChangeReply<'_>), ErrorReplies)
)]
pub(crate) async fn retry(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let id = change(&api, &caller, path, &headers, body, EvalChange::Retry).await?;
    Ok(reply(StatusCode::ACCEPTED, &EvalChangeReply { eval_run_id: &id, status: EvalStatus::Pending }))
}

/// Changes the run that a path names. Returns its id.
async fn change(
    api: &Api,
    caller: &Caller,
    path: Segment,
    headers: &HeaderMap,
    body: Body,
    change: EvalChange,
) -> Result<EvalRunId, ApiError> {
    caller.check_administers()?;
    let id: EvalRunId = segment(path, "eval_run_id")?;
    let route = format!("POST /v1/eval-runs/{id}/{change:?}");
    let (body, lookup) = idempotency::begin(api, &caller.org, &route, headers, body).await?;
    check_empty(&body)?;
    let Lookup::Fresh(guard) = lookup else { return Ok(id) };
    match api.store.change_eval_run(&caller.org, &id, change, guard.request_key()).await? {
        Accepted::Fresh(EvalChanged::Changed(_)) => {
            api.wake.eval_runs();
            Ok(id)
        }
        Accepted::Replayed(_) => Ok(id),
        Accepted::Fresh(EvalChanged::Refused(status)) => Err(refused_change(change, status)),
        Accepted::Fresh(EvalChanged::Unknown) => Err(unknown(&id)),
        Accepted::Conflict => Err(idempotency::conflict()),
    }
}

fn refused_change(change: EvalChange, status: EvalStatus) -> ApiError {
    let error = match (change, status) {
        (EvalChange::Retry, EvalStatus::Completed) => {
            "no session of the eval run failed, so there is nothing to retry".to_owned()
        }
        (EvalChange::Retry, status) => {
            format!("the eval run is {}, expected completed or failed", status.name())
        }
        (EvalChange::Cancel, status) => {
            format!("the eval run is {}, expected pending or running", status.name())
        }
    };
    ApiError::new(Code::Conflict, error)
}

/// The body of a request that needs none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Checks the body of a request that needs none: nothing, or an empty object.
pub(super) fn check_empty(body: &[u8]) -> Result<(), ApiError> {
    if !body.is_empty() {
        let Nothing {} = json::parse_strict(body)?;
    }
    Ok(())
}
