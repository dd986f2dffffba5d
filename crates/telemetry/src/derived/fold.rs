//! The traces of a session as a fold: one small entry per trace, for any number of records.
//!
//! ```text
//! records ──►  steps (prompts, tool calls)  ──►  latest 32 steps, sorted, one by one  ──►  older steps: one entry per trace
//! ```
//!
//! A step that arrives in the order of (time, sequence) costs O(1). **A late step** belongs before steps that are no
//! longer stored one by one. It is added only if the entries tell the exact new result. A *streak* is a
//! number of consecutive failures of one tool:
//!
//! | late step | is added |
//! |---|---|
//! | among the latest 32 | always |
//! | a call that did not fail, in an older trace | if that trace has no streak longer than 1, so there is no streak to split |
//! | a failing call, in an older trace | if no call of that trace failed, so there is no streak to join |
//! | a prompt in an older trace | if that trace has no call after the time of the prompt |
//! | a span that is earlier than the span that now counts as the prompt of its OTLP trace | if no step lies between the two spans; so a root span may arrive last |
//!
//! Any other late step makes the fold **stale**: it has no traces until it is rebuilt from all records
//! ([`TraceRebuilder`]). A session with too many traces is stale, too. A fold that is not stale depends only on the set
//! of its records, not on their order. So its bytes can be compared with those of a rebuilt fold.

mod steps;

use renown_core::ids::TraceId;
use renown_core::session_metrics::{Signals, Source, Trace};
use renown_core::time::Timestamp;

use super::{Moment, Step, Steps};
use crate::facts::{Fact, RecordOrigin, Signal};
use crate::stored::StoredRecord;
pub(super) use steps::{Entry, Fold, Key};

/// The traces of a session, separately for log records and spans, because later records may change which one is scored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldedTraces {
    pub(super) logs: Side,
    pub(super) spans: Side,
}

impl FoldedTraces {
    /// Creates a fold that is stale.
    pub fn stale() -> Self {
        Self { logs: Side::Stale, spans: Side::Stale }
    }

    /// Adds a record that was not added before.
    pub fn add(&mut self, origin: &RecordOrigin<&str>, facts: &[Fact<&str>]) {
        let side = match origin.signal {
            Signal::Logs => &mut self.logs,
            Signal::Spans => &mut self.spans,
            // Transcripts have no traces.
            Signal::Transcript => return,
        };
        let moment = (origin.at.is_none(), origin.at, origin.sequence);
        for fact in facts {
            let key = match fact {
                Fact::Prompt { trace } => Key::prompt(moment, *trace),
                Fact::ToolResult { tool, ok, .. } => Key::call(moment, *tool, *ok),
                Fact::ApiRequest(_)
                | Fact::ApiError { .. }
                | Fact::ToolDecision { .. }
                | Fact::Feedback { .. }
                | Fact::Compaction { .. }
                | Fact::Refusal => {
                    side.note_other(moment);
                    continue;
                }
            };
            side.add(key);
        }
    }

    /// Returns the traces of `signal` (log records or spans), each with its start. Returns `None` if they are stale.
    pub fn traces(&self, signal: Signal, session: &str) -> Option<Vec<(Option<Timestamp>, Trace)>> {
        let fold = match self.side(signal) {
            Some(Side::Exact(fold)) => fold,
            Some(Side::Stale) => return None,
            None => return Some(Vec::new()),
        };
        let named = fold.shown().into_iter().filter_map(|(number, started_at, signals)| {
            let trace_id: TraceId = format!("{session}#{number}").parse().ok()?;
            Some((started_at, Trace { trace_id, signals, source: Some(Source::Derived) }))
        });
        Some(named.collect())
    }

    /// Returns the trace signals of the scored OTLP signal. Returns `None` if they are stale.
    pub fn signals(&self, signal: Signal) -> Option<Vec<Signals>> {
        let fold = match self.side(signal) {
            Some(Side::Exact(fold)) => fold,
            Some(Side::Stale) => return None,
            None => return Some(Vec::new()),
        };
        Some(fold.shown().into_iter().map(|(_, _, signals)| signals).collect())
    }

    /// Returns an upper bound of the number of traces, as the cost of listing them.
    pub fn traces_max(&self, signal: Signal) -> usize {
        match self.side(signal) {
            Some(Side::Exact(fold)) => fold.entries.len() + fold.latest.len(),
            Some(Side::Stale) | None => 0,
        }
    }

    /// Whether the traces of an OTLP signal can only be read from its records.
    pub fn is_stale(&self, signal: Signal) -> bool {
        self.side(signal) == Some(&Side::Stale)
    }

    /// Whether the traces that are not stale equal those of a rebuilt fold.
    pub fn agrees_with(&self, rebuilt: &Self) -> bool {
        let agree = |side: &Side, rebuilt: &Side| *side == Side::Stale || side == rebuilt;
        agree(&self.logs, &rebuilt.logs) && agree(&self.spans, &rebuilt.spans)
    }

    /// Returns the side of a signal. Transcripts have none.
    fn side(&self, signal: Signal) -> Option<&Side> {
        match signal {
            Signal::Logs => Some(&self.logs),
            Signal::Spans => Some(&self.spans),
            Signal::Transcript => None,
        }
    }
}

/// Rebuilds the traces of a session from all its records, in any order.
#[derive(Debug)]
pub struct TraceRebuilder {
    logs: Steps,
    spans: Steps,
}

impl Default for TraceRebuilder {
    fn default() -> Self {
        Self { logs: Steps::new(Signal::Logs), spans: Steps::new(Signal::Spans) }
    }
}

impl TraceRebuilder {
    /// Adds a record.
    pub fn add(&mut self, record: &StoredRecord<'_>) {
        match record.origin.signal {
            Signal::Logs => self.logs.add(record),
            Signal::Spans => self.spans.add(record),
            Signal::Transcript => {}
        }
    }

    /// Returns the fold of all records and the traces of `signal` (log records or spans). The traces are returned even if
    /// there are too many to fold.
    pub fn finish(
        mut self,
        signal: Signal,
        session: &str,
    ) -> (FoldedTraces, Vec<(Option<Timestamp>, Trace)>) {
        let folded = FoldedTraces { logs: self.logs.fold(), spans: self.spans.fold() };
        let scored = match signal {
            Signal::Logs => self.logs,
            Signal::Spans => self.spans,
            Signal::Transcript => return (folded, Vec::new()),
        };
        (folded, scored.traces(session))
    }
}

impl Steps {
    fn fold(&mut self) -> Side {
        self.sort();
        let mut side = Side::default();
        if let Some(moment) = self.first_other {
            side.note_other(moment);
        }
        let name = |tool: u32| self.tools.get(usize::try_from(tool).ok()?).map(AsRef::as_ref);
        for (moment, step) in &self.timeline {
            side.add(match step {
                Step::Prompt(trace) => Key::prompt(*moment, *trace),
                Step::Call(tool, ok) => Key::call(*moment, tool.and_then(name), *ok),
            });
        }
        side
    }
}

/// The traces of one OTLP signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Exact(Box<Fold>),
    Stale,
}

impl Default for Side {
    fn default() -> Self {
        Self::Exact(Box::default())
    }
}

impl Side {
    fn note_other(&mut self, moment: Moment) {
        if let Self::Exact(fold) = self {
            fold.first_other = Some(fold.first_other.map_or(moment, |first| first.min(moment)));
        }
    }

    fn add(&mut self, key: Key) {
        if let Self::Exact(fold) = self
            && fold.add(key).is_err()
        {
            *self = Self::Stale;
        }
    }
}

#[cfg(test)]
mod tests;
