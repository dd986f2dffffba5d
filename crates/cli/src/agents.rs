//! `renown agents`: lists the agents of an organization or shows one, with or without a running server.

mod show;

use std::fmt::Write as _;
use std::process::ExitCode;

use renown_core::ids::OrgId;
use renown_core::reputation::CALIBRATED_AT;
use renown_core::reputation::Lifecycle;
use renown_core::time::Timestamp;
use renown_store::{AgentQuery, AgentSort, DEFAULT_ORG, ReadError, ReadOnlyStore};
use renown_view::AgentRow;
use renown_view::agents::{IdentityBrief, SessionBrief};

use crate::args::{AgentSortArg, AgentsArgs, AgentsCommand, ReadArgs, TextFormatArg};
use crate::failure::{Failure, printable};
use crate::numbers::{hundredths, milliseconds, percent};
use crate::store_location::{self, ask};
use crate::table::{NOTHING, cell, fitted, left, minute, right, terminal_width};
use crate::{as_json, print};

pub(crate) fn run(args: &AgentsArgs) -> Result<ExitCode, Failure> {
    print(&match &args.command {
        AgentsCommand::List { search, sort, limit, read } => {
            let sort = match sort {
                AgentSortArg::LastSeen => AgentSort::LastSeen,
                AgentSortArg::Score => AgentSort::Score,
                AgentSortArg::Name => AgentSort::Name,
                AgentSortArg::Evaluations => AgentSort::Evaluations,
            };
            let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
            list(&AgentQuery { text: search.clone(), sort, limit, ..AgentQuery::default() }, read)?
        }
        AgentsCommand::Show { agent, read } => show::show(agent, read)?,
    })
}

fn list(query: &AgentQuery, read: &ReadArgs) -> Result<String, Failure> {
    let store = read.location.resolve()?.read()?;
    // If the clock is wrong, the list is still printed, as in the API.
    let now = store_location::now().unwrap_or(Timestamp::MIN);
    let page = ask(page(&*store, &read.org, query, now))?;
    if read.format == TextFormatArg::Json {
        return as_json(&page.agents);
    }
    if page.agents.is_empty() {
        return Ok(match &query.text {
            Some(text) => format!("no agent in {} has {text:?} in its id\n", read.org),
            None => none_yet("agents", &read.org),
        });
    }
    let mut text = listed(&page.agents);
    if page.has_more {
        let _ = writeln!(text, "… and more: --limit N shows them");
    }
    Ok(text)
}

/// A page of agents, as in the API.
pub(crate) struct Page {
    pub(crate) agents: Vec<AgentRow>,
    pub(crate) has_more: bool,
}

/// Reads the agents of a query, with the summary of their evidence.
pub(crate) async fn page(
    store: &dyn ReadOnlyStore,
    org: &OrgId,
    query: &AgentQuery,
    now: Timestamp,
) -> Result<Page, ReadError> {
    let found = store.agents(org, query.clone()).await?;
    let has_more = found.next.is_some();
    let names = found.agents.iter().map(|agent| agent.agent.clone()).collect();
    let evidence = store.evidence_of_agents(org, names, now).await?;
    let rows = found.agents.into_iter().zip(evidence);
    let agents = rows.map(|(agent, evidence)| AgentRow::of(org, agent, evidence, now)).collect();
    Ok(Page { agents, has_more })
}

/// Formats agents as a table.
pub(crate) fn listed(agents: &[AgentRow]) -> String {
    let head = [
        left("AGENT").cut_to(16),
        right("SCORE"),
        right("PASSED"),
        right("LATENCY"),
        right("SESSION"),
        left("RUN"),
        right("IDENTITY"),
        left("LAST SEEN (UTC)"),
    ];
    let row = |agent: &AgentRow| {
        [
            printable(agent.agent_id.as_str()),
            score(agent),
            cell(agent.pass_rate.map(percent)),
            cell(agent.avg_latency_ms.map(milliseconds)),
            cell(agent.latest_session.as_ref().and_then(performance)),
            cell(agent.tier.map(renown_core::scorecard::Tier::name)),
            cell(agent.identity_reputation.as_ref().map(identity)),
            minute(agent.last_seen),
        ]
    };
    fitted(head, &agents.iter().map(row).collect::<Vec<_>>(), terminal_width())
}

/// Formats the score, if there are enough evaluations to show one.
fn score(agent: &AgentRow) -> String {
    match agent.lifecycle {
        Lifecycle::New => NOTHING.to_owned(),
        Lifecycle::Calibrating => lifecycle(agent),
        Lifecycle::Active | Lifecycle::Mature => agent.score.to_string(),
    }
}

/// Formats the lifecycle: how reliable the score is.
fn lifecycle(agent: &AgentRow) -> String {
    match agent.lifecycle {
        Lifecycle::New => "no evaluations yet".to_owned(),
        Lifecycle::Calibrating => format!("calibrating {}/{CALIBRATED_AT}", agent.eval_count),
        Lifecycle::Active => format!("active, {} evaluations", agent.eval_count),
        Lifecycle::Mature => "mature".to_owned(),
    }
}

fn performance(session: &SessionBrief) -> Option<String> {
    Some(format!("{} {}", session.performance?, session.recommendation?))
}

fn identity(reputation: &IdentityBrief) -> String {
    format!("{} ({})", hundredths(reputation.overall_score), hundredths(reputation.confidence))
}

/// Returns a text that says that there is no evidence yet, and which command adds some.
pub(crate) fn none_yet(what: &str, org: &OrgId) -> String {
    let next = if org.as_str() == DEFAULT_ORG {
        "`renown setup claude` sends the telemetry of Claude Code to `renown serve`;\n      \
         `renown run --agent me -- make test` scores a command"
            .to_owned()
    } else {
        format!("`renown keys create --org {org}` creates a key to send evidence with")
    };
    format!("no {what} in {org} yet\nnext: {next}\n")
}
