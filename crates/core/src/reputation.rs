//! # Reputation of an agent: 0–1000
//!
//! ```text
//! score = floor( 400·p/n + max(0, 250 − L/(400·n)) + 4·min(s, 50) + 3·n/10 )          n = 0 gives 0
//!         pass_rate       latency                    streak         volume
//! ```
//!
//! | symbol | meaning | unit | source |
//! |---|---|---|---|
//! | n | evaluations in the window, at most 500 | count | the agent's latest evaluations, in order of acceptance |
//! | p | evaluations in the window that passed | count | `passed` |
//! | s | streak: passes since the last failure | count | `passed` |
//! | L | sum of the latencies in the window | µs | `latency_ms`, absent = 0 |
//!
//! The same formula as a weighted sum: `pass_rate×400 + latency_score×250 + streak_score×200 + volume_score×150` with
//! `latency_score = max(0, 1 − avg_latency_ms/100)`, `streak_score = min(s, 50)/50` and
//! `volume_score = min(n, 500)/500`.
//!
//! **Why integers.** Every part is a whole number over the common denominator 4000·n, so the sum is floored exactly. In
//! floats, five failures of 7 ms each add up to 233.99…, one point short of 232.5 + 1.5 = 234.
//!
//! **Why a ring buffer.** A [`Window`] keeps p, L and s next to its entries. Adding an evaluation costs the same with
//! 1 or 500 entries, and the score never rescans them. A window can be rebuilt from the log at any time; the result
//! does not depend on how the log was split into batches.
//!
//! **What it ignores.** When evaluations happened, which gate failed, and everything older than the last 500.

mod input;
mod record;

use serde::Deserialize;
use serde_json::Value;

use crate::decimal::{Decimal, ratio, round_half_up};
use crate::explain::{Component, Explanation, Inputs};
use crate::json::or_default;
use crate::units::Micros;

pub use input::Input;
pub use record::{Lifecycle, Next, ReputationExplanation, ReputationRecord, ReputationSummary};

/// The version of this formula.
pub const FORMULA_VERSION: &str = "1";

/// Number of latest evaluations that count.
pub const WINDOW_SIZE: usize = 500;

/// Number of evaluations from which the score is public.
pub const CALIBRATED_AT: usize = 50;

const PASS_RATE_POINTS: u64 = 400;
const LATENCY_POINTS: u64 = 250;
const STREAK_POINTS_EACH: u64 = 4;
const STREAK_MAX: u64 = 50;
const VOLUME_POINTS: u64 = 150;

/// The common denominator of all parts, divided by n.
const DENOMINATOR: u64 = 4000;
/// An average of 100 000 µs costs all 250 latency points, so one point is 400 µs: L/(400·n) is 10·L over 4000·n.
const LATENCY_LOSS: u64 = 10;
/// 500 evaluations earn all 150 volume points: 3·n/10 is 1200·n² over 4000·n.
const VOLUME_GAIN: u64 = 1200;

/// One verdict on one output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Sample {
    /// Whether every gate passed.
    pub passed: bool,
    /// The latency of this evaluation; 0 if absent.
    #[serde(rename = "latency_ms", default, deserialize_with = "or_default")]
    pub latency: Micros,
}

/// The latest evaluations of one agent, at most [`WINDOW_SIZE`], with their sums.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// A ring buffer once it is full: the oldest entry is at index `oldest`.
    entries: Vec<Entry>,
    oldest: usize,
    tally: Tally,
}

/// An evaluation in four bytes, so that the windows of many agents fit in memory.
#[derive(Clone, Copy, Debug)]
struct Entry(u32);

impl Entry {
    const PASSED: u32 = 1 << 31;

    fn new(evaluation: Sample) -> Self {
        Self(evaluation.latency.us() | if evaluation.passed { Self::PASSED } else { 0 })
    }

    fn passed(self) -> bool {
        self.0 & Self::PASSED != 0
    }

    fn latency_us(self) -> u64 {
        u64::from(self.0 & !Self::PASSED)
    }
}

