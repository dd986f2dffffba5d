//! The one writer: takes everything that waits as one transaction, makes it durable with one fsync, then answers.
//!
//! While the disk works, the next writes gather in the queue, so the more is asked at once the more each fsync carries. The
//! queue has a bound; past it a write is refused at once instead of held in memory.
//!
//! **Checkpoints.** Moving the write-ahead log into the database costs a hundred milliseconds where the log is long, so a
//! thread of its own does it beside the writer (`PASSIVE`, which waits for nobody). Only while nothing writes can the log
//! begin anew, so when all but a little is moved, the writer moves the rest between two transactions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tokio::sync::oneshot;

use super::guard::Guard;
use super::log::cleaning::Cleaning;
use super::log::{Log, SETTLE_EVERY, TRANSACTION_MAX};
use super::mark::Waterline;
use super::orgs::Orgs;
use super::scrub::DatabaseFile;
use super::seal;
use super::standings::Standings;
use crate::Reply;
use crate::clock::Clock;
use crate::error::StoreError;

/// How many writes may wait. Past it they are refused.
const QUEUE_MAX: usize = 4096;

/// How long a connection waits for another one.
pub(super) const BUSY_TIME_MAX: Duration = Duration::from_secs(5);

/// How often the write-ahead log is moved into the database while there are writes. Often, so that the disk is never long
/// busy with it while a commit waits.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(100);

/// With at most so many pages left to move, the writer does it itself.
const CHECKPOINT_REST_PAGES: i64 = 1000;

/// How large the file of the write-ahead log stays when there is little in it.
const LOG_BYTES_KEPT: i64 = 256 << 20;

/// A write that waits for its transaction.
trait Work: Send {
    /// How many evaluations it holds.
    fn evaluations(&self) -> usize;

