//! # Performance of a session: 0–10, with keep, review or doff
//!
//! ```text
//! quality          = min(10, round1(10 · tools_ok / max(1, total_tools)))                  weight 0.30
//! autonomy         = min(10, round1( 2 · total_tools / max(1, prompts)))                   weight 0.25
//! productivity     = min(10, round1(10 · tools_ok / duration_min))                         weight 0.20
//! token_efficiency = min(10, round1(10 · cache_tokens / max(1, total_tokens)))             weight 0.15
//! cost_efficiency  = clamp(round1(10 − 100 · total_cost / max(1, tools_ok)), 0, 10)        weight 0.10
//! composite        = round1(Σ weight · dimension)
//! recommendation   = keep if composite ≥ 7.0, review if ≥ 4.0, else doff
//! duration_min     = max(1, round1((last − first) / 60 s))
//! ```
//!
//! | symbol | meaning | unit | source |
//! |---|---|---|---|
//! | `total_tools`, `tools_ok` | tool calls, and those that succeeded | count | tool results |
//! | prompts | prompts of the user | count | user prompts |
//! | first, last | time of the session's first and last event, of any kind | ns | events |
//! | `total_cost` | cost of the model calls | nano-dollars | API requests |
//! | `total_tokens` | all tokens, each counted once: input + output + cache read + cache creation | count | API requests |
//! | `cache_tokens` | tokens read from the cache | count | API requests |
//!
//! `round1` rounds the exact fraction to one decimal, half away from zero. A dimension *is* a whole number of tenths,
//! so the composite is `round((30q + 25a + 20p + 15t + 10c) / 100)` in tenths, and 7.0 is compared as 70.
//!
//! **Why the rounded composite decides.** A reader who sees 7.0 must also see `keep`. So the recommendation is
//! derived from the number that is shown.
//!
//! **What it ignores.** Which tools were called and how long they ran, errors of the model's API, and the user's
//! opinion of the result.

mod input;

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::decimal::{Decimal, ratio, round_half_up};
use crate::explain::{Component, Explanation, Inputs};
use crate::time::NANOS_PER_MINUTE;
use crate::units::NanoUsd;

pub use input::{Input, TotalsError, VersionedPerformance};

/// The version of this formula.
pub const FORMULA_VERSION: &str = "1";

/// 10.0, the best value of a dimension, in tenths.
const BEST: u128 = 100;

/// The composite from which a session is kept: 7.0.
pub const KEEP_AT: Decimal<1> = Decimal::from_units(70);
/// The composite from which a session is reviewed instead of doffed: 4.0.
pub const REVIEW_AT: Decimal<1> = Decimal::from_units(40);

/// Weights of the dimensions in hundredths.
const WEIGHTS: [u128; 5] = [30, 25, 20, 15, 10];

/// Totals of the telemetry of one session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionTotals {
    /// Time from the first to the last event, in nanoseconds.
    pub duration_ns: u64,
    /// User prompts.
    pub prompts: u64,
    /// Tool calls that ran.
    pub total_tools: u64,
    /// Those that succeeded.
    pub tools_ok: u64,
    /// What the model calls cost.
    pub total_cost: NanoUsd,
    /// Every token once.
    pub total_tokens: u64,
    /// Tokens read from the cache.
    pub cache_tokens: u64,
}

impl SessionTotals {
    /// Returns `duration_min` in tenths of a minute, at least ten.
    fn duration_tenths(&self) -> u128 {
        round_half_up(u128::from(self.duration_ns), u128::from(NANOS_PER_MINUTE / 10)).max(10)
    }

    /// Computes the formula.
    pub fn performance(&self) -> Performance {
        let [tools, ok, prompts, tokens, cached] =
            [self.total_tools, self.tools_ok, self.prompts, self.total_tokens, self.cache_tokens]
                .map(u128::from);
        let duration = self.duration_tenths();
        let tenths =
            |numerator: u128, denominator: u128| round_half_up(numerator, denominator.max(1)).min(BEST);
        // $1 per successful tool costs 1000 tenths, so one nano-dollar per tool costs a millionth of a tenth.
        let nano_per_tenth = 1_000_000 * ok.max(1);
        let unspent = (BEST * nano_per_tenth).saturating_sub(self.total_cost.nano());
        let dimensions = [
            tenths(100 * ok, tools),
            tenths(20 * tools, prompts),
            tenths(1000 * ok, duration),
            tenths(100 * cached, tokens),
            tenths(unspent, nano_per_tenth),
        ];
        let weighted: u128 =
            dimensions.iter().zip(WEIGHTS).map(|(dimension, weight)| dimension * weight).sum();
        let composite = decimal(round_half_up(weighted, 100));
        let [quality, autonomy, productivity, token_efficiency, cost_efficiency] = dimensions.map(decimal);
        Performance {
            duration: decimal(duration),
            duration_min: whole(round_half_up(duration, 10)),
            dimensions: Dimensions { quality, autonomy, productivity, token_efficiency, cost_efficiency },
            composite,
            recommendation: Recommendation::of(composite),
            stats: Stats {
                total_cost: ratio(self.total_cost.nano(), 1_000_000_000),
                total_tools: self.total_tools,
                tools_ok: self.tools_ok,
                tool_success_pct: whole(round_half_up(100 * ok, tools.max(1))),
                prompts: self.prompts,
                total_tokens: self.total_tokens,
                cache_tokens: self.cache_tokens,
            },
        }
    }
}

