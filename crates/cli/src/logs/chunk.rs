//! Parses one chunk: its lines or frames become a batch of records and a list of problems.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read};

use memchr::memchr_iter;
use renown_telemetry::facts::{Batch, RejectedRecord};
use renown_telemetry::json::{self, LineError};
use renown_telemetry::limits::LINE_BYTES_MAX;
use renown_telemetry::prices::Prices;

use super::stream::{Chunk, Content, FRAME_LENGTH_BYTES, ZSTD, frame_length};

/// Lines above this length are validated first, so that their records can be flushed in parts.
const LARGE_LINE_BYTES: usize = 256 * 1024;
/// Maximum number of records of such a line in memory.
const RECORDS_MAX: usize = 8192;
/// Maximum number of records of shorter lines in memory. A chunk has fewer, unless its records are empty.
const RECORDS_OF_LINES_MAX: usize = 65_536;

/// Number of problems of a kind that are shown. The others are only counted.
pub(crate) const NAMED_MAX: usize = 3;

/// The content of a chunk, or of a part of it.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) batch: Batch,
    /// Number of lines or frames, including blank ones, for line numbers.
    pub(crate) lines: u64,
    /// The first bad lines, with their numbers in the chunk, from 1.
    pub(crate) bad: Vec<(u64, Problem)>,
    pub(crate) bad_count: u64,
    pub(crate) truncated_bytes: u64,
    /// Whether the compressed stream is truncated.
    pub(crate) broke_off: bool,
    /// The good lines with their line ends, if the caller wants them.
    pub(crate) good: Option<Vec<u8>>,
}

impl Part {
    /// Clears everything except the number of lines, which counts up to the end of the chunk.
    pub(crate) fn clear(&mut self) {
        self.batch.clear();
        self.bad.clear();
        if let Some(good) = &mut self.good {
            good.clear();
        }
        (self.bad_count, self.truncated_bytes, self.broke_off) = (0, 0, false);
    }
}

/// A problem of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    Line(LineError),
    /// A frame that starts like protobuf instead of JSON.
    ProtobufFrame,
    /// A frame with invalid compression.
    BrokenFrame,
    Rejected(&'static str),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(error) => error.fmt(f),
            Self::ProtobufFrame => f.write_str("a protobuf frame, expected JSON"),
            Self::BrokenFrame => f.write_str("a frame with invalid zstd"),
            Self::Rejected(attribute) => {
                write!(f, "rejected a record: {attribute} is not a number from 0 to 10^15")
            }
        }
    }
}

impl From<RejectedRecord> for Problem {
    fn from(rejected: RejectedRecord) -> Self {
        Self::Rejected(rejected.attribute)
    }
}

/// Parses a chunk. Calls `flush` if the part grows too large; `flush` leaves it empty.
pub(crate) fn parse(chunk: &Chunk, prices: &Prices, part: &mut Part, flush: &mut dyn FnMut(&mut Part)) {
    part.broke_off = chunk.broke_off;
    let mut parser = Parser { prices, part, flush };
    match chunk.content {
        Content::TooLong => {
            parser.part.lines += 1;
            parser.bad(Problem::Line(LineError::TooLong));
        }
        Content::Frames { truncated } => {
            parser.frames(chunk.bytes());
            parser.part.truncated_bytes += truncated;
        }
        Content::Lines => parser.lines(chunk.bytes(), chunk.is_last),
        Content::Document => parser.document(chunk.bytes()),
    }
}

struct Parser<'a> {
    prices: &'a Prices,
    part: &'a mut Part,
    flush: &'a mut dyn FnMut(&mut Part),
}

