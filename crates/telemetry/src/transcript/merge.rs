//! # Every fact once
//!
//! Agents copy records into new sessions. All copies of a record have equal keys, and the record counts in one session:
//!
//! 1. the session that a mark names, if that session has files; a mark that is no proof counts if it has the record too
//! 2. else the earliest session: by the time of creation, or by the first record that no other session has. A session
//!    without such a record comes first. Of equal ones, the smaller id
//!
//! A copy whose original is gone counts where it is.
//!
//! A fork of Codex has no marks, and ids that are only unique in one thread. Its copied part ends after the last of
//! the leading facts that its parent has too, in order. Without the parent's file, it ends at the first pause.
//!
//! A sub-agent with a session of its own counts in the session that started it, and that one in its own parent's.
//!
//! | cost of a call | source |
//! |---|---|
//! | the session's own sum | reported: the first call has it all, the others 0; not within a time range |
//! | the call's own cost | reported; of OpenCode, 0 is no cost if the model has a price |
//! | none, and the model has a price | an estimate |
//!
//! The result does not depend on the order of the files, except where two versions of one record are equally good.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;

use super::{CopiedFrom, Entry, FileFork, Name, Transcript, TranscriptCounts};
use crate::dialect::Agent;
use crate::facts::{ApiRequest, Cost, Fact, Fingerprint, RecordOrigin, Signal, Sourced, Tokens};
use crate::ledger::{Session, TimeRange};
use crate::prices::Prices;
use crate::report::SessionReport;

/// A session that was read from transcripts.
#[derive(Clone, Debug)]
pub struct JudgedTranscript {
    /// Fold of its facts.
    pub session: Session,
    /// Kind of the agent.
    pub agent: Agent,
    /// Models of its API requests, in alphabetical order.
    pub models: Vec<String>,
    /// What each of them used, in the same order; then what requests without a model used.
    pub usage: Vec<ModelUsage>,
    /// Version of the agent.
    pub agent_version: Option<String>,
    /// Directory in which the agent worked.
    pub project: Option<String>,
    /// Models without a price, in alphabetical order.
    pub unpriced: Vec<String>,
    /// Whether the agent recorded only a part of the tokens.
    pub has_partial_tokens: bool,
}

/// What the requests to one model used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelUsage {
    /// Tokens of all kinds.
    pub total_tokens: u64,
    /// Tokens read from the cache.
    pub cache_tokens: u64,
    /// Cost in nano-dollars.
    pub cost_nano: u128,
    /// Whether a request has a cost that the agent reported.
    pub has_reported: bool,
    /// Whether a request has an estimated cost.
    pub has_priced: bool,
}

impl ModelUsage {
    fn add<T>(&mut self, request: &ApiRequest<T>) {
        let Tokens { input, output, cache_read, cache_creation } = request.tokens.unwrap_or_default();
        let sum = [input, output, cache_read, cache_creation].into_iter().fold(0, u64::saturating_add);
        self.total_tokens = self.total_tokens.saturating_add(sum);
        self.cache_tokens = self.cache_tokens.saturating_add(cache_read);
        let cost = match request.cost {
            Some(Cost::Reported(cost)) => {
                self.has_reported = true;
                cost
            }
            Some(Cost::Priced(cost)) => {
                self.has_priced = true;
                cost
            }
            None => return,
        };
        self.cost_nano = self.cost_nano.saturating_add(cost.nano());
    }
}

impl JudgedTranscript {
    /// Scores the session. Returns `None` if there is nothing to score.
    pub fn report(&self) -> Option<SessionReport<'_>> {
        let mut report = self.session.report()?;
        let coverage = &mut report.coverage;
        let is_new = !coverage.partial.contains(&TOKENS) && coverage.present.contains(&TOKENS);
        if self.has_partial_tokens && is_new {
            coverage.partial.push(TOKENS);
        }
        Some(report)
    }
}

/// The name of this evidence in the coverage.
const TOKENS: &str = "tokens";

/// Merges the transcripts of all agents.
#[derive(Debug)]
pub struct TranscriptMerge<'a> {
    prices: &'a Prices,
    range: TimeRange,
    agent_id: Option<&'a str>,
    files: Vec<(Agent, Transcript)>,
}

