//! Runs: as they are submitted, as they are scored, and as they are read.
//!
//! A run is scored when it is accepted, against the runs of its workspace that are known then. Its score never
//! changes. The baseline is stored with the run, so the score can be computed again after other runs were erased.
//!
//! A `run_id` that is sent again names the same run if its JSON has the same content, whatever its spaces and the
//! order of its fields: the store keeps a SHA-256 of the content. A run without a `run_id` is a new run each time.
//! If an internal error prevents scoring, the run is stored as `Unranked`, and `renown verify --repair` scores it
//! against the baseline of that time.

use std::panic::catch_unwind;

use renown_core::ids::{AgentId, RunId, SpecId, Workspace};
use renown_core::scorecard::{
    Axes, BASELINE_RUNS, Baseline, CommonBaseline, Contender, Report, Scorecard, Submission, Tier, ranking,
};
use renown_core::time::Timestamp;
use renown_core::units::Whole;

use crate::evidence::Position;

/// A run to score.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Its id: the one that was sent, or a generated one.
    pub id: RunId,
    /// The submission.
    pub submission: Submission,
    /// A digest of everything that was sent. It distinguishes a retry from another run with the same id.
    pub digest: [u8; 32],
}

/// The result of a submission.
#[derive(Clone, Debug, PartialEq)]
pub enum Submitted {
    /// The run is new and was scored.
    New(Box<Run>),
    /// The run had been accepted before. This is what was stored then.
    Repeated(Box<Run>),
    /// Another run has this id. Nothing was changed.
    Conflict,
}

/// A run in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its position in the order of acceptance.
    pub position: Position,
    /// Its id.
    pub id: RunId,
    /// Its agent.
    pub agent: AgentId,
    /// The workspace whose runs it was compared with.
    pub workspace: Workspace,
    /// The task that it attempted.
    pub spec: Option<SpecId>,
    /// What it reported.
    pub report: Report,
    /// Its stages as JSON.
    pub stages: Option<String>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended: the time that was sent, else the time of acceptance.
    pub finished_at: Timestamp,
    /// The branch with its work.
    pub branch: Option<String>,
    /// The address of the pull request with its work.
    pub pull_request: Option<String>,
    /// All other fields that were sent, as a JSON object.
    pub attributes: Option<String>,
    /// What was impossible in the submission.
    pub warnings: Vec<String>,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// A digest of everything that was sent.
    pub digest: [u8; 32],
    /// Its score; `None` if scoring failed with an internal error.
    pub scored: Option<RunScore>,
}

/// The score of a run, as it was computed at first.
#[derive(Clone, Debug, PartialEq)]
pub struct RunScore {
    /// 0 to 100.
    pub score: u8,
    /// The axes of the score.
    pub axes: Axes,
    /// Axes that could not be computed and therefore are 50.
    pub defaulted: Vec<String>,
    /// The version of the formula.
    pub formula_version: String,
    /// The baseline that the wall time was compared with.
    pub baseline: Baseline,
}

impl RunScore {
    /// Scores a report. Returns `None` if the scoring panics, because that must not cost the run.
    pub(crate) fn of(report: Report, baseline: Baseline) -> Option<Self> {
        let scorecard = catch_unwind(|| {
            assert!(!fails_for_test(), "the test wants scoring to fail");
            report.breakdown(baseline).scorecard(Vec::new())
        });
        let Scorecard { score, axes, defaulted, formula_version, .. } = scorecard.ok()?;
        let defaulted = defaulted.into_iter().map(str::to_owned).collect();
        Some(Self { score, axes, defaulted, formula_version: formula_version.to_owned(), baseline })
    }
}

/// Returns whether a test wants scoring to fail, to show what becomes of such a run. Only in builds with debug
/// assertions.
fn fails_for_test() -> bool {
    cfg!(debug_assertions) && std::env::var_os("RENOWN_TEST_SCORING_FAILS").is_some()
}

impl Run {
    /// Returns the run that a submission becomes at this position and time, not yet scored.
    pub(crate) fn accepted(new: NewRun, position: Position, now: Timestamp, default: Workspace) -> Self {
        let NewRun { id, submission, digest } = new;
        Self {
            position,
            id,
            agent: submission.agent,
            workspace: submission.workspace.unwrap_or(default),
            spec: submission.spec,
            report: submission.report,
            stages: submission.stages,
            started_at: submission.started_at,
            finished_at: submission.finished_at.unwrap_or(now),
            branch: submission.branch,
            pull_request: submission.pull_request,
            attributes: submission.attributes,
            warnings: submission.warnings.iter().map(ToString::to_string).collect(),
            accepted_at: now,
            digest,
            scored: None,
        }
    }

    /// Returns its tier.
    pub fn tier(&self) -> Tier {
        self.scored.as_ref().map_or(Tier::Unranked, |scored| Tier::of(scored.score))
    }

    /// Returns the wall time that counts in the baseline of later runs; `None` if the run does not count there.
    pub(crate) fn baseline_wall(&self) -> Option<Whole> {
        use renown_core::scorecard::RunOutcome;
        self.report.wall_ms.filter(|_| self.report.outcome == RunOutcome::Completed)
    }
}

/// Returns the baseline of these wall times, the latest finished first. Only the first [`BASELINE_RUNS`] count.
pub(crate) fn baseline(latest_first: impl IntoIterator<Item = Whole>) -> Baseline {
    let mut wall_ms: Vec<Whole> = latest_first.into_iter().take(BASELINE_RUNS).collect();
    wall_ms.reverse();
    Baseline::new(&wall_ms)
}

