//! Checkpoints: the write-ahead log is moved into the database by a thread of its own.
//!
//! Moving a long log costs a hundred milliseconds, so it is done beside the writer (`PASSIVE`, which waits for nobody). Only
//! while nothing writes can the log begin anew, so when all but a little is moved, the writer moves the rest between two
//! transactions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::writer::spawn;
use crate::error::StoreError;

/// How often the write-ahead log is moved into the database while there are writes. Often, so that the disk is never long
/// busy with it while a commit waits.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(100);

/// With at most so many pages left to move, the writer does it itself.
const CHECKPOINT_REST_PAGES: i64 = 1000;

/// What the writer and the checkpointer tell each other.
#[derive(Default)]
struct Signals {
    /// There is something in the log that was not there when it was last moved.
    log_grew: AtomicBool,
    /// All but a little of it is moved.
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
        let moved = passive(connection);
        signals.is_moving.store(false, Ordering::Relaxed);
        if let Ok((log, moved)) = moved {
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
