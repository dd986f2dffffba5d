//! One process per data directory: a lock on a file beside the database, which the system lets go when the process ends,
//! however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// The lock on a data directory, held as long as this lives.
pub(super) struct DirectoryLock {
    file: File,
    path: PathBuf,
}

impl DirectoryLock {
    /// Takes the lock, or says who has it. `purpose` is what the other process will be told of this one.
    pub(super) fn take(dir: &Path, purpose: &str) -> Result<Self, StoreError> {
        let path = dir.join("renown.lock");
        let doing = || format!("{}", path.display());
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(StoreError::io(doing()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.read_to_string(&mut holder);
                let holder = if holder.is_empty() { "another process".to_owned() } else { holder };
                return Err(StoreError::InUse { dir: dir.to_owned(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io(doing())(error)),
        }
        // Who holds it is a courtesy to the next one: a full disk must not keep the store from opening.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "process {} ({purpose})", std::process::id()));
        Ok(Self { file, path })
    }

    /// The file that is locked.
    pub(super) fn handle(&self) -> &File {
        &self.file
    }

    /// Where it was found.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::testing::scratch;

    #[test]
    fn the_second_is_told_who_the_first_is() {
        let dir = scratch("lock");
        let first = DirectoryLock::take(&dir, "renown serve").unwrap();
        let refused = DirectoryLock::take(&dir, "renown keys").err().unwrap().to_string();
        let holder = format!("is in use by process {} (renown serve)", std::process::id());
        assert!(refused.ends_with(&holder), "{refused}");
        drop(first);
        DirectoryLock::take(&dir, "renown keys").unwrap();
    }
}
