//! The turns of a session: what happened between two prompts, and the signals of the trace.
//!
//! A row is a trace. A trace that was derived from telemetry is a turn, and has a lane with marks at the times of its
//! tool calls. A trace that was sent as signals only has no lane. A turn contains everything from its start to the
//! start of the next turn.

use std::collections::HashSet;
use std::fmt::Write;

use renown_core::decimal::Decimal;
use renown_core::ids::TraceId;
use renown_core::session_metrics::ReliabilityRow;
use renown_core::time::Timestamp;
use renown_view::records::{FactKind, FactView};
use renown_view::sessions::TraceView;

use super::{SessionPage, TURNS, Timeline};
use crate::lists;
use crate::svg::strip;
use crate::text::{self, Form};
use crate::units::{self, Tick};

/// Maximum number of marks with tips. With more marks, which would overlap, lanes show the calls in order, without
/// times and tips.
const TIPS_MAX: usize = 240;

/// Maximum number of ticks on the axis.
const TICKS: u64 = 6;

/// Number of consecutive failures of one tool from which they are mentioned.
const LOOP_NAMED: usize = 3;

/// The names of the signals, and the headers of their columns.
const COLUMNS: [(&str, &str); 4] = [
    ("confidence", "Confidence"),
    ("loop_detection", "Loop"),
    ("tool_correctness", "Tool"),
    ("coherence", "Coherence"),
];

/// The turns that are drawn.
pub(super) struct Turns<'a> {
    pub(super) title: String,
    pub(super) rows: Vec<Turn<'a>>,
    /// Signals that at least one trace of the session has.
    pub(super) columns: Vec<(&'static str, &'static str)>,
    pub(super) ticks: Vec<Tick>,
    /// Maximum number of calls per turn, if calls are shown in order.
    pub(super) in_order: Option<u64>,
    pub(super) looped: Option<Looped>,
    /// First turns of the previous and the next part.
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
    /// Sentences about what is not drawn.
    pub(super) left_out: String,
    pub(super) has_derived: bool,
    pub(super) has_errors: bool,
}

/// A tool that failed several times in a row.
pub(super) struct Looped {
    pub(super) tool: String,
    pub(super) times: usize,
    pub(super) turn: u32,
}

/// A trace as a row.
pub(super) struct Turn<'a> {
    /// Number of the turn; `None` for a trace that was only sent.
    pub(super) number: Option<u32>,
    pub(super) id: &'a str,
    pub(super) shown: String,
    pub(super) at: Option<Timestamp>,
    /// Its end: the start of the next turn.
    pub(super) until: Option<Timestamp>,
    pub(super) lane: Option<Lane>,
    pub(super) values: Vec<(&'static str, Option<String>)>,
    pub(super) risk: Option<Risk>,
    pub(super) flagged: bool,
}

/// The risk of a trace.
pub(super) struct Risk {
    pub(super) shown: String,
    pub(super) percent: i128,
    pub(super) worst: Option<&'static str>,
}

/// The tool calls of a turn at their time.
#[derive(Default)]
pub(super) struct Lane {
    pub(super) title: String,
    pub(super) ok: u64,
    pub(super) calls: u64,
    /// From the first to the last event, in percent.
    pub(super) span: Option<(String, String)>,
    pub(super) prompt: Option<String>,
    pub(super) marks: Vec<Mark>,
    /// If there are too many marks for tips: the path of the failed calls in order. It is drawn over the path of all
    /// calls.
    pub(super) failed: Option<String>,
}

/// A mark with a tip.
pub(super) struct Mark {
    pub(super) class: &'static str,
    pub(super) x: String,
    /// Top and bottom, on a height of 24.
    pub(super) y: (u8, u8),
    pub(super) tip: String,
}

/// The meaning of a mark.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ok,
    Failed,
    Unclear,
    ApiError,
}

impl Kind {
    fn of(fact: &FactView) -> Option<Self> {
        match (fact.kind, fact.ok) {
            (FactKind::ToolResult, Some(true)) => Some(Self::Ok),
            (FactKind::ToolResult, Some(false)) => Some(Self::Failed),
            (FactKind::ToolResult, None) => Some(Self::Unclear),
            (FactKind::ApiError, _) => Some(Self::ApiError),
            _ => None,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "err",
            Self::Unclear => "dim",
            Self::ApiError => "api",
        }
    }

    fn height(self) -> (u8, u8) {
        match self {
            Self::Ok | Self::Unclear => (6, 18),
            Self::Failed => (2, 22),
            Self::ApiError => (18, 24),
        }
    }
}

/// Returns the number of the turn, or `None` if the trace is not a turn.
fn number(session: &str, trace: &str) -> Option<u32> {
    trace.strip_prefix(session)?.strip_prefix('#')?.parse().ok()
}

/// Returns the name of a trace in a sentence.
pub(super) fn label(page: &SessionPage<'_>, trace: &str) -> String {
    match number(page.detail.session.session_id.as_str(), trace) {
        Some(number) => format!("turn {number}"),
        None => format!("trace {}", lists::shortened(trace, 40)),
    }
}

