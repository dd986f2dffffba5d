//! Chooses what needs attention: at most three items, the worst first, each agent once.
//!
//! | kind | condition | order |
//! |---|---|---|
//! | fell today | the score fell by [`FALL_SHOWN`] points or more on this UTC day | the largest fall first |
//! | new failing gate | a gate failed today and on none of the seven days before, and there were evaluations on at least one of these days | the most failures first |
//! | below threshold | a shown score is below the threshold of the server | the lowest first |
//!
//! A fall whose worst gate is new is one item, not two. Falls of fewer than [`FALL_SHOWN`] points are
//! not shown. The inputs must already be in the order of the last column.

use renown_core::ids::AgentId;
use renown_view::overview::{CHANGES_SHOWN, ChangeRow, FailingGate, GATE_DAYS};
use renown_view::{AgentRow, EvaluationView, Overview};

/// Number of points that an agent has to fall in a day to be shown.
pub const FALL_SHOWN: i64 = 50;

/// Maximum number of items.
pub const SHOWN: usize = 3;

/// The reason why something needs attention.
#[derive(Clone, Debug)]
pub enum Cause {
    /// A score fell. The flag: whether the gate that failed most had not failed for a week.
    Fell(ChangeRow, bool),
    /// A gate failed that had not failed for a week.
    NewGate(FailingGate),
    /// A score is below the threshold.
    Below(Box<AgentRow>),
}

impl Cause {
    /// Returns the agent, if the cause concerns one.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::Fell(change, _) => Some(&change.agent_id),
            Self::NewGate(_) => None,
            Self::Below(row) => Some(&row.agent_id),
        }
    }

    /// Returns the kind in two or three words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Fell(_, false) => "Fell today",
            Self::Fell(_, true) | Self::NewGate(_) => "New failing gate",
            Self::Below(_) => "Below threshold",
        }
    }
}

/// How many things need attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of things that were found.
    pub found: usize,
    /// Whether there may be more: only the largest falls and the lowest scores are read.
    pub is_minimum: bool,
}

/// Chooses the items from an overview and the agents with the lowest scores, and counts all candidates. `has_more` says whether
/// the list of the lowest scores goes on after `lowest`.
pub fn choose(
    overview: &Overview,
    lowest: &[AgentRow],
    has_more: bool,
    threshold: u32,
) -> (Vec<Cause>, Count) {
    let week = overview.day.back(GATE_DAYS);
    let has_past = overview
        .days
        .iter()
        .any(|past| (week..overview.day).contains(&past.day) && past.totals.evaluations > 0);
    let is_new_gate = |gate: &FailingGate| gate.is_new && has_past;
    let is_new =
        |gate: &str| overview.failing_gates.iter().any(|known| is_new_gate(known) && *known.gate == *gate);
    let falls: Vec<&ChangeRow> = overview.falls.iter().filter(|fall| fall.change <= -FALL_SHOWN).collect();
    let mut causes: Vec<Cause> = falls
        .iter()
        .map(|fall| Cause::Fell((*fall).clone(), fall.gate.as_deref().is_some_and(is_new)))
        .collect();
    let is_in_fall = |gate: &FailingGate| falls.iter().any(|fall| fall.gate.as_deref() == Some(&*gate.gate));
    let new_gates = overview.failing_gates.iter().filter(|gate| is_new_gate(gate) && !is_in_fall(gate));
    causes.extend(new_gates.cloned().map(Cause::NewGate));
    let did_not_fall = |row: &&AgentRow| !falls.iter().any(|fall| fall.agent_id == row.agent_id);
    let below = lowest.iter().filter(|row| row.score < threshold).filter(did_not_fall);
    causes.extend(below.cloned().map(|row| Cause::Below(Box::new(row))));
    let is_minimum =
        falls.len() >= CHANGES_SHOWN || has_more && lowest.last().is_some_and(|last| last.score < threshold);
    let count = Count { found: causes.len(), is_minimum };
    causes.truncate(SHOWN);
    (causes, count)
}

/// The common tool and the latest reason of the evaluations that a gate failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InCommon {
    /// Tool of all of them; `None` if there is only one evaluation, or if they differ.
    pub tool: Option<String>,
    /// Reason of the latest failure, if it has one.
    pub reason: Option<String>,
}

