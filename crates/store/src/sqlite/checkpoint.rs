//! Checkpoints: a thread of its own moves the write-ahead log into the database.
//!
//! A checkpoint waits for the disk, so it runs beside the writer (`PASSIVE`, which waits for no reader or writer),
//! often and a little at a time: a commit may have to wait for what is written at once. Nearly all pages of the log
//! are new pages at the end of a table or an index, so moving them less often would hardly write fewer.
//!
//! SQLite reuses the log from its start only while nothing writes. Under load, the writer has to stop for that: it
//! moves the rest itself between two transactions, and waits for the disk meanwhile. So it does that only if the
//! log is long and the checkpointer has left little to move. Without load, the checkpointer moves everything alone,
//! and the log stays short.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::writer::spawn;
use crate::error::StoreError;

/// How often the write-ahead log is moved into the database while there are writes.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(100);

/// Number of pages above which the log is reused from its start: 32 MB with pages of 8 KB, which a start after a
/// crash reads in less than a tenth of a second.
const LOG_PAGES_MAX: i64 = 4096;

/// If at most this many pages are left to move, the writer moves them.
const REST_PAGES_MAX: i64 = 128;

/// Maximum number of checkpoints in a row for a long log. The log grows during each of them, so one may leave too much.
const PASSES_MAX: usize = 3;

/// The signals between the writer and the checkpointer.
#[derive(Default)]
struct Signals {
    /// The log has grown since it was last moved.
    log_grew: AtomicBool,
    /// The log is long, and nearly all of it is moved.
    nearly_moved: AtomicBool,
    /// Pages are being moved.
    is_moving: AtomicBool,
    ended: AtomicBool,
}

/// The writer's side of the signals.
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

    /// Returns whether pages are being moved.
    pub(super) fn is_moving(&self) -> bool {
        self.signals.is_moving.load(Ordering::Relaxed)
    }

    /// Called between two transactions. Wakes the checkpointer for the first transaction after its last check, not
    /// for each one. Moves the rest if it is small.
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

/// Moves the write-ahead log into the database until the writer ends.
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
        // Wait until then, unless the writer ends.
        let next = Instant::now() + CHECKPOINT_EVERY;
        while !ended()
            && let Some(left) = next.checked_duration_since(Instant::now())
        {
            thread::park_timeout(left);
        }
    }
}

/// Moves what can be moved without waiting. Returns the number of pages in the write-ahead log, and how many of
/// them are moved.
fn passive(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| Ok((row.get(1)?, row.get(2)?)))
}