impl Window {
    /// Adds the next evaluation. A full window drops its oldest entry.
    pub fn push(&mut self, evaluation: Sample) {
        let entry = Entry::new(evaluation);
        match self.entries.get_mut(self.oldest) {
            Some(oldest) if self.tally.evaluations == WINDOW_SIZE as u64 => {
                self.tally = self.tally.after(Some(*oldest), entry);
                *oldest = entry;
                self.oldest = if self.oldest + 1 == WINDOW_SIZE { 0 } else { self.oldest + 1 };
            }
            _ => {
                self.tally = self.tally.after(None, entry);
                self.entries.push(entry);
            }
        }
    }

    /// Returns the sums over the window: all that a score needs.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Returns the sums the window would have after one more evaluation.
    pub fn tally_after(&self, evaluation: Sample) -> Tally {
        let full = self.tally.evaluations == WINDOW_SIZE as u64;
        let leaving = if full { self.entries.get(self.oldest).copied() } else { None };
        self.tally.after(leaving, Entry::new(evaluation))
    }

    /// Returns the sums after `ahead` evaluations that have not been pushed yet, and one more. `before` holds the
    /// sums after the `ahead` evaluations. `ahead` must be less than [`WINDOW_SIZE`], so that every dropped entry is
    /// in this window.
    pub fn tally_ahead(&self, before: Tally, ahead: usize, evaluation: Sample) -> Tally {
        let left = (self.entries.len() + ahead).checked_sub(WINDOW_SIZE);
        let leaving = left.and_then(|left| self.entries.get((self.oldest + left) % WINDOW_SIZE).copied());
        before.after(leaving, Entry::new(evaluation))
    }

    /// Returns the score after one more evaluation at the window's average latency.
    pub fn score_after(&self, passed: bool) -> u32 {
        let n = self.tally.evaluations;
        let average_us = round_half_up(u128::from(self.tally.latency_us), u128::from(n.max(1)));
        let latency = u32::try_from(average_us).ok().and_then(Micros::from_us).unwrap_or(Micros::MAX);
        self.tally_after(Sample { passed, latency }).breakdown().score()
    }

    /// Explains the score, part by part, and gives the score after the next pass or failure.
    pub fn explain(&self) -> ReputationExplanation {
        let breakdown = self.tally.breakdown();
        ReputationExplanation {
            score: breakdown.score(),
            formula_version: FORMULA_VERSION,
            components: breakdown.explain().components,
            next: Next { pass: self.score_after(true), fail: self.score_after(false) },
        }
    }
}

impl Extend<Sample> for Window {
    fn extend<I: IntoIterator<Item = Sample>>(&mut self, evaluations: I) {
        evaluations.into_iter().for_each(|evaluation| self.push(evaluation));
    }
}

impl FromIterator<Sample> for Window {
    fn from_iter<I: IntoIterator<Item = Sample>>(evaluations: I) -> Self {
        let mut window = Self::default();
        window.extend(evaluations);
        window
    }
}

/// The sums over a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    evaluations: u64,
    passed: u64,
    streak: u64,
    latency_us: u64,
}

impl Tally {
    /// Restores stored sums. Returns `None` if no window can have these sums.
    pub fn from_sums(evaluations: u64, passed: u64, streak: u64, latency_us: u64) -> Option<Self> {
        let possible = evaluations <= WINDOW_SIZE as u64
            && passed <= evaluations
            && streak <= passed
            && latency_us <= evaluations * u64::from(Micros::MAX.us());
        possible.then_some(Self { evaluations, passed, streak, latency_us })
    }

    /// Returns the sums with one more evaluation. Returns `None` if the window is full: then an entry has to be
    /// dropped, and only [`Window`] knows it.
    pub fn with(self, evaluation: Sample) -> Option<Self> {
        (self.evaluations < WINDOW_SIZE as u64).then(|| self.after(None, Entry::new(evaluation)))
    }

