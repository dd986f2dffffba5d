//! `renown agents`: who is known, read beside whoever writes.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;

use renown_core::explain::Component;
use renown_core::identity::{Standing, identity_of};
use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::Lifecycle;
use renown_server::runs::shown;
use renown_store::sqlite::{Reader, system_clock};
use renown_store::{AgentQuery, AgentSort, AgentSummary, RunQuery, SessionQuery, StoreError, StoredSession};
use serde_json::{Value, json};

use crate::args::{AgentSortArg, AgentsArgs, AgentsCommand, AgentsCommon, TextFormatArg};
use crate::failure::{Failure, printable};
use crate::place;
use crate::table::table;
use crate::{printed, runs, sessions};

/// How many runs are shown of an agent, and how many sessions.
const RUNS_SHOWN: usize = 10;
const SESSIONS_SHOWN: usize = 10;

pub(crate) fn run(args: &AgentsArgs) -> Result<ExitCode, Failure> {
    let text = match &args.command {
        AgentsCommand::List { search, sort, limit, common } => {
            let sort = match sort {
                AgentSortArg::LastSeen => AgentSort::LastSeen,
                AgentSortArg::Score => AgentSort::Score,
                AgentSortArg::AgentId => AgentSort::Name,
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
struct Known {
    agent: AgentSummary,
    identity: Standing,
    /// The latest, as the API shows them.
    runs: Value,
    sessions: Vec<StoredSession>,
}

fn show(agent: &AgentId, common: &AgentsCommon) -> Result<String, Failure> {
    let (store, org) = (common.place.resolve()?.read()?, &common.org);
    let known = know(&store, org, agent).map_err(|error| place::failure(&error))?;
    let known = known.ok_or_else(|| {
        Failure::new(format!("no agent {:?} in {org}", agent.as_str()))
            .hint("`renown agents list --search TEXT` looks for one")
    })?;
    Ok(match common.format {
        TextFormatArg::Json => format!("{:#}\n", known.json(org)),
        TextFormatArg::Text => known.text(),
    })
}

fn know(store: &Reader, org: &OrgId, agent: &AgentId) -> Result<Option<Known>, StoreError> {
    let Some(found) = store.agent(org, agent)? else { return Ok(None) };
    let now = (system_clock())()?;
    let windows = store.identity_windows(org, identity_of(org, agent), now)?;
    let runs = RunQuery { agent: Some(agent.clone()), limit: RUNS_SHOWN, ..RunQuery::default() };
    let sessions =
        SessionQuery { agent: Some(agent.clone()), limit: SESSIONS_SHOWN, ..SessionQuery::default() };
    Ok(Some(Known {
        agent: found,
        identity: windows.breakdown().standing(now),
        runs: store.runs(org, &runs)?.runs.iter().map(shown::run).collect(),
        sessions: store.sessions(org, &sessions)?.sessions,
    }))
}

impl Known {
    fn json(self, org: &OrgId) -> Value {
        let json = |value: Result<Value, serde_json::Error>| value.unwrap_or_default();
        let mut whole = summary(org, &self.agent);
        let (record, explanation) = (self.agent.tally.record(), self.agent.tally.breakdown().explain());
        if let (Some(whole), Value::Object(record)) =
            (whole.as_object_mut(), json(serde_json::to_value(&record)))
        {
            whole.extend(record);
            let components = json(serde_json::to_value(&explanation.components));
            let identity = json(serde_json::to_value(&self.identity));
            let sessions = self.sessions.iter().map(sessions::summary).collect();
            whole.extend(
                [
                    ("components", components),
                    ("identity_reputation", identity),
                    ("runs", self.runs),
                    ("sessions", sessions),
                ]
                .map(|(name, value)| (name.to_owned(), value)),
            );
        }
        whole
    }

    fn text(&self) -> String {
        let record = self.agent.tally.record();
        let mut text = format!(
            "{}  {}  {}\n{} of {} passed, average {} ms, streak {}\nfirst seen {}, last seen {}\n\n",
            printable(self.agent.agent.as_str()),
            record.score,
            lifecycle(record.lifecycle, record.evaluations),
            record.passed,
            record.evaluations,
            record.avg_latency_ms,
            record.streak,
            self.agent.first_seen,
            self.agent.last_seen,
        );
        let decimal = |points: Option<renown_core::decimal::Decimal<6>>| {
            points.map_or_else(String::new, |points| format!("{:.1}", points.to_f64()))
        };
        let explanation = self.agent.tally.breakdown().explain();
        let row = |part: &Component| {
            let points = decimal(Some(part.points));
            [part.name.to_owned(), points, decimal(part.points_max), decimal(part.points_lost)]
        };
        let rows: Vec<_> = explanation.components.iter().map(row).collect();
        text.push_str(&table(["PART", "POINTS", "OF", "LOST"], &rows));
        let identity = &self.identity;
        if identity.total_events > 0 {
            let _ = writeln!(
                text,
                "\nidentity  {} with confidence {}, of {} events in 90 days",
                identity.overall_score, identity.confidence, identity.total_events
            );
        }
        if self.runs.as_array().is_some_and(|runs| !runs.is_empty()) {
            let _ = write!(text, "\n{}", runs::listed(&self.runs));
        }
        if !self.sessions.is_empty() {
            let _ = write!(text, "\n{}", sessions::listed(&self.sessions));
        }
        text
    }
}
