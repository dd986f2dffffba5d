//! `renown agents`: who is known, read beside whoever writes.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;

use renown_core::identity::identity_of;
use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::Lifecycle;
use renown_server::runs::shown;
use renown_store::sqlite::system_clock;
use renown_store::{AgentQuery, AgentSort, AgentSummary, RunQuery, StoreError};
use serde_json::{Value, json};

use crate::args::{AgentSortArg, AgentsArgs, AgentsCommand, AgentsCommon, TextFormatArg};
use crate::failure::{Failure, printable};
use crate::place;
use crate::table::table;
use crate::{printed, runs};

/// How many runs are shown of an agent.
const RUNS_SHOWN: usize = 10;

pub(crate) fn run(args: &AgentsArgs) -> Result<ExitCode, Failure> {
    let text = match &args.command {
        AgentsCommand::List { search, sort, limit, common } => {
            let sort = match sort {
                AgentSortArg::LastSeen => AgentSort::LastSeen,
                AgentSortArg::Score => AgentSort::Score,
                AgentSortArg::AgentId => AgentSort::AgentId,
            };
            let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
            list(&AgentQuery { text: search.clone(), sort, after: None, limit }, common)?
        }
        AgentsCommand::Show { agent, common } => show(agent, common)?,
    };
    let mut out = io::stdout().lock();
    printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

fn list(query: &AgentQuery, common: &AgentsCommon) -> Result<String, Failure> {
    let page =
        common.place.resolve()?.read()?.agents(&common.org, query).map_err(|error| place::failure(&error))?;
    if common.format == TextFormatArg::Json {
        let agents: Vec<Value> = page.agents.iter().map(|agent| summary(&common.org, agent)).collect();
        return Ok(format!("{:#}\n", Value::from(agents)));
    }
    if page.agents.is_empty() {
        return Ok(match &query.text {
            Some(text) => format!("no agent of {} has {text:?} in its id\n", common.org),
            None => format!("no agents in {} yet\n", common.org),
        });
    }
    let row = |agent: &AgentSummary| {
        let standing = agent.tally.standing();
        let last_seen: String = agent.last_seen.to_string().replace('T', " ").chars().take(16).collect();
        [
            printable(agent.agent.as_str()),
            standing.score.to_string(),
            lifecycle(standing.lifecycle, standing.eval_count),
            last_seen,
        ]
    };
    let rows: Vec<_> = page.agents.iter().map(row).collect();
    let mut text = table(["AGENT", "SCORE", "LIFECYCLE", "LAST SEEN (UTC)"], &rows);
    if page.next.is_some() {
        let _ = writeln!(text, "… and more: --limit N shows them");
    }
    Ok(text)
}

fn lifecycle(lifecycle: Lifecycle, evaluations: u64) -> String {
    match lifecycle {
        Lifecycle::New => "new".to_owned(),
        Lifecycle::Calibrating => format!("calibrating {evaluations}/50"),
        Lifecycle::Active => format!("active, {evaluations} evaluations"),
        Lifecycle::Mature => "mature".to_owned(),
    }
}

fn summary(org: &OrgId, agent: &AgentSummary) -> Value {
    let standing = agent.tally.standing();
    json!({
        "agent_id": agent.agent,
        "identity_id": identity_of(org, &agent.agent),
        "first_seen": agent.first_seen,
        "last_seen": agent.last_seen,
        "eval_count": standing.eval_count,
        "score": standing.score,
        "lifecycle": standing.lifecycle,
    })
}

/// Everything that is known of an agent.
fn show(agent: &AgentId, common: &AgentsCommon) -> Result<String, Failure> {
    let (store, org) = (common.place.resolve()?.read()?, &common.org);
    let unreadable = |error: StoreError| place::failure(&error);
    let Some(known) = store.agent(org, agent).map_err(unreadable)? else {
        let error = format!("no agent {:?} in {}", agent.as_str(), common.org);
        return Err(Failure::new(error).hint("`renown agents list --search TEXT` looks for one"));
    };
    let now = (system_clock())();
    let windows = store.identity_windows(org, identity_of(org, agent), now).map_err(unreadable)?;
    let identity = windows.breakdown().standing(now);
    let query = RunQuery { agent: Some(agent.clone()), limit: RUNS_SHOWN, ..RunQuery::default() };
    let runs: Value = store.runs(org, &query).map_err(unreadable)?.runs.iter().map(shown::run).collect();
    let (record, explanation) = (known.tally.record(), known.tally.breakdown().explain());
    if common.format == TextFormatArg::Json {
        let mut whole = summary(&common.org, &known);
        if let (Some(whole), Ok(Value::Object(record))) =
            (whole.as_object_mut(), serde_json::to_value(&record))
        {
            whole.extend(record);
            whole.insert(
                "components".to_owned(),
                serde_json::to_value(&explanation.components).unwrap_or_default(),
            );
            whole.insert(
                "identity_reputation".to_owned(),
                serde_json::to_value(&identity).unwrap_or_default(),
            );
            whole.insert("runs".to_owned(), runs);
        }
        return Ok(format!("{whole:#}\n"));
    }
    let mut text = format!(
        "{}  {}  {}\n{} of {} passed, average {} ms, streak {}\nfirst seen {}, last seen {}\n\n",
        printable(known.agent.as_str()),
        record.score,
        lifecycle(record.lifecycle, record.evaluations),
        record.passed,
        record.evaluations,
        record.avg_latency_ms,
        record.streak,
        known.first_seen,
        known.last_seen,
    );
    let decimal = |points: Option<renown_core::decimal::Decimal<6>>| {
        points.map_or_else(String::new, |points| format!("{:.1}", points.to_f64()))
    };
    let rows: Vec<_> = explanation
        .components
        .iter()
        .map(|part| {
            [
                part.name.to_owned(),
                decimal(Some(part.points)),
                decimal(part.points_max),
                decimal(part.points_lost),
            ]
        })
        .collect();
    text.push_str(&table(["PART", "POINTS", "OF", "LOST"], &rows));
    if identity.total_events > 0 {
        let _ = writeln!(
            text,
            "\nidentity  {} with confidence {}, of {} events in 90 days",
            identity.overall_score, identity.confidence, identity.total_events
        );
    }
    if runs.as_array().is_some_and(|runs| !runs.is_empty()) {
        let _ = write!(text, "\n{}", runs::listed(&runs));
    }
    Ok(text)
}
