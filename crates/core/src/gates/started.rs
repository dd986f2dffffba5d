//! An evaluation whose built-in gates have run and whose custom gates have not.
//!
//! A program that embeds the engine may have custom gates, which the core cannot run: a Python function, a
//! `JavaScript` promise. It starts an evaluation, runs all custom gates together until [`Started::until`], and passes
//! their results to [`Started::finish`]. All decisions (order, fail fast, fail closed) are made here.

use core::ops::Range;
use core::time::Duration;
use std::sync::Arc;

use super::engine::{ABORTED, ERROR, Slot, TIMEOUT};
use super::verdict::{Finding, Verdict};

/// The result of a custom gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CustomOutcome {
    /// The output is fine.
    Pass,
    /// The output fails, with an optional reason.
    Fail(Option<String>),
    /// The gate does not apply, with an optional reason.
    Skip(Option<String>),
    /// The gate did not finish in time.
    TimedOut,
    /// The gate raised an error, or returned an invalid result.
    Broken,
}

impl CustomOutcome {
    fn finding(self) -> Finding {
        let given = |reason: Option<String>| reason.filter(|reason| !reason.trim().is_empty());
        match self {
            Self::Pass => Finding::Pass,
            Self::Fail(reason) => {
                Finding::Fail(given(reason).unwrap_or_else(|| "failed without a reason".to_owned()))
            }
            Self::Skip(reason) => {
                Finding::Skip(given(reason).map_or_else(|| "skipped without a reason".into(), Into::into))
            }
            Self::TimedOut => Finding::Fail(TIMEOUT.to_owned()),
            Self::Broken => Finding::Fail(ERROR.to_owned()),
        }
    }
}

/// The state of a gate of the set.
#[derive(Debug)]
pub(super) enum State {
    /// Its finding, the reason if it redacted something, and its duration.
    Done(Finding, Option<String>, Duration),
    /// The caller has to run it.
    Waiting,
}

/// An evaluation between the built-in gates and the custom ones. It borrows nothing, because a promise takes time.
#[derive(Debug)]
pub struct Started {
    slots: Arc<[Slot]>,
    states: Vec<State>,
    fail_fast: bool,
    /// Start and deadline of the evaluation.
    time: Range<Duration>,
    now: Duration,
    redacted: Option<String>,
}

impl Started {
    pub(super) fn new(
        slots: Arc<[Slot]>,
        states: Vec<State>,
        fail_fast: bool,
        time: Range<Duration>,
        now: Duration,
        redacted: Option<String>,
    ) -> Self {
        Self { slots, states, fail_fast, time, now, redacted }
    }

    /// Returns the names of the custom gates that have to run, in the order of the set.
    pub fn customs(&self) -> impl Iterator<Item = &str> {
        let left = self.slots.iter().zip(&self.states).filter(|(_, state)| matches!(state, State::Waiting));
        left.map(|(slot, _)| slot.name())
    }

    /// Returns the time of the engine's clock when the built-in gates were done.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Returns the deadline of the evaluation, by the engine's clock.
    pub fn until(&self) -> Duration {
        self.time.end
    }

    /// Returns the verdict. `outcomes` holds the result and the duration of each custom gate, in order. Missing
    /// results count as timed out.
    pub fn finish(self, outcomes: Vec<(CustomOutcome, Duration)>, now: Duration) -> Verdict {
        let (mut outcomes, mut failed) = (outcomes.into_iter(), false);
        let late = || (CustomOutcome::TimedOut, now.saturating_sub(self.now));
        let mut gates = Vec::with_capacity(self.slots.len());
        for (slot, state) in self.slots.iter().zip(self.states) {
            let (finding, redacted, took) = match state {
                State::Done(finding, redacted, took) => (finding, redacted, took),
                State::Waiting => {
                    let (outcome, took) = outcomes.next().unwrap_or_else(late);
                    (outcome.finding(), None, took)
                }
            };
            let aborted = failed && self.fail_fast;
            failed |= slot.fails(&finding);
            let finding = if aborted { Finding::Skip(ABORTED.into()) } else { finding };
            gates.push(slot.result(finding, redacted, took.into()));
        }
        let passed = gates.iter().all(|result| result.passed);
        let total = now.saturating_sub(self.time.start).into();
        Verdict { passed, gates, total, redacted: self.redacted }
    }
}
