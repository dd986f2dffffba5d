//! What is sent of a run, and what is said of one.

use renown_core::ids::{AgentId, RunId, SpecId, Workspace};
use renown_core::scorecard::{Axes, BaselineShown, FORMULA_VERSION, Resources, Tier};
use renown_core::time::Timestamp;
use renown_core::units::Whole;
use renown_store::Run;
use serde::Serialize;
use serde_json::value::RawValue;
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
    stages: Option<Vec<StageRequest>>,
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

/// How a run ended: all of it worked, some of it did, or nothing usable came out.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = RunOutcome)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) enum OutcomeName {
    Completed,
    Blocked,
    Failed,
}

/// A stage of a run.
#[derive(ToSchema)]
#[schema(as = RunStage)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct StageRequest {
    name: String,
    passed: bool,
    /// How often it was tried; once if absent.
    #[schema(minimum = 1)]
    attempts: Option<u64>,
}

/// What a run consumed, as far as it is known.
#[derive(ToSchema)]
#[schema(as = RunResources)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct ResourcesShape {
    memory_peak_bytes: Option<u64>,
    memory_limit_bytes: Option<u64>,
    cpu_periods: Option<u64>,
    cpu_throttled_periods: Option<u64>,
    cpu_throttled_ms: Option<u64>,
}

/// The scorecard of a run.
#[derive(Serialize, ToSchema)]
pub(crate) struct ScoreReply<'r> {
    #[schema(value_type = String)]
    run_id: &'r RunId,
    #[schema(value_type = String)]
    agent_id: &'r AgentId,
    #[schema(value_type = String)]
    workspace: &'r Workspace,
    #[schema(value_type = Option<String>)]
    spec_id: Option<&'r SpecId>,
    /// 0 to 100; null if scoring failed inside.
    #[schema(maximum = 100)]
    score: Option<u8>,
    #[schema(value_type = TierName)]
    tier: Tier,
    /// The version of the formula.
    formula_version: &'r str,
    #[schema(value_type = Option<AxesReply>)]
    axes: Option<Axes>,
    /// Axes that could not be computed and are 50.
    defaulted: &'r [String],
    /// Parts of what was sent that do not count: impossible ones, which are as good as absent, and unknown fields.
    warnings: &'r [String],
    #[schema(value_type = Option<BaselineReply>)]
    baseline: Option<BaselineShown>,
    #[schema(value_type = String, format = DateTime)]
    scored_at: Timestamp,
}

/// The name of a range of scores: 0–39, 40–69, 70–89, 90–100; `Unranked` without a score.
#[derive(Serialize, ToSchema)]
#[schema(as = Tier)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) enum TierName {
    Unranked,
    Bronze,
    Silver,
    Gold,
    Elite,
}

/// The axes of a score, 0 to 100 each.
#[derive(ToSchema)]
#[schema(as = RunAxes)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct AxesReply {
    #[schema(maximum = 100)]
    completion: u8,
    #[schema(maximum = 100)]
    error_rate: u8,
    #[schema(maximum = 100)]
    latency: u8,
    #[schema(maximum = 100)]
    resource_efficiency: u8,
}

/// What the wall time was compared with.
#[derive(ToSchema)]
#[schema(as = RunBaseline)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) struct BaselineReply {
    /// The median of the runs; null without one.
    p50_ms: Option<f64>,
    runs: u64,
}

impl<'r> ScoreReply<'r> {
    pub(crate) fn of(run: &'r Run) -> Self {
        let scored = run.scored.as_ref();
        Self {
            run_id: &run.id,
            agent_id: &run.agent,
            workspace: &run.workspace,
            spec_id: run.spec.as_ref(),
            score: scored.map(|scored| scored.score),
            tier: run.tier(),
            formula_version: scored.map_or(FORMULA_VERSION, |scored| &scored.formula_version),
            axes: scored.map(|scored| scored.axes),
            defaulted: scored.map_or(&[], |scored| &scored.defaulted),
            warnings: &run.warnings,
            baseline: scored.map(|scored| scored.baseline.shown()),
            scored_at: run.accepted_at,
        }
    }
}

/// A run with all that is known of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunReply<'r> {
    #[serde(flatten)]
    score: ScoreReply<'r>,
    #[schema(value_type = OutcomeName)]
    outcome: &'static str,
    wall_ms: Option<u64>,
    #[schema(value_type = Option<Vec<StageRequest>>)]
    stages: Option<&'r RawValue>,
    #[schema(value_type = ResourcesShape)]
    resources: Resources,
    #[schema(value_type = Option<String>, format = DateTime)]
    started_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    finished_at: Timestamp,
    branch: Option<&'r str>,
    pull_request: Option<&'r str>,
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    attributes: Option<&'r RawValue>,
}

impl<'r> RunReply<'r> {
    pub(crate) fn of(run: &'r Run) -> Self {
        // What is kept was JSON when it came.
        let json =
            |text: &'r Option<String>| text.as_deref().and_then(|text| serde_json::from_str(text).ok());
        Self {
            score: ScoreReply::of(run),
            outcome: run.report.outcome.name(),
            wall_ms: run.report.wall_ms.map(Whole::get),
            stages: json(&run.stages),
            resources: run.report.resources,
            started_at: run.started_at,
            finished_at: run.finished_at,
            branch: run.branch.as_deref(),
            pull_request: run.pull_request.as_deref(),
            attributes: json(&run.attributes),
        }
    }
}
