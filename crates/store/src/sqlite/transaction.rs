//! What the writer does in a transaction: counts evaluations and events, scores runs, adds agents and keys, keeps
//! request keys, settles the rows of agents, deletes.
//!
//! Agents that were written lately are cached, up to a limit: their sums, and their window if it is full. The cache
//! is ahead of the file until the commit. If the commit fails, every agent that the transaction touched is dropped
//! from the cache. No agent is evicted before the commit, because only the cache knows what the transaction has
//! done.

mod admin;
mod agent;
mod batch;
pub(super) mod cleaning;
mod closing;
mod erased_names;
mod erasure;
mod eval_runs;
mod identities;
mod keys;
mod repair;
mod request_keys;
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

use self::agent::CachedAgent;
pub use self::repair::Repaired;
use self::row::Row;
pub(super) use self::settle::SETTLE_EVERY;
#[cfg(test)]
pub(super) use self::settle::SETTLED_AT_ONCE;
use super::agent_cache::{AgentCache, AgentKey};
use super::agents::{self, AgentState};
use super::guard::Guard;
use super::mark::MarkWriter;
use super::orgs::{OrgKey, Orgs};
use super::rows;
use super::salts::Salts;
use super::schema::MINUTE_MS;
use crate::admin::LatencySource;
use crate::clock::{AcceptanceClock, Clock, Ready};
use crate::error::StoreError;
use crate::evidence::{EvaluationOutcome, NewEvaluation, Position, StoredEvaluation};
use crate::fold::agents::{AgentChange, Mention, named};
use crate::fold::evaluations::{self, Acceptance, EvaluationChange};
use crate::group::GROUP_MAX;
use crate::request_keys::kept::Kept;
use crate::request_keys::{Accepted, RequestKey};
use crate::sessions::Closed;

/// Maximum number of agents that the writer caches between two transactions. Each takes 2 KB with a full window,
/// else less than 1 KB.
const AGENTS_MAX: usize = 4 * GROUP_MAX;

/// About how many old request keys one transaction deletes, so that no write waits long.
const FORGOTTEN_AT_ONCE: i64 = 1000;

/// The statements and the state of the writer. There is one value for all transactions, one after the other.
pub(super) struct Transaction<'c> {
    connection: &'c Connection,
    mark_writer: MarkWriter,
    orgs: Arc<Orgs>,
    agent_cache: Arc<AgentCache>,
    clock: Clock,
    acceptance_clock: AcceptanceClock,
    /// The time of acceptance of what is written now.
    latest: Timestamp,
    salts: Salts,
    next_position: HashMap<OrgKey, i64>,
    agents: LruCache<AgentKey, CachedAgent>,
    touched: Vec<AgentKey>,
    /// Number of agents whose rows are behind the evaluations.
    behind_count: usize,
    /// When the last round of settling began.
    settled_at: Timestamp,
    round: settle::Round,
    /// Why settling failed, if it did.
    cannot_settle: Option<Arc<StoreError>>,
    new_orgs: Vec<(OrgId, OrgKey)>,
    /// The latency that counts, per organization that was read so far.
    latency_sources: HashMap<OrgKey, LatencySource>,
    /// Agents that the open transaction has erased.
    erased: HashSet<AgentKey>,
    cleaning: cleaning::Cleaning,
    guard: Guard,
    retention_progress: retention::RetentionProgress,
    sessions: session_cache::SessionCache,
    /// Sessions that committed transactions have closed because too many were open, and that no caller has received yet.
    closed_early: Vec<Closed>,
    /// How many of these the open transaction returns to its caller.
    returned_early: usize,
    /// Sessions that the open transaction has closed because too many were open.
    closing_early: Vec<Closed>,
    /// The cost so far of the summaries of sessions that are being closed.
    closing_cost: i64,
    /// Number of open sessions, once it was counted.
    open_sessions: Option<usize>,
    begin: Statement<'c>,
    commit: Statement<'c>,
    insert_evaluation: Statement<'c>,
    insert_groups: batch::GroupStatements<'c>,
    insert_record: Statement<'c>,
    insert_name: Statement<'c>,
    /// How far the records of a session were searched for the name of an erased agent.
    reached: Option<erased_names::Reached>,
}

