//! The ledger: folds the records of any number of sessions, and counts each record once.
//!
//! A fold consists of sums, minima and maxima only. So the result does not depend on the order of the records, nor on
//! how they are split into files, batches and threads. There is one exception: if records repeat each other, the
//! first one in the stream counts, and only the first 65 536 records of a session are deduplicated.
//!
//! Memory grows with the number of sessions: a fixed size per session, plus eight bytes per record for deduplication.
//!
//! Log records, spans and transcripts of an agent report the same work. So a session has one `Side` for each, and one
//! of them is scored. The time of a transcript is its active time (`ledger::sittings`): sessions stay open for days.

mod repeats;
mod side;
mod sittings;
mod snapshot;

use std::collections::{HashMap, HashSet};

use renown_core::time::Timestamp;

use crate::account::Account;
use crate::dialect::Agent;
use crate::facts::{Batch, Fact, Fingerprint, RecordOrigin, Signal, Sourced, TextRange, UNKNOWN_AGENT_ID};
use crate::limits::SESSIONS_MAX;
use crate::stored::StoredRecord;
use repeats::Repeats;
use sittings::Sittings;

use side::Count;
pub(crate) use side::{Side, Sum};

/// The time range of the records that count. Both ends are included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeRange {
    /// Earliest time.
    pub from: Option<Timestamp>,
    /// Latest time.
    pub to: Option<Timestamp>,
}

impl TimeRange {
    /// Whether a record at this time counts. A record without a time only counts if the range has no ends.
    pub(crate) fn contains(&self, at: Option<Timestamp>) -> bool {
        match at {
            Some(at) => self.from.is_none_or(|from| at >= from) && self.to.is_none_or(|to| at <= to),
            None => self.from.is_none() && self.to.is_none(),
        }
    }
}

/// An error: the records have more than [`SESSIONS_MAX`] sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManySessions;

/// The folds of all sessions so far.
#[derive(Debug, Default)]
pub struct Ledger {
    range: TimeRange,
    index: HashMap<Box<str>, usize>,
    sessions: Vec<Session>,
    account: Account,
}

impl Ledger {
    /// Creates a ledger that counts records within a time range.
    pub fn new(range: TimeRange) -> Self {
        Self { range, ..Self::default() }
    }

    /// Adds the records of a batch.
    pub fn fold(&mut self, batch: &Batch) -> Result<(), TooManySessions> {
        self.account += batch.account;
        let mut last: Option<(TextRange, usize)> = None;
        for (origin, facts) in batch.stored_records() {
            if !self.range.contains(origin.at) {
                self.account.no_time += u64::from(origin.at.is_none());
                continue;
            }
            // Neighboring records usually belong to the same session.
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
            session.add(origin, facts, self.range.to, |trace| traces.is_first(Some(trace)));
            session.traces = traces;
        }
        Ok(())
    }

    /// Returns the index of a session. Creates the session if it is new.
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

    /// Counts lines that are not valid OTLP.
    pub fn count_bad_lines(&mut self, count: u64) {
        self.account.lines += count;
        self.account.bad_lines += count;
    }

    /// Counts the bytes of an unfinished last line.
    pub fn count_truncated(&mut self, bytes: u64) {
        self.account.truncated_bytes += bytes;
    }

    /// Returns the counts of everything that was read.
    pub fn account(&self) -> Account {
        let sessions = self.sessions.iter();
        Account {
            sessions: self.sessions.len() as u64,
            facts: total(sessions.clone().map(|session| session.scored().facts)),
            shadowed: self.account.shadowed.saturating_add(total(sessions.map(Session::shadowed))),
            ..self.account
        }
    }

    /// Returns the sessions sorted by start, then id. Sessions without a time come first.
    pub fn sessions(&self) -> Vec<&Session> {
        let mut sessions: Vec<&Session> = self.sessions.iter().collect();
        sessions.sort_by_key(|session| session.order());
        sessions
    }

    /// Returns the sessions that have evidence, in the same order.
    pub fn scorable(&self) -> Vec<&Session> {
        let mut sessions = self.sessions();
        sessions.retain(|session| session.has_evidence());
        sessions
    }

