//! `/specs`: the specs that agents compete on, and `/specs/{spec_id}`: the ranking of one spec.

use askama::Template;
use renown_core::ids::SpecId;
use renown_core::scorecard::{BaselineSource, Tier};
use renown_core::time::Timestamp;
use renown_view::runs::{Competition, RankedRun, TieBreak};

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
    pub best: RankedRun<'a>,
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
    let rows = page.competition.ranking.iter().take(RANKS).map(Ranked::of).collect();
    let (answer, lead) = verdict(page.competition);
    One { shell, page, answer, lead, rows }.render()
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

    /// Explains the baseline of the ranking.
    fn baseline(&self) -> String {
        let Competition { baseline, baseline_source, .. } = self.page.competition;
        let runs = text::plural(baseline.runs as u64, "completed run", "completed runs");
        match (baseline.p50_ms, baseline_source) {
            (None, _) => {
                "No attempt has completed with a wall time, so the latency of every attempt counts as 50."
                    .to_owned()
            }
            (Some(p50), BaselineSource::Workspace) => format!(
                "Every attempt is compared with {}, the median of the {runs} in the workspace before the first attempt.",
                units::duration(units::whole_ms(p50))
            ),
            (Some(p50), BaselineSource::Contenders) => format!(
                "Every attempt is compared with {}, the median of the agents' shortest completed attempts: fewer than \
                 three runs of the workspace finished before them.",
                units::duration(units::whole_ms(p50))
            ),
        }
    }
}

/// Returns the headline and a sentence that explains it.
fn verdict(competition: &Competition<'_>) -> (String, String) {
    let ranking = &competition.ranking;
    let Some(first) = ranking.first() else {
        return ("No agent has attempted this spec.".to_owned(), String::new());
    };
    let name = lists::shortened(first.agent_id.as_str(), 60);
    let score = first.ranked_score.map_or("no score".to_owned(), |score| format!("{score} of 100"));
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
    match (run.ranked_score, next.ranked_score) {
        (Some(score), Some(other)) if score > other => {
            let points = u64::from(score - other);
            format!("{} ahead of {name}.", text::plural(points, "point", "points"))
        }
        (Some(_), None) => format!("The run of {name} has no score."),
        _ => {
            let decides = run.tie_decided_by.map_or("the order of acceptance", TieBreak::words);
            format!("The same score as {name}: {decides} decides.")
        }
    }
}

/// An agent with its best run.
struct Ranked<'a> {
    run: &'a RankedRun<'a>,
    agent: Name,
    path: String,
    /// The score that it got when it was accepted, if that is another one.
    own: Option<(u8, Tier)>,
    axes: Vec<RankedAxis>,
    pull_request: Option<Link<'a>>,
}

/// An axis of a ranked score.
struct RankedAxis {
    name: &'static str,
    value: u8,
    defaulted: bool,
}

impl<'a> Ranked<'a> {
    fn of(run: &'a RankedRun<'a>) -> Self {
        let bar = |name: &'static str, key: &str, value: u8| RankedAxis {
            name,
            value,
            defaulted: run.defaulted.iter().any(|known| known == key),
        };
        let axes = run.ranked_axes.map(|axes| {
            vec![
                bar("completion", "completion", axes.completion),
                bar("error rate", "error_rate", axes.error_rate),
                bar("latency", "latency", axes.latency),
                bar("resources", "resource_efficiency", axes.resource_efficiency),
            ]
        });
        Self {
            run,
            agent: Name::below("/agents", run.agent_id.as_str()),
            path: format!("/runs/{}", text::segment(run.run_id.as_str())),
            own: run.score.filter(|score| Some(*score) != run.ranked_score).map(|score| (score, run.tier)),
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
