//! `/`: the agents by reputation, and what needs attention first.
//!
//! From top to bottom: the answer in words, at most three items that need attention ([`crate::attention`]), totals of
//! the day and the week, and the list of agents. If there are no agents, the page explains how to start.

use askama::Template;
use renown_core::explain::{Component, Explanation};
use renown_core::ids::AgentId;
use renown_core::reputation::Lifecycle;
use renown_core::time::Day;
use renown_view::overview::{DayTotals, Totals};
use renown_view::{AgentRow, EvaluationView, Overview};

use crate::Shell;
use crate::attention::{Cause, Count, in_common};
use crate::svg::{Bars, Spark, bars, spark};
use crate::text::{self, Form};

/// Number of agents per page.
pub const ROWS: usize = 25;

/// Number of days in the bars next to a total.
const BAR_DAYS: u32 = 14;

/// Number of days in a week.
const WEEK: u32 = 7;

/// The content of the page.
#[derive(Debug)]
pub struct OverviewPage<'a> {
    /// Totals, changes and failing gates.
    pub overview: &'a Overview,
    /// Items that need attention, and how many there are in all.
    pub attention: (Vec<Attention>, Count),
    /// Threshold below which a score needs attention.
    pub threshold: u32,
    /// Agents in the requested order.
    pub agents: &'a [AgentRow],
    /// Rank of the first agent on this page, from 1.
    pub first: usize,
    /// Address of the next page.
    pub next: Option<String>,
    /// Filter and order of the list.
    pub filter: Filter<'a>,
    /// Ports for telemetry, shown at the first start: gRPC, then HTTP.
    pub otlp: [Option<u16>; 2],
}

/// The filter and order of the list of agents.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// Part of an agent id.
    pub q: &'a str,
    /// `score`, `last_seen`, `name` or `evaluations`.
    pub sort: &'a str,
    /// Lifecycle, or empty for all.
    pub lifecycle: &'a str,
    /// `today`, `30d`, or empty for any time.
    pub seen: &'a str,
}

impl Filter<'_> {
    /// Whether the filter excludes any agents.
    fn is_narrow(&self) -> bool {
        !(self.q.is_empty() && self.lifecycle.is_empty() && self.seen.is_empty())
    }

    /// Returns the address of the same list in another order.
    fn sorted(&self, sort: &str) -> String {
        let mut query: Vec<String> = Vec::new();
        let sort = if sort == "score" { "" } else { sort };
        for (name, value) in
            [("q", self.q), ("lifecycle", self.lifecycle), ("seen", self.seen), ("sort", sort)]
        {
            if !value.is_empty() {
                query.push(format!("{name}={}", text::segment(value)));
            }
        }
        if query.is_empty() { "/".to_owned() } else { format!("/?{}", query.join("&")) }
    }
}

/// Something that needs attention, with the latest evaluations of its agent.
#[derive(Debug)]
pub struct Attention {
    /// Reason.
    pub cause: Cause,
    /// At most 50 evaluations of the agent, the latest first.
    pub latest: Vec<EvaluationView>,
    /// Parts of the agent's score.
    pub parts: Option<Explanation>,
}

/// Renders the page.
pub fn render(shell: &Shell<'_>, page: &OverviewPage<'_>) -> askama::Result<String> {
    if page.overview.agents == 0 && page.agents.is_empty() && !page.filter.is_narrow() {
        return Start { shell, otlp: page.otlp }.render();
    }
    let items = page.attention.0.iter().map(|item| Item::of(item, page.threshold)).collect();
    let alert: Vec<&str> =
        page.attention.0.iter().filter_map(|item| item.cause.agent()).map(AgentId::as_str).collect();
    let today = Day::of(shell.now);
    let rows = page.agents.iter().enumerate().map(|(index, row)| {
        let rank = (page.filter.sort == "score" && !page.filter.is_narrow()).then_some(page.first + index);
        Row::of(row, rank, today, alert.contains(&row.agent_id.as_str()))
    });
    let view = View {
        shell,
        page,
        answer: answer(page),
        items,
        totals: totals(page.overview),
        rows: rows.collect(),
    };
    view.render()
}

#[derive(Template)]
#[template(path = "overview.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    page: &'a OverviewPage<'a>,
    answer: (String, String),
    items: Vec<Item<'a>>,
    totals: Vec<Total>,
    rows: Vec<Row<'a>>,
}

