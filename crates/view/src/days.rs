//! The days of an agent, for charts.

use std::collections::BTreeMap;

use renown_core::time::Day;
use renown_store::days::DaySums;
use serde::Serialize;
use utoipa::ToSchema;

/// One UTC day of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DayPoint {
    /// The day, such as `2026-11-15`.
    #[schema(value_type = String, format = Date)]
    pub day: Day,
    /// Evaluations on that day.
    pub evaluations: u64,
    /// Those that passed.
    pub passed: u64,
    /// The score after the last of them.
    #[schema(maximum = 1000)]
    pub score: u32,
    /// The lowest score after any of them.
    #[schema(maximum = 1000)]
    pub score_min: u32,
    /// The highest score after any of them.
    #[schema(maximum = 1000)]
    pub score_max: u32,
    /// By how many points the score changed on that day; null if the agent was calibrating when it began.
    pub change: Option<i64>,
}

impl DayPoint {
    /// The days that have an evaluation, the oldest first.
    pub fn all(days: &BTreeMap<Day, DaySums>) -> Vec<Self> {
        days.iter().map(|(day, sums)| Self::of(*day, sums)).collect()
    }

    fn of(day: Day, sums: &DaySums) -> Self {
        Self {
            day,
            evaluations: sums.counts.evaluations,
            passed: sums.counts.passed,
            score: sums.last.score,
            score_min: sums.score_min,
            score_max: sums.score_max,
            change: sums.change(),
        }
    }
}
