//! `/agents/{id}`: one agent, and the explanation of its score.
//!
//! From top to bottom: the score with a sentence that explains it, and the other four scores; the four components to
//! scale; the score over 30 days; the last 500 evaluations, one mark each; failing gates and tools, and the latency;
//! the identity reputation by category; recent runs and sessions.
//!
//! One template renders three views:
//!
//! | view | for | without |
//! |---|---|---|
//! | [`Audience::Member`] | logged-in users | |
//! | [`Audience::Report`] | a file for a pull request | links and forms; the score below 50 evaluations |
//! | [`Audience::Public`] | everybody, if the owner made the agent public | also without tools, gates, reasons, runs and sessions |

mod chart;
mod latency;
mod report;

use askama::Template;
use renown_core::decimal::Decimal;
use renown_core::explain::{Component, Explanation};
use renown_core::reputation::Lifecycle;
use renown_core::reputation::ReputationExplanation;
use renown_core::time::Timestamp;
use renown_view::sessions::MetricSummary;
use renown_view::{AgentBreakdown, AgentFacts, AgentHistory, AgentStanding, EvaluationView, SessionView};

use crate::Shell;
use crate::svg::{Strip, strip};
use crate::text::{self, Form, Given};
use chart::ScoreChart;
use latency::LatencyChart;

pub use report::markdown;

/// Number of marks per row of the strip.
const STRIP_ROW: usize = 100;

/// Maximum number of gates and of tools in a list.
const FAILING_SHOWN: usize = 8;

/// The readers of an agent page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Logged-in users.
    Member,
    /// Readers of a file.
    Report,
    /// Everybody.
    Public,
}

/// The content of the page.
struct AgentPage<'a> {
    audience: Audience,
    /// Everything known about the agent.
    standing: AgentStanding<'a>,
    /// Parts of its score.
    why: ReputationExplanation,
    /// At most 500 evaluations, the latest first.
    latest: &'a [EvaluationView],
    month: &'a AgentBreakdown,
    week: &'a AgentBreakdown,
    /// Contribution of each category to the identity reputation.
    identity: Explanation,
}

impl<'a> AgentPage<'a> {
    fn of(facts: &'a AgentFacts, history: &'a AgentHistory, audience: Audience) -> Self {
        Self {
            audience,
            standing: facts.standing(),
            why: history.window.explain(),
            latest: &history.latest,
            month: &history.month,
            week: &history.week,
            identity: facts.identity.breakdown().explain(),
        }
    }
}

/// Renders the page.
pub fn render(
    shell: &Shell<'_>,
    facts: &AgentFacts,
    history: &AgentHistory,
    audience: Audience,
) -> askama::Result<String> {
    View::of(shell, &AgentPage::of(facts, history, audience)).render()
}

#[derive(Template)]
#[template(path = "agent.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    page: &'a AgentPage<'a>,
    /// Whether the score is shown.
    shown: bool,
    lead: String,
    parts: Vec<Part>,
    next: [String; 2],
    chart: Option<ScoreChart>,
    strip: Strip,
    tips: String,
    gates: Vec<Failing>,
    tools: Vec<Failing>,
    latency: Option<LatencyChart>,
    categories: Vec<Category>,
}

impl<'a> View<'a> {
    fn of(shell: &'a Shell<'a>, page: &'a AgentPage<'a>) -> Self {
        let reputation = &page.standing.reputation;
        let shown = matches!(reputation.lifecycle, Lifecycle::Active | Lifecycle::Mature);
        let marks: Vec<bool> = page.latest.iter().rev().map(|evaluation| evaluation.passed).collect();
        let change = |score: u32| text::change(i64::from(score) - i64::from(reputation.score));
        let (gates, tools) = failing(page);
        Self {
            shell,
            page,
            shown,
            lead: lead(page, shown),
            parts: page.why.components.iter().scan(0, Part::of).collect(),
            next: [change(page.why.next.pass), change(page.why.next.fail)],
            chart: ScoreChart::of(page.month, page.latest).filter(|_| shown),
            strip: strip(&marks, STRIP_ROW),
            tips: page.latest.iter().rev().map(tip).collect::<Vec<_>>().join("|"),
            gates,
            tools,
            latency: LatencyChart::of(page.latest),
            categories: page.identity.components.iter().map(Category::of).collect(),
        }
    }

    fn is_member(&self) -> bool {
        self.page.audience == Audience::Member
    }

    fn is_public(&self) -> bool {
        self.page.audience == Audience::Public
    }

