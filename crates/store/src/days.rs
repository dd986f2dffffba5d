//! The sums of one agent's evaluations on one day. Lists, charts and histories read days; they never read all
//! evaluations of an agent.
//!
//! A day is the UTC day on which an evaluation happened (`created_at`).
//!
//! | value | meaning | two parts of a day are joined by |
//! |---|---|---|
//! | evaluations, passed, latency | counts, and the sum of latencies in µs | adding |
//! | latencies | evaluations by how long they took, see [`LATENCY_BOUNDS_US`] | adding |
//! | `first_at` | when the first one happened | the earlier |
//! | last | when the last one happened, its position, and the score after it | the later; at equal times the later accepted |
//! | `score_min`, `score_max` | the lowest and highest score after any of them | the lower, the higher |
//! | `first_position`, `score_before` | the first accepted, and the score before it | the first accepted |
//! | `top_position` | the last accepted | the last accepted |
//! | gates | failed evaluations by the gate that failed | adding |
//! | tools | evaluations and failures by tool | adding |
//!
//! The order of joining does not matter. So live counting, settling after a crash, `verify` and `verify --repair`
//! give the same rows.
//!
//! `score_before` is absent while the agent was calibrating: a score below 50 evaluations is not shown, so its
//! change is not shown either.
//!
//! **Retention** deletes old evaluations and keeps their days. Such a day can no longer be cut into steps: it
//! counts as a whole, at the time of its last evaluation.

use std::collections::BTreeMap;
use std::sync::Arc;

use renown_core::ids::ToolName;
use renown_core::reputation::{CALIBRATED_AT, ReputationSummary};
use renown_core::time::{Day, Timestamp};
use renown_core::units::Micros;
use serde::Deserialize;

use crate::evidence::Position;

/// Upper bounds of the latency buckets in microseconds; the last bucket has no bound.
pub const LATENCY_BOUNDS_US: [u32; 11] =
    [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];

/// The number of latency buckets.
pub const LATENCY_BUCKETS: usize = LATENCY_BOUNDS_US.len() + 1;

/// Numbers of evaluations by latency bucket.
pub type Latencies = [u64; LATENCY_BUCKETS];

/// The days of one agent.
pub type Days = BTreeMap<Day, AgentDay>;

/// An evaluation, as its day counts it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DayInput<'a> {
    pub(crate) position: Position,
    pub(crate) at: Timestamp,
    pub(crate) passed: bool,
    pub(crate) latency: Micros,
    /// The agent's reputation before it.
    pub(crate) before: ReputationSummary,
    /// The agent's score after it.
    pub(crate) score: u32,
    pub(crate) tool: Option<&'a str>,
    /// The results of the gates as a JSON array.
    pub(crate) gates: &'a str,
}

/// An evaluation that its day counts later: the same as [`DayInput`], but it owns its values.
#[derive(Clone, Debug)]
pub(crate) struct UncountedEvaluation {
    pub(crate) position: Position,
    pub(crate) at: Timestamp,
    pub(crate) latency: Micros,
    pub(crate) before: ReputationSummary,
    pub(crate) score: u32,
    pub(crate) tool: Option<ToolName>,
    /// The results of the gates if it failed. Those of a passed one are not needed.
    pub(crate) failed: Option<Arc<str>>,
}

impl UncountedEvaluation {
    pub(crate) fn input(&self) -> DayInput<'_> {
        let Self { position, at, latency, before, score, .. } = *self;
        let (tool, gates) = (self.tool.as_ref().map(ToolName::as_str), self.failed.as_deref());
        let passed = gates.is_none();
        DayInput { position, at, passed, latency, before, score, tool, gates: gates.unwrap_or_default() }
    }
}

/// The last evaluation of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Last {
    /// When it happened.
    pub at: Timestamp,
    /// Its position.
    pub position: Position,
    /// The score after it.
    pub score: u32,
}

/// Counts of a day's evaluations, of one agent or of all agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DayCounts {
    /// Evaluations.
    pub evaluations: u64,
    /// Those that passed.
    pub passed: u64,
    /// Sum of their latencies in microseconds.
    pub latency_us: u64,
    /// Evaluations by latency.
    pub latencies: Latencies,
}

