//! `latency`: a latency above a limit.
//!
//! Fails when `latency_ms` > `max_ms`. The latency is what the caller reports about the agent, not the cost of the
//! gates. Latency and threshold may be longer than the 60 s that are recorded. They are compared in whole
//! microseconds.
//!
//! | option | is | default |
//! |---|---|---|
//! | `max_ms` | largest allowed latency in milliseconds, positive and finite | required |
//!
//! Reasons: `latency 143ms exceeds 100ms threshold`; skipped: `no latency_ms provided`.

use core::time::Duration;

use super::options::{Options, SettingsError, SettingsProblem};
use super::verdict::Finding;
use crate::decimal::Decimal;

#[derive(Debug)]
pub(super) struct Latency {
    max_ms: f64,
}

impl Latency {
    pub(super) fn build(options: &mut Options<'_>) -> Result<Self, SettingsError> {
        let expected = "a positive number of milliseconds";
        let max_ms = options.number("max_ms", expected, |ms| ms.is_finite() && ms > 0.0)?;
        match max_ms {
            Some(max_ms) => Ok(Self { max_ms }),
            None => Err(options.error("max_ms", SettingsProblem::Missing { expected })),
        }
    }

    pub(super) fn check(&self, latency: Option<Duration>) -> Finding {
        let Some(latency) = latency else { return Finding::Skip("no latency_ms provided".into()) };
        let us = i128::try_from(latency.as_micros()).unwrap_or(i128::MAX);
        let latency_ms = Decimal::<3>::from_units(us).to_f64();
        if latency_ms > self.max_ms {
            Finding::Fail(format!("latency {latency_ms}ms exceeds {}ms threshold", self.max_ms))
        } else {
            Finding::Pass
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::duration_of_ms;

    #[test]
    fn only_a_latency_above_the_threshold_fails() {
        let fails = |reason: &str| Finding::Fail(reason.to_owned());
        for (max_ms, latency_ms, expected) in [
            (100.0, Some(143.0), fails("latency 143ms exceeds 100ms threshold")),
            (100.0, Some(100.001), fails("latency 100.001ms exceeds 100ms threshold")),
            (100.0, Some(100.0), Finding::Pass),
            (0.5, Some(0.501), fails("latency 0.501ms exceeds 0.5ms threshold")),
            (0.5, Some(0.5), Finding::Pass),
            (100.0, None, Finding::Skip("no latency_ms provided".into())),
        ] {
            let latency = latency_ms.map(|ms| duration_of_ms(ms).unwrap());
            assert_eq!(Latency { max_ms }.check(latency), expected, "{latency_ms:?}");
        }
        for (max_ms, took_us, expected) in [
            (100_000.0, 100_000_001, fails("latency 100000.001ms exceeds 100000ms threshold")),
            (100_000.0, 100_000_000, Finding::Pass),
            (60_000.0, 60_001_000, fails("latency 60001ms exceeds 60000ms threshold")),
            (1e12, 86_400_000_000, Finding::Pass),
        ] {
            let latency = Some(Duration::from_micros(took_us));
            assert_eq!(Latency { max_ms }.check(latency), expected, "{took_us}");
        }
    }
}