    fn is_report(&self) -> bool {
        self.page.audience == Audience::Report
    }

    fn id(&self) -> &str {
        self.page.standing.agent_id.as_str()
    }

    /// Returns the badge as a line of Markdown.
    fn badge(&self) -> Option<String> {
        let slug = self.page.standing.slug.as_ref().filter(|_| self.page.standing.public)?;
        let origin = self.shell.origin;
        Some(format!("[![Renown]({origin}/badge/{slug}.svg)]({origin}/public/{slug})"))
    }

    /// Returns the lists of failing gates and tools.
    fn failing(&self) -> [(&'static str, &[Failing]); 2] {
        [("Gate", &self.gates), ("Tool", &self.tools)]
    }

    /// Returns the metrics of the latest session that could be evaluated.
    fn metrics(&self) -> Vec<(&'static str, &MetricSummary)> {
        let metrics = self.page.standing.metrics.iter();
        metrics
            .flat_map(|both| {
                [("Its reliability", &both.agent_reliability), ("Its consistency", &both.agent_consistency)]
            })
            .filter(|(_, metric)| metric.evaluable)
            .collect()
    }

    fn evaluations(&self, more: &str) -> String {
        format!("/evaluations?agent={}{more}", text::segment(self.id()))
    }
}

/// Returns the start of a session, or the time of its last record if no record has a time.
fn began<'s>(session: &'s SessionView<'_>) -> &'s Timestamp {
    session.started_at.as_ref().unwrap_or(&session.last_seen)
}

/// Returns both metrics of a session.
fn both<'s>(session: &'s SessionView<'_>) -> [&'s MetricSummary; 2] {
    [&session.metrics.agent_reliability, &session.metrics.agent_consistency]
}

/// Explains the score in one or two sentences.
fn lead(page: &AgentPage<'_>, shown: bool) -> String {
    let reputation = &page.standing.reputation;
    let (evaluations, passed, streak) = (reputation.evaluations, reputation.passed, reputation.streak);
    if evaluations == 0 {
        return "No evaluation yet, so there is no reputation. The other scores do not need evaluations."
            .to_owned();
    }
    let lately = match streak {
        0 => ", and the latest one failed".to_owned(),
        _ if streak == evaluations => String::new(),
        _ => format!(" and the last {streak} passed in a row"),
    };
    let outputs = text::plural(evaluations, "output", "outputs");
    let lost = crate::overview::lost(&page.why.components);
    let rest = match 1000_u32.saturating_sub(reputation.score) {
        _ if !shown => format!(
            " The score appears with {}: below 50 a single failure weighs too much for a number to be fair.",
            text::plural(50_u64.saturating_sub(evaluations), "more evaluation", "more evaluations")
        ),
        0 => " No points are missing.".to_owned(),
        missing if !lost.is_empty() => format!(" The {missing} missing points: {lost}."),
        _ => String::new(),
    };
    format!("{passed} of its last {outputs} passed{lately}.{rest}")
}

/// One component, drawn to scale.
struct Part {
    name: &'static str,
    points: String,
    most: String,
    lost: Option<String>,
    fact: String,
    /// Points with one decimal, as the length of the bar.
    drawn: String,
    /// Its arc of the ring: start, length, and earned length.
    arc: [String; 3],
}

impl Part {
    /// Converts the next component. `before` is the sum of the maximum points of the components before it.
    fn of(before: &mut i128, part: &Component) -> Option<Self> {
        let one = 1_000_000;
        let most = part.points_max?.units() / one;
        let earned = part.points.units() / (one / 10);
        let number = |name: &str| part.inputs.get(name).map(ToString::to_string).unwrap_or_default();
        let (name, fact) = match part.name {
            "pass_rate" => ("Pass rate", format!("{} of {} passed", number("passed"), number("evaluations"))),
            "latency" => (
                "Latency",
                format!("{} ms average; 0 ms earns all, 100 ms none", short(&number("avg_latency_ms"))),
            ),
            "streak" => ("Streak", format!("{} passes in a row; 50 earn all", number("streak"))),
            "volume" => ("Volume", format!("{} of 500 evaluations", number("evaluations"))),
            other => (other, String::new()),
        };
        // A gap of three points on both sides separates the arcs.
        let (begin, length) = (*before + 3, most - 6);
        let got = earned * length / most.max(1);
        let tenths = |value: i128| format!("{}.{}", value / 10, value % 10);
        *before += most;
        let lost = text::cut(part.points_lost?, 0);
        Some(Self {
            name,
            points: text::cut(part.points, 1),
            most: most.to_string(),
            lost: (lost != "0").then_some(lost),
            fact,
            drawn: tenths(earned),
            arc: [begin.to_string(), length.to_string(), tenths(got)],
        })
    }
}

