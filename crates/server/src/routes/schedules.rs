//! `/v1/schedules`: eval runs that start by themselves. Changing requests need a secret key.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use hyper::{HeaderMap, StatusCode};
use renown_core::eval::{EvalSettings, EvalStatus, MetricName};
use renown_core::ids::{EvalRunId, ScheduleId};
use renown_core::json::{self, Found, Strict};
use renown_core::schedule::Cadence;
use renown_core::units::Unit;
use renown_store::{
    Accepted, Cursor, EvalFilter, Fired, NewSchedule, Position, Receipt, Schedule, ScheduleChange,
    ScheduleChanged,
};
use renown_view::{EvalRunsPage, ScheduleView, SchedulesPage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ErrorReplies;
use super::eval_runs::{
    self, StrictFilter, StrictThresholds, StrictWeights, check_empty, check_name, gone, no_agent,
};
use super::paths::{Segment, segment};
use crate::api::Api;
use crate::body::read_json;
use crate::error::{ApiError, Code};
use crate::idempotency::{self, Lookup};
use crate::keys::Caller;
use crate::query::Query;
use crate::reply::json as reply;
use crate::work::start_scheduled;

/// A schedule to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScheduleRequest {
    /// Name of the schedule and of its runs.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// When it fires, in UTC: `every_6h`, `daily`, `weekly` (Mondays), or `cron:` and five fields, such as `cron:30 2 * * MON-FRI`.
    #[schema(max_length = 300)]
    cadence: String,
    /// Metrics to compute; all if absent.
    #[schema(min_items = 1)]
    metrics: Option<Vec<MetricName>>,
    /// Filter that selects the sessions to evaluate; all if absent.
    filter: Option<StrictFilter>,
    /// Share of the sessions to evaluate, more than 0; all if absent.
    sampling_rate: Option<Unit>,
    /// Weights of the signals that differ from their defaults.
    signal_weights: Option<StrictWeights>,
    /// Scores from which a metric passes; 0.5 if absent.
    thresholds: Option<StrictThresholds>,
    /// Start no run if no evidence of the selected sessions was accepted since the last run; `true` if absent.
    only_if_changed: Option<bool>,
}

/// Changes of a schedule. Absent fields stay as they are.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SchedulePatch {
    /// Name of the schedule and of its later runs.
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
    /// When it fires, in UTC. Ticks of the new cadence count from now.
    #[schema(max_length = 300)]
    cadence: Option<String>,
    /// Metrics to compute.
    #[schema(min_items = 1)]
    metrics: Option<Vec<MetricName>>,
    /// Filter that selects the sessions to evaluate. Replaces the whole filter.
    filter: Option<StrictFilter>,
    /// Share of the sessions to evaluate, more than 0.
    sampling_rate: Option<Unit>,
    /// Weights of the signals. Replaces all weights; absent ones have their defaults.
    signal_weights: Option<StrictWeights>,
    /// Scores from which a metric passes. Replaces all thresholds.
    thresholds: Option<StrictThresholds>,
    /// Start no run if no evidence of the selected sessions was accepted since the last run.
    only_if_changed: Option<bool>,
}

/// Parses a cadence.
pub(crate) fn cadence(text: &str) -> Result<Cadence, ApiError> {
    text.parse().map_err(|error| ApiError::invalid(format!("cadence: {}, {error}", Found::quoted(text))))
}

impl ScheduleRequest {
    fn check(self, id: ScheduleId) -> Result<NewSchedule, ApiError> {
        let Self { name, metrics, filter, sampling_rate, signal_weights, thresholds, .. } = self;
        check_name(&name)?;
        Ok(NewSchedule {
            id,
            name,
            cadence: cadence(&self.cadence)?,
            settings: eval_runs::settings(metrics, sampling_rate, signal_weights, thresholds)?,
            filter: filter.map(|Strict(filter)| filter.into()).unwrap_or_default(),
            only_if_changed: self.only_if_changed.unwrap_or(true),
        })
    }
}

