//! `/v1/runs`: scorecards of finished runs.

pub(crate) mod competition;
pub(crate) mod shapes;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::{HeaderMap, StatusCode};
use renown_core::ids::{AgentId, RunId, SpecId, Workspace};
use renown_core::json;
use renown_core::scorecard::{Submission, Tier};
use renown_core::time::Timestamp;
use renown_store::{Accepted, Cursor, NewRun, Receipt, Run, RunQuery, Submitted};
use renown_view::{RunView, RunsPage, ScoreView};
use sha2::{Digest, Sha256};

use super::ErrorReplies;
use super::paths::{Segment, segment};
use crate::api::Api;
use crate::error::{ApiError, Code};
use crate::idempotency::{self, Guard, Lookup};
use crate::keys::Caller;
use crate::query::{Query, refused};
use crate::reply::json as reply;
use shapes::RunRequest;

/// Score a run
///
/// A run is never refused because of missing or invalid data: invalid values count as absent and are listed in `warnings`, like unknown
/// fields. Only `agent_id` and `outcome` must be valid.
#[utoipa::path(
    post,
    path = "/v1/runs",
    operation_id = "submit_run",
    tag = "runs",
    request_body = RunRequest,
    responses(
        (status = 201, description = "The run is scored", body = ScoreView<'_>),
        (status = 200, description = "The run was already scored; this is its first scorecard", body = ScoreView<'_>),
        ErrorReplies
    )
)]
pub(crate) async fn submit(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let (body, lookup) = idempotency::begin(&api, &caller.org, "POST /v1/runs", &headers, body).await?;
    let (new, run) = match lookup {
        Lookup::Replay(receipt) => scored_before(receipt)?,
        Lookup::Fresh(guard) => score_now(&api, &caller, &body, &guard).await?,
    };
    Ok(reply(if new { StatusCode::CREATED } else { StatusCode::OK }, &ScoreView::of(&run)))
}

/// Scores a run. Returns the run, and whether it is new.
async fn score_now(
    api: &Api,
    caller: &Caller,
    body: &[u8],
    guard: &Guard,
) -> Result<(bool, Box<Run>), ApiError> {
    let submission: Submission = json::parse(body)?;
    let id = submission.run.clone().unwrap_or_else(|| api.run_id());
    let new = NewRun { id: id.clone(), submission, digest: digest(body) };
    match api.store.add_run(&caller.org, new, guard.request_key()).await? {
        Accepted::Fresh(Submitted::New(run)) => {
            api.metrics.run();
            api.changes.evidence(&caller.org);
            Ok((true, run))
        }
        Accepted::Fresh(Submitted::Repeated(run)) => Ok((false, run)),
        Accepted::Fresh(Submitted::Conflict) => {
            let error = format!(
                "run_id: {:?} was already submitted with another body, expected a new id",
                id.as_str()
            );
            Err(ApiError::new(Code::Conflict, error))
        }
        Accepted::Replayed(receipt) => scored_before(receipt),
        Accepted::Conflict => Err(idempotency::conflict()),
    }
}

/// Returns the run of the first request, and whether it was new then.
fn scored_before(receipt: Receipt) -> Result<(bool, Box<Run>), ApiError> {
    if let Receipt::Run { new, run } = receipt { Ok((new, run)) } else { Err(idempotency::foreign_receipt()) }
}

/// Computes a digest of a submitted run. It does not depend on whitespace or the order of fields.
pub fn digest(body: &[u8]) -> [u8; 32] {
    match serde_json::from_slice::<serde_json::Value>(body) {
        // `serde_json` sorts the keys of a map.
        Ok(value) => Sha256::digest(value.to_string()).into(),
        // The JSON is nested too deeply for a `Value`.
        Err(_) => Sha256::digest(body).into(),
    }
}

/// Read a scorecard
#[utoipa::path(
    get,
    path = "/v1/runs/{run_id}/score",
    operation_id = "get_run_score",
    tag = "runs",
    params(("run_id" = RunId, Path, description = "The run, percent-encoded")),
    responses((status = 200, description = "The scorecard", body = ScoreView<'_>), ErrorReplies)
)]
pub(crate) async fn score(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    let run = find(&api, &caller, path).await?;
    Ok(reply(StatusCode::OK, &ScoreView::of(&run)))
}

/// Read a run
#[utoipa::path(
    get,
    path = "/v1/runs/{run_id}",
    operation_id = "get_run",
    tag = "runs",
    params(("run_id" = RunId, Path, description = "The run, percent-encoded")),
    responses((status = 200, description = "The run with its scorecard", body = RunView<'_>), ErrorReplies)
)]
pub(crate) async fn run(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    let run = find(&api, &caller, path).await?;
    Ok(reply(StatusCode::OK, &RunView::of(&run)))
}

async fn find(api: &Api, caller: &Caller, path: Segment) -> Result<Run, ApiError> {
    let id: RunId = segment(path, "run_id")?;
    let run = api.store.run(&caller.org, &id).await?;
    run.ok_or_else(|| ApiError::new(Code::NotFound, format!("there is no run {:?}", id.as_str())))
}

/// List runs
///
/// Returns the last accepted run first. `from` and `to` filter by the end of a run.
#[utoipa::path(
    get,
    path = "/v1/runs",
    operation_id = "list_runs",
    tag = "runs",
    params(
        ("limit" = Option<u32>, Query, description = "Maximum number of rows", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page",
            pattern = "^[0-9a-f]{1,15}$"),
        ("agent_id" = Option<AgentId>, Query, description = "Only runs of this agent"),
        ("workspace" = Option<Workspace>, Query, description = "Only runs in this workspace"),
        ("spec_id" = Option<SpecId>, Query, description = "Only attempts at this spec"),
        ("tier" = Option<String>, Query, description = "Only runs with this tier",
            pattern = "^(Unranked|Bronze|Silver|Gold|Elite)$"),
        ("from" = Option<Timestamp>, Query, description = "Only runs that ended at this time or later"),
        ("to" = Option<Timestamp>, Query, description = "Only runs that ended at this time or earlier"),
    ),
    responses((status = 200, description = "A page of runs", body = RunsPage<'_>), ErrorReplies)
)]
pub(crate) async fn list(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(query): Extension<Query>,
) -> Result<Response, ApiError> {
    let tier = |text: &str| {
        text.parse::<Tier>().map_err(|_| refused("tier", text, "Unranked, Bronze, Silver, Gold or Elite"))
    };
    let query = RunQuery {
        agent: query.get("agent_id")?,
        workspace: query.get("workspace")?,
        spec: query.get("spec_id")?,
        tier: query.text("tier")?.map(tier).transpose()?,
        from: query.time("from")?,
        to: query.time("to")?,
        before: query.cursor()?,
        limit: query.limit()?,
    };
    let page = api.store.runs(&caller.org, query).await?;
    let next_cursor = page.next.map(|next| next.to_text());
    Ok(reply(StatusCode::OK, &RunsPage { data: page.runs.iter().map(RunView::of).collect(), next_cursor }))
}
