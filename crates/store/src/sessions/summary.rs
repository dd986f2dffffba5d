//! What a list shows of a session's traces.

use renown_core::session_metrics::{Signals, Summary};

use super::SessionTrace;

/// The traces of a session in short: how many there are, and what they say at the default weights and thresholds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionSummary {
    /// How many traces there are.
    pub trace_count: u64,
    /// Both metrics.
    pub metrics: Summary,
}

impl SessionSummary {
    /// The summary of all traces of a session.
    pub fn of(traces: &[SessionTrace]) -> Self {
        let signals = traces.iter().map(|known| known.trace.signals);
        Self { trace_count: traces.len() as u64, metrics: Summary::of(signals) }
    }

    /// The summary of a session to which no traces were sent.
    pub(crate) fn of_derived(signals: Vec<Signals>) -> Self {
        Self { trace_count: signals.len() as u64, metrics: Summary::of(signals) }
    }
}
