//! The last step of an erasure: clears every byte of the agent from the files.
//!
//! When the rows of an erased agent are deleted, the write-ahead log still has old pages with them, and the
//! database has their bytes between other rows. A pass of [`Scrub`] over the file clears them, one part at a time
//! between two transactions. Each part needs an empty log, so every read of an older state has to end first. Reads
//! of this process end after five seconds, and while the writer waits for them, nothing is written that could start
//! new ones. The writer waits up to [`PATIENCE`] for each part, and after [`WAIT_MAX`] without success as long as a
//! read may take. Long reads of other processes stop by themselves (`give_way`).
//!
//! `tombstones.clean_at` is set when a pass is done. If the process ends before, the next one begins the pass
//! again.
//!
//! The copies that upgrades kept beside the database (`renown.db.before-<version>`) contain the agent too, if it
//! was erased after they were made (`marks.copied` is the last tombstone before the last upgrade). Upgrades make
//! these copies without being asked, so they are deleted here. Backups are the responsibility of the operator.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

use super::Transaction;
use crate::error::StoreError;
use crate::sqlite::scrub::{DatabaseFile, Scrub};
use crate::sqlite::writer::BUSY_TIME_MAX;
use crate::sqlite::{directory, seal};

/// Pause between two parts in which writes may begin.
const PART_EVERY: Duration = Duration::from_millis(2);

/// Pause between attempts to empty the log while an older state is being read.
const TRY_EVERY: Duration = Duration::from_millis(50);

/// How long writes may wait for the log to be emptied. Most reads of an older state end sooner.
const PATIENCE: Duration = Duration::from_millis(50);

/// After this time without success, the writer waits as long as the longest read of this process may take.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// How long it waits then: a little longer than a read may take.
const HOLD_MAX: Duration = Duration::from_secs(6);

/// What is left to clean, and how far the pass is.
pub(in crate::sqlite) struct Cleaning {
    path: PathBuf,
    file: Arc<DatabaseFile>,
    /// Whether the files may contain bytes of erased agents.
    is_wanted: bool,
    /// The pass, and the last tombstone that it covers.
    pass: Option<(Scrub, i64)>,
    tried_at: Option<Instant>,
    /// Since when the log could not be emptied.
    waiting_since: Option<Instant>,
}

impl Cleaning {
    pub(in crate::sqlite) fn new(
        connection: &Connection,
        path: &Path,
        file: Arc<DatabaseFile>,
    ) -> Result<Self, StoreError> {
        let is_wanted = last_unclean(connection)?.is_some();
        let path = path.to_owned();
        Ok(Self { path, file, is_wanted, pass: None, tried_at: None, waiting_since: None })
    }

    /// Requests a pass, because another erased agent has no rows left.
    pub(super) fn request(&mut self) {
        self.is_wanted = true;
    }
}

/// Returns the last tombstone whose rows are deleted and whose bytes may not be cleared. Erasures are finished in
/// order.
pub(in crate::sqlite) fn last_unclean(connection: &Connection) -> Result<Option<i64>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT max(tombstone) FROM tombstones WHERE done_at IS NOT NULL AND clean_at IS NULL",
    )?;
    Ok(select.query_row([], |row| row.get(0))?)
}

/// Returns the first pages of tables and indexes.
fn roots(connection: &Connection) -> Result<Vec<u32>, StoreError> {
    let mut select = connection.prepare("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0")?;
    let mut roots = select.query_map([], |row| row.get(0))?.collect::<Result<Vec<u32>, _>>()?;
    roots.push(1);
    Ok(roots)
}

/// Moves all of the write-ahead log into the database and empties the log file. Returns `false` if an older state
/// is being read.
pub(in crate::sqlite) fn empty_wal(connection: &Connection, patience: Duration) -> Result<bool, StoreError> {
    connection.busy_timeout(patience)?;
    let is_busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    connection.busy_timeout(BUSY_TIME_MAX)?;
    Ok(!is_busy?)
}

