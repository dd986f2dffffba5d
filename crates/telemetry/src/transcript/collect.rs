//! Collects the facts of one file, each key once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;

use super::{CopiedFrom, Entry, FileSession, Keys, Moment, Name, Transcript};
use crate::facts::{ApiRequest, Cost, Fact, Fingerprint, Tokens};
use crate::limits::{FACT_TEXT_CHARS_MAX, SESSION_ID_BYTES_MAX};
use crate::value::cut;

/// A map by fingerprint. Fingerprints are hashes already, of the user's own files, so they are not hashed again: that
/// is most of the time of a merge.
pub(super) type ByFingerprint<T> = HashMap<Fingerprint, T, BuildHasherDefault<NoHash>>;

/// Returns the number that it is given.
#[derive(Debug, Default)]
pub(super) struct NoHash(u64);

impl Hasher for NoHash {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The facts of a file so far.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pub(super) transcript: Transcript,
    /// Number of the current line.
    pub(super) line: u32,
    names: HashMap<Box<str>, Name>,
    sessions: HashMap<Box<str>, u32>,
    by_key: ByFingerprint<usize>,
}

/// The record that a fact comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    pub(super) session: u32,
    pub(super) at: Option<Timestamp>,
    pub(super) copied_from: Option<CopiedFrom>,
    pub(super) is_side: bool,
}

impl Collector {
    /// Returns the number of a name. The empty name has none.
    pub(super) fn name(&mut self, text: &str) -> Option<Name> {
        let text = cut(text.trim(), FACT_TEXT_CHARS_MAX);
        if text.is_empty() {
            return None;
        }
        Some(self.intern(text))
    }

    /// Returns the number of a text of any length, such as a path.
    pub(super) fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return *name;
        }
        let name = Name(u32::try_from(self.transcript.names.len()).unwrap_or(u32::MAX));
        self.transcript.names.push(text.into());
        self.names.insert(text.into(), name);
        name
    }

    /// Returns the number of a session. Returns `None` for an invalid id.
    pub(super) fn session(&mut self, id: &str) -> Option<u32> {
        if let Some(session) = self.sessions.get(id) {
            return Some(*session);
        }
        let is_valid = (1..=SESSION_ID_BYTES_MAX).contains(&id.len()) && !id.chars().any(char::is_control);
        if !is_valid {
            return None;
        }
        let session = u32::try_from(self.transcript.sessions.len()).ok()?;
        self.transcript.sessions.push(FileSession { id: id.into(), ..FileSession::default() });
        self.sessions.insert(id.into(), session);
        Some(session)
    }

    /// Returns what the file says about a session.
    pub(super) fn about(&mut self, session: u32) -> Option<&mut FileSession> {
        self.transcript.sessions.get_mut(session as usize)
    }

    /// Sets the project and the version of a session. The first project and the last version count.
    pub(super) fn describe(&mut self, session: u32, project: Option<&str>, version: Option<&str>) {
        let project = project.filter(|_| {
            self.transcript.sessions.get(session as usize).is_some_and(|session| session.project.is_none())
        });
        let project = project.filter(|project| !project.is_empty()).map(|project| self.intern(project));
        let version = version.and_then(|version| self.name(version));
        if let Some(about) = self.about(session) {
            about.project = about.project.or(project);
            about.version = version.or(about.version);
        }
    }

    /// Notes that the session was active.
    pub(super) fn moment(&mut self, record: &Record, key: Option<Fingerprint>) {
        if let Some(at) = record.at {
            let &Record { session, copied_from, .. } = record;
            self.transcript.moments.push(Moment { session, line: self.line, copied_from, at, key });
        }
    }

    /// Adds a fact, unless the session has one with the same key.
    pub(super) fn fact(&mut self, record: &Record, keys: Keys, fact: Fact<Name>) {
        self.entry(record, keys, 0, fact);
    }

    /// Adds a model call, or the later version of one.
    pub(super) fn request(&mut self, record: &Record, keys: Keys, call: Call) {
        let Call { model, tokens, long_writes, cost } = call;
        let cost = cost.map(Cost::Reported);
        let request = ApiRequest { model, tokens: Some(tokens), cost, duration_us: None, is_sum: false };
        self.entry(record, keys, long_writes, Fact::ApiRequest(request));
    }

    /// Adds a cost without a model call.
    pub(super) fn cost(&mut self, record: &Record, keys: Keys, cost: NanoUsd) {
        let request = ApiRequest {
            model: None,
            tokens: None,
            cost: Some(Cost::Reported(cost)),
            duration_us: None,
            is_sum: false,
        };
        self.fact(record, keys, Fact::ApiRequest(request));
    }

    fn entry(&mut self, record: &Record, keys: Keys, long_writes: u64, fact: Fact<Name>) {
        let &Record { session, at, copied_from, is_side } = record;
        let entry = Entry { session, line: self.line, copied_from, is_side, at, keys, long_writes, fact };
        if let Some(key) = keys.key {
            let known = self.by_key.get(&key).and_then(|known| self.transcript.entries.get_mut(*known));
            if let Some(known) = known.filter(|known| known.session == session) {
                if entry.is_better_than(known) {
                    *known = Entry { line: known.line, keys: known.keys, ..entry };
                }
                return;
            }
            self.by_key.insert(key, self.transcript.entries.len());
        }
        self.transcript.entries.push(entry);
    }
}

/// A model call as an agent recorded it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Call {
    pub(super) model: Option<Name>,
    pub(super) tokens: Tokens,
    pub(super) long_writes: u64,
    pub(super) cost: Option<NanoUsd>,
}

impl Entry {
    /// Whether this is the better version of a record: of a model call, the one outside a side conversation, then the
    /// one with most output, then the one with most tokens. Agents append a response again while it grows.
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        let order = |entry: &Self| match &entry.fact {
            Fact::ApiRequest(request) => {
                let Tokens { input, output, cache_read, cache_creation } = request.tokens.unwrap_or_default();
                let sum = input.saturating_add(output).saturating_add(cache_read);
                Some((!entry.is_side, output, sum.saturating_add(cache_creation)))
            }
            Fact::ToolResult { .. }
            | Fact::Prompt { .. }
            | Fact::ApiError { .. }
            | Fact::ToolDecision { .. }
            | Fact::Feedback { .. }
            | Fact::Compaction { .. }
            | Fact::Refusal => None,
        };
        order(self) > order(other)
    }
}
