//! Judges the sessions that agents have left on this machine, together with those that a server has received.
//!
//! A session that a server has received is judged from its telemetry, if that has a tool result; else from its
//! transcript. The two are never added. The latest session is the one with the latest record.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;
use renown_telemetry::facts::Signal;
use renown_telemetry::ledger::Session;
use renown_telemetry::report::{CostSource, SessionReport};
use renown_telemetry::transcript::JudgedTranscript;

use super::print::{Shown, TranscriptDetails};
use super::received::{self, Received};
use super::watch::Screen;
use super::{Judge, no_logs, window};
use crate::args::{FormatArg, JudgeArgs, StatsArgs};
use crate::config;
use crate::failure::{self, Failure};
use crate::history::find::Found;
use crate::history::{self, History, Summary, Wanted, prices};
use crate::table::counted;

/// Number of sessions that a hint lists.
const NAMED: usize = 3;

/// Interval at which `--watch` looks for changes.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A session from one of the two sources.
enum Any<'a> {
    Received(&'a received::Found),
    Local(&'a JudgedTranscript),
}

impl Any<'_> {
    fn session(&self) -> &Session {
        match self {
            Self::Received(found) => &found.session,
            Self::Local(judged) => &judged.session,
        }
    }

    fn order(&self) -> (Option<Timestamp>, &str) {
        (self.session().ended_at(), self.session().id())
    }
}

/// Judges what is on this machine, if anything is.
pub(super) fn run(judge: &Judge<'_>) -> Result<ExitCode, Failure> {
    let args = judge.args;
    let has_filter = args.agent.is_some() || args.project.is_some();
    let is_one = args.session.is_none() && !args.all && args.last.is_none();
    let store = Received::open(args)?;
    // Imported sessions are not news: the files they came from may have grown.
    let has_telemetry = || {
        let latest = store.as_ref().map_or(Ok(Vec::new()), |store| store.latest(1, judge))?;
        Ok::<bool, Failure>(latest.iter().any(|found| found.session.signal() != Signal::Transcript))
    };
    let wants_history = !args.no_history && args.org.is_none() && args.location.store.is_none();
    let found = if wants_history && !(is_one && !has_filter && has_telemetry()?) {
        history::find(args.agent_kind())
    } else {
        Found::default()
    };
    if found.sources.is_empty() && !has_filter {
        if !judge.quiet && !found.problems.is_empty() {
            let summary = Summary { problems: found.problems, ..Summary::default() };
            failure::note(&summary.line(0));
        }
        return match store {
            Some(store) if args.watch => store.watch(judge),
            Some(store) => store.once(judge),
            None => Err(no_logs()),
        };
    }
    let local = Local::new(judge);
    if args.watch { local.watch(found) } else { local.once(store.as_ref(), found) }
}

/// Returns where the cache is: in the data directory.
pub(super) fn data(args: &JudgeArgs) -> Option<PathBuf> {
    args.location.data.clone().or_else(config::data_dir)
}

struct Local<'a> {
    judge: &'a Judge<'a>,
    project: Option<PathBuf>,
    prices: renown_telemetry::prices::Prices,
    /// Date of the prices that are part of the program.
    as_of: String,
}

