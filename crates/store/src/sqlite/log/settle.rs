//! What the writer does between transactions: brings the rows of agents up to the log, and looks whether its files are where they were.
//!
//! Settling goes round the agents, 64 at a time by their numbers: rows that are neighbors are written together, and no write
//! waits for more than 64. A row may be ahead of `orgs.settled`, never behind it; its own `last_seq` is exact. Settling has
//! its own transaction. If it fails, `/ready` reports it, reads continue, and writes continue until about 2000 agents wait.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use renown_core::reputation::WINDOW_SIZE;
use renown_core::time::Timestamp;
use rusqlite::params;

use super::Log;
use crate::days::Days;
use crate::error::StoreError;
use crate::evidence::Seq;
use crate::query::rank;
use crate::sqlite::agent_cache::Unsettled;
use crate::sqlite::agents::{self, AgentState};
use crate::sqlite::days::{self, Totals};
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::schema::MINUTE_MS;

/// How often the rows of agents are settled while there are writes, and how often the files are looked at while there are none.
pub(in crate::sqlite) const SETTLE_EVERY: Duration = Duration::from_secs(1);

/// When this many agents' rows are behind they are settled at once. With those of one more transaction, that is the most.
const BEHIND_MAX: usize = 2048;

/// How many agents are settled in one transaction: few, so that no write waits long for it.
const SETTLED_AT_ONCE: usize = 64;

/// A round of settling that is under way.
#[derive(Default)]
pub(super) struct Round {
    /// The number of the agent that was settled last; 0 if none was.
    after: i64,
    orgs: HashSet<OrgKey>,
}

