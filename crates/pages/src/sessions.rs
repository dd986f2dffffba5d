//! `/sessions`: the sessions of coding agents, the latest start first.

use askama::Template;
use renown_core::performance::Recommendation;
use renown_core::time::Day;
use renown_view::SessionView;
use renown_view::sessions::{MetricSummary, SessionReport, kind_name};

use crate::Shell;
use crate::lists::{self, Ignored, Name};
use crate::text::{self, Form};

/// Number of sessions per page.
pub const ROWS: usize = 25;

/// The content of the page.
pub struct SessionList<'a> {
    /// Sessions, the latest start first.
    pub sessions: &'a [SessionView<'a>],
    /// Filter of the list.
    pub filter: SessionFilter<'a>,
    /// Invalid filters.
    pub ignored: &'a [Ignored],
    /// Whether this is the first page.
    pub is_first: bool,
    /// Cursor of the next page.
    pub next: Option<&'a str>,
}

/// The filter of a list of sessions.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionFilter<'a> {
    /// Only sessions of this agent.
    pub agent: &'a str,
    /// Only sessions that began on this UTC day or later.
    pub from: Option<Day>,
    /// Only sessions that began on this UTC day or earlier.
    pub to: Option<Day>,
}

impl SessionFilter<'_> {
    fn is_narrow(&self) -> bool {
        !self.agent.is_empty() || self.from.is_some() || self.to.is_some()
    }

    fn address(&self, cursor: &str) -> String {
        let [from, to] = [self.from, self.to].map(lists::day);
        lists::address(
            "/sessions",
            &[("agent", self.agent), ("from", &from), ("to", &to), ("cursor", cursor)],
        )
    }
}

/// Renders the page.
pub fn render(shell: &Shell<'_>, page: &SessionList<'_>) -> askama::Result<String> {
    let rows: Vec<Row<'_>> = page.sessions.iter().map(Row::of).collect();
    let is_empty = rows.is_empty() && page.is_first && !page.filter.is_narrow();
    View { shell, page, answer: answer(page), rows, is_empty }.render()
}

#[derive(Template)]
#[template(path = "sessions.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    page: &'a SessionList<'a>,
    answer: String,
    rows: Vec<Row<'a>>,
    is_empty: bool,
}

impl View<'_> {
    fn submit(&self) -> String {
        format!("renown judge logs.jsonl --submit {}", self.shell.origin)
    }
}

fn answer(page: &SessionList<'_>) -> String {
    let all = page.sessions.len();
    let count = |expected: Recommendation| {
        let of = |session: &&SessionView<'_>| recommendation(session) == Some(expected);
        page.sessions.iter().filter(of).count()
    };
    let (review, doff) = (count(Recommendation::Review), count(Recommendation::Doff));
    let some = |count| lists::some_of(count, all, "session", "sessions");
    let are = |count| if count == 1 { "is" } else { "are" };
    match (doff, review) {
        _ if all == 0 && page.filter.is_narrow() => "No session matches.".to_owned(),
        _ if all == 0 && page.is_first => "No session yet.".to_owned(),
        _ if all == 0 => "There are no more sessions.".to_owned(),
        (0, 0) => format!("Nothing to review in {}.", of_these(all)),
        (0, review) => format!("{} {} rated review.", some(review), are(review)),
        (doff, 0) => format!("{} {} rated doff.", some(doff), are(doff)),
        (doff, review) => {
            format!(
                "{} {} rated doff, {} {} rated review.",
                some(doff),
                are(doff),
                text::count_word(review),
                are(review)
            )
        }
    }
}

fn of_these(all: usize) -> String {
    if all == 1 { "this session".to_owned() } else { format!("these {} sessions", text::count_word(all)) }
}

fn recommendation(session: &SessionView<'_>) -> Option<Recommendation> {
    session.performance.as_ref().map(|report| report.performance.recommendation)
}

/// Returns whether a session has evidence of a kind, such as `cost`. Without it, a page shows a dash and not the formula's default.
pub(crate) fn has_evidence(report: Option<&SessionReport<'_>>, evidence: &str) -> bool {
    report.is_some_and(|report| !report.coverage.missing.contains(&evidence))
}

/// A row of the table.
struct Row<'a> {
    session: &'a SessionView<'a>,
    path: String,
    agent: Name,
    report: Option<&'a SessionReport<'a>>,
}

impl<'a> Row<'a> {
    fn of(session: &'a SessionView<'a>) -> Self {
        Self {
            session,
            path: format!("/sessions/{}", text::segment(session.session_id.as_str())),
            agent: Name::below("/agents", session.agent_id.as_str()),
            report: session.performance.as_ref(),
        }
    }

    fn kind(&self) -> &'static str {
        self.report.map_or("–", |report| kind_name(report.agent))
    }

    fn has(&self, evidence: &str) -> bool {
        has_evidence(self.report, evidence)
    }

    fn metrics(&self) -> [(&'static str, &MetricSummary); 2] {
        let metrics = &self.session.metrics;
        [("reliability", &metrics.agent_reliability), ("consistency", &metrics.agent_consistency)]
    }
}