impl Parser<'_> {
    fn lines(&mut self, bytes: &[u8], is_last: bool) {
        let mut start = 0;
        for end in memchr_iter(b'\n', bytes) {
            self.part.lines += 1;
            if let Err(error) = self.line(bytes.get(start..end).unwrap_or_default()) {
                self.bad(Problem::Line(error));
            }
            start = end + 1;
        }
        let rest = bytes.get(start..).unwrap_or_default();
        if !rest.is_empty() {
            self.last_line(rest, is_last);
        }
    }

    /// Parses one object, or lines if that fails.
    fn document(&mut self, bytes: &[u8]) {
        self.part.lines = 1;
        if self.line(bytes).is_err() {
            self.part.lines = 0;
            self.lines(bytes, true);
        }
    }

    /// Parses the last line, which has no line end and may be unfinished.
    fn last_line(&mut self, rest: &[u8], is_last: bool) {
        self.part.lines += 1;
        match self.line(rest) {
            Ok(()) => {}
            Err(error) if is_last && error.is_incomplete() => self.part.truncated_bytes += rest.len() as u64,
            Err(error) => self.bad(Problem::Line(error)),
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<(), LineError> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        self.read(line)?;
        if let Some(good) = &mut self.part.good {
            let start = good.len();
            good.extend_from_slice(line);
            // A line end inside an object is white space: JSON strings cannot contain one.
            let ends = good.get_mut(start..).unwrap_or_default().iter_mut();
            ends.filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
            good.push(b'\n');
        }
        Ok(())
    }

    fn read(&mut self, line: &[u8]) -> Result<(), LineError> {
        let Part { batch, lines, .. } = self.part;
        if line.len() <= LARGE_LINE_BYTES {
            json::read(line, *lines, self.prices, batch)?;
            if batch.len() > RECORDS_OF_LINES_MAX {
                (self.flush)(self.part);
            }
            return Ok(());
        }
        // The batch is moved out of the part while the line is read, so that `full` can flush the whole part.
        let number = *lines;
        let mut current = std::mem::take(batch);
        let (part, flush) = (&mut *self.part, &mut *self.flush);
        let mut full = |batch: &mut Batch| {
            part.batch = std::mem::take(batch);
            flush(part);
            *batch = std::mem::take(&mut part.batch);
        };
        let outcome = json::read_in_parts(line, number, self.prices, &mut current, RECORDS_MAX, &mut full);
        self.part.batch = current;
        outcome
    }

    fn frames(&mut self, mut bytes: &[u8]) {
        while let Some((frame, rest)) = split_frame(bytes) {
            bytes = rest;
            self.part.lines += 1;
            let outcome = match decompressed(frame) {
                Ok(json) => self.line(&json).map_err(|error| frame_problem(&json, error)),
                Err(problem) => Err(problem),
            };
            if let Err(problem) = outcome {
                self.bad(problem);
            }
        }
    }

    fn bad(&mut self, problem: Problem) {
        self.part.bad_count += 1;
        if self.part.bad.len() < NAMED_MAX {
            self.part.bad.push((self.part.lines, problem));
        }
    }
}

/// Splits off the first frame. Returns it without its length, and the rest.
fn split_frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = frame_length(bytes)?;
    bytes.get(FRAME_LENGTH_BYTES..)?.split_at_checked(length)
}

/// Returns the decompressed content of a frame.
fn decompressed(frame: &[u8]) -> Result<Cow<'_, [u8]>, Problem> {
    if !frame.starts_with(ZSTD) {
        return Ok(Cow::Borrowed(frame));
    }
    let read = || -> io::Result<Vec<u8>> {
        let mut json = Vec::new();
        zstd::stream::read::Decoder::with_buffer(frame)?
            .take(LINE_BYTES_MAX as u64 + 1)
            .read_to_end(&mut json)?;
        Ok(json)
    };
    read().map(Cow::Owned).map_err(|_| Problem::BrokenFrame)
}

/// The first field of every OTLP request in protobuf is number 1, of type bytes.
const PROTOBUF_FIRST_BYTE: u8 = 0x0a;

fn frame_problem(frame: &[u8], error: LineError) -> Problem {
    if frame.first() == Some(&PROTOBUF_FIRST_BYTE) { Problem::ProtobufFrame } else { Problem::Line(error) }
}
