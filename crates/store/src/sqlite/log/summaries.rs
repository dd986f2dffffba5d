//! The summary of a session, brought up to date by the writer with everything that arrives.
//!
//! **When it is made.** With every write that costs little (`COST_MAX`): traces that follow from records in order cost next to
//! nothing. Where they are stale, because a record came too late for the fold, the records are read again (about four in a
//! microsecond), in the same transaction. A session where that costs more is made again only when a quarter of what it costs has
//! arrived since: so each record is read about five times at most, however it arrives. Until then its summary is not kept, and
//! readers make it.
//!
//! **At its end** a session gets its summary if that is still missing, unless it has more than a million records. So that no write
//! waits for long, one call of `close_sessions` ends after the session that was the last of 200 000 records read.
//!
//! **Repair** makes it for every session that has none.

use renown_core::ids::SessionId;

use super::Log;
use super::session_cache::Held;
use crate::error::StoreError;
use crate::evidence::Seq;
use crate::sessions::{SessionSummary, traces};
use crate::sqlite::readers::Patience;
use crate::sqlite::sessions::sent;
use crate::sqlite::summaries::{COST_MAX, Fresh, cost, write};

/// What a summary may cost when a session is closed.
const COST_AT_END_MAX: i64 = 1_000_000;

/// What summaries may cost before no more sessions are closed at a time.
pub(super) const COST_OF_CLOSING_MAX: i64 = 200_000;

impl Log<'_> {
    /// Makes the summary of a session that is being written, or lets go of it if that costs too much now.
    pub(super) fn summarize(&self, id: &SessionId, held: &mut Held) -> Result<(), StoreError> {
        let cost = held.cost();
        if cost <= COST_MAX || held.arrived.saturating_mul(4) >= cost {
            return self.make_summary(id, held);
        }
        held.summary = None;
        Ok(())
    }

    /// Makes and writes the summary of a session that is closed, if it is missing.
    pub(super) fn summarize_at_end(&mut self, id: &SessionId, held: &mut Held) -> Result<(), StoreError> {
        let cost = held.cost();
        if held.summary.is_some() || cost > COST_AT_END_MAX {
            return Ok(());
        }
        self.closing_cost = self.closing_cost.saturating_add(cost);
        self.make_summary(id, held)?;
        write(self.connection, held.number, &held.folded_bytes(), held.summary.as_ref())
    }

    /// Evidence that cannot be read keeps nothing from being written: then there is no summary.
    fn make_summary(&self, id: &SessionId, held: &mut Held) -> Result<(), StoreError> {
        held.arrived = 0;
        held.summary = match self.made_summary(id, held) {
            Err(error) if error.is_damage() => None,
            made => Some(made?),
        };
        Ok(())
    }

    fn made_summary(&self, id: &SessionId, held: &mut Held) -> Result<SessionSummary, StoreError> {
        let seq = Seq(held.number);
        let signal = held.ledger.signal();
        let Some(signals) = held.folded.signals(signal).filter(|_| held.traces == 0) else {
            if held.folded.is_stale(signal) {
                let fresh = Fresh::read(self.connection, id.as_str(), seq, &Patience::ENDLESS)?;
                let summary = fresh.summary();
                held.folded = fresh.folded;
                return Ok(summary);
            }
            let derived = held.folded.traces(signal, id.as_str()).unwrap_or_default();
            return Ok(SessionSummary::of(&traces(sent(self.connection, seq)?, derived)));
        };
        Ok(SessionSummary::of_derived(signals))
    }
}

impl Held {
    fn cost(&self) -> i64 {
        cost(self.scored(), self.records, self.traces, &self.folded)
    }

    /// The column `folded`.
    pub(super) fn folded_bytes(&self) -> Vec<u8> {
        self.scored().map(|_| self.folded.to_bytes()).unwrap_or_default()
    }
}
