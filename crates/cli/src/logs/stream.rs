//! One source as a sequence of chunks of whole lines or frames.
//!
//! gzip and zstd are known by their first bytes, not by the name. So are length-prefixed frames, which the collector's
//! file exporter writes when compression is on: the first byte of a frame's length is below 5, which no text begins with.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memchr::{memchr, memrchr};
use renown_telemetry::limits::LINE_BYTES_MAX;

/// How much is read before it is handed to a worker.
const CHUNK_BYTES: usize = 1 << 20;

const GZIP: &[u8] = b"\x1f\x8b";
/// What a zstd frame begins with.
pub(crate) const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// What some writers put before a text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// How many bytes tell what a stream is.
const MAGIC_BYTES: usize = 4;

/// Bytes of the length before each frame.
pub(crate) const FRAME_LENGTH_BYTES: usize = 4;
/// The first byte of the length of a frame of 64 MiB, the longest.
const FRAME_FIRST_BYTE_MAX: u8 = 4;

/// A part of a stream.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// The bytes, and room that is not used.
    pub(crate) buffer: Vec<u8>,
    pub(crate) filled: usize,
    pub(crate) content: Content,
    /// Whether the stream ends here: the last line may be unfinished.
    pub(crate) is_last: bool,
    /// Whether it ends because its compression broke off.
    pub(crate) broke_off: bool,
}

/// What a chunk holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Lines,
    /// One object over several lines.
    Document,
    /// Frames with their lengths, and how many bytes of an unfinished one followed them.
    Frames {
        truncated: u64,
    },
    /// Nothing: one line or frame that is too long was skipped.
    TooLong,
}

impl Chunk {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.filled).unwrap_or_default()
    }
}

/// A source that is read.
pub(crate) struct Stream {
    reader: Box<dyn Read + Send>,
    /// How much is read before it is handed on.
    chunk_bytes: usize,
    /// The longest line or frame.
    line_bytes_max: usize,
    has_frames: bool,
    /// What was read beyond the last chunk.
    ahead: Vec<u8>,
    has_begun: bool,
    has_ended: bool,
    /// Set when the compression ends before its end.
    broke_off: Arc<AtomicBool>,
}

impl Stream {
    /// Finds out what the bytes are.
    pub(crate) fn new(reader: impl Read + Send + 'static) -> io::Result<Self> {
        Self::with_limits(reader, CHUNK_BYTES, LINE_BYTES_MAX)
    }

    /// [`Stream::new`] with other limits.
    pub(super) fn with_limits(
        reader: impl Read + Send + 'static,
        chunk_bytes: usize,
        line_bytes_max: usize,
    ) -> io::Result<Self> {
        let broke_off = Arc::new(AtomicBool::new(false));
        let (head, reader) = peek(reader)?;
        let reader: Box<dyn Read + Send> = if head.starts_with(GZIP) {
            Box::new(Unbroken {
                reader: flate2::read::MultiGzDecoder::new(reader),
                broke_off: Arc::clone(&broke_off),
            })
        } else if head.starts_with(ZSTD) {
            Box::new(Unbroken {
                reader: zstd::stream::read::Decoder::new(reader)?,
                broke_off: Arc::clone(&broke_off),
            })
        } else {
            Box::new(reader)
        };
        let (head, mut reader) = peek(reader)?;
        let has_frames = has_frames(&head);
        if head.starts_with(BYTE_ORDER_MARK) {
            reader.read_exact(&mut [0; BYTE_ORDER_MARK.len()])?;
        }
        let reader = Box::new(reader);
        Ok(Self {
            reader,
            chunk_bytes,
            line_bytes_max,
            has_frames,
            ahead: Vec::new(),
            has_begun: false,
            has_ended: false,
            broke_off,
        })
    }

    /// The next chunk, none at the end. `buffer` is used again.
    pub(crate) fn next(&mut self, buffer: Vec<u8>) -> io::Result<Option<Chunk>> {
        if self.has_ended {
            return Ok(None);
        }
        if self.has_frames { self.frames(buffer).map(Some) } else { self.lines(buffer).map(Some) }
    }

    fn chunk(&self, buffer: Vec<u8>, filled: usize, content: Content) -> Chunk {
        let broke_off = self.has_ended && self.broke_off.load(Ordering::Relaxed);
        Chunk { buffer, filled, content, is_last: self.has_ended, broke_off }
    }

    fn lines(&mut self, mut buffer: Vec<u8>) -> io::Result<Chunk> {
        let mut filled = self.take_ahead(&mut buffer);
        loop {
            filled += fill(&mut self.reader, &mut buffer, filled)?;
            if !std::mem::replace(&mut self.has_begun, true) && is_document(&buffer, filled) {
                return self.document(buffer, filled);
            }
            let content = Content::Lines;
            if filled < buffer.len() {
                self.has_ended = true;
                return Ok(self.chunk(buffer, filled, content));
            }
            if let Some(end) = memrchr(b'\n', &buffer) {
                self.ahead.extend_from_slice(buffer.get(end + 1..).unwrap_or_default());
                return Ok(self.chunk(buffer, end + 1, content));
            }
            if filled > self.line_bytes_max {
                self.skip_line(&mut buffer)?;
                return Ok(self.chunk(buffer, 0, Content::TooLong));
            }
            buffer.resize((2 * filled).min(self.line_bytes_max + 1), 0);
        }
    }

