//! `renown run`: runs a command, times it, and scores the run.
//!
//! | field of the report | source |
//! |---|---|
//! | `outcome` | the exit code: 0 is completed, else failed; or the outcome in the file of `--stages`, if it is not better |
//! | `wall_ms`, `started_at`, `finished_at` | the clock |
//! | `stages` | the file of `--stages`, which the command writes: an array, or an object with `stages` and optionally `outcome` |
//! | `resources` | the control group, see `run/cgroup.rs`; without a memory peak there, the largest resident set of the command |
//!
//! The scorecard goes to standard error or to the file of `--output`: standard output belongs to the command. The exit code is that
//! of the command, or 128 plus the signal that ended it. It is 127 if the command is not found and 126 if it cannot be started; then
//! there is no run. A run that cannot be submitted is written to a file, and the exit code stays that of the command.
//! The command gets none of the variables `RENOWN_*`: it must not learn the key that submits its run.

mod cgroup;
mod stages;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use renown_core::ids::{RunId, SpecId, Workspace};
use renown_core::scorecard::Resources;
use renown_core::time::Timestamp;
use renown_core::units::Whole;
use renown_store::system_clock;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{RunArgs, TextFormatArg};
use crate::failure::{self, Failure};
use crate::judged::{hide_from_others, without_settings};
use crate::runs::{self, Destination, scorecard};
use crate::store_location;
use cgroup::Group;
use stages::{StagesFile, StagesReport, outcome};

/// The exit codes of a shell if a command is not found, and if it cannot be started.
const NOT_FOUND: u8 = 127;
const CANNOT_START: u8 = 126;

pub(crate) fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let Some((program, rest)) = args.command.split_first() else {
        return Err(Failure::new("no command was given"));
    };
    hide_from_others();
    // Checked before the command starts, so that a mistake does not waste a run.
    runs::check(&args.target, args.run_id.as_ref())?;
    let run_id = args.run_id.clone().map_or_else(runs::new_id, Ok)?;
    let signals = Signals::listen().map_err(|error| Failure::new(format!("signals: {error}")))?;
    let stages = args.stages.as_deref().map(StagesFile::before);
    let group = Group::own();
    let before = group.as_ref().map(Group::counters).unwrap_or_default();
    let (started_at, started) = (store_location::now()?, Instant::now());
    let mut command = Command::new(program);
    command.args(rest);
    without_settings(&mut command);
    let child = command.spawn();
    let has_ended = Arc::new(AtomicBool::new(false));
    let status = match child {
        Ok(mut child) => {
            signals.pass_to(&child, &has_ended);
            child.wait()
        }
        Err(error) => {
            failure::print(&Failure::new(format!("cannot start {}: {error}", program.display())));
            let code = if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { CANNOT_START };
            return Ok(code.into());
        }
    };
    has_ended.store(true, Ordering::Relaxed);
    let status = status.map_err(|error| Failure::new(format!("could not wait for the command: {error}")))?;
    let wall = started.elapsed();
    let mut resources = group.map_or_else(Resources::default, |group| group.since(before));
    resources.memory_peak_bytes = resources.memory_peak_bytes.or_else(largest_resident_set);
    let reported = stages.map(|stages| stages.read()).unwrap_or_default();
    let report = report(args, &run_id, status, started_at, wall, resources, reported);
    let submitted = Destination::of(&args.target)
        .and_then(|destination| destination.submit(report.to_string().as_bytes()));
    match submitted {
        Ok(score) => show(args, &score),
        Err(failure) => save(args, &run_id, &report, failure),
    }
    Ok(exit_code(status).into())
}

/// Returns the report of the run.
fn report(
    args: &RunArgs,
    run_id: &RunId,
    status: ExitStatus,
    started_at: Timestamp,
    wall: Duration,
    resources: Resources,
    reported: StagesReport,
) -> Value {
    let mut report = json!({
        "run_id": run_id,
        "agent_id": args.agent,
        "outcome": outcome(status.success(), reported.outcome).name(),
        "wall_ms": u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
        "started_at": started_at,
        "finished_at": (system_clock())().ok(),
        "resources": resources,
    });
    let given = [
        ("workspace", args.workspace.as_ref().map(Workspace::as_str)),
        ("spec_id", args.spec.as_ref().map(SpecId::as_str)),
        ("branch", args.branch.as_deref()),
        ("pull_request", args.pull_request.as_deref()),
    ];
    if let Some(report) = report.as_object_mut() {
        report.extend(
            given.iter().filter_map(|(name, value)| Some(((*name).to_owned(), Value::from((*value)?)))),
        );
        report.extend(reported.stages.map(|stages| ("stages".to_owned(), stages)));
    }
    report
}

