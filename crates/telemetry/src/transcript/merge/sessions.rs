//! All sessions of all files, and where the copied part of a fork ends.

use std::collections::{BTreeSet, HashMap, HashSet};

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;

use crate::dialect::Agent;
use crate::facts::{Fact, Fingerprint};
use crate::transcript::{Entry, FileFork, FileSession, Name, Transcript};

/// The number of a session among all files.
pub(super) type SessionNumber = u32;

/// All sessions of all files.
#[derive(Debug, Default)]
pub(super) struct Sessions<'f> {
    pub(super) list: Vec<About<'f>>,
    /// Numbers by the number of the file and the number in the file.
    pub(super) numbers: Vec<Vec<SessionNumber>>,
    /// First own line of each file.
    pub(super) starts: Vec<u32>,
    /// Names of all files.
    pub(super) names: Vec<&'f str>,
    /// Numbers of names by the number of the file and the number in the file.
    pub(super) file_names: Vec<Vec<Name>>,
}

#[derive(Debug)]
pub(super) struct About<'f> {
    pub(super) agent: Agent,
    pub(super) id: &'f str,
    pub(super) parent: Option<&'f str>,
    pub(super) project: Option<&'f str>,
    pub(super) version: Option<&'f str>,
    pub(super) created: Option<Timestamp>,
    pub(super) cost: Option<NanoUsd>,
    pub(super) has_partial_tokens: bool,
    /// Whether a file has a record of it.
    pub(super) has_records: bool,
    /// The session that started it, and its parents'.
    pub(super) root: SessionNumber,
}

impl<'f> Sessions<'f> {
    pub(super) fn of(files: &'f [(Agent, Transcript)]) -> Self {
        let mut all = Self::default();
        let (mut by_id, mut by_name) = (HashMap::new(), HashMap::new());
        for (agent, file) in files {
            let numbers = file.sessions.iter().map(|about| {
                let number = all.number(&mut by_id, *agent, &about.id);
                all.describe(number, file, about);
                number
            });
            let numbers: Vec<SessionNumber> = numbers.collect();
            all.numbers.push(numbers);
            let names = file.names.iter().map(|name| {
                let next = Name(u32::try_from(all.names.len()).unwrap_or(u32::MAX));
                *by_name.entry(name.as_ref()).or_insert_with(|| {
                    all.names.push(name);
                    next
                })
            });
            let names = names.collect();
            all.file_names.push(names);
        }
        // Parents without a file still are the sessions to which the facts belong.
        for number in 0.. {
            let Some(about) = all.list.get(number) else { break };
            if let Some(parent) = about.parent {
                let agent = about.agent;
                all.number(&mut by_id, agent, parent);
            }
        }
        all.find_roots(&by_id);
        all.starts = files.iter().map(|(agent, file)| first_own_line(files, *agent, file)).collect();
        all.note_records(files);
        all
    }

