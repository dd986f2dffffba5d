//! What the writer does between transactions: settles the rows of agents, and checks that its files are still in
//! place.
//!
//! Settling goes through the agents that are behind, 64 at a time in the order of their numbers. So neighboring
//! rows are written together, and no write waits for more than 64. A row may be ahead of `orgs.settled` but never
//! behind it; the `last_seq` of the row is exact. Settling has its own transaction. If it fails, `/ready` reports
//! the error, reads continue, and writes continue until about 2000 agents are behind.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use renown_core::reputation::WINDOW_SIZE;
use renown_core::time::Timestamp;
use rusqlite::params;

use super::Transaction;
use crate::days::Days;
use crate::error::StoreError;
use crate::query::rank;
use crate::sqlite::agent_cache::Unsettled;
use crate::sqlite::agents::{self, AgentState};
use crate::sqlite::days::{self, Totals};
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::schema::MINUTE_MS;

/// How often the rows of agents are settled while there are writes, and how often the files are checked while there
/// are none.
pub(in crate::sqlite) const SETTLE_EVERY: Duration = Duration::from_secs(1);

/// Number of rows behind at which they are settled at once. At most this many and those of one more transaction are
/// behind.
const BEHIND_MAX: usize = 2048;

/// Number of agents that are settled in one transaction: few, so that no write waits long.
pub(in crate::sqlite) const SETTLED_AT_ONCE: usize = 64;

/// A round of settling.
#[derive(Default)]
pub(super) struct Round {
    /// The number of the agent that was settled last; 0 at the beginning of a round.
    after: i64,
    orgs: HashSet<OrgKey>,
}

/// An agent whose row was behind when a process ended.
pub(in crate::sqlite) struct UnsettledAgent {
    org: OrgKey,
    state: AgentState,
    days: Days,
    /// Whether its window cannot be read.
    is_damaged: bool,
}

