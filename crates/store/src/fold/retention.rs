//! What retention may delete, and in which order.
//!
//! | evidence | is too old | is kept all the same |
//! |---|---|---|
//! | reputation events | they happened before the day that was `events_days` ago | |
//! | sessions | nothing of them arrived for `sessions_days` | open ones |
//! | eval runs | created more than `sessions_days` ago | those that have not ended |
//! | runs | accepted more than `runs_days` ago | the last scored run of an agent; a completed run with a wall time that is among the latest 20 of its workspace |
//! | evaluations | accepted more than `evaluations_days` ago | those in the window of their agent: its newest 500 |
//!
//! So retention changes no score: not that of a window, not the last score of an agent, and not the baseline of a
//! later run. The reputation events that sessions became are kept as long as other events. The days of deleted
//! evaluations are kept for ever.

use renown_core::scorecard::BASELINE_RUNS;
use renown_core::time::Timestamp;

use crate::admin::Retention;

const DAY_MS: i64 = 86_400_000;

/// The times before which evidence is too old, in milliseconds; `None` if it never is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Reputation events that happened before this day.
    pub(crate) events: Option<Timestamp>,
    sessions_ms: Option<i64>,
    runs_ms: Option<i64>,
    evaluations_ms: Option<i64>,
}

/// Which kinds are not fully checked today.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unchecked {
    /// Sessions.
    pub(crate) sessions: bool,
    /// Runs.
    pub(crate) runs: bool,
    /// Evaluations.
    pub(crate) evaluations: bool,
}

/// What to check next, and the time in milliseconds before which it is too old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextCheck {
    /// Sessions.
    Sessions(i64),
    /// Runs.
    Runs(i64),
    /// Evaluations.
    Evaluations(i64),
    /// Nothing is left for today.
    Nothing,
}

/// What an old run is still needed for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunUse {
    /// Whether its agent has a later run with a score.
    pub(crate) has_later_score: bool,
    /// Whether it counts in baselines: it is completed and has a wall time.
    pub(crate) counts: bool,
    /// Number of runs of its workspace that count and ended later, but not in the future.
    pub(crate) later_that_count: usize,
}

impl Limits {
    /// Returns the limits at a time.
    pub(crate) fn at(retention: Retention, now: Timestamp) -> Self {
        let before_ms = |days: Option<u32>| days.map(|days| now.millis() - i64::from(days) * DAY_MS);
        let day = |ms: i64| Timestamp::from_millis(ms / DAY_MS * DAY_MS).ok();
        Self {
            events: before_ms(retention.events_days).and_then(day),
            sessions_ms: before_ms(retention.sessions_days),
            runs_ms: before_ms(retention.runs_days),
            evaluations_ms: before_ms(retention.evaluations_days),
        }
    }

    /// Returns the time in milliseconds before which an eval run is too old.
    pub(crate) fn eval_runs_ms(&self) -> Option<i64> {
        self.sessions_ms
    }

    /// Returns what to check next.
    pub(crate) fn next(&self, unchecked: Unchecked) -> NextCheck {
        let wanted = |limit: Option<i64>, is_unchecked: bool| limit.filter(|_| is_unchecked);
        wanted(self.sessions_ms, unchecked.sessions)
            .map(NextCheck::Sessions)
            .or(wanted(self.runs_ms, unchecked.runs).map(NextCheck::Runs))
            .or(wanted(self.evaluations_ms, unchecked.evaluations).map(NextCheck::Evaluations))
            .unwrap_or(NextCheck::Nothing)
    }
}

/// Returns the number of the day of a time: each day, evidence is checked once.
pub(crate) fn day(now: Timestamp) -> i64 {
    now.millis() / DAY_MS
}

/// Returns whether a session is deleted.
pub(crate) fn deletes_session(is_open: bool, last_seen_ms: i64, before_ms: i64) -> bool {
    !is_open && last_seen_ms < before_ms
}

