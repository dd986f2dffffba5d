//! One process per data directory: a lock on a file beside the database. The system releases it when the process
//! ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::{OpenError, StoreError};
use crate::holder::{LockHolder, LockPurpose};

/// The lock on a data directory, held as long as this value lives.
pub(super) struct DirectoryLock {
    file: File,
    path: PathBuf,
}

impl DirectoryLock {
    /// Acquires the lock. If another process holds it, the error describes that process by the purpose that it gave.
    pub(super) fn acquire<'a>(dir: &Path, purpose: impl Into<LockPurpose<'a>>) -> Result<Self, StoreError> {
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
                let mut text = String::new();
                let _ = file.read_to_string(&mut text);
                let holder = LockHolder::parse(&text);
                return Err(OpenError::InUse { dir: dir.to_owned(), holder }.into());
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io(doing())(error)),
        }
        // The description only helps the next process: a full disk must not keep the store from opening.
        let text = LockHolder::to_text(purpose.into());
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes()));
        Ok(Self { file, path })
    }

    /// Returns the locked file.
    pub(super) fn handle(&self) -> &File {
        &self.file
    }

    /// Returns its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use renown_testing::Scratch;

    use super::*;

    #[test]
    fn the_second_process_learns_who_holds_the_lock() {
        let scratch = Scratch::new();
        let first = DirectoryLock::acquire(scratch.path(), LockPurpose::Server("renown serve")).unwrap();
        let refused = DirectoryLock::acquire(scratch.path(), "renown keys").err().unwrap();
        let refused = OpenError::from(refused);
        assert!(matches!(&refused, OpenError::InUse { holder: LockHolder::Server(_), .. }), "{refused:?}");
        let holder = format!("is in use by process {} (renown serve)", std::process::id());
        assert!(refused.to_string().ends_with(&holder), "{refused}");
        drop(first);
        DirectoryLock::acquire(scratch.path(), "renown keys").unwrap();
    }
}
