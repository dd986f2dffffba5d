//! Drawings as SVG paths. They consist only of digits and letters of the path syntax, so templates may mark them as
//! `safe`.

use std::fmt::Write;

use renown_core::scorecard::Tier;
use renown_core::time::Day;
use renown_view::DayPoint;

use crate::text::Given;

/// Number of days in a sparkline.
pub const SPARK_DAYS: u32 = 30;

// The range of scores that a sparkline shows. Lower scores are drawn at the bottom.
const SPARK_LOWEST: u32 = 500;
const SPARK_HIGHEST: u32 = 1000;

/// A sparkline of one month: 122 × 30 pixels, four pixels per day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spark {
    /// Range from the lowest to the highest score of each day.
    pub range: String,
    /// Line through the last score of each day.
    pub line: String,
    /// End of the line.
    pub end: (u32, u32),
    /// Lowest score of all days.
    pub lowest: u32,
}

/// Draws the sparkline of the days up to today. Returns `None` if there are no days.
pub fn spark(days: &[DayPoint], today: Day) -> Option<Spark> {
    let first = today.back(SPARK_DAYS - 1).number();
    let y = |score: u32| 3 + (SPARK_HIGHEST - score.clamp(SPARK_LOWEST, SPARK_HIGHEST)) / 20;
    let (mut range, mut line, mut end, mut lowest) = (String::new(), String::new(), None, u32::MAX);
    for point in days {
        let Ok(column) = u32::try_from(point.day.number() - first) else { continue };
        if column >= SPARK_DAYS {
            continue;
        }
        let (x, last) = (2 + 4 * column, y(point.score));
        let (low, high) = (y(point.score_min), y(point.score_max));
        if low > high {
            let _ = write!(range, "M{x} {low}V{high}");
        }
        let _ = write!(line, "{}{x} {last}", if end.is_none() { 'M' } else { 'L' });
        end = Some((x, last));
        lowest = lowest.min(point.score_min);
    }
    end.map(|end| Spark { range, line, end, lowest })
}

/// Rows of marks for evaluations, the oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// Path of the marks that passed.
    pub pass: String,
    /// Path of the marks that failed.
    pub fail: String,
    /// Number that passed.
    pub passed: usize,
    /// Number that failed.
    pub failed: usize,
}

/// Draws marks in rows of `per_row`. A mark is one unit wide, the distance of rows is twelve. Neighbors with the same
/// verdict are one line.
pub fn strip(marks: &[bool], per_row: usize) -> Strip {
    let mut strip = Strip { pass: String::new(), fail: String::new(), passed: 0, failed: 0 };
    for (row, marks) in marks.chunks(per_row.max(1)).enumerate() {
        let mut start = 0;
        for run in marks.chunk_by(|a, b| a == b) {
            let (path, count) = match run.first() {
                Some(true) => (&mut strip.pass, &mut strip.passed),
                Some(false) => (&mut strip.fail, &mut strip.failed),
                None => continue,
            };
            let _ = write!(path, "M{start} {}h{}", 5 + 12 * row, run.len());
            *count += run.len();
            start += run.len();
        }
    }
    strip
}

/// Bars of days, with a separate path for the last day: 20 pixels high, six pixels per day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bars {
    /// Path of the days before the last.
    pub before: String,
    /// Path of the last day.
    pub now: String,
}

/// Draws bars, scaled to the highest. A value above 0 has at least one pixel.
pub fn bars(values: &[u64]) -> Bars {
    let most = values.iter().copied().max().unwrap_or(0).max(1);
    let mut bars = Bars { before: String::new(), now: String::new() };
    for (index, value) in values.iter().enumerate() {
        if *value == 0 {
            continue;
        }
        // Height in tenths of a pixel, at most 190.
        let tenths = (u128::from(*value) * 190 / u128::from(most)).max(10);
        let top = 200 - tenths;
        let path = if index + 1 == values.len() { &mut bars.now } else { &mut bars.before };
        let _ = write!(path, "M{}.5 20V{}.{}", 2 + 6 * index, top / 10, top % 10);
    }
    bars
}

/// Returns the paths of a tier's reached steps and of the others.
pub fn pips(tier: impl Given<Tier>) -> (&'static str, &'static str) {
    match tier.given() {
        Tier::Unranked => ("", "M2 12V9M7 12V6M12 12V3M17 12V0"),
        Tier::Bronze => ("M2 12V9", "M7 12V6M12 12V3M17 12V0"),
        Tier::Silver => ("M2 12V9M7 12V6", "M12 12V3M17 12V0"),
        Tier::Gold => ("M2 12V9M7 12V6M12 12V3", "M17 12V0"),
        Tier::Elite => ("M2 12V9M7 12V6M12 12V3M17 12V0", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(day: &str, score: u32, score_min: u32, score_max: u32) -> DayPoint {
        DayPoint {
            day: day.parse().unwrap(),
            evaluations: 1,
            passed: 1,
            score,
            score_min,
            score_max,
            change: None,
        }
    }

    #[test]
    fn a_sparkline_has_one_column_per_day() {
        let today: Day = "2026-11-30".parse().unwrap();
        let days = [
            point("2026-10-31", 700, 700, 700),
            point("2026-11-01", 1000, 1000, 1000),
            point("2026-11-30", 480, 460, 760),
        ];
        let spark = spark(&days, today).unwrap();
        assert_eq!(spark.line, "M2 3L118 28");
        assert_eq!(spark.range, "M118 28V15");
        assert_eq!((spark.end, spark.lowest), ((118, 28), 460));
        assert_eq!(super::spark(&days[..1], today), None);
    }

    #[test]
    fn neighbors_with_the_same_verdict_are_one_line() {
        let marks = [true, true, false, true, false, false];
        let strip = strip(&marks, 4);
        assert_eq!(strip.pass, "M0 5h2M3 5h1");
        assert_eq!(strip.fail, "M2 5h1M0 17h2");
        assert_eq!((strip.passed, strip.failed), (3, 3));
    }

    #[test]
    fn bars_are_scaled_to_the_highest() {
        let bars = bars(&[0, 10, 1_000_000]);
        assert_eq!((bars.before.as_str(), bars.now.as_str()), ("M8.5 20V19.0", "M14.5 20V1.0"));
        assert_eq!(super::bars(&[0, 0]).now, "");
    }
}