impl<'a> Turns<'a> {
    pub(super) fn of(page: &SessionPage<'a>, timeline: &Timeline<'a>) -> Self {
        let traces = &page.detail.traces;
        let first = page.part.first;
        let shown = traces.get(first..).unwrap_or_default();
        let shown = shown.get(..TURNS.min(shown.len())).unwrap_or_default();
        let has = |column: &&(&str, &str)| traces.iter().any(|trace| trace.signals.contains_key(column.0));
        let columns: Vec<(&str, &str)> = COLUMNS.iter().filter(has).copied().collect();
        let mut rows = rows(page, shown, &columns);
        let looped = fill(&mut rows, timeline);
        let turns = traces.iter().filter(|trace| number_of(page, trace).is_some()).count();
        Self {
            title: title(traces.len(), turns, first, shown.len()),
            columns,
            ticks: units::ticks(timeline.span_ms(), TICKS),
            looped,
            before: (first > 0).then(|| first.saturating_sub(TURNS) + 1),
            after: (first + shown.len() < traces.len()).then_some(first + shown.len() + 1),
            left_out: left_out(page, timeline),
            has_derived: turns > 0,
            has_errors: timeline.facts.iter().any(|happened| happened.fact.kind == FactKind::ApiError),
            in_order: rows
                .iter()
                .filter_map(|row| row.lane.as_ref().filter(|lane| lane.failed.is_some()))
                .map(|lane| lane.calls.max(1))
                .max(),
            rows,
        }
    }

    /// Whether any row has a lane.
    pub(super) fn has_lanes(&self) -> bool {
        self.rows.iter().any(|row| row.lane.is_some())
    }
}

fn number_of(page: &SessionPage<'_>, trace: &TraceView<'_>) -> Option<u32> {
    number(page.detail.session.session_id.as_str(), trace.trace_id.as_str())
}

/// Returns the title: `Seven turns`, `Turns 51–100 of 230`, `Three traces`.
fn title(traces: usize, turns: usize, first: usize, shown: usize) -> String {
    let (one, many) = if traces == turns { ("turn", "turns") } else { ("trace", "traces") };
    match (traces, shown) {
        (0, _) => "No turn yet".to_owned(),
        (1, _) => format!("One {one}"),
        (all, shown) if all == shown => format!("{} {many}", text::sentence(&text::count_word(all))),
        (all, shown) => {
            let last = text::whole((first + shown) as u64);
            format!(
                "{} {}–{last} of {}",
                text::sentence(many),
                text::whole(first as u64 + 1),
                text::whole(all as u64)
            )
        }
    }
}

fn rows<'a>(
    page: &SessionPage<'a>,
    shown: &'a [TraceView<'a>],
    columns: &[(&'static str, &'static str)],
) -> Vec<Turn<'a>> {
    let details = page.metrics.agent_reliability.metadata.details.as_ref();
    let flagged: HashSet<&str> =
        details.iter().flat_map(|details| &details.flagged_traces).map(TraceId::as_str).collect();
    let risks: std::collections::HashMap<&str, &ReliabilityRow> = details
        .iter()
        .flat_map(|details| &details.per_trace_signals.0)
        .map(|(trace, row)| (trace.as_str(), row))
        .collect();
    let row = |trace: &'a TraceView<'a>| {
        let id = trace.trace_id.as_str();
        let number = number_of(page, trace);
        let value = |(name, _): &(&'static str, &'static str)| {
            let shown = trace.signals.get(name).map(|signal| Decimal::<2>::nearest(signal.get()).to_string());
            (*name, shown)
        };
        let risk = |row: &&ReliabilityRow| {
            let risk = Decimal::<2>::nearest(row.step_risk);
            Risk { shown: risk.to_string(), percent: risk.units().min(100), worst: row.worst }
        };
        Turn {
            number,
            id,
            shown: number.map_or_else(|| lists::shortened(id, 24), |number| number.to_string()),
            at: trace.started_at,
            until: None,
            lane: None,
            values: columns.iter().map(value).collect(),
            risk: risks.get(id).map(risk),
            flagged: flagged.contains(id),
        }
    };
    shown.iter().map(row).collect()
}

