//! The engine behind a location. No other part of this program names an engine: commands read and write stores through their
//! traits. What only makes sense for a database file (copies, repair, its structure) passes through here.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use renown_store::sqlite::{self, CopyProgress, Reader, Sqlite, ThrowAwayDirectory};
use renown_store::{
    Clock, LockPurpose, OpenError, ReadError, ReadOnlyStore, Store, VerifyResult, system_clock,
};

use super::{StoreLocation, ask, failure, is_file, keep_private, unusable};
use crate::failure::Failure;

pub(crate) use renown_store::sqlite::{LostWrites, Repaired};

/// The file name of a database in its data directory.
pub(crate) const FILE: &str = sqlite::FILE;

impl StoreLocation {
    /// Opens the store read-only. Another process may write to it.
    pub(crate) fn read(&self) -> Result<Box<dyn ReadOnlyStore>, Failure> {
        self.read_or(failure)
    }

    /// Opens the store read-only. `explain` turns an error of the store into one for the user.
    pub(crate) fn read_or(
        &self,
        explain: impl FnOnce(&OpenError) -> Failure,
    ) -> Result<Box<dyn ReadOnlyStore>, Failure> {
        Ok(Box::new(open(&self.file, explain)?))
    }

    /// Opens the store read-only, as it is now: every read sees the same state, whatever another process writes.
    pub(crate) fn read_at_one_moment(&self) -> Result<Box<dyn ReadOnlyStore>, Failure> {
        self.open_file()?.at_one_moment()
    }

    /// Opens the file of the store.
    pub(crate) fn open_file(&self) -> Result<StoreFile, Failure> {
        StoreFile::open(&self.file, failure)
    }

    /// Opens the store for writing. No other process can write to it until it is closed.
    pub(crate) fn write(&self, purpose: &str) -> Result<Box<dyn Store>, Failure> {
        self.write_or(purpose, failure)
    }

    /// Opens the store for writing. `explain` turns an error of the store into one for the user.
    pub(crate) fn write_or<'a>(
        &self,
        purpose: impl Into<LockPurpose<'a>>,
        explain: impl FnOnce(&OpenError) -> Failure,
    ) -> Result<Box<dyn Store>, Failure> {
        Ok(Box::new(self.write_file(purpose, explain)?))
    }

    /// Opens the store for a server. Also returns what is to be said about acknowledged writes that are missing.
    pub(crate) fn serve<'a>(
        &self,
        purpose: impl Into<LockPurpose<'a>>,
        explain: impl FnOnce(&OpenError) -> Failure,
    ) -> Result<(Arc<dyn Store>, Option<LostWrites>), Failure> {
        let store = self.write_file(purpose, explain)?;
        let lost = store.lost();
        Ok((Arc::new(store), lost))
    }

    fn write_file<'a>(
        &self,
        purpose: impl Into<LockPurpose<'a>>,
        explain: impl FnOnce(&OpenError) -> Failure,
    ) -> Result<Sqlite, Failure> {
        self.prepare()?;
        let _private = keep_private();
        is_file(&self.file)?;
        Sqlite::open_file(&self.file, purpose, system_clock()).map_err(|error| explain(&error))
    }

    /// Rebuilds derived data that is missing or wrong.
    pub(crate) fn repair(&self, purpose: &str) -> Result<Repaired, Failure> {
        ask(self.write_file(purpose, failure)?.repair())
    }

    /// Returns the copies that upgrades kept beside the database.
    pub(crate) fn upgrade_copies(&self) -> Result<Vec<PathBuf>, Failure> {
        sqlite::upgrade_copies(&self.file).map_err(|error| failure(&error))
    }

    /// Overwrites what erased agents left in the database, and deletes upgrade copies that contain them.
    pub(crate) fn clean(&self, purpose: &str) -> Result<(), Failure> {
        sqlite::clean(&self.file, purpose, &system_clock()).map_err(|error| failure(&error))
    }
}

/// Opens a database file read-only.
fn open(file: &Path, explain: impl FnOnce(&OpenError) -> Failure) -> Result<Reader, Failure> {
    is_file(file)?;
    // The operating system's error is clearer than the database's.
    match File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(unusable(file, &error)),
        _ => Reader::open_file(file).map_err(|error| explain(&error)),
    }
}

/// A store as a file: what is copied, and whose structure is checked.
pub(crate) struct StoreFile(Reader);

impl StoreFile {
    /// Opens a file read-only. `explain` turns an error of the store into one for the user.
    pub(crate) fn open(file: &Path, explain: impl FnOnce(&OpenError) -> Failure) -> Result<Self, Failure> {
        open(file, explain).map(Self)
    }

    /// Copies it to a new file. `report` gets how many pages are done, and of how many.
    pub(crate) fn backup(&self, to: &Path, report: &mut dyn FnMut(u64, u64)) -> Result<(), OpenError> {
        self.0.backup(to, &mut |CopyProgress { done, total }| report(done, total))
    }

    /// Copies it to where no store exists yet.
    pub(crate) fn restore(&self, to: &Path, report: &mut dyn FnMut(u64, u64)) -> Result<(), OpenError> {
        self.0.restore(to, &mut |CopyProgress { done, total }| report(done, total))
    }

    /// Computes everything again from the evidence and compares. `report` gets how many evaluations are done, and of how many.
    pub(crate) fn verify(&self, report: &mut dyn FnMut(u64, u64)) -> Result<VerifyResult, ReadError> {
        self.0.verify(report)
    }

    /// Returns the store as it is now: every read sees the same state, whatever another process writes.
    pub(crate) fn at_one_moment(self) -> Result<Box<dyn ReadOnlyStore>, Failure> {
        let reader = self.0.at_one_moment().map_err(|error| failure(&error))?;
        Ok(Box::new(reader))
    }

    /// Returns the version of its schema, and its size in bytes.
    pub(crate) fn describe(&self) -> Result<(i64, u64), Failure> {
        self.0.describe().map_err(|error| failure(&error))
    }
}

/// A store in a temporary directory, which is deleted on drop.
pub(crate) struct ThrowAwayStore(ThrowAwayDirectory);

impl ThrowAwayStore {
    /// Creates the directory, and deletes those of processes that were killed.
    pub(crate) fn create() -> Result<Self, Failure> {
        let dir = ThrowAwayDirectory::create(&std::env::temp_dir());
        dir.map(Self).map_err(|error| failure(&error))
    }

    /// Returns the path of the directory.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Opens the store in it.
    pub(crate) fn open(&self, purpose: LockPurpose<'_>, clock: Clock) -> Result<Arc<dyn Store>, Failure> {
        let _private = keep_private();
        let opened = Sqlite::open_throw_away(&self.0, purpose, clock);
        Ok(Arc::new(opened.map_err(|error| failure(&error))?))
    }
}
