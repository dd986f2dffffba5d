//! What the writer does inside a transaction: counts evaluations, adds agents and keys, keeps replies.
//!
//! The windows of agents that were lately written are held in memory, with a bound, and rebuilt from the log on first touch.
//! They run ahead of the file until the commit; if that fails, every one that was touched is forgotten. Until then none is
//! let go, since only they know what the transaction has done.

mod keys;

use std::collections::HashMap;
use std::sync::Arc;

use lru::LruCache;
use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::Window;
use renown_core::time::Timestamp;
use rusqlite::{Connection, Statement, params};

use super::orgs::{OrgKey, Orgs};
use super::rows::{self, AgentRow};
use super::salts::Salts;
use super::schema::MINUTE_MS;
use super::standings::Standings;
use crate::error::StoreError;
use crate::evidence::{EventId, NewEvaluation, Once, Outcome, Seq};
use crate::{Clock, REPLIES_KEPT_MS};

/// How many agents' windows the writer holds between two transactions: at most 2 KB each.
const WINDOWS_MAX: usize = 8192;

/// How many old replies one transaction forgets, so that nobody waits long for it.
const FORGOTTEN_AT_ONCE: i64 = 1000;

/// How many evaluations one transaction may hold, but for the last batch that is taken whole.
pub(super) const TRANSACTION_MAX: usize = WINDOWS_MAX / 4;

/// An agent as the writer knows it.
struct Agent {
    row: i64,
    last_seq: Option<i64>,
    last_seen: Timestamp,
    /// The minute of `last_seen` as it stands in the file.
    minute: i64,
    window: Window,
    /// Whether the open transaction has touched it.
    touched: bool,
}

impl Agent {
    fn new(row: AgentRow, window: Window) -> Self {
        let AgentRow { agent: row, last_seq, last_seen } = row;
        Self { row, last_seq, last_seen, minute: last_seen.millis() / MINUTE_MS, window, touched: false }
    }
}

type AgentKey = (OrgKey, AgentId);

/// The statements and the state of the writer.
pub(super) struct Log<'c> {
    connection: &'c Connection,
    orgs: Arc<Orgs>,
    standings: Arc<Standings>,
    clock: Clock,
    /// The latest time that was given to anything: times never go backwards.
    latest: Timestamp,
    salts: Salts,
    next_seq: HashMap<OrgKey, i64>,
    agents: LruCache<AgentKey, Agent>,
    touched: Vec<AgentKey>,
    new_orgs: Vec<(OrgId, OrgKey)>,
    begin: Statement<'c>,
    commit: Statement<'c>,
    insert_evaluation: Statement<'c>,
    update_agent: Statement<'c>,
    update_minute: Statement<'c>,
}