/// Fills the lanes of the turns. Returns the tool with the most consecutive failures.
fn fill(rows: &mut [Turn<'_>], timeline: &Timeline<'_>) -> Option<Looped> {
    let starts: Vec<(usize, Timestamp)> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.number.is_some())
        .filter_map(|(index, row)| Some((index, row.at?)))
        .collect();
    let is_mark = |fact: &FactView| Kind::of(fact).is_some();
    let with_tips = timeline.facts.iter().filter(|happened| is_mark(happened.fact)).count() <= TIPS_MAX;
    let read_until = timeline.facts.last().map(|happened| happened.at);
    let mut looped: Option<Looped> = None;
    for (position, (index, start)) in starts.iter().enumerate() {
        let end = starts.get(position + 1).map(|(_, end)| *end).or(timeline.part.until);
        let Some(row) = rows.get_mut(*index) else { continue };
        row.until = end;
        // A turn whose records were not read has no lane.
        if timeline.part.is_cut && read_until.is_none_or(|until| *start > until) {
            continue;
        }
        let from = timeline.facts.partition_point(|happened| happened.at < *start);
        let to = timeline.facts.partition_point(|happened| end.is_none_or(|end| happened.at < end));
        let facts = timeline.facts.get(from..to).unwrap_or_default();
        row.lane = Some(lane(row, *start, facts, timeline, with_tips));
        let (tool, times) = longest_streak(facts);
        if times >= LOOP_NAMED && looped.as_ref().is_none_or(|known| times > known.times) {
            let turn = row.number.unwrap_or(0);
            looped = Some(Looped { tool: lists::shortened(tool.unwrap_or("A tool"), 60), times, turn });
        }
    }
    looped
}

/// Returns the tool with the most consecutive failures without another call between, and their number.
fn longest_streak<'f>(facts: &'f [super::Happened<'_>]) -> (Option<&'f str>, usize) {
    let calls: Vec<(Option<&str>, Option<bool>)> = facts
        .iter()
        .filter(|happened| happened.fact.kind == FactKind::ToolResult)
        .map(|happened| (happened.fact.tool.as_deref(), happened.fact.ok))
        .collect();
    let runs =
        calls.chunk_by(|a, b| a == b).filter(|run| run.first().is_some_and(|(_, ok)| *ok == Some(false)));
    let longest = runs.max_by_key(|run| run.len());
    longest.map_or((None, 0), |run| (run.first().and_then(|(tool, _)| *tool), run.len()))
}

fn lane(
    row: &Turn<'_>,
    start: Timestamp,
    facts: &[super::Happened<'_>],
    timeline: &Timeline<'_>,
    with_tips: bool,
) -> Lane {
    let mut lane = Lane {
        prompt: row.number.filter(|number| *number > 0).map(|_| timeline.x(start)),
        span: facts.last().map(|last| (timeline.x(start), timeline.x(last.at))),
        ..Lane::default()
    };
    let (mut said, mut calls): (Vec<(String, usize)>, Vec<bool>) = (Vec::new(), Vec::new());
    for happened in facts {
        let Some(kind) = Kind::of(happened.fact) else { continue };
        if kind != Kind::ApiError {
            lane.calls += 1;
            lane.ok += u64::from(kind == Kind::Ok);
        }
        let words = words(happened.fact, kind);
        if with_tips {
            lane.marks.push(Mark {
                class: kind.class(),
                x: timeline.x(happened.at),
                y: kind.height(),
                tip: format!("{}  {words}", text::tip_time(happened.at, Form::Clock)),
            });
        } else if kind != Kind::ApiError {
            calls.push(kind != Kind::Failed);
        }
        match said.last_mut() {
            Some((last, count)) if *last == words => *count += 1,
            _ => said.push((words, 1)),
        }
    }
    let parts = said.into_iter().map(|(words, count)| match count {
        1 => words,
        count => format!("{words} {count}×"),
    });
    let parts: Vec<String> = parts.collect();
    let parts = if parts.is_empty() { "no tool call".to_owned() } else { parts.join(", ") };
    lane.title = lists::shortened(&format!("Turn {}: {parts}", row.shown), 120);
    lane.failed = (!with_tips).then(|| strip(&calls, calls.len()).fail);
    lane
}

/// Returns the text of a mark.
fn words(fact: &FactView, kind: Kind) -> String {
    let tool = lists::shortened(fact.tool.as_deref().unwrap_or("unnamed tool"), 40);
    let error = fact.error_type.as_deref().map(|error| format!(" ({})", lists::shortened(error, 40)));
    match kind {
        Kind::Ok => format!("{tool} ok"),
        Kind::Failed => format!("{tool} failed{}", error.unwrap_or_default()),
        Kind::Unclear => format!("{tool}, success not reported"),
        Kind::ApiError => match fact.status {
            Some(status) => format!("API error {status}"),
            None => format!("API error{}", error.unwrap_or_default()),
        },
    }
}

/// Describes what is not drawn.
fn left_out(page: &SessionPage<'_>, timeline: &Timeline<'_>) -> String {
    let mut said = String::new();
    if page.part.is_cut {
        let _ = write!(
            said,
            "Only {} records of this part were read. Later records count for the scores, but are not drawn. ",
            text::whole(page.records.len() as u64)
        );
    }
    let Some(report) = &page.detail.session.performance else { return said };
    let drawn =
        timeline.facts.iter().filter(|happened| happened.fact.kind == FactKind::ToolResult).count() as u64;
    let all = report.performance.stats.total_tools;
    if timeline.is_whole && drawn < all {
        let calls = text::plural(all - drawn, "tool call has", "tool calls have");
        let _ = write!(said, "{calls} no time and cannot be drawn. ");
    }
    said
}
