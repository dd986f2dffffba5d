//! `/eval-runs`, `/eval-runs/{eval_run_id}` and `/schedules`: eval runs, and when they start by themselves.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use hyper::{HeaderMap, Uri};
use renown_core::eval::EvalStatus;
use renown_core::ids::{AgentId, EvalRunId, ScheduleId, SessionId};
use renown_core::units::Unit;
use renown_pages::Section;
use renown_pages::evals::{
    EvalRunList, EvalRunPage, ROWS, ScheduleList, render_list, render_run, render_schedules,
};
use renown_store::{
    Cursor, EvalChange, EvalCreated, EvalFilter, EvalResultQuery, EvalRunQuery, EvalTargets, Fired,
    NewEvalRun, NewSchedule, Position, Schedule, ScheduleChange, ScheduleChanged,
};
use renown_view::{EvalRunView, EvalScoreView, ScheduleView};

use super::form::Form;
use super::list_query::{A_CURSOR, ListQuery};
use super::reply::{Page, PageError, html, redirect};
use super::visits::Visit;
use super::{origin, shell, visitor};
use crate::api::Api;
use crate::error::ApiError;
use crate::routes::eval_runs::{check_name, no_agent, settings};
use crate::routes::paths::{Segment, segment};
use crate::routes::schedules::cadence;
use crate::work::start_scheduled;

/// Shows the list.
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    uri: Uri,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let origin = origin(&headers);
    let shell = shell(&api, Some(&visit), &origin, Section::Evals);
    let mut parameters = ListQuery::of(query);
    let status: Option<EvalStatus> =
        parameters.get("status", "pending, running, completed, failed or cancelled");
    let before = parameters.read("cursor", A_CURSOR, Position::from_text);
    let query = EvalRunQuery { status, before, limit: ROWS, ..EvalRunQuery::default() };
    let page = api.store.eval_runs(&visit.org, query).await?;
    let runs: Vec<EvalRunView<'_>> = page.runs.iter().map(EvalRunView::of).collect();
    let next = page.next.map(|next| next.to_text());
    let (ignored, is_first) = (parameters.ignored(), before.is_none());
    html(render_list(&shell, &EvalRunList { runs: &runs, status, ignored, is_first, next: next.as_deref() }))
}

/// Starts a run.
pub(super) async fn create(State(api): State<Arc<Api>>, uri: Uri, headers: HeaderMap, body: Body) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let form = Form::read(&api, &visit, &headers, body).await?;
    visit.check_administers()?;
    let text = |name: &str| form.get(name).map(str::trim).filter(|text| !text.is_empty());
    let name = text("name").map(str::to_owned);
    name.as_deref().map(check_name).transpose()?;
    let number = |name: &'static str| -> Result<Option<f64>, ApiError> {
        let invalid = || ApiError::invalid(format!("{name}: expected a number"));
        text(name).map(|text| text.parse().map_err(|_| invalid())).transpose()
    };
    let rate = number("sampling_rate")?.map(Unit::new).transpose();
    let sampling_rate = rate.map_err(|error| ApiError::invalid(format!("sampling_rate: {error}")))?;
    let min_traces = text("min_traces").map(str::parse).transpose();
    let filter = EvalFilter {
        agent: agent(text("agent"))?,
        min_traces: min_traces
            .map_err(|error| ApiError::invalid(format!("min_traces: {error}")))?
            .unwrap_or_default(),
        ..EvalFilter::default()
    };
    let new = NewEvalRun {
        id: api.eval_run_id(),
        name,
        settings: settings(None, sampling_rate, None, None)?,
        targets: EvalTargets::Filter(filter.clone()),
        seed: api.seed(),
    };
    match api.store.create_eval_run(&visit.org, new, None).await?.fresh() {
        Some(EvalCreated::Created(run)) => {
            api.wake.eval_runs();
            Ok(redirect(&format!("/eval-runs/{}", run.id)))
        }
        Some(EvalCreated::NoAgent) | None => Err(no_agent(&filter).into()),
    }
}

fn agent(text: Option<&str>) -> Result<Option<AgentId>, ApiError> {
    let parsed = text.map(str::parse).transpose();
    parsed.map_err(|error| ApiError::invalid(format!("agent: {error}")))
}

fn unknown_run() -> PageError {
    PageError::not_found("there is no eval run with this id")
}

/// Shows one run.
pub(super) async fn page(
    State(api): State<Arc<Api>>,
    uri: Uri,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    path: Segment,
) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let origin = origin(&headers);
    let shell = shell(&api, Some(&visit), &origin, Section::Evals);
    let id: EvalRunId = segment(path, "eval_run_id").map_err(|_| unknown_run())?;
    let mut parameters = ListQuery::of(query);
    let after: Option<SessionId> = parameters.get("after", A_CURSOR);
    let only_failed = parameters.read("failed", "1", |text| (text == "1").then_some(())).is_some();
    let run = api.store.eval_run(&visit.org, &id).await?.ok_or_else(unknown_run)?;
    let query = EvalResultQuery { state: only_failed.then_some("failed"), after, limit: ROWS };
    let results = api.store.eval_results(&visit.org, &id, query).await?.ok_or_else(unknown_run)?;
    let scores: Vec<EvalScoreView<'_>> = results.results.iter().map(EvalScoreView::of).collect();
    let run = EvalRunView::of(&run);
    html(render_run(
        &shell,
        &EvalRunPage { run: &run, scores: &scores, only_failed, next: results.next.as_ref() },
    ))
}

