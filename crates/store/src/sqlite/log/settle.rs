//! What the writer does between transactions: brings the rows of agents up to the log, and looks whether its files are where they were.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use renown_core::reputation::WINDOW_SIZE;
use renown_core::time::Timestamp;
use rusqlite::params;

use super::Log;
use crate::error::StoreError;
use crate::evidence::Seq;
use crate::sqlite::agents::{self, AgentState};
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::schema::MINUTE_MS;

/// How often the rows of agents are settled while there are writes, and how often the files are looked at while there are none.
pub(in crate::sqlite) const SETTLE_EVERY: Duration = Duration::from_secs(1);

/// When so many agents' rows are behind they are settled at once. With those of one more transaction, that is the most.
const BEHIND_MAX: usize = 2048;

/// An agent whose row a process left behind.
pub(in crate::sqlite) struct Left {
    org: OrgKey,
    state: AgentState,
    /// Its window cannot be read.
    is_damaged: bool,
}

impl Log<'_> {
    /// Whether every row holds what the log says.
    pub(in crate::sqlite) fn is_settled(&self) -> bool {
        self.behind_count == 0
    }

    /// Fails if files of the store are not where they were. What is in the write-ahead log is moved into the database then: if only the log
    /// is gone, nothing is lost.
    pub(in crate::sqlite) fn check_files(&mut self) -> Result<(), StoreError> {
        let was_quiet = self.guard.is_quiet();
        self.guard.check().inspect_err(|_| {
            if was_quiet {
                let _ = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            }
        })
    }

    /// Whether it is time to settle, by the clock of the store. What could not be settled is tried after every write, so that
    /// [`Log::probe`] says that it is better as soon as a write has shown it.
    pub(in crate::sqlite) fn wants_settling(&self) -> bool {
        let since = self.clock_now().millis().abs_diff(self.settled_at.millis());
        let is_time = u128::from(since) >= SETTLE_EVERY.as_millis();
        !self.is_settled() && (self.cannot_settle.is_some() || self.is_far_behind() || is_time)
    }

    /// What the clock shows; the latest time of acceptance where that cannot be right.
    fn clock_now(&self) -> Timestamp {
        (self.clock)().unwrap_or(self.latest)
    }

    /// Whether so many rows are behind that no more may be.
    pub(in crate::sqlite) fn is_far_behind(&self) -> bool {
        self.behind_count >= BEHIND_MAX
    }

    /// Settles all that is behind, in a transaction of its own: what cannot be settled now fails no write before too much
    /// is behind. Until then it is what [`Log::probe`] says.
    pub(in crate::sqlite) fn settle(&mut self) -> Result<(), Arc<StoreError>> {
        self.settled_at = self.clock_now();
        let settled = self.try_settle().map_err(Arc::new).inspect_err(|_| self.roll_back());
        self.cannot_settle = settled.as_ref().err().cloned();
        settled
    }

    fn try_settle(&mut self) -> Result<(), StoreError> {
        let behind = self.standings.behind();
        // Nothing is written that has a time.
        self.begin.raw_execute()?;
        let orgs: HashSet<OrgKey> = behind.iter().map(|((org, _), _)| *org).collect();
        for (_, state) in &behind {
            self.write_row(state)?;
        }
        for org in orgs {
            self.mark(org)?;
        }
        self.commit()?;
        self.standings.settle(behind);
        self.behind_count = 0;
        Ok(())
    }

    /// Reads what a process left behind that ended without settling it. Not inside a transaction that writes, which SQLite
    /// would refuse to go on with after a damaged page.
    pub(in crate::sqlite) fn find_left(&self) -> Result<Vec<Left>, StoreError> {
        let mut select = self.connection.prepare("SELECT org FROM orgs")?;
        let orgs = select.query_map([], |row| row.get(0))?.collect::<Result<Vec<OrgKey>, _>>()?;
        let mut found = Vec::new();
        for org in orgs {
            for (_, state) in agents::left_behind(self.connection, org, None)? {
                let summed = match state.summed(self.connection) {
                    Err(error) if error.is_damage() => None,
                    summed => Some(summed?),
                };
                found.push(Left { org, state: summed.unwrap_or(state), is_damaged: summed.is_none() });
            }
        }
        Ok(found)
    }

    /// Settles what was found.
    pub(in crate::sqlite) fn catch_up(&mut self, found: &[Left]) -> Result<(), StoreError> {
        for left in found {
            self.write_row(&left.state)?;
            if left.is_damaged {
                self.condemn(&left.state)?;
            }
        }
        for org in found.iter().map(|left| left.org).collect::<HashSet<_>>() {
            self.mark(org)?;
        }
        Ok(())
    }

    /// Gives an agent sums that no window has. Its evaluations cannot be read, so what it had before would pass for its
    /// score; like this whoever names it is told, and nobody else.
    fn condemn(&self, state: &AgentState) -> Result<(), StoreError> {
        let mut update = self.connection.prepare("UPDATE agents SET evaluations = ?2 WHERE agent = ?1")?;
        update.execute(params![state.agent, WINDOW_SIZE + 1])?;
        Ok(())
    }

    pub(super) fn write_row(&self, state: &AgentState) -> Result<(), StoreError> {
        let (last_seen, tally) = (state.last_seen.millis(), state.tally);
        let mut row = self.connection.prepare_cached(
            "UPDATE agents SET last_seen = ?2, last_seq = ?3, evaluations = ?4, passed = ?5, streak = ?6, \
             latency_us = ?7, score = ?8 WHERE agent = ?1",
        )?;
        row.execute(params![
            state.agent,
            last_seen,
            state.last_seq,
            tally.evaluations(),
            tally.passed(),
            tally.streak(),
            tally.latency_us(),
            tally.breakdown().score(),
        ])?;
        // Apart, because an indexed column that is set is written to its index also where it stays the same.
        let mut minute = self
            .connection
            .prepare_cached("UPDATE agents SET seen_minute = ?2 WHERE agent = ?1 AND seen_minute <> ?2")?;
        minute.execute([state.agent, last_seen / MINUTE_MS])?;
        Ok(())
    }

    /// Notes that the rows of an organization hold all of its log.
    fn mark(&mut self, org: OrgKey) -> Result<(), StoreError> {
        let Seq(next) = self.next_seq(org)?;
        let mut update = self.connection.prepare_cached("UPDATE orgs SET settled = ?2 WHERE org = ?1")?;
        update.execute(params![org, next - 1])?;
        Ok(())
    }
}