/// Returns whether an old run is deleted.
pub(crate) fn deletes_run(needed: RunUse) -> bool {
    needed.has_later_score && !(needed.counts && needed.later_that_count < BASELINE_RUNS)
}

/// Returns whether an old evaluation is deleted. `window_start` is the position of the oldest one in the window of
/// its agent; `None` if the window is not full.
pub(crate) fn deletes_evaluation(position: i64, window_start: Option<i64>) -> bool {
    window_start.is_some_and(|window_start| position < window_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_794_744_000_000;

    fn retention(days: [Option<u32>; 4]) -> Retention {
        let [evaluations_days, runs_days, sessions_days, events_days] = days;
        Retention { evaluations_days, runs_days, sessions_days, events_days }
    }

    fn limits(days: [Option<u32>; 4]) -> Limits {
        Limits::at(retention(days), Timestamp::from_millis(NOON).unwrap())
    }

    #[test]
    fn events_are_deleted_by_the_day_and_everything_else_by_the_millisecond() {
        let limits = limits([Some(1), Some(2), Some(3), Some(4)]);
        let midnight = NOON - DAY_MS / 2;
        assert_eq!(limits.events.unwrap().millis(), midnight - 4 * DAY_MS);
        let others = (limits.sessions_ms, limits.runs_ms, limits.evaluations_ms);
        assert_eq!(others, (Some(NOON - 3 * DAY_MS), Some(NOON - 2 * DAY_MS), Some(NOON - DAY_MS)));
        assert_eq!(self::limits([None; 4]).events, None, "for ever");
    }

    #[test]
    fn each_kind_is_checked_once_sessions_first_then_runs_then_evaluations() {
        let all = limits([Some(1); 4]);
        let before = NOON - DAY_MS;
        let unchecked = |sessions, runs, evaluations| Unchecked { sessions, runs, evaluations };
        for (limits, unchecked, expected, label) in [
            (all, unchecked(true, true, true), NextCheck::Sessions(before), "sessions first"),
            (all, unchecked(false, true, true), NextCheck::Runs(before), "then runs"),
            (all, unchecked(false, false, true), NextCheck::Evaluations(before), "then evaluations"),
            (all, unchecked(false, false, false), NextCheck::Nothing, "then nothing until tomorrow"),
            (
                limits([Some(1), None, None, None]),
                unchecked(true, true, true),
                NextCheck::Evaluations(before),
                "no limit",
            ),
            (limits([None; 4]), unchecked(true, true, true), NextCheck::Nothing, "all for ever"),
        ] {
            assert_eq!(limits.next(unchecked), expected, "{label}");
        }
    }

    #[test]
    fn an_open_session_is_never_too_old() {
        for (is_open, last_seen_ms, expected) in
            [(false, 9, true), (false, 10, false), (true, 9, false), (true, 10, false)]
        {
            assert_eq!(
                deletes_session(is_open, last_seen_ms, 10),
                expected,
                "open: {is_open}, seen {last_seen_ms}"
            );
        }
    }

    #[test]
    fn the_last_score_of_an_agent_and_the_baseline_of_a_workspace_are_kept() {
        let of =
            |has_later_score, counts, later_that_count| RunUse { has_later_score, counts, later_that_count };
        for (needed, expected, label) in [
            (of(false, false, 0), false, "the last score of its agent"),
            (of(false, true, 20), false, "the last score of its agent, in no baseline"),
            (of(true, false, 0), true, "counts in no baseline"),
            (of(true, true, 19), false, "one of the latest 20"),
            (of(true, true, 20), true, "20 later ones count"),
        ] {
            assert_eq!(deletes_run(needed), expected, "{label}");
        }
    }

    #[test]
    fn an_evaluation_in_a_window_is_kept() {
        for (window_start, expected, label) in [
            (None, false, "the window is not full"),
            (Some(7), false, "the oldest of the window"),
            (Some(6), false, "in the window"),
            (Some(8), true, "before the window"),
        ] {
            assert_eq!(deletes_evaluation(7, window_start), expected, "{label}");
        }
    }
}
