//! Reads a data directory while another process may write to it.

mod reads;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::backup::{self, CopyProgress};
use super::give_way::GiveWay;
use super::lock::DirectoryLock;
use super::mark::{self, SavedMark};
use super::orgs::Orgs;
use super::readers;
use super::verify;
use super::{FILE, directory, foreign, schema};
use crate::error::{OpenError, ReadError, StoreError};
use crate::verify::VerifyResult;

/// Opens a connection that cannot write. Returns it with the version of the database. SQLite wants to create files
/// beside a database with a write-ahead log even to read it. If that is not possible, and no log exists, the
/// database file alone is read.
fn connect(path: &Path) -> Result<(Connection, i64), StoreError> {
    let checked = |connection: Result<Connection, StoreError>| {
        let connection = connection.map_err(|error| foreign(error, path))?;
        let version = schema::check(&connection, path, schema::VERSION)?;
        Ok((connection, version))
    };
    match checked(readers::connect(path)) {
        Err(StoreError::Sqlite(error))
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen) =>
        {
            match readers::connect_alone(path) {
                Some(connection) => checked(connection),
                None => Err(error.into()),
            }
        }
        other => other,
    }
}

/// Reads a data directory while another process may write to it.
pub struct Reader {
    files: Mutex<Files>,
    orgs: Orgs,
    path: PathBuf,
}

/// The connection of a reader.
struct Files {
    connection: Connection,
    give_way: GiveWay,
}

impl Files {
    /// Reads in a transaction: in the one that holds the reader at one moment, else in a new one.
    fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if !self.connection.is_autocommit() {
            self.give_way.check()?;
            return read(&self.connection);
        }
        let transaction = self.connection.unchecked_transaction()?;
        read(&transaction)
    }
}

impl Reader {
    /// Opens the database of a data directory, which has to exist.
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        Self::open_file(&dir.join(FILE))
    }

    /// Opens a database file, which has to exist.
    pub fn open_file(path: &Path) -> Result<Self, OpenError> {
        if !path.exists() {
            return Err(OpenError::Missing(path.to_owned()));
        }
        let (connection, version) = connect(path)?;
        match version {
            0 => return Err(OpenError::Missing(path.to_owned())),
            schema::VERSION => {}
            found => return Err(OpenError::Older { found, known: schema::VERSION }),
        }
        let orgs = Orgs::load(&connection)?;
        let files = Mutex::new(Files { connection, give_way: GiveWay::new(path) });
        Ok(Self { files, orgs, path: path.to_owned() })
    }

    /// Sets how long an erasure waits for a long read of this reader, which then fails because it gave way. The default is 20
    /// seconds.
    #[must_use]
    pub fn give_way_after(self, after: Duration) -> Self {
        self.files().give_way.set_after(after);
        self
    }

    /// Stays at this moment: from now on every read sees the same state. Reads fail with
    /// [`ReadError::GaveWay`](crate::ReadError::GaveWay) if an erasure waits for them.
    pub fn at_one_moment(self) -> Result<Self, OpenError> {
        let begun = {
            let files = self.files();
            // A transaction sees the database from its first read on.
            files.connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")
        };
        begun.map_err(StoreError::from)?;
        Ok(self)
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes everything again from the evidence and compares. `report` gets how many evaluations are done, and
    /// of how many.
    pub fn verify(&self, report: &mut dyn FnMut(u64, u64)) -> Result<VerifyResult, ReadError> {
        let files = self.files();
        Ok(verify::run(&files.connection, &SavedMark::read(&self.path), &files.give_way, report)?)
    }

    /// Copies the database to a new file. Never overwrites a file.
    pub fn backup(&self, to: &Path, report: &mut dyn FnMut(CopyProgress)) -> Result<(), OpenError> {
        let files = self.files();
        Ok(backup::copy(&files.connection, Some(&files.give_way), to, report)?)
    }

    /// Copies the database to where no store exists yet, and locks that directory meanwhile. No file of a former
    /// store may be left there, because it would be taken for a part of the copy.
    pub fn restore(&self, to: &Path, report: &mut dyn FnMut(CopyProgress)) -> Result<(), OpenError> {
        let _lock = DirectoryLock::acquire(directory(to), "renown restore")?;
        for suffix in ["", "-wal", "-shm"] {
            let mut part = to.as_os_str().to_owned();
            part.push(suffix);
            backup::is_free(Path::new(&part))?;
        }
        // A mark of a former store says nothing about the copy.
        let _ = std::fs::remove_file(mark::path(to));
        let files = self.files();
        Ok(backup::copy(&files.connection, Some(&files.give_way), to, report)?)
    }

    /// Returns the version of its schema, and its size in bytes.
    pub fn describe(&self) -> Result<(i64, u64), OpenError> {
        let size =
            std::fs::metadata(&self.path).map_err(StoreError::io(format!("{}", self.path.display())))?;
        Ok((schema::VERSION, size.len()))
    }
}
