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

use memchr::{memchr, memrchr};
use renown_telemetry::limits::LINE_BYTES_MAX;

use super::stream;
use crate::failure::Failure;
use crate::input_file::{InputFile, STDIN};

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
    /// It begins anew. What it ended with may be unfinished.
    Restarted(Vec<u8>),
    /// It ends here, with what may be unfinished.
    End(Vec<u8>),
}

/// A log that grows.
pub(crate) struct Follow {
    feed: Feed,
    /// Whether anything was read since it began.
    has_begun: bool,
    /// The beginning of a line whose end is not there yet.
    line: Vec<u8>,
    /// Whether that line is too long and is being skipped.
    skipping: bool,
    /// What comes next without another look.
    next: Option<News>,
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
    /// Begins with what is there.
    pub(crate) fn open(path: &Path) -> Result<(String, Self), Failure> {
        let InputFile { name, file, .. } = InputFile::open(path, "OTLP JSON")?;
        let feed = if path == Path::new(STDIN) {
            Feed::Pipe(pump(file))
        } else {
            Feed::File { path: path.to_owned(), file, position: 0 }
        };
        Ok((name, Self { feed, has_begun: false, line: Vec::new(), skipping: false, next: None }))
    }

    /// Waits a moment for something new.
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
                            // What was written between the two looks is still its own.
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

    /// What is read first says what the log is: a byte order mark is no part of it, and what is compressed has no lines.
    fn begin<'a>(&mut self, read: &'a [u8]) -> io::Result<&'a [u8]> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(read);
        }
        if stream::is_packed(read) {
            return Err(io::Error::other("compressed or in frames, which cannot be followed"));
        }
        Ok(read.strip_prefix(stream::BYTE_ORDER_MARK).unwrap_or(read))
    }

    /// The lines that are whole with these bytes.
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

/// What a file has beyond what was read, up to a limit.
fn read_some(file: &mut File) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    file.by_ref().take(READ_BYTES as u64).read_to_end(&mut read)?;
    Ok(read)
}

/// What can happen to a log beside that it grows.
enum Change {
    Replaced(File),
    Shortened,
}

fn change(path: &Path, file: &File, position: u64) -> io::Result<Option<Change>> {
    // Between the two steps of a rotation there is no file of this name.
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
