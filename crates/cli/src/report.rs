//! `renown report`: writes the page of an agent to one file, for example for a pull request.

use std::io::{self, Write};
use std::process::ExitCode;

use renown_core::identity::identity_of;
use renown_core::reputation::WINDOW_SIZE;
use renown_core::time::{Day, Timestamp};
use renown_pages::agent::{Audience, markdown, render};
use renown_pages::{Section, Shell};
use renown_store::{EvaluationQuery, Publication, ReadError, ReadOnlyStore, RunQuery, SessionQuery};
use renown_view::standing::{RUNS_SHOWN, SESSIONS_SHOWN};
use renown_view::{AgentFacts, AgentHistory};

use crate::args::{ReportArgs, ReportFormatArg};
use crate::failure::Failure;
use crate::printed;
use crate::store_location::{self, ask};

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let store = args.location.resolve()?.read()?;
    let now = store_location::now()?;
    let read = ask(read(&*store, args, now))?;
    let (facts, history) = read.ok_or_else(|| {
        Failure::new(format!("no agent {:?} in {}", args.agent.as_str(), args.org))
            .hint("`renown agents list --search TEXT` finds agents")
    })?;
    let shell = Shell { now, standalone: true, ..Shell::bare(Section::Other) };
    let text = match args.format {
        ReportFormatArg::Md => markdown(&shell, &facts, &history),
        ReportFormatArg::Html => render(&shell, &facts, &history, Audience::Report)
            .map_err(|error| Failure::new(format!("could not write the report: {error}")))?,
    };
    if let Some(file) = &args.output {
        let failed = |error| Failure::new(format!("{}: {error}", file.display()));
        return std::fs::write(file, text).map(|()| ExitCode::SUCCESS).map_err(failed);
    }
    let mut out = io::stdout().lock();
    printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Reads everything about the agent. Returns `None` if the store does not know it.
async fn read(
    store: &dyn ReadOnlyStore,
    args: &ReportArgs,
    now: Timestamp,
) -> Result<Option<(AgentFacts, AgentHistory)>, ReadError> {
    let (org, agent) = (&args.org, &args.agent);
    let Some(known) = store.agent(org, agent).await? else { return Ok(None) };
    let today = Day::of(now);
    let [month, week] = AgentHistory::first_days(today);
    let latest =
        EvaluationQuery { agent: Some(agent.clone()), limit: WINDOW_SIZE, ..EvaluationQuery::default() };
    let runs = RunQuery { agent: Some(agent.clone()), limit: RUNS_SHOWN, ..RunQuery::default() };
    let sessions =
        SessionQuery { agent: Some(agent.clone()), limit: SESSIONS_SHOWN, ..SessionQuery::default() };
    let history = AgentHistory::of(
        agent,
        today,
        &store.evaluations(org, latest).await?.evaluations,
        store.agent_days(org, agent, month, today).await?,
        store.agent_days(org, agent, week, today).await?,
    );
    let facts = AgentFacts {
        org: org.clone(),
        agent: agent.clone(),
        as_of: now,
        tally: known.tally,
        known: Some(known),
        publication: Publication::default(),
        runs: store.runs(org, runs).await?.runs,
        sessions: store.sessions(org, sessions).await?.sessions,
        identity: store.identity_windows(org, identity_of(org, agent), now).await?,
    };
    Ok(Some((facts, history)))
}
