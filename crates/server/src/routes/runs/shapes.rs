//! The request body of a run, for the OpenAPI document.

use renown_core::ids::{AgentId, RunId, SpecId, Workspace};
use renown_core::schema::Moment;
use renown_core::scorecard::{Resources, RunOutcome, RunStage};
use utoipa::ToSchema;

/// A finished run.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "`Submission` reads each field by hand, so that an invalid one counts as absent; it has no derived schema"
)]
pub(crate) struct RunRequest {
    agent_id: AgentId,
    outcome: RunOutcome,
    /// Id of the run; default: `run_` and a ULID. A repeated id returns the first scorecard.
    run_id: Option<RunId>,
    /// Workspace, whose runs are compared with each other; default: `default`.
    workspace: Option<Workspace>,
    /// Task that agents compete on.
    spec_id: Option<SpecId>,
    stages: Option<Vec<RunStage<'static>>>,
    /// Wall time of the run, in milliseconds.
    wall_ms: Option<u64>,
    resources: Option<Resources>,
    started_at: Option<Moment>,
    /// End of the run; default: the time of acceptance.
    finished_at: Option<Moment>,
    /// Branch with the work of the run.
    #[schema(max_length = 500)]
    branch: Option<String>,
    /// Pull request with the work of the run.
    #[schema(max_length = 2000, format = "uri")]
    pull_request: Option<String>,
    /// Any other data to store with the run, up to 64 KiB.
    attributes: Option<serde_json::Map<String, serde_json::Value>>,
}
