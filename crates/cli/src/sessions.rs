//! `renown sessions`: lists received sessions, and shows the records of one.

mod records;

use std::fmt::Write as _;
use std::process::ExitCode;

use renown_core::performance::Performance;
use renown_store::{SessionQuery, StoredSession};
use renown_telemetry::ledger::Session as Ledger;
use serde_json::{Value, json};

use crate::args::{ReadArgs, SessionsArgs, SessionsCommand, TextFormatArg};
use crate::failure::{Failure, printable};
use crate::store_location::ask;
use crate::table::{cell, fitted, left, minute, right, terminal_width};
use crate::{agents, as_json, print};

pub(crate) fn run(args: &SessionsArgs) -> Result<ExitCode, Failure> {
    print(&match &args.command {
        SessionsCommand::List { agent, limit, read } => {
            let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
            list(&SessionQuery { agent: agent.clone(), limit, ..SessionQuery::default() }, read)?
        }
        SessionsCommand::Records { session, limit, read } => {
            records::show(session, usize::try_from(*limit).unwrap_or(usize::MAX), read)?
        }
    })
}

fn list(query: &SessionQuery, read: &ReadArgs) -> Result<String, Failure> {
    let store = read.location.resolve()?.read()?;
    let page = ask(store.sessions(&read.org, query.clone()))?;
    if read.format == TextFormatArg::Json {
        return as_json(&page.sessions.iter().map(summary).collect::<Vec<_>>());
    }
    if page.sessions.is_empty() {
        return Ok(match &query.agent {
            Some(agent) => format!("no sessions of {:?} in {}\n", agent.as_str(), read.org),
            None => agents::none_yet("sessions", &read.org),
        });
    }
    let mut text = listed(&page.sessions);
    if page.next.is_some() {
        let _ = writeln!(text, "… and more: --limit N shows them");
    }
    Ok(text)
}

fn performance(session: &StoredSession) -> Option<Performance> {
    session.ledger.as_ref().and_then(Ledger::totals).map(|totals| totals.performance())
}

/// Returns a session as one element of a JSON list.
pub(crate) fn summary(session: &StoredSession) -> Value {
    let performance = performance(session);
    let metrics = &session.summary.metrics;
    json!({
        "session_id": session.id,
        "agent_id": session.agent,
        "began_at": session.began_at,
        "last_seen": session.last_seen,
        "closed_at": session.closed_at,
        "composite": performance.as_ref().map(|performance| performance.composite),
        "recommendation": performance.as_ref().map(|performance| performance.recommendation),
        "reliability": metrics.reliability.map(|found| found.score),
        "consistency": metrics.consistency.map(|found| found.score),
    })
}

/// Formats sessions as a table.
pub(crate) fn listed(sessions: &[StoredSession]) -> String {
    let head = [
        left("SESSION").cut_to(36),
        left("AGENT").cut_to(12),
        left("BEGAN (UTC)"),
        right("SCORE"),
        right("RELIABILITY"),
        right("CONSISTENCY"),
    ];
    let row = |session: &StoredSession| {
        let score = performance(session).map(|found| format!("{} {}", found.composite, found.recommendation));
        let metrics = &session.summary.metrics;
        [
            printable(session.id.as_str()),
            printable(session.agent.as_str()),
            minute(session.began_at),
            cell(score),
            cell(metrics.reliability.map(|found| found.score)),
            cell(metrics.consistency.map(|found| found.score)),
        ]
    };
    fitted(head, &sessions.iter().map(row).collect::<Vec<_>>(), terminal_width())
}
