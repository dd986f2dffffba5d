//! The thread that sends, and the handle that everybody else holds.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::backoff::Backoff;
use crate::delivery::{Delivered, deliver};
use crate::event::Event;
use crate::notice::Notice;
use crate::queue::{Queue, Spools, Taken};
use crate::spool::SPOOL_BYTES_MAX;
use crate::transport::Transport;

/// How often a spool is synced.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// How often dead processes are looked for.
const ADOPT_EVERY: Duration = Duration::from_mins(1);

/// How often somebody who waits is asked whether to go on.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// When, and how much.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long an event waits for others.
    pub interval: Duration,
    /// So many events are sent at once, at most 100; as soon as so many wait, nothing waits any longer.
    pub batch: usize,
    /// So many events are held in memory.
    pub buffer: usize,
    /// A folder for what has no room in memory.
    pub spool: Option<PathBuf>,
    /// Whether every event goes to the spool before [`Telemetry::track`] returns.
    pub spool_first: bool,
    /// The most that the spool may take on disk.
    pub spool_bytes_max: u64,
}

impl Default for Settings {
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

/// Who is told what somebody should know.
type Tell = Box<dyn Fn(Notice) + Send + Sync>;

/// Sends events in the background. Shut down when it is dropped.
pub struct Telemetry {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    tell: Tell,
}

struct State {
    queue: Queue,
    interval: Duration,
    batch: usize,
    /// When the oldest that waits arrived.
    waiting_since: Option<Instant>,
    /// After a failure nothing is sent before this.
    not_before: Option<Instant>,
    backoff: Backoff,
    /// Somebody waits for what is buffered.
    hurry: bool,
    failing: bool,
    phase: Phase,
    /// The attempt of the end has failed.
    gave_up: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// One more attempt, then the end.
    Closing,
    /// Everything is sent, on disk, or given up.
    Closed,
}

/// What the thread does next.
enum Plan {
    Send,
    Wait(Duration),
    Stop,
}

impl Telemetry {
    /// Starts the thread. What dead processes left in the spool is taken over.
    pub fn start(
        transport: Box<dyn Transport>,
        settings: &Settings,
        tell: impl Fn(Notice) + Send + Sync + 'static,
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
            hurry: false,
            failing: false,
            phase: Phase::Open,
            gave_up: false,
        };
        let shared =
            Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), tell: Box::new(tell) });
        let of_thread = Arc::clone(&shared);
        thread::Builder::new()
            .name("renown-telemetry".to_owned())
            .spawn(move || of_thread.run(&*transport))?;
        Ok(Self { shared })
    }

    /// Takes an event. It does not wait for the network, and after the end the event is given up and counted.
    pub fn track(&self, event: Event) {
        let mut state = self.shared.lock();
        state.queue.push(event);
        let was_empty = state.waiting_since.is_none();
        state.waiting_since.get_or_insert_with(Instant::now);
        if was_empty || state.queue.waiting() >= state.batch as u64 {
            self.shared.changed.notify_all();
        }
        self.shared.tell(state);
    }

    /// Waits until what was tracked so far is delivered. False if that takes longer, or if something was refused, dropped or
    /// left to the spool at the end since the last flush. It does not wait for the interval, but for a back-off and for what the
    /// server asked for; where that lies beyond the timeout, it is false at once.
    pub fn flush(&self, timeout: Duration) -> bool {
        self.flush_while(timeout, || true)
    }

    /// The same for a caller that may change its mind, who is asked every now and then and not in the way of anybody.
    pub fn flush_while(&self, timeout: Duration, mut go_on: impl FnMut() -> bool) -> bool {
        let until = Instant::now() + timeout;
        let mut state = self.shared.lock();
        let goal = state.queue.tracked();
        state.hurry = true;
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

    /// Begins the end without waiting for it, so that several may end at the same time.
    pub fn begin_shutdown(&self) {
        let mut state = self.shared.lock();
        if state.phase == Phase::Open {
            state.phase = Phase::Closing;
            self.shared.changed.notify_all();
        }
    }

    /// Tries once more to deliver what waits. What cannot be delivered goes to the spool, or is given up. May be repeated.
    pub fn shutdown(&self, timeout: Duration) {
        let until = Instant::now() + timeout;
        self.begin_shutdown();
        let mut state = self.shared.lock();
        while state.phase == Phase::Closing {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                // The thread waits for the network. What it sends is put on disk too: a repeat is harmless.
                state.close();
                self.shared.changed.notify_all();
                break;
            }
            state = self.shared.wait(state, left);
        }
        self.shared.tell(state);
    }

    /// Events that were lost for lack of room, or that the server refused and nobody keeps.
    pub fn dropped(&self) -> u64 {
        self.shared.lock().queue.dropped()
    }

    /// Events of which it is not known yet that the server has them. After the end nothing waits, whatever is left in the spool.
    pub fn waiting(&self) -> u64 {
        self.shared.lock().queue.waiting()
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        self.shutdown(Settings::default().interval);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&'s self, state: MutexGuard<'s, State>, time: Duration) -> MutexGuard<'s, State> {
        self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Tells what there is to tell, while nobody has to wait for it.
    fn tell(&self, mut state: MutexGuard<'_, State>) {
        let notices = state.queue.notices();
        drop(state);
        notices.into_iter().for_each(&self.tell);
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
                        state.queue.tell_spool(&done);
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
                    self.tell(state);
                    return self.changed.notify_all();
                }
                Plan::Wait(time) => {
                    let state = self.wait(state, time.min(SYNC_EVERY));
                    self.tell(state);
                }
                Plan::Send => {
                    let Some(taken) = state.queue.take() else {
                        state.nothing_waits();
                        continue;
                    };
                    // One that is on its way when the end begins is not yet the attempt of the end.
                    let is_last = state.phase == Phase::Closing;
                    drop(state);
                    let delivered = deliver(transport, taken.events());
                    let mut state = self.lock();
                    state.gave_up |= is_last && delivered.later.is_some();
                    state.apply(&taken, delivered);
                    self.tell(state);
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
        let due = self.hurry || full || left.is_zero() || self.failing || self.queue.has_adopted();
        if due { Plan::Send } else { Plan::Wait(left) }
    }

    /// What is counted as waiting is nowhere: it was lost with a spool.
    fn nothing_waits(&mut self) {
        self.queue.settle_all();
        (self.waiting_since, self.hurry) = (None, false);
    }

    fn apply(&mut self, taken: &Taken, delivered: Delivered) {
        let Delivered { settled, rejected, later } = delivered;
        if self.phase == Phase::Closed {
            return;
        }
        self.queue.settle(taken, settled);
        for (event, why) in rejected {
            self.queue.reject(&event, why);
        }
        match later {
            None => {
                self.backoff.reset();
                self.not_before = None;
                if std::mem::take(&mut self.failing) {
                    self.queue.tell(Notice::Delivering);
                }
            }
            Some((why, after)) => {
                let chance = getrandom::u32().unwrap_or_default();
                let wait = self.backoff.next(after, chance);
                self.not_before = Some(Instant::now() + wait);
                if !std::mem::replace(&mut self.failing, true) {
                    self.queue.tell(Notice::Waiting { why });
                }
            }
        }
        if self.queue.waiting() == 0 {
            (self.waiting_since, self.hurry) = (None, false);
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
