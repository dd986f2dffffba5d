//! `/sessions/{session_id}`: the performance of one session, its turns, and the evidence.
//!
//! ```text
//! head: the verdict in words ─► dimensions ─► turns ─► reliability and consistency ─► cost, tools, evidence
//! ```
//!
//! A session may have 100 000 records. The page draws a part of the session, at most [`TURNS`] turns from at most
//! [`RECORDS`] records, and says what it omits. Numbers about the whole session come from its sums, which count every
//! record.

mod chart;
mod dimensions;
mod evidence;
mod reading;
mod tools;
mod turns;

use askama::Template;
use renown_core::performance::{KEEP_AT, REVIEW_AT, Recommendation};
use renown_core::session_metrics::{Metrics, SessionTraces};
use renown_core::time::{Day, Timestamp};
use renown_view::records::FactKind;
use renown_view::sessions::{CostSource, SessionReport, UNKNOWN_MASQUE, kind_name};
use renown_view::{RecordView, SessionDetail};

use crate::lists::{self, Name};
use crate::sessions::has_evidence;
use crate::text::{self, Form};
use crate::{Shell, units};
use chart::Chart;
use dimensions::Dimension;
use evidence::Evidence;
use reading::Reading;
use tools::Tools;
use turns::Turns;

/// Maximum number of turns on the page.
pub const TURNS: usize = 50;

/// Maximum number of records that are read for the turns.
pub const RECORDS: usize = 4000;

/// The content of the page.
pub struct SessionPage<'a> {
    /// Session with its traces in order.
    pub detail: &'a SessionDetail<'a>,
    /// Metrics of the traces.
    pub metrics: &'a Metrics,
    /// Traces, as the input of the metrics.
    pub session: &'a SessionTraces,
    /// Records of the drawn part, in any order.
    pub records: &'a [RecordView],
    /// Part of the session that is drawn.
    pub part: DrawnPart,
}

/// The part of a session that is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrawnPart {
    /// Index of its first trace.
    pub first: usize,
    /// Start of the next part, if there is one.
    pub until: Option<Timestamp>,
    /// Whether the part has more records than were read.
    pub is_cut: bool,
}

/// Returns the index of the first drawn trace: the requested turn; else the first of the latest turns if the session
/// is open; else the first turn.
pub fn first_drawn(traces: usize, asked: Option<usize>, is_open: bool) -> usize {
    let last = traces.saturating_sub(TURNS);
    match asked {
        Some(turn) => turn.saturating_sub(1).min(traces.saturating_sub(1)),
        None if is_open => last,
        None => 0,
    }
}

/// Renders the page.
pub fn render(shell: &Shell<'_>, page: &SessionPage<'_>) -> askama::Result<String> {
    let report = page.detail.session.performance.as_ref();
    let timeline = Timeline::of(page);
    let turns = Turns::of(page, &timeline);
    let view = View {
        shell,
        session: &page.detail.session,
        report,
        agent: Name::below("/agents", page.detail.session.agent_id.as_str()),
        verdict: Verdict::of(page, &turns),
        dimensions: report.map(dimensions::of).unwrap_or_default(),
        reading: Reading::of(page),
        chart: Chart::of(&timeline, &turns),
        tools: Tools::of(&timeline),
        evidence: Evidence::of(page),
        turns,
    };
    view.render()
}

#[derive(Template)]
#[template(path = "session.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    session: &'a renown_view::SessionView<'a>,
    report: Option<&'a SessionReport<'a>>,
    agent: Name,
    verdict: Verdict,
    dimensions: Vec<Dimension>,
    turns: Turns<'a>,
    reading: Reading,
    chart: Chart,
    tools: Tools<'a>,
    evidence: Evidence,
}

impl View<'_> {
    fn kind(&self) -> &'static str {
        self.report.map_or("only signals", |report| kind_name(report.agent))
    }

    fn masque(&self) -> Option<String> {
        let masque = self.report.map(|report| report.masque.as_ref())?;
        (masque != UNKNOWN_MASQUE).then(|| lists::shortened(masque, 60))
    }

    fn sessions_of_agent(&self) -> String {
        lists::address("/sessions", &[("agent", &self.agent.whole)])
    }

    /// Returns the address of the page that begins at another turn.
    fn at_turn(&self, turn: impl text::Given<usize>) -> String {
        let path = format!("/sessions/{}", text::segment(self.session.session_id.as_str()));
        lists::address(&path, &[("turn", &turn.given().to_string())])
    }

    fn cost_source(&self) -> &'static str {
        match self.report.map(|report| report.coverage.cost_source) {
            Some(CostSource::Reported) => "reported",
            Some(CostSource::Priced) => "priced by your table",
            Some(CostSource::Mixed) => "partly priced",
            Some(CostSource::None) | None => "not reported",
        }
    }

    /// Returns the format of the end: with its day if it differs from the day of the start.
    fn end_form(&self) -> Form {
        let day = |at: Option<Timestamp>| at.map(Day::of);
        if day(self.session.started_at) == day(self.session.ended_at) { Form::Clock } else { Form::Both }
    }

    fn has(&self, evidence: &str) -> bool {
        has_evidence(self.report, evidence)
    }
}

