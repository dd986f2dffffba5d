//! One thread cuts the stream into chunks, one worker per core parses them, and they are added in the order of the stream.
//!
//! A worker that is too far ahead waits, so that the number of parsed chunks in memory is bounded. A line with too many records
//! for memory is added in parts; its worker first waits for the turn of its chunk.

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

/// Maximum number of chunks parsed ahead of their turn, in addition to one per worker.
const AHEAD_MAX: usize = 4;

/// What the cutting thread sends to the workers.
enum Work {
    /// The following chunks belong to this source.
    Begin(String),
    Chunk(Chunk),
}

/// Adds all sources to the reading. `open` opens each source in turn.
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
    // An error of an earlier chunk takes precedence.
    let reading = turns.into_reading()?;
    cut.map(|()| reading)
}

/// Cuts the sources into chunks, until an error occurs.
fn cut<S>(
    sources: impl IntoIterator<Item = S>,
    open: impl Fn(S) -> Result<(String, Stream), Failure>,
    turns: &Turns,
    work: &SyncSender<(usize, Work)>,
    buffers: &Receiver<Vec<u8>>,
) -> Result<(), Failure> {
    let mut numbers = 0..;
    let mut send = |item: Work| match numbers.next() {
        Some(number) if !turns.is_over() => work.send((number, item)).is_ok(),
        _ => false,
    };
    for source in sources {
        let (name, mut stream) = open(source)?;
        if !send(Work::Begin(name.clone())) {
            return Ok(());
        }
        let failed = |error: io::Error| Failure::new(format!("{name}: {error}"));
        while let Some(chunk) = stream.next(buffers.try_recv().unwrap_or_default()).map_err(failed)? {
            if !send(Work::Chunk(chunk)) {
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
        if let Err(panic) = outcome {
            turns.give_up(panic);
        }
    }
}

/// A parsed chunk.
enum Done {
    Begin(String),
    Part(Box<Part>),
}

/// The reading, and the number of the chunk whose turn it is.
struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    reading: Reading,
    /// The number of the next chunk to add.
    next: usize,
    /// Chunks that were parsed before their turn.
    early: BTreeMap<usize, Done>,
    /// Parts to reuse, with their allocated memory.
    spare: Vec<Part>,
    over: Option<Over>,
}

/// Why nothing more is added.
enum Over {
    Failed(Failure),
    /// A worker panicked with this payload.
    Panicked(Box<dyn Any + Send>),
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

    /// Adds the first part of a chunk, after waiting for its turn.
    fn add_partly(&self, number: usize, part: &mut Part) {
        let mut state = self.wait_while(|state| state.next < number);
        if state.over.is_none() {
            let outcome = state.reading.add(part);
            state.note(outcome);
        }
        part.clear();
    }

    /// Ends a chunk. If it is its turn, adds it and the chunks that waited for it; else keeps it for later.
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

    fn give_up(&self, payload: Box<dyn Any + Send>) {
        lock(&self.state).over.get_or_insert(Over::Panicked(payload));
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
            Some(Over::Panicked(payload)) => panic::resume_unwind(payload),
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

/// Locks a mutex, even a poisoned one: a panic ends the program anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