/// Returns the copies that upgrades kept beside a database.
pub(in crate::sqlite) fn copies(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = || StoreError::io(format!("{}", path.display()));
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Ok(Vec::new()) };
    let prefix = format!("{name}.before-");
    let mut copies = Vec::new();
    for entry in std::fs::read_dir(directory(path)).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)) {
            copies.push(entry.path());
        }
    }
    Ok(copies)
}

/// Deletes these copies if an agent up to this tombstone was erased after they were made.
pub(in crate::sqlite) fn remove_copies(
    connection: &Connection,
    path: &Path,
    last: Option<i64>,
) -> Result<(), StoreError> {
    if last <= seal::mark(connection, "copied")? {
        return Ok(());
    }
    for copy in copies(path)? {
        std::fs::remove_file(&copy).map_err(StoreError::io(format!("{}", copy.display())))?;
    }
    Ok(())
}

/// Saves that no byte of erased agents up to this tombstone is left.
pub(in crate::sqlite) fn mark_clean(
    connection: &Connection,
    last: i64,
    at_ms: i64,
) -> Result<(), StoreError> {
    let mut update = connection.prepare_cached(
        "UPDATE tombstones SET clean_at = ?2 WHERE tombstone <= ?1 AND done_at IS NOT NULL AND clean_at IS NULL",
    )?;
    update.execute(params![last, at_ms])?;
    Ok(())
}

impl Transaction<'_> {
    /// Returns how long to wait for writes before the next part; `None` if nothing is to be cleaned.
    pub(in crate::sqlite) fn clean_after(&self) -> Option<Duration> {
        let wait = if self.cleaning.tried_at.is_some() { TRY_EVERY } else { PART_EVERY };
        self.cleaning.is_wanted.then_some(wait)
    }

    /// Cleans one part, if necessary and possible. Must not be called in a transaction. A failed part is tried
    /// again.
    pub(in crate::sqlite) fn clean(&mut self) {
        if !self.cleaning.is_wanted {
            return;
        }
        let now = Instant::now();
        let tried_at = self.cleaning.tried_at;
        if tried_at.is_some_and(|tried_at| now.duration_since(tried_at) < TRY_EVERY) {
            return;
        }
        let since = *self.cleaning.waiting_since.get_or_insert(now);
        let patience = if now.duration_since(since) > WAIT_MAX { HOLD_MAX } else { PATIENCE };
        match self.clean_part(patience) {
            // Continue with the next part at once.
            Ok(true) => (self.cleaning.waiting_since, self.cleaning.tried_at) = (None, None),
            Ok(false) => self.cleaning.tried_at = Some(Instant::now()),
            Err(_) => {
                self.roll_back();
                self.cleaning.tried_at = Some(Instant::now() + WAIT_MAX);
            }
        }
    }

    /// Cleans one part. Returns `false` if the log could not be emptied.
    fn clean_part(&mut self, patience: Duration) -> Result<bool, StoreError> {
        // Read this before the log is emptied: what is deleted afterwards is for the next pass.
        let last = last_unclean(self.connection)?;
        if !empty_wal(self.connection, patience)? {
            return Ok(false);
        }
        let Some(last) = last else {
            (self.cleaning.is_wanted, self.cleaning.pass) = (false, None);
            return Ok(true);
        };
        // The page cache of the writer may have bytes that the file no longer has.
        self.connection.execute_batch("PRAGMA shrink_memory")?;
        let roots = roots(self.connection)?;
        let file = Arc::clone(&self.cleaning.file);
        let (scrub, for_last) = self.cleaning.pass.get_or_insert_with(|| (Scrub::new(), last));
        let for_last = *for_last;
        if scrub.step(&file, &roots)? {
            self.cleaning.pass = None;
            remove_copies(self.connection, &self.cleaning.path, Some(for_last))?;
            self.begin.raw_execute()?;
            mark_clean(self.connection, for_last, self.latest.millis())?;
            self.commit()?;
            self.cleaning.is_wanted = last_unclean(self.connection)?.is_some();
        }
        Ok(true)
    }
}
