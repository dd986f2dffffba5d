//! # Scorecard of a run: 0–100, with a tier
//!
//! ```text
//! completion          = 100 completed, 30 blocked, 0 failed                                      weight 40 %
//! error_rate          = round(100 · f / t)                                                       weight 30 %
//! latency             = round(100 · clamp((3 − wall / p50) / 2.5, 0, 1))                         weight 20 %
//! resource_efficiency = round(0.7 · 100 · (1 − min(1, peak/limit)) + 0.3 · 100 · (1 − throttled)) weight 10 %
//! score               = floor((4·completion + 3·error_rate + 2·latency + resource_efficiency + 5) / 10)
//! tier                = Bronze 0–39, Silver 40–69, Gold 70–89, Elite 90–100
//! ```
//!
//! | symbol | meaning | unit | source |
//! |---|---|---|---|
//! | f, t | stages that passed at the first attempt, stages executed | count | `stages` |
//! | wall | duration of the run | ms | `wall_ms` |
//! | p50 | median duration of the last 20 earlier completed runs in the same workspace | ms | the [`Baseline`] |
//! | peak, limit | peak memory, memory limit | bytes | `resources` |
//! | throttled | throttled periods / periods, else throttled time / wall, at most 1 | share | `resources` |
//!
//! Latency is 100 for half the typical time or less, 80 for the typical time, 40 for twice and 0 for three times the
//! typical time or more. Exact fractions are rounded half up.
//!
//! **Fail-safe.** A run is never rejected for missing or odd data; only an unknown `outcome` is rejected. An axis
//! that cannot be computed is 50 and is listed in `defaulted`. An invalid optional part (negative, of the wrong type,
//! given twice, a malformed stage) counts as absent and is named in `warnings`. If only one half of the resource axis
//! is missing, that half counts as 50 and the axis is not listed.
//!
//! **Why a run's score never changes.** Its baseline is what was known when it was scored. A run that arrives late
//! only joins the baseline of later runs.
//!
//! **What it ignores.** Which stages failed and their names, when the run started and ended, its branch, pull request
//! and attributes.

mod baseline;
mod competition;
mod coverage;
mod input;
mod resources;
mod submission;
mod tier;

use serde::Serialize;
use serde_json::Value;

use crate::decimal::{Decimal, ratio, round_half_up};
use crate::explain::{Component, Explanation, Inputs};
use crate::units::Whole;

pub use baseline::{Baseline, BaselineShown};
pub use competition::{BaselineSource, COMMON_RUNS_MIN, CommonBaseline, Contender, ranking};
pub use coverage::RunCoverage;
pub use input::{Input, RunStage, Warning};
pub use resources::Resources;
pub use submission::{DEFAULT_WORKSPACE, Submission};
pub use tier::Tier;

/// The version of this formula.
pub const FORMULA_VERSION: &str = "2";

/// Number of latest runs in the baseline.
pub const BASELINE_RUNS: usize = 20;

/// The value of an axis that cannot be computed.
const DEFAULT_AXIS: u8 = 50;

/// Weights of the axes in tenths.
const COMPLETION_WEIGHT: u8 = 4;
const ERROR_RATE_WEIGHT: u8 = 3;
const LATENCY_WEIGHT: u8 = 2;
const RESOURCE_WEIGHT: u8 = 1;

/// Points of the resource axis for memory; the rest is for CPU.
const MEMORY_POINTS: u128 = 70;
const CPU_POINTS: u128 = 30;

/// The outcome of a run: `completed` (all gates passed), `blocked` (partial progress) or `failed` (no usable output).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// All gates passed.
    Completed,
    /// Partial progress with retries.
    Blocked,
    /// No usable output.
    Failed,
}

impl RunOutcome {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Completed, Self::Blocked, Self::Failed];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
        }
    }
}

/// The report of a run about itself. Absent parts are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// How the run ended.
    pub outcome: RunOutcome,
    /// Its stages.
    pub stages: Option<Stages>,
    /// How long it took, in milliseconds.
    pub wall_ms: Option<Whole>,
    /// What it consumed.
    pub resources: Resources,
}

/// The stages of a run, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    executed: u64,
    first_try: u64,
}

impl Stages {
    /// Parses the stages from a JSON array, or says what is invalid.
    pub fn of_json(text: &str) -> Result<Self, String> {
        input::read_stages(text).map(|(stages, _)| stages)
    }

    /// Counts one stage that was tried `attempts` times.
    pub fn add(&mut self, passed: bool, attempts: u64) {
        self.executed += 1;
        self.first_try += u64::from(passed && attempts == 1);
    }
}