    /// The whole stream, if it is not too long for one object.
    fn document(&mut self, mut buffer: Vec<u8>, mut filled: usize) -> io::Result<Chunk> {
        while filled == buffer.len() && filled <= self.line_bytes_max {
            buffer.resize((2 * filled).min(self.line_bytes_max + 1), 0);
            filled += fill(&mut self.reader, &mut buffer, filled)?;
        }
        self.has_ended = true;
        let is_whole = filled <= self.line_bytes_max;
        let (content, filled) = if is_whole { (Content::Document, filled) } else { (Content::TooLong, 0) };
        Ok(self.chunk(buffer, filled, content))
    }

    /// Reads on to the end of the line without holding it.
    fn skip_line(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        // The line was large, and the next ones probably are not.
        *buffer = vec![0; self.chunk_bytes];
        loop {
            let filled = fill(&mut self.reader, buffer, 0)?;
            let read = buffer.get(..filled).unwrap_or_default();
            if let Some(end) = memchr(b'\n', read) {
                self.ahead.extend_from_slice(read.get(end + 1..).unwrap_or_default());
                return Ok(());
            }
            if filled < buffer.len() {
                self.has_ended = true;
                return Ok(());
            }
        }
    }

    /// Frames one after the other until there are enough for a chunk.
    fn frames(&mut self, mut buffer: Vec<u8>) -> io::Result<Chunk> {
        let (mut filled, mut end) = (self.take_ahead(&mut buffer), 0);
        loop {
            if !self.has_bytes(&mut buffer, &mut filled, end + FRAME_LENGTH_BYTES)? {
                break;
            }
            let length = frame_length(buffer.get(end..).unwrap_or_default()).unwrap_or(0);
            let next_end = end + FRAME_LENGTH_BYTES + length;
            if length > self.line_bytes_max && end == 0 {
                return self.skip_frame(buffer, next_end, filled);
            }
            if end > 0 && next_end > self.chunk_bytes {
                self.ahead.extend_from_slice(buffer.get(end..filled).unwrap_or_default());
                let content = Content::Frames { truncated: 0 };
                return Ok(self.chunk(buffer, end, content));
            }
            if !self.has_bytes(&mut buffer, &mut filled, next_end)? {
                break;
            }
            end = next_end;
        }
        self.has_ended = true;
        let content = Content::Frames { truncated: (filled - end) as u64 };
        Ok(self.chunk(buffer, end, content))
    }

    /// Whether so many bytes are there, after reading on if need be.
    fn has_bytes(&mut self, buffer: &mut Vec<u8>, filled: &mut usize, wanted: usize) -> io::Result<bool> {
        if *filled < wanted {
            buffer.resize(buffer.len().max(wanted), 0);
            *filled += fill(&mut self.reader, buffer, *filled)?;
        }
        Ok(*filled >= wanted)
    }

    /// Reads on to the end of a frame without holding it.
    fn skip_frame(&mut self, buffer: Vec<u8>, end: usize, filled: usize) -> io::Result<Chunk> {
        let rest = end.saturating_sub(filled) as u64;
        let skipped = io::copy(&mut self.reader.by_ref().take(rest), &mut io::sink())?;
        self.ahead.extend_from_slice(buffer.get(end..filled).unwrap_or_default());
        self.has_ended = skipped < rest;
        Ok(self.chunk(buffer, 0, Content::TooLong))
    }

    /// Makes room for a chunk and puts what was read ahead at its beginning.
    fn take_ahead(&mut self, buffer: &mut Vec<u8>) -> usize {
        let wanted = self.chunk_bytes.max(2 * self.ahead.len());
        if buffer.len() > 2 * wanted {
            // It held a long line, and the next ones probably are not.
            *buffer = Vec::new();
        }
        buffer.resize(wanted, 0);
        let filled = self.ahead.len();
        if let Some(start) = buffer.get_mut(..filled) {
            start.copy_from_slice(&self.ahead);
        }
        self.ahead.clear();
        filled
    }
}

/// Whether these first bytes are those of frames.
fn has_frames(head: &[u8]) -> bool {
    head.len() >= MAGIC_BYTES && head.first().is_some_and(|first| *first <= FRAME_FIRST_BYTE_MAX)
}

/// Whether these first bytes are not those of lines.
pub(crate) fn is_packed(head: &[u8]) -> bool {
    head.starts_with(GZIP) || head.starts_with(ZSTD) || has_frames(head)
}

/// Whether the first line is nothing but an opening brace: an object that was indented for people.
fn is_document(buffer: &[u8], filled: usize) -> bool {
    let text = buffer.get(..filled).unwrap_or_default().trim_ascii_start();
    let first_line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    first_line.trim_ascii() == b"{" && first_line.len() < text.len()
}

/// The length of the frame that begins here, if all of it is there.
pub(crate) fn frame_length(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_be_bytes(*bytes.first_chunk::<FRAME_LENGTH_BYTES>()?);
    usize::try_from(length).ok()
}

/// Fills the buffer from there on; less than all of it only at the end of the stream.
fn fill(reader: &mut impl Read, buffer: &mut [u8], from: usize) -> io::Result<usize> {
    let mut filled = from;
    while let Some(room @ [_, ..]) = buffer.get_mut(filled..) {
        match reader.read(room) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled - from)
}

/// The first bytes, and a reader that still has them.
fn peek<R: Read>(mut reader: R) -> io::Result<(Vec<u8>, impl Read + use<R>)> {
    let mut head = vec![0; MAGIC_BYTES];
    let filled = fill(&mut reader, &mut head, 0)?;
    head.truncate(filled);
    Ok((head.clone(), Cursor::new(head).chain(reader)))
}

/// A compressed stream that ends where it breaks off: what was there is used.
struct Unbroken<R> {
    reader: R,
    broke_off: Arc<AtomicBool>,
}

impl<R: Read> Read for Unbroken<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.broke_off.store(true, Ordering::Relaxed);
                Ok(0)
            }
            other => other,
        }
    }
}