impl SchedulePatch {
    /// Checks the changes of a schedule.
    fn check(self, known: &Schedule) -> Result<ScheduleChange, ApiError> {
        let Self {
            name, metrics, filter, sampling_rate, signal_weights, thresholds, only_if_changed, ..
        } = self;
        name.as_deref().map(check_name).transpose()?;
        let changes_settings =
            metrics.is_some() || sampling_rate.is_some() || signal_weights.is_some() || thresholds.is_some();
        let EvalSettings {
            metrics: old_metrics,
            sampling_rate: old_rate,
            signal_weights: old_weights,
            thresholds: old,
        } = known.state.settings.clone();
        let settings = || {
            eval_runs::settings(
                metrics.or(Some(old_metrics)),
                sampling_rate.or(Some(old_rate)),
                signal_weights.or(Some(Strict(old_weights))),
                thresholds.or(Some(Strict(old))),
            )
        };
        Ok(ScheduleChange {
            name,
            cadence: self.cadence.as_deref().map(cadence).transpose()?,
            settings: changes_settings.then(settings).transpose()?,
            filter: filter.map(|Strict(filter)| filter.into()),
            only_if_changed,
            paused: None,
        })
    }
}

/// Create a schedule
///
/// Its first run starts at the first tick after now. Ticks that are missed while the server is down start one run when it is back. Needs a
/// secret key.
#[utoipa::path(
    post,
    path = "/v1/schedules",
    operation_id = "create_schedule",
    tag = "evals",
    request_body = ScheduleRequest,
    responses((status = 201, description = "The schedule", body = ScheduleView<'_>), ErrorReplies)
)]
pub(crate) async fn create(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    let (body, lookup) = idempotency::begin(&api, &caller.org, "POST /v1/schedules", &headers, body).await?;
    let request: ScheduleRequest = json::parse_strict(&body)?;
    let new = request.check(api.schedule_id())?;
    let accepted = match lookup {
        Lookup::Replay(receipt) => Accepted::Replayed(receipt),
        Lookup::Fresh(guard) => {
            match api.store.create_schedule(&caller.org, new.clone(), guard.request_key()).await? {
                Accepted::Fresh(ScheduleChanged::Changed(schedule)) => Accepted::Fresh(schedule.position),
                Accepted::Fresh(ScheduleChanged::NoAgent | ScheduleChanged::Unknown) => {
                    return Err(no_agent(&new.filter));
                }
                Accepted::Replayed(receipt) => Accepted::Replayed(receipt),
                Accepted::Conflict => Accepted::Conflict,
            }
        }
    };
    let position: Position = idempotency::outcome(accepted, |receipt| {
        if let Receipt::Schedule(position) = receipt { Some(position) } else { None }
    })?;
    let stored = api.store.schedule_at(&caller.org, position).await?.ok_or_else(|| gone("schedule"))?;
    Ok(reply(StatusCode::CREATED, &ScheduleView::of(&stored.as_created(&new))))
}

/// List schedules
///
/// Returns the last created schedule first.
#[utoipa::path(
    get,
    path = "/v1/schedules",
    operation_id = "list_schedules",
    tag = "evals",
    params(
        ("limit" = Option<u32>, Query, description = "Maximum number of rows", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page",
            pattern = "^[0-9a-f]{1,15}$"),
    ),
    responses((status = 200, description = "A page of schedules", body = SchedulesPage<'_>), ErrorReplies)
)]
pub(crate) async fn list(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let page = api.store.schedules(&caller.org, query.cursor()?, query.limit()?).await?;
    let next_cursor = page.next.map(|next| next.to_text());
    let data = page.schedules.iter().map(ScheduleView::of).collect();
    Ok(reply(StatusCode::OK, &SchedulesPage { data, next_cursor }))
}