    fn after(self, leaving: Option<Entry>, entering: Entry) -> Self {
        let (left, left_passed, left_us) =
            leaving.map_or((0, 0, 0), |entry| (1, u64::from(entry.passed()), entry.latency_us()));
        let evaluations = self.evaluations - left + 1;
        Self {
            evaluations,
            passed: self.passed - left_passed + u64::from(entering.passed()),
            streak: if entering.passed() { (self.streak + 1).min(evaluations) } else { 0 },
            latency_us: self.latency_us - left_us + entering.latency_us(),
        }
    }

    /// Returns how many evaluations are in the window.
    pub fn evaluations(self) -> u64 {
        self.evaluations
    }

    /// Returns how many of the evaluations passed.
    pub fn passed(self) -> u64 {
        self.passed
    }

    /// Returns the number of passes since the last failure.
    pub fn streak(self) -> u64 {
        self.streak
    }

    /// Returns the sum of the latencies in microseconds.
    pub fn latency_us(self) -> u64 {
        self.latency_us
    }

    /// Computes the formula: each part as a numerator over 4000·n.
    pub fn breakdown(self) -> Breakdown {
        let n = self.evaluations;
        Breakdown {
            tally: self,
            pass_rate: PASS_RATE_POINTS * DENOMINATOR * self.passed,
            latency: (LATENCY_POINTS * DENOMINATOR * n).saturating_sub(LATENCY_LOSS * self.latency_us),
            streak: STREAK_POINTS_EACH * DENOMINATOR * n * self.streak.min(STREAK_MAX),
            volume: VOLUME_GAIN * n * n,
        }
    }
}

/// The parts of one score, exact: numerators over 4000·n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breakdown {
    tally: Tally,
    pass_rate: u64,
    latency: u64,
    streak: u64,
    volume: u64,
}

impl Breakdown {
    /// Returns the score, 0 to 1000.
    #[expect(clippy::cast_possible_truncation, reason = "the parts add up to at most 1000")]
    pub fn score(self) -> u32 {
        // At most 1000 points over 4000·n with n at most 500: the sum stays below 2^31.
        let sum = self.pass_rate + self.latency + self.streak + self.volume;
        if self.tally.evaluations == 0 { 0 } else { (sum / (DENOMINATOR * self.tally.evaluations)) as u32 }
    }