impl Transaction<'_> {
    /// Returns whether every row is up to date.
    pub(in crate::sqlite) fn is_settled(&self) -> bool {
        self.behind_count == 0
    }

    /// Fails if a file of the store was deleted, moved or replaced. At the first failure, moves the write-ahead log
    /// into the database: if only the log file is gone, nothing is lost.
    pub(in crate::sqlite) fn check_files(&mut self) -> Result<(), StoreError> {
        let was_quiet = self.guard.is_quiet();
        self.guard.check().inspect_err(|_| {
            if was_quiet {
                let _ = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            }
        })
    }

    /// Returns whether it is time to settle, by the clock of the store. After a failure it is tried after every
    /// write, so that [`Transaction::probe`] succeeds again soon.
    pub(in crate::sqlite) fn wants_settling(&self) -> bool {
        let since = self.clock_now().millis().abs_diff(self.settled_at.millis());
        let is_time = u128::from(since) >= SETTLE_EVERY.as_millis();
        let is_wanted = self.cannot_settle.is_some() || self.is_far_behind() || self.is_settling() || is_time;
        !self.is_settled() && is_wanted
    }

    /// Returns whether a round of settling has begun and there is more to settle. The last agents that were behind may have been
    /// erased in the middle of a round.
    pub(in crate::sqlite) fn is_settling(&self) -> bool {
        self.round.after > 0 && !self.is_settled()
    }

    /// Returns what the clock shows, or the latest time of acceptance if the clock cannot be right.
    fn clock_now(&self) -> Timestamp {
        (self.clock)().unwrap_or(self.latest)
    }

    /// Returns whether no more rows may be behind.
    pub(in crate::sqlite) fn is_far_behind(&self) -> bool {
        self.behind_count >= BEHIND_MAX
    }

    /// Settles some of the agents that are behind, in a transaction of its own. A failure does not fail any write
    /// until too many are behind; until then [`Transaction::probe`] reports it. A round goes once through all
    /// agents in the order of their numbers, so that neighboring rows are written together.
    pub(in crate::sqlite) fn settle(&mut self) -> Result<(), Arc<StoreError>> {
        let settled = self.try_settle().map_err(Arc::new).inspect_err(|_| self.roll_back());
        self.cannot_settle = settled.as_ref().err().cloned();
        settled
    }

    /// Settles all agents.
    pub(in crate::sqlite) fn settle_all(&mut self) -> Result<(), Arc<StoreError>> {
        while !self.is_settled() {
            self.settle()?;
        }
        Ok(())
    }

    /// Settles until fewer than the limit are behind.
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
        let slice = self.agent_cache.behind_after(after, SETTLED_AT_ONCE);
        // Nothing that is written here has a time.
        self.begin.raw_execute()?;
        let mut totals = Totals::default();
        for ((org, _), Unsettled { state, days }) in &slice {
            self.write_row(state)?;
            days::write(self.connection, *org, state.agent, days, &mut totals)?;
            self.round.orgs.insert(*org);
        }
        totals.write(self.connection, 1)?;
        let is_last = slice.len() < SETTLED_AT_ONCE || slice.len() == self.behind_count;
        let more = slice.last().filter(|_| !is_last).map(|(_, last)| last.state.agent);
        if more.is_none() {
            self.mark_round_settled(after)?;
        }
        self.commit()?;
        self.behind_count -= slice.len();
        self.agent_cache.settle(slice);
        match more {
            Some(last) => self.round.after = last,
            None => self.round = Round::default(),
        }
        Ok(())
    }

    /// Saves up to which position the rows of the organizations of a round are settled. Agents up to the number
    /// `up_to` may be behind again, because they were settled earlier in the round.
    fn mark_round_settled(&mut self, up_to: i64) -> Result<(), StoreError> {
        let firsts = self.agent_cache.first_unsettled(up_to);
        for org in self.round.orgs.clone() {
            match firsts.get(&org) {
                Some(first) => self.set_settled(org, first.number() - 1)?,
                None => self.mark_settled(org)?,
            }
        }
        Ok(())
    }

    /// Reads what a process did not settle before it ended. Must not be called in a transaction that writes,
    /// because SQLite refuses to continue one after a damaged page.
    pub(in crate::sqlite) fn find_unsettled(&self) -> Result<Vec<UnsettledAgent>, StoreError> {
        let mut select = self.connection.prepare("SELECT org FROM orgs")?;
        let orgs = select.query_map([], |row| row.get(0))?.collect::<Result<Vec<OrgKey>, _>>()?;
        let mut found = Vec::new();
        for org in orgs {
            let mut days = days::unsettled(self.connection, org, None)?;
            for (_, state) in agents::unsettled_agents(self.connection, org, None)? {
                let summed = match state.summed(self.connection) {
                    Err(error) if error.is_damage() => None,
                    summed => Some(summed?),
                };
                let (days, is_damaged) = (days.remove(&state.agent).unwrap_or_default(), summed.is_none());
                found.push(UnsettledAgent { org, state: summed.unwrap_or(state), days, is_damaged });
            }
        }
        Ok(found)
    }

    /// Settles what was found.
    pub(in crate::sqlite) fn settle_found(&mut self, found: &[UnsettledAgent]) -> Result<(), StoreError> {
        let mut totals = Totals::default();
        for agent in found {
            self.write_row(&agent.state)?;
            days::write(self.connection, agent.org, agent.state.agent, &agent.days, &mut totals)?;
            if agent.is_damaged {
                self.mark_unreadable(&agent.state)?;
            }
        }
        totals.write(self.connection, 1)?;
        for org in found.iter().map(|agent| agent.org).collect::<HashSet<_>>() {
            self.mark_settled(org)?;
        }
        Ok(())
    }

    /// Marks an agent as unreadable: writes sums that no window can have. Otherwise its old sums would look like
    /// its score. So every read of this agent fails, and no other read does.
    fn mark_unreadable(&self, state: &AgentState) -> Result<(), StoreError> {
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
            state.last_position,
            tally.passed(),
            tally.streak(),
            tally.latency_us(),
            tally.breakdown().score(),
        ])?;
        // In statements of their own, because setting an indexed column writes its index even if the value stays
        // the same.
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

    /// Saves that the rows of an organization contain all of its evaluations.
    fn mark_settled(&mut self, org: OrgKey) -> Result<(), StoreError> {
        let next = self.next_position(org)?.number();
        self.set_settled(org, next - 1)
    }

    fn set_settled(&self, org: OrgKey, settled: i64) -> Result<(), StoreError> {
        let mut update = self.connection.prepare_cached("UPDATE orgs SET settled = ?2 WHERE org = ?1")?;
        update.execute(params![org, settled])?;
        Ok(())
    }
}
