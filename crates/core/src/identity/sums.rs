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
    fn add(&mut self, part: Part) {
        let Some(count) = self.count.checked_add(part.count) else { return };
        self.count = count;
        self.positive = self.positive.saturating_add(part.positive);
        self.negative = self.negative.saturating_add(part.negative);
        self.delta += i128::from(part.units) * i128::from(MILLION) + i128::from(part.millionths);
    }

    /// The mean in millionths; 0 with no events.
    pub(super) fn mean(&self) -> Fraction {
        Fraction::new(I256::from(self.delta), self.count.max(1))
    }
}

/// What some events of one category add up to, as a store keeps it: whole numbers that can be added up in 64 bits, whatever
/// their order. The sum of the deltas is `units + millionths / 10^6`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// How many events.
    pub count: u32,
    /// Those above 0.
    pub positive: u32,
    /// Those below 0.
    pub negative: u32,
    /// The sum of the whole parts of their deltas.
    pub units: i64,
    /// The sum of what is left of them.
    pub millionths: i64,
}

impl Part {
    /// One event.
    pub fn of(delta: ScoreDelta) -> Self {
        let millionths = delta.millionths();
        Self {
            count: 1,
            positive: u32::from(millionths > 0),
            negative: u32::from(millionths < 0),
            units: millionths / MILLION,
            millionths: millionths % MILLION,
        }
    }
}

const MILLION: i64 = 1_000_000;

/// What all events of one window add up to. Sums of parts of a window add up to those of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub(super) task_quality: CategorySums,
    pub(super) economic: CategorySums,
    pub(super) identity_hygiene: CategorySums,
}

impl Sums {
    /// Takes some more events of a category.
    pub fn add(&mut self, category: Category, part: Part) {
        match category {
            Category::TaskQuality => self.task_quality.add(part),
            Category::Economic => self.economic.add(part),
            Category::IdentityHygiene => self.identity_hygiene.add(part),
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
