//! The fold: records of any number of sessions, each counted once, into one ledger a session.
//!
//! Only sums, minima and maxima are kept, so the order of records changes nothing, and neither does how they are cut into
//! files, batches or threads. The exception is what the contract calls first: of records that repeat one another the
//! first in the stream counts, and repeats are looked for among the first 65 536 records of a session.
//!
//! Memory goes by sessions, not records: a fixed ledger each, and eight bytes a record in the filter for repeats.
//!
//! Logs and spans of an agent tell the same story, so a session has a side for each and is scored from one.

mod repeats;
mod side;
mod snapshot;

use std::collections::{HashMap, HashSet};

use renown_core::time::Timestamp;

use crate::account::Account;
use crate::dialect::Agent;
use crate::facts::{Batch, Fact, Fingerprint, NOBODY, Origin, Signal, Sourced, Stretch};
use crate::kept::Kept;
use crate::limits::SESSIONS_MAX;
use repeats::Repeats;

use side::Count;
pub(crate) use side::{Side, Sum};

/// The times between which records count, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// The earliest.
    pub from: Option<Timestamp>,
    /// The latest.
    pub to: Option<Timestamp>,
}

impl Cut {
    /// Whether a record of this time counts. One without a time cannot be shown to lie within a cut.
    fn takes(&self, at: Option<Timestamp>) -> bool {
        match at {
            Some(at) => self.from.is_none_or(|from| at >= from) && self.to.is_none_or(|to| at <= to),
            None => self.from.is_none() && self.to.is_none(),
        }
    }
}

/// There are more sessions than a ledger holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManySessions;

/// All that is known of the sessions so far.
#[derive(Debug, Default)]
pub struct Ledger {
    cut: Cut,
    index: HashMap<Box<str>, usize>,
    sessions: Vec<Session>,
    account: Account,
}

impl Ledger {
    /// A ledger of the records within a cut.
    pub fn new(cut: Cut) -> Self {
        Self { cut, ..Self::default() }
    }

    /// Adds what a batch holds.
    pub fn fold(&mut self, batch: &Batch) -> Result<(), TooManySessions> {
        self.account += batch.account;
        let mut last: Option<(Stretch, usize)> = None;
        for (origin, facts) in batch.stored() {
            if !self.cut.takes(origin.at) {
                self.account.no_time += u64::from(origin.at.is_none());
                continue;
            }
            // Records come in runs of one session.
            let at = match last {
                Some((text, at)) if text == origin.session => at,
                _ => self.session(batch.text(origin.session))?,
            };
            last = Some((origin.session, at));
            let Some(session) = self.sessions.get_mut(at) else { continue };
            if !session.repeats.is_first(origin.repeat) {
                self.account.duplicates += 1;
                continue;
            }
            self.account.unknown_events += u64::from(!origin.known);
            self.account.no_time += u64::from(origin.at.is_none());
            let mut traces = std::mem::take(&mut session.traces);
            session.identify(origin, |text| batch.text(text));
            session.add(origin, facts, self.cut.to, |trace| traces.is_first(Some(trace)));
            session.traces = traces;
        }
        Ok(())
    }

    /// The place of a session, new or not.
    fn session(&mut self, id: &str) -> Result<usize, TooManySessions> {
        if let Some(at) = self.index.get(id) {
            return Ok(*at);
        }
        if self.sessions.len() == SESSIONS_MAX {
            return Err(TooManySessions);
        }
        let at = self.sessions.len();
        self.index.insert(id.into(), at);
        self.sessions.push(Session::new(id));
        Ok(at)
    }

    /// Counts lines that could not be read.
    pub fn count_bad_lines(&mut self, count: u64) {
        self.account.lines += count;
        self.account.bad_lines += count;
    }

    /// Counts the bytes of an unfinished last line.
    pub fn count_truncated(&mut self, bytes: u64) {
        self.account.truncated_bytes += bytes;
    }

    /// What became of everything that was read.
    pub fn account(&self) -> Account {
        let sessions = self.sessions.iter();
        Account {
            sessions: self.sessions.len() as u64,
            facts: total(sessions.clone().map(|session| session.scored().facts)),
            shadowed: self.account.shadowed.saturating_add(total(
                sessions.filter_map(|session| session.shadowed()).map(|side| side.records),
            )),
            ..self.account
        }
    }

