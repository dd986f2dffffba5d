//! A pool of readers: a few threads with one connection each. So reads wait neither for the writer nor for the
//! threads of the server.
//!
//! A read may take five seconds. After that it fails with [`StoreError::TooLong`], so that one expensive query does
//! not block the others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use tokio::sync::oneshot;

use super::writer::{STATEMENTS_KEPT, plan_once};
use super::{agents, seal};
use crate::Reply;
use crate::error::StoreError;

/// Maximum number of reads in the queue. Past it they are refused.
const QUEUE_MAX: usize = 4096;

/// Number of reading threads.
const THREADS: usize = 4;

/// How long a read may take. A caller that wants more asks for less at a time.
const TIME_MAX: Duration = Duration::from_secs(5);

/// Number of steps of SQLite between two checks of the clock.
const STEPS_BETWEEN: std::ffi::c_int = 100_000;

type Read = Box<dyn FnOnce(&mut Connection) + Send>;

/// The deadline of a read.
#[derive(Clone, Copy)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    /// No deadline, for a process that reads for itself and blocks no other caller.
    pub(super) const NONE: Self = Self(None);

    fn new() -> Self {
        Self(Some(Instant::now() + TIME_MAX))
    }

    fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() > end)
    }

    /// Fails when the deadline has passed.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if self.is_over() { Err(StoreError::TooLong) } else { Ok(()) }
    }
}

/// The pool.
pub(super) struct Readers {
    queue: Option<SyncSender<Read>>,
    threads: Vec<JoinHandle<()>>,
}

/// Opens a connection that cannot write.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    set_up(Connection::open_with_flags(path, FLAGS)?)
}

/// Opens a file that no process can change, without the files that SQLite needs beside it. Returns `None` if a
/// write-ahead log exists.
pub(super) fn connect_alone(path: &Path) -> Option<Result<Connection, StoreError>> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if Path::new(&log).exists() {
        return None;
    }
    let escaped = path.to_str()?.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = FLAGS | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags);
    Some(connection.map_err(StoreError::from).and_then(set_up))
}

const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

fn set_up(connection: Connection) -> Result<Connection, StoreError> {
    connection.busy_timeout(Duration::from_secs(5))?;
    plan_once(&connection)?;
    seal::register(&connection)?;
    agents::register(&connection)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    connection.pragma_update(None, "query_only", true)?;
    // Negative values are in KB: 2 MB per reader. Hot pages are in the cache of the system anyway.
    connection.pragma_update(None, "cache_size", -2000)?;
    Ok(connection)
}

impl Readers {
    pub(super) fn start(path: &Path) -> Result<Self, StoreError> {
        let (queue, reads) = sync_channel::<Read>(QUEUE_MAX);
        let reads = Arc::new(Mutex::new(reads));
        let mut threads = Vec::new();
        for _ in 0..THREADS {
            let (connection, reads) = (connect(path)?, Arc::clone(&reads));
            let thread = thread::Builder::new()
                .name("renown-reader".to_owned())
                .spawn(move || serve(connection, &reads))
                .map_err(StoreError::io("starting a reader"))?;
            threads.push(thread);
        }
        Ok(Self { queue: Some(queue), threads })
    }

    /// Runs a read on one of the threads, in one read transaction.
    pub(super) fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection, &Deadline) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<'_, T> {
        let (answer, answered) = oneshot::channel();
        let read: Read = Box::new(move |connection| {
            // The caller may have dropped its future.
            if answer.is_closed() {
                return;
            }
            let deadline = Deadline::new();
            let result = connection
                .progress_handler(STEPS_BETWEEN, Some(move || deadline.is_over()))
                .and_then(|()| connection.transaction_with_behavior(TransactionBehavior::Deferred))
                .map_err(StoreError::from)
                .and_then(|transaction| read(&transaction, &deadline));
            let _ = answer
                .send(result.map_err(|error| if deadline.is_over() { StoreError::TooLong } else { error }));
        });
        let sent = match &self.queue {
            Some(queue) => queue.try_send(read).map_err(|error| match error {
                TrySendError::Full(_) => StoreError::Overloaded,
                TrySendError::Disconnected(_) => StoreError::Closed,
            }),
            None => Err(StoreError::Closed),
        };
        Box::pin(async move {
            sent?;
            // A read that panicked sends no reply; the thread continues with the next one.
            answered.await.unwrap_or(Err(StoreError::Closed))
        })
    }
}

fn serve(mut connection: Connection, reads: &Mutex<Receiver<Read>>) {
    loop {
        let next = reads.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(read) = next else { return };
        let _ = catch_unwind(AssertUnwindSafe(|| read(&mut connection)));
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
