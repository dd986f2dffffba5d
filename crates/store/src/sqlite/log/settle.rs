//! Brings the rows of agents up to the log.

use std::collections::HashSet;
use std::time::Duration;

use rusqlite::params;

use super::Log;
use crate::error::StoreError;
use crate::evidence::Seq;
use crate::sqlite::agents::{self, AgentState};
use crate::sqlite::orgs::OrgKey;
use crate::sqlite::schema::MINUTE_MS;

/// How often the rows of agents are settled, while there are writes.
pub(in crate::sqlite) const SETTLE_EVERY: Duration = Duration::from_secs(1);

/// How many agents' rows may be behind; at most 250 bytes of memory each.
const BEHIND_MAX: usize = 2048;

impl Log<'_> {
    /// Whether every row holds what the log says.
    pub(in crate::sqlite) fn is_settled(&self) -> bool {
        self.behind == 0
    }

    /// Whether it is time to settle, by the clock of the store.
    pub(in crate::sqlite) fn wants_settling(&self) -> bool {
        let since = (self.clock)().millis().abs_diff(self.settled_at.millis());
        !self.is_settled() && (self.is_far_behind() || u128::from(since) >= SETTLE_EVERY.as_millis())
    }

    /// Whether so many rows are behind that no more may be.
    pub(in crate::sqlite) fn is_far_behind(&self) -> bool {
        self.behind >= BEHIND_MAX
    }

    /// Settles all that is behind, in a transaction of its own: what cannot be settled now fails no write.
    pub(in crate::sqlite) fn settle(&mut self) -> Result<(), StoreError> {
        self.settled_at = (self.clock)();
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
        self.behind = 0;
        Ok(())
    }

    /// Settles what a process left behind that ended without doing so. The first transaction does this.
    pub(in crate::sqlite) fn catch_up(&mut self) -> Result<(), StoreError> {
        let mut select = self.connection.prepare("SELECT org FROM orgs")?;
        let orgs = select.query_map([], |row| row.get(0))?.collect::<Result<Vec<OrgKey>, _>>()?;
        for org in orgs {
            let behind = agents::behind(self.connection, org)?;
            for state in behind.values() {
                self.write_row(state)?;
            }
            if !behind.is_empty() {
                self.mark(org)?;
            }
        }
        Ok(())
    }

    fn write_row(&self, state: &AgentState) -> Result<(), StoreError> {
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
