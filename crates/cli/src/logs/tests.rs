//! Is the result independent of how a log is split, compressed and spread over threads?

use std::io::{Cursor, Read, Write};
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use renown_telemetry::ledger::{Session, TimeRange};
use renown_telemetry::limits::LINE_BYTES_MAX;
use renown_telemetry::prices::Prices;

use super::parallel::read;
use super::reading::Reading;
use super::stream::{Chunk, Content, Stream};
use crate::failure::Failure;

/// All example logs, plus a bad line, two blank lines and a repeated line.
static LINES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let logs = [
        include_str!("../../../../examples/claude-code.jsonl"),
        include_str!("../../../../examples/codex.jsonl"),
        include_str!("../../../../examples/gemini-cli.jsonl"),
        include_str!("../../../../examples/qwen-code.jsonl"),
        include_str!("../../../../examples/copilot.jsonl"),
    ];
    let mut lines: Vec<&str> = logs.iter().flat_map(|log| log.lines()).collect();
    lines.extend(["{\"resourceLogs\":[{]}", "", "\t\r", lines[0]]);
    lines.iter().map(|line| line.as_bytes().to_vec()).collect()
});

/// Reads files in chunks of `chunk_bytes` with this many workers. Returns the result as text.
fn outcome(files: Vec<Vec<u8>>, chunk_bytes: usize, workers: usize) -> String {
    let open = |(name, file): (usize, Vec<u8>)| {
        let stream = Stream::with_limits(Cursor::new(file), chunk_bytes, LINE_BYTES_MAX);
        stream.map(|stream| (name.to_string(), stream)).map_err(|error| Failure::new(error.to_string()))
    };
    let reading = Reading::new(TimeRange::default(), false);
    let files = files.into_iter().enumerate();
    let reading = read(files, open, reading, &Prices::default(), workers).unwrap();
    let reports: Vec<_> = reading.ledger.sessions().into_iter().map(Session::report).collect();
    format!("{}\n{:?}", serde_json::to_string_pretty(&reports).unwrap(), reading.ledger.account())
}

fn whole(lines: &[Vec<u8>]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ::zstd::encode_all(bytes, 1).unwrap()
}

/// A frame with its length.
fn frame(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
}

static EXPECTED: LazyLock<String> = LazyLock::new(|| outcome(vec![whole(&LINES)], 1 << 20, 1));

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, rng_seed: RngSeed::Fixed(2), ..ProptestConfig::default() })]

    #[test]
    fn chunks_files_compression_and_threads_do_not_change_the_result(
        chunk_bytes in 16_usize..200_000,
        workers in 1_usize..6,
        cuts in prop::collection::vec(0_usize..35, 0..6),
        encodings in prop::collection::vec(0_u8..4, 7),
    ) {
        let mut cuts = [cuts, vec![0, LINES.len()]].concat();
        cuts.sort_unstable();
        let parts: Vec<&[Vec<u8>]> = cuts.windows(2).map(|pair| &LINES[pair[0].min(LINES.len())..pair[1].min(LINES.len())]).collect();
        let files = parts.iter().zip(encodings).map(|(lines, encoding)| match encoding {
            0 => gzip(&whole(lines)),
            1 => lines.iter().flat_map(|line| gzip(&[line, b"\n".as_slice()].concat())).collect(),
            2 => zstd(&whole(lines)),
            _ => whole(lines),
        });
        prop_assert_eq!(&outcome(files.collect(), chunk_bytes, workers), &*EXPECTED);
    }
}

#[test]
fn an_object_that_spans_several_lines_counts_as_one_line() {
    for line in LINES.iter().take(28) {
        let value: serde_json::Value = serde_json::from_slice(line).unwrap();
        let indented = serde_json::to_vec_pretty(&value).unwrap();
        for chunk_bytes in [16, 1 << 20] {
            let expected = outcome(vec![line.clone()], chunk_bytes, 1);
            assert_eq!(outcome(vec![indented.clone()], chunk_bytes, 1), expected);
        }
    }
}

#[test]
fn the_order_of_lines_does_not_change_the_result() {
    let mut lines = LINES.clone();
    lines.reverse();
    assert_eq!(outcome(vec![whole(&lines)], 4096, 3), *EXPECTED);
}

#[test]
fn frames_count_like_lines() {
    let lines: Vec<_> = LINES.iter().filter(|line| !line.trim_ascii().is_empty()).cloned().collect();
    let plain: Vec<u8> = lines.iter().flat_map(|line| frame(line)).collect();
    let packed: Vec<u8> = lines.iter().flat_map(|line| frame(&zstd(line))).collect();
    for chunk_bytes in [16, 1000, 1 << 20] {
        assert_eq!(outcome(vec![plain.clone()], chunk_bytes, 2), *EXPECTED);
        assert_eq!(outcome(vec![packed.clone()], chunk_bytes, 2), *EXPECTED);
        assert_eq!(outcome(vec![gzip(&packed)], chunk_bytes, 2), *EXPECTED);
    }
}

/// Reads one byte at a time, like a slow pipe.
struct Slow(Cursor<Vec<u8>>);

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let one = buffer.len().min(1);
        self.0.read(&mut buffer[..one])
    }
}

/// The chunks of a stream with small limits.
fn chunks(bytes: &[u8], chunk_bytes: usize, line_bytes_max: usize) -> Vec<(String, Content, bool)> {
    let mut stream =
        Stream::with_limits(Slow(Cursor::new(bytes.to_vec())), chunk_bytes, line_bytes_max).unwrap();
    let mut chunks = Vec::new();
    while let Some(chunk) = stream.next(Vec::new()).unwrap() {
        let text = String::from_utf8_lossy(Chunk::bytes(&chunk)).into_owned();
        chunks.push((text, chunk.content, chunk.is_last));
    }
    chunks
}

#[test]
fn a_line_that_is_too_long_is_skipped() {
    let (lines, long) = (Content::Lines, Content::TooLong);
    let text = |text: &str| text.to_owned();
    let found = chunks(b"ab\n0123456789abcdef0123456789\ncd\n", 4, 10);
    assert_eq!(found, [(text("ab\n"), lines, false), (text(""), long, false), (text("cd\n"), lines, true)]);
    // Ten bytes are within the limit, eleven are not, with or without a line end.
    assert_eq!(
        chunks(b"0123456789\n", 4, 10),
        [(text("0123456789\n"), lines, false), (text(""), lines, true)]
    );
    assert_eq!(chunks(b"0123456789a\n", 4, 10)[0].1, long);
    assert_eq!(chunks(b"0123456789abcdef", 4, 10), [(text(""), long, true)]);
    assert_eq!(chunks(b"", 4, 10), [(text(""), lines, true)]);
}

#[test]
fn a_long_frame_is_skipped_and_an_unfinished_frame_is_counted() {
    let frames = |truncated| Content::Frames { truncated };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (ten, eleven) = (frame(b"0123456789"), frame(b"0123456789a"));
    let found = chunks(&[&ten[..], &eleven, &ten].concat(), 4, 10);
    assert_eq!(
        found,
        [
            (text(&ten), frames(0), false),
            (String::new(), Content::TooLong, false),
            (text(&ten), frames(0), true),
        ]
    );
    for cut in 1..ten.len() {
        let found = chunks(&[&ten[..], &ten[..cut]].concat(), 1000, 10);
        assert_eq!(found, [(text(&ten), frames(cut as u64), true)]);
    }
}
