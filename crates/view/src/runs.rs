//! Runs: scorecards, and the ranking of a spec.

use renown_core::ids::{AgentId, RunId, SpecId, Workspace};
use renown_core::scorecard::{Axes, BaselineShown, FORMULA_VERSION, Resources, RunOutcome, RunStage, Tier};
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
    /// Runs, the last accepted first.
    pub data: Vec<RunView<'r>>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// The scorecard of a run.
#[derive(Serialize, ToSchema)]
#[schema(as = ScoreReply)]
pub struct ScoreView<'r> {
    /// Id of the run.
    pub run_id: &'r RunId,
    /// Id of the agent.
    pub agent_id: &'r AgentId,
    /// Workspace of the run, whose runs are compared with each other.
    pub workspace: &'r Workspace,
    /// Task that agents compete on.
    pub spec_id: Option<&'r SpecId>,
    /// Score from 0 to 100; null after an internal error.
    #[schema(maximum = 100)]
    pub score: Option<u8>,
    /// Name of the score's range.
    pub tier: Tier,
    /// Version of the formula.
    pub formula_version: &'r str,
    /// Parts of the score.
    pub axes: Option<Axes>,
    /// Axes that could not be computed and have the default value 50.
    pub defaulted: &'r [String],
    /// Parts of the request that do not count: invalid values, which count as absent, and unknown fields.
    pub warnings: &'r [String],
    /// Baseline that the wall time was compared with.
    pub baseline: Option<BaselineShown>,
    /// Time when the run was scored.
    pub scored_at: Timestamp,
}

impl<'r> ScoreView<'r> {
    /// Builds the scorecard of a run.
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

/// A run with everything known about it.
#[derive(Serialize, ToSchema)]
#[schema(as = RunReply)]
pub struct RunView<'r> {
    /// Scorecard of the run.
    #[serde(flatten)]
    pub score: ScoreView<'r>,
    /// Outcome of the run.
    pub outcome: RunOutcome,
    /// Wall time of the run, in milliseconds.
    pub wall_ms: Option<u64>,
    /// Stages of the run, as they were sent.
    #[schema(value_type = Option<Vec<RunStage<'_>>>)]
    pub stages: Option<&'r RawValue>,
    /// Resource usage of the run.
    pub resources: Resources,
    /// Start of the run.
    pub started_at: Option<Timestamp>,
    /// End of the run.
    pub finished_at: Timestamp,
    /// Branch with the work of the run.
    pub branch: Option<&'r str>,
    /// Pull request with the work of the run.
    pub pull_request: Option<&'r str>,
    /// Other data that was sent with the run.
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub attributes: Option<&'r RawValue>,
}

impl<'r> RunView<'r> {
    /// Builds the view of a run.
    pub fn of(run: &'r Run) -> Self {
        // These texts were valid JSON when they were stored, so parsing them cannot fail.
        let json =
            |text: &'r Option<String>| text.as_deref().and_then(|text| serde_json::from_str(text).ok());
        Self {
            score: ScoreView::of(run),
            outcome: run.report.outcome,
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

/// The ranking of the agents that attempted a spec.
#[derive(Serialize, ToSchema)]
#[schema(as = CompetitionReply)]
pub struct Competition<'r> {
    /// Task that agents compete on.
    pub spec_id: &'r SpecId,
    /// First agent of the ranking, if its run completed.
    pub winner: Option<&'r AgentId>,
    /// Every agent with its best run, best first.
    pub ranking: Vec<RankedRun<'r>>,
}

impl<'r> Competition<'r> {
    /// Builds the competition of a spec from its ranked runs.
    pub fn of(spec_id: &'r SpecId, ranked: &'r [Run]) -> Self {
        let won = |run: &&Run| run.report.outcome == RunOutcome::Completed && run.scored.is_some();
        let winner = ranked.first().filter(won).map(|run| &run.agent);
        Self { spec_id, winner, ranking: ranked.iter().enumerate().map(RankedRun::of).collect() }
    }
}

/// An agent with its best run.
#[derive(Serialize, ToSchema)]
#[schema(as = RankedReply)]
pub struct RankedRun<'r> {
    /// Rank of the agent, from 1.
    pub rank: usize,
    /// Id of the agent.
    pub agent_id: &'r AgentId,
    /// Id of its best run.
    pub run_id: &'r RunId,
    /// Score from 0 to 100; null after an internal error.
    #[schema(maximum = 100)]
    pub score: Option<u8>,
    /// Name of the score's range.
    pub tier: Tier,
    /// Parts of the score.
    pub axes: Option<Axes>,
    /// Wall time of the run, in milliseconds.
    pub wall_ms: Option<u64>,
    /// Branch with the work of the run.
    pub branch: Option<&'r str>,
    /// Pull request with the work of the run.
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
