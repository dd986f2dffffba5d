//! Rounded quotients that several views use.

use renown_core::decimal::{Decimal, ratio};

/// Returns the share of a part in a whole, with six decimals. `None` if the whole is 0.
pub(crate) fn share(part: u64, whole: u64) -> Option<Decimal<6>> {
    (whole > 0).then(|| ratio(u128::from(part), u128::from(whole)))
}

/// Returns the average latency in milliseconds, with three decimals. `None` without evaluations.
pub(crate) fn average_ms(latency_us: u64, evaluations: u64) -> Option<Decimal<3>> {
    (evaluations > 0).then(|| ratio(u128::from(latency_us), 1000 * u128::from(evaluations)))
}
