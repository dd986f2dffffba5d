//! How a score changed over time: equal steps, the last score in each step. Steps without evaluations are left out.
//!
//! ```text
//! step k of n = [from + k·(to − from)/n, from + (k + 1)·(to − from)/n), the last one with its end
//! ```
//!
//! An evaluation counts at the time when it happened. Of two in the same millisecond, the one that was accepted
//! later counts as later.
//!
//! A day that lies within one step is added as a whole, from its sums ([`crate::days`]). Only days that a step
//! boundary cuts are read evaluation by evaluation.

use std::collections::BTreeMap;

use renown_core::time::{Day, Timestamp};

use crate::days::{DaySums, Last};
use crate::evidence::Position;

/// The steps of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistorySteps {
    from: Timestamp,
    to: Timestamp,
    count: u32,
}

/// One step of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// When the step begins.
    pub at: Timestamp,
    /// The score after its last evaluation.
    pub score: u32,
    /// Number of evaluations in it.
    pub evaluations: u64,
}

impl HistorySteps {
    /// Makes `count` equal steps. Returns `None` without steps, or if the end is before the beginning.
    pub fn new(from: Timestamp, to: Timestamp, count: u32) -> Option<Self> {
        (from <= to && count > 0).then_some(Self { from, to, count })
    }

    /// Returns the first and the last day that the steps touch.
    pub(crate) fn days(self) -> (Day, Day) {
        (Day::of(self.from), Day::of(self.to))
    }

    /// Returns whether all evaluations of a day lie in one step, or all outside of the steps.
    fn is_whole(self, sums: &DaySums) -> bool {
        let outside = sums.last.at < self.from || sums.first_at > self.to;
        let inside = |at| (self.from..=self.to).contains(&at);
        let one_step = inside(sums.first_at) && self.index(sums.first_at) == self.index(sums.last.at);
        outside || one_step
    }

    fn width_millis(self) -> i128 {
        i128::from(self.to.millis() - self.from.millis())
    }

    /// Returns the index of the step that contains a time.
    fn index(self, at: Timestamp) -> Option<u32> {
        let inside = (self.from..=self.to).contains(&at);
        let offset = i128::from(at.millis() - self.from.millis()) * i128::from(self.count);
        let index = offset / self.width_millis().max(1);
        inside.then(|| u32::try_from(index).unwrap_or(u32::MAX).min(self.count - 1))
    }

    /// Returns the first millisecond of a step.
    fn begin(self, index: u32) -> Timestamp {
        let (width, count) = (self.width_millis().max(1), i128::from(self.count));
        let offset = (i128::from(index) * width + count - 1) / count;
        let millis = self.from.millis() + i64::try_from(offset).unwrap_or_default();
        Timestamp::from_millis(millis).unwrap_or(self.to)
    }
}

/// Builds the points of a history from evaluations in any order.
pub(crate) struct PointBuilder {
    steps: HistorySteps,
    points: BTreeMap<u32, (Timestamp, Position, Point)>,
}

impl PointBuilder {
    pub(crate) fn new(steps: HistorySteps) -> Self {
        Self { steps, points: BTreeMap::new() }
    }

    /// Adds a day if no step boundary cuts it. Returns whether it did; otherwise the caller adds its evaluations.
    pub(crate) fn add_day_if_whole(&mut self, sums: &DaySums) -> bool {
        let is_whole = self.steps.is_whole(sums);
        if is_whole {
            self.add_day(sums);
        }
        is_whole
    }

    /// Adds a day as a whole at the time of its last evaluation, although a step boundary may cut it.
    pub(crate) fn add_day(&mut self, sums: &DaySums) {
        let Last { at, position, score } = sums.last;
        self.add(at, position, score, sums.counts.evaluations);
    }

    /// Adds an evaluation.
    pub(crate) fn add_evaluation(&mut self, at: Timestamp, position: Position, score: u32) {
        self.add(at, position, score, 1);
    }

    fn add(&mut self, at: Timestamp, position: Position, score: u32, evaluations: u64) {
        let Some(index) = self.steps.index(at) else { return };
        let begin = self.steps.begin(index);
        let (latest, latest_position, point) =
            self.points.entry(index).or_insert((at, position, Point { at: begin, score, evaluations: 0 }));
        point.evaluations += evaluations;
        if (at, position) > (*latest, *latest_position) {
            (*latest, *latest_position, point.score) = (at, position, score);
        }
    }

    pub(crate) fn finish(self) -> Vec<Point> {
        self.points.into_values().map(|(_, _, point)| point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_794_744_000_000 + millis).unwrap()
    }

    fn points(steps: HistorySteps, evaluations: &[(i64, i64, u32)]) -> Vec<(i64, u32, u64)> {
        let mut points = PointBuilder::new(steps);
        for &(millis, position, score) in evaluations {
            points.add_evaluation(at(millis), Position::of(position), score);
        }
        let shown = |point: Point| (point.at.millis() - at(0).millis(), point.score, point.evaluations);
        points.finish().into_iter().map(shown).collect()
    }

    #[test]
    fn each_step_has_its_last_score_and_empty_ones_are_left_out() {
        let steps = HistorySteps::new(at(0), at(100), 10).unwrap();
        let evaluations =
            [(0, 1, 10), (9, 2, 20), (10, 3, 30), (55, 4, 40), (100, 5, 50), (101, 6, 60), (-1, 7, 70)];
        let expected = vec![(0, 20, 2), (10, 30, 1), (50, 40, 1), (90, 50, 1)];
        assert_eq!(points(steps, &evaluations), expected);
        let mut backwards = evaluations;
        backwards.reverse();
        assert_eq!(points(steps, &backwards), expected, "in any order");
    }

    #[test]
    fn of_two_in_a_millisecond_the_later_accepted_is_the_last() {
        let steps = HistorySteps::new(at(0), at(0), 5).unwrap();
        assert_eq!(points(steps, &[(0, 9, 90), (0, 3, 30)]), [(0, 90, 2)]);
    }

    #[test]
    fn every_point_begins_in_its_own_step() {
        let steps = HistorySteps::new(at(0), at(7), 3).unwrap();
        for millis in 0..=7 {
            let index = steps.index(at(millis)).unwrap();
            assert_eq!(steps.index(steps.begin(index)), Some(index), "{millis}");
            assert!(steps.begin(index) <= at(millis), "{millis}");
        }
    }

    #[test]
    fn steps_need_a_time_and_a_number() {
        assert!(HistorySteps::new(at(1), at(0), 1).is_none() && HistorySteps::new(at(0), at(1), 0).is_none());
    }
}