/// The page before any data has arrived.
#[derive(Template)]
#[template(path = "start.html")]
struct Start<'a> {
    shell: &'a Shell<'a>,
    otlp: [Option<u16>; 2],
}

impl Start<'_> {
    fn curl(&self) -> String {
        format!(
            "curl -s {}/v1/evaluate \\\n  -H \"Authorization: Bearer $KEY\" \\\n  -H 'Content-Type: application/json' \\\n  \
             -d '{{\"agent_id\":\"research-bot\",\n       \"output\":\"Mail the report to bob@corp.io\"}}'",
            self.shell.origin
        )
    }
}

/// Returns the headline, and a sentence about the largest rise.
fn answer(page: &OverviewPage<'_>) -> (String, String) {
    let agents = page.overview.agents;
    let of = format!("of {} agents", text::count_word(usize::try_from(agents).unwrap_or(usize::MAX)));
    let (found, Count { found: all, is_minimum }) = (page.attention.0.len(), page.attention.1);
    let headline = match (all, agents) {
        (0, 0) => "No agent matches.".to_owned(),
        (0, 1) => "One agent. Nothing needs attention.".to_owned(),
        (0, _) => "Nothing needs attention.".to_owned(),
        (1, 1) => "Your agent needs attention.".to_owned(),
        (1, _) => format!("One {of} needs attention."),
        (2.., _) if all > found => {
            let least = if is_minimum { "at least " } else { "" };
            let things = text::sentence(&format!("{least}{}", text::count_word(all)));
            format!("{things} things need attention. These first.")
        }
        _ if page.attention.0.iter().all(|item| item.cause.agent().is_some()) => {
            format!("{} {of} need attention.", text::sentence(&text::count_word(found)))
        }
        _ => format!("{} things need attention.", text::sentence(&text::count_word(found))),
    };
    let rises = page.overview.rises.first().map(|rise| {
        format!(
            "Largest rise today: {} by {} points, now {}. ",
            rise.agent_id,
            text::change(rise.change),
            rise.score
        )
    });
    (headline, rises.unwrap_or_default())
}

/// An item that needs attention, in words.
struct Item<'a> {
    kind: &'static str,
    agent: Option<&'a str>,
    gate: Option<&'a str>,
    /// Number in front, and its description.
    number: (String, String),
    text: String,
    reason: Option<String>,
    /// Verdicts of the latest evaluations, the oldest first.
    marks: Vec<bool>,
    lost: String,
    link: (String, String),
}

impl<'a> Item<'a> {
    fn of(item: &'a Attention, threshold: u32) -> Self {
        let agent = item.cause.agent().map(AgentId::as_str);
        let marks: Vec<bool> = item.latest.iter().rev().map(|evaluation| evaluation.passed).collect();
        let failed = marks.iter().filter(|passed| !**passed).count();
        let of_agent = |agent: &str| format!("/evaluations?agent={}&verdict=failed", text::segment(agent));
        let (number, words, gate, link) = match &item.cause {
            Cause::Fell(fall, _) => (
                (text::change(fall.change), format!("since midnight UTC, now {}", fall.score)),
                format!(
                    "{} of {} outputs failed today",
                    text::whole(fall.failed),
                    text::whole(fall.evaluations)
                ),
                fall.gate.as_deref(),
                (of_agent(fall.agent_id.as_str()), format!("{} failed today", text::whole(fall.failed))),
            ),
            Cause::NewGate(gate) => (
                (text::whole(gate.failed), "failures today".to_owned()),
                "It had no failure in the seven days before".to_owned(),
                Some(&*gate.gate),
                (
                    format!("/evaluations?gate={}&verdict=failed", text::segment(&gate.gate)),
                    "the failed evaluations".to_owned(),
                ),
            ),
            Cause::Below(row) => (
                (row.score.to_string(), format!("below the threshold of {threshold}")),
                match (row.pass_rate, row.avg_latency_ms) {
                    (Some(passed), Some(ms)) => format!(
                        "{} of its last {} outputs passed, and gates take {} ms on average",
                        text::percent(passed),
                        text::whole(row.eval_count),
                        text::cut(ms, 1)
                    ),
                    _ => String::new(),
                },
                None,
                (of_agent(row.agent_id.as_str()), format!("{failed} of the last {} failed", marks.len())),
            ),
        };
        let common = gate.map(|gate| in_common(&item.latest, gate)).unwrap_or_default();
        let words = match common.tool {
            Some(tool) => format!("{words}, all from tool {tool}"),
            None => words,
        };
        let lost = item.parts.as_ref().map(|parts| lost(&parts.components)).unwrap_or_default();
        Self {
            kind: item.cause.kind(),
            agent,
            gate,
            number,
            text: words,
            reason: common.reason,
            marks,
            lost,
            link,
        }
    }
}