/// Read a schedule
#[utoipa::path(
    get,
    path = "/v1/schedules/{schedule_id}",
    operation_id = "get_schedule",
    tag = "evals",
    params(("schedule_id" = ScheduleId, Path, description = "The schedule")),
    responses((status = 200, description = "The schedule", body = ScheduleView<'_>), ErrorReplies)
)]
pub(crate) async fn schedule(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    Ok(reply(StatusCode::OK, &ScheduleView::of(&find(&api, &caller, path).await?)))
}

async fn find(api: &Api, caller: &Caller, path: Segment) -> Result<Schedule, ApiError> {
    let id: ScheduleId = segment(path, "schedule_id")?;
    api.store.schedule(&caller.org, &id).await?.ok_or_else(|| unknown(&id))
}

fn unknown(id: &ScheduleId) -> ApiError {
    ApiError::new(Code::NotFound, format!("there is no schedule {:?}", id.as_str()))
}

/// Change a schedule
///
/// Needs a secret key.
#[utoipa::path(
    patch,
    path = "/v1/schedules/{schedule_id}",
    operation_id = "update_schedule",
    tag = "evals",
    params(("schedule_id" = ScheduleId, Path, description = "The schedule")),
    request_body = SchedulePatch,
    responses((status = 200, description = "The schedule", body = ScheduleView<'_>), ErrorReplies)
)]
pub(crate) async fn update(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    let body = read_json(&headers, body, api.limits.body_time_max).await?;
    let changes: SchedulePatch = json::parse_strict(&body)?;
    let known = find(&api, &caller, path).await?;
    let change = changes.check(&known)?;
    let filter: Option<EvalFilter> = change.filter.clone();
    match api.store.change_schedule(&caller.org, &known.id, change, None).await?.fresh() {
        Some(ScheduleChanged::Changed(schedule)) => Ok(reply(StatusCode::OK, &ScheduleView::of(&schedule))),
        Some(ScheduleChanged::NoAgent) => Err(no_agent(&filter.unwrap_or_default())),
        Some(ScheduleChanged::Unknown) | None => Err(unknown(&known.id)),
    }
}

/// Delete a schedule
///
/// Its runs stay. Needs a secret key.
#[utoipa::path(
    delete,
    path = "/v1/schedules/{schedule_id}",
    operation_id = "delete_schedule",
    tag = "evals",
    params(("schedule_id" = ScheduleId, Path, description = "The schedule")),
    responses((status = 204, description = "The schedule is deleted"), ErrorReplies)
)]
pub(crate) async fn delete(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    let id: ScheduleId = segment(path, "schedule_id")?;
    if api.store.delete_schedule(&caller.org, &id).await? {
        Ok(StatusCode::NO_CONTENT.into_response())
    } else {
        Err(unknown(&id))
    }
}

/// Whether a schedule is paused.
#[derive(Serialize, ToSchema)]
pub(crate) struct PauseReply<'e> {
    /// Id of the schedule.
    schedule_id: &'e ScheduleId,
    /// Whether it is paused.
    paused: bool,
}

/// Pause a schedule
///
/// It starts no run until it is resumed. Needs a secret key.
#[utoipa::path(
    post,
    path = "/v1/schedules/{schedule_id}/pause",
    operation_id = "pause_schedule",
    tag = "evals",
    params(("schedule_id" = ScheduleId, Path, description = "The schedule")),
    responses((status = 200, description = "The schedule is paused", body = PauseReply<'_>), ErrorReplies)
)]
pub(crate) async fn pause(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    set_paused(&api, &caller, path, &headers, body, true).await
}

/// Resume a schedule
///
/// Ticks that passed during the pause start no run. Needs a secret key.
#[utoipa::path(
    post,
    path = "/v1/schedules/{schedule_id}/resume",
    operation_id = "resume_schedule",
    tag = "evals",
    params(("schedule_id" = ScheduleId, Path, description = "The schedule")),
    responses((status = 200, description = "The schedule is active", body = PauseReply<'_>), ErrorReplies)
)]
pub(crate) async fn resume(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    set_paused(&api, &caller, path, &headers, body, false).await
}

