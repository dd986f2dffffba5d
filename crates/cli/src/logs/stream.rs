//! Splits one source into chunks of whole lines or frames.
//!
//! gzip and zstd are recognized by their first bytes, not by the file name. So are length-prefixed frames, which the collector's
//! file exporter writes with compression: the first byte of a frame's length is below 5, and no text starts with such a byte.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memchr::{memchr, memrchr};
use renown_telemetry::limits::LINE_BYTES_MAX;

/// Number of bytes read per chunk.
const CHUNK_BYTES: usize = 1 << 20;

const GZIP: &[u8] = b"\x1f\x8b";
/// The first bytes of a zstd frame.
pub(crate) const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// The byte order mark that some writers put in front of a text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Number of bytes needed to recognize the encoding.
const MAGIC_BYTES: usize = 4;

/// Number of bytes of the length in front of each frame.
pub(crate) const FRAME_LENGTH_BYTES: usize = 4;
/// Maximum first byte of a frame's length: that of a frame of 64 MiB, the limit.
const FRAME_FIRST_BYTE_MAX: u8 = 4;

/// A part of a stream.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// The bytes, followed by unused space.
    pub(crate) buffer: Vec<u8>,
    pub(crate) filled: usize,
    pub(crate) content: Content,
    /// Whether the stream ends here. Then the last line may be unfinished.
    pub(crate) is_last: bool,
    /// Whether the compressed stream is truncated here.
    pub(crate) broke_off: bool,
}

/// The kind of content of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Lines,
    /// One object that spans several lines.
    Document,
    /// Frames with their lengths, and the number of bytes of an unfinished frame after them.
    Frames {
        truncated: u64,
    },
    /// Nothing: a line or frame that is too long was skipped.
    TooLong,
}

impl Chunk {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.filled).unwrap_or_default()
    }
}

/// An open source.
pub(crate) struct Stream {
    reader: Box<dyn Read + Send>,
    /// Number of bytes read per chunk.
    chunk_bytes: usize,
    /// Maximum length of a line or frame.
    line_bytes_max: usize,
    has_frames: bool,
    /// Bytes that were read after the last chunk.
    ahead: Vec<u8>,
    has_begun: bool,
    has_ended: bool,
    /// Set if the compressed stream is truncated.
    broke_off: Arc<AtomicBool>,
}

impl Stream {
    /// Detects the encoding from the first bytes.
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
            Box::new(TruncationTolerant {
                reader: flate2::read::MultiGzDecoder::new(reader),
                broke_off: Arc::clone(&broke_off),
            })
        } else if head.starts_with(ZSTD) {
            Box::new(TruncationTolerant {
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

    /// Returns the next chunk, or `None` at the end. Reuses `buffer`.
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

    /// Returns the whole stream as one object, if it is not too long.
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

    /// Skips the rest of a line without holding it in memory.
    fn skip_line(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        // Free the memory of a long line: the next ones are probably shorter.
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

    /// Reads frames until there are enough for a chunk.
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

    /// Reads until `wanted` bytes are in the buffer. Returns whether there are that many.
    fn has_bytes(&mut self, buffer: &mut Vec<u8>, filled: &mut usize, wanted: usize) -> io::Result<bool> {
        if *filled < wanted {
            buffer.resize(buffer.len().max(wanted), 0);
            *filled += fill(&mut self.reader, buffer, *filled)?;
        }
        Ok(*filled >= wanted)
    }

    /// Skips the rest of a frame without holding it in memory.
    fn skip_frame(&mut self, buffer: Vec<u8>, end: usize, filled: usize) -> io::Result<Chunk> {
        let rest = end.saturating_sub(filled) as u64;
        let skipped = io::copy(&mut self.reader.by_ref().take(rest), &mut io::sink())?;
        self.ahead.extend_from_slice(buffer.get(end..filled).unwrap_or_default());
        self.has_ended = skipped < rest;
        Ok(self.chunk(buffer, 0, Content::TooLong))
    }

    /// Resizes the buffer for a chunk and moves the bytes read ahead to its start.
    fn take_ahead(&mut self, buffer: &mut Vec<u8>) -> usize {
        let wanted = self.chunk_bytes.max(2 * self.ahead.len());
        if buffer.len() > 2 * wanted {
            // Free the memory of a long line: the next ones are probably shorter.
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

/// Returns whether a stream with these first bytes has frames.
fn has_frames(head: &[u8]) -> bool {
    head.len() >= MAGIC_BYTES && head.first().is_some_and(|first| *first <= FRAME_FIRST_BYTE_MAX)
}

/// Returns whether a stream with these first bytes is compressed or has frames.
pub(crate) fn is_encoded(head: &[u8]) -> bool {
    head.starts_with(GZIP) || head.starts_with(ZSTD) || has_frames(head)
}

/// Returns whether the first line is only an opening brace: the start of an indented object.
fn is_document(buffer: &[u8], filled: usize) -> bool {
    let text = buffer.get(..filled).unwrap_or_default().trim_ascii_start();
    let first_line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    first_line.trim_ascii() == b"{" && first_line.len() < text.len()
}

/// Reads the length of a frame, if all its bytes are present.
pub(crate) fn frame_length(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_be_bytes(*bytes.first_chunk::<FRAME_LENGTH_BYTES>()?);
    usize::try_from(length).ok()
}

/// Fills the buffer from an offset. Leaves space only at the end of the stream.
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

/// Returns the first bytes, and a reader that still contains them.
fn peek<R: Read>(mut reader: R) -> io::Result<(Vec<u8>, impl Read + use<R>)> {
    let mut head = vec![0; MAGIC_BYTES];
    let filled = fill(&mut reader, &mut head, 0)?;
    head.truncate(filled);
    Ok((head.clone(), Cursor::new(head).chain(reader)))
}

/// A decoder for which a truncated stream ends normally, so that its content is used.
struct TruncationTolerant<R> {
    reader: R,
    broke_off: Arc<AtomicBool>,
}

impl<R: Read> Read for TruncationTolerant<R> {
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
