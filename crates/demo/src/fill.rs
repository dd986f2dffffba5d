//! Writes a month into a store, with matching times of acceptance.
//!
//! All events within a time step are one group of writes, accepted at the time of the last event. This needs one or two
//! transactions instead of one per evaluation. Sessions are closed as time passes, as on a server.

use std::future::Future;

use renown_core::ids::{AgentId, OrgId, Slug};
use renown_store::{PublicationChange, Store, WriteError, WriteReply};

use crate::calendar::{DAY_MS, HOUR_MS, MINUTE_MS};
use crate::clock::DemoClock;
use crate::plan::{Happening, Month};

/// Length of a step. It is short on the last day, because pages show how many minutes ago an agent was seen.
const STEP_MS: i64 = 3 * HOUR_MS;
const LAST_DAY_STEP_MS: i64 = 2 * MINUTE_MS;

/// Counts of what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// Number of evaluations.
    pub evaluations: usize,
    /// Number of sessions, including the open one.
    pub sessions: usize,
    /// Number of their records.
    pub records: usize,
    /// Number of runs.
    pub runs: usize,
    /// Number of reputation events.
    pub events: usize,
    /// Number of closed sessions.
    pub closed: usize,
}

/// Fills an empty store. At the end, the store's clock switches to the real time.
pub async fn fill(store: &dyn Store, clock: &DemoClock, month: Month) -> Result<Filled, WriteError> {
    let Month { org, now_ms, timeline, public } = month;
    let mut filled = Filled::default();
    let mut step = Step::default();
    let mut current = None;
    for (at, happening) in timeline {
        let number = step_of(at, now_ms);
        if current.is_some_and(|current| current != number) {
            step.write(store, clock, &org, &mut filled).await?;
        }
        current = Some(number);
        step.add(at, happening);
    }
    step.write(store, clock, &org, &mut filled).await?;
    clock.set(now_ms);
    loop {
        let closed = store.close_sessions().await?.len();
        filled.closed += closed;
        if closed == 0 {
            break;
        }
    }
    publish(store, &org, public).await?;
    clock.follow();
    Ok(filled)
}

/// Returns the number of the step that contains a time.
fn step_of(at: i64, now_ms: i64) -> (bool, i64) {
    let is_last_day = at > now_ms - DAY_MS;
    (is_last_day, at / if is_last_day { LAST_DAY_STEP_MS } else { STEP_MS })
}

async fn publish(store: &dyn Store, org: &OrgId, (agent, slug): (AgentId, Slug)) -> Result<(), WriteError> {
    let change = PublicationChange { public: Some(true), slug: Some(slug), spare: None };
    store.publish(org, &agent, change).await.map(|_| ())
}

/// The events of one step.
#[derive(Default)]
struct Step {
    last_ms: i64,
    happenings: Vec<Happening>,
}

impl Step {
    fn add(&mut self, at: i64, happening: Happening) {
        self.last_ms = at;
        self.happenings.push(happening);
    }

    /// Writes the step and starts the next one.
    async fn write(
        &mut self,
        store: &dyn Store,
        clock: &DemoClock,
        org: &OrgId,
        filled: &mut Filled,
    ) -> Result<(), WriteError> {
        clock.set(self.last_ms);
        // All writes are sent before the first one is awaited, so that they share transactions.
        let closing = store.close_sessions();
        let mut writes: Vec<WriteReply<'_, ()>> = Vec::new();
        let (mut evaluations, mut events) = (Vec::new(), Vec::new());
        for happening in self.happenings.drain(..) {
            match happening {
                Happening::Evaluation(evaluation) => evaluations.push(evaluation),
                Happening::Reputation(event) => events.push(event),
                Happening::Records(batch) => {
                    filled.sessions += 1;
                    filled.records += batch.len();
                    writes.push(done(store.add_records(org, batch, None)));
                }
                Happening::Signals(session, signals) => {
                    writes.push(done(store.add_signals(org, &session, signals, None)));
                }
                Happening::Run(run) => {
                    filled.runs += 1;
                    writes.push(done(store.add_run(org, run, None)));
                }
            }
        }
        filled.evaluations += evaluations.len();
        filled.events += events.len();
        if !evaluations.is_empty() {
            writes.push(done(store.append(org, evaluations, None)));
        }
        if !events.is_empty() {
            writes.push(done(store.add_reputation_events(org, events, None)));
        }
        for write in writes {
            write.await?;
        }
        filled.closed += closing.await?.len();
        Ok(())
    }
}

/// Drops the result of a write.
fn done<'a, T: 'a>(reply: impl Future<Output = Result<T, WriteError>> + Send + 'a) -> WriteReply<'a, ()> {
    Box::pin(async { reply.await.map(|_| ()) })
}
