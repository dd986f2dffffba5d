//! The latency of the latest evaluations, as a histogram with bars of equal width.

use renown_view::EvaluationView;

use crate::text;

/// Number of bars. The last one has no upper bound.
const BARS: usize = 14;

/// Possible widths of a bar in microseconds. The first width is used with which 95 % of the evaluations are in
/// bounded bars.
const WIDTHS_US: [u64; 16] = [
    5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 1_000_000, 5_000_000,
];

/// Height of the chart in pixels.
const HEIGHT: u64 = 104;

/// The chart, as bars and words.
pub(super) struct LatencyChart {
    pub(super) bars: Vec<Bar>,
    pub(super) average: String,
    pub(super) median: String,
    pub(super) most: String,
    pub(super) slowest: String,
    /// Position of the average in percent; `None` if it is in the last bar.
    pub(super) mean_at: Option<String>,
    pub(super) tips: String,
}

/// One bar.
pub(super) struct Bar {
    /// Left edge in percent. `top` and `height` are in pixels.
    pub(super) left: String,
    pub(super) top: u64,
    pub(super) height: u64,
    pub(super) name: String,
    pub(super) label: Option<String>,
    pub(super) evaluations: u64,
}

impl LatencyChart {
    /// Creates the chart. Returns `None` if there are no evaluations.
    pub(super) fn of(latest: &[EvaluationView]) -> Option<Self> {
        let mut us: Vec<u64> = latest.iter().map(|evaluation| u64::from(evaluation.latency.us())).collect();
        us.sort_unstable();
        let at = |share: usize| us.get((us.len() * share / 100).min(us.len().saturating_sub(1))).copied();
        let (median, most, slowest) = (at(50)?, at(95)?, us.last().copied()?);
        let bounded = BARS as u64 - 1;
        let width = WIDTHS_US.into_iter().find(|width| most < width * bounded).unwrap_or(5_000_000);
        let mut counts = [0_u64; BARS];
        for latency in &us {
            let bar = usize::try_from(latency / width).unwrap_or(BARS).min(BARS - 1);
            if let Some(count) = counts.get_mut(bar) {
                *count += 1;
            }
        }
        let tallest = counts.iter().copied().max().unwrap_or(1).max(1);
        let bars: Vec<Bar> =
            counts.iter().enumerate().map(|(index, count)| Bar::of(index, *count, width, tallest)).collect();
        let sum: u64 = us.iter().sum();
        let average = sum / us.len() as u64;
        let mean_at = (average < width * bounded).then(|| {
            let tenths = average * 1000 / (width * BARS as u64);
            format!("{}.{}%", tenths / 10, tenths % 10)
        });
        let tips = bars.iter().map(|bar| {
            format!("{}: {}", bar.name, text::plural(bar.evaluations, "evaluation", "evaluations"))
        });
        Some(Self {
            tips: tips.collect::<Vec<_>>().join("|"),
            average: ms(average),
            median: ms(median),
            most: ms(most),
            slowest: ms(slowest),
            mean_at,
            bars,
        })
    }
}

impl Bar {
    fn of(index: usize, evaluations: u64, width_us: u64, tallest: u64) -> Self {
        let index_us = index as u64 * width_us;
        let is_last = index + 1 == BARS;
        let height = if evaluations == 0 { 0 } else { (evaluations * HEIGHT / tallest).max(1) };
        let left = index * 10_000 / BARS + 30;
        Self {
            left: format!("{}.{:02}%", left / 100, left % 100),
            top: 120 - height,
            height,
            name: if is_last {
                format!("{} ms and more", edge(index_us))
            } else {
                format!("{}–{} ms", edge(index_us), edge(index_us + width_us))
            },
            label: match index {
                0 => Some("0 ms".to_owned()),
                _ if is_last => Some(format!("{}+", edge(index_us))),
                _ if index.is_multiple_of(2) && index + 2 < BARS => Some(edge(index_us)),
                _ => None,
            },
            evaluations,
        }
    }
}

/// Formats the bound of a bar in milliseconds, without trailing zeros.
fn edge(us: u64) -> String {
    match (us / 1000, us % 1000) {
        (whole, 0) => text::whole(whole),
        (whole, rest) => format!("{whole}.{}", format!("{rest:03}").trim_end_matches('0')),
    }
}

/// Formats microseconds as milliseconds: three decimals below 1 ms, one below 100 ms, else none.
fn ms(us: u64) -> String {
    match us {
        0..1_000 => format!("0.{us:03}"),
        1_000..100_000 => format!("{}.{}", us / 1000, us % 1000 / 100),
        _ => text::whole(us / 1000),
    }
}
