//! A data directory that is thrown away: for a demo, never for evidence that someone wants to keep.
//!
//! | | |
//! |---|---|
//! | location | a new directory below one that the caller names, readable only by its owner |
//! | end | it is removed when [`ThrowAwayDirectory`] is dropped |
//! | after a kill | the next one that is created below the same directory removes it: its lock is free |
//!
//! Commits in it do not wait for the disk. That is safe only because its data is not meant to outlive the process.
//! So this type is the only way to open such a store ([`super::Sqlite::open_throw_away`]): it always begins with an
//! empty directory and removes it at the end.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{OpenError, StoreError};

/// The prefix of the names of such directories.
const PREFIX: &str = "renown-demo-";

/// The file that is locked as long as the directory is in use.
const LOCK: &str = "throw-away.lock";

/// Number of names to try.
const NAMES_MAX: usize = 16;

/// A directory for data that is thrown away. Dropping it removes it.
#[derive(Debug)]
pub struct ThrowAwayDirectory {
    path: PathBuf,
    _lock: File,
}

impl ThrowAwayDirectory {
    /// Creates a directory below `parent`, and removes those that dead processes of this user left there.
    pub fn create(parent: &Path) -> Result<Self, OpenError> {
        for _ in 0..NAMES_MAX {
            if let Some(made) = Self::try_create(parent)? {
                made.remove_left(parent);
                return Ok(made);
            }
        }
        let taken = std::io::Error::new(ErrorKind::AlreadyExists, "no free name for a directory");
        Err(StoreError::io(parent.display().to_string())(taken).into())
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a directory. Returns `None` if the name exists, or if another process took the new directory for a
    /// left one.
    fn try_create(parent: &Path) -> Result<Option<Self>, StoreError> {
        let io = |path: &Path| StoreError::io(path.display().to_string());
        let number = getrandom::u64()?;
        let path = parent.join(format!("{PREFIX}{number:016x}"));
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(None),
            created => created.map_err(io(&path))?,
        }
        let name = path.join(LOCK);
        let lock = File::options().create_new(true).write(true).open(&name).map_err(io(&name))?;
        // A process that removes left directories locks them first. If one was faster, it has removed this one, or
        // will.
        let is_ours = lock.try_lock().is_ok() && name.exists();
        Ok(is_ours.then_some(Self { path, _lock: lock }))
    }

    /// Removes what dead processes left. What cannot be removed stays.
    fn remove_left(&self, parent: &Path) {
        let (Ok(own), Ok(entries)) = (fs::symlink_metadata(&self.path), fs::read_dir(parent)) else { return };
        for entry in entries.flatten() {
            let is_named = entry.file_name().to_string_lossy().starts_with(PREFIX);
            let is_ours = |found: &Metadata| found.is_dir() && same_owner(found, &own);
            if is_named && entry.path() != self.path && entry.metadata().is_ok_and(|found| is_ours(&found)) {
                remove_if_dead(&entry.path());
            }
        }
    }
}

impl Drop for ThrowAwayDirectory {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes a directory unless it is in use. One without the lock file was never in use, or is being created now.
fn remove_if_dead(dir: &Path) {
    if let Ok(lock) = File::open(dir.join(LOCK))
        && lock.try_lock().is_ok()
    {
        remove(dir);
    }
}

/// Removes a directory, its lock last. If this is interrupted, the next process finds the rest.
fn remove(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name() != LOCK {
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_dir_all(dir);
}

#[cfg(unix)]
fn same_owner(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    one.uid() == other.uid()
}

#[cfg(not(unix))]
fn same_owner(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use renown_testing::Scratch;

    use super::*;
    use crate::clock::system_clock;
    use crate::sqlite::{FILE, Sqlite, writer};

    #[test]
    fn a_directory_is_private_and_removed_at_its_end() {
        let parent = Scratch::new();
        let dir = ThrowAwayDirectory::create(parent.path()).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(dir.path()).unwrap().permissions().mode() & 0o777, 0o700);
        }
        let store = Sqlite::open_throw_away(&dir, "a test", system_clock()).unwrap();
        assert!(dir.path().join(FILE).exists());
        drop(store);
        drop(dir);
        assert_eq!(parent.names(), Vec::<String>::new());
    }

    #[test]
    fn only_a_store_to_throw_away_is_not_synced() {
        let scratch = Scratch::new();
        let path = scratch.join(FILE);
        let level = |connect: fn(&Path) -> Result<rusqlite::Connection, StoreError>| {
            let connection = connect(&path).unwrap();
            connection.query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>(0)).unwrap()
        };
        // 2 is full, 0 is off.
        assert_eq!((level(writer::connect), level(writer::connect_unsynced)), (2, 0));
    }

    #[test]
    fn directories_of_killed_processes_are_removed_and_those_in_use_are_not() {
        let parent = Scratch::new();
        let alive = ThrowAwayDirectory::create(parent.path()).unwrap();
        let dead = parent.join(format!("{PREFIX}dead"));
        let (foreign, file) = (parent.join("other-dead"), parent.join(format!("{PREFIX}file")));
        for dir in [&dead, &foreign] {
            fs::create_dir(dir).unwrap();
            fs::write(dir.join(LOCK), "").unwrap();
            fs::write(dir.join(FILE), "").unwrap();
        }
        fs::write(&file, "").unwrap();
        let beginning = parent.join(format!("{PREFIX}without-a-lock"));
        fs::create_dir(&beginning).unwrap();
        let next = ThrowAwayDirectory::create(parent.path()).unwrap();
        assert!(!dead.exists());
        for kept in [alive.path(), next.path(), &foreign, &file, &beginning] {
            assert!(kept.exists(), "{}", kept.display());
        }
    }
}
