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
//! | f, t | stages that passed at their first attempt, stages executed | count | `stages` |
//! | wall | how long the run took | ms | `wall_ms` |
//! | p50 | median of the last 20 completed runs before it in the same workspace | ms | the [`Baseline`] |
//! | peak, limit | memory used at most, memory allowed | bytes | `resources` |
//! | throttled | throttled periods / periods, else throttled time / wall, at most 1 | share | `resources` |
//!
//! Half the typical time or less earns 100 on latency, the typical time 80, twice 40, three times or more 0.
//! All roundings are half up on exact fractions.
//!
//! **Fail-safe.** A run is never refused for missing or odd data: only an unknown `outcome` is. An axis that cannot be
//! computed is 50 and listed in `defaulted`; an optional part that is impossible (negative, of the wrong type, given
//! twice, a malformed stage) counts as absent and is named in `warnings`. A missing half of the resource axis is 50 for
//! that half alone, and the axis is then not listed.
//!
//! **Why a run's score never changes.** Its baseline is what was known when it was scored. A run that arrives late joins
//! the baseline of later ones.

mod input;
mod resources;

use serde::Serialize;
use serde_json::Value;

use crate::decimal::{Decimal, ratio, round_half_up};
use crate::explain::{Component, Explanation, Inputs};

pub use input::{Input, Warning};
pub use resources::Resources;

/// The version of this formula.
pub const FORMULA_VERSION: &str = "2";

/// How many of the latest runs make the baseline.
pub const BASELINE_RUNS: usize = 20;

/// The value of an axis, or of half an axis, that cannot be computed.
const DEFAULT_AXIS: u8 = 50;

/// Weights of the axes in tenths.
const COMPLETION_WEIGHT: u8 = 4;
const ERROR_RATE_WEIGHT: u8 = 3;
const LATENCY_WEIGHT: u8 = 2;
const RESOURCE_WEIGHT: u8 = 1;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All gates passed.
    Completed,
    /// Partial progress with retries.
    Blocked,
    /// No usable output.
    Failed,
}

/// What a run reported about itself. Absent parts are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// How the run ended.
    pub outcome: Outcome,
    /// Its stages.
    pub stages: Option<Stages>,
    /// How long it took, in milliseconds.
    pub wall_ms: Option<u64>,
    /// What it consumed.
    pub resources: Resources,
}

/// The stages of a run, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// Stages executed.
    pub executed: u64,
    /// Those that passed at their first attempt.
    pub first_try: u64,
}

/// How long runs of the same workspace usually take: the median of the last 20 that completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    runs: usize,
    /// Twice the median, so that the mean of two middle runs stays whole.
    p50_doubled_ms: u128,
}

impl Baseline {
    /// The baseline of these wall times, newest last; all but the last 20 are ignored.
    pub fn new(wall_ms: &[u64]) -> Self {
        let latest = wall_ms.last_chunk::<BASELINE_RUNS>().map_or(wall_ms, <[u64; BASELINE_RUNS]>::as_slice);
        let mut sorted = latest.to_vec();
        sorted.sort_unstable();
        let at = |index: usize| sorted.get(index).copied().map_or(0, u128::from);
        let middle = sorted.len() / 2;
        let low = if sorted.len().is_multiple_of(2) { middle.saturating_sub(1) } else { middle };
        Self { runs: sorted.len(), p50_doubled_ms: at(low) + at(middle) }
    }

    fn p50_ms(self) -> Option<Decimal<1>> {
        (self.runs > 0).then(|| Decimal::from_units(5 * self.p50_doubled_ms.cast_signed()))
    }
}

impl Report {
    /// The formula.
    pub fn score(&self, baseline: Baseline) -> Scorecard {
        let completion = match self.outcome {
            Outcome::Completed => 100,
            Outcome::Blocked => 30,
            Outcome::Failed => 0,
        };
        let [error_rate, latency, resource_efficiency] =
            [self.error_rate(), self.latency(baseline), self.resources.efficiency(self.wall_ms)];
        let axes = Axes {
            completion,
            error_rate: error_rate.unwrap_or(DEFAULT_AXIS),
            latency: latency.unwrap_or(DEFAULT_AXIS),
            resource_efficiency: resource_efficiency.unwrap_or(DEFAULT_AXIS),
        };
        let defaulted =
            [("error_rate", error_rate), ("latency", latency), ("resource_efficiency", resource_efficiency)]
                .into_iter()
                .filter_map(|(name, computed)| computed.is_none().then_some(name))
                .collect();
        let score = axes.score();
        Scorecard {
            score,
            tier: Tier::of(score),
            formula_version: FORMULA_VERSION,
            axes,
            defaulted,
            warnings: Vec::new(),
            baseline: BaselineShown { p50_ms: baseline.p50_ms(), runs: baseline.runs },
        }
    }

    fn error_rate(&self) -> Option<u8> {
        let stages = self.stages.filter(|stages| stages.executed > 0)?;
        Some(axis(round_half_up(100 * u128::from(stages.first_try), u128::from(stages.executed))))
    }

    /// 100·(3 − wall/p50)/2.5 is (120·d − 80·wall)/d with d = 2·p50, which is whole.
    fn latency(&self, baseline: Baseline) -> Option<u8> {
        let wall = u128::from(self.wall_ms?);
        let doubled = Some(baseline.p50_doubled_ms).filter(|&doubled| doubled > 0)?;
        Some(axis(round_half_up((120 * doubled).saturating_sub(80 * wall), doubled)))
    }
}

/// A value as an axis, at most 100.
fn axis(value: u128) -> u8 {
    value.min(100) as u8
}

