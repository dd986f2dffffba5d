//! The sessions that coding agents have left on this machine.
//!
//! ```text
//! places ──►  find: files by agent  ──►  read: on all cores, or from the cache  ──►  merge: sessions, each fact once
//! ```
//!
//! Nothing is configured: the places follow from the agents' own defaults and variables. Files are only read. Whatever
//! cannot be read is counted and named, and the rest is judged.

mod cache;
pub(crate) mod find;
mod opencode;
mod places;
pub(crate) mod prices;
mod read;

use std::path::{Path, PathBuf};

use renown_core::time::Timestamp;
use renown_telemetry::dialect::Agent;
use renown_telemetry::facts::{Fact, RecordOrigin};
use renown_telemetry::ledger::TimeRange;
use renown_telemetry::prices::Prices;
use renown_telemetry::transcript::{JudgedTranscript, TranscriptCounts, TranscriptMerge};

use crate::progress::Progress;
use crate::table::counted;
use cache::Cache;
use find::{Found, Problem};
use places::Places;

/// What to read, and how.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// The agent; all agents if `None`.
    pub(crate) agent: Option<Agent>,
    pub(crate) range: TimeRange,
    /// Directory of the cache.
    pub(crate) data: Option<PathBuf>,
    pub(crate) quiet: bool,
    /// Whether the sessions are read again and again, so that the cache is not written each time.
    pub(crate) is_watching: bool,
    /// Agent id of all sessions, instead of the name of the agent.
    pub(crate) agent_id: Option<String>,
}

/// The sessions on this machine.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Sessions with evidence, in the order of their last record.
    pub(crate) sessions: Vec<JudgedTranscript>,
    pub(crate) summary: Summary,
}

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) files: u64,
    pub(crate) agents: Vec<Agent>,
    pub(crate) counts: TranscriptCounts,
    /// Files without a record of a session.
    pub(crate) foreign: u64,
    pub(crate) problems: Vec<Problem>,
}

/// A function that takes the records of sessions.
pub(crate) type RecordSink<'s> = &'s mut dyn FnMut(&RecordOrigin<&str>, &[Fact<&str>]);

/// Finds the files of an agent, or of all agents. Reads none.
pub(crate) fn find(agent: Option<Agent>) -> Found {
    find::all(&Places::of_this_machine(), agent)
}

/// Reads the sessions in these files.
pub(crate) fn load(wanted: &Wanted, found: Found, prices: &Prices) -> History {
    load_into(wanted, found, prices, &mut |_, _| {})
}

/// Reads the sessions in these files, and passes on the records that they are made of.
pub(crate) fn load_into(wanted: &Wanted, found: Found, prices: &Prices, sink: RecordSink<'_>) -> History {
    let Found { sources, mut problems } = found;
    let mut cache = Cache::open(wanted.data.as_deref());
    let bytes = sources.iter().map(|source| source.size).sum();
    let progress = Progress::new(Some(bytes), !wanted.quiet);
    let read = read::all(&sources, &cache, &progress);
    progress.finish();
    let mut merge = TranscriptMerge::new(wanted.range, prices).with_agent_id(wanted.agent_id.as_deref());
    let mut summary = Summary::default();
    for (source, outcome) in sources.iter().zip(read) {
        match outcome {
            Ok(read) => {
                summary.files += 1;
                summary.foreign += u64::from(read.transcript.is_empty());
                if !summary.agents.contains(&source.agent) && !read.transcript.is_empty() {
                    summary.agents.push(source.agent);
                }
                cache.put(source, &read);
                merge.add(source.agent, read.transcript);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !wanted.is_watching {
        cache.save(wanted.agent.is_none());
    }
    summary.counts = merge.counts();
    let mut sessions = merge.finish_into(sink);
    sessions.retain(|judged| judged.session.has_evidence());
    sessions.sort_by(|a, b| order(a).cmp(&order(b)));
    summary.problems = problems;
    History { sessions, summary }
}

/// The order of sessions: by the last record, then by id.
fn order(judged: &JudgedTranscript) -> (Option<Timestamp>, &str) {
    (judged.session.ended_at(), judged.session.id())
}

impl Summary {
    /// Summarizes what was read on one line, with the problems.
    pub(crate) fn line(&self, sessions: usize) -> String {
        let names: Vec<&str> = self.agents.iter().map(|agent| agent.name()).collect();
        let of = if names.is_empty() { String::new() } else { format!(" of {}", names.join(", ")) };
        let TranscriptCounts { bad_lines, truncated_bytes, .. } = self.counts;
        let mut odd: Vec<String> = Vec::new();
        if bad_lines > 0 {
            odd.push(counted(bad_lines, "bad line"));
        }
        if truncated_bytes > 0 {
            odd.push(format!("{} of an unfinished line", counted(truncated_bytes, "byte")));
        }
        if self.foreign > 0 {
            odd.push(format!("{} without a session", counted(self.foreign, "file")));
        }
        if let Some(first) = self.problems.first() {
            let problems = counted(self.problems.len() as u64, "file");
            odd.push(format!("{problems} not read ({}: {})", first.path.display(), first.reason));
        }
        let odd = if odd.is_empty() { String::new() } else { format!("; {}", odd.join(", ")) };
        format!("read {}{of}: {}{odd}", counted(self.files, "file"), counted(sessions as u64, "session"))
    }
}

/// Whether a session belongs to a project: its directory, or one below it.
pub(crate) fn is_of_project(judged: &JudgedTranscript, project: &Path) -> bool {
    judged.project.as_deref().is_some_and(|own| Path::new(own).starts_with(project))
}