/// Stops a run.
pub(super) async fn cancel(
    State(api): State<Arc<Api>>,
    uri: Uri,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Page {
    change(&api, &uri, path, &headers, body, EvalChange::Cancel).await
}

/// Evaluates failed sessions again.
pub(super) async fn retry(
    State(api): State<Arc<Api>>,
    uri: Uri,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Page {
    change(&api, &uri, path, &headers, body, EvalChange::Retry).await
}

/// Changes a run. If its state does not allow the change, because it has moved on since the page was shown, shows the run
/// as it is now.
async fn change(
    api: &Api,
    uri: &Uri,
    path: Segment,
    headers: &HeaderMap,
    body: Body,
    change: EvalChange,
) -> Page {
    let visit = visitor(api, headers, uri)?;
    Form::read(api, &visit, headers, body).await?;
    visit.check_administers()?;
    let id: EvalRunId = segment(path, "eval_run_id").map_err(|_| unknown_run())?;
    api.store.change_eval_run(&visit.org, &id, change, None).await?;
    api.wake.eval_runs();
    Ok(redirect(&format!("/eval-runs/{id}")))
}

/// Shows the schedules.
pub(super) async fn schedules(
    State(api): State<Arc<Api>>,
    uri: Uri,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let before = ListQuery::of(query).read("cursor", A_CURSOR, Position::from_text);
    show_schedules(&api, &headers, &visit, before, None).await
}

async fn show_schedules(
    api: &Api,
    headers: &HeaderMap,
    visit: &Visit,
    before: Option<Position>,
    problem: Option<&str>,
) -> Page {
    let page = api.store.schedules(&visit.org, before, ROWS).await?;
    let views: Vec<ScheduleView<'_>> = page.schedules.iter().map(ScheduleView::of).collect();
    let origin = origin(headers);
    let shell = shell(api, Some(visit), &origin, Section::Evals);
    let next = page.next.map(|next| next.to_text());
    html(render_schedules(&shell, &ScheduleList { schedules: &views, problem, next: next.as_deref() }))
}

/// Creates a schedule.
pub(super) async fn create_schedule(
    State(api): State<Arc<Api>>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Page {
    let visit = visitor(&api, &headers, &uri)?;
    let form = Form::read(&api, &visit, &headers, body).await?;
    visit.check_administers()?;
    match new_schedule(&api, &form) {
        Err(error) => show_schedules(&api, &headers, &visit, None, Some(error.text())).await,
        Ok(new) => {
            let filter = new.filter.clone();
            match api.store.create_schedule(&visit.org, new, None).await?.fresh() {
                Some(ScheduleChanged::Changed(_)) => Ok(redirect("/schedules")),
                Some(ScheduleChanged::NoAgent | ScheduleChanged::Unknown) | None => {
                    show_schedules(&api, &headers, &visit, None, Some(no_agent(&filter).text())).await
                }
            }
        }
    }
}

fn new_schedule(api: &Api, form: &Form) -> Result<NewSchedule, ApiError> {
    let text = |name: &str| form.get(name).map(str::trim).unwrap_or_default();
    check_name(text("name"))?;
    Ok(NewSchedule {
        id: api.schedule_id(),
        name: text("name").to_owned(),
        cadence: cadence(text("cadence"))?,
        settings: settings(None, None, None, None)?,
        filter: EvalFilter {
            agent: agent(Some(text("agent")).filter(|agent| !agent.is_empty()))?,
            ..EvalFilter::default()
        },
        only_if_changed: text("only_if_changed") == "true",
    })
}

/// Pauses a schedule.
pub(super) async fn pause(
    State(api): State<Arc<Api>>,
    uri: Uri,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Page {
    set_paused(&api, &uri, path, &headers, body, true).await
}

/// Resumes a schedule.
pub(super) async fn resume(
    State(api): State<Arc<Api>>,
    uri: Uri,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Page {
    set_paused(&api, &uri, path, &headers, body, false).await
}

async fn set_paused(
    api: &Api,
    uri: &Uri,
    path: Segment,
    headers: &HeaderMap,
    body: Body,
    paused: bool,
) -> Page {
    let (visit, schedule) = submitted(api, uri, path, headers, body).await?;
    let change = ScheduleChange { paused: Some(paused), ..ScheduleChange::default() };
    api.store.change_schedule(&visit.org, &schedule.id, change, None).await?;
    Ok(redirect("/schedules"))
}

/// Starts a run of a schedule now.
pub(super) async fn trigger(
    State(api): State<Arc<Api>>,
    uri: Uri,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Page {
    let (visit, schedule) = submitted(&api, &uri, path, &headers, body).await?;
    match start_scheduled(&api, &visit.org, &schedule, None, None).await?.fresh() {
        Some(Fired::Started(run)) => Ok(redirect(&format!("/eval-runs/{}", run.id))),
        Some(Fired::Unchanged | Fired::Moved) | None => Ok(redirect("/schedules")),
    }
}

/// Deletes a schedule.
pub(super) async fn delete(
    State(api): State<Arc<Api>>,
    uri: Uri,
    path: Segment,
    headers: HeaderMap,
    body: Body,
) -> Page {
    let (visit, schedule) = submitted(&api, &uri, path, &headers, body).await?;
    api.store.delete_schedule(&visit.org, &schedule.id).await?;
    Ok(redirect("/schedules"))
}

/// Checks a submitted form about a schedule. Returns the visit and the schedule.
async fn submitted(
    api: &Api,
    uri: &Uri,
    path: Segment,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Arc<Visit>, Schedule), PageError> {
    let visit = visitor(api, headers, uri)?;
    Form::read(api, &visit, headers, body).await?;
    visit.check_administers()?;
    let unknown = || PageError::not_found("there is no schedule with this id");
    let id: ScheduleId = segment(path, "schedule_id").map_err(|_| unknown())?;
    let schedule = api.store.schedule(&visit.org, &id).await?.ok_or_else(unknown)?;
    Ok((visit, schedule))
}
