//! # Reputation of an identity over time
//!
//! ```text
//! mean_c     = Σ score_delta / count, over the events of category c with T − 90 d < timestamp ≤ T      (0 without events)
//! overall    = 0.40 · mean_task_quality + 0.35 · mean_economic + 0.25 · mean_identity_hygiene
//! confidence = min(1, total / 100)
//! score_7d_ago, score_30d_ago = overall as of T − 7 d and T − 30 d, by the same function
//! trend_7d, trend_30d         = overall − that score, null if that window had no events
//! ```
//!
//! | symbol | meaning | unit | source |
//! |---|---|---|---|
//! | T | the time for which the score is computed | ns | `as_of` |
//! | `score_delta` | how an event moves its category | whole millionths | the event, × 10^6 in `f64`, half away from zero |
//! | category | `task_quality`, economic or `identity_hygiene` | | the event |
//! | total | events in the window, each `event_id` once | count | the events |
//!
//! **Why millionths.** Sums of integers do not depend on the order of events, and daily sums add up to the sum of 90
//! days. Means, the overall score and trends are exact fractions of such sums. They are rounded once, half away from
//! zero, to six decimals.
//!
//! **An agent is an identity.** [`identity_of`] derives its UUIDv5 from its organization and id. So any evidence
//! about an agent can feed its identity, and all servers use the same identity.
//!
//! **A finished session becomes an event** of this identity: see [`bridge()`].
//!
//! **What it ignores.** The confidence of single events, their type and what they refer to.

mod bridge;
mod fraction;
mod input;
mod sums;

use core::ops::Range;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::decimal::{Decimal, ratio};
use crate::explain::{Component, Explanation, Inputs};
use crate::ids::{AgentId, IdentityId, OrgId};
use crate::json::named;
use crate::time::{NANOS_PER_DAY, Timestamp};
use fraction::Fraction;
use sums::CategorySums;

pub use bridge::{bridge, bridge_id};
pub use input::{Event, Input, Reference, ScoreDelta};
pub use sums::{EventPart, Sums};

/// The version of this formula.
pub const FORMULA_VERSION: &str = "1";

/// Number of days for which an event counts.
pub const WINDOW_DAYS: i64 = 90;

/// Ages of the two earlier scores, in days.
const WEEK_DAYS: i64 = 7;
const MONTH_DAYS: i64 = 30;

/// Number of events that gives full confidence.
pub const FULL_CONFIDENCE_EVENTS: u64 = 100;

/// Category of an event: work, payment, or keys and sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ReputationCategory))]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// How well the identity does its work.
    TaskQuality,
    /// How it handles payments.
    Economic,
    /// How it handles its keys and sessions.
    IdentityHygiene,
}

impl Category {
    /// All of them, in the order of the formula.
    pub const ALL: [Self; 3] = [Self::TaskQuality, Self::Economic, Self::IdentityHygiene];

    /// Returns its weight in hundredths.
    fn weight(self) -> i32 {
        match self {
            Self::TaskQuality => 40,
            Self::Economic => 35,
            Self::IdentityHygiene => 25,
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::TaskQuality => "task_quality",
            Self::Economic => "economic",
            Self::IdentityHygiene => "identity_hygiene",
        }
    }
}

impl<'de> Deserialize<'de> for Category {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, &Self::ALL, Self::name)
    }
}

/// All inputs of a score: the sums over 90 days up to T, up to T − 7 d and up to T − 30 d.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    now: Sums,
    week_ago: Sums,
    month_ago: Sums,
}

impl Windows {
    /// Adds one event to every window that it falls into. The caller must not add an event twice.
    pub fn add(&mut self, as_of: Timestamp, at: Timestamp, category: Category, delta: ScoreDelta) {
        let age_ns = as_of.nanos() - at.nanos();
        for (sums, days) in
            [(&mut self.now, 0), (&mut self.week_ago, WEEK_DAYS), (&mut self.month_ago, MONTH_DAYS)]
        {
            let age_then_ns = age_ns - days * NANOS_PER_DAY;
            if (0..WINDOW_DAYS * NANOS_PER_DAY).contains(&age_then_ns) {
                sums.add(category, EventPart::of(delta));
            }
        }
    }

    /// Builds the windows from a source that can sum events. `sums` returns the sums of the events in a range of
    /// timestamps in nanoseconds.
    pub fn gather<E>(
        as_of: Timestamp,
        mut sums: impl FnMut(Range<i64>) -> Result<Sums, E>,
    ) -> Result<Self, E> {
        let mut window = |days: i64| {
            let last = as_of.nanos() - days * NANOS_PER_DAY;
            sums(last - WINDOW_DAYS * NANOS_PER_DAY + 1..last + 1)
        };
        Ok(Self { now: window(0)?, week_ago: window(WEEK_DAYS)?, month_ago: window(MONTH_DAYS)? })
    }

    /// Computes the formula: the overall scores as exact fractions.
    pub fn breakdown(self) -> Breakdown {
        Breakdown {
            windows: self,
            overall: self.now.overall(),
            week_ago: self.week_ago.overall(),
            month_ago: self.month_ago.overall(),
        }
    }
}

