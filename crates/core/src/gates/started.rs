//! An evaluation whose built-in gates are done, and those that are left for the caller to run.
//!
//! Whoever embeds the engine may have gates of its own, which the core cannot run: a function of Python, a promise of
//! `JavaScript`. It starts an evaluation, runs all that are left together until [`Started::until`], and hands in what they
//! said. Everything that has to be decided then (order, fail fast, fail closed) is decided here.

use core::ops::Range;
use core::time::Duration;
use std::sync::Arc;

use super::engine::{ABORTED, ERROR, Slot, TIMEOUT};
use super::verdict::{Finding, Verdict};

/// What a gate said that the caller ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The output is fine.
    Pass,
    /// It is not, and perhaps why.
    Fail(Option<String>),
    /// The gate has nothing to say, and perhaps why.
    Skip(Option<String>),
    /// It was not done in time.
    TimedOut,
    /// It broke, or what it said makes no sense.
    Broken,
}

impl Outcome {
    fn finding(self) -> Finding {
        let said = |reason: Option<String>| reason.filter(|reason| !reason.trim().is_empty());
        match self {
            Self::Pass => Finding::Pass,
            Self::Fail(reason) => {
                Finding::Fail(said(reason).unwrap_or_else(|| "failed without a reason".to_owned()))
            }
            Self::Skip(reason) => {
                Finding::Skip(said(reason).map_or_else(|| "skipped without a reason".into(), Into::into))
            }
            Self::TimedOut => Finding::Fail(TIMEOUT.to_owned()),
            Self::Broken => Finding::Fail(ERROR.to_owned()),
        }
    }
}

/// Where a gate of the set stands.
#[derive(Debug)]
pub(super) enum State {
    /// What it said, what it redacted, and how long it took.
    Done(Finding, Option<String>, Duration),
    /// The caller has to run it.
    Waiting,
}

/// An evaluation between the built-in gates and the caller's own. It borrows nothing: a promise takes its time.
#[derive(Debug)]
pub struct Started {
    slots: Arc<[Slot]>,
    states: Vec<State>,
    fail_fast: bool,
    /// When it began, and until when it has to be done.
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

    /// The names of the gates that are left to run, in the order of the set.
    pub fn customs(&self) -> impl Iterator<Item = &str> {
        let left = self.slots.iter().zip(&self.states).filter(|(_, state)| matches!(state, State::Waiting));
        left.map(|(slot, _)| slot.name())
    }

    /// The time of the engine's clock when the built-in gates were done.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// The time of the engine's clock by which the evaluation has to be done.
    pub fn until(&self) -> Duration {
        self.time.end
    }

    /// The verdict, with what each gate that was left said and how long it took. Those of which nothing is said were not
    /// done in time.
    pub fn finish(self, outcomes: Vec<(Outcome, Duration)>, now: Duration) -> Verdict {
        let (mut outcomes, mut failed) = (outcomes.into_iter(), false);
        let late = || (Outcome::TimedOut, now.saturating_sub(self.now));
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
