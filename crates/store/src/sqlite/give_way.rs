//! Long reads of other processes give way to erasures.
//!
//! A read of one moment keeps that moment's pages in the write-ahead log, so a copy or an export that takes minutes would keep the bytes of
//! an erased agent for as long. A server cannot end a read of another process. So whoever reads for long looks once a second whether an
//! erasure waits, and stops when it has waited for [`AFTER`]. A backup then begins again by itself.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::readers;
use crate::error::StoreError;

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long an erasure waits for a read. It has a minute.
const AFTER: Duration = Duration::from_secs(20);

/// Knows whether an erasure waits.
pub(super) struct GiveWay {
    path: PathBuf,
    look_every: Duration,
    after: Duration,
    looks: RefCell<Looks>,
}

struct Looks {
    /// A connection of its own, which sees the present.
    connection: Option<Connection>,
    looked_at: Instant,
    waits_since: Option<Instant>,
}

impl GiveWay {
    pub(super) fn new(path: &Path) -> Self {
        let looks = Looks { connection: None, looked_at: Instant::now(), waits_since: None };
        Self { path: path.to_owned(), look_every: LOOK_EVERY, after: AFTER, looks: RefCell::new(looks) }
    }

    /// Gives way after another time.
    pub(super) fn set_after(&mut self, after: Duration) {
        (self.after, self.look_every) = (after, LOOK_EVERY.min(after));
    }

    /// Fails when an erasure has waited for long enough. A database that cannot be looked at waits for nobody.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let mut looks = self.looks.borrow_mut();
        if looks.looked_at.elapsed() < self.look_every {
            return Ok(());
        }
        looks.looked_at = Instant::now();
        if looks.connection.is_none() {
            looks.connection = readers::connect(&self.path).ok();
        }
        let unclean =
            "SELECT EXISTS (SELECT 1 FROM tombstones WHERE done_at IS NOT NULL AND clean_at IS NULL)";
        let waits = looks
            .connection
            .as_ref()
            .and_then(|connection| connection.query_row(unclean, [], |row| row.get::<_, bool>(0)).ok());
        if waits != Some(true) {
            looks.waits_since = None;
            return Ok(());
        }
        let since = *looks.waits_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= self.after {
            looks.waits_since = None;
            return Err(StoreError::GaveWay);
        }
        Ok(())
    }
}
