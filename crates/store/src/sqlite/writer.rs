//! The writer: one thread that commits everything waiting as one transaction, makes it durable with one fsync, and
//! then answers.
//!
//! While the disk works, the next writes gather in the queue. So the more writes are requested at once, the more
//! each fsync carries. The queue has a limit; past it a write is refused at once and not kept in memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tokio::sync::oneshot;

use super::agent_cache::AgentCache;
use super::checkpoint::Checkpoints;
use super::guard::Guard;
use super::mark::MarkWriter;
use super::orgs::Orgs;
use super::scrub::DatabaseFile;
use super::seal;
use super::transaction::cleaning::Cleaning;
use super::transaction::{SETTLE_EVERY, TRANSACTION_MAX, Transaction};
use crate::Reply;
use crate::clock::Clock;
use crate::error::StoreError;
use crate::waits::{Stage, Stopwatch, Totals, WriteWaits};

/// Page size of a new database. Batches of evaluations insert 1.1 times faster than with SQLite's default of 4096
/// bytes; single evaluations are as fast, and 16 384 bytes gain nothing more. Files of older releases keep their
/// size.
const PAGE_BYTES: u32 = 8192;

/// Maximum number of writes in the queue. Past it they are refused.
const QUEUE_MAX: usize = 4096;

/// Number of prepared statements that a connection keeps: all that exist.
pub(super) const STATEMENTS_KEPT: usize = 256;

/// How long a connection waits for another one.
pub(super) const BUSY_TIME_MAX: Duration = Duration::from_secs(5);

/// Size that the file of the write-ahead log keeps when it contains little.
const LOG_BYTES_KEPT: i64 = 256 << 20;

/// A write that waits for its transaction.
trait Work: Send {
    /// Returns how many evaluations it contains.
    fn evaluations(&self) -> usize;

    /// Runs the write in the open transaction. A returned error fails the whole transaction. The error of a write
    /// that has changed nothing is kept for its own reply.
    fn apply(&mut self, transaction: &mut Transaction<'_>) -> Result<(), StoreError>;

    /// Replies, when the transaction is durable or has failed.
    fn answer(self: Box<Self>, committed: Result<(), Arc<StoreError>>);
}

/// A write as a function, and the channel for its result.
struct QueuedWrite<T, F> {
    evaluations: usize,
    write: Option<F>,
    done: Result<T, StoreError>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Work for QueuedWrite<T, F>
where
    T: Send,
    F: FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send,
{
    fn evaluations(&self) -> usize {
        self.evaluations
    }

    fn apply(&mut self, transaction: &mut Transaction<'_>) -> Result<(), StoreError> {
        let Some(write) = self.write.take() else { return Ok(()) };
        let mark = transaction.changes();
        match write(transaction) {
            Err(error) if !transaction.can_continue(mark, &error) => Err(error),
            done => {
                self.done = done;
                Ok(())
            }
        }
    }

    fn answer(self: Box<Self>, committed: Result<(), Arc<StoreError>>) {
        // The caller may have dropped its future.
        let _ = self.answer.send(committed.map_err(StoreError::RolledBack).and(self.done));
    }
}

/// The files of a store, without the connections to it.
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
    /// Starts the writer on its connection, and the checkpointer on another one.
    pub(super) fn start(
        files: Files<'_>,
        connection: Connection,
        checkpoints: Connection,
        orgs: Arc<Orgs>,
        agent_cache: Arc<AgentCache>,
        clock: Clock,
    ) -> Result<Self, StoreError> {
        let (queue, writes) = sync_channel(QUEUE_MAX);
        let (started, has_started) = sync_channel(1);
        let mark_writer = MarkWriter::open(&connection, files.path)?;
        let cleaning = Cleaning::new(&connection, files.path, files.file)?;
        let guard = files.guard;
        let (checkpoints, checkpointer) = Checkpoints::start(checkpoints)?;
        let totals = Arc::new(Totals::default());
        let of_writer = Arc::clone(&totals);
        let thread = spawn("renown-writer", move || {
            match Transaction::new(&connection, orgs, agent_cache, clock, mark_writer, cleaning, guard) {
                Ok(mut transaction) => {
                    let _ = started.send(begin(&mut transaction));
                    let watch = Stopwatch::start(&of_writer);
                    WriterLoop { transaction, connection: &connection, checkpoints, watch }.run(&writes);
                }
                Err(error) => {
                    let _ = started.send(Err(error));
                }
            }
        })?;
        let started = Self { queue: Some(queue), threads: vec![thread, checkpointer], totals };
        has_started.recv().unwrap_or(Err(StoreError::Closed)).map(|()| started)
    }

    /// Puts a write into the queue. Its reply comes when it is durable. Transactions are limited by how many
    /// evaluations their writes contain.
    pub(super) fn send<T: Send + 'static>(
        &self,
        evaluations: usize,
        write: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<'_, T> {
        let (answer, answered) = oneshot::channel();
        let work = QueuedWrite { evaluations, write: Some(write), done: Err(StoreError::Closed), answer };
        let sent = match &self.queue {
            Some(queue) => queue.try_send(Box::new(work)).map_err(|error| match error {
                TrySendError::Full(_) => StoreError::Overloaded,
                TrySendError::Disconnected(_) => StoreError::Closed,
            }),
            None => Err(StoreError::Closed),
        };
        Box::pin(async move {
            sent?;
            answered.await.unwrap_or(Err(StoreError::Unanswered))
        })
    }

    /// Returns what writes have waited for.
    pub(super) fn waits(&self) -> WriteWaits {
        self.totals.read()
    }
}