async fn set_paused(
    api: &Api,
    caller: &Caller,
    path: Segment,
    headers: &HeaderMap,
    body: Body,
    paused: bool,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    let id: ScheduleId = segment(path, "schedule_id")?;
    let route = format!("POST /v1/schedules/{id}/{paused}");
    let (body, lookup) = idempotency::begin(api, &caller.org, &route, headers, body).await?;
    check_empty(&body)?;
    let done = reply(StatusCode::OK, &PauseReply { schedule_id: &id, paused });
    let Lookup::Fresh(guard) = lookup else { return Ok(done) };
    let change = ScheduleChange { paused: Some(paused), ..ScheduleChange::default() };
    match api.store.change_schedule(&caller.org, &id, change, guard.request_key()).await? {
        Accepted::Fresh(ScheduleChanged::Changed(_)) | Accepted::Replayed(_) => Ok(done),
        Accepted::Fresh(ScheduleChanged::NoAgent | ScheduleChanged::Unknown) => Err(unknown(&id)),
        Accepted::Conflict => Err(idempotency::conflict()),
    }
}

/// The run that a client asked for.
#[derive(Serialize, ToSchema)]
pub(crate) struct TriggerReply {
    /// Id of the eval run.
    eval_run_id: EvalRunId,
}

/// Start a run of a schedule now
///
/// Starts a run also if nothing has changed, and if the schedule is paused. The next tick stays. Needs a secret key.
#[utoipa::path(
    post,
    path = "/v1/schedules/{schedule_id}/trigger",
    operation_id = "trigger_schedule",
    tag = "evals",
    params(("schedule_id" = ScheduleId, Path, description = "The schedule")),
    responses((status = 202, description = "The run waits for its turn", body = TriggerReply), ErrorReplies)
)]
pub(crate) async fn trigger(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    caller.check_administers()?;
    let known = find(&api, &caller, path).await?;
    let route = format!("POST /v1/schedules/{}/trigger", known.id);
    let (body, lookup) = idempotency::begin(&api, &caller.org, &route, &headers, body).await?;
    check_empty(&body)?;
    let accepted = match lookup {
        Lookup::Replay(receipt) => Accepted::Replayed(receipt),
        Lookup::Fresh(guard) => {
            match start_scheduled(&api, &caller.org, &known, None, guard.request_key()).await? {
                Accepted::Fresh(Fired::Started(run)) => Accepted::Fresh(run.position),
                Accepted::Fresh(Fired::Unchanged | Fired::Moved) => return Err(unknown(&known.id)),
                Accepted::Replayed(receipt) => Accepted::Replayed(receipt),
                Accepted::Conflict => Accepted::Conflict,
            }
        }
    };
    let position = idempotency::outcome(accepted, |receipt| {
        if let Receipt::EvalRun(position) = receipt { Some(position) } else { None }
    })?;
    let run = api.store.eval_run_at(&caller.org, position).await?.ok_or_else(|| gone("eval run"))?;
    Ok(reply(StatusCode::ACCEPTED, &TriggerReply { eval_run_id: run.id }))
}

/// List the runs of a schedule
///
/// Returns the last created run first.
#[utoipa::path(
    get,
    path = "/v1/schedules/{schedule_id}/runs",
    operation_id = "list_schedule_runs",
    tag = "evals",
    params(
        ("schedule_id" = ScheduleId, Path, description = "The schedule"),
        ("limit" = Option<u32>, Query, description = "Maximum number of rows", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page",
            pattern = "^[0-9a-f]{1,15}$"),
        ("status" = Option<EvalStatus>, Query, description = "Only runs in this state"),
    ),
    responses((status = 200, description = "A page of eval runs", body = EvalRunsPage<'_>), ErrorReplies)
)]
pub(crate) async fn runs(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let known = find(&api, &caller, path).await?;
    eval_runs::runs(&api, &caller, &query, Some(known.id)).await
}
