//! `renown setup --check`: tests whether the records of an agent arrive. Changes nothing.
//!
//! | line | meaning of `ok` |
//! |---|---|
//! | `settings` | they are what `renown setup` would write |
//! | `receiver` | the server in the settings accepts a test record, sent like those of the agent |
//! | `arrived` | for information: when the last record of this kind of agent arrived, if the store is readable |

use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;

use renown_core::ids::OrgId;
use renown_store::{ReadError, ReadOnlyStore, SessionQuery, StoredSession, system_clock};
use renown_telemetry::dialect::Agent;

use super::plan::{FilePlan, Plan};
use super::receiver::{Receiver, Refusal};
use super::server::ServerUrl;
use super::{claude, codex, gemini, name, short};
use crate::args::{AgentArg, SetupArgs};
use crate::failure::{Failure, printable};
use crate::printed;
use crate::store_location::{self, wait};

/// The exit code if records do not arrive.
const SILENT: u8 = 1;

/// Number of sessions per read.
const PAGE: usize = 200;

/// One line of the output: its mark, its subject, and the finding.
type Line = (&'static str, &'static str, String);

const GOOD: &str = "ok  ";
const NOTE: &str = "note";
const BAD: &str = "BAD ";

/// Checks the settings, sends a test record, and prints the findings.
pub(super) fn run(args: &SetupArgs, plan: &Plan) -> Result<ExitCode, Failure> {
    let mut lines = settings(args, plan);
    if lines.is_empty() {
        let receiver = receiver(args.agent_kind, plan);
        let nowhere = || Failure::new(format!("the settings of {} name no receiver", name(args.agent_kind)));
        lines = receives(&receiver.ok_or_else(nowhere)?, name(args.agent_kind));
    }
    lines.extend(arrived(args)?);
    let mut text = String::new();
    for (mark, about, finding) in &lines {
        let _ = writeln!(text, "{mark}  {about:<8}  {}", printable(finding));
    }
    let mut out = io::stdout().lock();
    let code = printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))?;
    let is_silent = lines.iter().any(|(mark, ..)| *mark == BAD);
    Ok(if is_silent { ExitCode::from(SILENT) } else { code })
}

/// Returns the differences between the settings and what would be written.
fn settings(args: &SetupArgs, plan: &Plan) -> Vec<Line> {
    let mut lines: Vec<Line> =
        differences(plan).into_iter().map(|difference| (BAD, "settings", difference)).collect();
    if !lines.is_empty() {
        let command = command(args.agent_kind);
        let server = args.server.as_ref().map(|server| format!(" --server {}", server.as_str()));
        let advice = format!(
            "run `{command}{}`; --server URL chooses another server, --agent ID another id",
            server.unwrap_or_default()
        );
        lines.push((NOTE, "settings", advice));
    }
    lines
}

/// Sends a test record and returns the findings.
fn receives(receiver: &Receiver, agent: &str) -> Vec<Line> {
    let (url, protocol) = (&receiver.url, receiver.encoding.name());
    let settings = (GOOD, "settings", format!("{agent} sends to {url} as {protocol}"));
    let now = match (system_clock())() {
        Ok(now) => now,
        Err(error) => return vec![settings, (BAD, "clock", error.to_string())],
    };
    let answer = match receiver.probe(now) {
        Ok(()) => (GOOD, "receiver", format!("{url} accepted a record")),
        Err(Refusal { found, advice }) => (BAD, "receiver", format!("{url}: {found}; {advice}")),
    };
    vec![settings, answer]
}

/// Returns when the last record arrived. The store may be on another machine; then there is no line.
fn arrived(args: &SetupArgs) -> Result<Option<Line>, Failure> {
    let opened = args.location.resolve().and_then(|location| Ok((location.read()?, location.file)));
    let Ok((store, file)) = opened else { return Ok(None) };
    let (agent, file) = (name(args.agent_kind), file.display());
    Ok(Some(match wait(last(&*store, &store_location::default_org()?, kind(args.agent_kind)))? {
        Ok(Some(session)) => {
            let (id, last_seen) = (session.id.as_str(), session.last_seen);
            (GOOD, "arrived", format!("{last_seen}, of session {id} in {file}"))
        }
        Ok(None) => {
            let advice = format!("restart {agent}, send it a prompt, and check again");
            (NOTE, "arrived", format!("no records of {agent} in {file} yet: {advice}"))
        }
        Err(error) => (NOTE, "arrived", error.to_string()),
    }))
}

/// Lists the settings that are missing or different.
fn differences(plan: &Plan) -> Vec<String> {
    let of_file = |file: &FilePlan| {
        let path = file.path.display().to_string();
        let changes = file.edited.changes.iter().map(move |change| {
            let is = change.was.as_ref().map_or_else(|| "not set".to_owned(), |was| short(was));
            format!("{path}: {} is {is}, expected {}", change.key, short(&change.value))
        });
        changes.collect::<Vec<_>>()
    };
    plan.files.iter().flat_map(of_file).collect()
}

/// Returns the server in the settings, if there is one.
pub(super) fn server(agent: AgentArg, plan: &Plan) -> Option<ServerUrl> {
    receiver(agent, plan)?.server()
}

/// Returns the receiver in the settings.
fn receiver(agent: AgentArg, plan: &Plan) -> Option<Receiver> {
    let text = |name: &str| {
        let file = plan.files.iter().find(|file| file.path.ends_with(name));
        file.and_then(|file| file.before.as_deref()).unwrap_or_default()
    };
    match agent {
        AgentArg::Claude => claude::receiver(text("settings.json")),
        AgentArg::Codex => codex::receiver(text("config.toml")),
        AgentArg::Gemini => gemini::receiver(text("settings.json"), text(".env")),
    }
}

/// Returns the session with the latest start of a kind of agent.
async fn last(
    store: &dyn ReadOnlyStore,
    org: &OrgId,
    kind: Agent,
) -> Result<Option<StoredSession>, ReadError> {
    let mut query = SessionQuery { limit: PAGE, ..SessionQuery::default() };
    loop {
        let page = store.sessions(org, query.clone()).await?;
        let is_kind =
            |session: &StoredSession| session.ledger.as_ref().is_some_and(|ledger| ledger.agent() == kind);
        if let Some(found) = page.sessions.into_iter().find(is_kind) {
            return Ok(Some(found));
        }
        let Some(next) = page.next else { return Ok(None) };
        query.after = Some(next);
    }
}

fn kind(agent: AgentArg) -> Agent {
    match agent {
        AgentArg::Claude => Agent::ClaudeCode,
        AgentArg::Codex => Agent::Codex,
        AgentArg::Gemini => Agent::GeminiCli,
    }
}

/// Returns the command that fixes the settings.
fn command(agent: AgentArg) -> &'static str {
    match agent {
        AgentArg::Claude => "renown setup claude",
        AgentArg::Codex => "renown setup codex",
        AgentArg::Gemini => "renown setup gemini",
    }
}
