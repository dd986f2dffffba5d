//! `/eval-runs`: eval runs, the last created first; `/eval-runs/{id}`: one run with its results; `/schedules`: when runs
//! start by themselves.

use askama::Template;
use renown_core::decimal::Decimal;
use renown_core::eval::{EvalStatus, MetricName};
use renown_core::ids::SessionId;
use renown_view::evals::EvalMetricSummary;
use renown_view::{EvalRunView, EvalScoreView, ScheduleView};
use serde_json::Value;

use crate::Shell;
use crate::lists::{self, Ignored, Name};
use crate::text::{self, Form};

/// Number of rows per page.
pub const ROWS: usize = 25;

/// The content of the list.
pub struct EvalRunList<'a> {
    /// Eval runs, the last created first.
    pub runs: &'a [EvalRunView<'a>],
    /// Only runs in this state.
    pub status: Option<EvalStatus>,
    /// Invalid parameters of the address.
    pub ignored: &'a [Ignored],
    /// Whether this is the first page.
    pub is_first: bool,
    /// Cursor of the next page.
    pub next: Option<&'a str>,
}

/// Renders the list.
pub fn render_list(shell: &Shell<'_>, page: &EvalRunList<'_>) -> askama::Result<String> {
    let rows: Vec<Row<'_>> = page.runs.iter().map(Row::of).collect();
    let is_empty = rows.is_empty() && page.is_first && page.status.is_none();
    List { shell, page, rows, is_empty, administers: administers(shell) }.render()
}

/// Returns whether the reader may start and stop runs.
fn administers(shell: &Shell<'_>) -> bool {
    shell.member.as_ref().is_some_and(|member| member.administers)
}

#[derive(Template)]
#[template(path = "evals.html")]
struct List<'a> {
    shell: &'a Shell<'a>,
    page: &'a EvalRunList<'a>,
    rows: Vec<Row<'a>>,
    is_empty: bool,
    administers: bool,
}

impl List<'_> {
    fn answer(&self) -> String {
        let active = self.page.runs.iter().filter(|run| run.status.is_active()).count();
        match (self.page.runs.len(), active) {
            (0, _) if self.is_empty => "No eval run yet.".to_owned(),
            (0, _) => "No eval run matches.".to_owned(),
            (all, 0) => format!("{}, none in progress.", text::plural(all as u64, "eval run", "eval runs")),
            (all, active) => {
                let all = text::plural(all as u64, "eval run", "eval runs");
                format!("{all}, {} in progress.", text::count_word(active))
            }
        }
    }

    fn command(&self) -> String {
        format!("renown eval run --watch --server {}", self.shell.origin)
    }

    fn next(&self) -> Option<String> {
        let status = self.page.status.map_or("", EvalStatus::name);
        self.page.next.map(|next| lists::address("/eval-runs", &[("status", status), ("cursor", next)]))
    }
}

/// A row of the list.
struct Row<'a> {
    run: &'a EvalRunView<'a>,
    id: Name,
    means: [Option<String>; 2],
    scope: String,
}

impl<'a> Row<'a> {
    fn of(run: &'a EvalRunView<'a>) -> Self {
        Self {
            run,
            id: Name::below("/eval-runs", run.eval_run_id.as_str()),
            means: MetricName::ALL.map(|metric| {
                let found = run.summary.iter().find(|found| found.name == metric);
                found.and_then(|found| found.mean).map(shown)
            }),
            scope: scope(run),
        }
    }
}

/// Describes which sessions a run evaluates.
fn scope(run: &EvalRunView<'_>) -> String {
    let Some(filter) = &run.filter else { return "a list of sessions".to_owned() };
    let mut parts = vec![match filter.agent_id {
        Some(agent) => format!("sessions of {}", lists::shortened(agent.as_str(), 40)),
        None => "all sessions".to_owned(),
    }];
    if filter.min_traces > 0 {
        parts.push(format!("with {}", text::plural(filter.min_traces, "trace or more", "traces or more")));
    }
    if run.settings.sampling_rate.get() < 1.0 {
        parts.push(format!("sampled at {}", run.settings.sampling_rate.get()));
    }
    parts.join(", ")
}

