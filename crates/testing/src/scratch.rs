//! A directory for one test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A new and empty directory. It is removed when it is dropped, whether the test passes or not.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates a directory in the folder `tmp` beside the build of the test. It is named after the test.
    #[expect(clippy::new_without_default, reason = "a default value does not write to the disk")]
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // The test harness names the thread of a test after the test.
        let thread = std::thread::current();
        let test = thread.name().and_then(|name| name.rsplit("::").next()).unwrap_or("thread");
        let program = std::env::current_exe().unwrap();
        // Cargo builds tests in `PROFILE/deps`.
        let parent = program.ancestors().nth(2).unwrap().join("tmp");
        let dir = parent.join(format!("{test}-{}-{count}", std::process::id()));
        // A process that was killed may have had the same id.
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    /// Creates a directory with these files, each a name and a text.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let scratch = Self::new();
        for (name, text) in files {
            scratch.write(name, text);
        }
        scratch
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns a path in the directory.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    /// Returns a path in the directory as text, for the arguments of a program.
    pub fn at(&self, name: &str) -> String {
        self.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file, and the folders above it. Returns its path as text.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self.at(name)
    }

    /// Returns the names of the files and folders in the directory, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_begins_empty_and_ends_with_its_value() {
        let (one, other) = (Scratch::new(), Scratch::new());
        assert_ne!(one.path(), other.path());
        assert!(one.at("").contains("a_directory_begins_empty_and_ends_with_its_value"));
        assert_eq!(one.names(), Vec::<String>::new());
        assert_eq!(one.write("folder/file", "text"), one.at("folder/file"));
        one.write("b", [0, 1]);
        assert_eq!(one.names(), ["b", "folder"]);
        assert_eq!(Scratch::with(&[("b", ""), ("a", "")]).names(), ["a", "b"]);
        assert_eq!(fs::read_to_string(one.join("folder/file")).unwrap(), "text");
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists() && other.path().exists());
    }
}
