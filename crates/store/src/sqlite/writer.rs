//! The writer: one thread that commits everything waiting as one transaction, makes it durable with one fsync, and
//! then answers ([`crate::group`]). Between two transactions it settles rows, clears bytes of erased agents, and moves
//! the write-ahead log into the database.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::agent_cache::AgentCache;
use super::checkpoint::Checkpoints;
use super::guard::Guard;
use super::mark::MarkWriter;
use super::orgs::Orgs;
use super::scrub::DatabaseFile;
use super::seal;
use super::transaction::cleaning::Cleaning;
use super::transaction::{SETTLE_EVERY, Transaction};
use crate::Reply;
use crate::clock::Clock;
use crate::error::StoreError;
use crate::group::{self, Engine, EngineFamily, Queue};
use crate::waits::{Stage, Stopwatch, Totals, WriteWaits};

/// Page size of a new database. Batches of evaluations insert 1.1 times faster than with SQLite's default of 4096
/// bytes; single evaluations are as fast, and 16 384 bytes gain nothing more. Files of older releases keep their
/// size.
const PAGE_BYTES: u32 = 8192;

/// Number of prepared statements that a connection keeps: all that exist.
pub(super) const STATEMENTS_KEPT: usize = 256;

/// How long a connection waits for another one.
pub(super) const BUSY_TIME_MAX: Duration = Duration::from_secs(5);

/// Size that the file of the write-ahead log keeps when it contains little.
const LOG_BYTES_KEPT: i64 = 256 << 20;

/// The files of a store, without the connections to it.
pub(super) struct Files<'p> {
    pub(super) path: &'p Path,
    pub(super) file: Arc<DatabaseFile>,
    pub(super) guard: Guard,
}

/// The writer's thread and its queue.
pub(super) struct Writer {
    queue: Option<Queue<SqliteEngines>>,
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
        let (queue, writes) = group::queue::<SqliteEngines>();
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
                    let mut engine = SqliteEngine { transaction, connection: &connection, checkpoints };
                    writes.carry_out(&mut engine, &mut Stopwatch::start(&of_writer));
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
        match &self.queue {
            Some(queue) => {
                queue.send(evaluations, move |engine: &mut SqliteEngine<'_>| write(&mut engine.transaction))
            }
            None => Box::pin(std::future::ready(Err(StoreError::Closed))),
        }
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

/// The engine of the writer.
struct SqliteEngine<'c> {
    transaction: Transaction<'c>,
    connection: &'c Connection,
    checkpoints: Checkpoints,
}

/// The engine of the writer, whatever connection it borrows.
struct SqliteEngines;

impl EngineFamily for SqliteEngines {
    type Engine<'c> = SqliteEngine<'c>;
}

impl Engine for SqliteEngine<'_> {
    fn prepare(&mut self) -> Result<(), StoreError> {
        self.transaction.check_files()?;
        // Only if settling failed after the last transaction.
        if self.transaction.is_far_behind() {
            self.transaction.settle_excess().map_err(StoreError::RolledBack)?;
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        self.transaction.begin()
    }

    fn changes(&self) -> u64 {
        self.transaction.changes()
    }

    fn can_continue(&self, mark: u64, error: &StoreError) -> bool {
        self.transaction.can_continue(mark, error)
    }

    fn commit(&mut self) -> (Stage, Result<(), StoreError>) {
        let was_moving = self.checkpoints.is_moving();
        let committed = self.transaction.commit();
        let beside = was_moving || self.checkpoints.is_moving();
        (if beside { Stage::SyncBesideCheckpoint } else { Stage::Sync }, committed)
    }

    fn roll_back(&mut self) {
        self.transaction.roll_back();
    }

    fn work(&mut self, watch: &mut Stopwatch<'_>) {
        if self.transaction.wants_settling() {
            settle_and_clean(&mut self.transaction);
            watch.end(Stage::Settle);
        }
        self.transaction.clean();
        watch.end(Stage::Clean);
        self.checkpoints.log_has_grown(self.connection);
        watch.end(Stage::Checkpoint);
    }

    fn patience(&self) -> Duration {
        let idle = if self.transaction.is_settling() { Duration::ZERO } else { SETTLE_EVERY };
        self.transaction.clean_after().unwrap_or(idle)
    }

    fn pause(&mut self) {
        let _ = self.transaction.check_files();
    }

    fn end(&mut self) {
        let _ = self.transaction.settle_all();
        delete_old_request_keys(&mut self.transaction);
    }
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
