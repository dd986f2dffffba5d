//! An agent in the cache of the writer.

use renown_core::reputation::{Sample, Tally, WINDOW_SIZE, Window};
use renown_core::time::Timestamp;
use rusqlite::Connection;

use crate::days::UncountedEvaluation;
use crate::error::StoreError;
use crate::evidence::{NewEvaluation, Position, whole_millis};
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
        if self.window.is_none() && self.state.tally.evaluations() + coming as u64 > WINDOW_SIZE as u64 {
            self.window = Some(rows::window(connection, self.state.last_position)?);
        }
        Ok(())
    }

    /// Adds an evaluation that was written to its window, its day and its sums. `tally` is the sums after it.
    pub(super) fn add(
        &mut self,
        position: Position,
        new: &NewEvaluation,
        evaluation: Sample,
        tally: Tally,
        accepted_at: Timestamp,
    ) {
        if let Some(window) = &mut self.window {
            window.push(evaluation);
        }
        self.uncounted.push(UncountedEvaluation {
            position,
            at: whole_millis(new.timestamp.unwrap_or(accepted_at)),
            latency: evaluation.latency,
            before: self.state.tally.standing(),
            score: tally.standing().score,
            tool: new.tool.clone(),
            failed: (!new.passed).then(|| new.gates.clone()),
        });
        self.state = AgentState {
            last_position: Some(position.number()),
            last_seen: accepted_at,
            tally,
            ..self.state
        };
    }
}
