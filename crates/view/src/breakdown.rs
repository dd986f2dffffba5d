//! Failures of an agent by gate and tool, and its latencies, over a range of days.

use std::cmp::Reverse;

use renown_core::decimal::Decimal;
use renown_core::ids::AgentId;
use renown_core::time::Day;
use renown_store::AgentDays;
use renown_store::days::{DayCounts, DayParts, LATENCY_BOUNDS_US};
use serde::Serialize;
use utoipa::ToSchema;

use crate::days::DayPoint;
use crate::shared::{average_ms, share};

/// Maximum number of gates, and of tools, in a breakdown.
const PARTS_SHOWN: usize = 50;

/// The failures and latencies of an agent over a range of days.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AgentBreakdown {
    /// Id of the agent.
    pub agent_id: AgentId,
    /// First UTC day.
    pub from: Day,
    /// Last UTC day, included.
    pub to: Day,
    /// Number of evaluations.
    pub evaluations: u64,
    /// Number of evaluations that passed.
    pub passed: u64,
    /// Share of the evaluations that passed; null without an evaluation.
    pub pass_rate: Option<Decimal<6>>,
    /// Gates that failed evaluations, most failures first, at most 50.
    pub gates: Vec<GateCount>,
    /// Tools that were evaluated, most failures first, at most 50.
    pub tools: Vec<ToolRow>,
    /// Number of gates and tools that are left out.
    pub left_out: u64,
    /// Latency of the evaluations.
    pub latency: LatencyView,
    /// Days with at least one evaluation, oldest first.
    pub days: Vec<DayPoint>,
}

/// A gate and its failures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GateCount {
    /// Name of the gate.
    pub gate: Box<str>,
    /// Number of evaluations that the gate failed.
    pub failed: u64,
}

/// A tool and its evaluations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ToolRow {
    /// Name of the tool.
    pub tool: Box<str>,
    /// Number of evaluations of the tool.
    pub evaluations: u64,
    /// Number of evaluations that failed.
    pub failed: u64,
}

/// The latency of evaluations.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LatencyView {
    /// Average latency; null without an evaluation.
    pub avg_ms: Option<Decimal<3>>,
    /// Histogram of the latencies. Each evaluation is in exactly one bucket.
    pub buckets: Vec<LatencyBucket>,
}

/// A bucket of a histogram: the evaluations above the bound of the previous bucket, up to its own bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LatencyBucket {
    /// Upper bound, included; null for the last bucket, which has no bound.
    pub at_most_ms: Option<Decimal<3>>,
    /// Number of evaluations in the bucket.
    pub evaluations: u64,
}

impl LatencyView {
    fn of(counts: &DayCounts) -> Self {
        let bounds =
            LATENCY_BOUNDS_US.iter().map(|us| Some(Decimal::from_units(i128::from(*us)))).chain([None]);
        let bucket = |(at_most_ms, evaluations)| LatencyBucket { at_most_ms, evaluations };
        Self {
            avg_ms: average_ms(counts.latency_us, counts.evaluations),
            buckets: bounds.zip(counts.latencies).map(bucket).collect(),
        }
    }
}

impl AgentBreakdown {
    /// Builds the breakdown of an agent over a range of days, both included.
    pub fn of(agent_id: AgentId, from: Day, to: Day, found: AgentDays) -> Self {
        let counts = found.counts();
        let days = DayPoint::all(&found.days);
        let DayParts { gates, tools } = found.parts;
        let mut gates: Vec<GateCount> =
            gates.into_iter().map(|(gate, failed)| GateCount { gate, failed }).collect();
        gates.sort_by(|a, b| (Reverse(a.failed), &a.gate).cmp(&(Reverse(b.failed), &b.gate)));
        let mut tools: Vec<ToolRow> = tools
            .into_iter()
            .map(|(tool, count)| ToolRow { tool, evaluations: count.evaluations, failed: count.failed })
            .collect();
        let rank = |row: &ToolRow| (Reverse(row.failed), Reverse(row.evaluations));
        tools.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.tool.cmp(&b.tool)));
        let left_out = gates.len().saturating_sub(PARTS_SHOWN) + tools.len().saturating_sub(PARTS_SHOWN);
        gates.truncate(PARTS_SHOWN);
        tools.truncate(PARTS_SHOWN);
        Self {
            agent_id,
            from,
            to,
            evaluations: counts.evaluations,
            passed: counts.passed,
            pass_rate: share(counts.passed, counts.evaluations),
            gates,
            tools,
            left_out: left_out as u64,
            latency: LatencyView::of(&counts),
            days,
        }
    }
}

#[cfg(test)]
mod tests {
    use renown_store::days::ToolCount;

    use super::*;

    #[test]
    fn most_failures_come_first_and_the_rest_is_counted() {
        let mut parts = DayParts::default();
        for number in 0..60_u64 {
            parts.gates.insert(format!("g{number:02}").into(), number / 2);
            let count = ToolCount { evaluations: 100 - number, failed: u64::from(number == 7) };
            parts.tools.insert(format!("t{number:02}").into(), count);
        }
        let day: Day = "2026-11-15".parse().unwrap();
        let found = AgentDays { parts, ..AgentDays::default() };
        let shown = AgentBreakdown::of("a".parse().unwrap(), day, day, found);
        let gates: Vec<&str> = shown.gates.iter().take(3).map(|row| &*row.gate).collect();
        assert_eq!(gates, ["g58", "g59", "g56"]);
        let tools: Vec<&str> = shown.tools.iter().take(3).map(|row| &*row.tool).collect();
        assert_eq!(tools, ["t07", "t00", "t01"]);
        assert_eq!((shown.gates.len(), shown.tools.len(), shown.left_out), (50, 50, 20));
        assert_eq!((shown.pass_rate, shown.latency.avg_ms), (None, None));
    }

    #[test]
    fn buckets_have_bounds_in_milliseconds() {
        let mut latencies = [0; 12];
        (latencies[0], latencies[11]) = (2, 1);
        let counts = DayCounts { evaluations: 3, passed: 3, latency_us: 4500, latencies };
        let shown = LatencyView::of(&counts);
        let bound = |bucket: &LatencyBucket| bucket.at_most_ms.map(|ms| ms.to_string());
        assert_eq!(bound(&shown.buckets[0]).as_deref(), Some("0.100"));
        assert_eq!(bound(&shown.buckets[10]).as_deref(), Some("10000.000"));
        assert_eq!(bound(&shown.buckets[11]), None);
        assert_eq!((shown.buckets[0].evaluations, shown.buckets[11].evaluations), (2, 1));
        assert_eq!(shown.avg_ms.unwrap().to_string(), "1.500");
    }
}
