//! Checkpoints: the write-ahead log is moved into the database by a thread of its own.
//!
//! A checkpoint waits for the disk to take the database, so it is done beside the writer (`PASSIVE`, which waits for nobody), often and a
//! little at a time: what it writes at once is what a commit may have to wait for. Nearly all pages of the log are new ones
//! at the end of a table or an index, so that moving them rarely would hardly write fewer.
//!
//! SQLite reuses the log from its start only while nothing writes. Under load the writer has to stop for that: it moves the rest itself, between two
//! transactions, and waits for the disk as long. So it does that only when the log has become long, and only when the
//! checkpointer has left it little to move. Without load the checkpointer alone moves everything, and the log stays short.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::writer::spawn;
use crate::error::StoreError;

/// How often the write-ahead log is moved into the database while there are writes.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(100);

/// Past this many pages the log is reused from its start: 32 MB with pages of 8 KB, which a start after a crash reads in less than a tenth of
/// a second.
const LOG_PAGES_MAX: i64 = 4096;

/// With at most this many pages left to move, the writer does it itself.
const REST_PAGES_MAX: i64 = 128;

/// How often in a row a log that is too long is moved, until the rest is that small: while it is moved it grows.
const PASSES_MAX: usize = 3;

/// What the writer and the checkpointer tell each other.
#[derive(Default)]
struct Signals {
    /// There is something in the log that was not there when it was last moved.
    log_grew: AtomicBool,
    /// The log is long, and all but a little of it is moved.
    nearly_moved: AtomicBool,
    /// Pages are being moved.
    is_moving: AtomicBool,
    ended: AtomicBool,
}

/// The writer's end of the signals.
pub(super) struct Checkpoints {
    signals: Arc<Signals>,
    thread: Thread,
}

impl Checkpoints {
    /// Starts the checkpointer on a connection of its own.
    pub(super) fn start(connection: Connection) -> Result<(Self, JoinHandle<()>), StoreError> {
        let signals = Arc::new(Signals::default());
        let of_thread = Arc::clone(&signals);
        let thread = spawn("renown-checkpoint", move || run(&connection, &of_thread))?;
        Ok((Self { signals, thread: thread.thread().clone() }, thread))
    }

    /// Whether pages are being moved.
    pub(super) fn is_moving(&self) -> bool {
        self.signals.is_moving.load(Ordering::Relaxed)
    }

    /// Between two transactions: wakes the checkpointer with the first one after its last look, and not with every one.
    /// Moves the rest where that is little.
    pub(super) fn log_has_grown(&self, connection: &Connection) {
        if !self.signals.log_grew.swap(true, Ordering::Relaxed) {
            self.thread.unpark();
        }
        if self.signals.nearly_moved.swap(false, Ordering::Relaxed) {
            let _ = passive(connection);
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
fn run(connection: &Connection, signals: &Signals) {
    let ended = || signals.ended.load(Ordering::Relaxed);
    while !ended() {
        if !signals.log_grew.swap(false, Ordering::Relaxed) {
            thread::park();
            continue;
        }
        signals.is_moving.store(true, Ordering::Relaxed);
        for _ in 0..PASSES_MAX {
            let Ok((log, moved)) = passive(connection) else { break };
            let is_long = log > LOG_PAGES_MAX;
            let nearly = is_long && log - moved <= REST_PAGES_MAX;
            signals.nearly_moved.store(nearly, Ordering::Relaxed);
            if nearly || !is_long {
                break;
            }
        }
        signals.is_moving.store(false, Ordering::Relaxed);
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
