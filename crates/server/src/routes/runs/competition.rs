//! `/v1/specs/{spec_id}/competition`: the ranking of the agents that attempted a spec.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::StatusCode;
use renown_core::ids::SpecId;
use renown_view::runs::Competition;

use crate::api::Api;
use crate::error::ApiError;
use crate::keys::Caller;
use crate::reply::json as reply;
use crate::routes::ErrorReplies;
use crate::routes::paths::{Segment, segment};

/// Compare the agents of a spec
///
/// Returns every agent with its best run, best first: by `ranked_score`, then completion, error rate, wall time and end of the run.
/// `ranked_score` compares every attempt with one baseline; `score` is what the run got when it was accepted.
#[utoipa::path(
    get,
    path = "/v1/specs/{spec_id}/competition",
    operation_id = "get_competition",
    tag = "runs",
    params(("spec_id" = SpecId, Path, description = "The spec, percent-encoded")),
    responses((status = 200, description = "The ranking", body = Competition<'_>), ErrorReplies)
)]
pub(crate) async fn ranking(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    let spec_id: SpecId = segment(path, "spec_id")?;
    let ranking = api.store.competition(&caller.org, &spec_id).await?;
    Ok(reply(StatusCode::OK, &Competition::of(&spec_id, &ranking)))
}
