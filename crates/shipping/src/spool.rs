//! Events on disk until the server has them.
//!
//! ```text
//! PARENT/<id>/lock                held while the process lives
//! PARENT/<id>/0000000001.spool    lines: CRC-32 as eight hex digits, a blank, the event, a newline
//! PARENT/<id>/read                how far the server has them: segment and offset
//! ```
//!
//! Every process has a folder of its own, so that nobody waits for anybody. Whose lock is free is dead, and the next process
//! takes the folder over. A line is written at once and synced by whoever owns the spool, once a second; one that was torn by
//! a crash has a wrong checksum and is left out. `read` is only a shortcut: without it events are sent again, which is harmless.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::event::Event;

/// The most that one process keeps on disk, in bytes.
pub const SPOOL_BYTES_MAX: u64 = 1 << 30;

/// A segment that is longer than this is followed by a new one.
const SEGMENT_BYTES: u64 = 4 << 20;

/// A line that is longer is damaged: no event is.
const LINE_BYTES_MAX: usize = 1 << 20;

/// A place in a spool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    segment: u64,
    offset: u64,
}

/// Events from the beginning of a spool.
#[derive(Debug, Default)]
pub struct Batch {
    /// The events, the oldest first.
    pub events: Vec<Event>,
    /// Where each of them ends.
    ends: Vec<Position>,
    /// Where reading stopped, past damage at the end.
    end: Position,
    /// Lines that were left out.
    pub damaged: u64,
    /// The folder of the spool that they are in.
    spool: PathBuf,
}