impl<'a> Local<'a> {
    fn new(judge: &'a Judge<'a>) -> Self {
        let (prices, as_of) = prices::with_common(&judge.prices);
        let project = judge.args.project.as_deref();
        let project = project.map(|dir| std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned()));
        Self { judge, project, prices, as_of }
    }

    /// Reads the sessions in these files. `again` tells that they were read a moment ago.
    fn load(&self, found: Found, quiet: bool, again: bool) -> History {
        let args = self.judge.args;
        let wanted = Wanted {
            agent: args.agent_kind(),
            range: self.judge.cut,
            data: data(args),
            quiet,
            is_watching: again,
            agent_id: None,
        };
        let mut history = history::load(&wanted, found, &self.prices);
        if let Some(project) = &self.project {
            let real = project.canonicalize().unwrap_or_else(|_| project.clone());
            history.sessions.retain(|judged| {
                history::is_of_project(judged, project) || history::is_of_project(judged, &real)
            });
        }
        history
    }

    fn once(&self, store: Option<&Received>, found: Found) -> Result<ExitCode, Failure> {
        let judge = self.judge;
        let history = self.load(found, judge.quiet, false);
        let received = match store {
            Some(store) if self.project.is_none() => store.latest(usize::MAX, judge)?,
            _ => Vec::new(),
        };
        let agent = judge.args.agent_kind();
        let of_agent = |found: &&received::Found| agent.is_none_or(|agent| found.session.agent() == agent);
        let received: Vec<&received::Found> = received.iter().filter(of_agent).collect();
        let all = union(&received, &history.sessions);
        let selected = match self.select(&all) {
            Ok(selected) => selected,
            Err(failure) => {
                self.note(&history);
                return Err(failure);
            }
        };
        let shown: Vec<Shown<'_>> = selected.iter().filter_map(|any| self.shown(any)).collect();
        judge.print(&shown)?;
        self.note(&history);
        self.note_selected(&selected, &shown);
        let reports: Vec<_> = shown.into_iter().map(|shown| shown.report).collect();
        judge.report_missing(&reports);
        Ok(judge.passed(&reports))
    }

    /// Returns the selected sessions, oldest first.
    fn select<'s>(&self, all: &'s [Any<'s>]) -> Result<Vec<&'s Any<'s>>, Failure> {
        let args = self.judge.args;
        if let Some(id) = &args.session {
            if let Some(exact) = all.iter().find(|any| any.session().id() == id) {
                return Ok(vec![exact]);
            }
            let matching: Vec<&Any<'_>> =
                all.iter().filter(|any| any.session().id().starts_with(id.as_str())).collect();
            let names = |list: &[&Any<'_>]| {
                let latest = list.iter().rev().take(NAMED).map(|any| any.session().id());
                latest.collect::<Vec<_>>().join(", ")
            };
            return match matching.as_slice() {
                [one] => Ok(vec![*one]),
                [] => {
                    let failure = Failure::new(format!("no session {id} on this machine"));
                    let all: Vec<&Any<'_>> = all.iter().collect();
                    Err(if all.is_empty() {
                        failure
                    } else {
                        failure.hint(format!("the latest are {}", names(&all)))
                    })
                }
                several => {
                    Err(Failure::new(format!("{} begin with {id}", counted(several.len() as u64, "session")))
                        .hint(format!("the latest are {}", names(several))))
                }
            };
        }
        if all.is_empty() {
            let cut = window(self.judge.cut);
            return Err(Failure::new(format!("no session found on this machine{cut}"))
                .hint("--agent, --project, --from and --to leave sessions out"));
        }
        let count = if args.all { all.len() } else { 1 };
        let last = args.last.map_or(count, |last| usize::try_from(last).unwrap_or(usize::MAX));
        Ok(all.iter().skip(all.len().saturating_sub(last)).collect())
    }

    fn shown<'s>(&self, any: &'s Any<'s>) -> Option<Shown<'s>> {
        match any {
            Any::Received(found) => self.judge.received(found).map(Shown::of),
            Any::Local(judged) => {
                let mut report = judged.report()?;
                if let Some(masque) = &self.judge.masque {
                    report.masque = masque.clone().into();
                }
                let transcript = TranscriptDetails {
                    models: &judged.models,
                    agent_version: judged.agent_version.as_deref(),
                    project: judged.project.as_deref(),
                };
                Some(Shown { report, transcript: Some(transcript) })
            }
        }
    }

    fn note(&self, history: &History) {
        if self.judge.quiet {
            return;
        }
        failure::note(&history.summary.line(history.sessions.len()));
    }

    /// Says which session was judged, and what its cost is.
    fn note_selected(&self, selected: &[&Any<'_>], shown: &[Shown<'_>]) {
        if self.judge.quiet || self.judge.args.format == FormatArg::Json {
            return;
        }
        if let [Any::Local(judged)] = selected {
            failure::note(&described(judged));
        }
        let source = |shown: &&Shown<'_>| {
            matches!(shown.report.coverage.cost_source, CostSource::Priced | CostSource::Mixed)
        };
        if shown.iter().any(|one| source(&one)) {
            failure::note(&format!("costs are estimates, from prices of {}", self.as_of));
        }
        let local = selected.iter().filter_map(|any| match any {
            Any::Local(judged) => Some(*judged),
            Any::Received(_) => None,
        });
        if let Some(unpriced) = unpriced(local) {
            failure::note(&unpriced);
        }
    }

    /// Shows the live session whenever it changes, until the user ends the command.
    fn watch(&self, found: Found) -> Result<ExitCode, Failure> {
        let mut screen = Screen::new(self.judge.args.format);
        let mut found = Some(found);
        loop {
            let found = found.take().unwrap_or_else(|| history::find(self.judge.args.agent_kind()));
            let history = self.load(found, true, screen.has_shown());
            let all = union(&[], &history.sessions);
            if let Ok(selected) = self.select(&all)
                && let Some(shown) = selected.first().and_then(|any| self.shown(any))
                && !screen.show(shown)?
            {
                return Ok(ExitCode::SUCCESS);
            }
            wait();
        }
    }
}