/// An attempt at a spec, scored against the common baseline of the competition.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedAttempt {
    /// The run, with the score that it got when it was accepted.
    pub run: Run,
    /// Its score against the common baseline. `None` if the run has no score.
    pub scored: Option<RunScore>,
}

impl RankedAttempt {
    fn of(run: Run, baseline: Baseline) -> Self {
        let scored = run.scored.as_ref().and_then(|_| RunScore::of(run.report, baseline));
        Self { run, scored }
    }

    fn contender(&self) -> Contender {
        let scored =
            self.scored.as_ref().map(|scored| (scored.score, scored.axes.completion, scored.axes.error_rate));
        Contender::new(scored, self.run.report.wall_ms, self.run.finished_at, self.run.position.bits())
    }
}

/// The ranking of the agents that attempted a spec.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecRanking {
    /// The baseline that every attempt is compared with.
    pub common: CommonBaseline,
    /// The best attempt of each agent, the best first.
    pub attempts: Vec<RankedAttempt>,
}

/// Returns the best attempt of each agent, the best first.
fn best_attempts(attempts: Vec<RankedAttempt>) -> Vec<RankedAttempt> {
    ranking(attempts, |attempt| &attempt.run.agent, RankedAttempt::contender)
}

/// Selects runs, the last accepted first.
#[derive(Clone, Debug, Default)]
pub struct RunQuery {
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Only of this workspace.
    pub workspace: Option<Workspace>,
    /// Only attempts at this spec.
    pub spec: Option<SpecId>,
    /// Only of this tier.
    pub tier: Option<Tier>,
    /// Only those that ended at this time or later.
    pub from: Option<Timestamp>,
    /// Only those that ended at this time or earlier.
    pub to: Option<Timestamp>,
    /// Only those accepted before this position.
    pub before: Option<Position>,
    /// How many at most.
    pub limit: usize,
}

impl RunQuery {
    /// Returns whether the run matches the filters. Ignores `limit`.
    pub(crate) fn matches(&self, run: &Run) -> bool {
        self.agent.as_ref().is_none_or(|agent| *agent == run.agent)
            && self.workspace.as_ref().is_none_or(|workspace| *workspace == run.workspace)
            && self.spec.as_ref().is_none_or(|spec| Some(spec) == run.spec.as_ref())
            && self.tier.is_none_or(|tier| tier == run.tier())
            && self.from.is_none_or(|from| run.finished_at >= from)
            && self.to.is_none_or(|to| run.finished_at <= to)
            && self.before.is_none_or(|before| run.position < before)
    }
}

/// A page of runs. It is filled while the runs are read backwards.
#[derive(Debug, Default)]
pub struct Runs {
    /// The runs, the last accepted first.
    pub runs: Vec<Run>,
    /// Where the next page begins, if there is one.
    pub next: Option<Position>,
}

impl Runs {
    /// Adds the next run if it matches. Returns whether to continue.
    pub(crate) fn add(&mut self, run: Run, query: &RunQuery) -> bool {
        if !query.matches(&run) {
            return true;
        }
        if self.runs.len() == query.limit {
            self.next = self.runs.last().map(|last| last.position);
            return false;
        }
        self.runs.push(run);
        true
    }
}

/// A spec that agents compete on.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecSummary {
    /// Its id.
    pub spec: SpecId,
    /// Attempts at it.
    pub runs: u64,
    /// Agents that attempted it.
    pub agents: u64,
    /// When the last attempt ended.
    pub finished_at: Timestamp,
    /// The best attempt: the first of its competition.
    pub best: RankedAttempt,
}

/// Collects the attempts at a spec. It keeps only the best attempt of each agent in memory.
pub(crate) struct SpecSums {
    common: CommonBaseline,
    runs: u64,
    finished_at: Timestamp,
    kept: Vec<RankedAttempt>,
    kept_max: usize,
}

impl SpecSums {
    /// Number of runs to keep before all but the best are dropped.
    const KEPT_MIN: usize = 1024;

    pub(crate) fn new(common: CommonBaseline) -> Self {
        let kept = Vec::new();
        Self { common, runs: 0, finished_at: Timestamp::MIN, kept, kept_max: Self::KEPT_MIN }
    }

    pub(crate) fn add(&mut self, run: Run) {
        self.runs += 1;
        self.finished_at = self.finished_at.max(run.finished_at);
        self.kept.push(RankedAttempt::of(run, self.common.baseline));
        if self.kept.len() >= self.kept_max {
            self.kept = best_attempts(std::mem::take(&mut self.kept));
            self.kept_max = Self::KEPT_MIN.max(2 * self.kept.len());
        }
    }

    /// Returns the ranking of the agents.
    pub(crate) fn ranked(self) -> SpecRanking {
        SpecRanking { common: self.common, attempts: best_attempts(self.kept) }
    }

    /// Returns the summary of the attempts; `None` without any.
    pub(crate) fn summary(self, spec: SpecId) -> Option<SpecSummary> {
        let (runs, finished_at) = (self.runs, self.finished_at);
        let ranked = self.ranked().attempts;
        let agents = ranked.len() as u64;
        ranked.into_iter().next().map(|best| SpecSummary { spec, runs, agents, finished_at, best })
    }
}

/// A page of specs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Specs {
    /// The specs, sorted by id.
    pub specs: Vec<SpecSummary>,
    /// The id after which the next page begins, if there is one.
    pub next: Option<SpecId>,
}
