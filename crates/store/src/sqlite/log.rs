//! What the writer does inside a transaction: counts evaluations and events, scores runs, adds agents and keys, keeps replies,
//! settles the rows of agents, and forgets.
//!
//! The agents that were lately written are held in memory, with a bound: their sums, and for those whose window is full the
//! window, rebuilt from the log. They run ahead of the file until the commit; if that fails, every one that was touched is
//! forgotten. Until then none is let go, since only they know what the transaction has done.

mod admin;
mod agent;
mod batch;
pub(super) mod cleaning;
mod closing;
mod erased_names;
mod erasure;
mod identities;
mod keys;
mod repair;
mod replies;
mod retention;
mod row;
mod runs;
mod session_cache;
mod sessions;
mod settle;
mod summaries;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use lru::LruCache;
use renown_core::ids::{AgentId, OrgId};
use renown_core::reputation::{Tally, Window};
use renown_core::time::Timestamp;
use rusqlite::{Connection, Statement, params};

use self::agent::Agent;
pub use self::repair::Repaired;
use self::row::Row;
pub(super) use self::settle::SETTLE_EVERY;
use super::agent_cache::{AgentKey, Standings};
use super::agents::{self, AgentState};
use super::guard::Guard;
use super::mark::Waterline;
use super::orgs::{OrgKey, Orgs};
use super::rows;
use super::salts::Salts;
use super::schema::MINUTE_MS;
use crate::admin::LatencySource;
use crate::clock::{Clock, Following, Ready};
use crate::error::StoreError;
use crate::evidence::{EventId, NewEvaluation, Once, Outcome, Seq};
use crate::sessions::Closed;

/// How many agents the writer holds between two transactions: 2 KB each if their windows are full, else less than 1.
const AGENTS_MAX: usize = 8192;

/// About how many old replies one transaction forgets, so that nobody waits long for it.
const FORGOTTEN_AT_ONCE: i64 = 1000;

/// How many evaluations one transaction may hold, but for the last batch that is taken whole.
pub(super) const TRANSACTION_MAX: usize = AGENTS_MAX / 4;

/// The statements and the state of the writer.
pub(super) struct Log<'c> {
    connection: &'c Connection,
    waterline: Waterline,
    orgs: Arc<Orgs>,
    standings: Arc<Standings>,
    clock: Clock,
    following: Following,
    /// The time that is given to what is written now.
    latest: Timestamp,
    salts: Salts,
    next_seq: HashMap<OrgKey, i64>,
    agents: LruCache<AgentKey, Agent>,
    touched: Vec<AgentKey>,
    /// How many agents' rows are behind, when they were last to be settled, and why that failed if it did.
    behind_count: usize,
    settled_at: Timestamp,
    round: settle::Round,
    cannot_settle: Option<Arc<StoreError>>,
    new_orgs: Vec<(OrgId, OrgKey)>,
    /// Whose latency counts in the organizations that were asked for.
    latency_sources: HashMap<OrgKey, LatencySource>,
    /// The agents that the open transaction has erased.
    erased: HashSet<AgentKey>,
    cleaning: cleaning::Cleaning,
    guard: Guard,
    sweep: retention::Sweep,
    sessions: session_cache::HeldSessions,
    /// Sessions that committed transactions have closed because too many were open, and that no caller has received yet.
    closed_early: Vec<Closed>,
    /// How many of these the open transaction returns to its caller.
    returned_early: usize,
    /// Sessions that the open transaction has closed because too many were open.
    closing_early: Vec<Closed>,
    /// What the summaries of sessions that are being closed cost so far.
    closing_cost: i64,
    /// How many sessions are open, once that was asked.
    open_sessions: Option<usize>,
    begin: Statement<'c>,
    commit: Statement<'c>,
    insert_evaluation: Statement<'c>,
    insert_groups: batch::Groups<'c>,
    insert_record: Statement<'c>,
    insert_name: Statement<'c>,
    /// How far the session was looked through that names an erased agent.
    reached: Option<erased_names::Reached>,
}