    /// The sessions by start, then id; those without a time are older than all others.
    pub fn sessions(&self) -> Vec<&Session> {
        let mut sessions: Vec<&Session> = self.sessions.iter().collect();
        sessions.sort_by_key(|session| session.order());
        sessions
    }

    /// The sessions that have something to score, in the same order.
    pub fn scorable(&self) -> Vec<&Session> {
        let mut sessions = self.sessions();
        sessions.retain(|session| session.has_evidence());
        sessions
    }

    /// How many sessions have more records than repeats are looked for among.
    pub fn sessions_beyond_repeats(&self) -> usize {
        self.sessions.iter().filter(|session| session.is_beyond_repeats()).count()
    }

    /// The session of this id.
    pub fn find(&self, id: &str) -> Option<&Session> {
        self.sessions.get(*self.index.get(id)?)
    }
}

/// What counts add up to.
fn total(counts: impl Iterator<Item = Count>) -> u64 {
    counts.fold(Count::default(), |total, count| total + count).0
}

/// The best of the values that records gave: by source, then by time, then the least, so that the order of records
/// does not matter.
#[derive(Clone, Debug)]
struct Best<T> {
    rank: u8,
    /// No time is later than all.
    at: Option<Timestamp>,
    value: T,
}

impl<T> Best<T> {
    fn offer<U: Into<T> + PartialOrd<T> + Copy>(
        best: &mut Option<Self>,
        given: Sourced<U>,
        at: Option<Timestamp>,
    ) {
        let time = |at: Option<Timestamp>| at.map_or(i64::MAX, Timestamp::nanos);
        let is_better = best.as_ref().is_none_or(|best| {
            let order = (given.rank, time(at)).cmp(&(best.rank, time(best.at)));
            order.is_lt() || (order.is_eq() && given.value < best.value)
        });
        if is_better {
            *best = Some(Self { rank: given.rank, at, value: given.value.into() });
        }
    }
}

/// A session that is made of records that are all different, one after the other, within a cut.
#[derive(Debug)]
pub struct Folding {
    /// What they add up to so far.
    pub session: Session,
    cut: Cut,
    traces: HashSet<Fingerprint>,
}

impl Folding {
    /// The session before its first record.
    pub fn new(id: &str, cut: Cut) -> Self {
        Self { session: Session::new(id), cut, traces: HashSet::new() }
    }

    /// Adds a record if it lies in the cut.
    pub fn take(&mut self, Kept { origin, facts }: &Kept<'_>) {
        if self.cut.takes(origin.at) {
            self.session.identify(origin, |text| text);
            self.session.add(origin, facts, self.cut.to, |trace| self.traces.insert(trace));
        }
    }
}

/// One session.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) id: Box<str>,
    agent: Option<Best<Agent>>,
    agent_id: Option<Best<String>>,
    masque: Option<Best<String>>,
    logs: Side,
    /// Most sessions have none.
    spans: Option<Box<Side>>,
    repeats: Repeats,
    traces: Repeats,
}

impl Session {
    /// A session of which nothing is known yet.
    pub fn new(id: &str) -> Self {
        Self {
            id: id.into(),
            agent: None,
            agent_id: None,
            masque: None,
            logs: Side::default(),
            spans: None,
            repeats: Repeats::default(),
            traces: Repeats::default(),
        }
    }

