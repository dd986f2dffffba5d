//! `/runs`: finished runs with their scorecards, in order of acceptance, the latest first.

use askama::Template;
use renown_core::scorecard::{RunOutcome, Tier};
use renown_view::RunView;

use crate::Shell;
use crate::lists::{self, Ignored, Name};
use crate::text::{self, Form};
use crate::units;

/// Number of runs per page.
pub const ROWS: usize = 25;

/// The content of the page.
pub struct RunList<'a> {
    /// Runs in order of acceptance, the latest first.
    pub runs: &'a [RunView<'a>],
    /// Filter of the list.
    pub filter: RunFilter<'a>,
    /// Invalid filters.
    pub ignored: &'a [Ignored],
    /// Whether this is the first page.
    pub is_first: bool,
    /// Cursor of the next page.
    pub next: Option<&'a str>,
}

/// The filter of a list of runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunFilter<'a> {
    /// Only runs of this agent.
    pub agent: &'a str,
    /// Only runs in this workspace.
    pub workspace: &'a str,
    /// Only attempts at this spec.
    pub spec: &'a str,
    /// Only runs of this tier.
    pub tier: Option<Tier>,
}

impl RunFilter<'_> {
    fn is_narrow(&self) -> bool {
        let texts = [self.agent, self.workspace, self.spec];
        self.tier.is_some() || texts.iter().any(|text| !text.is_empty())
    }

    fn address(&self, cursor: &str) -> String {
        let tier = self.tier.map_or("", Tier::name);
        lists::address(
            "/runs",
            &[
                ("agent", self.agent),
                ("workspace", self.workspace),
                ("spec", self.spec),
                ("tier", tier),
                ("cursor", cursor),
            ],
        )
    }
}

/// Renders the page.
pub fn render(shell: &Shell<'_>, page: &RunList<'_>) -> askama::Result<String> {
    let rows: Vec<Row<'_>> = page.runs.iter().map(Row::of).collect();
    let is_empty = rows.is_empty() && page.is_first && !page.filter.is_narrow();
    View { shell, page, answer: answer(page), rows, is_empty }.render()
}

#[derive(Template)]
#[template(path = "runs.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    page: &'a RunList<'a>,
    answer: String,
    rows: Vec<Row<'a>>,
    is_empty: bool,
}

impl View<'_> {
    fn submit(&self) -> String {
        format!("renown runs submit runs.jsonl --server {}", self.shell.origin)
    }

    fn curl(&self) -> String {
        format!(
            "curl -s {}/v1/runs \\\n  -H \"Authorization: Bearer $KEY\" \\\n  -H 'Content-Type: application/json' \\\n  \
             -d '{{\"agent_id\":\"coder\",\"outcome\":\"completed\",\n       \"wall_ms\":84000,\"spec_id\":\"login\"}}'",
            self.shell.origin
        )
    }
}

fn answer(page: &RunList<'_>) -> String {
    let all = page.runs.len();
    let count = |outcome| page.runs.iter().filter(|run| run.outcome == outcome).count();
    let (blocked, failed) = (count(RunOutcome::Blocked), count(RunOutcome::Failed));
    let some = |count| lists::some_of(count, all, "run", "runs");
    let are = |count| if count == 1 { "is" } else { "are" };
    match (failed, blocked) {
        _ if all == 0 && page.filter.is_narrow() => "No run matches.".to_owned(),
        _ if all == 0 && page.is_first => "No run yet.".to_owned(),
        _ if all == 0 => "There are no more runs.".to_owned(),
        (0, 0) => format!("{} completed.", some(all)),
        (0, blocked) => format!("{} {} blocked.", some(blocked), are(blocked)),
        (failed, 0) => format!("{} failed.", some(failed)),
        (failed, blocked) => {
            format!("{} failed, {} {} blocked.", some(failed), text::count_word(blocked), are(blocked))
        }
    }
}

/// A row of the table.
struct Row<'a> {
    run: &'a RunView<'a>,
    id: Name,
    agent: Name,
    spec: Option<Name>,
    workspace: String,
}

impl<'a> Row<'a> {
    fn of(run: &'a RunView<'a>) -> Self {
        let score = &run.score;
        Self {
            run,
            id: Name::below("/runs", score.run_id.as_str()),
            agent: Name::below("/agents", score.agent_id.as_str()),
            spec: score.spec_id.map(|spec| Name::below("/specs", spec.as_str())),
            workspace: lists::shortened(score.workspace.as_str(), 48),
        }
    }

    /// Returns the axes that count as 50.
    fn defaulted(&self) -> String {
        self.run.score.defaulted.join(", ").replace('_', " ")
    }
}