/// Returns the largest resident set of the finished child processes.
fn largest_resident_set() -> Option<Whole> {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN).ok()?;
    // Kilobytes on Linux, bytes on macOS.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    u64::try_from(usage.max_rss()).ok().and_then(|set| Whole::new(set.checked_mul(unit)?))
}

/// Writes the scorecard to the file of `--output`, else to standard error.
fn show(args: &RunArgs, score: &Value) {
    let text = match args.target.format {
        TextFormatArg::Text => scorecard(score),
        TextFormatArg::Json => format!("{score}\n"),
    };
    if let Some(file) = &args.output {
        if let Err(error) = fs::write(file, text) {
            failure::warn(&format!("{}: {error}", file.display()));
        }
    } else {
        text.lines().for_each(failure::note);
    }
}

/// Saves a report that could not be submitted, readable by its owner only.
fn save(args: &RunArgs, run_id: &RunId, report: &Value, failure: Failure) {
    let plain = |char: char| if char.is_alphanumeric() || char == '-' { char } else { '_' };
    let name = format!("renown-{}.json", run_id.as_str().chars().map(plain).collect::<String>());
    let folder =
        args.target.location.resolve().map_or_else(|_| std::env::temp_dir(), |location| location.data);
    let file = folder.join(name);
    let kept = fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).and_then(|()| {
        let mut kept = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?;
        kept.write_all(report.to_string().as_bytes())
    });
    let target = match (&args.target.server.server, &args.target.location.data) {
        (Some(server), _) => format!(" --server {}", server.as_str()),
        (None, Some(data)) => format!(" --data {}", data.display()),
        (None, None) => String::new(),
    };
    failure::print(&match kept {
        Ok(()) => {
            let file = file.display();
            failure.hint(format!(
                "the run is saved in {file}: submit it with `renown runs submit {file}{target}`"
            ))
        }
        Err(error) => failure.hint(format!("the run could not be saved either: {}: {error}", file.display())),
    });
}

/// Signals to this process. They do not end it while the command runs, so that the run is scored. A signal of the terminal reaches
/// the command anyway; other signals are passed on to it. After the command has ended, a signal ends this process as usual.
struct Signals {
    runtime: Runtime,
    interrupt: tokio::signal::unix::Signal,
    quit: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

impl Signals {
    /// Listens for signals. Called before the command starts, so that no signal is missed.
    fn listen() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let listen = |kind| {
            let _inside = runtime.enter();
            signal(kind)
        };
        let (interrupt, quit) = (listen(SignalKind::interrupt())?, listen(SignalKind::quit())?);
        let (terminate, hangup) = (listen(SignalKind::terminate())?, listen(SignalKind::hangup())?);
        Ok(Self { runtime, interrupt, quit, terminate, hangup })
    }

    fn pass_to(self, child: &Child, has_ended: &Arc<AtomicBool>) {
        let (pid, has_ended) = (Pid::from_child(child), Arc::clone(has_ended));
        let Self { runtime, mut interrupt, mut quit, mut terminate, mut hangup } = self;
        thread::spawn(move || {
            runtime.block_on(async {
                loop {
                    let (signal, is_passed) = tokio::select! {
                        _ = interrupt.recv() => (Signal::INT, false),
                        _ = quit.recv() => (Signal::QUIT, false),
                        _ = terminate.recv() => (Signal::TERM, true),
                        _ = hangup.recv() => (Signal::HUP, true),
                    };
                    if has_ended.load(Ordering::Relaxed) {
                        #[expect(clippy::disallowed_methods, reason = "a signal ends a program at once")]
                        std::process::exit(128 + signal.as_raw());
                    }
                    if is_passed {
                        let _ = kill_process(pid, signal);
                    }
                }
            });
        });
    }
}

fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