    /// The session of these records, which are all different, within a cut.
    pub fn of<'a>(id: &str, cut: Cut, records: impl IntoIterator<Item = Kept<'a>>) -> Self {
        let mut folding = Folding::new(id, cut);
        for record in records {
            folding.take(&record);
        }
        folding.session
    }

    /// Adds a record that is not in it yet. A trace that stands for a prompt counts if it is the first.
    pub fn take(
        &mut self,
        origin: &Origin<&str>,
        facts: &[Fact<&str>],
        is_first_trace: impl FnMut(Fingerprint) -> bool,
    ) {
        self.identify(origin, |text| text);
        self.add(origin, facts, None, is_first_trace);
    }

    fn identify<'a, T: Copy>(&mut self, origin: &Origin<T>, text: impl Fn(T) -> &'a str) {
        let text = |Sourced { rank, value }| Sourced { rank, value: Text(text(value)) };
        Best::offer(&mut self.agent, origin.agent, origin.at);
        Best::offer(&mut self.agent_id, text(origin.agent_id), origin.at);
        if let Some(masque) = origin.masque {
            Best::offer(&mut self.masque, text(masque), origin.at);
        }
    }

    /// Adds a record that lies in the cut, which ends `to` at the latest.
    fn add<T>(
        &mut self,
        origin: &Origin<T>,
        facts: &[Fact<T>],
        to: Option<Timestamp>,
        mut is_first_trace: impl FnMut(Fingerprint) -> bool,
    ) {
        let side = match origin.signal {
            Signal::Logs => &mut self.logs,
            Signal::Spans => self.spans.get_or_insert_default(),
        };
        side.widen(origin.at);
        // A span that goes on after the cut ends with it.
        side.widen(origin.until.map(|until| to.map_or(until, |to| until.min(to))));
        side.records += u64::from(!facts.is_empty());
        for fact in facts {
            let counts = match fact {
                Fact::Prompt { trace: Some(trace) } => is_first_trace(*trace),
                Fact::Prompt { trace: None }
                | Fact::ToolResult { .. }
                | Fact::ApiRequest(_)
                | Fact::ApiError { .. }
                | Fact::ToolDecision { .. }
                | Fact::Feedback { .. }
                | Fact::Compaction { .. }
                | Fact::Refusal => true,
            };
            if counts {
                side.add(fact, origin.at);
            }
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether it has more records than repeats are looked for among.
    fn is_beyond_repeats(&self) -> bool {
        self.repeats.is_full() || self.traces.is_full()
    }

    /// When its first event was.
    pub fn started_at(&self) -> Option<Timestamp> {
        self.scored().first
    }

    fn order(&self) -> (Option<Timestamp>, &str) {
        (self.started_at(), &self.id)
    }

    /// Whether there is anything to score: a tool result, an API request or a prompt.
    pub fn has_evidence(&self) -> bool {
        self.scored().has_evidence()
    }

    /// When its last event was.
    pub fn ended_at(&self) -> Option<Timestamp> {
        self.scored().last
    }

    /// The signal that is scored: logs if they have a tool result or an API request, else spans if they have anything. Spans
    /// with nothing to score do not hide logs that have a prompt.
    pub fn signal(&self) -> Signal {
        let logs = &self.logs;
        let is_scored_from = |spans: &Side| {
            let has_more = spans.facts.0 > 0 || logs.facts.0 == 0;
            !logs.has_work() && has_more && (spans.has_evidence() || !logs.has_evidence())
        };
        match &self.spans {
            Some(spans) if is_scored_from(spans) => Signal::Spans,
            Some(_) | None => Signal::Logs,
        }
    }

    pub(crate) fn scored(&self) -> &Side {
        match (self.signal(), &self.spans) {
            (Signal::Spans, Some(spans)) => spans,
            (Signal::Logs | Signal::Spans, _) => &self.logs,
        }
    }

    /// The other side.
    fn shadowed(&self) -> Option<&Side> {
        match self.signal() {
            Signal::Logs => self.spans.as_deref(),
            Signal::Spans => Some(&self.logs),
        }
    }

    /// The kind of its agent.
    pub fn agent(&self) -> Agent {
        self.agent.as_ref().map_or(Agent::Unknown, |best| best.value)
    }

    /// The id of its agent, if its records name one.
    pub fn named_agent(&self) -> Option<&str> {
        self.agent_id.as_ref().filter(|best| best.rank < NOBODY.rank).map(|best| best.value.as_str())
    }

    /// The id of its agent.
    pub fn agent_id(&self) -> &str {
        self.agent_id.as_ref().map_or(NOBODY.value, |best| &best.value)
    }

    pub(crate) fn masque(&self) -> Option<&str> {
        self.masque.as_ref().map(|best| best.value.as_str())
    }
}

/// A text that is compared with an owned one before it becomes one.
#[derive(Clone, Copy, PartialEq)]
struct Text<'a>(&'a str);

impl PartialEq<String> for Text<'_> {
    fn eq(&self, other: &String) -> bool {
        self.0 == other
    }
}

impl PartialOrd<String> for Text<'_> {
    fn partial_cmp(&self, other: &String) -> Option<std::cmp::Ordering> {
        self.0.partial_cmp(other.as_str())
    }
}

impl From<Text<'_>> for String {
    fn from(text: Text<'_>) -> Self {
        text.0.to_owned()
    }
}