/// The exact overall scores of the three windows, and the sums behind them.
#[derive(Clone, Copy, Debug)]
pub struct Breakdown {
    windows: Windows,
    overall: Fraction,
    week_ago: Fraction,
    month_ago: Fraction,
}

impl Breakdown {
    /// Returns the reputation as the API returns it.
    pub fn standing(&self, as_of: Timestamp) -> IdentityReputation {
        let Windows { now, week_ago, month_ago } = &self.windows;
        let trend =
            |then: &Sums, score: Fraction| (then.events() > 0).then(|| self.overall.minus(score).round());
        let total_events = now.events();
        IdentityReputation {
            as_of,
            overall_score: self.overall.round(),
            task_quality_score: now.task_quality.mean().round(),
            economic_score: now.economic.mean().round(),
            identity_hygiene_score: now.identity_hygiene.mean().round(),
            total_events,
            positive_events: now.total(|sums| sums.positive),
            negative_events: now.total(|sums| sums.negative),
            confidence: ratio(
                u128::from(total_events.min(FULL_CONFIDENCE_EVENTS)),
                u128::from(FULL_CONFIDENCE_EVENTS),
            ),
            score_7d_ago: self.week_ago.round(),
            score_30d_ago: self.month_ago.round(),
            trend_7d: trend(week_ago, self.week_ago),
            trend_30d: trend(month_ago, self.month_ago),
            formula_version: FORMULA_VERSION,
        }
    }

    /// Explains the overall score: the contribution of each category.
    pub fn explain(&self) -> Explanation {
        let component = |(category, sums): (Category, &CategorySums)| {
            let mean = sums.mean();
            let inputs = Inputs::from([
                ("events", Value::from(sums.count)),
                ("mean", Value::from(mean.round())),
                ("weight", Value::from(Decimal::<2>::from_units(i128::from(category.weight())))),
            ]);
            Component::unbounded(category.name(), inputs, mean.times(category.weight()).over(100).round())
        };
        Explanation {
            score: Value::from(self.overall.round()),
            formula_version: FORMULA_VERSION,
            components: self.windows.now.by_category().map(component).into(),
        }
    }
}

/// The reputation of an identity at a point in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IdentityReputation {
    /// The point in time.
    pub as_of: Timestamp,
    /// The weighted mean of the categories.
    pub overall_score: Decimal<6>,
    /// The mean of the events about work.
    pub task_quality_score: Decimal<6>,
    /// The mean of the events about payment.
    pub economic_score: Decimal<6>,
    /// The mean of the events about keys and sessions.
    pub identity_hygiene_score: Decimal<6>,
    /// Events in the window.
    pub total_events: u64,
    /// Events with a delta above 0.
    pub positive_events: u64,
    /// Events with a delta below 0.
    pub negative_events: u64,
    /// How much evidence there is, 0 to 1.
    pub confidence: Decimal<6>,
    /// The overall score 7 days before.
    pub score_7d_ago: Decimal<6>,
    /// The overall score 30 days before.
    pub score_30d_ago: Decimal<6>,
    /// The change over 7 days; `None` if there were no events 7 days before.
    pub trend_7d: Option<Decimal<6>>,
    /// The change over 30 days; `None` if there were no events 30 days before.
    pub trend_30d: Option<Decimal<6>>,
    /// The version of the formula.
    pub formula_version: &'static str,
}

