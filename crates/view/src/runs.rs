//! Runs: scorecards, and the ranking of a spec.

use renown_core::ids::{AgentId, RunId, SpecId, Workspace};
use renown_core::scorecard::{
    Axes, Baseline, BaselineShown, BaselineSource, FORMULA_VERSION, Resources, RunCoverage, RunOutcome,
    RunStage, Tier,
};
use renown_core::time::Timestamp;
use renown_core::units::Whole;
use renown_store::{RankedAttempt, Run, SpecRanking};
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
    /// Evidence behind the score, and what is missing.
    pub coverage: RunCoverage,
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
            coverage: RunCoverage::of(
                &run.report,
                scored.map_or_else(Baseline::default, |scored| scored.baseline),
                run.spec.is_some(),
            ),
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

/// The ranking of the agents that attempted a spec. All attempts are compared with one baseline, so that the time of
/// an attempt does not matter.
#[derive(Serialize, ToSchema)]
#[schema(as = CompetitionReply)]
pub struct Competition<'r> {
    /// Task that agents compete on.
    pub spec_id: &'r SpecId,
    /// First agent of the ranking, if its run completed.
    pub winner: Option<&'r AgentId>,
    /// Baseline that the wall time of every attempt is compared with.
    pub baseline: BaselineShown,
    /// Origin of the baseline: runs of the workspace before the first attempt, or the attempts themselves.
    pub baseline_source: BaselineSource,
    /// Every agent with its best run, best first.
    pub ranking: Vec<RankedRun<'r>>,
}

impl<'r> Competition<'r> {
    /// Builds the competition of a spec from its ranking.
    pub fn of(spec_id: &'r SpecId, ranking: &'r SpecRanking) -> Self {
        let SpecRanking { common, attempts } = ranking;
        let won = |first: &&RankedAttempt| {
            first.run.report.outcome == RunOutcome::Completed && first.scored.is_some()
        };
        let winner = attempts.first().filter(won).map(|first| &first.run.agent);
        let mut ranking: Vec<RankedRun<'r>> = attempts.iter().enumerate().map(RankedRun::of).collect();
        let ties: Vec<Option<TieBreak>> = ranking.windows(2).map(|pair| TieBreak::of(pair)).collect();
        for (index, run) in ranking.iter_mut().enumerate() {
            let above = index.checked_sub(1).and_then(|index| ties.get(index).copied().flatten());
            run.tie_decided_by = above.or_else(|| ties.get(index).copied().flatten());
        }
        let (baseline, baseline_source) = (common.baseline.shown(), common.source);
        Self { spec_id, winner, baseline, baseline_source, ranking }
    }
}

/// What decides between two neighbors of a ranking that have the same score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TieBreak {
    /// The axis `completion`.
    Completion,
    /// The axis `error_rate`.
    ErrorRate,
    /// The shorter wall time.
    WallMs,
    /// The earlier end of the run.
    FinishedAt,
}

impl TieBreak {
    /// Compares two neighbors. Returns `None` if their scores differ.
    fn of(pair: &[RankedRun<'_>]) -> Option<Self> {
        let [run, next] = pair else { return None };
        if run.ranked_score != next.ranked_score {
            return None;
        }
        let axes = |run: &RankedRun<'_>| run.ranked_axes.map(|axes| (axes.completion, axes.error_rate));
        Some(match (axes(run), axes(next)) {
            (Some((completion, _)), Some((other, _))) if completion != other => Self::Completion,
            (Some((_, rate)), Some((_, other))) if rate != other => Self::ErrorRate,
            _ if run.wall_ms != next.wall_ms => Self::WallMs,
            _ => Self::FinishedAt,
        })
    }

    /// Returns it in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Completion => "completion",
            Self::ErrorRate => "the error rate",
            Self::WallMs => "the wall time",
            Self::FinishedAt => "the earlier finish",
        }
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
    /// Score that the run got when it was accepted, from 0 to 100; null after an internal error.
    #[schema(maximum = 100)]
    pub score: Option<u8>,
    /// Name of that score's range.
    pub tier: Tier,
    /// Parts of that score.
    pub axes: Option<Axes>,
    /// Score against the baseline of the competition, from 0 to 100, by which the agents are ranked.
    #[schema(maximum = 100)]
    pub ranked_score: Option<u8>,
    /// Parts of the ranked score.
    pub ranked_axes: Option<Axes>,
    /// Axes of the ranked score that could not be computed and count as 50.
    pub defaulted: &'r [String],
    /// What decided between this run and a neighbor with the same ranked score; null without such a neighbor.
    pub tie_decided_by: Option<TieBreak>,
    /// Wall time of the run, in milliseconds.
    pub wall_ms: Option<u64>,
    /// Branch with the work of the run.
    pub branch: Option<&'r str>,
    /// Pull request with the work of the run.
    pub pull_request: Option<&'r str>,
}

impl<'r> RankedRun<'r> {
    /// Returns the name of the ranked score's range.
    pub fn ranked_tier(&self) -> Option<Tier> {
        self.ranked_score.map(Tier::of)
    }

    /// Builds the view of the first attempt of a ranking.
    pub fn first(attempt: &'r RankedAttempt) -> Self {
        Self::of((0, attempt))
    }

    fn of((index, RankedAttempt { run, scored: ranked }): (usize, &'r RankedAttempt)) -> Self {
        let (scored, ranked) = (run.scored.as_ref(), ranked.as_ref());
        Self {
            rank: index + 1,
            agent_id: &run.agent,
            run_id: &run.id,
            score: scored.map(|scored| scored.score),
            tier: run.tier(),
            axes: scored.map(|scored| scored.axes),
            ranked_score: ranked.map(|ranked| ranked.score),
            ranked_axes: ranked.map(|ranked| ranked.axes),
            defaulted: ranked.map_or(&[], |ranked| &ranked.defaulted),
            tie_decided_by: None,
            wall_ms: run.report.wall_ms.map(Whole::get),
            branch: run.branch.as_deref(),
            pull_request: run.pull_request.as_deref(),
        }
    }
}
