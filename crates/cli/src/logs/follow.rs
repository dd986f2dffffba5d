//! Follows a log as it grows, like `tail -f`.
//!
//! A growing file sends no event, so it is polled a few times per second. A file that was replaced (rotation) is read to its end
//! before the new one. A file that became shorter is read from its start. Records that were counted stay counted, and the ledger
//! deduplicates repeated lines.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use memchr::{memchr, memrchr};
use renown_telemetry::limits::LINE_BYTES_MAX;

use super::stream;
use crate::failure::Failure;
use crate::input_file::{InputFile, STDIN};

/// Interval between two polls of a file.
const POLL: Duration = Duration::from_millis(200);
/// Maximum number of bytes per read.
const READ_BYTES: usize = 1 << 20;

/// What happened to a log since the last poll.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Complete lines were added.
    Lines(Vec<u8>),
    /// A line that was too long was skipped.
    TooLong,
    /// Nothing yet.
    Nothing,
    /// The log restarts. The bytes are its last line, which may be unfinished.
    Restarted(Vec<u8>),
    /// The log ends. The bytes are its last line, which may be unfinished.
    End(Vec<u8>),
}

/// A growing log.
pub(crate) struct Follow {
    feed: Feed,
    /// Whether anything was read since its start.
    has_begun: bool,
    /// The start of an incomplete line.
    line: Vec<u8>,
    /// Whether that line is too long and is being skipped.
    skipping: bool,
    /// The next news, if it is already known.
    next: Option<News>,
}

enum Feed {
    File {
        path: PathBuf,
        file: File,
        position: u64,
    },
    /// Standard input. Its own thread reads it, because reads block.
    Pipe(Receiver<io::Result<Vec<u8>>>),
}

impl Follow {
    /// Opens a log. The existing content is news too.
    pub(crate) fn open(path: &Path) -> Result<(String, Self), Failure> {
        let InputFile { name, file, .. } = InputFile::open(path, "OTLP JSON")?;
        let feed = if path == Path::new(STDIN) {
            Feed::Pipe(pump(file))
        } else {
            Feed::File { path: path.to_owned(), file, position: 0 }
        };
        Ok((name, Self { feed, has_begun: false, line: Vec::new(), skipping: false, next: None }))
    }

    /// Waits briefly for news.
    pub(crate) fn news(&mut self) -> io::Result<News> {
        if let Some(next) = self.next.take() {
            return Ok(next);
        }
        let read = match &mut self.feed {
            Feed::Pipe(bytes) => match bytes.recv_timeout(POLL) {
                Ok(read) => read?,
                Err(RecvTimeoutError::Timeout) => return Ok(News::Nothing),
                Err(RecvTimeoutError::Disconnected) => return Ok(News::End(std::mem::take(&mut self.line))),
            },
            Feed::File { path, file, position } => {
                let mut read = read_some(file)?;
                if read.is_empty() {
                    match change(path, file, *position)? {
                        None => {
                            wait();
                            return Ok(News::Nothing);
                        }
                        Some(Change::Shortened) => {
                            file.rewind()?;
                            *position = 0;
                            return Ok(self.restart());
                        }
                        Some(Change::Replaced(by)) => {
                            // Read what was written to the old file since the last read.
                            read = read_some(file)?;
                            if read.is_empty() {
                                (*file, *position) = (by, 0);
                                return Ok(self.restart());
                            }
                        }
                    }
                }
                *position += read.len() as u64;
                read
            }
        };
        let read = self.begin(&read)?;
        Ok(self.take_lines(read))
    }

    fn restart(&mut self) -> News {
        (self.has_begun, self.skipping) = (false, false);
        News::Restarted(std::mem::take(&mut self.line))
    }

    /// Checks the first bytes: removes a byte order mark, and rejects a compressed log.
    fn begin<'a>(&mut self, read: &'a [u8]) -> io::Result<&'a [u8]> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(read);
        }
        if stream::is_encoded(read) {
            return Err(io::Error::other("compressed or framed, which --watch cannot follow"));
        }
        Ok(read.strip_prefix(stream::BYTE_ORDER_MARK).unwrap_or(read))
    }

    /// Returns the lines that these bytes complete.
    fn take_lines(&mut self, read: &[u8]) -> News {
        if self.skipping {
            let Some(end) = memchr(b'\n', read) else { return News::Nothing };
            self.skipping = false;
            let after = read.get(end + 1..).unwrap_or_default();
            self.next = Some(self.take_lines(after));
            return News::TooLong;
        }
        let Some(end) = memrchr(b'\n', read) else {
            self.line.extend_from_slice(read);
            if self.line.len() > LINE_BYTES_MAX {
                (self.line, self.skipping) = (Vec::new(), true);
            }
            return News::Nothing;
        };
        let (whole, rest) = read.split_at(end + 1);
        let mut lines = std::mem::replace(&mut self.line, rest.to_vec());
        lines.extend_from_slice(whole);
        News::Lines(lines)
    }
}

/// Reads the next bytes of a file, up to a limit.
fn read_some(file: &mut File) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    file.by_ref().take(READ_BYTES as u64).read_to_end(&mut read)?;
    Ok(read)
}

/// How a log can change other than by growing.
enum Change {
    Replaced(File),
    Shortened,
}

fn change(path: &Path, file: &File, position: u64) -> io::Result<Option<Change>> {
    // During a rotation, the file may be missing for a moment.
    let Ok(now) = fs::metadata(path) else { return Ok(None) };
    if !is_same(&now, &file.metadata()?) {
        return Ok(File::open(path).ok().map(Change::Replaced));
    }
    Ok((now.len() < position).then_some(Change::Shortened))
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

#[expect(clippy::disallowed_methods, reason = "a growing file sends no event: it is polled, as by tail")]
fn wait() {
    thread::sleep(POLL);
}

/// Reads a pipe in its own thread.
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
