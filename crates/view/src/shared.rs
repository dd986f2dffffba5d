//! Small shapes that several views have.

use renown_core::decimal::{Decimal, ratio};
use renown_core::reputation::Lifecycle;
use serde::Serialize;
use utoipa::ToSchema;

/// How settled a score is: `new` without an evaluation, `calibrating` below 50, `active` below 500, then `mature`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Lifecycle)]
#[serde(rename_all = "snake_case")]
pub enum LifecycleView {
    /// No evaluation yet.
    New,
    /// 1 to 49 evaluations.
    Calibrating,
    /// 50 to 499.
    Active,
    /// 500: the window is full.
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

/// The share of a part in a whole, six decimals; `None` of nothing.
pub(crate) fn share(part: u64, whole: u64) -> Option<Decimal<6>> {
    (whole > 0).then(|| ratio(u128::from(part), u128::from(whole)))
}

/// The average of latencies in milliseconds, three decimals; `None` of nothing.
pub(crate) fn average_ms(latency_us: u64, evaluations: u64) -> Option<Decimal<3>> {
    (evaluations > 0).then(|| ratio(u128::from(latency_us), 1000 * u128::from(evaluations)))
}
