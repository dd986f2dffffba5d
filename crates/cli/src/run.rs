//! `renown run`: runs a command, times it, and scores the run.
//!
//! | of the report | comes from |
//! |---|---|
//! | `outcome` | the exit code: 0 is completed, else failed; or what the file of `--stages` says |
//! | `wall_ms`, `started_at`, `finished_at` | the clock |
//! | `stages` | the file of `--stages`, which the command writes: an array, or an object with `stages` and perhaps `outcome` |
//! | `resources` | the control group, see `run/cgroup.rs`; without one the largest resident set of the command |
//!
//! The scorecard goes to standard error: standard output is the command's. Its exit code is ours, 128 and the signal if one ended it,
//! 127 if it cannot be started. A run that cannot be submitted is written to a file, and costs the command nothing.

mod cgroup;

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use renown_core::ids::{RunId, SpecId, Workspace};
use renown_core::scorecard::Resources;
use renown_core::time::Timestamp;
use renown_core::units::Whole;
use renown_store::sqlite::system_clock;
use serde_json::{Map, Value, json};

use crate::args::RunArgs;
use crate::failure::{self, Failure};
use crate::runs::{Destination, scorecard};
use cgroup::Group;

/// The exit code where the command cannot be started.
const CANNOT_START: u8 = 127;

pub(crate) fn run(args: &RunArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let Some((program, rest)) = args.command.split_first() else {
        return Err(Failure::new("no command was given"));
    };
    // Before the command, so that a mistake costs no run.
    let destination = Destination::of(&args.reach)?;
    if let Some(stages) = &args.stages {
        let _ = fs::remove_file(stages);
    }
    let group = Group::own();
    let before = group.as_ref().map(Group::counters).unwrap_or_default();
    let (started_at, started) = ((system_clock())(), Instant::now());
    let child = Command::new(program).args(rest).spawn();
    let status = match child {
        Ok(mut child) => pass_signals(&child).and_then(|()| child.wait()),
        Err(error) => {
            failure::print(&Failure::new(format!("cannot start {}: {error}", program.display())));
            return Ok(CANNOT_START.into());
        }
    };
    let status = status.map_err(|error| Failure::new(format!("the command: {error}")))?;
    let wall = started.elapsed();
    let mut resources = group.map_or_else(Resources::default, |group| group.since(before));
    resources.memory_peak_bytes = resources.memory_peak_bytes.or_else(largest_resident_set);
    let report = report(args, status, started_at, wall, resources);
    match destination.submit(report.to_string().as_bytes()) {
        Ok(score) if quiet => drop(score),
        Ok(score) => eprint_score(&score),
        Err(refused) => keep(args, &report, refused),
    }
    Ok(exit_code(status).into())
}

/// What is said of the run.
fn report(
    args: &RunArgs,
    status: ExitStatus,
    started_at: Timestamp,
    wall: Duration,
    resources: Resources,
) -> Value {
    let outcome = if status.success() { "completed" } else { "failed" };
    let mut report = json!({
        "agent_id": args.agent,
        "outcome": outcome,
        "wall_ms": u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
        "started_at": started_at,
        "finished_at": (system_clock())(),
    });
    let whole = |number: Option<Whole>| number.map(Whole::get);
    let resources: Map<String, Value> = [
        ("memory_peak_bytes", whole(resources.memory_peak_bytes)),
        ("memory_limit_bytes", whole(resources.memory_limit_bytes)),
        ("cpu_periods", whole(resources.cpu_periods)),
        ("cpu_throttled_periods", whole(resources.cpu_throttled_periods)),
        ("cpu_throttled_ms", whole(resources.cpu_throttled_ms)),
    ]
    .into_iter()
    .filter_map(|(name, number)| Some((name.to_owned(), number?.into())))
    .collect();
    let given = [
        ("run_id", args.run_id.as_ref().map(RunId::as_str)),
        ("workspace", args.workspace.as_ref().map(Workspace::as_str)),
        ("spec_id", args.spec.as_ref().map(SpecId::as_str)),
        ("branch", args.branch.as_deref()),
        ("pull_request", args.pull_request.as_deref()),
    ];
    if let Some(report) = report.as_object_mut() {
        report.insert("resources".to_owned(), resources.into());
        report.extend(
            given.iter().filter_map(|(name, value)| Some(((*name).to_owned(), Value::from((*value)?)))),
        );
        if let Some((stages, outcome)) = args.stages.as_deref().and_then(stages) {
            report.insert("stages".to_owned(), stages);
            outcome.map(|outcome| report.insert("outcome".to_owned(), outcome));
        }
    }
    report
}

/// The stages that the command wrote, and the outcome if it says one. A file that is no JSON is told of.
fn stages(file: &Path) -> Option<(Value, Option<Value>)> {
    let told = |error: &dyn std::fmt::Display| failure::warn(&format!("{}: {error}", file.display()));
    let text = fs::read(file).inspect_err(|error| told(error)).ok()?;
    match serde_json::from_slice(&text).inspect_err(|error| told(error)).ok()? {
        Value::Object(mut whole) => {
            Some((whole.remove("stages").unwrap_or_default(), whole.remove("outcome")))
        }
        stages @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            Some((stages, None))
        }
    }
}

/// The largest resident set of the commands that were waited for.
fn largest_resident_set() -> Option<Whole> {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN).ok()?;
    // Kilobytes on Linux, bytes on macOS.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    u64::try_from(usage.max_rss()).ok().and_then(|set| Whole::new(set.checked_mul(unit)?))
}

fn eprint_score(score: &Value) {
    for line in scorecard(score).lines() {
        failure::note(line);
    }
}

/// Keeps a report that could not be submitted.
fn keep(args: &RunArgs, report: &Value, refused: Failure) {
    let name =
        format!("renown-run-{}.json", report.get("started_at").and_then(Value::as_str).unwrap_or_default());
    let name = name.replace(':', "");
    let folder = args.reach.place.resolve().map_or_else(|_| std::env::temp_dir(), |place| place.data);
    let file = folder.join(name);
    let kept = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, report.to_string()));
    failure::print(&match kept {
        Ok(()) => {
            refused.hint(format!("the run is in {0}: `renown runs submit {0}` sends it", file.display()))
        }
        Err(error) => refused.hint(format!("the run could not be kept either: {}: {error}", file.display())),
    });
}

/// Stays alive whatever signal comes, so that the run is scored: those of a terminal reach the command anyway, the others are passed
/// on to it.
fn pass_signals(child: &Child) -> io::Result<()> {
    use rustix::process::{Pid, Signal, kill_process};
    use tokio::signal::unix::{SignalKind, signal};

    let pid = Pid::from_child(child);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let listen = |kind| {
        let _inside = runtime.enter();
        signal(kind)
    };
    let (mut interrupt, mut quit) = (listen(SignalKind::interrupt())?, listen(SignalKind::quit())?);
    let (mut terminate, mut hangup) = (listen(SignalKind::terminate())?, listen(SignalKind::hangup())?);
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                let passed = tokio::select! {
                    _ = interrupt.recv() => None,
                    _ = quit.recv() => None,
                    _ = terminate.recv() => Some(Signal::TERM),
                    _ = hangup.recv() => Some(Signal::HUP),
                };
                if let Some(signal) = passed {
                    let _ = kill_process(pid, signal);
                }
            }
        });
    });
    Ok(())
}

fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
