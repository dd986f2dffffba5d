//! The overview of an organization: totals, changes of scores with their causes, failing gates, and the ranking.

use std::collections::BTreeSet;

use renown_core::decimal::Decimal;
use renown_core::ids::AgentId;
use renown_core::time::Day;
use renown_store::days::DayCounts;
use renown_store::{Activity, GateFailures, OrgOverview, ScoreChange};
pub use renown_store::{CHANGES_SHOWN, GATE_DAYS};
use serde::Serialize;
use utoipa::ToSchema;

use crate::agents::AgentRow;
use crate::shared::{average_ms, share};

/// Number of days in `week`.
const WEEK_DAYS: u32 = 7;

/// The overview of an organization.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Overview {
    /// UTC day of the overview.
    pub day: Day,
    /// Number of agents in the organization.
    pub agents: u64,
    /// Totals of the day.
    pub today: Totals,
    /// Totals of the day and the six days before it.
    pub week: Totals,
    /// Totals of each of the last 30 days that has any evidence, oldest first.
    pub days: Vec<DayTotals>,
    /// Largest falls of scores on the day, at most 5. Agents that were calibrating at the start of the day are left out.
    pub falls: Vec<ChangeRow>,
    /// Largest rises of scores on the day, at most 5.
    pub rises: Vec<ChangeRow>,
    /// Gates that failed evaluations on the day, most failures first.
    pub failing_gates: Vec<FailingGate>,
    /// Agents with the best scores, each with its last 30 days.
    pub ranking: Vec<AgentRow>,
}

/// Totals of one or several days.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Totals {
    /// Number of evaluations.
    pub evaluations: u64,
    /// Number of evaluations that passed.
    pub passed: u64,
    /// Share of the evaluations that passed; null without an evaluation.
    pub pass_rate: Option<Decimal<6>>,
    /// Average latency; null without an evaluation.
    pub avg_latency_ms: Option<Decimal<3>>,
    /// Number of sessions that began.
    pub sessions: u64,
    /// Known cost of these sessions in dollars. One session adds at most 10 000.
    pub cost_usd: Decimal<9>,
    /// Number of runs that were accepted.
    pub runs: u64,
}

impl Totals {
    fn of(counts: &DayCounts, activity: &Activity) -> Self {
        Self {
            sessions: activity.sessions,
            cost_usd: Decimal::from_units(i128::from(activity.cost_nano)),
            runs: activity.runs,
            evaluations: counts.evaluations,
            passed: counts.passed,
            pass_rate: share(counts.passed, counts.evaluations),
            avg_latency_ms: average_ms(counts.latency_us, counts.evaluations),
        }
    }

    /// Sums up the days from `from` on.
    fn since(found: &OrgOverview, from: Day) -> Self {
        let (mut counts, mut activity) = (DayCounts::default(), Activity::default());
        found.days.range(from..).for_each(|(_, day)| counts.add(day));
        found.activity.range(from..).for_each(|(_, day)| activity.add(day));
        Self::of(&counts, &activity)
    }
}

/// Totals of one day.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DayTotals {
    /// The UTC day.
    pub day: Day,
    /// Totals of the day.
    #[serde(flatten)]
    pub totals: Totals,
}

/// The change of an agent's score on a day, with its cause.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = ScoreChange)]
pub struct ChangeRow {
    /// Id of the agent.
    pub agent_id: AgentId,
    /// Change of the score, in points.
    pub change: i64,
    /// Score before the first evaluation of the day.
    #[schema(maximum = 1000)]
    pub score_before: u32,
    /// Score after the last evaluation of the day.
    #[schema(maximum = 1000)]
    pub score: u32,
    /// Number of evaluations on the day.
    pub evaluations: u64,
    /// Number of evaluations that failed.
    pub failed: u64,
    /// Gate with the most failures; null if no gate failed.
    pub gate: Option<Box<str>>,
    /// Cause of the change, in one sentence.
    pub cause: String,
}

