//! What a submitted run means.
//!
//! | its id in the organization | what was sent | outcome |
//! |---|---|---|
//! | is new | anything | one row, scored against its baseline; its agent is added or was seen |
//! | is known | the same content | nothing changes; the run as it was stored |
//! | is known | other content | nothing changes; a conflict |
//!
//! **The baseline** of a run is the wall times of the latest 20 runs that were accepted before it and count: completed
//! runs with a wall time, of the same workspace, that ended no later than this one. It is stored with the run, so
//! its score never changes.

use renown_core::ids::Workspace;
use renown_core::scorecard::{Baseline, DEFAULT_WORKSPACE};
use renown_core::time::Timestamp;
use renown_core::units::Whole;

use crate::error::StoreError;
use crate::evidence::Position;
use crate::runs::{NewRun, Run, RunScore, Submitted, baseline};

/// What becomes of a run.
#[derive(Debug)]
pub(crate) enum RunChange {
    /// It is stored when it is scored.
    New(Box<UnscoredRun>),
    /// Nothing changes.
    Known(Submitted),
}

/// A run that is accepted but not scored yet.
#[derive(Debug)]
pub(crate) struct UnscoredRun(Run);

/// The runs that a run is compared with: those of its workspace that ended earlier, or at the same time and were accepted
/// earlier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BaselineQuery<'r> {
    /// The workspace.
    pub(crate) workspace: &'r Workspace,
    /// When the run ended.
    pub(crate) finished_at: Timestamp,
    /// Its position.
    pub(crate) before: Position,
}

/// A row to insert: a run, and the baseline that its score was computed with, if it has one. The engine adds its
/// position.
#[derive(Debug)]
pub(crate) struct RunRow {
    /// The run. It has no score if scoring failed with an internal error.
    pub(crate) run: Run,
    /// Its baseline.
    pub(crate) baseline: Baseline,
}

/// Decides what becomes of a run. `known` is the run with its id, if there is one.
pub(crate) fn submit(known: Option<Run>, new: NewRun, now: Timestamp) -> Result<RunChange, StoreError> {
    match known {
        Some(first) if first.digest == new.digest => {
            Ok(RunChange::Known(Submitted::Repeated(Box::new(first))))
        }
        Some(_) => Ok(RunChange::Known(Submitted::Conflict)),
        None => {
            let default = DEFAULT_WORKSPACE
                .parse()
                .map_err(|_| StoreError::Bug("the default workspace is not a valid name"))?;
            // All runs that are stored were accepted before this one.
            let last = Position::of(i64::MAX);
            Ok(RunChange::New(Box::new(UnscoredRun(Run::accepted(new, last, now, default)))))
        }
    }
}

impl UnscoredRun {
    /// Returns which runs the fold asks for.
    pub(crate) fn baseline_query(&self) -> BaselineQuery<'_> {
        BaselineQuery::before(&self.0)
    }

    /// Scores the run against the wall times of these runs, the latest finished first. Only the first 20 count.
    pub(crate) fn score(self, latest_first: impl IntoIterator<Item = Whole>) -> RunRow {
        let Self(mut run) = self;
        let baseline = baseline(latest_first);
        run.scored = RunScore::of(run.report, baseline);
        RunRow { run, baseline }
    }
}

impl<'r> BaselineQuery<'r> {
    /// Returns which runs a run is compared with.
    pub(crate) fn before(run: &'r Run) -> Self {
        Self { workspace: &run.workspace, finished_at: run.finished_at, before: run.position }
    }

    /// Returns the wall times of the runs that count, the latest finished first; of runs that ended at the same time,
    /// the last accepted first.
    pub(crate) fn select<'o>(&self, runs: impl Iterator<Item = &'o Run>) -> Vec<Whole> {
        let end = (self.finished_at, self.before);
        let mut before: Vec<&Run> = runs
            .filter(|run| run.workspace == *self.workspace && (run.finished_at, run.position) < end)
            .collect();
        before.sort_by_key(|run| std::cmp::Reverse((run.finished_at, run.position)));
        before.into_iter().filter_map(Run::baseline_wall).collect()
    }
}

#[cfg(test)]
mod tests {
    use renown_core::scorecard::{Report, Resources, RunOutcome, Submission};

    use super::*;

