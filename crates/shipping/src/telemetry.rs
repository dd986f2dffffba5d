//! The handle that callers use, and the background thread that sends.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use renown_core::backoff::Backoff;

use crate::delivery::{Delivered, deliver};
use crate::notice::Notice;
use crate::queue::{NextBatch, Queue, Spools};
use crate::spool::SPOOL_BYTES_MAX;
use crate::transport::Transport;
use crate::verdict::EncodedVerdict;

/// Interval between syncs of the spool.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// Interval between searches for spools of dead processes.
const ADOPT_EVERY: Duration = Duration::from_mins(1);

/// Interval between the calls of `go_on` during a flush.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// When and how much is sent.
#[derive(Clone, Debug)]
pub struct ShippingSettings {
    /// Maximum time that a verdict waits for others before a batch is sent.
    pub interval: Duration,
    /// Number of verdicts per batch, at most 100. A full batch is sent immediately.
    pub batch: usize,
    /// Maximum number of verdicts in memory.
    pub buffer: usize,
    /// Folder for verdicts that do not fit in memory.
    pub spool: Option<PathBuf>,
    /// Whether every verdict is written to the spool before [`Telemetry::track`] returns.
    pub spool_first: bool,
    /// Maximum size of the spools on disk, in bytes.
    pub spool_bytes_max: u64,
}

impl Default for ShippingSettings {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(5),
            batch: 100,
            buffer: 10_000,
            spool: None,
            spool_first: false,
            spool_bytes_max: SPOOL_BYTES_MAX,
        }
    }
}

/// A function that reports a notice to the operator.
type Notify = Box<dyn Fn(Notice) + Send + Sync>;

/// Sends verdicts in the background. Dropping it shuts it down.
pub struct Telemetry {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    notify: Notify,
}

struct State {
    queue: Queue,
    interval: Duration,
    batch: usize,
    /// Arrival of the oldest waiting verdict.
    waiting_since: Option<Instant>,
    /// Time of the next attempt after a failure.
    not_before: Option<Instant>,
    backoff: Backoff,
    /// Whether a flush is waiting, so that verdicts are sent without delay.
    is_flushing: bool,
    failing: bool,
    phase: Phase,
    /// Whether the last attempt during shutdown has failed.
    gave_up: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Shutting down: one more attempt.
    Closing,
    /// Shut down: every verdict is sent, on disk, or dropped.
    Closed,
}

/// The next action of the thread.
enum Plan {
    Send,
    Wait(Duration),
    Stop,
}