impl<'c> Log<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        orgs: Arc<Orgs>,
        standings: Arc<Standings>,
        clock: Clock,
        waterline: Waterline,
        cleaning: cleaning::Cleaning,
        guard: Guard,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            connection,
            waterline,
            orgs,
            standings,
            clock,
            following: Following::default(),
            latest: rows::latest(connection)?,
            salts: Salts::default(),
            next_seq: HashMap::new(),
            agents: LruCache::unbounded(),
            touched: Vec::new(),
            behind_count: 0,
            settled_at: Timestamp::MIN,
            round: settle::Round::default(),
            cannot_settle: None,
            new_orgs: Vec::new(),
            latency_sources: HashMap::new(),
            erased: HashSet::new(),
            cleaning,
            guard,
            sweep: retention::Sweep::default(),
            sessions: session_cache::HeldSessions::new(),
            closed_early: Vec::new(),
            returned_early: 0,
            closing_early: Vec::new(),
            closing_cost: 0,
            open_sessions: None,
            begin: connection.prepare("BEGIN IMMEDIATE")?,
            commit: connection.prepare("COMMIT")?,
            insert_evaluation: connection.prepare(&row::insert(1))?,
            insert_groups: batch::Groups::prepare(connection)?,
            insert_record: connection
                .prepare("INSERT OR IGNORE INTO session_records (session, at_ns, key, record, seal) VALUES (?1, ?2, ?3, ?4, renown_seal(?1, ?2, ?3, ?4))")?,
            insert_name: connection
                .prepare("INSERT OR IGNORE INTO session_names (session, name) VALUES (?1, ?2)")?,
            reached: None,
        })
    }

    /// Begins a transaction at the time of the clock, which has to be one that can be right.
    pub(super) fn begin(&mut self) -> Result<(), StoreError> {
        let now = (self.clock)()?;
        let next = self.following.next(self.latest, now);
        if next < self.latest {
            self.come_back(next).inspect_err(|_| self.roll_back())?;
        }
        self.latest = next;
        self.begin.raw_execute()?;
        Ok(())
    }

    /// Begins a transaction in which nothing gets a time.
    pub(super) fn begin_untimed(&self) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch("BEGIN IMMEDIATE")?)
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

    /// Makes everything durable, and only then shows it to readers.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        self.waterline.raise(self.connection)?;
        self.commit.raw_execute()?;
        self.waterline.commit(self.connection);
        for (name, key) in self.new_orgs.drain(..) {
            self.orgs.add(name, key);
        }
        for key in self.erased.drain() {
            self.behind_count -= usize::from(self.standings.forget(&key));
        }
        for key in self.touched.drain(..) {
            if let Some(agent) = self.agents.peek_mut(&key) {
                agent.touched = false;
                let uncounted = std::mem::take(&mut agent.uncounted);
                self.behind_count += usize::from(self.standings.publish(key, agent.state, &uncounted));
            }
        }
        self.let_go();
        self.sessions.commit();
        self.closed_early.drain(..std::mem::take(&mut self.returned_early));
        self.closed_early.append(&mut self.closing_early);
        Ok(())
    }

    /// Lets go of the agents that were not used for longest.
    fn let_go(&mut self) {
        while self.agents.len() > AGENTS_MAX {
            self.agents.pop_lru();
        }
    }

    /// Forgets what the transaction did. Some failures have rolled it back already.
    pub(super) fn roll_back(&mut self) {
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.waterline.roll_back(self.connection);
        self.new_orgs.clear();
        self.next_seq.clear();
        self.latency_sources.clear();
        self.erased.clear();
        self.sweep = retention::Sweep::default();
        self.reached = None;
        self.sessions.roll_back();
        self.returned_early = 0;
        self.closing_early.clear();
        self.open_sessions = None;
        for key in self.touched.drain(..) {
            self.agents.pop(&key);
        }
        self.let_go();
    }

    fn count(&mut self, org: OrgKey, new: &NewEvaluation) -> Result<Outcome, StoreError> {
        let key = (org, new.agent.clone());
        if !self.agents.contains(&key) {
            // A repeated evaluation does not make its agent known.
            if let EventId::Sent(_) = new.id
                && let Some(repeated) = self.repeated(&key, new)?
            {
                return Ok(repeated);
            }
            self.insert_agent(&key)?;
        }
        match self.insert(&key, new) {
            // The id is there already. To ask for it first would cost every new one a look-up more.
            Err(StoreError::Sqlite(error)) if is_taken(&error) => match self.repeated(&key, new)? {
                Some(repeated) => Ok(repeated),
                None if self.free_evaluation_id(org, new.id.get())? => self.insert(&key, new),
                None => Err(error.into()),
            },
            inserted => inserted,
        }
    }

    fn repeated(&mut self, key: &AgentKey, new: &NewEvaluation) -> Result<Option<Outcome>, StoreError> {
        let Some(first) = rows::event_of(self.connection, key.0, new.id.get().as_str())? else {
            return Ok(None);
        };
        let tally = self.agents.peek(key).map(|agent| agent.state.tally).unwrap_or_default();
        Ok(Some(Outcome::Repeated { first: Box::new(first), tally }))
    }

    fn insert(&mut self, key: &AgentKey, new: &NewEvaluation) -> Result<Outcome, StoreError> {
        let org = key.0;
        let seq = self.next_seq(org)?;
        let salt = self.salts.take()?;
        let (accepted_at, evaluation) = (self.latest, new.evaluation(self.latency_source(org)?));
        let Some(agent) = self.agents.get_mut(key) else {
            return Err(StoreError::Bug("an agent is not cached"));
        };
        // Before anything can fail, so that a roll-back forgets an agent whose row it takes back.
        if !agent.touched {
            agent.touched = true;
            self.touched.push(key.clone());
        }
        // Only for an agent that this batch has made: the others were recalled.
        agent.expect(1, self.connection)?;
        let tally = match &agent.window {
            Some(window) => Some(window.tally_after(evaluation)),
            None => agent.state.tally.with(evaluation),
        };
        let tally = tally.ok_or_else(|| StoreError::Bug("a full window is not cached"))?;
        let (number, previous) = (agent.state.agent, agent.state.last_seq);
        let row = Row { seq: seq.0, org, agent: number, previous, new, evaluation, tally, accepted_at, salt };
        row::bind(&[row], &mut self.insert_evaluation)?;
        self.insert_evaluation.raw_execute()?;
        self.waterline.count_evaluation();
        agent.take(seq, new, evaluation, tally, accepted_at);
        self.next_seq.insert(org, seq.0 + 1);
        Ok(Outcome::Counted { tally })
    }

    /// The next place in the log of an organization.
    fn next_seq(&mut self, org: OrgKey) -> Result<Seq, StoreError> {
        if let Some(&next) = self.next_seq.get(&org) {
            return Ok(Seq(next));
        }
        let ((Seq(first), _), top) = (org.places(), rows::top(self.connection, org)?);
        let last = rows::last_place(self.connection, org)?.unwrap_or(first - 1);
        Ok(Seq(last.max(top) + 1))
    }

    /// Takes up an agent that is known and not held, and its window if so many evaluations may be too many for it.
    fn recall(&mut self, key: &AgentKey, coming: usize) -> Result<(), StoreError> {
        if let Some(agent) = self.agents.get_mut(key) {
            return agent.expect(coming, self.connection);
        }
        let Some(state) = self.known(key)? else { return Ok(()) };
        let mut agent = Agent::new(state, None);
        let expected = agent.expect(coming, self.connection);
        self.agents.push(key.clone(), agent);
        expected
    }

    /// What is known of an agent that is not held.
    fn known(&self, key: &AgentKey) -> Result<Option<AgentState>, StoreError> {
        match self.standings.latest(key).filter(|_| !self.erased.contains(key)) {
            None => agents::find(self.connection, key.0, &key.1),
            latest => Ok(latest),
        }
    }

    /// Makes an agent known.
    fn insert_agent(&mut self, key: &AgentKey) -> Result<(), StoreError> {
        let now = self.latest;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO agents (agent, org, name, first_seen, last_seen, seen_minute) VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
        )?;
        let agent = self.next_agent()?;
        insert.execute(params![agent, key.0, key.1.as_str(), now.millis(), now.millis() / MINUTE_MS])?;
        let state =
            AgentState { agent, first_seen: now, last_seen: now, last_seq: None, tally: Tally::default() };
        // Its window is known from the start, so it need not be read when it is full.
        let agent = Agent { touched: true, ..Agent::new(state, Some(Window::default())) };
        self.agents.push(key.clone(), agent);
        self.touched.push(key.clone());
        Ok(())
    }

    /// Makes an agent known; whether it was new.
    pub(super) fn add_agent(
        &mut self,
        org: &OrgId,
        agent: &AgentId,
        once: Option<Once<bool>>,
    ) -> Result<bool, StoreError> {
        let key = (self.orgs.get(org)?, agent.clone());
        let new = !self.agents.contains(&key) && self.known(&key)?.is_none();
        if new {
            self.insert_agent(&key)?;
        }
        self.keep_reply(once, &new, key.0, || vec![agent.clone()])?;
        Ok(new)
    }

    /// Writes what is there already: nothing changes, and the disk has to take it.
    pub(super) fn probe(&self) -> Result<Ready, StoreError> {
        if let Some(error) = &self.cannot_settle {
            return Err(StoreError::RolledBack(Arc::clone(error)));
        }
        let mut update = self.connection.prepare_cached("UPDATE orgs SET name = name WHERE org = 0")?;
        update.execute([])?;
        Ok(Ready::of(&self.following, Some(self.latest)))
    }
}

/// Whether a row was refused because its id is there already.
fn is_taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}