impl<'c> Transaction<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        orgs: Arc<Orgs>,
        agent_cache: Arc<AgentCache>,
        clock: Clock,
        mark_writer: MarkWriter,
        cleaning: cleaning::Cleaning,
        guard: Guard,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            connection,
            mark_writer,
            orgs,
            agent_cache,
            clock,
            acceptance_clock: AcceptanceClock::default(),
            latest: rows::latest(connection)?,
            salts: Salts::default(),
            next_position: HashMap::new(),
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
            retention_progress: retention::RetentionProgress::default(),
            sessions: session_cache::SessionCache::new(),
            closed_early: Vec::new(),
            returned_early: 0,
            closing_early: Vec::new(),
            closing_cost: 0,
            open_sessions: None,
            begin: connection.prepare("BEGIN IMMEDIATE")?,
            commit: connection.prepare("COMMIT")?,
            insert_evaluation: connection.prepare(&row::insert(1))?,
            insert_groups: batch::GroupStatements::prepare(connection)?,
            insert_record: connection
                .prepare("INSERT OR IGNORE INTO session_records (session, at_ns, key, record, seal) VALUES (?1, ?2, ?3, ?4, renown_seal(?1, ?2, ?3, ?4))")?,
            insert_name: connection
                .prepare("INSERT OR IGNORE INTO session_names (session, name) VALUES (?1, ?2)")?,
            reached: None,
        })
    }

    /// Begins a transaction at the time that the clock shows. Fails if the clock cannot be right.
    pub(super) fn begin(&mut self) -> Result<(), StoreError> {
        let now = (self.clock)()?;
        let next = self.acceptance_clock.next(self.latest, now);
        if next < self.latest {
            self.move_times_back(next).inspect_err(|_| self.roll_back())?;
        }
        self.latest = next;
        self.begin.raw_execute()?;
        Ok(())
    }

    /// Begins a transaction in which nothing gets a time.
    pub(super) fn begin_untimed(&self) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch("BEGIN IMMEDIATE")?)
    }

    /// Returns a counter of changes, to compare with later.
    pub(super) fn changes(&self) -> u64 {
        self.connection.total_changes()
    }

    /// Returns whether the transaction can continue after a write that failed: it is still open, and the write
    /// changed nothing since `mark`. After a damaged page, SQLite refuses every further write of a transaction.
    pub(super) fn can_continue(&self, mark: u64, error: &StoreError) -> bool {
        let damaged_page = matches!(error, StoreError::Sqlite(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt));
        !damaged_page && !self.connection.is_autocommit() && self.changes() == mark
    }

    /// Makes everything durable, and only then shows it to readers.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        self.mark_writer.raise(self.connection)?;
        self.commit.raw_execute()?;
        self.mark_writer.commit(self.connection);
        for (name, key) in self.new_orgs.drain(..) {
            self.orgs.add(name, key);
        }
        for key in self.erased.drain() {
            self.behind_count -= usize::from(self.agent_cache.remove(&key));
        }
        for key in self.touched.drain(..) {
            if let Some(agent) = self.agents.peek_mut(&key) {
                agent.touched = false;
                let uncounted = std::mem::take(&mut agent.uncounted);
                self.behind_count += usize::from(self.agent_cache.publish(key, agent.state, &uncounted));
            }
        }
        self.evict_excess();
        self.sessions.commit();
        self.closed_early.drain(..std::mem::take(&mut self.returned_early));
        self.closed_early.append(&mut self.closing_early);
        Ok(())
    }

    /// Evicts the agents that were not used for longest.
    fn evict_excess(&mut self) {
        while self.agents.len() > AGENTS_MAX {
            self.agents.pop_lru();
        }
    }

    /// Rolls back, also in memory. After some failures SQLite has already rolled back.
    pub(super) fn roll_back(&mut self) {
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.mark_writer.roll_back(self.connection);
        self.new_orgs.clear();
        self.next_position.clear();
        self.latency_sources.clear();
        self.erased.clear();
        self.retention_progress = retention::RetentionProgress::default();
        self.reached = None;
        self.sessions.roll_back();
        self.returned_early = 0;
        self.closing_early.clear();
        self.open_sessions = None;
        for key in self.touched.drain(..) {
            self.agents.pop(&key);
        }
        self.evict_excess();
    }

    /// Counts one evaluation.
    fn count(&mut self, org: OrgKey, new: &NewEvaluation) -> Result<EvaluationOutcome, StoreError> {
        let key = (org, new.agent.clone());
        let find_first = |connection| rows::find_evaluation(connection, org, new.id.get().as_str());
        // Looking for the id before every insert would cost each new evaluation one more lookup. The unique index
        // finds a repeat too, but then its agent is added already.
        let first = if !self.agents.contains(&key) && evaluations::may_repeat(new) {
            find_first(self.connection)?
        } else {
            None
        };
        match self.evaluate(&key, first, new) {
            Err(StoreError::Sqlite(error)) if is_duplicate_id(&error) => {
                let first = find_first(self.connection)?;
                if first.is_none() && !self.free_evaluation_id(org, new.id.get())? {
                    return Err(error.into());
                }
                self.evaluate(&key, first, new)
            }
            evaluated => evaluated,
        }
    }

    /// Carries out what becomes of an evaluation. `first` is the one with its id, if one was found.
    fn evaluate(
        &mut self,
        key: &AgentKey,
        first: Option<StoredEvaluation>,
        new: &NewEvaluation,
    ) -> Result<EvaluationOutcome, StoreError> {
        let org = key.0;
        let position = self.next_position(org)?;
        let acceptance = Acceptance { at: self.latest, source: self.latency_source(org)? };
        // Has an effect only for an agent that this batch has added: the others were loaded for the whole batch.
        let known = match self.agents.peek_mut(key) {
            Some(agent) => {
                agent.load_window_for(1, self.connection)?;
                Some(agent.sums())
            }
            None => None,
        };
        let counted = match evaluations::evaluate(first, known, new, position, acceptance)? {
            EvaluationChange::Counted(counted) => counted,
            EvaluationChange::Repeated(outcome) => return Ok(outcome),
        };
        let salt = self.salts.draw()?;
        // Before the row is written, so that a rollback drops an agent whose row it removes.
        let agent = self.touch(key, counted.agent)?.state.agent;
        row::bind(&[Row { org, agent, counted, salt }], &mut self.insert_evaluation)?;
        self.insert_evaluation.raw_execute()?;
        self.mark_writer.count_evaluation();
        if let Some(agent) = self.agents.peek_mut(key) {
            agent.add(&counted);
        }
        self.next_position.insert(org, position.number() + 1);
        Ok(counted.outcome())
    }

    /// Adds an agent if it is to be added. Returns it, marked as touched by the open transaction.
    fn touch(&mut self, key: &AgentKey, change: AgentChange) -> Result<&mut CachedAgent, StoreError> {
        if change == AgentChange::Added {
            self.insert_agent(key)?;
        }
        let agent = self.agents.get_mut(key).ok_or(StoreError::Bug("an agent is not cached"))?;
        if !agent.touched {
            agent.touched = true;
            self.touched.push(key.clone());
        }
        Ok(agent)
    }

    /// Returns the next position in an organization.
    fn next_position(&mut self, org: OrgKey) -> Result<Position, StoreError> {
        if let Some(&next) = self.next_position.get(&org) {
            return Ok(Position::of(next));
        }
        let ((first, _), top) = (org.numbers(), rows::top(self.connection, org)?);
        let last = rows::last_position(self.connection, org)?.unwrap_or(first - 1);
        Ok(Position::of(last.max(top) + 1))
    }

    /// Loads an agent into the cache, if it exists, and its window, if `coming` more evaluations may be too many
    /// for it.
    fn load_agent(&mut self, key: &AgentKey, coming: usize) -> Result<(), StoreError> {
        if let Some(agent) = self.agents.get_mut(key) {
            return agent.load_window_for(coming, self.connection);
        }
        let Some(state) = self.find_agent(key)? else { return Ok(()) };
        let mut agent = CachedAgent::new(state, None);
        let expected = agent.load_window_for(coming, self.connection);
        self.agents.push(key.clone(), agent);
        expected
    }

    /// Returns the state of an agent that is not cached.
    fn find_agent(&self, key: &AgentKey) -> Result<Option<AgentState>, StoreError> {
        match self.agent_cache.latest(key).filter(|_| !self.erased.contains(key)) {
            None => agents::find(self.connection, key.0, &key.1),
            latest => Ok(latest),
        }
    }

    /// Adds an agent.
    fn insert_agent(&mut self, key: &AgentKey) -> Result<(), StoreError> {
        let now = self.latest;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO agents (agent, org, name, first_seen, last_seen, seen_minute) VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
        )?;
        let agent = self.next_agent_number()?;
        insert.execute(params![agent, key.0, key.1.as_str(), now.millis(), now.millis() / MINUTE_MS])?;
        let state = AgentState {
            agent,
            first_seen: now,
            last_seen: now,
            last_position: None,
            tally: Tally::default(),
        };
        // Its window is known from the start, so it need not be read when it is full.
        let agent = CachedAgent { touched: true, ..CachedAgent::new(state, Some(Window::default())) };
        self.agents.push(key.clone(), agent);
        self.touched.push(key.clone());
        Ok(())
    }

    /// Adds an agent. Returns whether it was new.
    pub(super) fn add_agent(
        &mut self,
        org: &OrgId,
        agent: &AgentId,
        request_key: Option<RequestKey>,
    ) -> Result<Accepted<bool>, StoreError> {
        let key = (self.orgs.get(org)?, agent.clone());
        if let Some(known) = self.known(request_key.as_ref())? {
            return Ok(known.into());
        }
        let new = self.name_agent(&key)? == AgentChange::Added;
        self.keep(request_key, || Kept::agent(agent.clone(), new))?;
        Ok(Accepted::Fresh(new))
    }

    /// Adds an agent that is named without evidence of its work, if it is new.
    fn name_agent(&mut self, key: &AgentKey) -> Result<AgentChange, StoreError> {
        let is_known = self.agents.contains(key) || self.find_agent(key)?.is_some();
        let change = named(is_known, Mention::Name);
        if change == AgentChange::Added {
            self.insert_agent(key)?;
        }
        Ok(change)
    }

    /// Writes a value that exists already: nothing changes, but the disk has to accept it.
    pub(super) fn probe(&self) -> Result<Ready, StoreError> {
        if let Some(error) = &self.cannot_settle {
            return Err(StoreError::RolledBack(Arc::clone(error)));
        }
        let mut update = self.connection.prepare_cached("UPDATE orgs SET name = name WHERE org = 0")?;
        update.execute([])?;
        Ok(Ready::of(&self.acceptance_clock, Some(self.latest)))
    }
}

/// Returns whether a row was refused because its id exists.
fn is_duplicate_id(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}
