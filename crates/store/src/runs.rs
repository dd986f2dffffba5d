//! Runs: as they are submitted, as they are scored, and as they are read back.
//!
//! A run is scored when it is accepted, against the runs of its workspace that are known by then, and its score never changes.
//! What it was compared with is kept with it, so that the score can be made again however many of those runs are erased.
//!
//! A `run_id` that is sent again is the same run if its JSON says the same, whatever its spaces and the order of its fields:
//! the store keeps a SHA-256 of it. A run without a `run_id` is a new run each time. A run that an error prevented from being
//! scored is stored as `Unranked`; `renown verify --repair` scores it against the baseline of that time.

use std::panic::catch_unwind;

use renown_core::ids::{AgentId, OrgId, RunId, SpecId, Workspace};
use renown_core::scorecard::{
    Axes, BASELINE_RUNS, Baseline, Contender, Report, Scorecard, Submission, Tier, ranking,
};
use renown_core::time::Timestamp;
use renown_core::units::Whole;

use crate::Reply;
use crate::evidence::{Once, Seq};

/// A run that is to be scored.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Its id: the one that was sent, or a new one.
    pub id: RunId,
    /// What was said about it.
    pub submission: Submission,
    /// A digest of all that was sent, to tell a retry from another run of the same id.
    pub digest: [u8; 32],
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Submitted {
    /// It is scored.
    New(Box<Run>),
    /// It had been before, and this is what was said then.
    Again(Box<Run>),
    /// Its id stands for another run, so nothing was done.
    Taken,
}

impl Submitted {
    /// The run, if there is one to show.
    pub(crate) fn run(&self) -> Option<&Run> {
        match self {
            Self::New(run) | Self::Again(run) => Some(run),
            Self::Taken => None,
        }
    }
}

/// A run of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its place: a later accepted one has a greater number.
    pub seq: Seq,
    /// Its id.
    pub id: RunId,
    /// Who did it.
    pub agent: AgentId,
    /// With which runs it was compared.
    pub workspace: Workspace,
    /// The task that it was an attempt at.
    pub spec: Option<SpecId>,
    /// What it reported.
    pub report: Report,
    /// Its stages as JSON.
    pub stages: Option<String>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended: as was said, else when it was accepted.
    pub finished_at: Timestamp,
    /// The branch with its work.
    pub branch: Option<String>,
    /// The address of the pull request with its work.
    pub pull_request: Option<String>,
    /// Whatever else was sent, as a JSON object.
    pub attributes: Option<String>,
    /// What was impossible in what was said.
    pub warnings: Vec<String>,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// A digest of all that was sent.
    pub digest: [u8; 32],
    /// Its score; none if scoring failed inside.
    pub scored: Option<Scored>,
}

/// The score of a run as it was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// 0 to 100.
    pub score: u8,
    /// The axes it was made of.
    pub axes: Axes,
    /// Axes that could not be computed and are 50.
    pub defaulted: Vec<String>,
    /// The version of the formula.
    pub formula_version: String,
    /// What the wall time was compared with.
    pub baseline: Baseline,
}

impl Scored {
    /// Scores a report; none if that fails, which must not cost the run.
    pub(crate) fn of(report: Report, baseline: Baseline) -> Option<Self> {
        let scorecard = catch_unwind(|| {
            assert!(!fails_for_test(), "as the test wants it");
            report.breakdown(baseline).scorecard(Vec::new())
        });
        let Scorecard { score, axes, defaulted, formula_version, .. } = scorecard.ok()?;
        let defaulted = defaulted.into_iter().map(str::to_owned).collect();
        Some(Self { score, axes, defaulted, formula_version: formula_version.to_owned(), baseline })
    }
}

/// Whether scoring is to fail: a build with debug assertions can be told so, to show what becomes of such a run.
fn fails_for_test() -> bool {
    cfg!(debug_assertions) && std::env::var_os("RENOWN_TEST_SCORING_FAILS").is_some()
}