impl<'c> Log<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        orgs: Arc<Orgs>,
        standings: Arc<Standings>,
        clock: Clock,
    ) -> Result<Self, StoreError> {
        let latest: Option<i64> = connection.query_row(
            "SELECT max(latest) FROM (SELECT max(created_at) AS latest FROM orgs \
             UNION ALL SELECT max(created_at) FROM keys UNION ALL SELECT max(created_at) FROM replies \
             UNION ALL SELECT (SELECT max(last_seen) FROM agents a WHERE a.org = o.org AND a.seen_minute = \
             (SELECT max(seen_minute) FROM agents m WHERE m.org = o.org)) FROM orgs o)",
            [],
            |row| row.get(0),
        )?;
        Ok(Self {
            connection,
            orgs,
            standings,
            clock,
            latest: latest.and_then(|at| Timestamp::from_millis(at).ok()).unwrap_or(Timestamp::MIN),
            salts: Salts::default(),
            next_seq: HashMap::new(),
            agents: LruCache::unbounded(),
            touched: Vec::new(),
            new_orgs: Vec::new(),
            begin: connection.prepare("BEGIN IMMEDIATE")?,
            commit: connection.prepare("COMMIT")?,
            insert_evaluation: connection.prepare(
                "INSERT INTO evaluations (seq, org, agent, previous, evaluation_id, passed, latency_us, gate_us, \
                 agent_us, tool, gates, created_at, accepted_at, score, evaluations, salt) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
            )?,
            update_agent: connection.prepare(
                "UPDATE agents SET last_seen = ?2, last_seq = ?3, evaluations = ?4, passed = ?5, streak = ?6, \
                 latency_us = ?7, score = ?8 WHERE agent = ?1",
            )?,
            update_minute: connection.prepare("UPDATE agents SET seen_minute = ?2 WHERE agent = ?1")?,
        })
    }

    /// Begins a transaction, at a time that is not before any other.
    pub(super) fn begin(&mut self) -> Result<(), StoreError> {
        let now = (self.clock)();
        self.latest = self.latest.max(Timestamp::from_millis(now.millis()).unwrap_or(now));
        self.begin.raw_execute()?;
        Ok(())
    }

    /// A mark of how much the open transaction has changed.
    pub(super) fn changes(&self) -> u64 {
        self.connection.total_changes()
    }

    /// Whether the transaction can go on after a write that failed: it is open, and as it was at the mark. After a damaged
    /// page SQLite refuses every further write of a transaction.
    pub(super) fn can_go_on(&self, mark: u64, error: &StoreError) -> bool {
        let damaged_page = matches!(error, StoreError::Sqlite(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt));
        !damaged_page && !self.connection.is_autocommit() && self.changes() == mark
    }

    /// Writes the sums of the touched agents, makes everything durable, and only then shows it to readers.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        self.write_sums()?;
        self.commit.raw_execute()?;
        for (name, key) in self.new_orgs.drain(..) {
            self.orgs.add(name, key);
        }
        for key in self.touched.drain(..) {
            if let Some(agent) = self.agents.peek_mut(&key) {
                agent.touched = false;
                self.standings.publish(key.0, &key.1, agent.window.tally());
            }
        }
        while self.agents.len() > WINDOWS_MAX {
            self.agents.pop_lru();
        }
        Ok(())
    }

    /// Forgets what the transaction did. Some failures have rolled it back already.
    pub(super) fn roll_back(&mut self) {
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.new_orgs.clear();
        self.next_seq.clear();
        for key in self.touched.drain(..) {
            self.agents.pop(&key);
        }
    }

    fn write_sums(&mut self) -> Result<(), StoreError> {
        for key in &self.touched {
            let Some(agent) = self.agents.peek_mut(key) else { continue };
            let tally = agent.window.tally();
            self.update_agent.execute(params![
                agent.row,
                agent.last_seen.millis(),
                agent.last_seq,
                tally.evaluations(),
                tally.passed(),
                tally.streak(),
                tally.latency_us(),
                tally.breakdown().score(),
            ])?;
            let minute = agent.last_seen.millis() / MINUTE_MS;
            if minute != agent.minute {
                self.update_minute.execute([agent.row, minute])?;
                agent.minute = minute;
            }
        }
        Ok(())
    }

    /// Counts evaluations in this order. What is known of their agents is read before anything is written, so that
    /// one whose evidence makes no sense fails only the writes that name it.
    pub(super) fn append(
        &mut self,
        org: &OrgId,
        evaluations: &[NewEvaluation],
        once: Option<Once<[Outcome]>>,
    ) -> Result<Vec<Outcome>, StoreError> {
        let org = self.orgs.get(org)?;
        for new in evaluations {
            self.recall(org, &new.agent)?;
        }
        let outcomes = evaluations
            .iter()
            .map(|new| self.count(org, new))
            .collect::<Result<Vec<Outcome>, StoreError>>()?;
        self.keep_reply(once, outcomes.as_slice())?;
        Ok(outcomes)
    }

    fn count(&mut self, org: OrgKey, new: &NewEvaluation) -> Result<Outcome, StoreError> {
        if let EventId::Sent(_) = new.id
            && let Some(repeated) = self.repeated(org, new)?
        {
            return Ok(repeated);
        }
        match self.insert(org, new) {
            // An id made here that is there already, which chance all but excludes.
            Err(StoreError::Sqlite(error)) if is_taken(&error) => match self.repeated(org, new)? {
                Some(repeated) => Ok(repeated),
                None => Err(error.into()),
            },
            inserted => inserted,
        }
    }

    fn repeated(&mut self, org: OrgKey, new: &NewEvaluation) -> Result<Option<Outcome>, StoreError> {
        let Some(first) = rows::event_of(self.connection, org, new.id.get().as_str())? else {
            return Ok(None);
        };
        let tally = match self.agents.peek(&(org, new.agent.clone())) {
            Some(agent) => agent.window.tally(),
            None => rows::tally_of(self.connection, org, &new.agent)?,
        };
        Ok(Some(Outcome::Repeated { first: Box::new(first), tally }))
    }

    fn insert(&mut self, org: OrgKey, new: &NewEvaluation) -> Result<Outcome, StoreError> {
        let seq = self.next_seq(org)?;
        let salt =
            self.salts.take().map_err(|error| StoreError::Damaged(format!("no random bytes: {error}")))?;
        let accepted_at = self.latest;
        let key = (org, new.agent.clone());
        if !self.agents.contains(&key) {
            // It was not there to be recalled.
            let row = self.insert_agent(org, &new.agent)?;
            let agent = Agent::new(
                AgentRow { agent: row, last_seq: None, last_seen: accepted_at },
                Window::default(),
            );
            self.agents.push(key.clone(), agent);
        }
        let Some(agent) = self.agents.get_mut(&key) else { return Err(StoreError::Closed) };
        // Before anything can fail, so that a roll-back forgets an agent whose row it takes back.
        if !agent.touched {
            agent.touched = true;
            self.touched.push(key);
        }
        let tally = agent.window.tally_after(new.evaluation());
        let standing = tally.standing();
        self.insert_evaluation.execute(params![
            seq.0,
            org,
            agent.row,
            agent.last_seq,
            new.id.get().as_str(),
            new.passed,
            new.latency.us(),
            new.gate_latency.us(),
            new.agent_latency.map(renown_core::units::Micros::us),
            new.tool.as_ref().map(renown_core::ids::ToolName::as_str),
            &*new.gates,
            new.timestamp.unwrap_or(accepted_at).millis(),
            accepted_at.millis(),
            standing.score,
            standing.eval_count,
            salt,
        ])?;
        agent.window.push(new.evaluation());
        (agent.last_seq, agent.last_seen) = (Some(seq.0), accepted_at);
        self.next_seq.insert(org, seq.0 + 1);
        Ok(Outcome::Counted { tally })
    }

    /// The next place in the log of an organization.
    fn next_seq(&mut self, org: OrgKey) -> Result<Seq, StoreError> {
        if let Some(&next) = self.next_seq.get(&org) {
            return Ok(Seq(next));
        }
        let (Seq(first), Seq(end)) = org.places();
        let last: Option<i64> = self.connection.query_row(
            "SELECT max(seq) FROM evaluations WHERE seq >= ?1 AND seq < ?2",
            [first, end],
            |row| row.get(0),
        )?;
        Ok(Seq(last.map_or(first, |last| last + 1)))
    }

    /// Rebuilds the window of an agent, if it is known and not held.
    fn recall(&mut self, org: OrgKey, agent: &AgentId) -> Result<(), StoreError> {
        let key = (org, agent.clone());
        if self.agents.contains(&key) {
            return Ok(());
        }
        if let Some(row) = rows::agent_row(self.connection, org, agent)? {
            let window = rows::window(self.connection, row.last_seq)?;
            self.agents.push(key, Agent::new(row, window));
        }
        Ok(())
    }

    fn insert_agent(&self, org: OrgKey, agent: &AgentId) -> Result<i64, StoreError> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO agents (org, name, first_seen, last_seen, seen_minute) VALUES (?1, ?2, ?3, ?3, ?4)",
        )?;
        let now = self.latest.millis();
        insert.execute(params![org, agent.as_str(), now, now / MINUTE_MS])?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Makes an agent known; whether it was new.
    pub(super) fn add_agent(
        &mut self,
        org: &OrgId,
        agent: &AgentId,
        once: Option<Once<bool>>,
    ) -> Result<bool, StoreError> {
        let org = self.orgs.get(org)?;
        let new = rows::agent_row(self.connection, org, agent)?.is_none();
        if new {
            self.insert_agent(org, agent)?;
        }
        self.keep_reply(once, &new)?;
        Ok(new)
    }

    fn keep_reply<T: ?Sized>(&self, once: Option<Once<T>>, outcome: &T) -> Result<(), StoreError> {
        let Some(Once { org, key, fingerprint, reply }) = once else { return Ok(()) };
        let org = self.orgs.get(&org)?;
        let (status, body) = reply(outcome);
        let mut insert = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO replies (org, key, fingerprint, status, body, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        insert.execute(params![org, key, fingerprint, status, body, self.latest.millis()])?;
        Ok(())
    }

    /// Forgets replies that are no longer kept.
    pub(super) fn forget_replies(&self) -> Result<(), StoreError> {
        let mut delete = self.connection.prepare_cached(
            "DELETE FROM replies WHERE (org, key) IN (SELECT org, key FROM replies WHERE created_at < ?1 LIMIT ?2)",
        )?;
        delete.execute([self.latest.millis() - REPLIES_KEPT_MS, FORGOTTEN_AT_ONCE])?;
        Ok(())
    }

    /// Writes what is there already: nothing changes, and the disk has to take it.
    pub(super) fn probe(&self) -> Result<(), StoreError> {
        let mut update = self.connection.prepare_cached("UPDATE orgs SET name = name WHERE org = 0")?;
        update.execute([])?;
        Ok(())
    }
}

/// Whether a row was refused because its id is there already.
fn is_taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}