    /// Explains the score: each part in points.
    pub fn explain(self) -> Explanation {
        let Tally { evaluations, passed, streak, latency_us } = self.tally;
        let n = evaluations.max(1);
        let component = |name, inputs: Inputs, numerator: u64, max: u64| {
            let points = ratio(u128::from(numerator), u128::from(DENOMINATOR * n));
            Component::bounded(name, inputs, points, Decimal::from_units(i128::from(max) * Decimal::<6>::ONE))
        };
        let average: Decimal<3> = ratio(u128::from(latency_us), 1000 * u128::from(n));
        Explanation {
            score: Value::from(self.score()),
            formula_version: FORMULA_VERSION,
            components: vec![
                component(
                    "pass_rate",
                    [("passed", passed.into()), ("evaluations", evaluations.into())].into(),
                    self.pass_rate,
                    PASS_RATE_POINTS,
                ),
                component(
                    "latency",
                    [("avg_latency_ms", average.into())].into(),
                    self.latency,
                    LATENCY_POINTS,
                ),
                component(
                    "streak",
                    [("streak", streak.into())].into(),
                    self.streak,
                    STREAK_POINTS_EACH * STREAK_MAX,
                ),
                component("volume", [("evaluations", evaluations.into())].into(), self.volume, VOLUME_POINTS),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(evaluations: &[(usize, bool, f64)]) -> Window {
        let each = |&(times, passed, ms): &(usize, bool, f64)| {
            std::iter::repeat_n(Sample { passed, latency: Micros::from_ms(ms).unwrap() }, times)
        };
        evaluations.iter().flat_map(each).collect()
    }

    #[test]
    fn impossible_sums_are_not_restored() {
        let tally = window(&[(3, false, 7.0), (400, true, 60_000.0)]).tally();
        let back = Tally::from_sums(tally.evaluations, tally.passed, tally.streak, tally.latency_us);
        assert_eq!(back, Some(tally));
        for (evaluations, passed, streak, latency_us) in
            [(501, 0, 0, 0), (1, 2, 0, 0), (2, 1, 2, 0), (1, 0, 0, 60_000_001)]
        {
            assert_eq!(Tally::from_sums(evaluations, passed, streak, latency_us), None);
        }
    }

    #[test]
    fn tally_ahead_equals_the_tally_after_pushing() {
        for held in [0, 1, 460, 495, 500, 777] {
            let each = |number: u32| Sample {
                passed: !number.is_multiple_of(7),
                latency: Micros::from_us(number * 31).unwrap(),
            };
            let window: Window = (0..held).map(each).collect();
            let (mut pushed, mut before) = (window.clone(), window.tally());
            for ahead in 0..64 {
                let evaluation = each(held + ahead);
                before = window.tally_ahead(before, ahead as usize, evaluation);
                pushed.push(evaluation);
                assert_eq!(before, pushed.tally(), "{held} pushed, {ahead} ahead");
            }
        }
    }

    /// Each row: groups of (count, passed, latency in ms), oldest first, and the score computed by hand.
    #[test]
    fn scores_match_the_formula_computed_by_hand() {
        for (evaluations, score, why) in [
            (vec![], 0, "never evaluated"),
            (vec![(1, true, 0.0)], 654, "400 + 250 + 4 + 0.3"),
            (vec![(1, false, 0.0)], 250, "0 + 250 + 0 + 0.3"),
            (vec![(49, true, 0.0)], 860, "400 + 250 + 196 + 14.7"),
            (vec![(50, true, 0.0)], 865, "400 + 250 + 200 + 15"),
            (vec![(51, true, 0.0)], 865, "400 + 250 + 200 + 15.3: the streak is capped"),
            (vec![(499, true, 0.0)], 999, "400 + 250 + 200 + 149.7"),
            (vec![(500, true, 0.0)], 1000, "everything"),
            (vec![(500, true, 100.0)], 750, "no latency points at 100 ms"),
            (vec![(500, true, 60_000.0)], 750, "latency points never fall below 0"),
            (vec![(500, true, 99.6)], 751, "400 + 1 + 200 + 150"),
            (vec![(3, false, 0.0), (7, true, 0.0)], 561, "280 + 250 + 28 + 3"),
            (vec![(5, false, 7.0)], 234, "0 + 232.5 + 0 + 1.5: floats floor to 233"),
            (vec![(1, false, 0.0), (500, true, 0.0)], 1000, "the failure has left the window"),
            (vec![(499, true, 0.0), (1, false, 0.0)], 799, "399.2 + 250 + 0 + 150"),
        ] {
            assert_eq!(window(&evaluations).tally().breakdown().score(), score, "{why}");
        }
    }

    #[test]
    fn the_explanation_adds_up_and_gives_the_next_scores() {
        let explained = window(&[(3, false, 10.0), (7, true, 30.0)]).explain();
        let points: Vec<String> = explained.components.iter().map(|c| c.points.to_string()).collect();
        // Average 24 ms: 250 − 60 points of latency.
        assert_eq!(points, ["280.000000", "190.000000", "28.000000", "3.000000"]);
        assert_eq!(explained.score, 501);
        let lost: i128 = explained.components.iter().map(|c| c.points_lost.unwrap().units()).sum();
        assert_eq!(lost, (1000 - 501) * 1_000_000);
        // 8 of 11 → 290.9 + 190 + 32 + 3.3; 7 of 11 → 254.5 + 190 + 0 + 3.3.
        assert_eq!(explained.next, Next { pass: 516, fail: 447 });
    }

    #[test]
    fn the_next_score_of_a_full_window_drops_its_oldest_entry() {
        let full = window(&[(1, false, 0.0), (499, true, 0.0)]);
        assert_eq!(full.score_after(true), 1000);
        assert_eq!(window(&[]).score_after(true), 654);
        let mut pushed = full.clone();
        pushed.push(Sample { passed: false, latency: Micros::default() });
        assert_eq!(full.score_after(false), pushed.tally().breakdown().score());
    }
}