/// Returns the identity of an agent: `UUIDv5(UUIDv5(OID namespace, "renown:" + organization), agent_id)`.
pub fn identity_of(organization: &OrgId, agent: &AgentId) -> IdentityId {
    let namespace = Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("renown:{organization}").as_bytes());
    Uuid::new_v5(&namespace, agent.as_str().as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noon() -> Timestamp {
        Timestamp::parse("2026-11-15T12:00:00Z").unwrap()
    }

    /// Computes the reputation at noon after events of (days before, category, delta).
    fn standing(events: &[(i64, Category, f64)]) -> IdentityReputation {
        windows(events).breakdown().standing(noon())
    }

    fn windows(events: &[(i64, Category, f64)]) -> Windows {
        let as_of = noon();
        let mut windows = Windows::default();
        for &(days, category, delta) in events {
            let at = Timestamp::from_nanos(as_of.nanos() - days * NANOS_PER_DAY).unwrap();
            windows.add(as_of, at, category, ScoreDelta::new(delta).unwrap());
        }
        windows
    }

    #[test]
    fn no_events_give_a_score_of_0() {
        let found = standing(&[]);
        assert_eq!((found.overall_score.units(), found.total_events, found.trend_7d), (0, 0, None));
    }

    #[test]
    fn categories_are_weighted_40_35_and_25() {
        use Category::{Economic, IdentityHygiene, TaskQuality};
        for (category, overall) in
            [(TaskQuality, "0.400000"), (Economic, "0.350000"), (IdentityHygiene, "0.250000")]
        {
            assert_eq!(standing(&[(1, category, 1.0)]).overall_score.to_string(), overall);
        }
        let found = standing(&[
            (1, TaskQuality, 1.0),
            (2, TaskQuality, 0.0),
            (3, Economic, -1.0),
            (4, IdentityHygiene, 0.5),
        ]);
        assert_eq!(found.overall_score.to_string(), "-0.025000", "0.2 − 0.35 + 0.125");
        assert_eq!((found.total_events, found.positive_events, found.negative_events), (4, 2, 1));
        assert_eq!(found.confidence.to_string(), "0.040000");
    }

    #[test]
    fn ninety_days_are_out_and_now_is_in() {
        let count = |age_ns: i64| {
            let mut windows = Windows::default();
            let at = Timestamp::from_nanos(noon().nanos() - age_ns).unwrap();
            windows.add(noon(), at, Category::Economic, ScoreDelta::new(1.0).unwrap());
            let [now, week, month] =
                [windows.now, windows.week_ago, windows.month_ago].map(|sums| sums.events());
            (now, week, month)
        };
        assert_eq!([count(-1), count(0)], [(0, 0, 0), (1, 0, 0)]);
        assert_eq!([count(7 * NANOS_PER_DAY - 1), count(7 * NANOS_PER_DAY)], [(1, 0, 0), (1, 1, 0)]);
        assert_eq!([count(30 * NANOS_PER_DAY - 1), count(30 * NANOS_PER_DAY)], [(1, 1, 0), (1, 1, 1)]);
        assert_eq!([count(90 * NANOS_PER_DAY - 1), count(90 * NANOS_PER_DAY)], [(1, 1, 1), (0, 1, 1)]);
        assert_eq!([count(97 * NANOS_PER_DAY - 1), count(97 * NANOS_PER_DAY)], [(0, 1, 1), (0, 0, 1)]);
        assert_eq!([count(120 * NANOS_PER_DAY - 1), count(120 * NANOS_PER_DAY)], [(0, 0, 1), (0, 0, 0)]);
    }

    #[test]
    fn trends_are_the_exact_difference_rounded_once() {
        use Category::TaskQuality;
        // A third now, two thirds a week ago: −0.4/3 = −0.1333…; rounding both first would give −0.133334.
        let found = standing(&[
            (8, TaskQuality, 1.0),
            (8, TaskQuality, 1.0),
            (8, TaskQuality, 0.0),
            (0, TaskQuality, -1.0),
            (0, TaskQuality, 0.0),
            (0, TaskQuality, 1.0),
        ]);
        assert_eq!(found.overall_score.to_string(), "0.133333");
        assert_eq!(found.score_7d_ago.to_string(), "0.266667");
        assert_eq!(found.trend_7d.unwrap().to_string(), "-0.133333");
        assert_eq!(found.trend_30d, None);
    }

    #[test]
    fn confidence_is_full_at_a_hundred_events() {
        for (events, confidence) in [(99, "0.990000"), (100, "1.000000"), (101, "1.000000")] {
            let many = vec![(1, Category::Economic, 0.5); events];
            assert_eq!(standing(&many).confidence.to_string(), confidence, "{events}");
        }
    }

    #[test]
    fn the_largest_possible_window_does_not_overflow() {
        let full = |delta: i128| CategorySums {
            count: u32::MAX,
            positive: u32::MAX,
            negative: 0,
            delta: delta * i128::from(u32::MAX) - 1,
        };
        let most = Sums {
            task_quality: full(1_000_000_000_000),
            economic: full(1_000_000_000_000),
            identity_hygiene: full(1_000_000_000_000),
        };
        let least = Sums {
            task_quality: full(-999_999_999_999),
            economic: full(-999_999_999_999),
            identity_hygiene: full(-999_999_999_999),
        };
        let found = Windows { now: most, week_ago: least, month_ago: most }.breakdown().standing(noon());
        assert_eq!(found.overall_score.to_string(), "1000000.000000");
        assert_eq!(found.trend_7d.unwrap().to_string(), "1999999.999999");
        assert_eq!(found.trend_30d.unwrap().to_string(), "0.000000");
    }

    #[test]
    fn an_agent_has_one_identity_in_each_organization() {
        let identity =
            |org: &str, agent: &str| identity_of(&org.parse().unwrap(), &agent.parse().unwrap()).to_string();
        // Computed with another implementation of UUIDv5.
        assert_eq!(identity("default", "reviewer-1"), "fa0a3aa8-61c7-5d84-bdc6-7b122dca838f");
        assert_eq!(identity("acme", "réviseur"), "53f4f191-ccbe-59e2-8913-305e45c47046");
    }

    #[test]
    fn the_explanation_adds_up_to_the_overall_score() {
        use Category::{Economic, TaskQuality};
        let explanation = windows(&[(1, TaskQuality, 1.0), (2, Economic, -1.0)]).breakdown().explain();
        let points: Vec<String> =
            explanation.components.iter().map(|component| component.points.to_string()).collect();
        assert_eq!(points, ["0.400000", "-0.350000", "0.000000"]);
        assert_eq!(explanation.score, 0.05);
    }
}