/// A function that takes the records of sessions, each once.
type Sink<'s> = &'s mut dyn FnMut(&RecordOrigin<&str>, &[Fact<&str>]);

impl<'a> TranscriptMerge<'a> {
    /// Creates a merge that counts facts within a time range.
    pub fn new(range: TimeRange, prices: &'a Prices) -> Self {
        Self { prices, range, agent_id: None, files: Vec::new() }
    }

    /// Sets the agent id of all sessions, instead of the name of the agent.
    #[must_use]
    pub fn with_agent_id(self, agent_id: Option<&'a str>) -> Self {
        Self { agent_id, ..self }
    }

    /// Adds the facts of a file. Files should be added in the order of their paths.
    pub fn add(&mut self, agent: Agent, transcript: Transcript) {
        self.files.push((agent, transcript));
    }

    /// Returns the counts of all files.
    pub fn counts(&self) -> TranscriptCounts {
        let mut counts = TranscriptCounts::default();
        for (_, file) in &self.files {
            counts += file.counts;
        }
        counts
    }

    /// Returns the sessions, in no order.
    pub fn finish(self) -> Vec<JudgedTranscript> {
        self.finish_into(&mut |_, _| {})
    }

    /// Returns the sessions, in no order, and passes on the records that they are made of.
    pub fn finish_into(self, sink: Sink<'_>) -> Vec<JudgedTranscript> {
        let all = Sessions::of(&self.files);
        let groups = Groups::of(&self.files, &all);
        let kept = keep(&self.files, &all, &groups);
        let mut fold = Fold::new(&self, &all, sink);
        fold.moments(&groups);
        fold.entries(kept);
        fold.finish()
    }
}

/// The number of a session among all files.
type SessionNumber = u32;

/// All sessions of all files.
#[derive(Debug, Default)]
struct Sessions<'f> {
    sessions: Vec<About<'f>>,
    /// Numbers by the number of the file and the number in the file.
    numbers: Vec<Vec<SessionNumber>>,
    /// First own line of each file.
    starts: Vec<u32>,
    /// Names of all files.
    names: Vec<&'f str>,
    /// Numbers of names by the number of the file and the number in the file.
    file_names: Vec<Vec<Name>>,
}

#[derive(Debug)]
struct About<'f> {
    agent: Agent,
    id: &'f str,
    parent: Option<&'f str>,
    project: Option<&'f str>,
    version: Option<&'f str>,
    created: Option<Timestamp>,
    cost: Option<NanoUsd>,
    has_partial_tokens: bool,
    /// Whether a file has a record of it.
    has_records: bool,
    /// The session that started it, and its parents'.
    root: SessionNumber,
}

