//! The one writer: takes everything that waits as one transaction, makes it durable with one fsync, then answers.
//!
//! While the disk works, the next writes gather in the queue, so the more is asked at once the more each fsync carries. The
//! queue has a bound; past it a write is refused at once instead of held in memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tokio::sync::oneshot;

use super::agent_cache::Standings;
use super::checkpoint::Checkpoints;
use super::guard::Guard;
use super::log::cleaning::Cleaning;
use super::log::{Log, SETTLE_EVERY, TRANSACTION_MAX};
use super::mark::Waterline;
use super::orgs::Orgs;
use super::scrub::DatabaseFile;
use super::seal;
use crate::Reply;
use crate::clock::Clock;
use crate::error::StoreError;
use crate::waits::{Stage, Stopwatch, Totals, WriteWaits};

/// Page size of a new database. Batches of evaluations insert 1.1 times faster than with SQLite's default of 4096 bytes; single
/// evaluations are as fast, and 16 384 bytes gain nothing more. Files of older releases keep their size.
const PAGE_BYTES: u32 = 8192;

/// How many writes may wait. Past it they are refused.
const QUEUE_MAX: usize = 4096;

/// How many prepared statements a connection keeps: all that there are.
pub(super) const STATEMENTS_KEPT: usize = 256;

/// How long a connection waits for another one.
pub(super) const BUSY_TIME_MAX: Duration = Duration::from_secs(5);

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
    totals: Arc<Totals>,
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
        let (checkpoints, checkpointer) = Checkpoints::start(checkpoints)?;
        let totals = Arc::new(Totals::default());
        let of_writer = Arc::clone(&totals);
        let thread = spawn("renown-writer", move || {
            match Log::new(&connection, orgs, standings, clock, waterline, cleaning, guard) {
                Ok(mut log) => {
                    let _ = started.send(begin(&mut log));
                    let watch = Stopwatch::start(&of_writer);
                    Serving { log, connection: &connection, checkpoints, watch }.run(&writes);
                }
                Err(error) => {
                    let _ = started.send(Err(error));
                }
            }
        })?;
        let started = Self { queue: Some(queue), threads: vec![thread, checkpointer], totals };
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

    /// What the writes have waited for.
    pub(super) fn waits(&self) -> WriteWaits {
        self.totals.read()
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

pub(super) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
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

/// What the writer does next.
enum Next {
    Write(Box<dyn Work>),
    /// Nobody wrote for a while.
    Pause,
    /// Nobody can write any more.
    End,
}

/// The writer at work.
struct Serving<'c, 't> {
    log: Log<'c>,
    connection: &'c Connection,
    checkpoints: Checkpoints,
    watch: Stopwatch<'t>,
}

impl Serving<'_, '_> {
    /// Does what is sent, until nobody can send any more.
    fn run(mut self, writes: &Receiver<Box<dyn Work>>) {
        loop {
            match self.next(writes) {
                Next::Write(first) => self.transact(gather(first, writes)),
                Next::Pause => {
                    let _ = self.log.check_files();
                }
                Next::End => break,
            }
            if self.log.wants_settling() {
                keep_house(&mut self.log);
                self.watch.end(Stage::Settle);
            }
            self.log.clean();
            self.watch.end(Stage::Clean);
            self.checkpoints.log_has_grown(self.connection);
            self.watch.end(Stage::Checkpoint);
        }
        let _ = self.log.settle_all();
        forget_replies(&mut self.log);
    }

    fn next(&mut self, writes: &Receiver<Box<dyn Work>>) -> Next {
        match writes.try_recv() {
            Ok(first) => return Next::Write(first),
            Err(TryRecvError::Disconnected) => return Next::End,
            Err(TryRecvError::Empty) => {}
        }
        let idle = if self.log.is_settling() { Duration::ZERO } else { SETTLE_EVERY };
        let next = match writes.recv_timeout(self.log.clean_after().unwrap_or(idle)) {
            Ok(first) => Next::Write(first),
            Err(RecvTimeoutError::Timeout) => Next::Pause,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        };
        self.watch.restart();
        next
    }

    /// Does a group of writes as one transaction and answers each of them.
    fn transact(&mut self, mut group: Vec<Box<dyn Work>>) {
        let result = self.apply(&mut group);
        let transaction = result.map_err(|error| {
            self.log.roll_back();
            Arc::new(error)
        });
        for work in group {
            work.answer(transaction.clone());
        }
        self.watch.answered();
    }

    fn apply(&mut self, group: &mut [Box<dyn Work>]) -> Result<(), StoreError> {
        let log = &mut self.log;
        log.check_files()?;
        // Only if settling failed after the last transaction.
        if log.is_far_behind() {
            log.settle_excess().map_err(StoreError::RolledBack)?;
        }
        log.begin()?;
        for work in group {
            // A write that panics fails its transaction and nothing else.
            catch_unwind(AssertUnwindSafe(|| work.apply(log)))
                .unwrap_or_else(|_| Err(StoreError::Bug("a write panicked")))?;
        }
        self.watch.end(Stage::Apply);
        let was_moving = self.checkpoints.is_moving();
        let committed = self.log.commit();
        let beside = was_moving || self.checkpoints.is_moving();
        self.watch.end(if beside { Stage::SyncBesideCheckpoint } else { Stage::Sync });
        committed
    }
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

/// Sets a connection up for writing, durable with every commit.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIME_MAX)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    plan_once(&connection)?;
    seal::register(&connection)?;
    // Applies to a new file only, and only before the journal mode is set.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
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

/// The same without waiting for the disk, for data that is thrown away.
pub(super) fn connect_unsynced(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path)?;
    connection.pragma_update(None, "synchronous", "off")?;
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