    /// Returns how many sessions have more records than are deduplicated.
    pub fn sessions_beyond_repeats(&self) -> usize {
        self.sessions.iter().filter(|session| session.is_beyond_repeats()).count()
    }

    /// Returns the session with this id.
    pub fn find(&self, id: &str) -> Option<&Session> {
        self.sessions.get(*self.index.get(id)?)
    }
}

/// Adds up counts.
fn total(counts: impl Iterator<Item = Count>) -> u64 {
    counts.fold(Count::default(), |total, count| total + count).0
}

/// The best of the values that records report: by rank of the source, then the earliest time, then the smallest value.
/// So it does not depend on the order of the records.
#[derive(Clone, Debug)]
struct Best<T> {
    rank: u8,
    /// Time of the record. A record without a time counts as the latest.
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

/// Builds a session from distinct records within a time range, one record at a time.
#[derive(Debug)]
pub struct SessionBuilder {
    /// Fold of the records so far.
    pub session: Session,
    range: TimeRange,
    traces: HashSet<Fingerprint>,
}

impl SessionBuilder {
    /// Creates a builder without records.
    pub fn new(id: &str, range: TimeRange) -> Self {
        Self { session: Session::new(id), range, traces: HashSet::new() }
    }

    /// Adds a record if it is in the time range.
    pub fn add(&mut self, StoredRecord { origin, facts }: &StoredRecord<'_>) {
        if self.range.contains(origin.at) {
            self.session.identify(origin, |text| text);
            self.session.add(origin, facts, self.range.to, |trace| self.traces.insert(trace));
        }
    }
}

/// The fold of a session's transcripts.
#[derive(Clone, Debug, Default)]
struct TranscriptSide {
    side: Side,
    sittings: Sittings,
}

/// One session: the fold of its records.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) id: Box<str>,
    agent: Option<Best<Agent>>,
    agent_id: Option<Best<String>>,
    masque: Option<Best<String>>,
    logs: Side,
    /// `None` in most sessions: most agents send only log records.
    spans: Option<Box<Side>>,
    transcript: Option<Box<TranscriptSide>>,
    repeats: Repeats,
    traces: Repeats,
}

impl Session {
    /// Creates a session without records.
    pub fn new(id: &str) -> Self {
        Self {
            id: id.into(),
            agent: None,
            agent_id: None,
            masque: None,
            logs: Side::default(),
            spans: None,
            transcript: None,
            repeats: Repeats::default(),
            traces: Repeats::default(),
        }
    }