impl Batch {
    /// Where the first so many events end.
    fn position_after(&self, count: usize) -> Option<Position> {
        if count >= self.events.len() {
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
    /// How many of its events the server does not have. Those of other processes are not counted before they have to be.
    events: Option<u64>,
}

/// The spool of one process, or one that was taken over.
#[derive(Debug)]
pub struct Spool {
    dir: PathBuf,
    _lock: File,
    segments: VecDeque<Segment>,
    /// The last segment, if this process writes to it.
    writer: Option<File>,
    read: Position,
    /// Whether something is written and not synced.
    dirty: bool,
}

impl Spool {
    /// A new spool below a folder, which is made if it is missing.
    pub fn create(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        let id = getrandom::u64().map_err(io::Error::other)?;
        let (hidden, dir) = (parent.join(format!(".new-{id:016x}")), parent.join(format!("{id:016x}")));
        fs::create_dir(&hidden)?;
        // Nobody may see it before it is locked: it would look dead.
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

    /// The spools below a folder whose processes are dead, the oldest first.
    pub fn adopt(parent: &Path) -> Vec<Self> {
        let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
        let mut adopted: Vec<Self> = entries
            .filter_map(Result::ok)
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
            .filter_map(|entry| Self::take_over(entry.path()).ok().flatten())
            .collect();
        adopted
            .sort_by_key(|spool| fs::metadata(spool.dir.join("lock")).and_then(|lock| lock.modified()).ok());
        adopted
    }

    /// The spool of a folder if it is one and nobody holds it. An empty one is removed.
    fn take_over(dir: PathBuf) -> io::Result<Option<Self>> {
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
                segments.push(Segment { number, bytes: entry.metadata()?.len(), events: None });
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

    /// Writes an event. After an error the spool is as it was before.
    pub fn append(&mut self, event: &Event) -> io::Result<()> {
        let line = format!("{:08x} {}\n", crc32fast::hash(event.json().as_bytes()), event.json());
        let full = self.segments.back().is_none_or(|last| last.bytes >= SEGMENT_BYTES);
        let mut file = match self.writer.take() {
            Some(file) if !full => file,
            full => {
                if let Some(file) = full {
                    file.sync_data()?;
                }
                let number = self.segments.back().map_or(self.read.segment, |last| last.number) + 1;
                let file = OpenOptions::new().append(true).create_new(true).open(self.path(number))?;
                self.segments.push_back(Segment { number, bytes: 0, events: Some(0) });
                file
            }
        };
        let Some(last) = self.segments.back_mut() else { return Ok(()) };
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        match file.write_all(line.as_bytes()) {
            Ok(()) => {
                last.bytes = last.bytes.saturating_add(length);
                last.events = last.events.map(|events| events + 1);
                self.dirty = true;
                self.writer = Some(file);
                Ok(())
            }
            Err(error) => {
                // Half a line must not be the beginning of the next one. If even this fails, a new segment follows.
                if file.set_len(last.bytes).is_ok() {
                    self.writer = Some(file);
                } else {
                    last.bytes = last.bytes.max(SEGMENT_BYTES);
                }
                Err(error)
            }
        }
    }

    /// Brings what was written to the disk.
    pub fn sync(&mut self) -> io::Result<()> {
        self.unsynced().map_or(Ok(()), |file| file?.sync_data())
    }

    /// The file that has to be synced, for whoever wants to do that without holding the spool.
    pub(crate) fn unsynced(&mut self) -> Option<io::Result<File>> {
        let file = self.writer.as_ref().filter(|_| self.dirty)?;
        self.dirty = false;
        Some(file.try_clone())
    }

    /// The oldest events: at most so many, and of at most so many bytes unless one alone has more.
    pub fn first(&self, events_max: usize, bytes_max: usize) -> io::Result<Batch> {
        let mut batch = Batch { end: self.read, spool: self.dir.clone(), ..Batch::default() };
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
                match event(&line) {
                    None => batch.damaged += 1,
                    Some(event) => {
                        let full = bytes + event.json().len() > bytes_max && !batch.events.is_empty();
                        if full || batch.events.len() >= events_max {
                            return Ok(batch);
                        }
                        bytes += event.json().len();
                        batch.events.push(event);
                        batch.ends.push(position);
                    }
                }
                (offset, batch.end) = (end, position);
            }
        }
        Ok(batch)
    }

    /// Whether a batch is of this spool.
    pub(crate) fn holds(&self, batch: &Batch) -> bool {
        self.dir == batch.spool
    }

    /// How many of the first so many events of a batch are still here: others were given up for lack of room meanwhile.
    pub(crate) fn held(&self, batch: &Batch, count: usize) -> usize {
        batch.ends.iter().take(count).filter(|end| **end > self.read).count()
    }

    /// Gives up the first so many events of a batch: the server has them.
    pub fn release(&mut self, batch: &Batch, count: usize) -> io::Result<()> {
        for end in batch.ends.iter().take(count).filter(|end| **end > self.read) {
            if let Some(segment) = self.segments.iter_mut().find(|segment| segment.number == end.segment) {
                segment.events = segment.events.map(|events| events.saturating_sub(1));
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

    /// Throws the oldest segment away and says how many events were in it.
    pub fn discard_oldest(&mut self) -> io::Result<u64> {
        let Some(oldest) = self.segments.front() else { return Ok(0) };
        let end = Position { segment: oldest.number, offset: oldest.bytes };
        let lost = if let Some(events) = oldest.events {
            events
        } else {
            let offset = if oldest.number == self.read.segment { self.read.offset } else { 0 };
            lines(&self.path(oldest.number), offset)?
        };
        self.release_to(end)?;
        Ok(lost)
    }

    /// What it takes on disk.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Whether the server has everything.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Removes an empty spool; another one stays for whoever comes next.
    pub fn close(mut self) {
        let _ = self.sync();
        if self.is_empty() {
            self.remove();
        }
    }

    fn remove(&self) {
        // What cannot be removed is an empty folder more, which the next process finds and removes.
        let _ = fs::remove_dir_all(&self.dir);
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{number:010}.spool"))
    }
}

/// The lines of a file from an offset on.
fn lines(path: &Path, offset: u64) -> io::Result<u64> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let parts = text.split(|byte| *byte == b'\n').count();
    Ok(u64::try_from(parts.saturating_sub(1)).unwrap_or_default())
}

/// The event of a line, unless it is damaged.
fn event(line: &[u8]) -> Option<Event> {
    let line = line.strip_suffix(b"\n").filter(|line| line.len() <= LINE_BYTES_MAX)?;
    let (checksum, rest) = line.split_at_checked(8)?;
    let text = std::str::from_utf8(rest.strip_prefix(b" ")?).ok()?;
    let checksum = u32::from_str_radix(std::str::from_utf8(checksum).ok()?, 16).ok()?;
    (checksum == crc32fast::hash(text.as_bytes())).then(|| Event::from_spool(text))
}

#[cfg(test)]
mod tests;
