//! Following a log as it grows, as `tail -f` does.
//!
//! A growing file tells nobody, so it is looked at a few times a second. A file that was replaced by another (rotation) is
//! read to its end before the new one is begun; one that has become shorter is read from its start. What had been
//! counted stays counted, and lines that come again are found by the ledger's filter for repeats.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use memchr::memrchr;
use renown_telemetry::limits::LINE_BYTES_MAX;

use crate::failure::Failure;
use crate::source::{STDIN, Source};

/// How often a file is looked at.
const POLL: Duration = Duration::from_millis(200);
/// How much is read at once.
const READ_BYTES: usize = 1 << 20;

/// What there is to know about a log since the last look.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Whole lines.
    Lines(Vec<u8>),
    /// A line that was too long was skipped.
    TooLong,
    /// Nothing yet.
    Nothing,
    /// It begins anew. So many bytes of an unfinished line were left.
    Restarted { unfinished: u64 },
    /// It ends here, with a last line that may be unfinished.
    End(Vec<u8>),
}

/// A log that grows.
pub(crate) struct Follow {
    feed: Feed,
    /// The beginning of a line whose end is not there yet.
    line: Vec<u8>,
    /// Whether that line is too long and is being skipped.
    skipping: bool,
}

enum Feed {
    File {
        path: PathBuf,
        file: File,
        position: u64,
    },
    /// Standard input, read by a thread of its own because reading waits.
    Pipe(Receiver<io::Result<Vec<u8>>>),
}

impl Follow {
    /// Begins with what is there. Compressed logs have no lines to wait for.
    pub(crate) fn open(path: &Path) -> Result<(String, Self), Failure> {
        let Source { name, file, .. } = Source::open(path, "OTLP JSON")?;
        let feed = if path == Path::new(STDIN) {
            Feed::Pipe(pump(file))
        } else {
            Feed::File { path: path.to_owned(), file, position: 0 }
        };
        Ok((name, Self { feed, line: Vec::new(), skipping: false }))
    }

    /// Waits a moment for something new.
    pub(crate) fn news(&mut self) -> io::Result<News> {
        let read = match &mut self.feed {
            Feed::Pipe(bytes) => match bytes.recv_timeout(POLL) {
                Ok(read) => read?,
                Err(RecvTimeoutError::Timeout) => return Ok(News::Nothing),
                Err(RecvTimeoutError::Disconnected) => return Ok(News::End(std::mem::take(&mut self.line))),
            },
            Feed::File { path, file, position } => {
                let read = read_some(file)?;
                *position += read.len() as u64;
                if read.is_empty() {
                    if let Some(anew) = restarted(path, file, *position)? {
                        (*file, *position) = (anew, 0);
                        self.skipping = false;
                        let unfinished = std::mem::take(&mut self.line).len() as u64;
                        return Ok(News::Restarted { unfinished });
                    }
                    wait();
                    return Ok(News::Nothing);
                }
                read
            }
        };
        Ok(self.take_lines(&read))
    }

    /// The lines that are whole with these bytes.
    fn take_lines(&mut self, read: &[u8]) -> News {
        let Some(end) = memrchr(b'\n', read) else {
            if !self.skipping {
                self.line.extend_from_slice(read);
                self.skipping = self.line.len() > LINE_BYTES_MAX;
            }
            if !self.skipping {
                return News::Nothing;
            }
            self.line = Vec::new();
            return News::Nothing;
        };
        let (whole, rest) = read.split_at(end + 1);
        if std::mem::take(&mut self.skipping) {
            // What follows the long line in the same read is rare and is looked at with the next.
            let after = whole.iter().position(|byte| *byte == b'\n').map_or(whole.len(), |first| first + 1);
            self.line = [whole.get(after..).unwrap_or_default(), rest].concat();
            return News::TooLong;
        }
        let mut lines = std::mem::replace(&mut self.line, rest.to_vec());
        lines.extend_from_slice(whole);
        News::Lines(lines)
    }
}

/// What a file has beyond what was read, up to a limit.
fn read_some(file: &mut File) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    file.by_ref().take(READ_BYTES as u64).read_to_end(&mut read)?;
    Ok(read)
}

/// The file to go on with if this one was replaced or cut.
fn restarted(path: &Path, file: &mut File, position: u64) -> io::Result<Option<File>> {
    // Between the two steps of a rotation there is no file of this name.
    let Ok(now) = fs::metadata(path) else { return Ok(None) };
    if !is_same(&now, &file.metadata()?) {
        return File::open(path).map(Some);
    }
    if now.len() < position {
        file.rewind()?;
        return file.try_clone().map(Some);
    }
    Ok(None)
}

#[cfg(unix)]
fn is_same(left: &Metadata, right: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    (left.dev(), left.ino()) == (right.dev(), right.ino())
}

#[cfg(not(unix))]
fn is_same(left: &Metadata, right: &Metadata) -> bool {
    left.created().ok() == right.created().ok()
}

#[expect(clippy::disallowed_methods, reason = "a growing file tells nobody: it is polled, as tail does")]
fn wait() {
    thread::sleep(POLL);
}

/// Reads a pipe as its bytes come.
fn pump(mut file: File) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let read = file.read(&mut buffer).map(|read| buffer.get(..read).unwrap_or_default().to_vec());
            let is_last = read.as_ref().map_or(true, Vec::is_empty);
            if is_last && read.is_ok() {
                return;
            }
            if sender.send(read).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}
