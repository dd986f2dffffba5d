//! The working hours of the demo agents, counted back from now.
//!
//! The month is the same at every start, on any day and at any hour: by the clocks of the agents it is always
//! Tuesday, 15:30. Only "today" is the real UTC day, because scores are compared over UTC days. The events of today
//! are compressed into the part of the day that has passed.

use renown_core::time::{Day, Timestamp};

use crate::random::Random;

pub(crate) const MINUTE_MS: i64 = 60_000;
pub(crate) const HOUR_MS: i64 = 60 * MINUTE_MS;
pub(crate) const DAY_MS: i64 = 24 * HOUR_MS;

/// Number of days in the month, including today.
pub const MONTH_DAYS: u32 = 30;

/// The current time of day by the clocks of the agents.
const LOCAL_NOW_MS: i64 = 15 * HOUR_MS + 30 * MINUTE_MS;

/// The current day of the week by the calendar of the agents; Monday is 0.
const TODAY: i64 = 1;

/// Number of working days per week.
const WORKING_DAYS: i64 = 5;

/// How long ago the events of today begin, if the day is long enough.
const STORY_MS: i64 = 6 * HOUR_MS;

/// How long ago the last event of today is, if the day is long enough.
const STORY_END_MS: i64 = 2 * MINUTE_MS;

/// The working hours of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hours {
    /// From 8 to 18, most of it around 11 and 15.
    Office,
    /// Day and night.
    Always,
    /// From 1 to 5.
    Night,
}

/// The current time, and times that are counted back from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calendar {
    now_ms: i64,
}

impl Calendar {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self { now_ms: now.millis() }
    }

    pub(crate) fn now_ms(self) -> i64 {
        self.now_ms
    }

    /// Returns the start of a day by the clocks of the agents.
    pub(crate) fn midnight_ms(self, days_back: u32) -> i64 {
        self.now_ms - LOCAL_NOW_MS - i64::from(days_back) * DAY_MS
    }

    pub(crate) fn is_weekend(days_back: u32) -> bool {
        (TODAY - i64::from(days_back)).rem_euclid(7) >= WORKING_DAYS
    }

    /// Draws a time on a day, within these hours.
    pub(crate) fn draw_ms(self, random: &mut Random, days_back: u32, hours: Hours) -> i64 {
        let mut minutes = |least, most| i64::try_from(random.between(least, most)).unwrap_or_default();
        let minute = match hours {
            // The mean of two draws, so that most times are around one of two busy hours.
            Hours::Office => match minutes(0, 1) {
                0 => i64::midpoint(minutes(8 * 60, 14 * 60), minutes(8 * 60, 14 * 60)),
                _ => i64::midpoint(minutes(12 * 60, 18 * 60), minutes(12 * 60, 18 * 60)),
            },
            Hours::Always => minutes(0, 24 * 60 - 1),
            Hours::Night => minutes(60, 5 * 60),
        };
        let within_minute = minutes(0, 59_999);
        self.midnight_ms(days_back) + minute * MINUTE_MS + within_minute
    }

    /// Returns the start of the current UTC day.
    pub(crate) fn today_ms(self) -> i64 {
        Day::of(time(self.now_ms)).start().millis()
    }

    /// Returns the start and the end of today's events. Both are on the current UTC day, even shortly after midnight.
    pub(crate) fn story_ms(self) -> (i64, i64) {
        let elapsed = self.now_ms - self.today_ms();
        let from = self.today_ms().max(self.now_ms - STORY_MS);
        (from, self.now_ms - STORY_END_MS.min(elapsed / 10))
    }

    /// Returns the time of one of today's events, which are evenly spaced.
    pub(crate) fn story_step_ms(self, step: usize, steps: usize) -> i64 {
        let (from, to) = self.story_ms();
        let whole = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        from + (to - from) * whole(step + 1) / whole(steps.max(1))
    }
}

/// Converts a time that is in range, because it is counted back from one that is.
pub(crate) fn time(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms).unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weekends_are_two_days_of_seven() {
        let weekend: Vec<u32> = (0..14).filter(|back| Calendar::is_weekend(*back)).collect();
        assert_eq!(weekend, [2, 3, 9, 10]);
    }

    #[test]
    fn todays_events_are_on_the_utc_day_even_shortly_after_midnight() {
        for text in [
            "2026-11-18T00:00:00Z",
            "2026-11-18T00:00:20Z",
            "2026-11-18T00:03:00Z",
            "2026-11-18T15:30:00Z",
            "2026-11-18T23:59:59Z",
        ] {
            let now = Timestamp::parse(text).unwrap();
            let calendar = Calendar::new(now);
            let steps: Vec<i64> = (0..40).map(|step| calendar.story_step_ms(step, 40)).collect();
            assert!(steps.is_sorted(), "{text}");
            assert!(
                steps.iter().all(|at| Day::of(time(*at)) == Day::of(now) && *at <= now.millis()),
                "{text}"
            );
        }
    }

    #[test]
    fn drawn_times_are_within_their_hours() {
        let calendar = Calendar::new(Timestamp::parse("2026-11-18T07:00:00Z").unwrap());
        let mut random = Random::new(1);
        for (hours, from, to) in [(Hours::Office, 8, 18), (Hours::Always, 0, 24), (Hours::Night, 1, 6)] {
            for _ in 0..1000 {
                let hour = (calendar.draw_ms(&mut random, 3, hours) - calendar.midnight_ms(3)) / HOUR_MS;
                assert!((from..=to).contains(&hour), "{hours:?} {hour}");
            }
        }
    }
}