impl ChangeRow {
    fn of(change: ScoreChange) -> Self {
        let points = change.points();
        let counts = change.sums.counts;
        let failed = counts.evaluations.saturating_sub(counts.passed);
        Self {
            cause: cause(points, &counts, change.worst_gate.as_ref()),
            agent_id: change.agent,
            change: points,
            score_before: change.sums.score_before.unwrap_or_default(),
            score: change.sums.last.score,
            evaluations: counts.evaluations,
            failed,
            gate: change.worst_gate.map(|(gate, _)| gate),
        }
    }
}

/// Describes why a score changed, from the counts of the day's evaluations.
fn cause(points: i64, counts: &DayCounts, worst_gate: Option<&(Box<str>, u64)>) -> String {
    let DayCounts { evaluations, passed, latency_us, .. } = *counts;
    let failed = evaluations.saturating_sub(passed);
    match worst_gate {
        _ if points >= 0 => format!("{passed} of {evaluations} evaluations passed"),
        Some((gate, times)) => format!("{gate} failed {times} of {evaluations} evaluations"),
        None if failed > 0 => format!("{failed} of {evaluations} evaluations failed"),
        None => {
            let average = average_ms(latency_us, evaluations).unwrap_or_default();
            format!("no evaluation failed; they took {average} ms on average")
        }
    }
}

/// A gate that failed evaluations on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FailingGate {
    /// Name of the gate.
    pub gate: Box<str>,
    /// Number of evaluations that the gate failed on that day.
    pub failed: u64,
    /// Number of evaluations that the gate failed on the seven days before.
    pub failed_before: u64,
    /// Whether the gate failed no evaluation on the seven days before.
    pub is_new: bool,
}

impl From<GateFailures> for FailingGate {
    fn from(GateFailures { gate, failed, failed_before }: GateFailures) -> Self {
        Self { gate, failed, failed_before, is_new: failed_before == 0 }
    }
}

impl Overview {
    /// Builds the overview of a day.
    pub fn of(day: Day, found: OrgOverview, ranking: Vec<AgentRow>) -> Self {
        let (today, week) = (Totals::since(&found, day), Totals::since(&found, day.back(WEEK_DAYS - 1)));
        let OrgOverview { agents, days, activity, rises, falls, gates } = found;
        let active: BTreeSet<Day> = days.keys().chain(activity.keys()).copied().collect();
        let totals = |day: Day| {
            let counts = days.get(&day).copied().unwrap_or_default();
            let activity = activity.get(&day).copied().unwrap_or_default();
            DayTotals { day, totals: Totals::of(&counts, &activity) }
        };
        Self {
            day,
            agents,
            today,
            week,
            days: active.into_iter().map(totals).collect(),
            falls: falls.into_iter().map(ChangeRow::of).collect(),
            rises: rises.into_iter().map(ChangeRow::of).collect(),
            failing_gates: gates.into_iter().map(FailingGate::from).collect(),
            ranking,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_a_cause() {
        let counts = |passed: u64| DayCounts {
            evaluations: 40,
            passed,
            latency_us: 40 * 180_000,
            ..DayCounts::default()
        };
        let gate = ("pii".into(), 9);
        for (points, passed, gate, expected) in [
            (-80, 28, Some(&gate), "pii failed 9 of 40 evaluations"),
            (-80, 28, None, "12 of 40 evaluations failed"),
            (-3, 40, None, "no evaluation failed; they took 180.000 ms on average"),
            (12, 38, Some(&gate), "38 of 40 evaluations passed"),
        ] {
            assert_eq!(cause(points, &counts(passed), gate), expected);
        }
    }

    #[test]
    fn a_week_has_seven_days() {
        let day: Day = "2026-11-15".parse().unwrap();
        let one = DayCounts { evaluations: 1, ..DayCounts::default() };
        let days = (0..10).map(|back| (day.back(back), one)).collect();
        let found = OrgOverview { days, ..OrgOverview::default() };
        let shown = Overview::of(day, found, Vec::new());
        assert_eq!((shown.today.evaluations, shown.week.evaluations, shown.days.len()), (1, 7, 10));
    }
}
