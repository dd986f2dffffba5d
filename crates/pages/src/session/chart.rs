//! Cost and tokens over time: the cost so far as a line, the tokens per time step as bars, and both as a table.

use std::fmt::Write;

use renown_core::decimal::Decimal;
use renown_core::time::Timestamp;
use renown_view::records::{FactKind, FactView};

use super::Timeline;
use super::turns::Turns;
use crate::text::{self, Form};
use crate::units::{self, Tick};

/// Maximum number of bars.
const BARS: u64 = 30;

/// Maximum number of flagged turns that are marked.
const BANDS: usize = 5;

// Heights of the line and the bars in pixels.
const LINE_HEIGHT: i128 = 104;
const BARS_TOP: u128 = 116;
const BARS_END: u128 = 190;

/// Cost and tokens of the drawn part.
#[derive(Default)]
pub(super) struct Chart {
    pub(super) is_empty: bool,
    /// Whether any call has a cost.
    pub(super) has_cost: bool,
    pub(super) line: String,
    /// Y and label of the horizontal lines.
    pub(super) grid: Vec<(i128, String)>,
    pub(super) total: String,
    pub(super) total_y: i128,
    pub(super) bars: Vec<Bar>,
    pub(super) bands: Vec<Band>,
    pub(super) ticks: Vec<Tick>,
    pub(super) tips: String,
    pub(super) step: String,
    pub(super) rows: Vec<Row>,
    pub(super) minutes: String,
    pub(super) is_whole: bool,
}

/// A bar: new tokens above tokens from the cache.
pub(super) struct Bar {
    pub(super) x: String,
    pub(super) width: String,
    pub(super) new: (u128, u128),
    pub(super) cached: (u128, u128),
}

/// A flagged turn.
pub(super) struct Band {
    pub(super) x: String,
    pub(super) width: String,
    pub(super) name: Option<String>,
}

/// A time step with its usage.
pub(super) struct Row {
    pub(super) at: Timestamp,
    pub(super) tokens: String,
    pub(super) cached: String,
    pub(super) cost: Option<String>,
    pub(super) so_far: Option<String>,
}

/// The usage in a time step.
#[derive(Clone, Copy, Default)]
struct Used {
    new: u128,
    cached: u128,
    cost: i128,
}

impl Used {
    fn all(self) -> u128 {
        self.new + self.cached
    }

    fn share(self) -> u128 {
        self.cached * 100 / self.all().max(1)
    }
}

impl Chart {
    pub(super) fn of(timeline: &Timeline<'_>, turns: &Turns<'_>) -> Self {
        let calls: Vec<(Timestamp, &FactView)> = timeline
            .facts
            .iter()
            .filter(|happened| {
                happened.fact.kind == FactKind::ApiRequest
                    && happened.fact.is_sum != timeline.calls_report_usage
            })
            .map(|happened| (happened.at, happened.fact))
            .collect();
        let has_cost = calls.iter().any(|(_, call)| call.cost_usd.is_some());
        if !has_cost && calls.iter().all(|(_, call)| call.input_tokens.is_none()) {
            return Self { is_empty: true, is_whole: timeline.is_whole, ..Self::default() };
        }
        let step = units::step(timeline.span_ms(), BARS);
        let steps = steps(&calls, timeline, step);
        let total: i128 = steps.iter().map(|used| used.cost).sum();
        let money = Money::of(total);
        let (tips, rows) = table(&steps, timeline, step, money, has_cost);
        Self {
            is_empty: false,
            has_cost,
            line: line(&calls, timeline, total),
            grid: grid(total, money),
            total: money.text(total),
            total_y: 12,
            bars: bars(&steps, timeline, step),
            bands: bands(timeline, turns),
            ticks: units::ticks(timeline.span_ms(), 6),
            tips,
            step: step_name(step),
            rows,
            minutes: units::duration(timeline.span_ms()),
            is_whole: timeline.is_whole,
        }
    }
}

/// The format of amounts: with more decimals if the total is small.
#[derive(Clone, Copy)]
struct Money {
    places: u32,
}

impl Money {
    fn of(total: i128) -> Self {
        Self { places: if total >= 1_000_000_000 { 2 } else { 4 } }
    }

    fn text(self, nano: i128) -> String {
        format!("${}", text::cut(Decimal::<9>::from_units(nano), self.places))
    }
}

fn cost(call: &FactView) -> i128 {
    call.cost_usd.map_or(0, Decimal::units)
}

fn steps(calls: &[(Timestamp, &FactView)], timeline: &Timeline<'_>, step: u64) -> Vec<Used> {
    let count = usize::try_from(timeline.span_ms().div_ceil(step)).unwrap_or(1).max(1);
    let mut steps = vec![Used::default(); count];
    for (at, call) in calls {
        let index = usize::try_from(timeline.offset_ms(*at) / step).unwrap_or(0).min(count - 1);
        let Some(used) = steps.get_mut(index) else { continue };
        let tokens = |count: Option<u64>| u128::from(count.unwrap_or(0));
        used.new +=
            tokens(call.input_tokens) + tokens(call.output_tokens) + tokens(call.cache_creation_tokens);
        used.cached += tokens(call.cache_read_tokens);
        used.cost += cost(call);
    }
    steps
}

