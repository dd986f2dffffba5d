//! Runs: scorecards, and who did best at a spec.

use renown_core::ids::{AgentId, RunId, SpecId, Workspace};
use renown_core::scorecard::{Axes, BaselineShown, FORMULA_VERSION, Outcome, Resources, Tier};
use renown_core::time::Timestamp;
use renown_core::units::Whole;
use renown_store::Run;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// A page of runs.
#[derive(Serialize, ToSchema)]
#[schema(as = RunsReply)]
pub struct RunsPage<'r> {
    /// The last accepted first.
    pub data: Vec<RunView<'r>>,
    /// Where the next page begins; null on the last one.
    pub next_cursor: Option<String>,
}

/// How a run ended: all of it worked, some of it did, or nothing usable came out.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = RunOutcome)]
pub enum OutcomeName {
    /// All of it worked.
    Completed,
    /// Some of it did.
    Blocked,
    /// Nothing usable came out.
    Failed,
}

/// A stage of a run.
#[derive(ToSchema)]
#[schema(as = RunStage)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub struct StageShape {
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
pub struct ResourcesShape {
    memory_peak_bytes: Option<u64>,
    memory_limit_bytes: Option<u64>,
    cpu_periods: Option<u64>,
    cpu_throttled_periods: Option<u64>,
    cpu_throttled_ms: Option<u64>,
}

/// The scorecard of a run.
#[derive(Serialize, ToSchema)]
#[schema(as = ScoreReply)]
pub struct ScoreView<'r> {
    /// Its id.
    #[schema(value_type = String)]
    pub run_id: &'r RunId,
    /// Whose run it is.
    #[schema(value_type = String)]
    pub agent_id: &'r AgentId,
    /// The workspace whose runs it is compared with.
    #[schema(value_type = String)]
    pub workspace: &'r Workspace,
    /// The task that agents compete on.
    #[schema(value_type = Option<String>)]
    pub spec_id: Option<&'r SpecId>,
    /// 0 to 100; null if scoring failed inside.
    #[schema(maximum = 100)]
    pub score: Option<u8>,
    /// The name of the score's range.
    #[schema(value_type = TierName)]
    pub tier: Tier,
    /// The version of the formula.
    pub formula_version: &'r str,
    /// The parts of the score.
    #[schema(value_type = Option<AxesShape>)]
    pub axes: Option<Axes>,
    /// Axes that could not be computed and are 50.
    pub defaulted: &'r [String],
    /// Parts of what was sent that do not count: impossible ones, which are as good as absent, and unknown fields.
    pub warnings: &'r [String],
    /// What its wall time was compared with.
    #[schema(value_type = Option<BaselineShape>)]
    pub baseline: Option<BaselineShown>,
    /// When it was scored.
    #[schema(value_type = String, format = DateTime)]
    pub scored_at: Timestamp,
}

/// The name of a range of scores: 0–39, 40–69, 70–89, 90–100; `Unranked` without a score.
#[derive(Serialize, ToSchema)]
#[schema(as = Tier)]
pub enum TierName {
    /// Without a score.
    Unranked,
    /// 0 to 39.
    Bronze,
    /// 40 to 69.
    Silver,
    /// 70 to 89.
    Gold,
    /// 90 to 100.
    Elite,
}

/// The axes of a score, 0 to 100 each.
#[derive(ToSchema)]
#[schema(as = RunAxes)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub struct AxesShape {
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
pub struct BaselineShape {
    /// The median of the runs; null without one.
    p50_ms: Option<f64>,
    runs: u64,
}

impl<'r> ScoreView<'r> {
    /// The scorecard of a run.
    pub fn of(run: &'r Run) -> Self {
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
#[schema(as = RunReply)]
pub struct RunView<'r> {
    /// The scorecard.
    #[serde(flatten)]
    pub score: ScoreView<'r>,
    /// How it ended.
    #[schema(value_type = OutcomeName)]
    pub outcome: &'static str,
    /// How long it took in milliseconds.
    pub wall_ms: Option<u64>,
    /// Its stages, as they were sent.
    #[schema(value_type = Option<Vec<StageShape>>)]
    pub stages: Option<&'r RawValue>,
    /// What it consumed.
    #[schema(value_type = ResourcesShape)]
    pub resources: Resources,
    /// When it began.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[schema(value_type = String, format = DateTime)]
    pub finished_at: Timestamp,
    /// The branch with its work.
    pub branch: Option<&'r str>,
    /// The pull request with its work.
    pub pull_request: Option<&'r str>,
    /// What else was sent.
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub attributes: Option<&'r RawValue>,
}

impl<'r> RunView<'r> {
    /// The view of a run.
    pub fn of(run: &'r Run) -> Self {
        // What is kept was JSON when it came.
        let json =
            |text: &'r Option<String>| text.as_deref().and_then(|text| serde_json::from_str(text).ok());
        Self {
            score: ScoreView::of(run),
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

/// Who did best.
#[derive(Serialize, ToSchema)]
#[schema(as = CompetitionReply)]
pub struct Competition<'r> {
    /// The task that agents compete on.
    #[schema(value_type = String)]
    pub spec_id: &'r SpecId,
    /// The first of the ranking, if its run completed.
    #[schema(value_type = Option<String>)]
    pub winner: Option<&'r AgentId>,
    /// Every agent with its best run, the best first.
    pub ranking: Vec<RankedRun<'r>>,
}

impl<'r> Competition<'r> {
    /// The competition of a spec, of runs in their order.
    pub fn of(spec_id: &'r SpecId, ranked: &'r [Run]) -> Self {
        let won = |run: &&Run| run.report.outcome == Outcome::Completed && run.scored.is_some();
        let winner = ranked.first().filter(won).map(|run| &run.agent);
        Self { spec_id, winner, ranking: ranked.iter().enumerate().map(RankedRun::of).collect() }
    }
}

/// An agent with its best run.
#[derive(Serialize, ToSchema)]
#[schema(as = RankedReply)]
pub struct RankedRun<'r> {
    /// Its place, from 1.
    pub rank: usize,
    /// Whose run it is.
    #[schema(value_type = String)]
    pub agent_id: &'r AgentId,
    /// Its id.
    #[schema(value_type = String)]
    pub run_id: &'r RunId,
    /// The scorecard.
    #[schema(maximum = 100)]
    pub score: Option<u8>,
    /// The name of the score's range.
    #[schema(value_type = TierName)]
    pub tier: Tier,
    /// The parts of the score.
    #[schema(value_type = Option<AxesShape>)]
    pub axes: Option<Axes>,
    /// How long it took in milliseconds.
    pub wall_ms: Option<u64>,
    /// The branch with its work.
    pub branch: Option<&'r str>,
    /// The pull request with its work.
    pub pull_request: Option<&'r str>,
}

impl<'r> RankedRun<'r> {
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
