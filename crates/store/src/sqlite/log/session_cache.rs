//! The sessions that were lately written, in memory and with a bound. One that is being changed is taken out of there and put back
//! when it is written, so that nothing of a write that fails is left.

use lru::LruCache;
use renown_core::ids::{AgentId, SessionId};
use renown_core::time::Timestamp;
use renown_telemetry::derived::FoldedTraces;
use renown_telemetry::facts::{Fact, RecordOrigin};
use renown_telemetry::ledger::Session;
use renown_telemetry::stored;
use rusqlite::{Statement, params};

use crate::error::StoreError;
use crate::sessions::{RecordCursor, SessionSummary, key_of, last_event};
use crate::sqlite::orgs::OrgKey;

/// How many sessions the writer holds between two transactions: a few kilobytes each.
const HELD_MAX: usize = 8192;

/// The organization of a session and its id.
pub(super) type SessionKey = (OrgKey, SessionId);

/// The sessions that were lately written.
pub(super) struct HeldSessions {
    held: LruCache<SessionKey, Held>,
    /// Those that the open transaction has written.
    touched: Vec<SessionKey>,
}

impl HeldSessions {
    pub(super) fn new() -> Self {
        Self { held: LruCache::unbounded(), touched: Vec::new() }
    }

    /// The transaction is durable. Lets go of those that were not used for longest.
    pub(super) fn commit(&mut self) {
        self.touched.clear();
        while self.held.len() > HELD_MAX {
            self.held.pop_lru();
        }
    }

    /// The transaction is not.
    pub(super) fn roll_back(&mut self) {
        for key in self.touched.drain(..) {
            self.held.pop(&key);
        }
    }

    /// Lets go of the sessions of an agent, and of those that name it.
    pub(super) fn forget_agent(&mut self, org: OrgKey, agent: &AgentId) {
        let theirs = self.held.iter().filter(|((o, _), held)| *o == org && held.names(agent));
        let theirs: Vec<SessionKey> = theirs.map(|(key, _)| key.clone()).collect();
        for key in &theirs {
            self.forget(key);
        }
    }

    pub(super) fn forget(&mut self, key: &SessionKey) {
        self.held.pop(key);
    }

    /// Holds a session that the open transaction may have written.
    pub(super) fn hold(&mut self, key: SessionKey, held: Held) {
        self.touched.push(key.clone());
        self.held.push(key, held);
    }

    /// Takes a session up to change it, if it is held.
    pub(super) fn take(&mut self, key: &SessionKey) -> Option<Held> {
        self.held.pop(key)
    }
}

/// A session as the writer knows it.
pub(super) struct Held {
    pub(super) number: i64,
    /// Whose it is; none until that was first written.
    pub(super) agent: Option<AgentId>,
    /// The agent that was sent with signals.
    pub(super) told: Option<AgentId>,
    /// The agent that was named last.
    pub(super) named: Option<Box<str>>,
    pub(super) first_seen: Timestamp,
    pub(super) last_seen: Timestamp,
    pub(super) began_at: Timestamp,
    /// The last event, as far as it decides whether the session is over.
    pub(super) last_event: Timestamp,
    pub(super) is_open: bool,
    pub(super) closed_at: Option<Timestamp>,
    pub(super) records: i64,
    pub(super) traces: i64,
    pub(super) ledger: Session,
    /// The traces that follow from its records.
    pub(super) folded: FoldedTraces,
    /// What a list shows of its traces. `None` if that is not kept.
    pub(super) summary: Option<SessionSummary>,
    /// How many records and traces arrived since the summary was made.
    pub(super) arrived: i64,
    /// The number of the reputation event that it became.
    pub(super) event: Option<i64>,
}

impl Held {
    pub(super) fn new(number: i64, id: &SessionId, now: Timestamp) -> Self {
        Self {
            number,
            agent: None,
            told: None,
            named: None,
            first_seen: now,
            last_seen: now,
            began_at: now,
            last_event: Timestamp::MIN,
            is_open: false,
            closed_at: None,
            records: 0,
            traces: 0,
            ledger: Session::new(id.as_str()),
            folded: FoldedTraces::default(),
            summary: None,
            arrived: 0,
            event: None,
        }
    }

    /// Its records, if it has any.
    pub(super) fn scored(&self) -> Option<&Session> {
        (self.records > 0).then_some(&self.ledger)
    }

    /// Whether it is known to be of an agent, or to name it.
    fn names(&self, agent: &AgentId) -> bool {
        self.agent.as_ref() == Some(agent)
            || self.told.as_ref() == Some(agent)
            || self.named.as_deref() == Some(agent.as_str())
    }

    /// Keeps a record and adds it to the others; false if it is there already.
    pub(super) fn take(
        &mut self,
        insert: &mut Statement<'_>,
        insert_name: &mut Statement<'_>,
        origin: &RecordOrigin<&str>,
        facts: &[Fact<&str>],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let bytes = stored::encode(origin, facts.iter().cloned());
        let number = self.number;
        let mut keep =
            |at_ns: i64, key: i64, bytes: &[u8]| insert.execute(params![number, at_ns, key, bytes]);
        let RecordCursor { at_ns, mut key } = RecordCursor::of(origin, self.records.saturating_add(1));
        while keep(at_ns, key, &bytes)? == 0 {
            if origin.repeat.is_some() {
                return Ok(false);
            }
            key = key.wrapping_add(1);
        }
        let mut failed = None;
        self.ledger.add_record(origin, facts, |trace| match keep(0, key_of(trace), &[]) {
            Ok(kept) => kept > 0,
            Err(error) => {
                failed = Some(error);
                false
            }
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        self.folded.add(origin, facts);
        if let Some(agent) = origin.named_agent().filter(|agent| self.named.as_deref() != Some(agent)) {
            insert_name.execute(params![number, agent])?;
            self.named = Some(agent.into());
        }
        self.records = self.records.saturating_add(1);
        self.arrived = self.arrived.saturating_add(1);
        self.last_event = self.last_event.max(last_event(origin, now));
        Ok(true)
    }
}