fn shown(score: Decimal<4>) -> String {
    text::cut(score, 2)
}

/// The content of the page of one run.
pub struct EvalRunPage<'a> {
    /// Eval run.
    pub run: &'a EvalRunView<'a>,
    /// Results on this page, sorted by session.
    pub scores: &'a [EvalScoreView<'a>],
    /// Whether only failed sessions are listed.
    pub only_failed: bool,
    /// Session after which the next page begins.
    pub next: Option<&'a SessionId>,
}

/// Renders the page of one run.
pub fn render_run(shell: &Shell<'_>, page: &EvalRunPage<'_>) -> askama::Result<String> {
    let rows = page.scores.iter().map(ScoreRow::of).collect();
    let metrics = page.run.summary.iter().map(MetricRow::of).collect();
    One { shell, page, run: page.run, rows, metrics, administers: administers(shell) }.render()
}

#[derive(Template)]
#[template(path = "eval.html")]
struct One<'a> {
    shell: &'a Shell<'a>,
    page: &'a EvalRunPage<'a>,
    run: &'a EvalRunView<'a>,
    rows: Vec<ScoreRow<'a>>,
    metrics: Vec<MetricRow>,
    administers: bool,
}

impl One<'_> {
    fn path(&self) -> String {
        Name::below("/eval-runs", self.run.eval_run_id.as_str()).path
    }

    fn title(&self) -> String {
        lists::shortened(self.run.name.unwrap_or(self.run.eval_run_id.as_str()), 80)
    }

    fn answer(&self) -> String {
        let done = text::whole(self.run.progress.done);
        let targets = text::plural(self.run.progress.targets, "session", "sessions");
        match self.run.status {
            EvalStatus::Pending => "Waiting for its turn.".to_owned(),
            EvalStatus::Running => format!("In progress: {done} of {targets}."),
            EvalStatus::Completed => {
                format!(
                    "Completed: {} evaluated.",
                    text::plural(self.run.progress.scored, "session", "sessions")
                )
            }
            EvalStatus::Failed => "Failed.".to_owned(),
            EvalStatus::Cancelled => format!("Cancelled after {done} of {targets}."),
        }
    }

    fn lead(&self) -> String {
        let progress = &self.run.progress;
        let mut parts = vec![text::sentence(&scope(self.run))];
        if progress.failed > 0 {
            parts.push(format!(
                "{} could not be evaluated",
                text::plural(progress.failed, "session", "sessions")
            ));
        }
        if progress.skipped > 0 {
            let skipped = text::plural(progress.skipped, "session was", "sessions were");
            parts.push(format!("{skipped} left out by the sample or the number of traces"));
        }
        parts.extend(self.run.error.map(|error| lists::shortened(error, 200)));
        format!("{}.", parts.join(". "))
    }

    /// Returns the share of the sessions that need no more work, in percent.
    fn percent(&self) -> u64 {
        let progress = &self.run.progress;
        (progress.done * 100).checked_div(progress.targets).unwrap_or(0).min(100)
    }

    fn can_cancel(&self) -> bool {
        self.administers && self.run.status.is_active()
    }

    fn can_retry(&self) -> bool {
        let has_failed = self.run.status == EvalStatus::Completed && self.run.progress.failed > 0;
        self.administers && (has_failed || self.run.status == EvalStatus::Failed)
    }

    fn next(&self) -> Option<String> {
        let failed = if self.page.only_failed { "1" } else { "" };
        self.page
            .next
            .map(|next| lists::address(&self.path(), &[("failed", failed), ("after", next.as_str())]))
    }
}

/// A metric over all sessions of a run.
struct MetricRow {
    name: &'static str,
    mean: Option<String>,
    percent: i128,
    passed: u64,
    evaluated: u64,
}