/// Converts a quotient of 64-bit numbers back to 64 bits.
fn whole(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

fn decimal<const PLACES: u32>(units: u128) -> Decimal<PLACES> {
    Decimal::from_units(units.cast_signed())
}

/// The score of a session and its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PerformanceScore))]
pub struct Performance {
    /// Duration of the session as the formula uses it: minutes with one decimal, at least 1.0.
    #[serde(skip)]
    pub duration: Decimal<1>,
    /// Duration in whole minutes.
    pub duration_min: u64,
    /// The dimensions of the performance.
    pub dimensions: Dimensions,
    /// Performance from 0 to 10, with one decimal: the weighted sum of the dimensions.
    #[cfg_attr(feature = "schema", schema(value_type = f64, minimum = 0, maximum = 10))]
    pub composite: Decimal<1>,
    /// Recommendation for the masque.
    pub recommendation: Recommendation,
    /// The sums that the dimensions are computed from.
    pub stats: Stats,
}

impl Performance {
    /// Explains the composite: the contribution of each dimension.
    pub fn explain(&self) -> Explanation {
        let (d, s) = (&self.dimensions, &self.stats);
        let component = |(index, (name, dimension, inputs)): (usize, (&'static str, Decimal<1>, Inputs))| {
            // Tenths times hundredths are thousandths of a point.
            let weight = WEIGHTS.get(index).copied().unwrap_or_default().cast_signed();
            let millionths = |tenths: i128| Decimal::from_units(tenths * weight * 1000);
            Component::bounded(name, inputs, millionths(dimension.units()), millionths(BEST.cast_signed()))
        };
        let parts: [(&'static str, Decimal<1>, Inputs); 5] = [
            (
                "quality",
                d.quality,
                [("tools_ok", s.tools_ok.into()), ("total_tools", s.total_tools.into())].into(),
            ),
            (
                "autonomy",
                d.autonomy,
                [("total_tools", s.total_tools.into()), ("prompts", s.prompts.into())].into(),
            ),
            (
                "productivity",
                d.productivity,
                [("tools_ok", s.tools_ok.into()), ("duration_min", self.duration.into())].into(),
            ),
            (
                "token_efficiency",
                d.token_efficiency,
                [("cache_tokens", s.cache_tokens.into()), ("total_tokens", s.total_tokens.into())].into(),
            ),
            (
                "cost_efficiency",
                d.cost_efficiency,
                [("total_cost", s.total_cost.into()), ("tools_ok", s.tools_ok.into())].into(),
            ),
        ];
        Explanation {
            score: Value::from(self.composite),
            formula_version: FORMULA_VERSION,
            components: parts.into_iter().enumerate().map(component).collect(),
        }
    }
}

/// The dimensions of the performance, each from 0 to 10 with one decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PerformanceDimensions))]
pub struct Dimensions {
    /// Share of tool calls that succeeded.
    pub quality: Decimal<1>,
    /// Tool calls per prompt.
    pub autonomy: Decimal<1>,
    /// Successful tool calls per minute.
    pub productivity: Decimal<1>,
    /// Share of tokens read from the cache.
    pub token_efficiency: Decimal<1>,
    /// Low cost per successful tool call.
    pub cost_efficiency: Decimal<1>,
}

/// The recommendation for the masque.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Recommendation {
    /// It works well.
    Keep,
    /// Look into it before you go on.
    Review,
    /// Switch to another masque, or back to the baseline.
    Doff,
}

impl Recommendation {
    fn of(composite: Decimal<1>) -> Self {
        if composite >= KEEP_AT {
            Self::Keep
        } else if composite >= REVIEW_AT {
            Self::Review
        } else {
            Self::Doff
        }
    }
}

impl fmt::Display for Recommendation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keep => "keep",
            Self::Review => "review",
            Self::Doff => "doff",
        })
    }
}

/// The sums that the dimensions are computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PerformanceStats))]
pub struct Stats {
    /// Cost in dollars, with two decimals.
    pub total_cost: Decimal<2>,
    /// Number of tool calls that ran.
    pub total_tools: u64,
    /// Number of tool calls that succeeded.
    pub tools_ok: u64,
    /// Share of tool calls that succeeded, in whole percent.
    pub tool_success_pct: u64,
    /// Number of user prompts.
    pub prompts: u64,
    /// Number of tokens, each counted once.
    pub total_tokens: u64,
    /// Number of tokens that were read from the cache.
    pub cache_tokens: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = NANOS_PER_MINUTE;

