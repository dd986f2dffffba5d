//! The score over 30 days: the last score of each day as a line, the range of each day as a bar, and the failures
//! below.
//!
//! A day is an **incident** if at least [`INCIDENT_FAILED`] of its evaluations and at least a quarter of them failed.
//! The day with the most failures is marked and described if it is one.

use std::collections::BTreeMap;
use std::fmt::Write;

use renown_core::time::Day;
use renown_view::{AgentBreakdown, DayPoint, EvaluationView};

use crate::text;

/// Number of days in the chart.
const DAYS: i64 = 30;

/// Minimum number of failed evaluations of an incident.
const INCIDENT_FAILED: u64 = 10;

// Heights of the two parts in pixels.
const SCORE_HEIGHT: u32 = 200;
const FAILS_HEIGHT: u64 = 40;

/// The chart, as paths and texts.
pub(super) struct ScoreChart {
    pub(super) range: String,
    pub(super) line: String,
    pub(super) fails: String,
    /// End of the line: x in percent, y in pixels.
    pub(super) end: (String, String),
    /// Scores of the horizontal lines, with their y.
    pub(super) levels: Vec<(u32, String)>,
    /// Positions and labels of the days below the chart.
    pub(super) labels: Vec<(String, String)>,
    pub(super) tips: String,
    pub(super) description: String,
    pub(super) incident: Option<Incident>,
    pub(super) days: Vec<DayPoint>,
}

/// The worst day.
pub(super) struct Incident {
    pub(super) at: String,
    pub(super) day: Day,
    pub(super) failed: u64,
    pub(super) evaluations: u64,
    pub(super) from: u32,
    pub(super) lowest: u32,
    /// Gate that failed most on that day, with its number of failures among the latest evaluations.
    pub(super) gate: Option<(String, u64)>,
}

impl ScoreChart {
    /// Creates the chart of a month. Returns `None` if there are no days.
    pub(super) fn of(month: &AgentBreakdown, latest: &[EvaluationView]) -> Option<Self> {
        let first = month.to.number() - DAYS + 1;
        let days: Vec<DayPoint> = month
            .days
            .iter()
            .filter(|day| (first..first + DAYS).contains(&day.day.number()))
            .cloned()
            .collect();
        let lowest = days.iter().map(|day| day.score_min).min()?;
        let now = days.last()?.score;
        let bottom = (lowest / 100 * 100).min(700);
        let most = days.iter().map(failed).max().unwrap_or(0).max(1);
        let (mut range, mut line, mut fails, mut end) = (String::new(), String::new(), String::new(), None);
        for day in &days {
            let (x, y) = (column(day.day, first), height(day.score, bottom));
            if day.score_min < day.score_max {
                let (low, high) = (height(day.score_min, bottom), height(day.score_max, bottom));
                let _ = write!(range, "M{x} {low}V{high}");
            }
            let _ = write!(line, "{}{x} {y}", if end.is_none() { 'M' } else { 'L' });
            if failed(day) > 0 {
                let tall = (failed(day) * (FAILS_HEIGHT - 2) / most).max(2);
                let _ = write!(fails, "M{x} {FAILS_HEIGHT}v-{tall}");
            }
            end = Some((percent(day.day, first), y));
        }
        Some(Self {
            range,
            line,
            fails,
            end: end?,
            levels: (bottom..=1000).step_by(100).map(|score| (score, height(score, bottom))).collect(),
            labels: labels(month.to, first),
            tips: days.iter().map(tip).fold(vec![String::new(); 30], place_tips(&days, first)).join("|"),
            description: format!("Lowest {lowest}, now {now}."),
            incident: incident(&days, first, latest),
            days,
        })
    }
}

fn failed(day: &DayPoint) -> u64 {
    day.evaluations.saturating_sub(day.passed)
}

/// Returns the middle of a day's column on a width of 1000, with one decimal.
fn column(day: Day, first: i64) -> String {
    let tenths = (day.number() - first) * 10_000 / DAYS + 5_000 / DAYS;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Returns the middle of a day's column in percent.
fn percent(day: Day, first: i64) -> String {
    let tenths = (day.number() - first) * 1_000 / DAYS + 500 / DAYS;
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// Returns the y of a score in pixels, with one decimal.
fn height(score: u32, bottom: u32) -> String {
    let tenths = (1000 - score.clamp(bottom, 1000)) * SCORE_HEIGHT * 10 / (1000 - bottom);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Returns a label for every seventh day, counted back from today.
fn labels(today: Day, first: i64) -> Vec<(String, String)> {
    let mut labels: Vec<(String, String)> = (1..=4)
        .rev()
        .map(|weeks| today.back(7 * weeks))
        .filter(|day| day.number() > first)
        .map(|day| (percent(day, first), text::day(day)))
        .collect();
    labels.push(("99.9%".to_owned(), "today".to_owned()));
    labels
}

fn tip(day: &DayPoint) -> String {
    format!(
        "{}: {}, from {} to {}; {}, {} failed",
        text::day(day.day),
        day.score,
        day.score_min,
        day.score_max,
        text::plural(day.evaluations, "evaluation", "evaluations"),
        text::whole(failed(day))
    )
}

/// Puts the tips of days into the columns of the chart. A day without evaluations has an empty tip.
fn place_tips(days: &[DayPoint], first: i64) -> impl FnMut(Vec<String>, String) -> Vec<String> {
    let mut columns = days
        .iter()
        .map(|day| usize::try_from(day.day.number() - first).unwrap_or(0))
        .collect::<Vec<_>>()
        .into_iter();
    move |mut tips, tip| {
        if let Some(column_tip) = columns.next().and_then(|column| tips.get_mut(column)) {
            *column_tip = tip;
        }
        tips
    }
}

fn incident(days: &[DayPoint], first: i64, latest: &[EvaluationView]) -> Option<Incident> {
    let (index, worst) = days.iter().enumerate().max_by_key(|(index, day)| (failed(day), *index))?;
    if failed(worst) < INCIDENT_FAILED || failed(worst) * 4 < worst.evaluations {
        return None;
    }
    let mut gates: BTreeMap<&str, u64> = BTreeMap::new();
    for evaluation in latest.iter().filter(|evaluation| Day::of(evaluation.created_at) == worst.day) {
        for gate in evaluation.failed_gates() {
            *gates.entry(gate.name.as_str()).or_default() += 1;
        }
    }
    let gate =
        gates.into_iter().max_by_key(|(_, failed)| *failed).map(|(gate, failed)| (gate.to_owned(), failed));
    let before =
        index.checked_sub(1).and_then(|index| days.get(index)).map_or(worst.score_max, |day| day.score);
    let left = (worst.day.number() - first) * 1_000 / DAYS;
    Some(Incident {
        at: format!("{}.{}%", left / 10, left % 10),
        day: worst.day,
        failed: failed(worst),
        evaluations: worst.evaluations,
        from: before,
        lowest: worst.score_min,
        gate,
    })
}
