//! A pool of readers: a few threads, each with a connection of its own, so that reads wait neither for the writer nor for
//! the threads of the server.
//!
//! A read may take five seconds. After that it is refused as overloaded, so that one wide query does not stop the others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::writer::{STATEMENTS_KEPT, plan_once};
use super::{agents, seal};
use crate::Reply;
use crate::error::StoreError;

/// How many reads may wait. Past it they are refused.
const QUEUE_MAX: usize = 4096;

/// How many threads read.
const THREADS: usize = 4;

/// How long a read may take. Whoever wants more asks for less at a time.
const TIME_MAX: Duration = Duration::from_secs(5);

/// How many steps of SQLite lie between two looks at the clock.
const STEPS_BETWEEN: std::ffi::c_int = 100_000;

type Read = Box<dyn FnOnce(&mut Connection) + Send>;

/// How long a read is waited for.
#[derive(Clone, Copy)]
pub(super) struct Patience(Option<Instant>);

impl Patience {
    /// For a process that reads for itself and keeps nobody waiting.
    pub(super) const ENDLESS: Self = Self(None);

    fn new() -> Self {
        Self(Some(Instant::now() + TIME_MAX))
    }

    fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() > end)
    }

    /// Refuses to go on when it is over.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if self.is_over() { Err(StoreError::TooLong) } else { Ok(()) }
    }
}

/// The pool.
pub(super) struct Readers {
    queue: Option<SyncSender<Read>>,
    threads: Vec<JoinHandle<()>>,
}

/// A connection that cannot write.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    set_up(Connection::open_with_flags(path, FLAGS)?)
}

/// The same for a file that nobody can change, so that nothing has to lie beside it; none if a log lies there.
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
    // Thousands of bytes when negative: 2 MB a reader. What is hot is in the cache of the system anyway.
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

    /// Runs a read on one of the threads, over one state of the database.
    pub(super) fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Transaction<'_>, &Patience) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<'_, T> {
        let (answer, answered) = oneshot::channel();
        let read: Read = Box::new(move |connection| {
            // Who no longer waits has no use for the answer.
            if answer.is_closed() {
                return;
            }
            let patience = Patience::new();
            let result = connection
                .progress_handler(STEPS_BETWEEN, Some(move || patience.is_over()))
                .and_then(|()| connection.transaction_with_behavior(TransactionBehavior::Deferred))
                .map_err(StoreError::from)
                .and_then(|transaction| read(&transaction, &patience));
            let _ = answer
                .send(result.map_err(|error| if patience.is_over() { StoreError::TooLong } else { error }));
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
            // A read that panicked answers nothing; the thread goes on with the next.
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
