//! An open input: a file or standard input, with its name for errors and its length.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::failure::Failure;

/// The name of standard input on the command line.
pub(crate) const STDIN: &str = "-";

/// An open input.
pub(crate) struct InputFile {
    pub(crate) name: String,
    pub(crate) file: File,
    /// The length, if it is known.
    pub(crate) bytes: Option<u64>,
}

impl InputFile {
    /// Opens a file, or standard input for `-`. `wanted` describes the expected content.
    pub(crate) fn open(path: &Path, wanted: &str) -> Result<Self, Failure> {
        let from_stdin = path == Path::new(STDIN);
        let name = if from_stdin { "standard input".to_owned() } else { path.display().to_string() };
        let refused = |error: io::Error| {
            let failure = Failure::new(format!("{name}: {error}"));
            if error.kind() == io::ErrorKind::NotFound {
                failure.hint(format!("name a file with {wanted}, or `-` to read standard input"))
            } else {
                failure
            }
        };
        let file = if from_stdin { stdin() } else { File::open(path) }.map_err(refused)?;
        let metadata = file.metadata().map_err(refused)?;
        if metadata.is_dir() {
            let failure = Failure::new(format!("{name}: is a directory, expected a file with {wanted}"));
            return Err(failure.hint("name a file in it"));
        }
        Ok(Self { name, file, bytes: metadata.is_file().then_some(metadata.len()) })
    }
}

/// Returns standard input as a file, so that its length is known if it has one.
#[cfg(unix)]
fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd;

    io::stdin().as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;

    io::stdin().as_handle().try_clone_to_owned().map(File::from)
}
