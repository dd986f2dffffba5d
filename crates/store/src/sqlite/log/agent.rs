//! An agent as the writer holds it.

use renown_core::reputation::{Evaluation, Tally, WINDOW_SIZE, Window};
use renown_core::time::Timestamp;
use rusqlite::Connection;

use crate::days::Uncounted;
use crate::error::StoreError;
use crate::evidence::{NewEvaluation, Seq, whole_millis};
use crate::sqlite::agents::AgentState;
use crate::sqlite::rows;

/// An agent as the writer knows it.
pub(super) struct Agent {
    pub(super) state: AgentState,
    /// Its evaluations, once one of them may have to leave for the next: until then the sums are all that is needed.
    pub(super) window: Option<Window>,
    /// The evaluations of the open transaction. They are counted in their days when it is committed.
    pub(super) uncounted: Vec<Uncounted>,
    /// Whether the open transaction has touched it.
    pub(super) touched: bool,
}

impl Agent {
    pub(super) fn new(state: AgentState, window: Option<Window>) -> Self {
        Self { state, window, uncounted: Vec::new(), touched: false }
    }

    /// Takes its window up if so many more evaluations may be too many for it.
    pub(super) fn expect(&mut self, coming: usize, connection: &Connection) -> Result<(), StoreError> {
        if self.window.is_none() && self.state.tally.evaluations() + coming as u64 > WINDOW_SIZE as u64 {
            self.window = Some(rows::window(connection, self.state.last_seq)?);
        }
        Ok(())
    }

    /// Takes an evaluation that was written: into its window, its day and its sums, which are these after it.
    pub(super) fn take(
        &mut self,
        seq: Seq,
        new: &NewEvaluation,
        evaluation: Evaluation,
        tally: Tally,
        accepted_at: Timestamp,
    ) {
        if let Some(window) = &mut self.window {
            window.push(evaluation);
        }
        self.uncounted.push(Uncounted {
            seq,
            at: whole_millis(new.timestamp.unwrap_or(accepted_at)),
            latency: evaluation.latency,
            before: self.state.tally.standing(),
            score: tally.standing().score,
            tool: new.tool.clone(),
            failed: (!new.passed).then(|| new.gates.clone()),
        });
        self.state = AgentState { last_seq: Some(seq.0), last_seen: accepted_at, tally, ..self.state };
    }
}
