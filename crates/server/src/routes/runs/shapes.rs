//! What is sent of a run.

use renown_view::runs::{OutcomeName, ResourcesShape, StageShape};
use utoipa::ToSchema;

use crate::routes::shapes::{AgentName, Moment};

/// A run that is finished.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct RunRequest {
    agent_id: AgentName,
    outcome: OutcomeName,
    /// What you call the run; `run_` and a ULID if absent. Sent again it returns the first scorecard.
    run_id: Option<RunName>,
    /// The runs of a workspace are compared with each other; `default` if absent.
    workspace: Option<RunName>,
    /// The task that agents compete on.
    spec_id: Option<RunName>,
    stages: Option<Vec<StageShape>>,
    /// How long the run took, in milliseconds.
    wall_ms: Option<u64>,
    resources: Option<ResourcesShape>,
    started_at: Option<Moment>,
    /// When it ended; when it was accepted if absent.
    finished_at: Option<Moment>,
    /// The branch with its work.
    #[schema(max_length = 500)]
    branch: Option<String>,
    /// The pull request with its work.
    #[schema(max_length = 2000, format = "uri")]
    pull_request: Option<String>,
    /// Whatever else you want to keep with it, up to 64 KiB.
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
