//! Makes a consistent copy of a database while it is written to.
//!
//! The copy is made in one read transaction. So it contains the state of one moment, and writes do not make it
//! begin again. It gets its name only when it is complete, durable and checked.

use std::fs::File;
use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::give_way::GiveWay;
use super::scrub;
use crate::error::StoreError;

/// Number of pages that are copied between two reports.
const PAGES_AT_ONCE: std::ffi::c_int = 4096;

/// How many times a copy is tried if erasures stop it.
const ATTEMPTS_MAX: usize = 5;

/// How far a copy is.
#[derive(Clone, Copy, Debug)]
pub struct CopyProgress {
    /// Pages copied.
    pub done: u64,
    /// Pages in all.
    pub total: u64,
}

/// Copies the database of a connection to a new file.
pub(super) fn copy(
    connection: &Connection,
    give_way: Option<&GiveWay>,
    to: &Path,
    report: &mut dyn FnMut(CopyProgress),
) -> Result<(), StoreError> {
    is_free(to)?;
    let mut unfinished = to.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = Path::new(&unfinished);
    // An interrupted copy may have left this file.
    let _ = std::fs::remove_file(unfinished);
    let mut written = write(connection, give_way, unfinished, report);
    for _ in 1..ATTEMPTS_MAX {
        if matches!(written, Err(StoreError::GaveWay)) {
            let _ = std::fs::remove_file(unfinished);
            written = write(connection, give_way, unfinished, report);
        }
    }
    let done = written.and_then(|()| {
        let shown = format!("{}", to.display());
        File::open(unfinished).and_then(|file| file.sync_all()).map_err(StoreError::io(shown.clone()))?;
        // Unlike a rename, a hard link never replaces a file that was created meanwhile.
        std::fs::hard_link(unfinished, to).map_err(StoreError::io(shown.clone()))?;
        std::fs::remove_file(unfinished).map_err(StoreError::io(shown.clone()))?;
        let dir = to.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(dir).and_then(|dir| dir.sync_all()).map_err(StoreError::io(shown))
    });
    done.inspect_err(|_| {
        let _ = std::fs::remove_file(unfinished);
    })
}

fn write(
    connection: &Connection,
    give_way: Option<&GiveWay>,
    to: &Path,
    report: &mut dyn FnMut(CopyProgress),
) -> Result<(), StoreError> {
    let transaction = connection.unchecked_transaction()?;
    // A transaction sees the database from its first read on.
    transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    private_file(to).map_err(StoreError::io(format!("{}", to.display())))?;
    let mut copy = Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    {
        let backup = Backup::new(&transaction, &mut copy)?;
        loop {
            let step = backup.step(PAGES_AT_ONCE)?;
            let pages = backup.progress();
            let total = u64::try_from(pages.pagecount).unwrap_or_default();
            report(CopyProgress {
                done: total - u64::try_from(pages.remaining).unwrap_or_default().min(total),
                total,
            });
            if step == StepResult::Done {
                break;
            }
            give_way.map_or(Ok(()), GiveWay::check)?;
            if step != StepResult::More {
                return Err(StoreError::Damaged(format!("the copy stopped: {step:?}")));
            }
        }
    }
    check(&copy)?;
    // A copy is a single file, also for readers: a database with a write-ahead log cannot be read without files
    // beside it. Opening it for writing turns the log on again.
    copy.pragma_update(None, "journal_mode", "delete")?;
    drop(copy);
    drop(transaction);
    // Bytes of deleted rows do not belong into a copy.
    scrub::whole(to)
}

/// Fails if a file exists at a path.
pub(super) fn is_free(path: &Path) -> Result<(), StoreError> {
    if path.exists() {
        let taken = std::io::Error::new(
            std::io::ErrorKind::AlreadyExists,
            "exists already, and is never overwritten",
        );
        return Err(StoreError::io(format!("{}", path.display()))(taken));
    }
    Ok(())
}

/// Creates an empty file that only its owner can read: a copy contains the digests of keys.
fn private_file(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(|_| ())
}

/// Checks every page and index of a database.
pub(super) fn check(connection: &Connection) -> Result<(), StoreError> {
    let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" { Ok(()) } else { Err(StoreError::Damaged(verdict)) }
}