/// An agent whose row a process left behind.
pub(in crate::sqlite) struct Left {
    org: OrgKey,
    state: AgentState,
    days: Days,
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
        let is_wanted = self.cannot_settle.is_some() || self.is_far_behind() || self.is_settling() || is_time;
        !self.is_settled() && is_wanted
    }

    /// Whether a round of settling is under way.
    pub(in crate::sqlite) fn is_settling(&self) -> bool {
        self.round.after > 0
    }

    /// What the clock shows; the latest time of acceptance where that cannot be right.
    fn clock_now(&self) -> Timestamp {
        (self.clock)().unwrap_or(self.latest)
    }

    /// Whether so many rows are behind that no more may be.
    pub(in crate::sqlite) fn is_far_behind(&self) -> bool {
        self.behind_count >= BEHIND_MAX
    }

    /// Settles some of the agents that are behind, in a transaction of its own: what cannot be settled now fails no write before too
    /// much is behind. Until then it is what [`Log::probe`] says. A round goes once over all agents, by their numbers, so that rows
    /// which are beside each other are written together.
    pub(in crate::sqlite) fn settle(&mut self) -> Result<(), Arc<StoreError>> {
        let settled = self.try_settle().map_err(Arc::new).inspect_err(|_| self.roll_back());
        self.cannot_settle = settled.as_ref().err().cloned();
        settled
    }

    /// Settles everything.
    pub(in crate::sqlite) fn settle_all(&mut self) -> Result<(), Arc<StoreError>> {
        while !self.is_settled() {
            self.settle()?;
        }
        Ok(())
    }

    /// Settles until no more than a few are behind.
    pub(in crate::sqlite) fn settle_excess(&mut self) -> Result<(), Arc<StoreError>> {
        while self.is_far_behind() {
            self.settle()?;
        }
        Ok(())
    }

    fn try_settle(&mut self) -> Result<(), StoreError> {
        if !self.is_settling() {
            self.settled_at = self.clock_now();
        }
        let after = self.round.after;
        let slice = self.standings.behind_after(after, SETTLED_AT_ONCE);
        // Nothing is written that has a time.
        self.begin.raw_execute()?;
        let mut totals = Totals::default();
        for ((org, _), Unsettled { state, days }) in &slice {
            self.write_row(state)?;
            days::write(self.connection, *org, state.agent, days, &mut totals)?;
            self.round.orgs.insert(*org);
        }
        totals.write(self.connection, 1)?;
        let more = slice.last().filter(|_| slice.len() == SETTLED_AT_ONCE).map(|(_, last)| last.state.agent);
        if more.is_none() {
            self.mark_round(after)?;
        }
        self.commit()?;
        self.behind_count -= slice.len();
        self.standings.settle(slice);
        match more {
            Some(last) => self.round.after = last,
            None => self.round = Round::default(),
        }
        Ok(())
    }

    /// Notes how far the rows of the organizations of a round hold their logs. What is behind after it are agents that were settled
    /// earlier in the round, up to this number.
    fn mark_round(&mut self, up_to: i64) -> Result<(), StoreError> {
        let firsts = self.standings.first_unsettled(up_to);
        for org in self.round.orgs.clone() {
            match firsts.get(&org) {
                Some(Seq(first)) => self.set_mark(org, first - 1)?,
                None => self.mark(org)?,
            }
        }
        Ok(())
    }

    /// Reads what a process left behind that ended without settling it. Not inside a transaction that writes, which SQLite
    /// would refuse to go on with after a damaged page.
    pub(in crate::sqlite) fn find_left(&self) -> Result<Vec<Left>, StoreError> {
        let mut select = self.connection.prepare("SELECT org FROM orgs")?;
        let orgs = select.query_map([], |row| row.get(0))?.collect::<Result<Vec<OrgKey>, _>>()?;
        let mut found = Vec::new();
        for org in orgs {
            let mut days = days::unsettled(self.connection, org, None)?;
            for (_, state) in agents::left_behind(self.connection, org, None)? {
                let summed = match state.summed(self.connection) {
                    Err(error) if error.is_damage() => None,
                    summed => Some(summed?),
                };
                let (days, is_damaged) = (days.remove(&state.agent).unwrap_or_default(), summed.is_none());
                found.push(Left { org, state: summed.unwrap_or(state), days, is_damaged });
            }
        }
        Ok(found)
    }

    /// Settles what was found.
    pub(in crate::sqlite) fn catch_up(&mut self, found: &[Left]) -> Result<(), StoreError> {
        let mut totals = Totals::default();
        for left in found {
            self.write_row(&left.state)?;
            days::write(self.connection, left.org, left.state.agent, &left.days, &mut totals)?;
            if left.is_damaged {
                self.condemn(&left.state)?;
            }
        }
        totals.write(self.connection, 1)?;
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
            "UPDATE agents SET last_seen = ?2, last_seq = ?3, passed = ?4, streak = ?5, latency_us = ?6, score = ?7 \
             WHERE agent = ?1",
        )?;
        row.execute(params![
            state.agent,
            last_seen,
            state.last_seq,
            tally.passed(),
            tally.streak(),
            tally.latency_us(),
            tally.breakdown().score(),
        ])?;
        // Apart, because an indexed column that is set is written to its index also where it stays the same.
        for (sql, value) in [
            (
                "UPDATE agents SET seen_minute = ?2 WHERE agent = ?1 AND seen_minute <> ?2",
                last_seen / MINUTE_MS,
            ),
            ("UPDATE agents SET rank = ?2 WHERE agent = ?1 AND rank <> ?2", rank(tally)),
            (
                "UPDATE agents SET evaluations = ?2 WHERE agent = ?1 AND evaluations <> ?2",
                i64::try_from(tally.evaluations()).unwrap_or(i64::MAX),
            ),
        ] {
            self.connection.prepare_cached(sql)?.execute([state.agent, value])?;
        }
        Ok(())
    }

    /// Notes that the rows of an organization hold all of its log.
    fn mark(&mut self, org: OrgKey) -> Result<(), StoreError> {
        let Seq(next) = self.next_seq(org)?;
        self.set_mark(org, next - 1)
    }

    fn set_mark(&self, org: OrgKey, settled: i64) -> Result<(), StoreError> {
        let mut update = self.connection.prepare_cached("UPDATE orgs SET settled = ?2 WHERE org = ?1")?;
        update.execute(params![org, settled])?;
        Ok(())
    }
}
