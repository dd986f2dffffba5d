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
    pub day: Day,
    /// Number of evaluations on that day.
    pub evaluations: u64,
    /// Number of evaluations that passed.
    pub passed: u64,
    /// Score after the last evaluation of the day.
    #[schema(maximum = 1000)]
    pub score: u32,
    /// Lowest score of the day.
    #[schema(maximum = 1000)]
    pub score_min: u32,
    /// Highest score of the day.
    #[schema(maximum = 1000)]
    pub score_max: u32,
    /// Change of the score on that day, in points; null if the agent was calibrating at the start of the day.
    pub change: Option<i64>,
}

impl DayPoint {
    /// Converts the days with at least one evaluation, oldest first.
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
