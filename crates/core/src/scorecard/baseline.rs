//! The baseline: typical wall time that a run is compared with.

use serde::Serialize;

use super::BASELINE_RUNS;
use crate::decimal::Decimal;
use crate::units::Whole;

/// Typical duration of runs in a workspace: the median of the last 20 completed runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    runs: usize,
    /// The two middle runs, whose mean is the median. With an odd number of runs, the middle run twice.
    middle_ms: [Whole; 2],
}

impl Baseline {
    /// Computes the baseline of these wall times in milliseconds, newest last. Only the last 20 count.
    pub fn new(wall_ms: &[Whole]) -> Self {
        let latest =
            wall_ms.last_chunk::<BASELINE_RUNS>().map_or(wall_ms, <[Whole; BASELINE_RUNS]>::as_slice);
        Self::of_all(latest.to_vec())
    }

    /// Computes the median of all these wall times, in any order.
    pub(super) fn of_all(wall_ms: Vec<Whole>) -> Self {
        let mut sorted = wall_ms;
        sorted.sort_unstable();
        let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
        let middle = sorted.len() / 2;
        let low = if sorted.len().is_multiple_of(2) { middle.saturating_sub(1) } else { middle };
        Self { runs: sorted.len(), middle_ms: [at(low), at(middle)] }
    }

    /// Restores a stored baseline: the number of runs and the two middle ones.
    pub fn from_middle(runs: usize, middle_ms: [Whole; 2]) -> Self {
        Self { runs, middle_ms }
    }

    /// Returns the number of runs in the baseline.
    pub fn runs(self) -> usize {
        self.runs
    }

    /// Returns the wall times of the two middle runs.
    pub fn middle_ms(self) -> [Whole; 2] {
        self.middle_ms
    }

    /// Returns twice the median, so that the mean of two runs stays whole. Returns 0 without a run.
    pub(super) fn p50_doubled_ms(self) -> u128 {
        self.middle_ms.iter().map(|wall_ms| u128::from(wall_ms.get())).sum()
    }

    /// Returns the baseline for display.
    pub fn shown(self) -> BaselineShown {
        let p50_ms = (self.runs > 0).then(|| Decimal::from_units(5 * self.p50_doubled_ms().cast_signed()));
        BaselineShown { p50_ms, runs: self.runs }
    }
}

/// The baseline of the wall time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RunBaseline))]
pub struct BaselineShown {
    /// Median wall time of the compared runs, in milliseconds; null without such runs.
    pub p50_ms: Option<Decimal<1>>,
    /// Number of compared runs.
    pub runs: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_is_the_median_of_the_last_twenty() {
        let baseline = |wall_ms: &[u64]| {
            Baseline::new(&wall_ms.iter().map(|&ms| Whole::new(ms).unwrap()).collect::<Vec<_>>()).shown()
        };
        let shown = |wall_ms: &[u64]| baseline(wall_ms).p50_ms.map(|p50| p50.to_string());
        assert_eq!(shown(&[]), None);
        assert_eq!(shown(&[7]), Some("7.0".to_owned()));
        assert_eq!(shown(&[103, 100]), Some("101.5".to_owned()));
        assert_eq!(shown(&[3, 1, 2]), Some("2.0".to_owned()));
        let mut many = vec![1; 30];
        many.extend([9; 20]);
        assert_eq!((shown(&many), baseline(&many).runs), (Some("9.0".to_owned()), 20));
        let nineteen = [[1_u64; 10].as_slice(), &[5; 9]].concat();
        assert_eq!(shown(&nineteen), Some("1.0".to_owned()));
    }
}
