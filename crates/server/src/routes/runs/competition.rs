//! `/v1/specs/{spec_id}/competition`: who did best.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::response::Response;
use hyper::StatusCode;
use renown_core::ids::{AgentId, RunId, SpecId};
use renown_core::scorecard::{Axes, Outcome, Tier};
use renown_core::units::Whole;
use renown_store::Run;
use serde::Serialize;
use utoipa::ToSchema;

use super::shapes::{AxesReply, RunName, TierName};
use crate::api::Api;
use crate::error::{ApiError, json as reply};
use crate::keys::Caller;
use crate::routes::Refused;
use crate::routes::paths::{Segment, segment};

/// Who did best.
#[derive(Serialize, ToSchema)]
pub(crate) struct CompetitionReply<'r> {
    #[schema(value_type = String)]
    spec_id: &'r SpecId,
    /// The first of the ranking, if its run completed.
    #[schema(value_type = Option<String>)]
    winner: Option<&'r AgentId>,
    ranking: Vec<RankedReply<'r>>,
}

impl<'r> CompetitionReply<'r> {
    pub(crate) fn of(spec_id: &'r SpecId, ranked: &'r [Run]) -> Self {
        let won = |run: &&Run| run.report.outcome == Outcome::Completed && run.scored.is_some();
        let winner = ranked.first().filter(won).map(|run| &run.agent);
        Self { spec_id, winner, ranking: ranked.iter().enumerate().map(RankedReply::of).collect() }
    }
}

/// An agent with its best run.
#[derive(Serialize, ToSchema)]
pub(crate) struct RankedReply<'r> {
    rank: usize,
    #[schema(value_type = String)]
    agent_id: &'r AgentId,
    #[schema(value_type = String)]
    run_id: &'r RunId,
    #[schema(maximum = 100)]
    score: Option<u8>,
    #[schema(value_type = TierName)]
    tier: Tier,
    #[schema(value_type = Option<AxesReply>)]
    axes: Option<Axes>,
    wall_ms: Option<u64>,
    branch: Option<&'r str>,
    pull_request: Option<&'r str>,
}

impl<'r> RankedReply<'r> {
    fn of((index, run): (usize, &'r Run)) -> Self {
        Self {
            rank: index + 1,
            agent_id: &run.agent,
            run_id: &run.id,
            score: run.scored.as_ref().map(|scored| scored.score),
            tier: run.tier(),
            axes: run.scored.as_ref().map(|scored| scored.axes),
            wall_ms: run.report.wall_ms.map(Whole::get),
            branch: run.branch.as_deref(),
            pull_request: run.pull_request.as_deref(),
        }
    }
}

/// Compare the agents of a spec
///
/// Every agent with its best run, the best first: by score, then completion, error rate, wall time and finish.
#[utoipa::path(
    get,
    path = "/v1/specs/{spec_id}/competition",
    operation_id = "get_competition",
    tag = "runs",
    params(("spec_id" = RunName, Path, description = "The spec, percent-encoded")),
    responses((status = 200, description = "The ranking", body = CompetitionReply<'_>), Refused)
)]
pub(crate) async fn ranking(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Arc<Caller>>,
    path: Segment,
) -> Result<Response, ApiError> {
    let spec_id: SpecId = segment(path, "spec_id")?;
    let runs = api.store.competition(&caller.org, &spec_id).await?;
    Ok(reply(StatusCode::OK, &CompetitionReply::of(&spec_id, &runs)))
}
