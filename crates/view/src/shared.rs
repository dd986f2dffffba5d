//! Small types that several views use.

use renown_core::decimal::{Decimal, ratio};
use renown_core::reputation::Lifecycle;
use serde::Serialize;
use utoipa::ToSchema;

/// How settled a score is: `new` without evaluations, `calibrating` below 50, `active` below 500, then `mature`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Lifecycle)]
#[serde(rename_all = "snake_case")]
pub enum LifecycleView {
    /// No evaluations.
    New,
    /// 1 to 49 evaluations.
    Calibrating,
    /// 50 to 499 evaluations.
    Active,
    /// 500 evaluations: the window is full.
    Mature,
}

impl From<Lifecycle> for LifecycleView {
    fn from(lifecycle: Lifecycle) -> Self {
        match lifecycle {
            Lifecycle::New => Self::New,
            Lifecycle::Calibrating => Self::Calibrating,
            Lifecycle::Active => Self::Active,
            Lifecycle::Mature => Self::Mature,
        }
    }
}

/// Returns the share of a part in a whole, with six decimals. `None` if the whole is 0.
pub(crate) fn share(part: u64, whole: u64) -> Option<Decimal<6>> {
    (whole > 0).then(|| ratio(u128::from(part), u128::from(whole)))
}

/// Returns the average latency in milliseconds, with three decimals. `None` without evaluations.
pub(crate) fn average_ms(latency_us: u64, evaluations: u64) -> Option<Decimal<3>> {
    (evaluations > 0).then(|| ratio(u128::from(latency_us), 1000 * u128::from(evaluations)))
}