impl Run {
    /// The run that a new one becomes at its place and time.
    pub(crate) fn accepted(new: NewRun, seq: Seq, now: Timestamp, default: Workspace) -> Self {
        let NewRun { id, submission, digest } = new;
        Self {
            seq,
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

    /// Its tier.
    pub fn tier(&self) -> Tier {
        self.scored.as_ref().map_or(Tier::Unranked, |scored| Tier::of(scored.score))
    }

    /// The wall time by which it joins the baseline of later runs, if it does.
    pub(crate) fn baseline_wall(&self) -> Option<Whole> {
        use renown_core::scorecard::Outcome;
        self.report.wall_ms.filter(|_| self.report.outcome == Outcome::Completed)
    }

    /// Whether the baseline of this run has the other: it ended earlier, or in the same moment and was accepted earlier.
    pub(crate) fn is_after(&self, other: &Self) -> bool {
        (other.finished_at, other.seq) < (self.finished_at, self.seq)
    }

    fn contender(&self) -> Contender {
        let scored =
            self.scored.as_ref().map(|scored| (scored.score, scored.axes.completion, scored.axes.error_rate));
        Contender::new(scored, self.report.wall_ms, self.finished_at, self.seq.0)
    }
}

/// The baseline of these runs' wall times, the latest finished first; only so many count.
pub(crate) fn baseline(latest_first: impl IntoIterator<Item = Whole>) -> Baseline {
    let mut wall_ms: Vec<Whole> = latest_first.into_iter().take(BASELINE_RUNS).collect();
    wall_ms.reverse();
    Baseline::new(&wall_ms)
}

/// The best run of each agent, the best first.
pub(crate) fn ranked(runs: impl IntoIterator<Item = Run>) -> Vec<Run> {
    ranking(runs, |run| &run.agent, Run::contender)
}

/// Which runs, the last accepted first.
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
    /// Only those accepted before this one.
    pub before: Option<Seq>,
    /// How many at most.
    pub limit: usize,
}

impl RunQuery {
    /// Whether the query asks for this run.
    pub(crate) fn wants(&self, run: &Run) -> bool {
        self.agent.as_ref().is_none_or(|agent| *agent == run.agent)
            && self.workspace.as_ref().is_none_or(|workspace| *workspace == run.workspace)
            && self.spec.as_ref().is_none_or(|spec| Some(spec) == run.spec.as_ref())
            && self.tier.is_none_or(|tier| tier == run.tier())
            && self.from.is_none_or(|from| run.finished_at >= from)
            && self.to.is_none_or(|to| run.finished_at <= to)
            && self.before.is_none_or(|before| run.seq < before)
    }
}

/// A page of runs, filled from a walk backwards.
#[derive(Debug, Default)]
pub struct Runs {
    /// The runs, the last accepted first.
    pub runs: Vec<Run>,
    /// Where the next page begins, if there is one.
    pub next: Option<Seq>,
}

impl Runs {
    /// Takes the next run of the walk; whether more are wanted.
    pub(crate) fn take(&mut self, run: Run, query: &RunQuery) -> bool {
        if !query.wants(&run) {
            return true;
        }
        if self.runs.len() == query.limit {
            self.next = self.runs.last().map(|last| last.seq);
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
    pub best: Run,
}

/// Collects the attempts at a spec. Only each agent's best is held, however many there are.
pub(crate) struct SpecSums {
    runs: u64,
    finished_at: Timestamp,
    held: Vec<Run>,
    held_max: usize,
}

impl SpecSums {
    /// So many runs are held before the best are taken from them.
    const HELD_MIN: usize = 1024;

    pub(crate) fn new() -> Self {
        Self { runs: 0, finished_at: Timestamp::MIN, held: Vec::new(), held_max: Self::HELD_MIN }
    }

    pub(crate) fn add(&mut self, run: Run) {
        self.runs += 1;
        self.finished_at = self.finished_at.max(run.finished_at);
        self.held.push(run);
        if self.held.len() >= self.held_max {
            self.held = ranked(std::mem::take(&mut self.held));
            self.held_max = Self::HELD_MIN.max(2 * self.held.len());
        }
    }

    /// Every agent's best attempt, the best first.
    pub(crate) fn ranked(self) -> Vec<Run> {
        ranked(self.held)
    }

    /// The summary of these attempts. `None` without any.
    pub(crate) fn summary(self, spec: SpecId) -> Option<SpecSummary> {
        let (runs, finished_at) = (self.runs, self.finished_at);
        let ranked = self.ranked();
        let agents = ranked.len() as u64;
        ranked.into_iter().next().map(|best| SpecSummary { spec, runs, agents, finished_at, best })
    }
}

/// A page of specs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Specs {
    /// The specs by their ids.
    pub specs: Vec<SpecSummary>,
    /// The last of them, after which the next page begins, if there is one.
    pub next: Option<SpecId>,
}

/// The runs of many organizations.
pub trait RunStore: Send + Sync + 'static {
    /// Scores a run against the runs of its workspace. The organization has to exist.
    fn add_run<'a>(&'a self, org: &OrgId, run: NewRun, once: Option<Once<Submitted>>)
    -> Reply<'a, Submitted>;

    /// One run.
    fn run<'a>(&'a self, org: &OrgId, id: &RunId) -> Reply<'a, Option<Run>>;

    /// Runs, the last accepted first.
    fn runs<'a>(&'a self, org: &OrgId, query: RunQuery) -> Reply<'a, Runs>;

    /// Every agent's best attempt at a spec, the best first.
    fn competition<'a>(&'a self, org: &OrgId, spec: &SpecId) -> Reply<'a, Vec<Run>>;

    /// The specs that have a run, by their ids, after one of them. It costs as much as the competitions of the page.
    fn specs<'a>(&'a self, org: &OrgId, after: Option<SpecId>, limit: usize) -> Reply<'a, Specs>;
}
