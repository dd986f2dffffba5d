//! One thread cuts the stream into chunks, one worker a core parses them, and they are added in the order of the stream.
//!
//! A worker that is ahead of its turn waits once it is too far ahead, so that what was parsed and not yet added stays
//! bounded. A line with more records than should be held is added in parts, by waiting for the turn of its chunk.

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use renown_telemetry::prices::Prices;

use super::chunk::{Part, parse};
use super::reading::Reading;
use super::stream::{Chunk, Stream};
use crate::failure::Failure;

/// How many chunks may be parsed before it is their turn, beyond one a worker.
const AHEAD_MAX: usize = 4;

/// What the cutting thread hands to the workers.
enum Work {
    /// From here on it is this source.
    Begin(String),
    Chunk(Chunk),
}

/// Adds all sources to the reading. `open` opens each when it is its turn.
pub(crate) fn read<S>(
    sources: impl IntoIterator<Item = S>,
    open: impl Fn(S) -> Result<(String, Stream), Failure>,
    reading: Reading,
    prices: &Prices,
    workers: usize,
) -> Result<Reading, Failure> {
    let turns = Turns::new(reading);
    let (work, queue) = sync_channel(workers);
    let queue = Mutex::new(queue);
    let (used, buffers) = channel();
    let cut = thread::scope(|scope| {
        for _ in 0..workers {
            let used = used.clone();
            let (turns, queue) = (&turns, &queue);
            scope.spawn(move || worker(turns, queue, &used, prices, workers + AHEAD_MAX));
        }
        let cut = cut(sources, open, &turns, &work, &buffers);
        drop(work);
        cut
    });
    // What is wrong with an earlier chunk comes first.
    let reading = turns.into_reading()?;
    cut.map(|()| reading)
}

/// Cuts the sources into chunks, until something is wrong.
fn cut<S>(
    sources: impl IntoIterator<Item = S>,
    open: impl Fn(S) -> Result<(String, Stream), Failure>,
    turns: &Turns,
    work: &SyncSender<(usize, Work)>,
    buffers: &Receiver<Vec<u8>>,
) -> Result<(), Failure> {
    let mut numbers = 0..;
    let mut hand = |given: Work| match numbers.next() {
        Some(number) if !turns.is_over() => work.send((number, given)).is_ok(),
        _ => false,
    };
    for source in sources {
        let (name, mut stream) = open(source)?;
        if !hand(Work::Begin(name.clone())) {
            return Ok(());
        }
        let failed = |error: io::Error| Failure::new(format!("{name}: {error}"));
        while let Some(chunk) = stream.next(buffers.try_recv().unwrap_or_default()).map_err(failed)? {
            if !hand(Work::Chunk(chunk)) {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn worker(
    turns: &Turns,
    queue: &Mutex<Receiver<(usize, Work)>>,
    used: &Sender<Vec<u8>>,
    prices: &Prices,
    ahead_max: usize,
) {
    let next = || lock(queue).recv().ok();
    while let Some((number, work)) = next() {
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| match work {
            Work::Begin(name) => turns.end(number, Done::Begin(name), ahead_max),
            Work::Chunk(chunk) => {
                let mut part = turns.spare_part();
                parse(&chunk, prices, &mut part, &mut |part| turns.add_partly(number, part));
                turns.end(number, Done::Part(Box::new(part)), ahead_max);
                let _ = used.send(chunk.buffer);
            }
        }));
        if let Err(bug) = outcome {
            turns.give_up(bug);
        }
    }
}

/// A chunk that is parsed.
enum Done {
    Begin(String),
    Part(Box<Part>),
}

/// The reading, and whose turn it is to add to it.
struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    reading: Reading,
    /// The number of the chunk that is added next.
    next: usize,
    /// Parsed before their turn.
    early: BTreeMap<usize, Done>,
    /// Parts to use again, with the memory they have.
    spare: Vec<Part>,
    over: Option<Over>,
}

/// Why nothing more is added.
enum Over {
    Failed(Failure),
    /// A worker panicked, with this.
    Bug(Box<dyn Any + Send>),
}

impl Turns {
    fn new(reading: Reading) -> Self {
        let state = State { reading, next: 0, early: BTreeMap::new(), spare: Vec::new(), over: None };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn is_over(&self) -> bool {
        lock(&self.state).over.is_some()
    }

    fn spare_part(&self) -> Part {
        let mut state = lock(&self.state);
        let mut part = state.spare.pop().unwrap_or_default();
        state.reading.prepare(&mut part);
        part
    }

    /// Adds what is there of a chunk when it is its turn.
    fn add_partly(&self, number: usize, part: &mut Part) {
        let mut state = self.wait_while(|state| state.next < number);
        if state.over.is_none() {
            let outcome = state.reading.add(part);
            state.note(outcome);
        }
        part.clear();
    }

    /// Ends a chunk: adds it if it is its turn, together with those that have waited for it, else keeps it for later.
    fn end(&self, number: usize, done: Done, ahead_max: usize) {
        let mut state = self.wait_while(|state| number > state.next + ahead_max);
        state.early.insert(number, done);
        while let Some(done) = {
            let next = state.next;
            state.early.remove(&next)
        } {
            if state.over.is_none() {
                state.add(done);
            }
            state.next += 1;
        }
        drop(state);
        self.changed.notify_all();
    }

    fn give_up(&self, bug: Box<dyn Any + Send>) {
        lock(&self.state).over.get_or_insert(Over::Bug(bug));
        self.changed.notify_all();
    }

    fn wait_while(&self, condition: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let waits = |state: &mut State| state.over.is_none() && condition(state);
        self.changed.wait_while(lock(&self.state), waits).unwrap_or_else(PoisonError::into_inner)
    }

    fn into_reading(self) -> Result<Reading, Failure> {
        let State { reading, over, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match over {
            None => Ok(reading),
            Some(Over::Failed(failure)) => Err(failure),
            Some(Over::Bug(bug)) => panic::resume_unwind(bug),
        }
    }
}

impl State {
    fn add(&mut self, done: Done) {
        match done {
            Done::Begin(name) => self.reading.begin(&name),
            Done::Part(mut part) => {
                let outcome = self.reading.end_chunk(&mut part);
                self.note(outcome);
                part.clear();
                self.spare.push(*part);
            }
        }
    }

    fn note(&mut self, outcome: Result<(), Failure>) {
        if let Err(failure) = outcome {
            self.over.get_or_insert(Over::Failed(failure));
        }
    }
}

/// A lock that a panicking thread held is still good: the panic ends the program anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