impl DayCounts {
    fn of(input: &DayInput<'_>) -> Self {
        let latency_us = input.latency.us();
        let mut latencies = Latencies::default();
        let bucket = LATENCY_BOUNDS_US.iter().position(|bound| latency_us <= *bound);
        if let Some(count) = latencies.get_mut(bucket.unwrap_or(LATENCY_BOUNDS_US.len())) {
            *count = 1;
        }
        Self { evaluations: 1, passed: u64::from(input.passed), latency_us: u64::from(latency_us), latencies }
    }

    /// Adds the counts of other evaluations.
    pub fn add(&mut self, other: &Self) {
        self.evaluations += other.evaluations;
        self.passed += other.passed;
        self.latency_us += other.latency_us;
        for (sum, count) in self.latencies.iter_mut().zip(&other.latencies) {
            *sum += count;
        }
    }
}

/// The sums of one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaySums {
    /// The counts.
    pub counts: DayCounts,
    /// When the first one happened.
    pub first_at: Timestamp,
    /// The last one.
    pub last: Last,
    /// The lowest score after any of them.
    pub score_min: u32,
    /// The highest score after any of them.
    pub score_max: u32,
    /// The position of the first accepted.
    pub first_position: Position,
    /// The position of the last accepted.
    pub top_position: Position,
    /// The score before the first accepted; `None` while the agent was calibrating.
    pub score_before: Option<u32>,
}

impl DaySums {
    fn of(input: &DayInput<'_>) -> Self {
        let DayInput { position, at, before, score, .. } = *input;
        let is_calibrated = before.eval_count >= CALIBRATED_AT as u64;
        Self {
            counts: DayCounts::of(input),
            first_at: at,
            last: Last { at, position, score },
            score_min: score,
            score_max: score,
            first_position: position,
            top_position: position,
            score_before: is_calibrated.then_some(before.score),
        }
    }

    /// Joins another part of the same day.
    pub(crate) fn join(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.first_at = self.first_at.min(other.first_at);
        self.last = self.last.max(other.last);
        self.score_min = self.score_min.min(other.score_min);
        self.score_max = self.score_max.max(other.score_max);
        if other.first_position < self.first_position {
            (self.first_position, self.score_before) = (other.first_position, other.score_before);
        }
        self.top_position = self.top_position.max(other.top_position);
    }

    /// Returns the change of the score on this day; `None` if the agent was calibrating before the first accepted
    /// evaluation of the day.
    pub fn change(&self) -> Option<i64> {
        self.score_before.map(|before| i64::from(self.last.score) - i64::from(before))
    }
}

/// Evaluations of a tool, and how many of them failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolCount {
    /// Evaluations.
    pub evaluations: u64,
    /// Those that failed.
    pub failed: u64,
}

/// Failures by gate, and evaluations by tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayParts {
    /// Failed evaluations by the gate that failed.
    pub gates: BTreeMap<Box<str>, u64>,
    /// Evaluations by tool.
    pub tools: BTreeMap<Box<str>, ToolCount>,
}

impl DayParts {
    fn count(&mut self, input: &DayInput<'_>) {
        let failed = u64::from(!input.passed);
        if let Some(tool) = input.tool {
            // Look the tool up first: a new key is a new allocation.
            match self.tools.get_mut(tool) {
                Some(count) => {
                    count.evaluations += 1;
                    count.failed += failed;
                }
                None => _ = self.tools.insert(tool.into(), ToolCount { evaluations: 1, failed }),
            }
        }
        // In a passed evaluation a gate may have failed that only observes.
        if !input.passed {
            for gate in failed_gates(input.gates) {
                *self.gates.entry(gate).or_default() += 1;
            }
        }
    }

    /// Joins another part of the same day, or of another day.
    pub(crate) fn join(&mut self, other: &Self) {
        for (gate, failed) in &other.gates {
            *self.gates.entry(gate.clone()).or_default() += failed;
        }
        for (tool, count) in &other.tools {
            let sum = self.tools.entry(tool.clone()).or_default();
            sum.evaluations += count.evaluations;
            sum.failed += count.failed;
        }
    }
}

/// Returns the names of the gates that failed, each once.
fn failed_gates(gates: &str) -> Vec<Box<str>> {
    #[derive(Deserialize)]
    struct Gate {
        name: Box<str>,
        #[serde(default = "passed")]
        passed: bool,
    }
    fn passed() -> bool {
        true
    }
    let gates: Vec<Gate> = serde_json::from_str(gates).unwrap_or_default();
    let mut failed: Vec<Box<str>> =
        gates.into_iter().filter(|gate| !gate.passed).map(|gate| gate.name).collect();
    failed.sort_unstable();
    failed.dedup();
    failed
}