impl Report {
    /// Computes the formula: the four axes. An axis that cannot be computed is `None`.
    pub fn breakdown(self, baseline: Baseline) -> Breakdown {
        let completion = match self.outcome {
            RunOutcome::Completed => 100,
            RunOutcome::Blocked => 30,
            RunOutcome::Failed => 0,
        };
        Breakdown {
            report: self,
            baseline,
            completion,
            error_rate: self.error_rate(),
            latency: self.latency(baseline),
            resource_efficiency: self.resources.efficiency(self.wall_ms),
        }
    }

    fn error_rate(&self) -> Option<u8> {
        let stages = self.stages.filter(|stages| stages.executed > 0)?;
        Some(axis(round_half_up(100 * u128::from(stages.first_try), u128::from(stages.executed))))
    }

    /// Computes 100·(3 − wall/p50)/2.5 as (120·d − 80·wall)/d with d = 2·p50, which is a whole number.
    fn latency(&self, baseline: Baseline) -> Option<u8> {
        let wall = u128::from(self.wall_ms?.get());
        let doubled = Some(baseline.p50_doubled_ms()).filter(|&doubled| doubled > 0)?;
        Some(axis(round_half_up((120 * doubled).saturating_sub(80 * wall), doubled)))
    }
}

/// The axes of one run, and the evidence behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breakdown {
    report: Report,
    baseline: Baseline,
    completion: u8,
    error_rate: Option<u8>,
    latency: Option<u8>,
    resource_efficiency: Option<u8>,
}

impl Breakdown {
    /// Returns name, value (if it could be computed) and weight in tenths of each axis, in the order of the formula.
    fn axes(self) -> [(&'static str, Option<u8>, u8); 4] {
        [
            ("completion", Some(self.completion), COMPLETION_WEIGHT),
            ("error_rate", self.error_rate, ERROR_RATE_WEIGHT),
            ("latency", self.latency, LATENCY_WEIGHT),
            ("resource_efficiency", self.resource_efficiency, RESOURCE_WEIGHT),
        ]
    }

    /// Returns the score, 0 to 100.
    pub fn score(self) -> u8 {
        let weighted = |(_, value, weight): (_, Option<u8>, u8)| {
            u128::from(value.unwrap_or(DEFAULT_AXIS)) * u128::from(weight)
        };
        axis(round_half_up(self.axes().into_iter().map(weighted).sum(), 10))
    }

    /// Returns the scorecard as the API returns it, with the warnings of the report.
    pub fn scorecard(self, warnings: Vec<Warning>) -> Scorecard {
        let score = self.score();
        Scorecard {
            score,
            tier: Tier::of(score),
            formula_version: FORMULA_VERSION,
            axes: Axes {
                completion: self.completion,
                error_rate: self.error_rate.unwrap_or(DEFAULT_AXIS),
                latency: self.latency.unwrap_or(DEFAULT_AXIS),
                resource_efficiency: self.resource_efficiency.unwrap_or(DEFAULT_AXIS),
            },
            defaulted: self
                .axes()
                .into_iter()
                .filter(|(_, value, _)| value.is_none())
                .map(|(name, ..)| name)
                .collect(),
            warnings,
            baseline: self.baseline.shown(),
        }
    }

    /// Explains the score: the contribution of each axis, and the evidence behind it.
    pub fn explain(self) -> Explanation {
        let component = |((name, value, weight), mut inputs): ((&'static str, Option<u8>, u8), Inputs)| {
            inputs.push("axis", value.unwrap_or(DEFAULT_AXIS));
            inputs.push("weight", ratio::<1>(u128::from(weight), 10));
            inputs.push("defaulted", value.is_none());
            let points = |axis: u8| Decimal::from_units(i128::from(axis) * i128::from(weight) * 100_000);
            Component::bounded(name, inputs, points(value.unwrap_or(DEFAULT_AXIS)), points(100))
        };
        Explanation {
            score: Value::from(self.score()),
            formula_version: FORMULA_VERSION,
            components: self.axes().into_iter().zip(self.evidence()).map(component).collect(),
        }
    }

    /// Returns the evidence of each axis, in the order of the axes. Missing evidence is null.
    fn evidence(self) -> [Inputs; 4] {
        let Report { outcome, stages, wall_ms, resources } = self.report;
        let whole = |value: Option<Whole>| Value::from(value.map(Whole::get));
        [
            [("outcome", outcome.name().into())].into(),
            [
                ("first_try_stages", stages.map(|stages| stages.first_try).into()),
                ("stages", stages.map(|stages| stages.executed).into()),
            ]
            .into(),
            [("wall_ms", whole(wall_ms)), ("p50_ms", self.baseline.shown().p50_ms.into())].into(),
            [
                ("memory_peak_bytes", whole(resources.memory_peak_bytes)),
                ("memory_limit_bytes", whole(resources.memory_limit_bytes)),
                ("cpu_periods", whole(resources.cpu_periods)),
                ("cpu_throttled_periods", whole(resources.cpu_throttled_periods)),
                ("cpu_throttled_ms", whole(resources.cpu_throttled_ms)),
            ]
            .into(),
        ]
    }
}

/// Converts a value to an axis, at most 100.
fn axis(value: u128) -> u8 {
    value.min(100) as u8
}

/// The axes of a score, each from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RunAxes))]
pub struct Axes {
    /// Whether the run finished.
    #[cfg_attr(feature = "schema", schema(maximum = 100))]
    pub completion: u8,
    /// Share of stages that passed at the first attempt.
    #[cfg_attr(feature = "schema", schema(maximum = 100))]
    pub error_rate: u8,
    /// Duration, compared with the baseline.
    #[cfg_attr(feature = "schema", schema(maximum = 100))]
    pub latency: u8,
    /// Share of memory and CPU that it did not use.
    #[cfg_attr(feature = "schema", schema(maximum = 100))]
    pub resource_efficiency: u8,
}

/// The score of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scorecard {
    /// 0 to 100.
    pub score: u8,
    /// The name of its range.
    pub tier: Tier,
    /// The version of the formula.
    pub formula_version: &'static str,
    /// The axes behind the score.
    pub axes: Axes,
    /// Axes that could not be computed and count as 50.
    pub defaulted: Vec<&'static str>,
    /// Invalid parts of the report, which count as absent.
    pub warnings: Vec<Warning>,
    /// The baseline of the wall time.
    pub baseline: BaselineShown,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcome: RunOutcome) -> Report {
        Report { outcome, stages: None, wall_ms: None, resources: Resources::default() }
    }

