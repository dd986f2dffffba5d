//! Keeps the summary of a session up to date.
//!
//! **While the session is open**, every write that costs little (`COST_MAX`) updates the summary: traces that
//! follow from records in order cost next to nothing. If the traces are stale, because a record came too late for
//! the fold, all records are read again in the same transaction (about four per microsecond). If that costs more,
//! the summary is updated only when a quarter of the cost has arrived since. So each record is read about five
//! times at most, in whatever order records arrive. Until then the summary is not stored, and readers compute it.
//!
//! **When the session is closed**, a missing summary is computed, unless the session has more than a million
//! records. So that no write waits long, one call of `close_sessions` ends after the session that brings the number
//! of records read to 200 000.
//!
//! **Repair** computes it for every session that has none.

use renown_core::ids::SessionId;

use super::Transaction;
use super::session_cache::CachedSession;
use crate::error::StoreError;
use crate::evidence::Position;
use crate::sessions::{SessionSummary, traces};
use crate::sqlite::readers::Deadline;
use crate::sqlite::sessions::sent;
use crate::sqlite::summaries::{COST_MAX, Fresh, cost, write};

/// Maximum cost of a summary when a session is closed.
const COST_AT_END_MAX: i64 = 1_000_000;

/// Total cost of summaries after which no more sessions are closed in one call.
pub(super) const COST_OF_CLOSING_MAX: i64 = 200_000;

impl Transaction<'_> {
    /// Updates the summary of a session that is being written, or drops it if updating costs too much now.
    pub(super) fn summarize(&self, id: &SessionId, cached: &mut CachedSession) -> Result<(), StoreError> {
        let cost = cached.cost();
        if cost <= COST_MAX || cached.arrived.saturating_mul(4) >= cost {
            return self.make_summary(id, cached);
        }
        cached.summary = None;
        Ok(())
    }

    /// Computes and writes the summary of a session that is being closed, if it is missing.
    pub(super) fn summarize_at_end(
        &mut self,
        id: &SessionId,
        cached: &mut CachedSession,
    ) -> Result<(), StoreError> {
        let cost = cached.cost();
        if cached.summary.is_some() || cost > COST_AT_END_MAX {
            return Ok(());
        }
        self.closing_cost = self.closing_cost.saturating_add(cost);
        self.make_summary(id, cached)?;
        write(self.connection, cached.number, &cached.folded_bytes(), cached.summary.as_ref())
    }

    /// Updates the summary. If the evidence cannot be read, there is no summary, and the write goes on.
    fn make_summary(&self, id: &SessionId, cached: &mut CachedSession) -> Result<(), StoreError> {
        cached.arrived = 0;
        cached.summary = match self.made_summary(id, cached) {
            Err(error) if error.is_damage() => None,
            made => Some(made?),
        };
        Ok(())
    }

    fn made_summary(&self, id: &SessionId, cached: &mut CachedSession) -> Result<SessionSummary, StoreError> {
        let position = Position::of(cached.number);
        let signal = cached.ledger.signal();
        let Some(signals) = cached.folded.signals(signal).filter(|_| cached.traces == 0) else {
            if cached.folded.is_stale(signal) {
                let fresh = Fresh::read(self.connection, id.as_str(), position, &Deadline::NONE)?;
                let summary = fresh.summary();
                cached.folded = fresh.folded;
                return Ok(summary);
            }
            let derived = cached.folded.traces(signal, id.as_str()).unwrap_or_default();
            return Ok(SessionSummary::of(&traces(sent(self.connection, position)?, derived)));
        };
        Ok(SessionSummary::of_derived(signals))
    }
}

impl CachedSession {
    fn cost(&self) -> i64 {
        cost(self.scored(), self.records, self.traces, &self.folded)
    }

    /// Returns the value of the column `folded`.
    pub(super) fn folded_bytes(&self) -> Vec<u8> {
        self.scored().map(|_| self.folded.to_bytes()).unwrap_or_default()
    }
}