impl Telemetry {
    /// Starts the thread. It adopts the spools of dead processes.
    pub fn start(
        transport: Box<dyn Transport>,
        settings: &ShippingSettings,
        notify: impl Fn(Notice) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let spools = settings.spool.clone().map(|parent| Spools::new(parent, settings.spool_bytes_max));
        let batch = settings.batch.clamp(1, renown_core::limits::BATCH_EVENTS_MAX);
        let state = State {
            queue: Queue::new(batch, settings.buffer, spools, settings.spool_first),
            interval: settings.interval,
            batch,
            waiting_since: None,
            not_before: None,
            backoff: Backoff::default(),
            is_flushing: false,
            failing: false,
            phase: Phase::Open,
            gave_up: false,
        };
        let shared =
            Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), notify: Box::new(notify) });
        let of_thread = Arc::clone(&shared);
        thread::Builder::new()
            .name("renown-telemetry".to_owned())
            .spawn(move || of_thread.run(&*transport))?;
        Ok(Self { shared })
    }

    /// Adds a verdict. Does not wait for the network. After shutdown, the verdict is dropped and counted.
    pub fn track(&self, verdict: EncodedVerdict) {
        let mut state = self.shared.lock();
        state.queue.push(verdict);
        let was_empty = state.waiting_since.is_none();
        state.waiting_since.get_or_insert_with(Instant::now);
        if was_empty || state.queue.waiting() >= state.batch as u64 {
            self.shared.changed.notify_all();
        }
        self.shared.notify(state);
    }

    /// Waits until all verdicts that were tracked before are delivered. Returns false after the timeout, or if a
    /// verdict was rejected, dropped, or left in the spool at shutdown since the last flush. A flush ignores the
    /// interval, but not the back-off and `Retry-After`. If these last longer than the timeout, it returns false
    /// immediately.
    pub fn flush(&self, timeout: Duration) -> bool {
        self.flush_while(timeout, || true)
    }

    /// Like [`Telemetry::flush`], but calls `go_on` regularly, without a lock, and returns false when `go_on` does.
    pub fn flush_while(&self, timeout: Duration, mut go_on: impl FnMut() -> bool) -> bool {
        let until = Instant::now() + timeout;
        let mut state = self.shared.lock();
        let goal = state.queue.tracked();
        state.is_flushing = true;
        self.shared.changed.notify_all();
        while state.queue.settled() < goal {
            let left = until.saturating_duration_since(Instant::now());
            let in_vain = state.phase == Phase::Open && state.not_before.is_some_and(|then| then > until);
            if left.is_zero() || in_vain || state.phase == Phase::Closed {
                return false;
            }
            drop(self.shared.wait(state, left.min(ASK_EVERY)));
            if !go_on() {
                return false;
            }
            state = self.shared.lock();
        }
        state.queue.missed_nothing()
    }

    /// Starts the shutdown without waiting for it, so that several handles can shut down at the same time.
    pub fn begin_shutdown(&self) {
        let mut state = self.shared.lock();
        if state.phase == Phase::Open {
            state.phase = Phase::Closing;
            self.shared.changed.notify_all();
        }
    }

    /// Tries once more to deliver the waiting verdicts. The rest is written to the spool, or dropped if there is
    /// none. Calling it again has no effect.
    pub fn shutdown(&self, timeout: Duration) {
        let until = Instant::now() + timeout;
        self.begin_shutdown();
        let mut state = self.shared.lock();
        while state.phase == Phase::Closing {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                // The thread is still waiting for the network. Its batch is also written to disk; sending it twice is
                // harmless.
                state.close();
                self.shared.changed.notify_all();
                break;
            }
            state = self.shared.wait(state, left);
        }
        self.shared.notify(state);
    }

    /// Returns the number of verdicts that were dropped because of limited space, or rejected by the server and not
    /// saved.
    pub fn dropped(&self) -> u64 {
        self.shared.lock().queue.dropped()
    }

    /// Returns the number of verdicts that are not settled yet. After shutdown it is 0, even if the spool has verdicts.
    pub fn waiting(&self) -> u64 {
        self.shared.lock().queue.waiting()
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        self.shutdown(ShippingSettings::default().interval);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&'s self, state: MutexGuard<'s, State>, time: Duration) -> MutexGuard<'s, State> {
        self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Reports the new notices, after releasing the lock.
    fn notify(&self, mut state: MutexGuard<'_, State>) {
        let notices = state.queue.notices();
        drop(state);
        notices.into_iter().for_each(&self.notify);
    }

    fn run(&self, transport: &dyn Transport) {
        self.lock().queue.adopt();
        let (mut synced, mut adopted) = (Instant::now(), Instant::now());
        loop {
            let now = Instant::now();
            let mut state = self.lock();
            if now.duration_since(synced) >= SYNC_EVERY {
                synced = now;
                if let Some(file) = state.queue.unsynced() {
                    drop(state);
                    let done = file.and_then(|file| file.sync_data());
                    state = self.lock();
                    if done.is_err() {
                        state.queue.notify_spool(&done);
                    }
                }
            }
            if now.duration_since(adopted) >= ADOPT_EVERY {
                adopted = now;
                state.queue.adopt();
            }
            match state.plan(now) {
                Plan::Stop => {
                    state.close();
                    self.notify(state);
                    return self.changed.notify_all();
                }
                Plan::Wait(time) => {
                    let state = self.wait(state, time.min(SYNC_EVERY));
                    self.notify(state);
                }
                Plan::Send => {
                    let Some(batch) = state.queue.next_batch() else {
                        state.forget_waiting();
                        continue;
                    };
                    // A request that was sent before the shutdown began does not count as the last attempt.
                    let is_last = state.phase == Phase::Closing;
                    drop(state);
                    let delivered = deliver(transport, batch.verdicts());
                    let mut state = self.lock();
                    state.gave_up |= is_last && delivered.later.is_some();
                    state.apply(&batch, delivered);
                    self.notify(state);
                    self.changed.notify_all();
                }
            }
        }
    }
}

impl State {
    fn plan(&self, now: Instant) -> Plan {
        let idle = self.queue.waiting() == 0 && !self.queue.has_adopted();
        match self.phase {
            Phase::Closed => return Plan::Stop,
            Phase::Closing if idle || self.gave_up => return Plan::Stop,
            Phase::Closing => return Plan::Send,
            Phase::Open => {}
        }
        if idle {
            return Plan::Wait(SYNC_EVERY);
        }
        if let Some(left) = self.not_before.and_then(|then| then.checked_duration_since(now)) {
            return Plan::Wait(left);
        }
        let since = self.waiting_since.unwrap_or(now);
        let left = (since + self.interval).saturating_duration_since(now);
        let full = self.queue.waiting() >= self.batch as u64;
        let due = self.is_flushing || full || left.is_zero() || self.failing || self.queue.has_adopted();
        if due { Plan::Send } else { Plan::Wait(left) }
    }

    /// Counts all verdicts as settled, because no waiting verdict exists. They were lost with a spool.
    fn forget_waiting(&mut self) {
        self.queue.settle_all();
        (self.waiting_since, self.is_flushing) = (None, false);
    }

    fn apply(&mut self, batch: &NextBatch, delivered: Delivered) {
        let Delivered { settled, rejected, later } = delivered;
        if self.phase == Phase::Closed {
            return;
        }
        self.queue.settle(batch, settled);
        for (verdict, why) in rejected {
            self.queue.reject(&verdict, why);
        }
        match later {
            None => {
                self.backoff.reset();
                self.not_before = None;
                if std::mem::take(&mut self.failing) {
                    self.queue.notify(Notice::Delivering);
                }
            }
            Some((why, after)) => {
                let chance = getrandom::u32().unwrap_or_default();
                let wait = self.backoff.next(after, chance);
                self.not_before = Some(Instant::now() + wait);
                if !std::mem::replace(&mut self.failing, true) {
                    self.queue.notify(Notice::Waiting { why });
                }
            }
        }
        if self.queue.waiting() == 0 {
            (self.waiting_since, self.is_flushing) = (None, false);
        } else if settled > 0 {
            self.waiting_since = Some(Instant::now());
        }
    }

    fn close(&mut self) {
        if self.phase != Phase::Closed {
            self.phase = Phase::Closed;
            self.queue.end();
        }
    }
}
