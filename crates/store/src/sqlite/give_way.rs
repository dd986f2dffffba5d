//! Long reads of other processes give way to erasures.
//!
//! A read transaction keeps the pages that it sees in the write-ahead log. So a copy or an export that takes
//! minutes would keep the bytes of an erased agent for as long. A server cannot end a read of another process. So a
//! long read checks once per second whether an erasure is waiting, and stops when it has waited for [`AFTER`]. A
//! backup then begins again by itself.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::readers;
use crate::error::StoreError;

/// How often to check.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// How long an erasure waits for a read. All of it may take a minute.
const AFTER: Duration = Duration::from_secs(20);

/// Checks whether an erasure is waiting.
pub(super) struct GiveWay {
    path: PathBuf,
    check_every: Duration,
    after: Duration,
    state: RefCell<State>,
}

struct State {
    /// A connection of its own, which sees the latest state.
    connection: Option<Connection>,
    checked_at: Instant,
    waits_since: Option<Instant>,
}

impl GiveWay {
    pub(super) fn new(path: &Path) -> Self {
        let state = State { connection: None, checked_at: Instant::now(), waits_since: None };
        Self { path: path.to_owned(), check_every: CHECK_EVERY, after: AFTER, state: RefCell::new(state) }
    }

    /// Sets another waiting time.
    pub(super) fn set_after(&mut self, after: Duration) {
        (self.after, self.check_every) = (after, CHECK_EVERY.min(after));
    }

    /// Fails when an erasure has waited for long enough. If the database cannot be read, nothing waits.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let mut state = self.state.borrow_mut();
        if state.checked_at.elapsed() < self.check_every {
            return Ok(());
        }
        state.checked_at = Instant::now();
        if state.connection.is_none() {
            state.connection = readers::connect(&self.path).ok();
        }
        let unclean =
            "SELECT EXISTS (SELECT 1 FROM tombstones WHERE done_at IS NOT NULL AND clean_at IS NULL)";
        let waits = state
            .connection
            .as_ref()
            .and_then(|connection| connection.query_row(unclean, [], |row| row.get::<_, bool>(0)).ok());
        if waits != Some(true) {
            state.waits_since = None;
            return Ok(());
        }
        let since = *state.waits_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= self.after {
            state.waits_since = None;
            return Err(StoreError::GaveWay);
        }
        Ok(())
    }
}
