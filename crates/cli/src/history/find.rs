//! Finds the files of all agents.
//!
//! Only regular files are read: a pipe would block. A symbolic link is followed, and no directory is entered twice, so
//! a loop of links ends. Directories that cannot be listed are problems; those that do not exist are not.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use renown_telemetry::dialect::Agent;

use super::places::Places;

/// Deepest level of directories below a root.
const LEVELS_MAX: usize = 12;

/// A file with sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) agent: Agent,
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
    /// Time of the last change, in nanoseconds since 1970.
    pub(crate) changed_ns: i128,
    pub(crate) kind: Kind,
    /// Session name: the file's, or the directory's if each session has one.
    pub(crate) stem: String,
    pub(crate) is_subagent: bool,
    pub(crate) parent: Option<String>,
    pub(crate) project: Option<String>,
}

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Lines,
    Compressed,
    /// One JSON object.
    Document,
    /// The database of OpenCode.
    Database,
    /// The directory `storage` of old versions of OpenCode.
    Tree,
}

/// Something that could not be read.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
}

/// The files of all agents, in the order of their paths.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) sources: Vec<Source>,
    pub(crate) problems: Vec<Problem>,
}

/// Finds the files of an agent, or of all agents.
pub(crate) fn all(places: &Places, agent: Option<Agent>) -> Found {
    let wants = |kind: Agent| agent.is_none_or(|agent| agent == kind);
    let mut search = Search::default();
    for root in places.claude.iter().filter(|_| wants(Agent::ClaudeCode)) {
        search.walk(root, &mut |search, file| search.claude(file));
    }
    for root in places.codex.iter().filter(|_| wants(Agent::Codex)) {
        for dir in ["sessions", "archived_sessions"] {
            search.walk(&root.join(dir), &mut |search, file| search.codex(file));
        }
    }
    for root in places.gemini.iter().filter(|_| wants(Agent::GeminiCli)) {
        search.walk(root, &mut |search, file| search.gemini(file));
    }
    for root in places.qwen.iter().filter(|_| wants(Agent::QwenCode)) {
        for dir in ["projects", "tmp"] {
            search.walk(&root.join(dir), &mut |search, file| search.qwen(file));
        }
    }
    for root in places.opencode.iter().filter(|_| wants(Agent::OpenCode)) {
        search.opencode(root, places.opencode_db.as_deref());
    }
    for root in places.copilot.iter().filter(|_| wants(Agent::Copilot)) {
        for dir in ["session-state", "history-session-state"] {
            search.walk(&root.join(dir), &mut |search, file| search.copilot(file));
        }
    }
    for root in places.pi.iter().filter(|_| wants(Agent::Pi)) {
        search.walk(root, &mut |search, file| search.pi(file));
    }
    let mut found = search.found;
    found.sources.sort_by(|a, b| (a.agent, &a.path).cmp(&(b.agent, &b.path)));
    found
}

#[derive(Default)]
struct Search {
    found: Found,
    /// Directories that were entered.
    seen: BTreeSet<PathBuf>,
    /// Names of Codex files: an archived one may still be in its old place.
    rollouts: BTreeSet<String>,
}

/// A regular file below a root.
struct File<'a> {
    path: &'a Path,
    name: &'a str,
    /// Names of the directories between the root and the file.
    below: &'a [String],
    metadata: &'a Metadata,
}

impl File<'_> {
    /// Whether the name has this extension.
    fn is(&self, extension: &str) -> bool {
        Path::new(self.name).extension().is_some_and(|found| found == extension)
    }
}