/// Formats the missing points of a score by part: `streak −200 · pass rate −14`.
pub(crate) fn lost(parts: &[Component]) -> String {
    let lost = parts.iter().filter_map(|part| {
        let points = text::cut(part.points_lost?, 0);
        (points != "0").then(|| format!("{} −{points}", part.name.replace('_', " ")))
    });
    lost.collect::<Vec<_>>().join(" · ")
}

/// A total of the day and of the week.
struct Total {
    name: &'static str,
    today: String,
    week: String,
    bars: Option<(Bars, String)>,
}

/// Sums up `days` days of an overview. The last one is `from_back` days before the overview's day.
fn sum<T: std::iter::Sum>(overview: &Overview, from_back: u32, days: u32, of: impl Fn(&Totals) -> T) -> T {
    let (first, last) = (overview.day.back(from_back + days - 1), overview.day.back(from_back));
    let inside = |day: &&DayTotals| (first..=last).contains(&day.day);
    overview.days.iter().filter(inside).map(|day| of(&day.totals)).sum()
}

/// Formats a week compared with the one before: `2 614 in 7 days, −1 %`.
fn week(shown: &str, now: i128, before: i128) -> String {
    let change = |percent: i128| match percent {
        0 => "±0 %".to_owned(),
        1.. => format!("+{percent} %"),
        _ => format!("−{} %", percent.unsigned_abs()),
    };
    match before {
        0 => format!("{shown} in 7 days"),
        _ => format!("{shown} in 7 days, {}", change((now - before) * 100 / before)),
    }
}

fn totals(overview: &Overview) -> Vec<Total> {
    let days: Vec<Day> = (0..BAR_DAYS).rev().map(|back| overview.day.back(back)).collect();
    let bars_of = |unit: &str, of: fn(&Totals) -> u64| {
        let value = |day: &Day| {
            overview.days.iter().find(|known| known.day == *day).map_or(0, |known| of(&known.totals))
        };
        let values: Vec<u64> = days.iter().map(value).collect();
        let title = format!(
            "{unit} per day, {BAR_DAYS} days, today {}",
            text::whole(values.last().copied().unwrap_or(0))
        );
        Some((bars(&values), title))
    };
    let counted = |name, unit, of: fn(&Totals) -> u64| Total {
        name,
        today: text::whole(of(&overview.today)),
        week: week(
            &text::whole(of(&overview.week)),
            i128::from(of(&overview.week)),
            i128::from(sum(overview, WEEK, WEEK, of)),
        ),
        bars: bars_of(unit, of),
    };
    let cost = |totals: &Totals| totals.cost_usd.units();
    let cents = |totals: &Totals| u64::try_from(totals.cost_usd.units() / 10_000_000).unwrap_or(u64::MAX);
    let share = |totals: &Totals| totals.pass_rate.map_or("–".to_owned(), text::percent);
    vec![
        counted("Evaluations today", "Evaluations", |totals| totals.evaluations),
        Total {
            name: "Passed today",
            today: share(&overview.today),
            week: format!("{} in 7 days", share(&overview.week)),
            bars: None,
        },
        counted("Sessions today", "Sessions", |totals| totals.sessions),
        counted("Runs today", "Runs", |totals| totals.runs),
        Total {
            name: "Cost today",
            today: text::dollars(overview.today.cost_usd),
            week: week(
                &text::dollars(overview.week.cost_usd),
                cost(&overview.week),
                sum(overview, WEEK, WEEK, cost),
            ),
            bars: bars_of("Cents", cents),
        },
    ]
}

/// A row of the table.
struct Row<'a> {
    agent: &'a AgentRow,
    name: &'a str,
    before: Option<&'a str>,
    rank: Option<usize>,
    /// Whether its score is shown.
    shown: bool,
    change: Option<i64>,
    spark: Option<Spark>,
    alert: bool,
}