/// The four axes, each 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Axes {
    /// Whether the run finished.
    pub completion: u8,
    /// How many stages passed at their first attempt.
    pub error_rate: u8,
    /// How long it took, against what is usual.
    pub latency: u8,
    /// How much memory and CPU it left alone.
    pub resource_efficiency: u8,
}

impl Axes {
    fn weighted(self) -> [(&'static str, u8, u8); 4] {
        [
            ("completion", self.completion, COMPLETION_WEIGHT),
            ("error_rate", self.error_rate, ERROR_RATE_WEIGHT),
            ("latency", self.latency, LATENCY_WEIGHT),
            ("resource_efficiency", self.resource_efficiency, RESOURCE_WEIGHT),
        ]
    }

    fn score(self) -> u8 {
        let tenths =
            self.weighted().iter().map(|&(_, axis, weight)| u128::from(axis) * u128::from(weight)).sum();
        axis(round_half_up(tenths, 10))
    }
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
    /// The axes it was made of.
    pub axes: Axes,
    /// Axes that could not be computed and are 50.
    pub defaulted: Vec<&'static str>,
    /// Parts of the report that were impossible and count as absent.
    pub warnings: Vec<Warning>,
    /// What the wall time was compared with.
    pub baseline: BaselineShown,
}

/// The baseline as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BaselineShown {
    /// The median wall time in milliseconds, none without a run.
    pub p50_ms: Option<Decimal<1>>,
    /// How many runs it was made of.
    pub runs: usize,
}

impl Scorecard {
    /// What each axis contributed to the score.
    pub fn explain(&self) -> Explanation {
        let component = |(name, axis, weight): (&'static str, u8, u8)| {
            let inputs = Inputs::from([
                ("axis", Value::from(axis)),
                ("weight", Value::from(ratio::<1>(u128::from(weight), 10))),
                ("defaulted", Value::from(self.defaulted.contains(&name))),
            ]);
            let points = |axis: u8| Decimal::from_units(i128::from(axis) * i128::from(weight) * 100_000);
            Component::bounded(name, inputs, points(axis), points(100))
        };
        Explanation {
            score: Value::from(self.score),
            formula_version: FORMULA_VERSION,
            components: self.axes.weighted().into_iter().map(component).collect(),
        }
    }
}

/// The name of a range of scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Tier {
    /// No score: an agent or spec without a scored run, or a run whose scoring failed inside.
    Unranked,
    /// 0 to 39.
    Bronze,
    /// 40 to 69.
    Silver,
    /// 70 to 89.
    Gold,
    /// 90 to 100.
    Elite,
}

impl Tier {
    /// The tier of a score.
    pub fn of(score: u8) -> Self {
        match score {
            0..40 => Self::Bronze,
            40..70 => Self::Silver,
            70..90 => Self::Gold,
            90.. => Self::Elite,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcome: Outcome) -> Report {
        Report { outcome, stages: None, wall_ms: None, resources: Resources::default() }
    }

    fn axes(completion: u8, error_rate: u8, latency: u8, resource_efficiency: u8) -> Axes {
        Axes { completion, error_rate, latency, resource_efficiency }
    }

    #[test]
    fn the_weighted_sum_rounds_half_up() {
        for (found, score) in [
            (axes(100, 85, 72, 93), 89), // the source's example: 40 + 25.5 + 14.4 + 9.3 = 89.2
            (axes(100, 100, 100, 100), 100),
            (axes(0, 0, 0, 0), 0),
            (axes(0, 0, 0, 5), 1), // 0.5
            (axes(0, 0, 0, 4), 0), // 0.4
            (axes(30, 50, 50, 50), 42),
        ] {
            assert_eq!(found.score(), score, "{found:?}");
        }
    }

    #[test]
    fn tiers_change_at_40_70_and_90() {
        for (score, tier) in [
            (0, Tier::Bronze),
            (39, Tier::Bronze),
            (40, Tier::Silver),
            (69, Tier::Silver),
            (70, Tier::Gold),
            (89, Tier::Gold),
            (90, Tier::Elite),
            (100, Tier::Elite),
        ] {
            assert_eq!(Tier::of(score), tier, "{score}");
        }
    }

    #[test]
    fn latency_against_a_typical_time_of_1000_ms() {
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
            let run = Report { wall_ms: Some(wall_ms), ..report(Outcome::Completed) };
            assert_eq!(run.latency(Baseline::new(&[1000])), Some(latency), "{wall_ms}");
        }
    }

    #[test]
    fn the_baseline_is_the_median_of_the_last_twenty() {
        let shown = |wall_ms: &[u64]| Baseline::new(wall_ms).p50_ms().map(|p50| p50.to_string());
        assert_eq!(shown(&[]), None);
        assert_eq!(shown(&[7]), Some("7.0".to_owned()));
        assert_eq!(shown(&[103, 100]), Some("101.5".to_owned()));
        assert_eq!(shown(&[3, 1, 2]), Some("2.0".to_owned()));
        let mut many = vec![1; 30];
        many.extend([9; 20]);
        assert_eq!((shown(&many), Baseline::new(&many).runs), (Some("9.0".to_owned()), 20));
        let nineteen = [[1_u64; 10].as_slice(), &[5; 9]].concat();
        assert_eq!(shown(&nineteen), Some("1.0".to_owned()));
    }

    #[test]
    fn the_explanation_adds_up() {
        let stages = Some(Stages { executed: 3, first_try: 2 });
        let card = Report { stages, ..report(Outcome::Blocked) }.score(Baseline::default());
        let explanation = card.explain();
        let points: Vec<String> = explanation.components.iter().map(|c| c.points.to_string()).collect();
        assert_eq!(points, ["12.000000", "20.100000", "10.000000", "5.000000"]);
        assert_eq!((card.score, explanation.score), (47, Value::from(47)));
        assert_eq!(card.defaulted, ["latency", "resource_efficiency"]);
    }
}
