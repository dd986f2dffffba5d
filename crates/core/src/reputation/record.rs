//! A reputation as the API returns it: the score, its lifecycle, the sums behind it, and its explanation.

use serde::Serialize;

use super::{CALIBRATED_AT, FORMULA_VERSION, Tally, WINDOW_SIZE};
use crate::decimal::{Decimal, ratio};
use crate::explain::Component;

/// How settled a score is: `new` without evaluations, `calibrating` below 50, `active` below 500, then `mature`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    /// No evaluation yet.
    New,
    /// 1 to 49: indicative only, shown publicly as `n/50`.
    Calibrating,
    /// 50 to 499.
    Active,
    /// 500: the window is full.
    Mature,
}

impl Lifecycle {
    /// Returns the lifecycle of a window with this many evaluations.
    pub fn of(evaluations: u64) -> Self {
        match evaluations {
            0 => Self::New,
            n if n < CALIBRATED_AT as u64 => Self::Calibrating,
            n if n < WINDOW_SIZE as u64 => Self::Active,
            _ => Self::Mature,
        }
    }
}

/// The reputation of an agent as the API returns it: all fields that clients of both source APIs read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReputationRecord {
    /// 0 to 1000.
    pub score: u32,
    /// How settled the score is.
    pub lifecycle: Lifecycle,
    /// The same value under its other name.
    pub status: Lifecycle,
    /// Evaluations in the window.
    pub eval_count: u64,
    /// The same value under its other name.
    pub evaluations: u64,
    /// Size of the window: the most evaluations that count.
    pub window_size: usize,
    /// Evaluations in the window that passed.
    pub passed: u64,
    /// Share of the evaluations that passed.
    pub pass_rate: Decimal<6>,
    /// The average latency in milliseconds.
    pub avg_latency_ms: Decimal<3>,
    /// Passes since the last failure.
    pub streak: u64,
    /// The version of the formula.
    pub formula_version: &'static str,
}

/// The short form of a reputation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ReputationReply))]
pub struct ReputationSummary {
    /// Score from 0 to 1000.
    #[cfg_attr(feature = "schema", schema(maximum = 1000))]
    pub score: u32,
    /// How settled the score is.
    pub lifecycle: Lifecycle,
    /// Number of evaluations in the window, at most 500.
    #[cfg_attr(feature = "schema", schema(maximum = 500))]
    pub eval_count: u64,
}

/// The explanation of a score.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ExplainReply))]
pub struct ReputationExplanation {
    /// Score from 0 to 1000.
    #[cfg_attr(feature = "schema", schema(maximum = 1000))]
    pub score: u32,
    /// Version of the formula.
    pub formula_version: &'static str,
    /// Parts of the formula.
    pub components: Vec<Component>,
    /// Scores after one more evaluation.
    pub next: Next,
}

/// The score after one more evaluation with the average latency of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NextReply))]
pub struct Next {
    /// Score if it passes.
    pub pass: u32,
    /// Score if it fails.
    pub fail: u32,
}

impl ReputationSummary {
    /// Creates the short form for a score over this many evaluations.
    pub fn new(score: u32, eval_count: u64) -> Self {
        Self { score, lifecycle: Lifecycle::of(eval_count), eval_count }
    }
}

impl Tally {
    /// Returns the short form of the reputation.
    pub fn standing(self) -> ReputationSummary {
        ReputationSummary::new(self.breakdown().score(), self.evaluations)
    }

    /// Returns the reputation as the API returns it.
    pub fn record(self) -> ReputationRecord {
        let lifecycle = Lifecycle::of(self.evaluations);
        let n = u128::from(self.evaluations.max(1));
        ReputationRecord {
            score: self.breakdown().score(),
            lifecycle,
            status: lifecycle,
            eval_count: self.evaluations,
            evaluations: self.evaluations,
            window_size: WINDOW_SIZE,
            passed: self.passed,
            pass_rate: ratio(u128::from(self.passed), n),
            avg_latency_ms: ratio(u128::from(self.latency_us), 1000 * n),
            streak: self.streak,
            formula_version: FORMULA_VERSION,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reputation::{Sample, Window};
    use crate::units::Micros;

    fn record(passes: usize) -> ReputationRecord {
        let pass = Sample { passed: true, latency: Micros::default() };
        std::iter::repeat_n(pass, passes).collect::<Window>().tally().record()
    }

    #[test]
    fn the_lifecycle_changes_at_1_50_and_500() {
        for (n, lifecycle) in [
            (0, Lifecycle::New),
            (1, Lifecycle::Calibrating),
            (49, Lifecycle::Calibrating),
            (50, Lifecycle::Active),
            (499, Lifecycle::Active),
            (500, Lifecycle::Mature),
            (501, Lifecycle::Mature),
        ] {
            assert_eq!(record(n).lifecycle, lifecycle, "{n}");
        }
    }

    #[test]
    fn shares_round_half_up_on_the_exact_fraction() {
        let evaluation = |passed, us| Sample { passed, latency: Micros::from_us(us).unwrap() };
        let record = Window::from_iter([evaluation(true, 0), evaluation(true, 1), evaluation(false, 0)])
            .tally()
            .record();
        assert_eq!(
            (record.pass_rate.to_string(), record.avg_latency_ms.to_string()),
            ("0.666667".into(), "0.000".into())
        );
        let record = Window::from_iter([evaluation(true, 0), evaluation(true, 1)]).tally().record();
        assert_eq!(record.avg_latency_ms.to_string(), "0.001", "half a microsecond rounds up");
    }
}