    /// Asserts that `totals` give these dimensions (in tenths), composite (in tenths) and recommendation.
    fn check(
        why: &str,
        totals: SessionTotals,
        dimensions: [i128; 5],
        composite: i128,
        recommendation: Recommendation,
    ) {
        let found = totals.performance();
        let d = found.dimensions;
        let tenths = [d.quality, d.autonomy, d.productivity, d.token_efficiency, d.cost_efficiency]
            .map(Decimal::units);
        assert_eq!(tenths, dimensions, "{why}");
        assert_eq!((found.composite.units(), found.recommendation), (composite, recommendation), "{why}");
    }

    fn usd(text: &str) -> NanoUsd {
        text.parse().unwrap()
    }

    #[test]
    fn worked_examples() {
        let tool = SessionTotals {
            duration_ns: MINUTE,
            prompts: 1,
            total_tools: 1,
            tools_ok: 1,
            ..SessionTotals::default()
        };
        check("prompt and one good tool", tool, [100, 20, 100, 0, 100], 65, Recommendation::Review);
        let call =
            SessionTotals { duration_ns: 2 * MINUTE, total_cost: usd("0.05"), total_tokens: 1, ..tool };
        check("then a call of $0.05", call, [100, 20, 50, 0, 50], 50, Recommendation::Review);
        check("nothing at all", SessionTotals::default(), [0, 0, 0, 0, 100], 10, Recommendation::Doff);
        let no_tool = SessionTotals { prompts: 1, total_cost: usd("0.02"), ..SessionTotals::default() };
        check("a prompt, a call, no tool", no_tool, [0, 0, 0, 0, 80], 8, Recommendation::Doff);
        let within = SessionTotals {
            duration_ns: 7 * MINUTE / 2,
            total_tools: 2,
            tools_ok: 2,
            total_cost: usd("0.01"),
            ..SessionTotals::default()
        };
        check("no prompt counts as one", within, [100, 40, 57, 0, 95], 61, Recommendation::Review);
        let long = SessionTotals {
            duration_ns: 9 * MINUTE,
            total_tools: 4,
            tools_ok: 4,
            ..SessionTotals::default()
        };
        check("over nine minutes", long, [100, 80, 44, 0, 100], 69, Recommendation::Review);
    }

    #[test]
    fn the_samples_of_the_source_match_its_formula() {
        let sample = SessionTotals {
            duration_ns: 45 * MINUTE,
            prompts: 12,
            total_tools: 87,
            tools_ok: 80,
            total_cost: usd("0.34"),
            total_tokens: 142_000,
            cache_tokens: 98_000,
        };
        check("the sample's stats", sample, [92, 100, 100, 69, 96], 93, Recommendation::Keep);
        let shown = sample.performance();
        assert_eq!((shown.duration_min, shown.stats.tool_success_pct), (45, 92));
        assert_eq!(shown.stats.total_cost.to_string(), "0.34");
        for (per_tool, tenths) in [("0", 100), ("0.01", 90), ("0.05", 50), ("0.10", 0), ("0.20", 0)] {
            let totals = SessionTotals {
                total_tools: 1,
                tools_ok: 1,
                total_cost: usd(per_tool),
                ..SessionTotals::default()
            };
            assert_eq!(
                totals.performance().dimensions.cost_efficiency.units(),
                tenths,
                "${per_tool} per tool"
            );
        }
    }

    #[test]
    fn the_recommendation_follows_the_composite_that_is_shown() {
        for (tenths, recommendation) in [
            (100, Recommendation::Keep),
            (70, Recommendation::Keep),
            (69, Recommendation::Review),
            (40, Recommendation::Review),
            (39, Recommendation::Doff),
            (0, Recommendation::Doff),
        ] {
            assert_eq!(Recommendation::of(Decimal::from_units(tenths)), recommendation, "{tenths}");
        }
    }

    #[test]
    fn the_duration_rounds_to_tenths_and_then_to_minutes() {
        for (seconds, minutes) in [(0, 1), (59, 1), (86, 1), (87, 2), (90, 2), (149, 3), (146, 2)] {
            let totals = SessionTotals { duration_ns: seconds * 1_000_000_000, ..SessionTotals::default() };
            assert_eq!(totals.performance().duration_min, minutes, "{seconds} s");
        }
    }

    #[test]
    fn the_explanation_adds_up_to_the_composite() {
        let totals = SessionTotals {
            duration_ns: 9 * MINUTE,
            total_tools: 4,
            tools_ok: 4,
            ..SessionTotals::default()
        };
        let explanation = totals.performance().explain();
        let points: i128 = explanation.components.iter().map(|component| component.points.units()).sum();
        assert_eq!(points, 6_880_000, "3 + 2 + 0.88 + 0 + 1, shown as 6.9");
        let most: i128 =
            explanation.components.iter().map(|component| component.points_max.unwrap().units()).sum();
        assert_eq!(most, 10_000_000);
        assert_eq!(explanation.score, 6.9);
    }
}