/// Compares the evaluations that a gate failed. The latest is first.
pub fn in_common(latest: &[EvaluationView], gate: &str) -> InCommon {
    let failed: Vec<(&EvaluationView, &renown_view::GateView)> = latest
        .iter()
        .filter_map(|evaluation| {
            Some((evaluation, evaluation.failed_gates().find(|failed| failed.name == gate)?))
        })
        .collect();
    let tool = failed.first().and_then(|(first, _)| first.tool.as_ref());
    let same = failed.iter().all(|(evaluation, _)| evaluation.tool.as_ref() == tool);
    InCommon {
        tool: tool.filter(|_| same && failed.len() > 1).map(|tool| tool.as_str().to_owned()),
        reason: failed.first().and_then(|(_, gate)| gate.reason.clone()),
    }
}

#[cfg(test)]
mod tests {
    use renown_core::reputation::Lifecycle;
    use renown_view::overview::{DayTotals, Totals};

    use super::*;

    fn overview(falls: &[(&str, i64, Option<&str>)], gates: &[(&str, u64, bool)]) -> Overview {
        let mut overview = crate::testing::overview();
        let totals = Totals { evaluations: 40, ..overview.today.clone() };
        overview.days = vec![DayTotals { day: overview.day.back(3), totals }];
        overview.falls = falls
            .iter()
            .map(|(agent, change, gate)| ChangeRow {
                agent_id: agent.parse().unwrap(),
                change: *change,
                score_before: 900,
                score: 700,
                evaluations: 30,
                failed: 9,
                gate: gate.map(Into::into),
                cause: String::new(),
            })
            .collect();
        overview.failing_gates = gates
            .iter()
            .map(|(gate, failed, is_new)| FailingGate {
                gate: (*gate).into(),
                failed: *failed,
                failed_before: u64::from(!is_new),
                is_new: *is_new,
            })
            .collect();
        overview
    }

    fn kinds(causes: &[Cause]) -> Vec<(&'static str, Option<&str>)> {
        causes.iter().map(|cause| (cause.kind(), cause.agent().map(AgentId::as_str))).collect()
    }

    #[test]
    fn falls_come_before_new_gates_and_low_scores_and_each_agent_is_shown_once() {
        let low = |agent: &str, score| crate::testing::row(agent, score, Lifecycle::Mature);
        let falls = [("a", -210, Some("pii")), ("b", -50, Some("secrets")), ("c", -49, None)];
        let gates = [("secrets", 3, true), ("pii", 9, false), ("content", 2, true)];
        let lowest = [low("a", 590), low("d", 599), low("e", 600)];
        let (shown, all) = choose(&overview(&falls, &gates), &lowest, false, 600);
        assert_eq!(
            kinds(&shown),
            [("Fell today", Some("a")), ("New failing gate", Some("b")), ("New failing gate", None)]
        );
        assert_eq!(all.found, 4, "and d, which is below the threshold");
        let (shown, all) = choose(&overview(&[], &[]), &lowest, false, 600);
        assert_eq!(kinds(&shown), [("Below threshold", Some("a")), ("Below threshold", Some("d"))]);
        assert_eq!(all, Count { found: 2, is_minimum: false });
        assert_eq!(choose(&overview(&[], &[]), &[], false, 600).1, Count::default());
    }

    #[test]
    fn no_gate_is_new_on_the_first_day() {
        let first_day = Overview {
            days: Vec::new(),
            ..overview(&[("a", -90, Some("pii"))], &[("pii", 3, true), ("size", 1, true)])
        };
        let (shown, count) = choose(&first_day, &[], false, 600);
        assert_eq!((kinds(&shown), count.found), (vec![("Fell today", Some("a"))], 1));
    }

    #[test]
    fn a_count_of_full_lists_is_a_minimum() {
        let low = |score| crate::testing::row("a", score, Lifecycle::Mature);
        let is_minimum = |falls: usize, score, has_more| {
            let falls = vec![("b", -60, None); falls];
            choose(&overview(&falls, &[]), &[low(score)], has_more, 600).1.is_minimum
        };
        assert!(is_minimum(0, 599, true), "there are more low scores");
        assert!(!is_minimum(0, 599, false) && !is_minimum(0, 600, true));
        assert!(is_minimum(CHANGES_SHOWN, 700, false) && !is_minimum(CHANGES_SHOWN - 1, 700, false));
    }
}
