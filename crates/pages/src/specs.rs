//! `/specs`: the specs that agents compete on, and `/specs/{spec_id}`: the ranking of one spec.

use askama::Template;
use renown_core::ids::SpecId;
use renown_core::time::Timestamp;
use renown_view::runs::{Competition, RankedRun, ScoreView};

use crate::lists::{self, Ignored, Name};
use crate::text::{self, Form};
use crate::{Shell, units};

/// Number of specs per page.
pub const ROWS: usize = 25;

/// Maximum number of agents in a ranking.
pub const RANKS: usize = 100;

/// The content of the list.
pub struct SpecList<'a> {
    /// Specs, sorted by id.
    pub specs: &'a [SpecRow<'a>],
    /// Invalid parameters of the address.
    pub ignored: &'a [Ignored],
    /// Whether this is the first page.
    pub is_first: bool,
    /// Last spec of this page, if there is a next page.
    pub next: Option<&'a SpecId>,
}

/// A spec and its best attempt.
pub struct SpecRow<'a> {
    /// Spec.
    pub spec: &'a SpecId,
    /// Number of attempts.
    pub runs: u64,
    /// Number of agents that attempted it.
    pub agents: u64,
    /// End of the last attempt.
    pub finished_at: Timestamp,
    /// Best attempt.
    pub best: ScoreView<'a>,
    /// Outcome of the best attempt.
    pub outcome: &'a str,
}

impl SpecRow<'_> {
    fn name(&self) -> Name {
        Name::below("/specs", self.spec.as_str())
    }

    fn leader(&self) -> Name {
        Name::below("/agents", self.best.agent_id.as_str())
    }
}

/// Renders the list.
pub fn render(shell: &Shell<'_>, page: &SpecList<'_>) -> askama::Result<String> {
    List { shell, page, answer: answer(page) }.render()
}

#[derive(Template)]
#[template(path = "specs.html")]
struct List<'a> {
    shell: &'a Shell<'a>,
    page: &'a SpecList<'a>,
    answer: String,
}

impl List<'_> {
    fn curl(&self) -> String {
        format!(
            "curl -s {}/v1/runs \\\n  -H \"Authorization: Bearer $KEY\" \\\n  -H 'Content-Type: application/json' \\\n  \
             -d '{{\"agent_id\":\"coder\",\"spec_id\":\"login\",\n       \"outcome\":\"completed\",\"wall_ms\":84000}}'",
            self.shell.origin
        )
    }

    fn next(&self) -> Option<String> {
        self.page.next.map(|next| lists::address("/specs", &[("after", next.as_str())]))
    }
}

fn answer(page: &SpecList<'_>) -> String {
    let contested = page.specs.iter().filter(|spec| spec.agents > 1).count();
    let all = page.specs.len();
    match (all, contested) {
        (0, _) if page.is_first => "No competition yet.".to_owned(),
        (0, _) => "There are no more specs.".to_owned(),
        (all, 0) => format!("{} with one agent each.", text::plural(all as u64, "spec", "specs")),
        (1, _) => "One spec that agents compete on.".to_owned(),
        (all, 1) => format!("Agents compete on one of these {} specs.", text::count_word(all)),
        (all, count) if all == count => {
            format!("Agents compete on all of these {} specs.", text::count_word(all))
        }
        (all, count) => {
            format!("Agents compete on {} of these {} specs.", text::count_word(count), text::count_word(all))
        }
    }
}

/// The content of the page of one competition.
pub struct SpecPage<'a> {
    /// Ranking of all agents.
    pub competition: &'a Competition<'a>,
}

/// Renders the page of one competition.
pub fn render_one(shell: &Shell<'_>, page: &SpecPage<'_>) -> askama::Result<String> {
    let ranking = &page.competition.ranking;
    let rows = ranking.iter().enumerate().take(RANKS).map(|(index, run)| {
        let before = index.checked_sub(1).and_then(|before| ranking.get(before));
        Ranked::of(run, before, ranking.get(index + 1))
    });
    let (answer, lead) = verdict(page.competition);
    One { shell, page, answer, lead, rows: rows.collect() }.render()
}

#[derive(Template)]
#[template(path = "spec.html")]
struct One<'a> {
    shell: &'a Shell<'a>,
    page: &'a SpecPage<'a>,
    answer: String,
    lead: String,
    rows: Vec<Ranked<'a>>,
}

