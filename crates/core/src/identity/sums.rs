//! Sums of events. They are integers, so they depend neither on the order of events nor on how events are split into
//! days.

use ethnum::I256;

use super::fraction::Fraction;
use super::{Category, ScoreDelta};

/// Sums of the events of one category in one window.
///
/// Counts are 32 bits wide on purpose: this keeps the exact fractions within 256 bits. No identity has 4 billion
/// events in 90 days; further events would not be counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CategorySums {
    pub(super) count: u32,
    pub(super) positive: u32,
    pub(super) negative: u32,
    /// The sum of the deltas in millionths.
    pub(super) delta: i128,
}

impl CategorySums {
    fn add(&mut self, part: EventPart) {
        let Some(count) = self.count.checked_add(part.count) else { return };
        self.count = count;
        self.positive = self.positive.saturating_add(part.positive);
        self.negative = self.negative.saturating_add(part.negative);
        self.delta += i128::from(part.units) * i128::from(MILLION) + i128::from(part.millionths);
    }

    /// Returns the mean in millionths; 0 without events.
    pub(super) fn mean(&self) -> Fraction {
        Fraction::new(I256::from(self.delta), self.count.max(1))
    }
}

/// Sums of some events of one category, as a store keeps them: whole numbers that can be added in 64 bits, in any
/// order. The sum of the deltas is `units + millionths / 10^6`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventPart {
    /// Number of events.
    pub count: u32,
    /// Events with a delta above 0.
    pub positive: u32,
    /// Events with a delta below 0.
    pub negative: u32,
    /// The sum of the whole parts of their deltas.
    pub units: i64,
    /// The sum of the remaining millionths.
    pub millionths: i64,
}

impl EventPart {
    /// Returns the sums of one event.
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

/// Sums of all events of one window. The sums of the parts of a window add up to the sums of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub(super) task_quality: CategorySums,
    pub(super) economic: CategorySums,
    pub(super) identity_hygiene: CategorySums,
}

impl Sums {
    /// Adds the sums of some events of a category.
    pub fn add(&mut self, category: Category, part: EventPart) {
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

    /// Returns the weighted mean in millionths.
    pub(super) fn overall(&self) -> Fraction {
        let weighted = |(category, sums): (Category, &CategorySums)| sums.mean().times(category.weight());
        self.by_category().map(weighted).into_iter().fold(Fraction::ZERO, Fraction::plus).over(100)
    }
}
