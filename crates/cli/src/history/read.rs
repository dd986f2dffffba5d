//! Reads files on all cores, those that have changed since the last time.
//!
//! A file is read in blocks, and a line at a time is passed on. Memory holds one block per core, or one line if it is
//! longer. A line that is too long is skipped without being held.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use memchr::{memchr, memchr_iter};
use renown_telemetry::limits::LINE_BYTES_MAX;
use renown_telemetry::transcript::{Transcript, TranscriptPath, TranscriptReader};

use super::cache::Cache;
use super::find::{Kind, Problem, Source};
use super::opencode;
use crate::progress::Progress;

/// Number of bytes read at once.
const BLOCK_BYTES: usize = 256 * 1024;

/// The facts of a file.
pub(crate) struct ReadFile {
    pub(crate) transcript: Transcript,
    /// Whether they came from the cache.
    pub(crate) is_cached: bool,
}

/// Reads all files. The results are in the order of the files.
pub(crate) fn all(sources: &[Source], cache: &Cache, progress: &Progress) -> Vec<Result<ReadFile, Problem>> {
    let cores = thread::available_parallelism().map_or(1, usize::from).min(sources.len());
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(sources.len())));
    // The largest files first, so that no core is left with one at the end.
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|number| std::cmp::Reverse(sources.get(*number).map(|source| source.size)));
    let work = || {
        let (mut buffer, mut own) = (Vec::new(), Vec::new());
        while let Some(number) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(source) = sources.get(*number) else { break };
            own.push((*number, one(source, cache, progress, &mut buffer)));
        }
        if let Ok(mut done) = done.lock() {
            done.append(&mut own);
        }
    };
    thread::scope(|scope| {
        for _ in 1..cores {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, read)| read).collect()
}

fn one(
    source: &Source,
    cache: &Cache,
    progress: &Progress,
    buffer: &mut Vec<u8>,
) -> Result<ReadFile, Problem> {
    if let Some(transcript) = cache.get(source) {
        return Ok(ReadFile { transcript, is_cached: true });
    }
    let read = match source.kind {
        Kind::Database => opencode::database(&source.path),
        Kind::Tree => Ok(opencode::tree(&source.path)),
        Kind::Lines | Kind::Compressed | Kind::Document => {
            file(source, progress, buffer).map_err(|error| error.to_string())
        }
    };
    let transcript = read.map_err(|reason| Problem { path: source.path.clone(), reason })?;
    Ok(ReadFile { transcript, is_cached: false })
}

fn file(source: &Source, progress: &Progress, buffer: &mut Vec<u8>) -> io::Result<Transcript> {
    let path = TranscriptPath {
        stem: &source.stem,
        is_subagent: source.is_subagent,
        parent: source.parent.as_deref(),
        project: source.project.as_deref(),
    };
    let Some(mut reader) = TranscriptReader::new(source.agent, path) else {
        return Ok(Transcript::default());
    };
    let file = progress.count(File::open(&source.path)?);
    match source.kind {
        Kind::Document => {
            buffer.clear();
            file.take(LINE_BYTES_MAX as u64 + 1).read_to_end(buffer)?;
            reader.last_line(buffer);
        }
        Kind::Compressed => lines(zstd::stream::read::Decoder::new(file)?, buffer, &mut reader)?,
        Kind::Lines | Kind::Database | Kind::Tree => lines(file, buffer, &mut reader)?,
    }
    Ok(reader.finish())
}

/// Reads lines, with a buffer that is used again.
fn lines(mut file: impl Read, buffer: &mut Vec<u8>, reader: &mut TranscriptReader) -> io::Result<()> {
    buffer.resize(BLOCK_BYTES, 0);
    let (mut filled, mut is_skipping) = (0, false);
    while let Some(room) = buffer.get_mut(filled..) {
        let read = match file.read(room) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if read == 0 {
            break;
        }
        let new_from = filled;
        filled += read;
        let mut start = 0;
        if is_skipping {
            let Some(end) = memchr(b'\n', buffer.get(..filled).unwrap_or_default()) else {
                filled = 0;
                continue;
            };
            (start, is_skipping) = (end + 1, false);
        }
        let from = start.max(new_from);
        for end in memchr_iter(b'\n', buffer.get(from..filled).unwrap_or_default()) {
            let end = from + end;
            reader.line(buffer.get(start..end).unwrap_or_default());
            start = end + 1;
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
        if filled > LINE_BYTES_MAX {
            reader.skipped_line();
            (filled, is_skipping) = (0, true);
            *buffer = vec![0; BLOCK_BYTES];
        } else if filled == buffer.len() {
            buffer.resize((2 * filled).min(LINE_BYTES_MAX + 1), 0);
        }
    }
    if !is_skipping {
        reader.last_line(buffer.get(..filled).unwrap_or_default());
    }
    if buffer.len() > 8 * BLOCK_BYTES {
        // Free the memory of a long line.
        *buffer = Vec::new();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use renown_telemetry::dialect::Agent;

    /// Returns at most `step` bytes per read.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let step = self.1.min(into.len()).min(self.0.len());
            into[..step].copy_from_slice(&self.0[..step]);
            self.0 = &self.0[step..];
            Ok(step)
        }
    }

    fn counts(text: &[u8], step: usize) -> (u64, u64, u64) {
        let mut reader = TranscriptReader::new(Agent::Pi, TranscriptPath::default()).unwrap();
        lines(Slow(text, step), &mut Vec::new(), &mut reader).unwrap();
        let counts = reader.finish().counts;
        (counts.lines, counts.bad_lines, counts.truncated_bytes)
    }

    #[test]
    fn lines_are_found_however_the_file_is_read() {
        let text = b"{\"type\":\"session\"}\r\n\n\0\0{\"type\":\"x\"}\nnonsense\n{\"type\":";
        for step in 1..text.len() + 2 {
            assert_eq!(counts(text, step), (3, 1, 8), "{step}");
        }
        assert_eq!(counts(b"", 1), (0, 0, 0));
        assert_eq!(counts(b"{}", 1), (1, 0, 0));
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let mut text = vec![b'x'; LINE_BYTES_MAX + 2];
        text.extend(b"\n{\"type\":\"session\"}\n");
        assert_eq!(counts(&text, 1 << 20), (2, 1, 0));
        text.truncate(LINE_BYTES_MAX + 2);
        assert_eq!(counts(&text, 1 << 20), (1, 1, 0));
    }
}