impl One<'_> {
    fn spec(&self) -> &str {
        self.page.competition.spec_id.as_str()
    }

    fn left_out(&self) -> usize {
        self.page.competition.ranking.len().saturating_sub(RANKS)
    }

    fn runs(&self) -> String {
        lists::address("/runs", &[("spec", self.spec())])
    }
}

/// Returns the headline and a sentence that explains it.
fn verdict(competition: &Competition<'_>) -> (String, String) {
    let ranking = &competition.ranking;
    let Some(first) = ranking.first() else {
        return ("No agent has attempted this spec.".to_owned(), String::new());
    };
    let name = lists::shortened(first.agent_id.as_str(), 60);
    let score = first.score.map_or("no score".to_owned(), |score| format!("{score} of 100"));
    let answer = match (competition.winner, ranking.len()) {
        (None, _) => "No agent has completed this spec yet.".to_owned(),
        (Some(_), 1) => format!("{name} is the only agent, with {score}."),
        (Some(_), _) => format!("{name} won, with {score}."),
    };
    let lead = match (ranking.get(1), competition.winner) {
        (Some(second), Some(_)) => ahead(first, second),
        (Some(_), None) => format!("{name} came furthest, with {score}."),
        (None, None) => format!("{name} is the only agent that attempted it, with {score}."),
        (None, Some(_)) => "No other agent has attempted it.".to_owned(),
    };
    (answer, lead)
}

/// Explains why a run is ranked before the next one.
fn ahead(run: &RankedRun<'_>, next: &RankedRun<'_>) -> String {
    let name = lists::shortened(next.agent_id.as_str(), 60);
    match (run.score, next.score) {
        (Some(score), Some(other)) if score > other => {
            let points = u64::from(score - other);
            format!("{} ahead of {name}.", text::plural(points, "point", "points"))
        }
        (Some(_), None) => format!("The run of {name} has no score."),
        _ => format!("The same score as {name}: {} decides.", decided_by(run, next)),
    }
}

/// Returns what decides between two runs with the same score.
fn decided_by(run: &RankedRun<'_>, next: &RankedRun<'_>) -> &'static str {
    let of = |run: &RankedRun<'_>| run.axes.map(|axes| (axes.completion, axes.error_rate));
    match (of(run), of(next)) {
        (Some((completion, _)), Some((other, _))) if completion != other => "completion",
        (Some((_, rate)), Some((_, other))) if rate != other => "the error rate",
        _ if run.wall_ms != next.wall_ms => "the wall time",
        _ => "the earlier finish",
    }
}

/// An agent with its best run.
struct Ranked<'a> {
    run: &'a RankedRun<'a>,
    agent: Name,
    path: String,
    /// What decided between it and a neighbor with the same score.
    tie: Option<&'static str>,
    axes: Vec<(&'static str, u8)>,
    pull_request: Option<Link<'a>>,
}

impl<'a> Ranked<'a> {
    fn of(run: &'a RankedRun<'a>, before: Option<&RankedRun<'_>>, next: Option<&RankedRun<'_>>) -> Self {
        let before = before.filter(|before| before.score == run.score).map(|before| decided_by(before, run));
        let next = next.filter(|next| next.score == run.score).map(|next| decided_by(run, next));
        let axes = run.axes.map(|axes| {
            vec![
                ("completion", axes.completion),
                ("error rate", axes.error_rate),
                ("latency", axes.latency),
                ("resources", axes.resource_efficiency),
            ]
        });
        Self {
            run,
            agent: Name::below("/agents", run.agent_id.as_str()),
            path: format!("/runs/{}", text::segment(run.run_id.as_str())),
            tie: before.or(next),
            axes: axes.unwrap_or_default(),
            pull_request: run.pull_request.map(Link::of),
        }
    }
}

/// The address of a pull request. Only HTTP addresses become links.
pub(crate) struct Link<'a> {
    pub(crate) address: &'a str,
    pub(crate) is_http: bool,
    pub(crate) shown: String,
}

impl<'a> Link<'a> {
    pub(crate) fn of(address: &'a str) -> Self {
        let starts = |scheme: &str| {
            address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        let shown = ["https://", "http://"]
            .into_iter()
            .find_map(|scheme| starts(scheme).then(|| address.get(scheme.len()..).unwrap_or_default()));
        Self { address, is_http: shown.is_some(), shown: lists::shortened(shown.unwrap_or(address), 60) }
    }
}
