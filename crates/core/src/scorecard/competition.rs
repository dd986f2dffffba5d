//! Ranks the agents that attempted the same spec.
//!
//! The best run of each agent counts. A run is better than another if it has
//!
//! 1. the higher score (a run that could not be scored is last),
//! 2. the higher completion, then the higher error rate axis,
//! 3. the shorter wall time (a run without one is last),
//! 4. the earlier finish, then the earlier acceptance.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::ids::AgentId;
use crate::time::Timestamp;
use crate::units::Whole;

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
