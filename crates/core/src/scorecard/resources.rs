//! The resource axis: the share of memory and CPU that a run did not use.

use serde::Serialize;

use super::{CPU_POINTS, MEMORY_POINTS, axis};
use crate::units::Whole;

/// The known resource usage of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RunResources))]
pub struct Resources {
    /// Peak memory.
    pub memory_peak_bytes: Option<Whole>,
    /// Memory limit.
    pub memory_limit_bytes: Option<Whole>,
    /// Scheduler periods in which the run was runnable.
    pub cpu_periods: Option<Whole>,
    /// Scheduler periods in which it was throttled.
    pub cpu_throttled_periods: Option<Whole>,
    /// Throttled time in milliseconds.
    pub cpu_throttled_ms: Option<Whole>,
}

impl Resources {
    /// Computes the resource axis of a run that took `wall_ms`. Returns `None` if no resource is known.
    pub(super) fn efficiency(&self, wall_ms: Option<Whole>) -> Option<u8> {
        let (used, throttled) = self.shares(wall_ms);
        if used.is_none() && throttled.is_none() {
            return None;
        }
        let (memory, memory_rest, limit) = used.unwrap_or(Share::HALF).unused_points(MEMORY_POINTS);
        let (cpu, cpu_rest, periods) = throttled.unwrap_or(Share::HALF).unused_points(CPU_POINTS);
        // Both denominators are below 2^63. The two remainders add up to less than two points. Comparing their sum
        // with 1/2 and 3/2 over the common denominator stays below 2^127; rounding the whole sum at once would not.
        let rest = memory_rest * periods + cpu_rest * limit;
        let one = limit * periods;
        let half = one - one / 2;
        let carried = u128::from(rest >= half) + u128::from(rest >= one && rest - one >= half);
        Some(axis(memory + cpu + carried))
    }

    /// Returns whether the memory and the CPU half of the axis are known.
    pub(super) fn known(&self, wall_ms: Option<Whole>) -> (bool, bool) {
        let (used, throttled) = self.shares(wall_ms);
        (used.is_some(), throttled.is_some())
    }

    /// Returns the used share of memory and the throttled share of CPU.
    fn shares(&self, wall_ms: Option<Whole>) -> (Option<Share>, Option<Share>) {
        let used = Share::new(self.memory_peak_bytes, self.memory_limit_bytes);
        let throttled = Share::new(self.cpu_throttled_periods, self.cpu_periods)
            .or_else(|| Share::new(self.cpu_throttled_ms, wall_ms));
        (used, throttled)
    }
}

/// A share from 0 to 1 as an exact fraction.
#[derive(Clone, Copy)]
struct Share {
    part: u128,
    whole: u128,
}

impl Share {
    /// A missing share counts as half used, so it earns half of its points.
    const HALF: Self = Self { part: 1, whole: 2 };

    /// Returns `part / whole`, at most 1. Returns `None` if either is missing or the whole is 0.
    fn new(part: Option<Whole>, whole: Option<Whole>) -> Option<Self> {
        let (part, whole) = (u128::from(part?.get()), u128::from(whole?.get()));
        (whole > 0).then_some(Self { part: part.min(whole), whole })
    }

    /// Returns `points · (1 − share)` as whole points, a remainder and its denominator.
    fn unused_points(self, points: u128) -> (u128, u128, u128) {
        let numerator = points * (self.whole - self.part);
        (numerator / self.whole, numerator % self.whole, self.whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_weighted_exactly_at_any_size() {
        let efficiency = |peak, limit, throttled, periods| {
            let [memory_peak_bytes, memory_limit_bytes, cpu_throttled_periods, cpu_periods] =
                [peak, limit, throttled, periods].map(|value: Option<u64>| value.and_then(Whole::new));
            let resources = Resources {
                memory_peak_bytes,
                memory_limit_bytes,
                cpu_throttled_periods,
                cpu_periods,
                cpu_throttled_ms: None,
            };
            resources.efficiency(None)
        };
        let huge = i64::MAX.unsigned_abs();
        for (found, expected, why) in [
            (efficiency(None, None, None, None), None, "nothing known"),
            (efficiency(Some(1), Some(0), Some(1), Some(0)), None, "wholes of 0 count as missing"),
            (efficiency(Some(1), None, None, Some(9)), None, "parts without a whole count as missing"),
            (efficiency(Some(256), Some(512), None, None), Some(50), "35 + 15"),
            (efficiency(None, None, Some(2), Some(8)), Some(58), "35 + 22.5 = 57.5"),
            (efficiency(Some(1), Some(140), Some(0), Some(1)), Some(100), "69.5 + 30 = 99.5"),
            (efficiency(Some(141), Some(14_000), Some(0), Some(1)), Some(99), "69.295 + 30"),
            (efficiency(Some(3), Some(4), Some(3), Some(4)), Some(25), "17.5 + 7.5"),
            (efficiency(Some(9), Some(4), Some(9), Some(4)), Some(0), "above the limit"),
            (efficiency(Some(huge), Some(huge), Some(huge), Some(huge)), Some(0), "everything used"),
            (efficiency(Some(0), Some(huge), Some(0), Some(huge)), Some(100), "nothing used"),
            (
                efficiency(Some(huge / 2), Some(huge), Some(1), Some(huge - 1)),
                Some(65),
                "just above 35 + just below 30",
            ),
        ] {
            assert_eq!(found, expected, "{why}");
        }
    }

    #[test]
    fn throttled_time_replaces_missing_periods() {
        let throttled = |ms| Resources { cpu_throttled_ms: Whole::new(ms), ..Resources::default() };
        assert_eq!(throttled(25).efficiency(Whole::new(100)), Some(58), "35 + 22.5 = 57.5");
        assert_eq!(throttled(500).efficiency(Whole::new(100)), Some(35), "the share is at most 1");
        assert_eq!(throttled(25).efficiency(Whole::new(0)), None, "a wall time of 0 counts as missing");
        assert_eq!(throttled(25).efficiency(None), None);
    }
}