type Visit<'v> = &'v mut dyn FnMut(&mut Search, &File<'_>);

impl Search {
    fn walk(&mut self, root: &Path, visit: Visit<'_>) {
        match root.canonicalize() {
            Ok(real) => self.dir(&real, &mut Vec::new(), visit),
            Err(error) => self.problem(root, &error),
        }
    }

    /// Notes a problem, unless the path just does not exist.
    fn problem(&mut self, path: &Path, error: &io::Error) {
        let is_absent = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        if !is_absent {
            self.found.problems.push(Problem { path: path.to_owned(), reason: error.to_string() });
        }
    }

    fn dir(&mut self, dir: &Path, below: &mut Vec<String>, visit: Visit<'_>) {
        if below.len() > LEVELS_MAX || !self.seen.insert(dir.to_owned()) {
            return;
        }
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) => return self.problem(dir, &error),
        };
        for entry in entries.flatten() {
            self.entry(&entry, below, visit);
        }
    }

    fn entry(&mut self, entry: &DirEntry, below: &mut Vec<String>, visit: Visit<'_>) {
        let path = entry.path();
        // A file that vanished since is not missed.
        let Ok(kind) = entry.file_type() else { return };
        let real = if kind.is_symlink() {
            path.canonicalize().unwrap_or_else(|_| path.clone())
        } else {
            path.clone()
        };
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() || (kind.is_symlink() && real.is_dir()) {
            below.push(name);
            self.dir(&real, below, visit);
            below.pop();
            return;
        }
        if !(kind.is_file() || kind.is_symlink()) {
            return;
        }
        let Ok(metadata) = fs::metadata(&path) else { return };
        if metadata.is_file() {
            visit(self, &File { path: &path, name: &name, below, metadata: &metadata });
        }
    }

    fn add(&mut self, agent: Agent, kind: Kind, file: &File<'_>) -> &mut Source {
        let stem = file.name.split(".jsonl").next().unwrap_or_default();
        let stem = stem.strip_suffix(".json").unwrap_or(stem).to_owned();
        let changed = file.metadata.modified().ok();
        let since = changed.and_then(|changed| changed.duration_since(UNIX_EPOCH).ok());
        self.found.sources.push(Source {
            agent,
            path: file.path.to_owned(),
            size: file.metadata.len(),
            changed_ns: since.map_or(0, |since| since.as_nanos().cast_signed()),
            kind,
            stem,
            is_subagent: false,
            parent: None,
            project: None,
        });
        let last = self.found.sources.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "it was pushed above")]
        &mut self.found.sources[last]
    }

    /// `PROJECT/SESSION.jsonl`, `PROJECT/SESSION/subagents/…/agent-ID.jsonl`; old: `PROJECT/agent-ID.jsonl`.
    fn claude(&mut self, file: &File<'_>) {
        let is_agent = file.name.starts_with("agent-");
        let is_wanted = match file.below {
            [_] => true,
            [_, _, subagents, ..] => subagents == "subagents" && is_agent,
            _ => false,
        };
        if file.is("jsonl") && is_wanted {
            self.add(Agent::ClaudeCode, Kind::Lines, file).is_subagent = is_agent;
        }
    }

    /// `…/rollout-TIME-THREAD.jsonl`, perhaps with `.zst`.
    fn codex(&mut self, file: &File<'_>) {
        let kind = match file.name {
            _ if file.is("jsonl") => Kind::Lines,
            name if name.ends_with(".jsonl.zst") => Kind::Compressed,
            _ => return,
        };
        let plain = file.name.trim_end_matches(".zst").to_owned();
        if file.name.starts_with("rollout-") && self.rollouts.insert(plain) {
            self.add(Agent::Codex, kind, file);
        }
    }

    /// `PROJECT/chats/session-….jsonl` or `.json`; `PROJECT/chats/PARENT/ID.jsonl`.
    fn gemini(&mut self, file: &File<'_>) {
        let kind = match file.name {
            _ if file.is("jsonl") => Kind::Lines,
            _ if file.is("json") => Kind::Document,
            _ => return,
        };
        let parent = match file.below {
            [_, chats] if chats == "chats" && file.name.starts_with("session-") => None,
            [_, chats, parent] if chats == "chats" => Some(parent.clone()),
            _ => return,
        };
        let chats = file.path.ancestors().nth(if parent.is_some() { 2 } else { 1 });
        let root = chats.and_then(Path::parent).map(|project| project.join(".project_root"));
        let project = root.and_then(|root| fs::read_to_string(root).ok());
        let source = self.add(Agent::GeminiCli, kind, file);
        source.project =
            project.map(|project| project.trim().to_owned()).filter(|project| !project.is_empty());
        source.is_subagent = parent.is_some();
        source.parent = parent;
    }

    /// `PROJECT/chats/SESSION.jsonl`, `PROJECT/subagents/SESSION/agent-….jsonl`; old: `HASH/chats/….json`.
    fn qwen(&mut self, file: &File<'_>) {
        match file.below {
            [_, chats] if chats == "chats" && file.is("jsonl") => {
                self.add(Agent::QwenCode, Kind::Lines, file);
            }
            [_, chats] if chats == "chats" && file.is("json") => {
                self.add(Agent::QwenCode, Kind::Document, file);
            }
            [_, subagents, parent, ..] if subagents == "subagents" && file.is("jsonl") => {
                let source = self.add(Agent::QwenCode, Kind::Lines, file);
                source.is_subagent = true;
                source.parent = Some(parent.clone());
            }
            _ => {}
        }
    }

    /// `opencode*.db`, and the directory `storage` of old versions.
    fn opencode(&mut self, root: &Path, moved: Option<&Path>) {
        let mut databases: Vec<PathBuf> = moved.map(Path::to_owned).into_iter().collect();
        match fs::read_dir(root) {
            Ok(entries) => databases.extend(entries.flatten().map(|entry| entry.path()).filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("opencode") && name.ends_with(".db")
            })),
            Err(error) => self.problem(root, &error),
        }
        databases.sort();
        databases.dedup();
        for path in databases {
            let Ok(metadata) = fs::metadata(&path) else { continue };
            if metadata.is_file() {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let log = path.with_file_name(format!("{name}-wal"));
                let file = File { path: &path, name: &name, below: &[], metadata: &metadata };
                let source = self.add(Agent::OpenCode, Kind::Database, &file);
                // New rows are in the log until a checkpoint.
                if let Some(log) = fs::metadata(log).ok().filter(|log| log.len() > 0) {
                    source.size += log.len();
                    let changed = log.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                    source.changed_ns += changed.map_or(0, |since| since.as_nanos().cast_signed());
                }
            }
        }
        let storage = root.join("storage");
        if let Ok(metadata) = fs::metadata(storage.join("message")) {
            let file = File { path: &storage, name: "storage", below: &[], metadata: &metadata };
            self.add(Agent::OpenCode, Kind::Tree, &file);
        }
    }

    /// `SESSION/events.jsonl`; old: `SESSION.jsonl`.
    fn copilot(&mut self, file: &File<'_>) {
        match file.below {
            [] if file.is("jsonl") => {
                self.add(Agent::Copilot, Kind::Lines, file);
            }
            [session] if file.name == "events.jsonl" => {
                let session = session.clone();
                self.add(Agent::Copilot, Kind::Lines, file).stem = session;
            }
            _ => {}
        }
    }

    /// `PROJECT/TIME_SESSION.jsonl`.
    fn pi(&mut self, file: &File<'_>) {
        if file.is("jsonl") {
            self.add(Agent::Pi, Kind::Lines, file);
        }
    }
}