/// One day of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentDay {
    /// Sums of its evaluations.
    pub sums: DaySums,
    /// Failures by gate, and evaluations by tool.
    pub parts: DayParts,
}

/// Counts an evaluation in its day.
pub(crate) fn count(days: &mut Days, input: &DayInput<'_>) {
    let sums = DaySums::of(input);
    let day = days
        .entry(Day::of(input.at))
        .and_modify(|day| day.sums.join(&sums))
        .or_insert_with(|| AgentDay { sums, parts: DayParts::default() });
    day.parts.count(input);
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_794_744_000_000;

    fn input(position: i64, after_noon_ms: i64, score: u32) -> DayInput<'static> {
        DayInput {
            position: Position::of(position),
            at: Timestamp::from_millis(NOON + after_noon_ms).unwrap(),
            passed: position % 3 != 0,
            latency: Micros::from_us(u32::try_from(position * 400).unwrap()).unwrap(),
            before: ReputationSummary::new(score + 1, u64::try_from(position).unwrap()),
            score,
            tool: if position % 2 == 0 { Some("sh") } else { None },
            gates: r#"[{"name":"pii","passed":false},{"name":"size"},{"name":"pii","passed":false}]"#,
        }
    }

    fn days(inputs: &[DayInput<'_>]) -> Days {
        let mut days = Days::new();
        for input in inputs {
            count(&mut days, input);
        }
        days
    }

    #[test]
    fn a_day_adds_up() {
        let half_a_day = 12 * 3_600_000;
        let all = days(&[input(60, 5, 700), input(61, -5, 900), input(62, half_a_day, 1), input(63, 5, 650)]);
        assert_eq!(all.len(), 2);
        let AgentDay { sums, parts } = all.first_key_value().unwrap().1;
        let counts = sums.counts;
        assert_eq!((counts.evaluations, counts.passed, counts.latency_us), (3, 1, 73_600));
        assert_eq!(counts.latencies, [0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0]);
        assert_eq!(sums.last, Last { at: input(0, 5, 0).at, position: Position::of(63), score: 650 });
        assert_eq!((sums.score_min, sums.score_max), (650, 900));
        assert_eq!((sums.first_position, sums.top_position), (Position::of(60), Position::of(63)));
        assert_eq!(sums.first_at, input(0, -5, 0).at);
        assert_eq!((sums.score_before, sums.change()), (Some(701), Some(-51)));
        assert_eq!(parts.gates, [("pii".into(), 2)].into(), "a gate counts once for each evaluation");
        assert_eq!(parts.tools, [("sh".into(), ToolCount { evaluations: 1, failed: 1 })].into());
    }

    #[test]
    fn parts_of_a_day_are_joined_in_any_order() {
        let inputs: Vec<_> = (1..40)
            .map(|position| {
                input(position, (position * 7919) % 1000, u32::try_from((position * 37) % 1000).unwrap())
            })
            .collect();
        let whole = days(&inputs);
        for cut in [1, 7, 20, 38] {
            let (one, other) = inputs.split_at(cut);
            for (first, second) in [(one, other), (other, one)] {
                let mut joined = days(first);
                for (day, part) in days(second) {
                    let known = joined.get_mut(&day).unwrap();
                    known.sums.join(&part.sums);
                    known.parts.join(&part.parts);
                }
                assert_eq!(joined, whole, "cut at {cut}");
            }
        }
    }

    #[test]
    fn a_change_counts_from_a_score_that_is_shown() {
        let change = |evaluations: u64| {
            let before = ReputationSummary::new(400, evaluations);
            days(&[DayInput { before, ..input(1, 0, 300) }]).into_values().next().unwrap().sums.change()
        };
        assert_eq!(change(49), None);
        assert_eq!(change(50), Some(-100));
    }

    #[test]
    fn every_latency_has_a_bucket() {
        let bucket = |us: u32| {
            let sums = DaySums::of(&DayInput { latency: Micros::from_us(us).unwrap(), ..input(1, 0, 0) });
            sums.counts.latencies.iter().position(|count| *count == 1).unwrap()
        };
        let cases = [
            (0, 0),
            (100, 0),
            (101, 1),
            (1_000, 2),
            (100_000, 6),
            (10_000_000, 10),
            (10_000_001, 11),
            (60_000_000, 11),
        ];
        for (us, expected) in cases {
            assert_eq!(bucket(us), expected, "{us} µs");
        }
    }
}
