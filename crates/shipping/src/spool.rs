//! Verdicts on disk that the server does not have yet.
//!
//! ```text
//! PARENT/<id>/lock                locked while the process lives
//! PARENT/<id>/0000000001.spool    lines: CRC-32 as eight hex digits, a blank, the verdict, a newline
//! PARENT/<id>/read                end of what is finished (accepted, rejected, discarded or damaged): segment and offset
//! ```
//!
//! Every process has its own folder, so processes never wait for each other. An unlocked spool belongs to a dead
//! process; the next process adopts it. A line is written immediately, but synced only once per
//! second, by the owner of the spool.
//! A line that was torn by a crash has a wrong checksum and is skipped. `read` only avoids
//! sending verdicts twice: without it they are sent again, which is harmless.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::verdict::EncodedVerdict;

/// Default for the maximum size of the spools on disk, in bytes.
pub const SPOOL_BYTES_MAX: u64 = 1 << 30;

/// Size of a segment in bytes from which a new segment is started.
const SEGMENT_BYTES: u64 = 4 << 20;

/// Maximum length of a line in bytes. A longer line is damaged, because no verdict is this long.
const LINE_BYTES_MAX: usize = 1 << 20;

/// A position in a spool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    segment: u64,
    offset: u64,
}

/// The oldest verdicts of a spool.
#[derive(Debug, Default)]
pub struct SpoolBatch {
    /// Verdicts, the oldest first.
    pub verdicts: Vec<EncodedVerdict>,
    /// End of each verdict.
    ends: Vec<Position>,
    /// Position where reading stopped, after any damaged lines at the end.
    end: Position,
    /// Number of skipped lines.
    pub damaged: u64,
    /// Folder of the spool.
    spool: PathBuf,
}

impl SpoolBatch {
    /// Returns the end of the first `count` verdicts.
    fn position_after(&self, count: usize) -> Option<Position> {
        if count >= self.verdicts.len() {
            Some(self.end)
        } else {
            self.ends.get(count.checked_sub(1)?).copied()
        }
    }
}

#[derive(Debug)]
struct Segment {
    number: u64,
    bytes: u64,
    /// Number of verdicts that the server does not have. `None` in an adopted segment, which is only counted when
    /// needed.
    verdicts: Option<u64>,
}

/// The spool of this process, or an adopted one.
#[derive(Debug)]
pub struct Spool {
    dir: PathBuf,
    _lock: File,
    segments: VecDeque<Segment>,
    /// File of the last segment, if this process writes to it.
    writer: Option<File>,
    read: Position,
    /// Whether there are writes that are not synced.
    dirty: bool,
}

impl Spool {
    /// Creates a spool in the folder `parent`, which is created if it is missing.
    pub fn create(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        let id = getrandom::u64().map_err(io::Error::other)?;
        let (hidden, dir) = (parent.join(format!(".new-{id:016x}")), parent.join(format!("{id:016x}")));
        fs::create_dir(&hidden)?;
        // The folder is hidden until it is locked. Before that, it would look like the spool of a dead process.
        let lock = File::create(hidden.join("lock"))?;
        lock.try_lock().map_err(io::Error::from)?;
        fs::rename(&hidden, &dir)?;
        Ok(Self {
            dir,
            _lock: lock,
            segments: VecDeque::new(),
            writer: None,
            read: Position::default(),
            dirty: false,
        })
    }

    /// Adopts the spools of dead processes, the oldest first.
    pub fn adopt(parent: &Path) -> Vec<Self> {
        let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
        let mut adopted: Vec<Self> = entries
            .filter_map(Result::ok)
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
            .filter_map(|entry| Self::adopt_one(entry.path()).ok().flatten())
            .collect();
        adopted
            .sort_by_key(|spool| fs::metadata(spool.dir.join("lock")).and_then(|lock| lock.modified()).ok());
        adopted
    }