impl MetricRow {
    fn of(summary: &EvalMetricSummary) -> Self {
        Self {
            name: label(summary.name),
            mean: summary.mean.map(shown),
            percent: summary.mean.map_or(0, |mean| mean.units() / 100),
            passed: summary.passed,
            evaluated: summary.evaluated,
        }
    }
}

fn label(metric: MetricName) -> &'static str {
    match metric {
        MetricName::AgentReliability => "Reliability",
        MetricName::AgentConsistency => "Consistency",
    }
}

/// A session of a run.
struct ScoreRow<'a> {
    score: &'a EvalScoreView<'a>,
    session: Name,
    agent: Option<Name>,
    cells: [Cell; 2],
}

/// The result of one metric in a session.
struct Cell {
    name: &'static str,
    score: Option<String>,
    failed: bool,
}

impl<'a> ScoreRow<'a> {
    fn of(score: &'a EvalScoreView<'a>) -> Self {
        let metrics: Value =
            score.metrics.and_then(|metrics| serde_json::from_str(metrics.get()).ok()).unwrap_or_default();
        let cells = MetricName::ALL.map(|metric| {
            let found =
                metrics.get(metric.name()).filter(|found| found.get("evaluable") == Some(&Value::Bool(true)));
            let number = found.and_then(|found| found.get("score")).and_then(Value::as_f64);
            Cell {
                name: label(metric),
                score: number.map(|number| shown(Decimal::nearest(number))),
                failed: found.and_then(|found| found.get("passed")) == Some(&Value::Bool(false)),
            }
        });
        Self {
            score,
            session: Name::below("/sessions", score.session_id.as_str()),
            agent: score.agent_id.map(|agent| Name::below("/agents", agent.as_str())),
            cells,
        }
    }
}

/// The content of the page of schedules.
pub struct ScheduleList<'a> {
    /// Schedules, the last created first.
    pub schedules: &'a [ScheduleView<'a>],
    /// Error of the last request.
    pub problem: Option<&'a str>,
    /// Cursor of the next page.
    pub next: Option<&'a str>,
}

/// Renders the page of schedules.
pub fn render_schedules(shell: &Shell<'_>, page: &ScheduleList<'_>) -> askama::Result<String> {
    let rows = page.schedules.iter().map(ScheduleRow::of).collect();
    Schedules { shell, page, rows, administers: administers(shell) }.render()
}

#[derive(Template)]
#[template(path = "schedules.html")]
struct Schedules<'a> {
    shell: &'a Shell<'a>,
    page: &'a ScheduleList<'a>,
    rows: Vec<ScheduleRow<'a>>,
    administers: bool,
}

impl Schedules<'_> {
    fn answer(&self) -> String {
        let paused = self.page.schedules.iter().filter(|schedule| schedule.paused).count();
        match (self.page.schedules.len(), paused) {
            (0, _) => "No schedule yet.".to_owned(),
            (all, 0) => format!("{}.", text::plural(all as u64, "schedule", "schedules")),
            (all, paused) => {
                let all = text::plural(all as u64, "schedule", "schedules");
                format!("{all}, {} paused.", text::count_word(paused))
            }
        }
    }

    fn next(&self) -> Option<String> {
        self.page.next.map(|next| lists::address("/schedules", &[("cursor", next)]))
    }
}

/// A row of the page of schedules.
struct ScheduleRow<'a> {
    schedule: &'a ScheduleView<'a>,
    name: String,
    agent: Option<Name>,
    last: Option<Name>,
}

impl<'a> ScheduleRow<'a> {
    fn of(schedule: &'a ScheduleView<'a>) -> Self {
        Self {
            schedule,
            name: lists::shortened(schedule.name, 60),
            agent: schedule.filter.agent_id.map(|agent| Name::below("/agents", agent.as_str())),
            last: schedule.last_eval_run_id.map(|run| Name::below("/eval-runs", run.as_str())),
        }
    }
}
