//! The cache of sessions that were written lately, with a limit. A session that is being changed is removed from
//! it, and inserted again when it is written. So nothing of a failed write stays in the cache.

use lru::LruCache;
use renown_core::ids::{AgentId, SessionId};
use renown_core::time::Timestamp;
use renown_telemetry::derived::FoldedTraces;
use renown_telemetry::facts::{Fact, RecordOrigin};
use renown_telemetry::ledger::Session;
use renown_telemetry::stored;
use rusqlite::{Statement, params};

use crate::error::StoreError;
use crate::fold::sessions::SessionState;
use crate::sessions::{RecordCursor, SessionSummary, key_of};
use crate::sqlite::orgs::OrgKey;

/// Maximum number of sessions that the writer caches between two transactions: a few kilobytes each.
const SESSIONS_MAX: usize = 8192;

/// The organization of a session and its id.
pub(super) type SessionKey = (OrgKey, SessionId);

/// The sessions that were written lately.
pub(super) struct SessionCache {
    sessions: LruCache<SessionKey, CachedSession>,
    /// Sessions that the open transaction has written.
    touched: Vec<SessionKey>,
}

impl SessionCache {
    pub(super) fn new() -> Self {
        Self { sessions: LruCache::unbounded(), touched: Vec::new() }
    }

    /// Called when the transaction is durable. Evicts the sessions that were not used for longest.
    pub(super) fn commit(&mut self) {
        self.touched.clear();
        while self.sessions.len() > SESSIONS_MAX {
            self.sessions.pop_lru();
        }
    }

    /// Called when the transaction failed. Drops the sessions that it has written.
    pub(super) fn roll_back(&mut self) {
        for key in self.touched.drain(..) {
            self.sessions.pop(&key);
        }
    }

    /// Drops the sessions of an agent, and those that name it.
    pub(super) fn remove_agent(&mut self, org: OrgKey, agent: &AgentId) {
        let theirs = self.sessions.iter().filter(|((o, _), cached)| *o == org && cached.names(agent));
        let theirs: Vec<SessionKey> = theirs.map(|(key, _)| key.clone()).collect();
        for key in &theirs {
            self.remove(key);
        }
    }

    /// Inserts a session that the open transaction may have written.
    pub(super) fn insert(&mut self, key: SessionKey, cached: CachedSession) {
        self.touched.push(key.clone());
        self.sessions.push(key, cached);
    }

    /// Removes a session, to change it or to drop it.
    pub(super) fn remove(&mut self, key: &SessionKey) -> Option<CachedSession> {
        self.sessions.pop(key)
    }
}

/// A session in the cache of the writer.
pub(super) struct CachedSession {
    pub(super) number: i64,
    pub(super) state: SessionState,
    /// The agent that a record named last.
    pub(super) named: Option<Box<str>>,
    pub(super) records: i64,
    pub(super) traces: i64,
    pub(super) ledger: Session,
    /// The fold of the traces that are derived from its records.
    pub(super) folded: FoldedTraces,
    /// The summary of its traces; `None` if it is not stored.
    pub(super) summary: Option<SessionSummary>,
    /// Number of records and traces that arrived since the summary was computed.
    pub(super) arrived: i64,
}

impl CachedSession {
    pub(super) fn new(number: i64, id: &SessionId, now: Timestamp) -> Self {
        Self {
            number,
            state: SessionState::new(now),
            named: None,
            records: 0,
            traces: 0,
            ledger: Session::new(id.as_str()),
            folded: FoldedTraces::default(),
            summary: None,
            arrived: 0,
        }
    }

    /// Returns the fold of its records, if it has any.
    pub(super) fn scored(&self) -> Option<&Session> {
        (self.records > 0).then_some(&self.ledger)
    }

    /// Returns whether it is known to belong to an agent, or to name it.
    fn names(&self, agent: &AgentId) -> bool {
        self.state.agent.as_ref() == Some(agent)
            || self.state.signal_agent.as_ref() == Some(agent)
            || self.named.as_deref() == Some(agent.as_str())
    }

    /// Writes a record and adds it to the folds. Returns `false` if the record is a repeat.
    pub(super) fn add_record(
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
        self.state.add_record(origin, now);
        Ok(true)
    }
}
