//! Starts shipping for an SDK.

use std::time::Duration;

use renown_shipping::{Destination, Http, Notice, ShippingSettings, Telemetry};

/// Starts sending verdicts to a server in the background. Notices are passed to `notify`.
pub fn ship(
    destination: &Destination,
    settings: &ShippingSettings,
    notify: impl Fn(Notice) + Send + Sync + 'static,
) -> std::io::Result<Telemetry> {
    Telemetry::start(Box::new(Http::new(destination)), settings, notify)
}

/// Converts seconds to a duration, at most one year. A longer wait makes no difference in practice, and adding it to
/// the current time must not overflow.
pub fn seconds(seconds: f64) -> Result<Duration, String> {
    let longest = Duration::from_hours(24 * 365);
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) => Ok(duration.min(longest)),
        Err(_) if seconds > 0.0 => Ok(longest),
        Err(_) => Err(format!("{seconds}, expected seconds, 0 or more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_limited_on_both_sides() {
        assert_eq!(seconds(0.0), Ok(Duration::ZERO));
        assert_eq!(seconds(1.5), Ok(Duration::from_millis(1500)));
        assert_eq!(seconds(f64::INFINITY), seconds(1e300));
        assert_eq!(seconds(-0.1).unwrap_err(), "-0.1, expected seconds, 0 or more");
        assert!(seconds(f64::NAN).is_err() && seconds(f64::NEG_INFINITY).is_err());
    }
}