/// Finishes the queue before the writer ends.
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

/// Runs the first transaction: adds the default organization, and settles every agent.
fn begin(transaction: &mut Transaction<'_>) -> Result<(), StoreError> {
    let left = transaction.find_unsettled()?;
    // A store that has its default organization can be opened without a time, so that it can be read whatever the
    // clock shows.
    let begun = match transaction.begin() {
        Err(StoreError::Clock(_)) if transaction.has_default_org()? => transaction.begin_untimed(),
        begun => begun,
    };
    let done = begun
        .and_then(|()| transaction.create_default_org())
        .and_then(|()| transaction.settle_found(&left))
        .and_then(|()| transaction.commit());
    done.inspect_err(|_| transaction.roll_back())
}

/// What the writer does next.
enum Next {
    Write(Box<dyn Work>),
    /// No write arrived for a while.
    Pause,
    /// The store was dropped.
    End,
}

/// The loop of the writer.
struct WriterLoop<'c, 't> {
    transaction: Transaction<'c>,
    connection: &'c Connection,
    checkpoints: Checkpoints,
    watch: Stopwatch<'t>,
}

impl WriterLoop<'_, '_> {
    /// Runs until the store is dropped.
    fn run(mut self, writes: &Receiver<Box<dyn Work>>) {
        loop {
            match self.next(writes) {
                Next::Write(first) => self.transact(gather(first, writes)),
                Next::Pause => {
                    let _ = self.transaction.check_files();
                }
                Next::End => break,
            }
            if self.transaction.wants_settling() {
                settle_and_clean(&mut self.transaction);
                self.watch.end(Stage::Settle);
            }
            self.transaction.clean();
            self.watch.end(Stage::Clean);
            self.checkpoints.log_has_grown(self.connection);
            self.watch.end(Stage::Checkpoint);
        }
        let _ = self.transaction.settle_all();
        delete_old_request_keys(&mut self.transaction);
    }

    fn next(&mut self, writes: &Receiver<Box<dyn Work>>) -> Next {
        match writes.try_recv() {
            Ok(first) => return Next::Write(first),
            Err(TryRecvError::Disconnected) => return Next::End,
            Err(TryRecvError::Empty) => {}
        }
        let idle = if self.transaction.is_settling() { Duration::ZERO } else { SETTLE_EVERY };
        let next = match writes.recv_timeout(self.transaction.clean_after().unwrap_or(idle)) {
            Ok(first) => Next::Write(first),
            Err(RecvTimeoutError::Timeout) => Next::Pause,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        };
        self.watch.restart();
        next
    }

    /// Runs a group of writes as one transaction and answers each of them.
    fn transact(&mut self, mut group: Vec<Box<dyn Work>>) {
        let result = self.apply(&mut group);
        let committed = result.map_err(|error| {
            self.transaction.roll_back();
            Arc::new(error)
        });
        for work in group {
            work.answer(committed.clone());
        }
        self.watch.answered();
    }

    fn apply(&mut self, group: &mut [Box<dyn Work>]) -> Result<(), StoreError> {
        let transaction = &mut self.transaction;
        transaction.check_files()?;
        // Only if settling failed after the last transaction.
        if transaction.is_far_behind() {
            transaction.settle_excess().map_err(StoreError::RolledBack)?;
        }
        transaction.begin()?;
        for work in group {
            // A write that panics fails its transaction and nothing else.
            catch_unwind(AssertUnwindSafe(|| work.apply(transaction)))
                .unwrap_or_else(|_| Err(StoreError::Bug("a write panicked")))?;
        }
        self.watch.end(Stage::Apply);
        let was_moving = self.checkpoints.is_moving();
        let committed = self.transaction.commit();
        let beside = was_moving || self.checkpoints.is_moving();
        self.watch.end(if beside { Stage::SyncBesideCheckpoint } else { Stage::Sync });
        committed
    }
}

/// Takes all waiting writes, up to a limit.
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

/// Does some of the work between transactions. What fails is tried again later; nothing is lost.
fn settle_and_clean(transaction: &mut Transaction<'_>) {
    let _ = transaction.settle();
    if !transaction.is_settling() {
        delete_old_request_keys(transaction);
    }
}

fn delete_old_request_keys(transaction: &mut Transaction<'_>) {
    if transaction.delete_old_request_keys().is_err() {
        transaction.roll_back();
    }
}

/// Opens a connection for writing. Every commit is durable.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIME_MAX)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    plan_once(&connection)?;
    seal::register(&connection)?;
    // Only affects a new file, and only before the journal mode is set.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", synchronous())?;
    // On macOS a plain fsync does not reach the disk.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    // After a long read has made the log grow, it is cut to this size when it starts again.
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT)?;
    // Negative values are in KB: 16 MB.
    connection.pragma_update(None, "cache_size", -16_000)?;
    Ok(connection)
}

/// Opens a connection that does not wait for the disk, for data that is thrown away.
pub(super) fn connect_unsynced(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path)?;
    connection.pragma_update(None, "synchronous", "off")?;
    Ok(connection)
}

/// Keeps the plan of a statement whatever values are bound. Otherwise SQLite looks at each value and prepares the
/// statement again, which costs ten times as much as running it.
pub(super) fn plan_once(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(|_| ())
}

/// Returns the level of syncing: every commit waits for the disk. In builds with debug assertions a test can turn
/// this off, to prove that it would notice.
fn synchronous() -> &'static str {
    let off = cfg!(debug_assertions) && std::env::var_os("RENOWN_TEST_SYNCHRONOUS_OFF").is_some();
    if off { "off" } else { "full" }
}

#[cfg(test)]
mod tests;
