//! The summary of a session's traces, for lists.

use renown_core::session_metrics::{Signals, Summary};

use super::SessionTrace;

/// The number of a session's traces, and their metrics at the default weights and thresholds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionSummary {
    /// Number of traces.
    pub trace_count: u64,
    /// Both metrics.
    pub metrics: Summary,
}

impl SessionSummary {
    /// Summarizes all traces of a session.
    pub fn of(traces: &[SessionTrace]) -> Self {
        let signals = traces.iter().map(|known| known.trace.signals);
        Self { trace_count: traces.len() as u64, metrics: Summary::of(signals) }
    }

    /// Summarizes a session without sent traces, from its derived signals.
    pub(crate) fn of_derived(signals: Vec<Signals>) -> Self {
        Self { trace_count: signals.len() as u64, metrics: Summary::of(signals) }
    }
}
