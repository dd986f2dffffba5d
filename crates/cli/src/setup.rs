//! `renown setup`: configures an agent to send its telemetry to Renown.
//!
//! All changes are planned first, without writing ([`mod@plan`], one module per agent). Then each file is shown, confirmed and
//! written ([`files`]).

mod attributes;
mod check;
mod claude;
mod codex;
mod dotenv;
mod files;
mod gemini;
mod json;
mod plan;
mod receiver;
pub(crate) mod server;

use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use renown_core::ids::AgentId;

use crate::args::{AgentArg, SetupArgs};
use crate::client;
use crate::config::path_variable;
use crate::failure::{self, Failure, note, printable};
use crate::printed;
use plan::{Edited, FilePlan, Plan, Wanted};

/// Maximum length of a shown value, in characters. Longer values are cut.
const SHOWN_CHARS_MAX: usize = 120;

/// The variable that names the user's home.
const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// Plans the changes, asks for confirmation, and writes them.
pub(crate) fn run(args: &SetupArgs, quiet: bool) -> Result<ExitCode, Failure> {
    // No key is written into settings, so an agent on this machine must send to the port that needs no key.
    let server = args.server.as_ref().map(client::receiver_without_key).unwrap_or_default();
    let wanted = Wanted { server, agent: args.agent.clone() };
    if args.print {
        return print(args.agent_kind, &wanted, quiet);
    }
    let home = path_variable(HOME).ok_or_else(|| {
        Failure::new(format!("{HOME} is not set: cannot find the agent's settings"))
            .hint(format!("set {HOME}, or paste the output of `--print`"))
    })?;
    let planned = |wanted: &Wanted| plan(args.agent_kind, wanted, &home, &files::read);
    let plan = planned(&wanted)?;
    if args.check {
        // Without --server, the server in the settings is the expected one.
        let configured = check::server(args.agent_kind, &plan).filter(|_| args.server.is_none());
        let plan = configured.map_or(Ok(plan), |server| planned(&Wanted { server, ..wanted }))?;
        warn(&plan);
        return check::run(args, &plan);
    }
    warn(&plan);
    let say = |text: &str| {
        if !quiet {
            note(text);
        }
    };
    if plan.files.iter().all(FilePlan::is_done) {
        say(&format!("{} is already set up", name(args.agent_kind)));
        plan.notes.iter().for_each(|text| say(text));
        return Ok(ExitCode::SUCCESS);
    }
    if !args.yes && !io::stdin().is_terminal() {
        return Err(Failure::new("standard input is not a terminal: cannot ask for confirmation")
            .hint("`--yes` writes without asking, `--print` only prints the settings"));
    }
    let mut written = false;
    for file in plan.files.iter().filter(|file| !file.is_done()) {
        written |= write(file, args.yes, quiet)?;
    }
    if written {
        plan.notes.iter().for_each(|text| say(text));
        let agent = name(args.agent_kind);
        say(&format!(
            "next: start `renown serve`, then restart {agent}; `--check` tests that records arrive"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn warn(plan: &Plan) {
    for file in &plan.files {
        for warning in &file.edited.warnings {
            failure::warn(&format!("{}: {warning}", file.path.display()));
        }
    }
}

/// Shows the changes of one file, asks for confirmation, and writes it. Returns whether it was written.
fn write(file: &FilePlan, yes: bool, quiet: bool) -> Result<bool, Failure> {
    let path = file.path.display();
    let shown = !quiet || !yes;
    for change in file.edited.changes.iter().filter(|_| shown) {
        let was = change.was.as_ref().map(|was| format!(" (was {})", short(was))).unwrap_or_default();
        note(&format!("{path}: {} = {}{was}", change.key, short(&change.value)));
    }
    if !yes && !ask(&format!("Write these changes to {path}? [y/N] "))? {
        note(&format!("{path} was not changed"));
        return Ok(false);
    }
    let backup = files::replace(&file.path, file.before.as_deref(), &file.edited.text)?;
    if !quiet {
        let kept = backup.map(|backup| format!(", backup: {}", backup.display())).unwrap_or_default();
        note(&format!("wrote {path}{kept}"));
    }
    Ok(true)
}

fn ask(question: &str) -> Result<bool, Failure> {
    let mut out = io::stderr().lock();
    let _ = write!(out, "{}", printable(question)).and_then(|()| out.flush());
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.map_err(|error| Failure::new(format!("standard input: {error}")))?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Prints the content of new files. Their names go to standard error, because they are not part of the content.
fn print(agent: AgentArg, wanted: &Wanted, quiet: bool) -> Result<ExitCode, Failure> {
    let home = path_variable(HOME).unwrap_or_else(|| PathBuf::from("~"));
    let plan = plan(agent, wanted, &home, &|_| Ok(None))?;
    warn(&plan);
    for (index, file) in plan.files.iter().enumerate() {
        if !quiet {
            note(&format!("# {}", file.path.display()));
        }
        let gap = if index == 0 { "" } else { "\n" };
        let mut out = io::stdout().lock();
        let done = write!(out, "{gap}{}", file.edited.text).and_then(|()| out.flush());
        if let Err(error) = &done
            && error.kind() == io::ErrorKind::BrokenPipe
        {
            break;
        }
        printed(done)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a file, or pretends that it does not exist.
type Read<'a> = &'a dyn Fn(&Path) -> Result<Option<String>, Failure>;

fn plan(agent: AgentArg, wanted: &Wanted, home: &Path, read: Read<'_>) -> Result<Plan, Failure> {
    let default = default_agent(agent)?;
    let settings = |path: PathBuf| read(&path).map(|before| (path, before));
    let mut plan = Plan { files: Vec::new(), notes: Vec::new() };
    match agent {
        AgentArg::Claude => {
            let folder = claude::folder(home, path_variable);
            let (path, before) = settings(folder.join("settings.json"))?;
            plan.files.push(FilePlan::new(path, before, |text| claude::settings(text, wanted, &default))?);
            let (path, before) = settings(folder.join("commands/performance.md"))?;
            plan.files.push(FilePlan::new(path, before, |text| Ok(claude::command(text)))?);
            if env::var_os(attributes::VARIABLE).is_some() {
                plan.notes.push(format!(
                    "note: for Claude Code, the settings file overrides {} of your environment",
                    attributes::VARIABLE
                ));
            }
        }
        AgentArg::Codex => {
            let folder = codex::folder(home, path_variable);
            let (path, before) = settings(folder.join("config.toml"))?;
            plan.files.push(FilePlan::new(path, before, |text| codex::settings(text, wanted))?);
            let (path, before) = settings(folder.join(".env"))?;
            plan.files.push(FilePlan::new(path, before, |text| Ok(codex::env(text, wanted, &default)))?);
            plan.notes.push(codex::NOTE.to_owned());
        }
        AgentArg::Gemini => plan_gemini(wanted, home, read, &default, &mut plan)?,
    }
    Ok(plan)
}

fn plan_gemini(
    wanted: &Wanted,
    home: &Path,
    read: Read<'_>,
    default: &AgentId,
    plan: &mut Plan,
) -> Result<(), Failure> {
    let home = gemini::home(home, path_variable);
    let path = home.join(".gemini/settings.json");
    let before = read(&path)?;
    let mut file = FilePlan::new(path, before, |text| gemini::settings(text, wanted))?;
    let env_path = home.join(".gemini/.env");
    let before = read(&env_path)?;
    let is_set = |name: &str| env::var_os(name).is_some();
    file.edited.warnings.extend(gemini::overrides(before.as_deref().unwrap_or_default(), is_set));
    plan.files.push(file);
    let export = format!("export {}={}", attributes::VARIABLE, wanted.attributes(None, default));
    if before.is_none() && read(&home.join(".env"))?.is_some() {
        plan.notes.push(format!(
            "note: a new ~/.gemini/.env would hide your ~/.env from Gemini CLI; to name the agent, add this to your shell's profile: {export}"
        ));
    } else {
        let edit = |text: &str| -> Result<Edited, _> { Ok(plan::name_agent(text, wanted, default)) };
        plan.files.push(FilePlan::new(env_path, before, edit)?);
        if wanted.agent.is_some() {
            plan.notes.push(format!(
                "note: in a directory that has its own .env or is not trusted, Gemini CLI does not read this file; run there: {export}"
            ));
        }
    }
    plan.notes.push(gemini::NOTE.to_owned());
    Ok(())
}

/// Returns the default id of an agent.
fn default_agent(agent: AgentArg) -> Result<AgentId, Failure> {
    let id = match agent {
        AgentArg::Claude => "claude-code",
        AgentArg::Codex => "codex",
        AgentArg::Gemini => "gemini-cli",
    };
    id.parse().map_err(|error| Failure::new(format!("{error}")))
}

fn name(agent: AgentArg) -> &'static str {
    match agent {
        AgentArg::Claude => "Claude Code",
        AgentArg::Codex => "Codex",
        AgentArg::Gemini => "Gemini CLI",
    }
}

fn short(value: &str) -> String {
    match value.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", value.split_at(end).0),
        None => value.to_owned(),
    }
}
