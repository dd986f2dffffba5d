//! `rtb.tmax-guard`: too little time left.
//!
//! | option | is | default |
//! |---|---|---|
//! | `buffer_ms` | time that the response still needs, 0 to 60 000 ms | 15 |
//!
//! If `tmax_ms` − (now − `started_at`) < `buffer_ms`, the guard is skipped, `tmax budget nearly spent`, and all other
//! `rtb.*` gates of the set are skipped, `renown:tmax`: a bid that comes too late is lost anyway. All other gates run
//! as usual: these numbers come from the caller, who must not be able to switch off `secrets` with them. Without
//! these numbers: skipped, `no tmax or start time`. A start in the future counts as now.

use crate::gates::engine::Tmax;
use crate::gates::options::{Options, SettingsError, SettingsProblem};
use crate::gates::verdict::Finding;
use crate::json::Found;

/// Its reason when it skips the auction gates.
pub(in crate::gates) const NEARLY_SPENT: &str = "tmax budget nearly spent";

const BUFFER_MS: u64 = 15;
const BUFFER_MS_MAX: u64 = 60_000;

#[derive(Debug)]
pub(in crate::gates) struct TmaxGuard {
    buffer_ms: u64,
}

impl TmaxGuard {
    pub(super) fn build(options: &mut Options<'_>) -> Result<Self, SettingsError> {
        let buffer_ms = match options.get("buffer_ms") {
            None => BUFFER_MS,
            Some(value) => value.as_u64().filter(|ms| *ms <= BUFFER_MS_MAX).ok_or_else(|| {
                let found = Found::new(&value.to_string());
                let expected = "a whole number of milliseconds from 0 to 60000";
                options.error("buffer_ms", SettingsProblem::Value { found, expected })
            })?,
        };
        Ok(Self { buffer_ms })
    }

    pub(super) fn stops(&self, tmax: Tmax) -> bool {
        let elapsed_ms = tmax.now_ms.saturating_sub(tmax.started_at_ms);
        tmax.tmax_ms < elapsed_ms.saturating_add(self.buffer_ms)
    }

    pub(super) fn check(&self, tmax: Option<Tmax>) -> Finding {
        match tmax {
            None => Finding::Skip("no tmax or start time".into()),
            Some(tmax) if self.stops(tmax) => Finding::Skip(NEARLY_SPENT.into()),
            Some(_) => Finding::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_must_be_at_least_the_buffer() {
        for (tmax_ms, started_at_ms, now_ms, stops) in [
            (100, 1000, 1085, false),
            (100, 1000, 1086, true),
            (15, 1000, 1000, false),
            (14, 1000, 1000, true),
            (100, 2000, 1000, false),
            (0, 0, u64::MAX, true),
        ] {
            let guard = TmaxGuard { buffer_ms: 15 };
            assert_eq!(guard.stops(Tmax { tmax_ms, started_at_ms, now_ms }), stops, "{tmax_ms} {now_ms}");
        }
        assert_eq!(TmaxGuard { buffer_ms: 15 }.check(None), Finding::Skip("no tmax or start time".into()));
    }
}
