//! `renown overview`: one day of an organization at a glance, with or without a running server.

use std::fmt::Write as _;
use std::process::ExitCode;

use renown_core::ids::OrgId;
use renown_core::time::{Day, Timestamp};
use renown_store::{AgentQuery, AgentSort, OVERVIEW_DAYS, ReadError, ReadOnlyStore};
use renown_view::overview::{ChangeRow, FailingGate, Totals};
use renown_view::{DayPoint, Overview};

use crate::args::{OverviewArgs, TextFormatArg};
use crate::failure::{Failure, printable};
use crate::numbers::{dollars, milliseconds, percent};
use crate::store_location::{self, ask};
use crate::table::{NOTHING, cell, counted, left, right, table};
use crate::{agents, as_json, print};

/// Number of ranked agents, the same as in the API.
const RANKED: usize = 20;

/// Number of ranked agents in the text output.
const RANKED_SHOWN: usize = 10;

pub(crate) fn run(args: &OverviewArgs) -> Result<ExitCode, Failure> {
    let (read, now) = (&args.read, store_location::now()?);
    let store = read.location.resolve()?.read()?;
    let day = args.day.unwrap_or_else(|| Day::of(now));
    let overview = ask(load(&*store, &read.org, day, now))?;
    print(&match read.format {
        TextFormatArg::Json => as_json(&overview)?,
        TextFormatArg::Text if overview.agents == 0 => agents::none_yet("agents", &read.org),
        TextFormatArg::Text => text(&overview, &read.org),
    })
}

async fn load(
    store: &dyn ReadOnlyStore,
    org: &OrgId,
    day: Day,
    now: Timestamp,
) -> Result<Overview, ReadError> {
    let best = AgentQuery { sort: AgentSort::Score, limit: RANKED, ..AgentQuery::default() };
    let mut ranking = agents::page(store, org, &best, now).await?.agents;
    for agent in &mut ranking {
        let days = store.agent_days(org, &agent.agent_id, day.back(OVERVIEW_DAYS - 1), day).await?;
        agent.days = Some(DayPoint::all(&days.days));
    }
    Ok(Overview::of(day, store.overview(org, day).await?, ranking))
}

fn text(overview: &Overview, org: &OrgId) -> String {
    let mut text = format!("{org} on {} (UTC): {}\n", overview.day, counted(overview.agents, "agent"));
    let _ = write!(text, "\n{}", totals(overview));
    if !overview.falls.is_empty() || !overview.rises.is_empty() {
        let _ = write!(text, "\n{}", changes(overview));
    }
    if !overview.failing_gates.is_empty() {
        let _ = write!(text, "\n{}", gates(&overview.failing_gates));
    }
    let best = overview.ranking.get(..RANKED_SHOWN).unwrap_or(&overview.ranking);
    let _ = write!(text, "\nagents by score, as of now:\n{}", agents::listed(best));
    let others = overview.agents.saturating_sub(best.len() as u64);
    if others > 0 {
        let _ = writeln!(text, "… and {others} more: `renown agents list --sort score` shows them");
    }
    text
}

/// Formats the totals of the day and of its week, one line each.
fn totals(overview: &Overview) -> String {
    let head = [
        left("PERIOD"),
        right("EVALUATIONS"),
        right("PASSED"),
        right("LATENCY"),
        right("SESSIONS"),
        right("COST"),
        right("RUNS"),
    ];
    let row = |period: String, totals: &Totals| {
        let cost = if totals.sessions == 0 { NOTHING.to_owned() } else { dollars(totals.cost_usd) };
        [
            period,
            totals.evaluations.to_string(),
            cell(totals.pass_rate.map(percent)),
            cell(totals.avg_latency_ms.map(milliseconds)),
            totals.sessions.to_string(),
            cost,
            totals.runs.to_string(),
        ]
    };
    let rows = [row(overview.day.to_string(), &overview.today), row("7 days".to_owned(), &overview.week)];
    table(head, &rows)
}

/// Formats the largest falls, then the largest rises.
fn changes(overview: &Overview) -> String {
    let row = |change: &ChangeRow| {
        [
            format!("{:+}", change.change),
            format!("{} to {}", change.score_before, change.score),
            printable(change.agent_id.as_str()),
            printable(&change.cause),
        ]
    };
    let rows: Vec<_> = overview.falls.iter().chain(&overview.rises).map(row).collect();
    table([right("CHANGE"), right("SCORE"), left("AGENT"), left("CAUSE")], &rows)
}

fn gates(gates: &[FailingGate]) -> String {
    let row = |gate: &FailingGate| {
        let new = if gate.is_new { "new" } else { "" };
        [printable(&gate.gate), gate.failed.to_string(), gate.failed_before.to_string(), new.to_owned()]
    };
    let rows: Vec<_> = gates.iter().map(row).collect();
    table([left("FAILING GATE"), right("FAILED"), right("7 DAYS BEFORE"), left("")], &rows)
}
