//! # Competition: ranks the agents that attempted the same spec
//!
//! A run's own score depends on when it was accepted: the first run of a workspace has no baseline, so its latency
//! counts as 50, while the same run a day later is compared with others. A ranking must not depend on that. So all
//! attempts are scored again, by the same formula, against one baseline:
//!
//! ```text
//! baseline = the baseline of the first attempt, if at least 3 completed runs of its workspace finished before it
//!            else the median of the agents' shortest completed attempts
//! ```
//!
//! | symbol | meaning | source |
//! |---|---|---|
//! | first attempt | the attempt that finished first (then: that was accepted first) | `finished_at` |
//! | baseline of the first attempt | median wall time of the last 20 completed runs that finished before it in its workspace | [`Baseline`] |
//! | shortest completed attempt | wall time of the fastest attempt of an agent with the outcome `completed` | `wall_ms` |
//!
//! The best attempt of each agent counts. An attempt is better than another if it has
//!
//! 1. the higher score against the common baseline (a run that could not be scored is last),
//! 2. the higher completion, then the higher error rate axis,
//! 3. the shorter wall time (a run without one is last),
//! 4. the earlier finish, then the earlier acceptance.
//!
//! **Why one attempt per agent in the median.** An agent could otherwise move the baseline with many attempts.
//!
//! **What it ignores.** The scores that the runs got when they were accepted. They are shown beside the new ones.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::Baseline;
use crate::ids::AgentId;
use crate::time::Timestamp;
use crate::units::Whole;

/// Number of earlier completed runs of the workspace from which their median is the common baseline.
pub const COMMON_RUNS_MIN: usize = 3;

/// The origin of the common baseline of a competition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BaselineSource {
    /// The runs of the workspace that finished before the first attempt.
    Workspace,
    /// The attempts themselves, because fewer than three completed runs finished before them.
    Contenders,
}

/// The baseline that all attempts at a spec are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommonBaseline {
    /// The baseline itself.
    pub baseline: Baseline,
    /// Its origin.
    pub source: BaselineSource,
}

impl CommonBaseline {
    /// Chooses the baseline. `workspace` is the baseline of the first attempt; `shortest_ms` holds the wall time of
    /// each agent's shortest completed attempt.
    pub fn new(workspace: Baseline, shortest_ms: impl IntoIterator<Item = Whole>) -> Self {
        if workspace.runs() >= COMMON_RUNS_MIN {
            return Self { baseline: workspace, source: BaselineSource::Workspace };
        }
        let baseline = Baseline::of_all(shortest_ms.into_iter().collect());
        Self { baseline, source: BaselineSource::Contenders }
    }
}

/// The sort key of a run. The better run is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contender {
    /// Score, completion and error rate, higher is better. `None` if the run could not be scored.
    score: Reverse<Option<(u8, u8, u8)>>,
    has_no_wall: bool,
    wall_ms: Option<Whole>,
    finished_at: Timestamp,
    position: u128,
}

impl Contender {
    /// Creates the sort key. `scored` holds score, completion and error rate; `position` is the order of acceptance.
    pub fn new(
        scored: Option<(u8, u8, u8)>,
        wall_ms: Option<Whole>,
        finished_at: Timestamp,
        position: u128,
    ) -> Self {
        Self { score: Reverse(scored), has_no_wall: wall_ms.is_none(), wall_ms, finished_at, position }
    }
}

/// Returns the best run of each agent, best first.
pub fn ranking<T>(
    runs: impl IntoIterator<Item = T>,
    agent: impl Fn(&T) -> &AgentId,
    contender: impl Fn(&T) -> Contender,
) -> Vec<T> {
    let mut best: BTreeMap<AgentId, T> = BTreeMap::new();
    for run in runs {
        match best.get_mut(agent(&run)) {
            Some(known) if contender(&run) < contender(known) => *known = run,
            Some(_) => {}
            None => _ = best.insert(agent(&run).clone(), run),
        }
    }
    let mut ranked: Vec<T> = best.into_values().collect();
    ranked.sort_by_key(contender);
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contender(
        scored: Option<(u8, u8, u8)>,
        wall_ms: Option<u64>,
        finished: i64,
        position: u128,
    ) -> Contender {
        let at = Timestamp::from_millis(1_794_744_000_000 + finished).unwrap();
        Contender::new(scored, wall_ms.map(|ms| Whole::new(ms).unwrap()), at, position)
    }

    #[test]
    fn each_rule_breaks_the_ties_of_the_rules_before_it() {
        let ranked = [
            contender(Some((90, 100, 80)), Some(10), 0, 0),
            contender(Some((80, 100, 80)), Some(1), 0, 1),
            contender(Some((80, 100, 70)), Some(1), 0, 2),
            contender(Some((80, 30, 100)), Some(5), 0, 3),
            contender(Some((80, 30, 100)), Some(6), 0, 4),
            contender(Some((80, 30, 100)), None, 1, 9),
            contender(Some((80, 30, 100)), None, 2, 5),
            contender(Some((80, 30, 100)), None, 2, 6),
            contender(None, Some(1), 0, 7),
        ];
        assert!(ranked.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn three_earlier_runs_of_the_workspace_are_enough_for_a_baseline() {
        let walls = |wall_ms: &[u64]| wall_ms.iter().map(|&ms| Whole::new(ms).unwrap()).collect::<Vec<_>>();
        for (label, workspace, shortest, source, p50_ms) in [
            ("three earlier runs", &[10, 20, 90][..], &[7, 7][..], BaselineSource::Workspace, Some("20.0")),
            ("two earlier runs", &[10, 20], &[60, 80], BaselineSource::Contenders, Some("70.0")),
            ("no earlier run", &[], &[5, 9, 60], BaselineSource::Contenders, Some("9.0")),
            ("no completed attempt either", &[10, 20], &[], BaselineSource::Contenders, None),
        ] {
            let common = CommonBaseline::new(Baseline::new(&walls(workspace)), walls(shortest));
            let found = common.baseline.shown().p50_ms.map(|p50| p50.to_string());
            assert_eq!((common.source, found.as_deref()), (source, p50_ms), "{label}");
        }
    }

    #[test]
    fn more_than_twenty_contenders_all_count() {
        let walls = (1..=41).map(|ms| Whole::new(ms).unwrap());
        let common = CommonBaseline::new(Baseline::default(), walls);
        assert_eq!(common.baseline.shown().p50_ms.map(|p50| p50.to_string()).as_deref(), Some("21.0"));
        assert_eq!(common.baseline.runs(), 41);
    }

    #[test]
    fn an_agent_is_ranked_by_its_best_run() {
        let agent = |name: &str| name.parse::<AgentId>().unwrap();
        let runs = [
            (agent("b"), contender(Some((70, 0, 0)), None, 0, 0)),
            (agent("a"), contender(Some((60, 0, 0)), None, 0, 1)),
            (agent("a"), contender(Some((80, 0, 0)), None, 0, 2)),
            (agent("a"), contender(Some((75, 0, 0)), None, 0, 3)),
            (agent("c"), contender(None, None, 0, 4)),
        ];
        let ranked = ranking(runs, |(agent, _)| agent, |(_, contender)| *contender);
        let names: Vec<&str> = ranked.iter().map(|(agent, _)| agent.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(ranked[0].1.position, 2);
    }
}
