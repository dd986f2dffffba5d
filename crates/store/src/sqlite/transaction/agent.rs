//! An agent in the cache of the writer.

use renown_core::reputation::Window;
use rusqlite::Connection;

use crate::days::UncountedEvaluation;
use crate::error::StoreError;
use crate::evidence::Position;
use crate::fold::evaluations::{AgentSums, CountedEvaluation, needs_window};
use crate::sqlite::agents::AgentState;
use crate::sqlite::rows;

/// An agent in the cache of the writer.
pub(super) struct CachedAgent {
    pub(super) state: AgentState,
    /// Its window, once an evaluation may have to leave it for the next one. Until then the sums are enough.
    pub(super) window: Option<Window>,
    /// Evaluations of the open transaction. They are counted in their days at the commit.
    pub(super) uncounted: Vec<UncountedEvaluation>,
    /// Whether the open transaction has touched it.
    pub(super) touched: bool,
}

impl CachedAgent {
    pub(super) fn new(state: AgentState, window: Option<Window>) -> Self {
        Self { state, window, uncounted: Vec::new(), touched: false }
    }

    /// Loads its window if `coming` more evaluations may be too many for it.
    pub(super) fn load_window_for(
        &mut self,
        coming: usize,
        connection: &Connection,
    ) -> Result<(), StoreError> {
        if self.window.is_none() && needs_window(self.state.tally, coming) {
            self.window = Some(rows::window(connection, self.state.last_position)?);
        }
        Ok(())
    }

    /// Returns what its next evaluation depends on.
    pub(super) fn sums(&self) -> AgentSums<'_> {
        let AgentState { tally, last_position, .. } = self.state;
        AgentSums::new(tally, last_position.map(Position::of), self.window.as_ref())
    }

    /// Adds an evaluation that was written.
    pub(super) fn add(&mut self, counted: &CountedEvaluation<'_>) {
        if let Some(window) = &mut self.window {
            window.push(counted.sample);
        }
        self.uncounted.push(counted.of_day());
        self.state = AgentState {
            last_position: Some(counted.position.number()),
            last_seen: counted.accepted_at,
            tally: counted.tally,
            ..self.state
        };
    }
}
