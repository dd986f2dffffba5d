//! The traces of a session as a fold: one small entry per trace, however many records there are.
//!
//! ```text
//! records ──►  steps (prompts, tool calls)  ──►  the latest 32, one by one and sorted  ──►  older ones: one entry per trace
//! ```
//!
//! A step that arrives in the order of (time, sequence) costs O(1). **A late step** is absorbed exactly where it cannot change what
//! is no longer known one by one:
//!
//! | a late step | is absorbed |
//! |---|---|
//! | among the latest 32 | always |
//! | a call that did not fail, in an older trace | if no tool of that trace failed twice in a row: there is no row to split |
//! | a failing call, in an older trace | if no call of that trace failed: there is no row to join |
//! | a prompt among older steps | if no call of the trace that it ends comes after it |
//! | an earlier span of a trace that stands for a prompt | if no step lies between the two: so a root span may come last |
//!
//! Any other late step makes the fold **stale**: it knows no traces any more until it is rebuilt from all records ([`Refold`]).
//! The same is true of a session with too many traces. A fold that is not stale depends on the set of its records only, never on
//! their order, so its bytes can be compared with those of a rebuilt one.

mod steps;

use renown_core::ids::TraceId;
use renown_core::session_metrics::{Signals, Source, Trace};
use renown_core::time::Timestamp;

use super::{Place, Step, Steps};
use crate::facts::{Fact, Origin, Signal};
use crate::kept::Kept;
pub(super) use steps::{Entry, Fold, Key};

/// The traces of a session, by the signal of the records that they come from: which one is scored may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldedTraces {
    pub(super) logs: Side,
    pub(super) spans: Side,
}

impl FoldedTraces {
    /// Traces of which nothing is known.
    pub fn stale() -> Self {
        Self { logs: Side::Stale, spans: Side::Stale }
    }

    /// Adds a record that is not in it yet.
    pub fn take(&mut self, origin: &Origin<&str>, facts: &[Fact<&str>]) {
        let side = match origin.signal {
            Signal::Logs => &mut self.logs,
            Signal::Spans => &mut self.spans,
        };
        let place = (origin.at.is_none(), origin.at, origin.sequence);
        for fact in facts {
            let key = match fact {
                Fact::Prompt { trace } => Key::prompt(place, *trace),
                Fact::ToolResult { tool, ok, .. } => Key::call(place, *tool, *ok),
                Fact::ApiRequest(_)
                | Fact::ApiError { .. }
                | Fact::ToolDecision { .. }
                | Fact::Feedback { .. }
                | Fact::Compaction { .. }
                | Fact::Refusal => {
                    side.see_other(place);
                    continue;
                }
            };
            side.take(key);
        }
    }

    /// The traces of the scored signal; with each, when it began. `None` if they are stale.
    pub fn traces(&self, signal: Signal, session: &str) -> Option<Vec<(Option<Timestamp>, Trace)>> {
        let Side::Exact(fold) = self.side(signal) else { return None };
        let named = fold.shown().into_iter().filter_map(|(number, started_at, signals)| {
            let trace_id: TraceId = format!("{session}#{number}").parse().ok()?;
            Some((started_at, Trace { trace_id, signals, source: Some(Source::Derived) }))
        });
        Some(named.collect())
    }

    /// The signals of the same traces. `None` if they are stale.
    pub fn signals(&self, signal: Signal) -> Option<Vec<Signals>> {
        let Side::Exact(fold) = self.side(signal) else { return None };
        Some(fold.shown().into_iter().map(|(_, _, signals)| signals).collect())
    }

    /// How many traces there are at most: what it costs to list them.
    pub fn traces_max(&self, signal: Signal) -> usize {
        match self.side(signal) {
            Side::Exact(fold) => fold.entries.len() + fold.latest.len(),
            Side::Stale => 0,
        }
    }

    /// Whether the traces of a signal can only be read from the records.
    pub fn is_stale(&self, signal: Signal) -> bool {
        *self.side(signal) == Side::Stale
    }

    /// Whether these traces, as far as they are not stale, are those of a rebuilt fold.
    pub fn agrees_with(&self, rebuilt: &Self) -> bool {
        let agree = |side: &Side, rebuilt: &Side| *side == Side::Stale || side == rebuilt;
        agree(&self.logs, &rebuilt.logs) && agree(&self.spans, &rebuilt.spans)
    }

    fn side(&self, signal: Signal) -> &Side {
        match signal {
            Signal::Logs => &self.logs,
            Signal::Spans => &self.spans,
        }
    }
}

/// All steps of a session, from which its traces are rebuilt, whatever their order.
#[derive(Debug)]
pub struct Refold {
    logs: Steps,
    spans: Steps,
}

impl Default for Refold {
    fn default() -> Self {
        Self { logs: Steps::new(Signal::Logs), spans: Steps::new(Signal::Spans) }
    }
}

impl Refold {
    /// Adds a record.
    pub fn take(&mut self, record: &Kept<'_>) {
        match record.origin.signal {
            Signal::Logs => self.logs.take(record),
            Signal::Spans => self.spans.take(record),
        }
    }

    /// The fold of all records, and the traces of the scored signal, which are there also where there are too many to fold.
    pub fn finish(
        mut self,
        signal: Signal,
        session: &str,
    ) -> (FoldedTraces, Vec<(Option<Timestamp>, Trace)>) {
        let folded = FoldedTraces { logs: self.logs.fold(), spans: self.spans.fold() };
        let scored = match signal {
            Signal::Logs => self.logs,
            Signal::Spans => self.spans,
        };
        (folded, scored.traces(session))
    }
}

impl Steps {
    fn fold(&mut self) -> Side {
        self.sort();
        let mut side = Side::default();
        if let Some(place) = self.first_other {
            side.see_other(place);
        }
        let name = |tool: u32| self.tools.get(usize::try_from(tool).ok()?).map(AsRef::as_ref);
        for (place, step) in &self.taken {
            side.take(match step {
                Step::Prompt(trace) => Key::prompt(*place, *trace),
                Step::Call(tool, ok) => Key::call(*place, tool.and_then(name), *ok),
            });
        }
        side
    }
}

/// The traces of one signal.
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
    fn see_other(&mut self, place: Place) {
        if let Self::Exact(fold) = self {
            fold.first_other = Some(fold.first_other.map_or(place, |first| first.min(place)));
        }
    }

    fn take(&mut self, key: Key) {
        if let Self::Exact(fold) = self
            && fold.take(key).is_err()
        {
            *self = Self::Stale;
        }
    }
}

#[cfg(test)]
mod tests;