    #[test]
    fn the_weighted_sum_rounds_half_up() {
        for ([completion, error_rate, latency, resource_efficiency], score) in [
            ([100, 85, 72, 93], 89), // the source's example: 40 + 25.5 + 14.4 + 9.3 = 89.2
            ([100, 100, 100, 100], 100),
            ([0, 0, 0, 0], 0),
            ([0, 0, 0, 5], 1), // 0.5
            ([0, 0, 0, 4], 0), // 0.4
            ([30, 50, 50, 50], 42),
        ] {
            let breakdown = Breakdown {
                completion,
                error_rate: Some(error_rate),
                latency: Some(latency),
                resource_efficiency: Some(resource_efficiency),
                ..report(RunOutcome::Failed).breakdown(Baseline::default())
            };
            assert_eq!(breakdown.score(), score, "{breakdown:?}");
        }
    }

    #[test]
    fn latency_against_a_typical_time_of_1000_ms() {
        let usual = Baseline::new(&[Whole::new(1000).unwrap()]);
        for (wall_ms, latency) in [
            (0, 100),
            (500, 100),
            (512, 100),
            (513, 99),
            (1000, 80),
            (2000, 40),
            (2987, 1),
            (2988, 0),
            (3000, 0),
            (9000, 0),
        ] {
            let run = Report { wall_ms: Whole::new(wall_ms), ..report(RunOutcome::Completed) };
            assert_eq!(run.latency(usual), Some(latency), "{wall_ms}");
        }
    }

    #[test]
    fn the_explanation_adds_up_and_names_its_evidence() {
        let mut stages = Stages::default();
        stages.add(true, 1);
        stages.add(true, 1);
        stages.add(true, 2);
        let breakdown =
            Report { stages: Some(stages), ..report(RunOutcome::Blocked) }.breakdown(Baseline::default());
        let explanation = breakdown.explain();
        let points: Vec<String> = explanation.components.iter().map(|c| c.points.to_string()).collect();
        assert_eq!(points, ["12.000000", "20.100000", "10.000000", "5.000000"]);
        assert_eq!((breakdown.score(), explanation.score), (47, Value::from(47)));
        let input = |component: usize, name| explanation.components[component].inputs.get(name).cloned();
        assert_eq!(input(0, "outcome"), Some(Value::from("blocked")));
        assert_eq!((input(1, "first_try_stages"), input(1, "stages")), (Some(2.into()), Some(3.into())));
        assert_eq!((input(2, "wall_ms"), input(2, "defaulted")), (Some(Value::Null), Some(true.into())));
        assert_eq!(breakdown.scorecard(Vec::new()).defaulted, ["latency", "resource_efficiency"]);
    }
}
