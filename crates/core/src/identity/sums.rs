//! What events add up to: integers, so neither their order nor how they are cut into days can be seen.

use ethnum::I256;

use super::fraction::Fraction;
use super::{Category, ScoreDelta};

/// What the events of one category in one window add up to.
///
/// Counts are 32 bits wide on purpose: it bounds the exact fractions below to 256 bits. Nobody has four thousand million
/// events in 90 days; beyond that, nothing more is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CategorySums {
    pub(super) count: u32,
    pub(super) positive: u32,
    pub(super) negative: u32,
    /// The sum of the deltas in millionths.
    pub(super) delta: i128,
}

impl CategorySums {
    pub(super) fn add(&mut self, delta: ScoreDelta) {
        let Some(count) = self.count.checked_add(1) else { return };
        self.count = count;
        self.positive += u32::from(delta.millionths() > 0);
        self.negative += u32::from(delta.millionths() < 0);
        self.delta += i128::from(delta.millionths());
    }

    /// The mean in millionths; 0 with no events.
    pub(super) fn mean(&self) -> Fraction {
        Fraction::new(I256::from(self.delta), self.count.max(1))
    }
}

/// What all events of one window add up to. Sums of parts of a window add up to those of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) task_quality: CategorySums,
    pub(super) economic: CategorySums,
    pub(super) identity_hygiene: CategorySums,
}

impl Sums {
    /// Takes one more event.
    pub(super) fn add(&mut self, category: Category, delta: ScoreDelta) {
        match category {
            Category::TaskQuality => self.task_quality.add(delta),
            Category::Economic => self.economic.add(delta),
            Category::IdentityHygiene => self.identity_hygiene.add(delta),
        }
    }

    pub(super) fn by_category(&self) -> [(Category, &CategorySums); 3] {
        [
            (Category::TaskQuality, &self.task_quality),
            (Category::Economic, &self.economic),
            (Category::IdentityHygiene, &self.identity_hygiene),
        ]
    }

    pub(super) fn total(&self, count: impl Fn(&CategorySums) -> u32) -> u64 {
        self.by_category().iter().map(|(_, sums)| u64::from(count(sums))).sum()
    }

    pub(super) fn events(&self) -> u64 {
        self.total(|sums| sums.count)
    }

    /// The weighted mean in millionths.
    pub(super) fn overall(&self) -> Fraction {
        let weighted = |(category, sums): (Category, &CategorySums)| sums.mean().times(category.weight());
        self.by_category().map(weighted).into_iter().fold(Fraction::ZERO, Fraction::plus).over(100)
    }
}