    pub(super) fn number(
        &mut self,
        by_id: &mut HashMap<(Agent, &'f str), SessionNumber>,
        agent: Agent,
        id: &'f str,
    ) -> SessionNumber {
        let next = SessionNumber::try_from(self.list.len()).unwrap_or(SessionNumber::MAX);
        *by_id.entry((agent, id)).or_insert_with(|| {
            self.list.push(About {
                agent,
                id,
                parent: None,
                project: None,
                version: None,
                created: None,
                cost: None,
                has_partial_tokens: false,
                has_records: false,
                root: next,
            });
            next
        })
    }

    pub(super) fn describe(&mut self, number: SessionNumber, file: &'f Transcript, found: &'f FileSession) {
        let Some(about) = self.list.get_mut(number as usize) else { return };
        about.parent = about.parent.or(found.parent.as_deref());
        about.project = about.project.or(found.project.map(|name| file.name(name)));
        about.version = found.version.map(|name| file.name(name)).or(about.version);
        about.created = about.created.min(found.created).or(about.created).or(found.created);
        about.cost = found.cost.or(about.cost);
        about.has_partial_tokens |= found.has_partial_tokens;
    }

    pub(super) fn find_roots(&mut self, by_id: &HashMap<(Agent, &'f str), SessionNumber>) {
        let parents: Vec<Option<SessionNumber>> =
            self.list.iter().map(|about| by_id.get(&(about.agent, about.parent?)).copied()).collect();
        for number in 0..self.list.len() {
            let (mut root, mut seen) = (number, HashSet::new());
            // A circle of parents ends where it began.
            while let Some(parent) = parents.get(root).copied().flatten().map(|parent| parent as usize) {
                if !seen.insert(root) {
                    break;
                }
                root = parent;
            }
            if let Some(about) = self.list.get_mut(number) {
                about.root = SessionNumber::try_from(root).unwrap_or(about.root);
            }
        }
    }

    pub(super) fn note_records(&mut self, files: &[(Agent, Transcript)]) {
        for (number, (_, file)) in files.iter().enumerate() {
            let entries = file.entries.iter().map(|entry| entry.session);
            let sessions: BTreeSet<u32> =
                entries.chain(file.moments.iter().map(|moment| moment.session)).collect();
            for session in sessions {
                let Some(session) = self.of_file(number, session) else { continue };
                if let Some(about) = self.list.get_mut(session as usize) {
                    about.has_records = true;
                }
            }
        }
    }

    pub(super) fn of_file(&self, file: usize, session: u32) -> Option<SessionNumber> {
        self.numbers.get(file)?.get(session as usize).copied()
    }

    pub(super) fn get(&self, number: SessionNumber) -> Option<&About<'f>> {
        self.list.get(number as usize)
    }

    pub(super) fn start_of(&self, file: usize) -> u32 {
        self.starts.get(file).copied().unwrap_or_default()
    }

    pub(super) fn name(&self, name: Name) -> &'f str {
        self.names.get(name.0 as usize).copied().unwrap_or_default()
    }

    /// Replaces the names of a file's fact by those of all files.
    pub(super) fn rename(&self, file: usize, fact: &Fact<Name>) -> Fact<Name> {
        let names = self.file_names.get(file);
        fact.clone().map(|name| names.and_then(|names| names.get(name.0 as usize)).copied().unwrap_or(name))
    }
}

/// Returns the first line of a file that is not a copy of its parent's.
pub(super) fn first_own_line(files: &[(Agent, Transcript)], agent: Agent, file: &Transcript) -> u32 {
    let Some(FileFork { parent, certain_end, burst_end }) =
        file.sessions.first().and_then(|session| session.fork.as_ref())
    else {
        return 0;
    };
    let is_parent = |(other, found): &&(Agent, Transcript)| {
        *other == agent && found.sessions.first().is_some_and(|session| session.id == *parent)
    };
    match files.iter().find(is_parent) {
        Some((_, found)) => (*certain_end).max(end_of_copy(&found.entries, &file.entries)),
        None => *burst_end,
    }
}

/// Returns the first line after the leading facts that the parent has too. Model calls must come in the parent's
/// order; tool calls are known by their ids.
pub(super) fn end_of_copy(parent: &[Entry], fork: &[Entry]) -> u32 {
    let tokens = |entry: &Entry| match &entry.fact {
        Fact::ApiRequest(request) => request.tokens,
        Fact::ToolResult { .. }
        | Fact::Prompt { .. }
        | Fact::ApiError { .. }
        | Fact::ToolDecision { .. }
        | Fact::Feedback { .. }
        | Fact::Compaction { .. }
        | Fact::Refusal => None,
    };
    let mut requests = parent.iter().filter_map(tokens);
    let calls: HashSet<Fingerprint> = parent.iter().filter_map(|entry| entry.keys.alias).collect();
    let mut end = 0;
    for entry in fork {
        let is_copied = match (tokens(entry), entry.keys.alias) {
            (Some(tokens), _) => requests.next() == Some(tokens),
            (None, Some(call)) => calls.contains(&call),
            (None, None) => continue,
        };
        if !is_copied {
            break;
        }
        end = entry.line + 1;
    }
    end
}