impl<'f> Sessions<'f> {
    fn of(files: &'f [(Agent, Transcript)]) -> Self {
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
            let Some(about) = all.sessions.get(number) else { break };
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

    fn number(
        &mut self,
        by_id: &mut HashMap<(Agent, &'f str), SessionNumber>,
        agent: Agent,
        id: &'f str,
    ) -> SessionNumber {
        let next = SessionNumber::try_from(self.sessions.len()).unwrap_or(SessionNumber::MAX);
        *by_id.entry((agent, id)).or_insert_with(|| {
            self.sessions.push(About {
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

    fn describe(&mut self, number: SessionNumber, file: &'f Transcript, found: &'f super::FileSession) {
        let Some(about) = self.sessions.get_mut(number as usize) else { return };
        about.parent = about.parent.or(found.parent.as_deref());
        about.project = about.project.or(found.project.map(|name| file.name(name)));
        about.version = found.version.map(|name| file.name(name)).or(about.version);
        about.created = about.created.min(found.created).or(about.created).or(found.created);
        about.cost = found.cost.or(about.cost);
        about.has_partial_tokens |= found.has_partial_tokens;
    }

    fn find_roots(&mut self, by_id: &HashMap<(Agent, &'f str), SessionNumber>) {
        let parents: Vec<Option<SessionNumber>> =
            self.sessions.iter().map(|about| by_id.get(&(about.agent, about.parent?)).copied()).collect();
        for number in 0..self.sessions.len() {
            let (mut root, mut seen) = (number, HashSet::new());
            // A circle of parents ends where it began.
            while let Some(parent) = parents.get(root).copied().flatten().map(|parent| parent as usize) {
                if !seen.insert(root) {
                    break;
                }
                root = parent;
            }
            if let Some(about) = self.sessions.get_mut(number) {
                about.root = SessionNumber::try_from(root).unwrap_or(about.root);
            }
        }
    }

    fn note_records(&mut self, files: &[(Agent, Transcript)]) {
        for (number, (_, file)) in files.iter().enumerate() {
            let entries = file.entries.iter().map(|entry| entry.session);
            let sessions: BTreeSet<u32> =
                entries.chain(file.moments.iter().map(|moment| moment.session)).collect();
            for session in sessions {
                let Some(session) = self.of_file(number, session) else { continue };
                if let Some(about) = self.sessions.get_mut(session as usize) {
                    about.has_records = true;
                }
            }
        }
    }

    fn of_file(&self, file: usize, session: u32) -> Option<SessionNumber> {
        self.numbers.get(file)?.get(session as usize).copied()
    }

    fn get(&self, number: SessionNumber) -> Option<&About<'f>> {
        self.sessions.get(number as usize)
    }

    fn start_of(&self, file: usize) -> u32 {
        self.starts.get(file).copied().unwrap_or_default()
    }

    fn name(&self, name: Name) -> &'f str {
        self.names.get(name.0 as usize).copied().unwrap_or_default()
    }

    /// Replaces the names of a file's fact by those of all files.
    fn rename(&self, file: usize, fact: &Fact<Name>) -> Fact<Name> {
        let names = self.file_names.get(file);
        fact.clone().map(|name| names.and_then(|names| names.get(name.0 as usize)).copied().unwrap_or(name))
    }
}

/// Returns the first line of a file that is not a copy of its parent's.
fn first_own_line(files: &[(Agent, Transcript)], agent: Agent, file: &Transcript) -> u32 {
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
fn end_of_copy(parent: &[Entry], fork: &[Entry]) -> u32 {
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

/// The sessions that have a record, for the records of which there is more than one answer.
#[derive(Debug, Default)]
struct Groups {
    /// The session of each key, or the number of its group with [`SHARED`].
    by_key: HashMap<Fingerprint, u32>,
    groups: Vec<Group>,
    owners: Vec<SessionNumber>,
}

#[derive(Debug, Default)]
struct Group {
    sessions: Vec<SessionNumber>,
    /// Sessions that a mark names.
    origins: Vec<SessionNumber>,
    /// Sessions whose own copy has a mark.
    copies: Vec<SessionNumber>,
}

const SHARED: u32 = 1 << 31;

impl Groups {
    fn of(files: &[(Agent, Transcript)], all: &Sessions<'_>) -> Self {
        let mut groups = Self::default();
        for (number, (_, file)) in files.iter().enumerate() {
            let start = all.start_of(number);
            for moment in file.moments.iter().filter(|moment| moment.line >= start) {
                groups.add(all, number, moment.session, moment.key, moment.copied_from);
            }
            for entry in file.entries.iter().filter(|entry| entry.line >= start) {
                let alias = entry.keys.alias.filter(|_| !entry.keys.has_weak_alias);
                for key in [entry.keys.key, alias] {
                    groups.add(all, number, entry.session, key, entry.copied_from);
                }
            }
        }
        let ranks = groups.ranks(files, all);
        groups.owners = groups.groups.iter().map(|group| group.owner(&ranks)).collect();
        groups
    }

    fn add(
        &mut self,
        all: &Sessions<'_>,
        file: usize,
        session: u32,
        key: Option<Fingerprint>,
        copied_from: Option<CopiedFrom>,
    ) {
        let (Some(key), Some(session)) = (key, all.of_file(file, session)) else { return };
        let origin = copied_from.and_then(|mark| Some((all.of_file(file, mark.session)?, mark.is_certain)));
        let origin = origin.filter(|(origin, _)| all.get(*origin).is_some_and(|about| about.has_records));
        let known = self.by_key.get(&key).copied();
        if origin.is_none() && known.is_none_or(|known| known == session) {
            self.by_key.insert(key, session);
            return;
        }
        let number = match known {
            Some(known) if known & SHARED != 0 => known & !SHARED,
            before => {
                let number = u32::try_from(self.groups.len()).unwrap_or_default();
                self.groups.push(Group { sessions: before.into_iter().collect(), ..Group::default() });
                self.by_key.insert(key, number | SHARED);
                number
            }
        };
        let Some(group) = self.groups.get_mut(number as usize) else { return };
        let put = |list: &mut Vec<SessionNumber>, session| {
            if !list.contains(&session) {
                list.push(session);
            }
        };
        put(&mut group.sessions, session);
        if let Some((origin, is_certain)) = origin {
            // A mark that is no proof needs the record in the other session; that is decided by the owner.
            put(&mut group.origins, origin);
            put(&mut group.copies, session);
            if is_certain {
                put(&mut group.sessions, origin);
            }
        }
    }

    /// Returns the rank of each session: the session with the least rank owns a copied record.
    fn ranks<'f>(
        &self,
        files: &[(Agent, Transcript)],
        all: &Sessions<'f>,
    ) -> Vec<(Option<Timestamp>, &'f str)> {
        let mut own: Vec<Option<Timestamp>> = all.sessions.iter().map(|about| about.created).collect();
        for (number, (_, file)) in files.iter().enumerate() {
            for moment in &file.moments {
                let is_shared = self.group(moment.key).is_some_and(|(_, group)| group.sessions.len() > 1);
                let Some(session) = all.of_file(number, moment.session).filter(|_| !is_shared) else {
                    continue;
                };
                let has_creation = all.get(session).is_some_and(|about| about.created.is_some());
                if let Some(first) = own.get_mut(session as usize).filter(|_| !has_creation) {
                    *first = Some(first.map_or(moment.at, |first| first.min(moment.at)));
                }
            }
        }
        own.into_iter().zip(&all.sessions).map(|(first, about)| (first, about.id)).collect()
    }

    /// Returns the session in which a record counts.
    fn owner(&self, key: Option<Fingerprint>, session: SessionNumber) -> SessionNumber {
        self.group(key).and_then(|(number, _)| self.owners.get(number).copied()).unwrap_or(session)
    }

    /// Returns the group of a key with its number, if more than one answer is possible.
    fn group(&self, key: Option<Fingerprint>) -> Option<(usize, &Group)> {
        let known = *self.by_key.get(&key?)?;
        let number = (known & !SHARED) as usize;
        (known & SHARED != 0).then_some(number).and_then(|number| Some((number, self.groups.get(number)?)))
    }
}

impl Group {
    fn owner(&self, ranks: &[(Option<Timestamp>, &str)]) -> SessionNumber {
        let rank = |session: &SessionNumber| ranks.get(*session as usize);
        let least = |sessions: &mut dyn Iterator<Item = SessionNumber>| sessions.min_by_key(rank);
        let origins = || self.origins.iter().copied().filter(|origin| self.sessions.contains(origin));
        least(&mut origins().filter(|origin| !self.copies.contains(origin)))
            .or_else(|| least(&mut origins()))
            .or_else(|| least(&mut self.sessions.iter().copied()))
            .unwrap_or_default()
    }
}

/// A fact that counts.
struct Kept<'f> {
    owner: SessionNumber,
    /// The best version of the fact, and the number of its file.
    entry: &'f Entry,
    file: usize,
}

/// Returns each fact once. Side conversations come last, because they repeat records of the main one.
fn keep<'f>(files: &'f [(Agent, Transcript)], all: &Sessions<'_>, groups: &Groups) -> Vec<Kept<'f>> {
    let total = files.iter().map(|(_, file)| file.entries.len()).sum();
    let mut kept: Vec<Kept<'f>> = Vec::with_capacity(total);
    let mut by_key: HashMap<Fingerprint, usize> = HashMap::with_capacity(total);
    for side in [false, true] {
        for (file, (_, transcript)) in files.iter().enumerate() {
            let start = all.start_of(file);
            let entries = transcript.entries.iter();
            for entry in entries.filter(|entry| entry.line >= start && entry.is_side == side) {
                let Some(session) = all.of_file(file, entry.session) else { continue };
                let keys = entry.keys;
                let other = || {
                    let other = keys.alias.and_then(|alias| by_key.get(&alias)).copied()?;
                    let is_side = side || kept.get(other).is_some_and(|kept| kept.entry.is_side);
                    (!keys.has_weak_alias || is_side).then_some(other)
                };
                let known = keys.key.and_then(|key| by_key.get(&key)).copied().or_else(other);
                if let Some(known) = known.and_then(|known| kept.get_mut(known)) {
                    if entry.is_better_than(known.entry) {
                        (known.entry, known.file) = (entry, file);
                    }
                    continue;
                }
                let alias = keys.alias.filter(|_| !keys.has_weak_alias);
                let key = keys.key.filter(|key| groups.group(Some(*key)).is_some()).or(alias);
                for key in [keys.key, keys.alias].into_iter().flatten() {
                    by_key.entry(key).or_insert(kept.len());
                }
                kept.push(Kept { owner: groups.owner(key, session), entry, file });
            }
        }
    }
    kept
}

/// Folds facts into sessions.
struct Fold<'m, 'f> {
    merge: &'m TranscriptMerge<'m>,
    all: &'m Sessions<'f>,
    sink: Sink<'m>,
    /// Sessions at the number of their root.
    sessions: Vec<Option<Folded<'f>>>,
}

struct Folded<'f> {
    session: Session,
    models: BTreeMap<&'f str, ModelUsage>,
    without_model: ModelUsage,
    unpriced: BTreeSet<&'f str>,
    has_partial_tokens: bool,
    /// The session's own sum of costs, which is not counted yet.
    cost: Option<NanoUsd>,
    has_own_cost: bool,
}

impl<'m, 'f> Fold<'m, 'f> {
    fn new(merge: &'m TranscriptMerge<'m>, all: &'m Sessions<'f>, sink: Sink<'m>) -> Self {
        let mut sessions: Vec<Option<Folded<'f>>> = Vec::new();
        sessions.resize_with(all.sessions.len(), || None);
        Self { merge, all, sink, sessions }
    }

    fn origin(
        &self,
        about: &About<'f>,
        at: Option<Timestamp>,
        repeat: Option<Fingerprint>,
    ) -> RecordOrigin<&'m str> {
        RecordOrigin {
            session: about.id,
            signal: Signal::Transcript,
            at,
            until: None,
            sequence: None,
            repeat,
            agent: Sourced { rank: 0, value: about.agent },
            agent_id: Sourced { rank: 3, value: self.merge.agent_id.unwrap_or(about.agent.name()) },
            masque: None,
            known: true,
        }
    }

    /// Adds a record to the root of a session.
    fn add(
        &mut self,
        owner: SessionNumber,
        at: Option<Timestamp>,
        key: Option<Fingerprint>,
        fact: Option<Fact<&str>>,
    ) {
        let all = self.all;
        let Some(root) = all.get(owner).and_then(|about| all.get(about.root)) else { return };
        let origin = self.origin(root, at, key);
        let facts = fact.as_slice();
        (self.sink)(&origin, facts);
        if let Some(folded) = self.folded(owner) {
            folded.session.add_record(&origin, facts, |_| true);
        }
    }

    /// Returns the root of a session.
    fn folded(&mut self, session: SessionNumber) -> Option<&mut Folded<'f>> {
        let root = self.all.get(session)?.root;
        let about = self.all.get(root)?;
        let slot = self.sessions.get_mut(root as usize)?;
        Some(slot.get_or_insert_with(|| Folded {
            session: Session::new(about.id),
            models: BTreeMap::new(),
            without_model: ModelUsage::default(),
            unpriced: BTreeSet::new(),
            has_partial_tokens: about.has_partial_tokens,
            cost: about.cost,
            has_own_cost: about.cost.is_some(),
        }))
    }

    fn contains(&self, at: Option<Timestamp>) -> bool {
        self.merge.range.contains(at)
    }

    fn moments(&mut self, groups: &Groups) {
        let merge = self.merge;
        for (number, (_, file)) in merge.files.iter().enumerate() {
            let start = self.all.start_of(number);
            for moment in file.moments.iter().filter(|moment| moment.line >= start) {
                let at = Some(moment.at);
                let Some(session) = self.all.of_file(number, moment.session) else { continue };
                if self.contains(at) && groups.owner(moment.key, session) == session {
                    self.add(session, at, None, None);
                }
            }
        }
    }

    fn entries(&mut self, kept: Vec<Kept<'_>>) {
        for Kept { owner, entry, file } in kept {
            if !self.contains(entry.at) {
                continue;
            }
            if self.all.get(owner).is_some_and(|about| about.has_partial_tokens)
                && let Some(folded) = self.folded(owner)
            {
                folded.has_partial_tokens = true;
            }
            let all = self.all;
            let fact = match all.rename(file, &entry.fact) {
                Fact::ApiRequest(request) => {
                    let request = self.request(owner, request, entry.long_writes);
                    Fact::ApiRequest(request)
                }
                fact @ (Fact::ToolResult { .. }
                | Fact::Prompt { .. }
                | Fact::ApiError { .. }
                | Fact::ToolDecision { .. }
                | Fact::Feedback { .. }
                | Fact::Compaction { .. }
                | Fact::Refusal) => fact.map(|name| all.name(name)),
            };
            self.add(owner, entry.at, entry.keys.key, Some(fact));
        }
    }

    /// Decides on the cost of a call.
    fn request(
        &mut self,
        owner: SessionNumber,
        request: ApiRequest<Name>,
        long_writes: u64,
    ) -> ApiRequest<&'f str> {
        let (all, prices) = (self.all, self.merge.prices);
        let is_whole = self.merge.range == TimeRange::default();
        let agent = all.get(owner).map_or(Agent::Unknown, |about| about.agent);
        let model = request.model.map(|name| all.name(name));
        let has_tokens = request.tokens.is_some_and(|tokens| tokens != Tokens::default());
        let estimate = || prices.cost_with(model?, request.tokens?, long_writes).map(Cost::Priced);
        let is_free = request.cost == Some(Cost::Reported(NanoUsd::from_nano(0)));
        let mut cost = match request.cost {
            None => estimate(),
            Some(reported) if agent == Agent::OpenCode && is_free && has_tokens => {
                Some(estimate().unwrap_or(reported))
            }
            reported => reported,
        };
        if let Some(folded) = self.folded(owner) {
            if folded.has_own_cost && is_whole {
                cost = Some(Cost::Reported(folded.cost.take().unwrap_or(NanoUsd::from_nano(0))));
            }
            if cost.is_none() && has_tokens {
                folded.unpriced.extend(model);
            }
        }
        let ApiRequest { tokens, duration_us, is_sum, .. } = request;
        let request = ApiRequest { model, tokens, cost, duration_us, is_sum };
        if let Some(folded) = self.folded(owner) {
            let usage = match model {
                Some(model) => folded.models.entry(model).or_default(),
                None => &mut folded.without_model,
            };
            usage.add(&request);
        }
        request
    }

    fn finish(mut self) -> Vec<JudgedTranscript> {
        // A session whose calls were not recorded still has its cost.
        for number in 0..self.sessions.len() {
            let Ok(number) = SessionNumber::try_from(number) else { break };
            let slot = self.sessions.get_mut(number as usize).and_then(Option::as_mut);
            let is_whole = self.merge.range == TimeRange::default();
            let Some(cost) = slot.and_then(|folded| folded.cost.take()).filter(|_| is_whole) else {
                continue;
            };
            let cost = Some(Cost::Reported(cost));
            let request = ApiRequest { model: None, tokens: None, cost, duration_us: None, is_sum: false };
            self.add(number, None, None, Some(Fact::ApiRequest(request)));
        }
        let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
        let folded = self.sessions.into_iter().zip(&self.all.sessions);
        folded
            .filter_map(|(folded, about)| {
                let Folded { session, models, without_model, unpriced, has_partial_tokens, .. } = folded?;
                let rest = (without_model != ModelUsage::default()).then_some(without_model);
                let usage = models.values().copied().chain(rest).collect();
                Some(JudgedTranscript {
                    session,
                    agent: about.agent,
                    models: models.into_keys().map(str::to_owned).collect(),
                    usage,
                    agent_version: about.version.map(str::to_owned),
                    project: about.project.map(str::to_owned),
                    unpriced: owned(unpriced),
                    has_partial_tokens,
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