/// All sessions of this machine, for sums.
pub(crate) struct Everything {
    history: History,
    received: Vec<received::Found>,
    as_of: String,
}

impl Everything {
    pub(crate) fn load(args: &StatsArgs, quiet: bool) -> Result<Self, Failure> {
        let judged = JudgeArgs::of_stats(args);
        let judge = Judge::new(&judged, quiet)?;
        let local = Local::new(&judge);
        let history = local.load(history::find(judged.agent_kind()), quiet, false);
        let received = match Received::open(&judged)? {
            Some(store) if local.project.is_none() => store.latest(usize::MAX, &judge)?,
            _ => Vec::new(),
        };
        let agent = judged.agent_kind();
        let of_agent = |found: &received::Found| agent.is_none_or(|agent| found.session.agent() == agent);
        let received: Vec<received::Found> = received.into_iter().filter(of_agent).collect();
        if history.sessions.is_empty() && received.is_empty() {
            return Err(no_logs());
        }
        Ok(Self { history, received, as_of: local.as_of.clone() })
    }

    /// Returns the report of each session, with its transcript if it was scored from that.
    pub(crate) fn reports(&self) -> Vec<(SessionReport<'_>, Option<&JudgedTranscript>, Option<NanoUsd>)> {
        let received: Vec<&received::Found> = self.received.iter().collect();
        let all = union(&received, &self.history.sessions);
        let reports = all.into_iter().filter_map(|any| match any {
            Any::Received(found) => Some((found.session.report()?, None, found.session.cost())),
            Any::Local(judged) => Some((judged.report()?, Some(judged), judged.session.cost())),
        });
        reports.collect()
    }

    pub(crate) fn summary(&self) -> String {
        self.history.summary.line(self.history.sessions.len())
    }

    pub(crate) fn as_of(&self) -> &str {
        &self.as_of
    }

    pub(crate) fn unpriced(&self) -> Option<String> {
        unpriced(self.history.sessions.iter())
    }
}

/// Names the models without a price.
fn unpriced<'a>(sessions: impl Iterator<Item = &'a JudgedTranscript>) -> Option<String> {
    let models: BTreeSet<&str> = sessions.flat_map(|judged| &judged.unpriced).map(String::as_str).collect();
    let models: Vec<&str> = models.into_iter().collect();
    (!models.is_empty()).then(|| {
        let models = models.join(", ");
        format!("no price for {models}: not part of the cost; [prices.\"MODEL\"] in renown.toml sets one")
    })
}

/// Describes a session on one line.
fn described(judged: &JudgedTranscript) -> String {
    let version = judged.agent_version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let models =
        if judged.models.is_empty() { String::new() } else { format!(" ({})", judged.models.join(", ")) };
    let project = judged.project.as_deref().map(|project| format!(" in {project}")).unwrap_or_default();
    let last = judged.session.ended_at().map(|at| format!(", last record {at}")).unwrap_or_default();
    format!("session {} of {}{version}{models}{project}{last}", judged.session.id(), judged.agent.name())
}

/// Returns the sessions of both sources in the order of their last record, each once.
fn union<'a>(received: &[&'a received::Found], local: &'a [JudgedTranscript]) -> Vec<Any<'a>> {
    // An imported transcript has no more than the local one.
    let has_tools = |session: &Session| {
        let is_telemetry = session.signal() != Signal::Transcript;
        is_telemetry && session.totals().is_some_and(|totals| totals.total_tools > 0)
    };
    let is_local = |id: &str| local.iter().any(|judged| judged.session.id() == id);
    let received: Vec<&received::Found> = received
        .iter()
        .copied()
        .filter(|found| has_tools(&found.session) || !is_local(found.session.id()))
        .collect();
    let is_received = |id: &str| received.iter().any(|found| found.session.id() == id);
    let local = local.iter().filter(|judged| !is_received(judged.session.id())).map(Any::Local);
    let mut all: Vec<Any<'a>> = received.iter().map(|found| Any::Received(found)).chain(local).collect();
    all.sort_by(|a, b| a.order().cmp(&b.order()));
    all
}

#[expect(clippy::disallowed_methods, reason = "agents do not notify readers of their files")]
fn wait() {
    thread::sleep(LOOK_EVERY);
}
