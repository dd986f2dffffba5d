//! The request body of a run, for the OpenAPI document.

use renown_view::runs::{OutcomeName, ResourcesShape, StageShape};
use utoipa::ToSchema;

use crate::routes::shapes::{AgentName, Moment};

/// A finished run.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct RunRequest {
    agent_id: AgentName,
    outcome: OutcomeName,
    /// Id of the run; default: `run_` and a ULID. A repeated id returns the first scorecard.
    run_id: Option<RunName>,
    /// Workspace, whose runs are compared with each other; default: `default`.
    workspace: Option<RunName>,
    /// Task that agents compete on.
    spec_id: Option<RunName>,
    stages: Option<Vec<StageShape>>,
    /// Wall time of the run, in milliseconds.
    wall_ms: Option<u64>,
    resources: Option<ResourcesShape>,
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

/// 1 to 200 characters without control characters, not `.` or `..`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
#[schema(
    min_length = 1,
    max_length = 200,
    pattern = r"^([^.\x00-\x1f\x7f-\x9f]|\.[^.\x00-\x1f\x7f-\x9f]|\.\.[^\x00-\x1f\x7f-\x9f])[^\x00-\x1f\x7f-\x9f]*$"
)]
pub(crate) struct RunName(String);