/// Cuts the text of a number to one decimal.
fn short(number: &str) -> &str {
    match number.split_once('.') {
        Some((whole, _)) => number.get(..whole.len() + 2).unwrap_or(number),
        None => number,
    }
}

/// Returns the tip of a mark of the strip.
fn tip(evaluation: &EvaluationView) -> String {
    let tool = evaluation.tool.as_ref().map(|tool| format!(" {}", tool.as_str())).unwrap_or_default();
    let failed: Vec<String> = evaluation
        .failed_gates()
        .map(|gate| match &gate.reason {
            Some(reason) => format!("{}: {reason}", gate.name),
            None => gate.name.clone(),
        })
        .collect();
    let verdict = match (evaluation.passed, failed.is_empty()) {
        (true, _) => String::new(),
        (false, true) => ", failed".to_owned(),
        (false, false) => format!(", failed {}", failed.join(", ")),
    };
    let ms = text::cut(text::millis(evaluation.latency), 1);
    text::in_tips(&format!("{}{tool} {ms} ms{verdict}", text::tip_time(evaluation.created_at, Form::Both)))
}

/// A gate or a tool with failures.
struct Failing {
    name: String,
    failed: u64,
    week: u64,
    /// Number of its evaluations; only for a tool.
    of: Option<u64>,
}

/// Returns the gates and tools that failed in the latest evaluations, the one with most failures first.
fn failing(page: &AgentPage<'_>) -> (Vec<Failing>, Vec<Failing>) {
    let mut gates: Vec<Failing> = Vec::new();
    let mut tools: Vec<Failing> = Vec::new();
    for evaluation in page.latest {
        for gate in evaluation.failed_gates() {
            let week = page
                .week
                .gates
                .iter()
                .find(|known| *known.gate == *gate.name)
                .map_or(0, |known| known.failed);
            add(&mut gates, &gate.name, 1, week).of = None;
        }
        if let Some(tool) = &evaluation.tool {
            let week = page
                .week
                .tools
                .iter()
                .find(|known| &*known.tool == tool.as_str())
                .map_or(0, |known| known.failed);
            let counted = add(&mut tools, tool.as_str(), u64::from(!evaluation.passed), week);
            counted.of = Some(counted.of.unwrap_or(0) + 1);
        }
    }
    for list in [&mut gates, &mut tools] {
        list.retain(|item| item.failed > 0);
        list.sort_by(|a, b| b.failed.cmp(&a.failed).then_with(|| a.name.cmp(&b.name)));
        list.truncate(FAILING_SHOWN);
    }
    (gates, tools)
}

fn add<'l>(list: &'l mut Vec<Failing>, name: &str, failed: u64, week: u64) -> &'l mut Failing {
    let index = list.iter().position(|known| known.name == name).unwrap_or_else(|| {
        list.push(Failing { name: name.to_owned(), failed: 0, week, of: None });
        list.len() - 1
    });
    #[expect(clippy::indexing_slicing, reason = "the index was just found or created")]
    let item = &mut list[index];
    item.failed += failed;
    item
}

/// A category of the identity reputation.
struct Category {
    name: &'static str,
    weight: String,
    mean: String,
    events: u64,
    /// Position of its dot, in percent of an axis from −1 to +1.
    at: String,
}

impl Category {
    fn of(part: &Component) -> Self {
        let number = |name: &str| {
            let written = part.inputs.get(name).and_then(serde_json::Value::as_f64).unwrap_or_default();
            Decimal::<2>::nearest(written)
        };
        let mean = number("mean");
        Self {
            name: part.name,
            weight: format!("{} %", number("weight").units()),
            mean: text::cut(mean, 2),
            events: part.inputs.get("events").and_then(serde_json::Value::as_u64).unwrap_or_default(),
            at: position(mean),
        }
    }
}

/// Returns the position of a score on an axis from −1 to +1, in percent.
fn position(score: Decimal<2>) -> String {
    let halves = (score.units().clamp(-100, 100) + 100) * 5;
    format!("{}.{}%", halves / 10, halves % 10)
}

/// Returns the position of an overall score on the same axis.
fn position_of(score: impl Given<Decimal<6>>) -> String {
    position(Decimal::from_units(score.given().units() / 10_000))
}
