//! `/evaluations`: verdicts on outputs in order of acceptance, the latest first.

use askama::Template;
use renown_core::reputation::Lifecycle;
use renown_core::time::Day;
use renown_view::{EvaluationView, GateView};

use crate::Shell;
use crate::lists::{self, Ignored, Name};
use crate::text::{self, Form};

/// Number of evaluations per page.
pub const ROWS: usize = 50;

/// Maximum number of failing gates in a row.
const GATES_SHOWN: usize = 3;

/// Maximum number of characters of a reason.
const REASON_SHOWN: usize = 160;

/// The content of the page.
pub struct EvaluationList<'a> {
    /// Evaluations in order of acceptance, the latest first.
    pub evaluations: &'a [EvaluationView],
    /// Filter of the list.
    pub filter: EvaluationFilter<'a>,
    /// Invalid filters.
    pub ignored: &'a [Ignored],
    /// Whether this is the first page.
    pub is_first: bool,
    /// Cursor of the next page.
    pub next: Option<&'a str>,
}

/// The filter of a list of evaluations.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvaluationFilter<'a> {
    /// Only evaluations of this agent.
    pub agent: &'a str,
    /// Only evaluations of this tool.
    pub tool: &'a str,
    /// Only evaluations with this gate. With `passed: Some(false)`, only those that it failed.
    pub gate: &'a str,
    /// Only evaluations that passed or only those that failed.
    pub passed: Option<bool>,
    /// Only evaluations on this UTC day or later.
    pub from: Option<Day>,
    /// Only evaluations on this UTC day or earlier.
    pub to: Option<Day>,
}

impl EvaluationFilter<'_> {
    fn is_narrow(&self) -> bool {
        let texts = [self.agent, self.tool, self.gate];
        self.passed.is_some()
            || self.from.is_some()
            || self.to.is_some()
            || texts.iter().any(|text| !text.is_empty())
    }

    fn verdict(&self) -> &'static str {
        match self.passed {
            None => "",
            Some(true) => "passed",
            Some(false) => "failed",
        }
    }

    fn address(&self, cursor: &str) -> String {
        let [from, to] = [self.from, self.to].map(lists::day);
        lists::address(
            "/evaluations",
            &[
                ("agent", self.agent),
                ("tool", self.tool),
                ("gate", self.gate),
                ("verdict", self.verdict()),
                ("from", &from),
                ("to", &to),
                ("cursor", cursor),
            ],
        )
    }
}

/// Renders the page.
pub fn render(shell: &Shell<'_>, page: &EvaluationList<'_>) -> askama::Result<String> {
    let rows: Vec<Row<'_>> = page.evaluations.iter().map(Row::of).collect();
    let is_empty = rows.is_empty() && page.is_first && !page.filter.is_narrow();
    View { shell, page, answer: answer(page), rows, is_empty }.render()
}

#[derive(Template)]
#[template(path = "evaluations.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    page: &'a EvaluationList<'a>,
    answer: String,
    rows: Vec<Row<'a>>,
    is_empty: bool,
}

impl View<'_> {
    fn curl(&self) -> String {
        format!(
            "curl -s {}/v1/evaluate \\\n  -H \"Authorization: Bearer $KEY\" \\\n  -H 'Content-Type: application/json' \\\n  \
             -d '{{\"agent_id\":\"research-bot\",\n       \"output\":\"Mail the report to bob@corp.io\"}}'",
            self.shell.origin
        )
    }

    /// Describes the filter in words.
    fn which(&self) -> String {
        let filter = &self.page.filter;
        let gate = match (filter.gate, filter.passed) {
            ("", _) => None,
            (gate, Some(false)) => Some(format!("failed by gate {gate}")),
            (gate, _) => Some(format!("with gate {gate}")),
        };
        let verdict = match filter.passed {
            Some(true) => Some("that passed".to_owned()),
            Some(false) if filter.gate.is_empty() => Some("that failed".to_owned()),
            Some(false) | None => None,
        };
        let of = |word: &str, value: &str| (!value.is_empty()).then(|| format!("{word} {value}"));
        let days = [("from", filter.from), ("to", filter.to)];
        let days = days.into_iter().filter_map(|(word, day)| day.map(|day| format!("{word} {day}")));
        let parts: Vec<String> = [verdict, of("of agent", filter.agent), of("of tool", filter.tool), gate]
            .into_iter()
            .flatten()
            .chain(days)
            .map(|part| lists::shortened(&part, 80))
            .collect();
        if parts.is_empty() { String::new() } else { format!("Only evaluations {}. ", lists::listed(&parts)) }
    }
}

fn answer(page: &EvaluationList<'_>) -> String {
    let all = page.evaluations.len();
    let failed = page.evaluations.iter().filter(|evaluation| !evaluation.passed).count();
    let shown = if all == ROWS && page.is_first { "the latest" } else { "these" };
    let count = text::count_word(all);
    match (all, failed) {
        (0, _) if page.filter.is_narrow() => "No evaluation matches.".to_owned(),
        (0, _) if page.is_first => "No evaluation yet.".to_owned(),
        (0, _) => "There are no more evaluations.".to_owned(),
        (1, 0) => "One evaluation, and it passed.".to_owned(),
        (1, _) => "One evaluation, and it failed.".to_owned(),
        (_, 0) => format!("All of {shown} {count} evaluations passed."),
        (all, failed) if failed == all => format!("All of {shown} {count} evaluations failed."),
        (_, failed) => {
            format!("{} of {shown} {count} evaluations failed.", text::sentence(&text::count_word(failed)))
        }
    }
}

/// A row of the table.
struct Row<'a> {
    evaluation: &'a EvaluationView,
    agent: Name,
    tool: Option<(String, &'a str)>,
    gates: Vec<Gate<'a>>,
    gates_left: usize,
    latency: String,
}

/// A gate that failed.
struct Gate<'a> {
    name: &'a str,
    reason: Option<String>,
}

impl<'a> Row<'a> {
    fn of(evaluation: &'a EvaluationView) -> Self {
        let gate = |gate: &'a GateView| Gate {
            name: &gate.name,
            reason: gate.reason.as_deref().map(|reason| lists::shortened(reason, REASON_SHOWN)),
        };
        let tool = evaluation.tool.as_ref().map(renown_core::ids::ToolName::as_str);
        Self {
            evaluation,
            agent: Name::below("/agents", evaluation.agent_id.as_str()),
            tool: tool.map(|tool| (lists::shortened(tool, 40), tool)),
            gates: evaluation.failed_gates().take(GATES_SHOWN).map(gate).collect(),
            gates_left: evaluation.failed_gates().count().saturating_sub(GATES_SHOWN),
            latency: text::cut(evaluation.latency.ms(), 2),
        }
    }

    /// Returns the score right after this evaluation, or `None` below 50 evaluations.
    fn score(&self) -> Option<u32> {
        let standing = &self.evaluation.standing;
        matches!(standing.lifecycle, Lifecycle::Active | Lifecycle::Mature).then_some(standing.score)
    }
}