    const NOON: i64 = 1_794_744_000_000;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(NOON + ms).unwrap()
    }

    fn new(id: &str, digest: u8, json: &str) -> NewRun {
        let submission: Submission = serde_json::from_str(json).unwrap();
        NewRun { id: id.parse().unwrap(), submission, digest: [digest; 32] }
    }

    fn plain(id: &str) -> NewRun {
        new(id, 1, r#"{"agent_id":"a","outcome":"completed","wall_ms":100}"#)
    }

    fn accept(new: NewRun, now: Timestamp) -> UnscoredRun {
        match submit(None, new, now).unwrap() {
            RunChange::New(unscored) => *unscored,
            RunChange::Known(known) => panic!("{known:?}"),
        }
    }

    /// A stored run with this workspace, outcome, wall time, end and position.
    fn stored(
        workspace: &str,
        outcome: RunOutcome,
        wall_ms: Option<u64>,
        ended_ms: i64,
        position: i64,
    ) -> Run {
        let report = Report {
            outcome,
            stages: None,
            wall_ms: wall_ms.map(|ms| Whole::new(ms).unwrap()),
            resources: Resources::default(),
        };
        let run = accept(plain("r"), at(0)).0;
        let workspace = workspace.parse().unwrap();
        Run { workspace, report, finished_at: at(ended_ms), position: Position::of(position), ..run }
    }

    #[test]
    fn a_known_id_changes_nothing_whatever_was_sent() {
        let first = accept(plain("r"), at(0)).score([]).run;
        let RunChange::Known(same) = submit(Some(first.clone()), plain("r"), at(9)).unwrap() else {
            panic!("the same content is a repeat");
        };
        assert_eq!(same, Submitted::Repeated(Box::new(first.clone())), "as it was stored, at its first time");
        let other = new("r", 2, r#"{"agent_id":"a","outcome":"failed"}"#);
        let RunChange::Known(conflict) = submit(Some(first), other, at(9)).unwrap() else {
            panic!("other content is a conflict");
        };
        assert_eq!(conflict, Submitted::Conflict);
    }

    #[test]
    fn a_new_run_ends_when_it_is_accepted_and_belongs_to_the_default_workspace_unless_it_says_otherwise() {
        let silent = accept(plain("r"), at(7));
        let asked = silent.baseline_query();
        assert_eq!((asked.workspace.as_str(), asked.finished_at), (DEFAULT_WORKSPACE, at(7)));
        let mut new = new("r", 1, r#"{"agent_id":"a","outcome":"completed","workspace":"w"}"#);
        new.submission.finished_at = Some(at(-9));
        let explicit = accept(new, at(7));
        let asked = explicit.baseline_query();
        assert_eq!((asked.workspace.as_str(), asked.finished_at), ("w", at(-9)));
    }

    #[test]
    fn a_baseline_has_the_completed_runs_of_the_workspace_that_ended_no_later() {
        use RunOutcome::{Completed, Failed};
        let runs = [
            stored("w", Completed, Some(1), 10, 1),
            stored("other", Completed, Some(2), 10, 2),
            stored("w", Failed, Some(3), 10, 3),
            stored("w", Completed, None, 10, 4),
            stored("w", Completed, Some(5), 10, 5),
            stored("w", Completed, Some(6), 11, 6),
            stored("w", Completed, Some(7), 9, 7),
        ];
        let workspace = "w".parse().unwrap();
        for (ended_ms, expected, label) in [
            (8, vec![], "all ended later"),
            (9, vec![7], "one that ended at the same time counts"),
            (10, vec![5, 1, 7], "the latest finished first, then the last accepted"),
            (99, vec![6, 5, 1, 7], "no other workspace, no failure, no run without a time"),
        ] {
            let before = Position::of(i64::MAX);
            let query = BaselineQuery { workspace: &workspace, finished_at: at(ended_ms), before };
            let found: Vec<u64> = query.select(runs.iter()).into_iter().map(Whole::get).collect();
            assert_eq!(found, expected, "{label}");
        }
        // Of runs that ended at the same time as a stored one, only those accepted before it count.
        let stored = stored("w", Completed, Some(5), 10, 5);
        let found = BaselineQuery::before(&stored).select(runs.iter());
        assert_eq!(found.into_iter().map(Whole::get).collect::<Vec<_>>(), [1, 7]);
    }

    #[test]
    fn the_latest_twenty_count() {
        let walls = |count: u64| (0..count).map(|ms| Whole::new(ms + 1).unwrap());
        for (count, expected) in [(0, 0), (19, 19), (20, 20), (21, 20)] {
            let row = accept(plain("r"), at(0)).score(walls(count));
            assert_eq!(row.baseline.runs(), expected, "{count} runs");
            assert_eq!(row.run.scored.unwrap().baseline, row.baseline, "the score keeps its baseline");
        }
    }
}