    /// Adopts a spool. Returns `None` if another process has locked it. Removes it if it is empty.
    fn adopt_one(dir: PathBuf) -> io::Result<Option<Self>> {
        let lock = File::open(dir.join("lock"))?;
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        let mut segments = Vec::new();
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".spool")?.parse().ok());
            if let Some(number) = number {
                segments.push(Segment { number, bytes: entry.metadata()?.len(), verdicts: None });
            }
        }
        segments.sort_by_key(|segment| segment.number);
        let read = fs::read_to_string(dir.join("read")).ok().and_then(|text| {
            let (segment, offset) = text.trim().split_once(' ')?;
            Some(Position { segment: segment.parse().ok()?, offset: offset.parse().ok()? })
        });
        let segments: VecDeque<Segment> = segments.into();
        let mut spool =
            Self { dir, _lock: lock, segments, writer: None, read: read.unwrap_or_default(), dirty: false };
        spool.release_to(spool.read)?;
        if spool.is_empty() {
            spool.remove();
            return Ok(None);
        }
        Ok(Some(spool))
    }

    /// Writes a verdict. After an error, the verdict is not in the spool; a torn line or an empty segment may stay.
    pub fn append(&mut self, verdict: &EncodedVerdict) -> io::Result<()> {
        let line = format!("{:08x} {}\n", crc32fast::hash(verdict.json().as_bytes()), verdict.json());
        let full = self.segments.back().is_none_or(|last| last.bytes >= SEGMENT_BYTES);
        let mut file = match self.writer.take() {
            Some(file) if !full => file,
            full => {
                if let Some(file) = full {
                    file.sync_data()?;
                }
                let number = self.segments.back().map_or(self.read.segment, |last| last.number) + 1;
                let file = OpenOptions::new().append(true).create_new(true).open(self.path(number))?;
                self.segments.push_back(Segment { number, bytes: 0, verdicts: Some(0) });
                file
            }
        };
        let Some(last) = self.segments.back_mut() else { return Ok(()) };
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        match file.write_all(line.as_bytes()) {
            Ok(()) => {
                last.bytes = last.bytes.saturating_add(length);
                last.verdicts = last.verdicts.map(|verdicts| verdicts + 1);
                self.dirty = true;
                self.writer = Some(file);
                Ok(())
            }
            Err(error) => {
                // Removes the torn line, so that the next line does not continue it. If this fails, a new segment is
                // started.
                if file.set_len(last.bytes).is_ok() {
                    self.writer = Some(file);
                } else {
                    last.bytes = last.bytes.max(SEGMENT_BYTES);
                }
                Err(error)
            }
        }
    }

    /// Syncs all writes to disk.
    pub fn sync(&mut self) -> io::Result<()> {
        self.unsynced().map_or(Ok(()), |file| file?.sync_data())
    }

    /// Returns the file that has to be synced, so that the caller can sync it without a lock on the spool.
    pub(crate) fn unsynced(&mut self) -> Option<io::Result<File>> {
        let file = self.writer.as_ref().filter(|_| self.dirty)?;
        self.dirty = false;
        Some(file.try_clone())
    }

    /// Returns the oldest verdicts: at most `verdicts_max`, and at most `bytes_max` bytes unless the first one alone
    /// is larger.
    pub fn first(&self, verdicts_max: usize, bytes_max: usize) -> io::Result<SpoolBatch> {
        let mut batch = SpoolBatch { end: self.read, spool: self.dir.clone(), ..SpoolBatch::default() };
        let mut bytes = 0;
        for segment in &self.segments {
            let offset = if segment.number == self.read.segment { self.read.offset } else { 0 };
            if segment.number < self.read.segment || offset >= segment.bytes {
                continue;
            }
            let mut file = BufReader::new(File::open(self.path(segment.number))?);
            file.seek(SeekFrom::Start(offset))?;
            let (mut offset, mut line) = (offset, Vec::new());
            while offset < segment.bytes {
                line.clear();
                let length = file.read_until(b'\n', &mut line)?;
                if length == 0 {
                    break;
                }
                let end = offset.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
                let position = Position { segment: segment.number, offset: end };
                match verdict(&line) {
                    None => batch.damaged += 1,
                    Some(verdict) => {
                        let full = bytes + verdict.json().len() > bytes_max && !batch.verdicts.is_empty();
                        if full || batch.verdicts.len() >= verdicts_max {
                            return Ok(batch);
                        }
                        bytes += verdict.json().len();
                        batch.verdicts.push(verdict);
                        batch.ends.push(position);
                    }
                }
                (offset, batch.end) = (end, position);
            }
        }
        Ok(batch)
    }

    /// Whether a batch belongs to this spool.
    pub(crate) fn contains(&self, batch: &SpoolBatch) -> bool {
        self.dir == batch.spool
    }

    /// Returns how many of the first `count` verdicts of a batch are still in the spool. The others were dropped
    /// because the spool was full.
    pub(crate) fn count_unreleased(&self, batch: &SpoolBatch, count: usize) -> usize {
        batch.ends.iter().take(count).filter(|end| **end > self.read).count()
    }

    /// Releases the first `count` verdicts of a batch, because the server has them.
    pub fn release(&mut self, batch: &SpoolBatch, count: usize) -> io::Result<()> {
        for end in batch.ends.iter().take(count).filter(|end| **end > self.read) {
            if let Some(segment) = self.segments.iter_mut().find(|segment| segment.number == end.segment) {
                segment.verdicts = segment.verdicts.map(|verdicts| verdicts.saturating_sub(1));
            }
        }
        match batch.position_after(count) {
            Some(position) => self.release_to(position),
            None => Ok(()),
        }
    }

    fn release_to(&mut self, position: Position) -> io::Result<()> {
        self.read = self.read.max(position);
        let is_read =
            |segment: &Segment| (segment.number, segment.bytes) <= (self.read.segment, self.read.offset);
        while self.segments.front().is_some_and(is_read) {
            let Some(segment) = self.segments.pop_front() else { break };
            if self.segments.is_empty() {
                self.writer = None;
                self.dirty = false;
            }
            fs::remove_file(self.path(segment.number))?;
        }
        fs::write(self.dir.join("read"), format!("{} {}\n", self.read.segment, self.read.offset))
    }

    /// Deletes the oldest segment. Returns the number of its verdicts that were waiting; in an adopted segment, damaged
    /// lines count too.
    pub fn discard_oldest(&mut self) -> io::Result<u64> {
        let Some(oldest) = self.segments.front() else { return Ok(0) };
        let end = Position { segment: oldest.number, offset: oldest.bytes };
        let lost = if let Some(verdicts) = oldest.verdicts {
            verdicts
        } else {
            let offset = if oldest.number == self.read.segment { self.read.offset } else { 0 };
            count_lines(&self.path(oldest.number), offset)?
        };
        self.release_to(end)?;
        Ok(lost)
    }

    /// Returns the size of the spool on disk.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Whether the server has all verdicts.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Closes the spool. An empty one is removed, any other stays for the next process.
    pub fn close(mut self) {
        let _ = self.sync();
        if self.is_empty() {
            self.remove();
        }
    }

    fn remove(&self) {
        // If this fails, the folder may stay. The next process removes it if its `lock` is still there.
        let _ = fs::remove_dir_all(&self.dir);
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{number:010}.spool"))
    }
}

/// Counts the lines of a file from an offset on.
fn count_lines(path: &Path, offset: u64) -> io::Result<u64> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let parts = text.split(|byte| *byte == b'\n').count();
    Ok(u64::try_from(parts.saturating_sub(1)).unwrap_or_default())
}

/// Decodes a line. Returns `None` if it is damaged.
fn verdict(line: &[u8]) -> Option<EncodedVerdict> {
    let line = line.strip_suffix(b"\n").filter(|line| line.len() <= LINE_BYTES_MAX)?;
    let (checksum, rest) = line.split_at_checked(8)?;
    let text = std::str::from_utf8(rest.strip_prefix(b" ")?).ok()?;
    let checksum = u32::from_str_radix(std::str::from_utf8(checksum).ok()?, 16).ok()?;
    (checksum == crc32fast::hash(text.as_bytes())).then(|| EncodedVerdict::from_spool(text))
}

#[cfg(test)]
mod tests;