    /// Folds distinct records within a time range into a session.
    pub fn of<'a>(id: &str, range: TimeRange, records: impl IntoIterator<Item = StoredRecord<'a>>) -> Self {
        let mut builder = SessionBuilder::new(id, range);
        for record in records {
            builder.add(&record);
        }
        builder.session
    }

    /// Adds a record that was not added before. A trace that counts as a prompt is counted if `is_first_trace`
    /// returns true.
    pub fn add_record(
        &mut self,
        origin: &RecordOrigin<&str>,
        facts: &[Fact<&str>],
        is_first_trace: impl FnMut(Fingerprint) -> bool,
    ) {
        self.identify(origin, |text| text);
        self.add(origin, facts, None, is_first_trace);
    }

    fn identify<'a, T: Copy>(&mut self, origin: &RecordOrigin<T>, text: impl Fn(T) -> &'a str) {
        let text = |Sourced { rank, value }| Sourced { rank, value: Text(text(value)) };
        Best::offer(&mut self.agent, origin.agent, origin.at);
        Best::offer(&mut self.agent_id, text(origin.agent_id), origin.at);
        if let Some(masque) = origin.masque {
            Best::offer(&mut self.masque, text(masque), origin.at);
        }
    }

    /// Adds a record that is in the time range, which ends at `to`.
    fn add<T>(
        &mut self,
        origin: &RecordOrigin<T>,
        facts: &[Fact<T>],
        to: Option<Timestamp>,
        mut is_first_trace: impl FnMut(Fingerprint) -> bool,
    ) {
        let side = match origin.signal {
            Signal::Logs => &mut self.logs,
            Signal::Spans => self.spans.get_or_insert_default(),
            Signal::Transcript => {
                let transcript = self.transcript.get_or_insert_default();
                transcript.sittings.add(origin.at);
                &mut transcript.side
            }
        };
        side.widen(origin.at);
        // A span that ends after the range counts as ending with the range.
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

    /// Returns the session id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the session has more records than are deduplicated.
    fn is_beyond_repeats(&self) -> bool {
        self.repeats.is_full() || self.traces.is_full()
    }

    /// Returns the time of the first event.
    pub fn started_at(&self) -> Option<Timestamp> {
        self.scored().first
    }

    fn order(&self) -> (Option<Timestamp>, &str) {
        (self.started_at(), &self.id)
    }

    /// Whether the session has evidence: a tool result, an API request or a prompt.
    pub fn has_evidence(&self) -> bool {
        self.scored().has_evidence()
    }

    /// Returns the time of the last event.
    pub fn ended_at(&self) -> Option<Timestamp> {
        self.scored().last
    }

    /// Returns the source that is scored. Logs with a tool result or an API request come first, then spans with any
    /// fact. Spans without evidence do not hide logs that have a prompt. A transcript is scored if the telemetry has no
    /// tool result.
    pub fn signal(&self) -> Signal {
        let telemetry = self.telemetry();
        let side = self.side(telemetry);
        let is_scored = |transcript: &TranscriptSide| {
            let telemetry = side.filter(|side| side.tools.0 > 0);
            telemetry.is_none() && (transcript.side.has_evidence() || !side.is_some_and(Side::has_evidence))
        };
        match &self.transcript {
            Some(transcript) if is_scored(transcript) => Signal::Transcript,
            Some(_) | None => telemetry,
        }
    }

    /// Returns the OTLP signal that is scored if there is no transcript.
    fn telemetry(&self) -> Signal {
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

    fn side(&self, signal: Signal) -> Option<&Side> {
        match signal {
            Signal::Logs => Some(&self.logs),
            Signal::Spans => self.spans.as_deref(),
            Signal::Transcript => self.transcript.as_ref().map(|transcript| &transcript.side),
        }
    }

    pub(crate) fn scored(&self) -> &Side {
        self.side(self.signal()).unwrap_or(&self.logs)
    }

    /// Returns how long the session took: from its first to its last event, or for a transcript its active time.
    pub(crate) fn duration_ns(&self) -> u64 {
        let side = self.scored();
        let whole = side.last.zip(side.first).map_or(0, |(last, first)| last.nanos() - first.nanos());
        match (self.signal(), &self.transcript) {
            (Signal::Transcript, Some(transcript)) => transcript.sittings.active_ns(),
            (Signal::Logs | Signal::Spans | Signal::Transcript, _) => whole.unsigned_abs(),
        }
    }

    /// Returns the number of records of the sides that are not scored.
    fn shadowed(&self) -> Count {
        let scored = self.signal();
        let others = [Signal::Logs, Signal::Spans, Signal::Transcript].into_iter();
        let sides = others.filter(|signal| *signal != scored).filter_map(|signal| self.side(signal));
        sides.fold(Count::default(), |total, side| total + side.records)
    }

    /// Returns the kind of the agent.
    pub fn agent(&self) -> Agent {
        self.agent.as_ref().map_or(Agent::Unknown, |best| best.value)
    }

    /// Returns the agent id, or `None` if no record names the agent.
    pub fn named_agent(&self) -> Option<&str> {
        self.agent_id
            .as_ref()
            .filter(|best| best.rank < UNKNOWN_AGENT_ID.rank)
            .map(|best| best.value.as_str())
    }

    /// Returns the agent id, `unknown` if no record names the agent.
    pub fn agent_id(&self) -> &str {
        self.agent_id.as_ref().map_or(UNKNOWN_AGENT_ID.value, |best| &best.value)
    }

    pub(crate) fn masque(&self) -> Option<&str> {
        self.masque.as_ref().map(|best| best.value.as_str())
    }
}

/// A borrowed text that is compared with a `String`, and becomes a `String` only if it is better.
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