/// Draws the cost so far, on a width of 1000 and a height of [`LINE_HEIGHT`]. Calls with the same x are one step.
fn line(calls: &[(Timestamp, &FactView)], timeline: &Timeline<'_>, total: i128) -> String {
    let y = |so_far: i128| LINE_HEIGHT - (LINE_HEIGHT - 16) * so_far / total.max(1);
    let (mut path, mut so_far, mut last_x) = (format!("M0 {LINE_HEIGHT}"), 0, 0);
    for (at, call) in calls.iter().filter(|(_, call)| cost(call) > 0) {
        let before = y(so_far);
        so_far += cost(call);
        let x = u128::from(timeline.offset_ms(*at)) * 1000 / u128::from(timeline.span_ms());
        if x > last_x {
            let _ = write!(path, "H{x}");
        }
        if y(so_far) != before {
            let _ = write!(path, "V{}", y(so_far));
        }
        last_x = x;
    }
    path.push_str("H1000");
    path
}

/// Returns one to three round amounts.
fn grid(total: i128, money: Money) -> Vec<(i128, String)> {
    let mut step: i128 = 1000;
    let mut factors = [2, 5, 10].into_iter().cycle();
    let mut decade = step;
    while total / step > 3 {
        let factor = factors.next().unwrap_or(10);
        step = decade * factor;
        if factor == 10 {
            decade = step;
        }
    }
    if total == 0 {
        return Vec::new();
    }
    let y = |amount: i128| LINE_HEIGHT - (LINE_HEIGHT - 16) * amount / total;
    // A label near the top would overlap the total.
    let fits = |amount: &i128| y(*amount) > 28;
    (1..=total / step)
        .map(|count| count * step)
        .filter(fits)
        .map(|amount| (y(amount), money.text(amount)))
        .collect()
}

fn bars(steps: &[Used], timeline: &Timeline<'_>, step: u64) -> Vec<Bar> {
    let most = steps.iter().map(|used| used.all()).max().unwrap_or(0).max(1);
    let span = timeline.span_ms();
    let bar = |(index, used): (usize, &Used)| {
        // The gap between bars is a sixth of a step.
        let from = step.saturating_mul(index as u64).saturating_add(step / 12).min(span);
        let tall = |tokens: u128| tokens * (BARS_END - BARS_TOP) / most;
        let (all, cached) = (tall(used.all()).max(1), tall(used.cached));
        Bar {
            x: units::position(from, span),
            width: units::position((step - step / 6).min(span - from), span),
            new: (BARS_END - all, all - cached.min(all)),
            cached: (BARS_END - cached, cached),
        }
    };
    steps.iter().enumerate().filter(|(_, used)| used.all() > 0).map(bar).collect()
}

fn bands(timeline: &Timeline<'_>, turns: &Turns<'_>) -> Vec<Band> {
    let flagged = turns.rows.iter().filter(|row| row.flagged && row.number.is_some());
    let span = timeline.span_ms();
    // Names that would overlap each other or the total are omitted.
    let mut free_from = 0;
    let band = |row: &super::turns::Turn<'_>| {
        let from = row.at.filter(|from| *from < timeline.end)?;
        let to = row.until.unwrap_or(timeline.end).min(timeline.end);
        let (from_ms, to_ms) = (timeline.offset_ms(from), timeline.offset_ms(to));
        let has_room = from_ms >= free_from && from_ms < span - span / 5;
        if has_room {
            free_from = from_ms + span / 8;
        }
        Some(Band {
            x: timeline.x(from),
            width: units::position(to_ms.saturating_sub(from_ms), span),
            name: has_room.then(|| format!("turn {}", row.shown)),
        })
    };
    flagged.filter_map(band).take(BANDS).collect()
}

/// Returns the tips of the bars, and the rows of the table.
fn table(
    steps: &[Used],
    timeline: &Timeline<'_>,
    step: u64,
    money: Money,
    has_cost: bool,
) -> (String, Vec<Row>) {
    let (mut tips, mut rows, mut so_far) = (Vec::new(), Vec::new(), 0);
    for (index, used) in steps.iter().enumerate() {
        so_far += used.cost;
        let ms = i64::try_from(step.saturating_mul(index as u64)).unwrap_or(0);
        let at = Timestamp::from_millis(timeline.start.millis().saturating_add(ms)).unwrap_or(timeline.end);
        let tokens = whole(used.all());
        let spent = if has_cost { format!("; {} so far", money.text(so_far)) } else { String::new() };
        let time = text::tip_time(at, Form::Clock);
        tips.push(format!("{time}  {tokens} tokens, {} % from the cache{spent}", used.share()));
        if used.all() > 0 || used.cost > 0 {
            rows.push(Row {
                at,
                tokens,
                cached: format!("{} %", used.share()),
                cost: has_cost.then(|| money.text(used.cost)),
                so_far: has_cost.then(|| money.text(so_far)),
            });
        }
    }
    (tips.join("|"), rows)
}

fn whole(number: u128) -> String {
    text::whole(u64::try_from(number).unwrap_or(u64::MAX))
}

/// Formats the length of a step.
fn step_name(step_ms: u64) -> String {
    let seconds = step_ms / 1000;
    match seconds {
        ..60 => text::plural(seconds, "second", "seconds"),
        60..3600 => text::plural(seconds / 60, "minute", "minutes"),
        3600..86_400 => text::plural(seconds / 3600, "hour", "hours"),
        _ => text::plural(seconds / 86_400, "day", "days"),
    }
}