/// The verdict in words.
struct Verdict {
    headline: &'static str,
    lead: String,
    /// Tool that failed repeatedly, and the rest of the sentence about it.
    looped: Option<(String, String)>,
    rest: String,
}

impl Verdict {
    fn of(page: &SessionPage<'_>, turns: &Turns<'_>) -> Self {
        let session = &page.detail.session;
        let Some(report) = &session.performance else {
            return Self {
                headline: "Only signals were sent",
                lead: "No telemetry arrived for this session, so it has no performance score. Its traces are judged below."
                    .to_owned(),
                looped: None,
                rest: String::new(),
            };
        };
        let performance = &report.performance;
        let is_known = report.masque != UNKNOWN_MASQUE;
        let headline = match (performance.recommendation, is_known) {
            (Recommendation::Keep, true) => "Keep this masque on",
            (Recommendation::Keep, false) => "Keep going like this",
            (Recommendation::Review, _) => "Review before you continue",
            (Recommendation::Doff, true) => "Take this masque off",
            (Recommendation::Doff, false) => "Stop, and return to the baseline",
        };
        let stats = &performance.stats;
        let calls = match stats.total_tools {
            0 => "No tool call was reported.".to_owned(),
            all => format!(
                "{} of {} succeeded.",
                text::whole(stats.tools_ok),
                text::plural(all, "tool call", "tool calls")
            ),
        };
        let open = if session.open { "Still open, so far: " } else { "" };
        let calls = if session.open { text_lower(&calls) } else { calls };
        Self {
            headline,
            lead: format!("{open}{calls}"),
            looped: turns.looped.as_ref().map(|looped| {
                let turn = looped.turn;
                let times = text::count_word(looped.times);
                (looped.tool.clone(), format!("failed {times} times in a row in turn {turn}."))
            }),
            rest: to_next_band(performance.composite.units(), performance.recommendation),
        }
    }
}

/// Converts the first letter to lower case, for a text after a colon.
fn text_lower(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// Formats the distance to the next recommendation. The composite is in tenths.
fn to_next_band(composite: i128, recommendation: Recommendation) -> String {
    let points = |tenths: i128| format!("{}.{} points", tenths / 10, tenths % 10);
    match recommendation {
        Recommendation::Keep => match composite - KEEP_AT.units() {
            0 => format!("It is just above the limit of {KEEP_AT}."),
            above => format!("It is {} above the limit of {KEEP_AT}.", points(above)),
        },
        Recommendation::Review => format!("{} more would be keep.", points(KEEP_AT.units() - composite)),
        Recommendation::Doff => format!("{} more would be review.", points(REVIEW_AT.units() - composite)),
    }
}

/// The events of the drawn part in order: the facts of the scored OTLP signal that have a time.
struct Timeline<'a> {
    facts: Vec<Happened<'a>>,
    start: Timestamp,
    end: Timestamp,
    /// Whether single model calls report their usage, so that sums over calls do not count.
    calls_report_usage: bool,
    part: DrawnPart,
    /// Whether the part has all records of the session.
    is_whole: bool,
}

/// A fact and its time.
struct Happened<'a> {
    at: Timestamp,
    fact: &'a renown_view::records::FactView,
}

impl<'a> Timeline<'a> {
    fn of(page: &SessionPage<'a>) -> Self {
        let signal = page.detail.session.performance.as_ref().map(|report| report.coverage.signal);
        let scored = page.records.iter().filter(|record| Some(record.signal) == signal);
        let timed = scored.filter_map(|record| Some((record.at?, record)));
        let mut facts: Vec<Happened<'a>> = Vec::new();
        let mut end = None;
        for (at, record) in timed {
            end = end.max(record.until.max(Some(at)));
            facts.extend(record.facts.iter().map(|fact| Happened { at, fact }));
        }
        // At the same time, a prompt comes first.
        facts.sort_by_key(|happened| (happened.at, happened.fact.kind != FactKind::Prompt));
        let traced = page.detail.traces.get(page.part.first).and_then(|trace| trace.started_at);
        let first = facts.first().map(|happened| happened.at);
        let start = first.into_iter().chain(traced).min().unwrap_or(Timestamp::MIN);
        let reports_usage = |happened: &Happened<'_>| {
            let fact = happened.fact;
            fact.kind == FactKind::ApiRequest
                && !fact.is_sum
                && (fact.input_tokens.is_some() || fact.cost_usd.is_some())
        };
        Self {
            calls_report_usage: facts.iter().any(reports_usage),
            facts,
            start,
            end: end.unwrap_or(start).max(start),
            part: page.part,
            is_whole: page.part.first == 0 && page.part.until.is_none() && !page.part.is_cut,
        }
    }

    fn span_ms(&self) -> u64 {
        u64::try_from(self.end.millis() - self.start.millis()).unwrap_or(0).max(1)
    }

    /// Returns the milliseconds since the start.
    fn offset_ms(&self, at: Timestamp) -> u64 {
        u64::try_from(at.millis() - self.start.millis()).unwrap_or(0)
    }

    /// Returns the position of a time in percent.
    fn x(&self, at: Timestamp) -> String {
        units::position(self.offset_ms(at), self.span_ms())
    }
}

#[cfg(test)]
mod tests;