    /// Does it inside the open transaction. An error fails the whole transaction; that of a write which has changed nothing
    /// is its own, and kept for its answer.
    fn apply(&mut self, log: &mut Log<'_>) -> Result<(), StoreError>;

    /// Answers: the transaction is durable, or it failed.
    fn answer(self: Box<Self>, transaction: Result<(), Arc<StoreError>>);
}

/// A write as a function of the log, and who waits for what it returns.
struct Waiting<T, F> {
    evaluations: usize,
    write: Option<F>,
    done: Result<T, StoreError>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Work for Waiting<T, F>
where
    T: Send,
    F: FnOnce(&mut Log<'_>) -> Result<T, StoreError> + Send,
{
    fn evaluations(&self) -> usize {
        self.evaluations
    }

    fn apply(&mut self, log: &mut Log<'_>) -> Result<(), StoreError> {
        let Some(write) = self.write.take() else { return Ok(()) };
        let mark = log.changes();
        match write(log) {
            Err(error) if !log.can_go_on(mark, &error) => Err(error),
            done => {
                self.done = done;
                Ok(())
            }
        }
    }

    fn answer(self: Box<Self>, transaction: Result<(), Arc<StoreError>>) {
        // Who no longer waits has no use for the answer.
        let _ = self.answer.send(transaction.map_err(StoreError::RolledBack).and(self.done));
    }
}

/// The files of a store, beside the connections to it.
pub(super) struct Files<'p> {
    pub(super) path: &'p Path,
    pub(super) file: Arc<DatabaseFile>,
    pub(super) guard: Guard,
}

/// The writer's thread and its queue.
pub(super) struct Writer {
    queue: Option<SyncSender<Box<dyn Work>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Writer {
    /// Starts the writer on its connection, and the checkpointer on another.
    pub(super) fn start(
        files: Files<'_>,
        connection: Connection,
        checkpoints: Connection,
        orgs: Arc<Orgs>,
        standings: Arc<Standings>,
        clock: Clock,
    ) -> Result<Self, StoreError> {
        let (queue, writes) = sync_channel(QUEUE_MAX);
        let (started, has_started) = sync_channel(1);
        let waterline = Waterline::open(&connection, files.path)?;
        let cleaning = Cleaning::new(&connection, files.path, files.file)?;
        let guard = files.guard;
        let signals = Arc::new(Signals::default());
        let of_checkpointer = Arc::clone(&signals);
        let checkpointer = spawn("renown-checkpoint", move || checkpoint(&checkpoints, &of_checkpointer))?;
        let checkpoints = Checkpoints { signals, thread: checkpointer.thread().clone() };
        let thread = spawn("renown-writer", move || {
            match Log::new(&connection, orgs, standings, clock, waterline, cleaning, guard) {
                Ok(mut log) => {
                    let _ = started.send(begin(&mut log));
                    serve(&mut log, &writes, || {
                        checkpoints.log_has_grown();
                        if checkpoints.signals.nearly_moved.swap(false, Ordering::Relaxed) {
                            let _ = passive(&connection);
                        }
                    });
                }
                Err(error) => {
                    let _ = started.send(Err(error));
                }
            }
        })?;
        let started = Self { queue: Some(queue), threads: vec![thread, checkpointer] };
        has_started.recv().unwrap_or(Err(StoreError::Closed)).map(|()| started)
    }

    /// Puts a write into the queue; the answer comes when it is durable. The transaction is cut by how many evaluations
    /// its writes hold.
    pub(super) fn send<T: Send + 'static>(
        &self,
        evaluations: usize,
        write: impl FnOnce(&mut Log<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<'_, T> {
        let (answer, answered) = oneshot::channel();
        let work = Waiting { evaluations, write: Some(write), done: Err(StoreError::Closed), answer };
        let sent = match &self.queue {
            Some(queue) => queue.try_send(Box::new(work)).map_err(|error| match error {
                TrySendError::Full(_) => StoreError::Overloaded,
                TrySendError::Disconnected(_) => StoreError::Closed,
            }),
            None => Err(StoreError::Closed),
        };
        Box::pin(async move {
            sent?;
            answered.await.unwrap_or(Err(StoreError::Closed))
        })
    }
}

/// What has waited is written before the writer ends.
impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(StoreError::io(format!("starting {name}")))
}

/// The first transaction: there is a default organization from the first start on, and every agent's row is current.
fn begin(log: &mut Log<'_>) -> Result<(), StoreError> {
    let left = log.find_left()?;
    // A store that has its default organization needs no time to be opened, so it can be read whatever the clock shows.
    let begun = match log.begin() {
        Err(StoreError::Clock(_)) if log.has_default_org()? => log.begin_untimed(),
        begun => begun,
    };
    let done = begun
        .and_then(|()| log.create_default_org())
        .and_then(|()| log.catch_up(&left))
        .and_then(|()| log.commit());
    done.inspect_err(|_| log.roll_back())
}

fn serve(log: &mut Log<'_>, writes: &Receiver<Box<dyn Work>>, between: impl Fn()) {
    loop {
        let idle = if log.is_settling() { Duration::ZERO } else { SETTLE_EVERY };
        match writes.recv_timeout(log.clean_after().unwrap_or(idle)) {
            Ok(first) => transact(log, gather(first, writes)),
            Err(RecvTimeoutError::Timeout) => {
                let _ = log.check_files();
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if log.wants_settling() {
            keep_house(log);
        }
        log.clean();
        between();
    }
    let _ = log.settle_all();
    forget_replies(log);
}

/// All that waits, up to a bound.
fn gather(first: Box<dyn Work>, writes: &Receiver<Box<dyn Work>>) -> Vec<Box<dyn Work>> {
    let mut evaluations = first.evaluations();
    let mut group = vec![first];
    while evaluations < TRANSACTION_MAX
        && let Ok(next) = writes.try_recv()
    {
        evaluations += next.evaluations();
        group.push(next);
    }
    group
}

/// Does a group of writes as one transaction and answers each of them.
fn transact(log: &mut Log<'_>, mut group: Vec<Box<dyn Work>>) {
    let result = apply(log, &mut group);
    let transaction = result.map_err(|error| {
        log.roll_back();
        Arc::new(error)
    });
    for work in group {
        work.answer(transaction.clone());
    }
}

fn apply(log: &mut Log<'_>, group: &mut [Box<dyn Work>]) -> Result<(), StoreError> {
    log.check_files()?;
    // Only if settling failed after the last transaction.
    if log.is_far_behind() {
        log.settle_excess().map_err(StoreError::RolledBack)?;
    }
    log.begin()?;
    for work in group {
        // A write that panics fails its transaction and nothing else.
        catch_unwind(AssertUnwindSafe(|| work.apply(log)))
            .unwrap_or_else(|_| Err(StoreError::Damaged("a write could not be applied".to_owned())))?;
    }
    log.commit()
}

/// What is done beside the writes, a little at a time. What fails is tried again later: nothing is lost meanwhile.
fn keep_house(log: &mut Log<'_>) {
    let _ = log.settle();
    if !log.is_settling() {
        forget_replies(log);
    }
}

fn forget_replies(log: &mut Log<'_>) {
    if log.forget_replies().is_err() {
        log.roll_back();
    }
}

/// What the writer and the checkpointer tell each other.
#[derive(Default)]
struct Signals {
    /// There is something in the log that was not there when it was last moved.
    log_grew: AtomicBool,
    /// All but a little of it is moved.
    nearly_moved: AtomicBool,
    ended: AtomicBool,
}

/// The writer's end of the signals.
struct Checkpoints {
    signals: Arc<Signals>,
    thread: Thread,
}

impl Checkpoints {
    /// Wakes the checkpointer with the first transaction after its last look, and not with every one.
    fn log_has_grown(&self) {
        if !self.signals.log_grew.swap(true, Ordering::Relaxed) {
            self.thread.unpark();
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.signals.ended.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }
}

/// Moves the write-ahead log into the database as long as the writer lives.
fn checkpoint(connection: &Connection, signals: &Signals) {
    let ended = || signals.ended.load(Ordering::Relaxed);
    while !ended() {
        if !signals.log_grew.swap(false, Ordering::Relaxed) {
            thread::park();
            continue;
        }
        if let Ok((log, moved)) = passive(connection) {
            let nearly = log > 0 && log - moved <= CHECKPOINT_REST_PAGES;
            signals.nearly_moved.store(nearly, Ordering::Relaxed);
        }
        // Not again before this, unless the writer ends.
        let next = Instant::now() + CHECKPOINT_EVERY;
        while !ended()
            && let Some(left) = next.checked_duration_since(Instant::now())
        {
            thread::park_timeout(left);
        }
    }
}

/// Moves what can be moved without waiting for anybody. Pages in the write-ahead log, and those of them that are moved.
fn passive(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| Ok((row.get(1)?, row.get(2)?)))
}

/// Sets a connection up for writing, durable with every commit.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIME_MAX)?;
    plan_once(&connection)?;
    seal::register(&connection)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", synchronous())?;
    // On macOS a plain fsync does not reach the disk.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    // After a long reader has let the log grow, it is cut to this when it begins anew.
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT)?;
    // Thousands of bytes when negative: 16 MB.
    connection.pragma_update(None, "cache_size", -16_000)?;
    Ok(connection)
}

/// Keeps the plan of a statement whatever is bound to it. Without this, SQLite looks at each value and prepares the statement
/// anew, which costs ten times what running it does.
pub(super) fn plan_once(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(|_| ())
}

/// Every commit waits for the disk. A build with debug assertions can be told not to, so that the test of this can show
/// that it would notice.
fn synchronous() -> &'static str {
    let off = cfg!(debug_assertions) && std::env::var_os("RENOWN_TEST_SYNCHRONOUS_OFF").is_some();
    if off { "off" } else { "full" }
}