impl<'a> Row<'a> {
    fn of(agent: &'a AgentRow, rank: Option<usize>, today: Day, alert: bool) -> Self {
        let (name, before) = text::name_parts(&agent.agent_id);
        let shown = matches!(agent.lifecycle, Lifecycle::Active | Lifecycle::Mature);
        let days = agent.days.as_deref().unwrap_or_default();
        let change = days.iter().find(|day| day.day == today).map_or(Some(0), |day| day.change);
        Self {
            agent,
            name,
            before,
            rank: rank.filter(|_| shown),
            shown,
            change: change.filter(|_| shown),
            spark: spark(days, today).filter(|_| shown),
            alert,
        }
    }

    fn path(&self) -> String {
        format!("/agents/{}", text::segment(self.agent.agent_id.as_str()))
    }

    /// Formats the share of passed evaluations; below 50 evaluations their number.
    fn passed(&self) -> String {
        match self.agent.pass_rate {
            None => "–".to_owned(),
            Some(share) if self.shown => text::percent(share),
            Some(share) => {
                let passed = (share.units() * i128::from(self.agent.eval_count) + 500_000) / 1_000_000;
                format!("{passed} of {}", self.agent.eval_count)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{overview, row, shell};

    fn shown(overview: &Overview, agents: &[AgentRow], filter: Filter<'_>) -> String {
        let page = OverviewPage {
            overview,
            attention: (Vec::new(), Count::default()),
            threshold: 600,
            agents,
            first: 1,
            next: None,
            filter,
            otlp: [Some(4317), None],
        };
        render(&shell(), &page).unwrap()
    }

    #[test]
    fn an_agent_below_50_evaluations_has_no_score_rank_or_line() {
        let all = Overview { agents: 2, ..overview() };
        let agents = [row("old", 987, Lifecycle::Mature), row("fresh", 654, Lifecycle::Calibrating)];
        let html = shown(&all, &agents, Filter { sort: "score", ..Filter::default() });
        assert!(html.contains(">987<") && !html.contains("654"), "{html}");
        assert!(html.contains("calibrating 12/50") && html.contains("11 of 12"), "{html}");
        assert!(html.contains("no score yet"), "{html}");
        assert!(html.contains("Nothing needs attention."), "{html}");
    }

    #[test]
    fn a_name_is_escaped_and_its_path_is_encoded() {
        let all = Overview { agents: 1, ..overview() };
        let html = shown(&all, &[row("<script>/'\"x", 700, Lifecycle::Mature)], Filter::default());
        assert!(!html.contains("<script>/"), "{html}");
        assert!(html.contains("href=\"/agents/%3Cscript%3E%2F%27%22x\""), "{html}");
    }

    #[test]
    fn an_empty_overview_explains_the_start_and_a_search_without_matches_does_not() {
        let html = shown(&overview(), &[], Filter { sort: "score", ..Filter::default() });
        assert!(
            html.contains("Nothing to judge yet.")
                && html.contains("curl -s http://127.0.0.1:7070/v1/evaluate")
        );
        assert!(html.contains("<code>4317</code> (gRPC)"), "{html}");
        let html = shown(&overview(), &[], Filter { q: "x", sort: "score", ..Filter::default() });
        assert!(html.contains("No agent matches") && !html.contains("Nothing to judge yet"), "{html}");
    }

    #[test]
    fn a_sorted_address_keeps_the_filter() {
        let filter = Filter { q: "a&b", sort: "name", lifecycle: "mature", seen: "" };
        assert_eq!(filter.sorted("last_seen"), "/?q=a%26b&lifecycle=mature&sort=last_seen");
        assert_eq!(Filter::default().sorted("score"), "/");
    }

    #[test]
    fn a_page_of_long_names_stays_below_100_kilobytes() {
        let agents: Vec<AgentRow> = (0..ROWS)
            .map(|number| row(&format!("{number:02}{}", "x".repeat(198)), 900, Lifecycle::Mature))
            .collect();
        let all = Overview { agents: 1_000_000, ..overview() };
        let html = shown(&all, &agents, Filter { sort: "score", ..Filter::default() });
        assert!(html.len() < 100_000, "{} bytes", html.len());
        assert!(html.contains("of 1\u{202f}000\u{202f}000 agents"));
    }
}
