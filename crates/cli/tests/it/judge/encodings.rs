//! Do the same records give the same result in every file encoding?

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::{Folder, Judged, document, lines, log, ok_tool, prompt};

fn sample() -> String {
    document(&lines(&[prompt(0), ok_tool(30), ok_tool(60)]))
}

const SAMPLE_EVIDENCE: &str = "tools=2 ok=2 prompts=1";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A frame as the file exporter writes it with compression.
fn frame(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

fn framed(encode: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    sample().lines().flat_map(|line| frame(&encode(line.as_bytes()))).collect()
}

fn judged_file(name: &str, bytes: &[u8]) -> Judged {
    let folder = Folder::new();
    folder.write(name, bytes).judge_json(&[name])
}

#[test]
fn every_encoding_gives_the_same_result() {
    let plain = sample();
    let (head, tail) = plain.split_at(plain.len() / 2);
    for (what, bytes) in [
        ("plain", plain.clone().into_bytes()),
        ("byte order mark", format!("\u{feff}{plain}").into_bytes()),
        ("CRLF", plain.replace('\n', "\r\n").into_bytes()),
        ("blank lines", plain.replace('\n', "\n\n  \n\r\n").into_bytes()),
        ("no last newline", plain.trim_end().as_bytes().to_vec()),
        (
            "spaces around",
            plain.lines().flat_map(|line| ["  ", line, " \t\n"]).collect::<String>().into_bytes(),
        ),
        ("gzip", gzip(plain.as_bytes())),
        ("gzip of two members", [gzip(head.as_bytes()), gzip(tail.as_bytes())].concat()),
        ("gzip with an empty member", [gzip(b""), gzip(plain.as_bytes()), gzip(b"")].concat()),
        (
            "gzip of CRLF with a byte order mark",
            gzip(format!("\u{feff}{plain}").replace('\n', "\r\n").as_bytes()),
        ),
        ("zstd", zstd(plain.as_bytes())),
        ("zstd of two frames", [zstd(head.as_bytes()), zstd(tail.as_bytes())].concat()),
        ("frames of JSON", framed(<[u8]>::to_vec)),
        ("frames of zstd", framed(zstd)),
    ] {
        // The file name is always the same: it does not matter.
        let judged = judged_file("log.txt", &bytes);
        assert_eq!(judged.evidence(), SAMPLE_EVIDENCE, "{what}");
        assert_eq!((judged.counted("records"), judged.counted("bad_lines")), (3, 0), "{what}");
        assert_eq!(judged.warnings, [""; 0], "{what}");
        let run = super::judge(&["--format", "json"], bytes);
        assert_eq!(Judged::from(&run).document, judged.document, "{what} on standard input");
    }
}

#[test]
fn the_name_does_not_matter() {
    assert_eq!(judged_file("log.jsonl", &gzip(sample().as_bytes())).evidence(), SAMPLE_EVIDENCE);
    assert_eq!(judged_file("log.gz", sample().as_bytes()).evidence(), SAMPLE_EVIDENCE);
    assert_eq!(judged_file("log.zst", &gzip(sample().as_bytes())).evidence(), SAMPLE_EVIDENCE);
}

#[test]
fn frames_of_protobuf_are_an_error_with_a_hint() {
    // ExportLogsServiceRequest { resource_logs: [ResourceLogs { scope_logs: [ScopeLogs {}] }] }
    let protobuf = [0x0a, 0x02, 0x12, 0x00];
    for bytes in [[frame(&protobuf), frame(&protobuf)].concat(), frame(&zstd(&protobuf))] {
        let folder = Folder::new();
        let run = folder.write("log.binpb", bytes).judge(&["log.binpb"]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.contains("error: log.binpb"), "{run:?}");
        let hint = run.stderr.lines().find(|line| line.starts_with("hint: ")).unwrap();
        assert!(hint.contains("format: json"), "{run:?}");
    }
}

#[test]
fn a_truncated_compressed_stream_is_used_up_to_that_point() {
    let (first, second) = (prompt(0).line(), ok_tool(5).line());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    writeln!(encoder, "{first}").unwrap();
    encoder.flush().unwrap();
    let whole = encoder.get_ref().len();
    writeln!(encoder, "{second}").unwrap();
    let gzip = encoder.finish().unwrap();
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    writeln!(encoder, "{first}").unwrap();
    encoder.flush().unwrap();
    let whole_zstd = encoder.get_ref().len();
    writeln!(encoder, "{second}").unwrap();
    let zstd = encoder.finish().unwrap();
    for (what, bytes) in [
        ("gzip after a line", &gzip[..whole]),
        ("gzip within a line", &gzip[..whole + 9]),
        ("zstd after a line", &zstd[..whole_zstd]),
        ("zstd within a line", &zstd[..whole_zstd + 9]),
    ] {
        for strict in [&[][..], &["--strict"]] {
            let folder = Folder::new();
            let run =
                folder.write("log.gz", bytes).judge(&[&["--format", "json", "log.gz"], strict].concat());
            let judged = Judged::from(&run);
            assert_eq!(judged.evidence(), "prompts=1", "{what} {strict:?}");
            let warning = "warning: log.gz: the compressed stream is truncated, used up to that point";
            assert_eq!(judged.warnings[0], warning, "{what} {strict:?}");
        }
    }
}

#[test]
fn a_bad_checksum_is_an_error() {
    for mut bytes in [gzip(sample().as_bytes()), zstd(sample().as_bytes())] {
        // gzip ends with the checksum and the length, zstd with the checksum.
        let at = if bytes.starts_with(&[0x1f, 0x8b]) { bytes.len() - 8 } else { bytes.len() - 1 };
        bytes[at] ^= 0x55;
        let folder = Folder::new();
        let run = folder.write("log.bin", bytes).judge(&["log.bin"]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.contains("error: log.bin"), "{run:?}");
    }
}

#[test]
fn logs_spans_and_metrics_may_be_mixed_even_in_one_object() {
    let mut object: Value = serde_json::from_str(&ok_tool(0).line()).unwrap();
    let span: Value = serde_json::from_str(&super::span("execute_tool ls", 1, 1).line()).unwrap();
    object["resourceSpans"] = span["resourceSpans"].clone();
    object["resourceMetrics"] =
        json!([{ "scopeMetrics": [{ "metrics": [{ "name": "n", "sum": { "dataPoints": [] } }] }] }]);
    let metrics = r#"{"resourceMetrics":[{"anything":[1,2,{"goes":"here"}]}]}"#;
    let judged = super::judged(&[metrics.to_owned(), object.to_string()]);
    assert_eq!((judged.evidence().as_str(), judged.counted("shadowed")), ("tools=1 ok=1", 1));
    assert_eq!((judged.counted("lines"), judged.counted("records"), judged.counted("bad_lines")), (2, 2, 0));
}

#[test]
fn nesting_may_be_64_deep() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
        prompt(0).line().replacen('{', &format!(r#"{{"x":{open}{close},"#), 1)
    };
    for (depth, evidence, bad_lines) in [(64, "prompts=2", 0), (65, "prompts=1", 1)] {
        let judged = super::judged(&[prompt(0).line(), nested(depth)]);
        assert_eq!(
            (judged.evidence().as_str(), judged.counted("bad_lines")),
            (evidence, bad_lines),
            "{depth}"
        );
    }
    let run = super::judge(&[], format!("{}\n{}\n", prompt(0).line(), "[".repeat(1_000_000)));
    assert_eq!(run.code, 0, "a million levels are one bad line: {}", run.stderr);
}

#[test]
fn the_first_1024_attributes_are_read() {
    for (place, evidence) in [(1024, "tools=1 ok=1"), (1025, "tools=1")] {
        let mut tool = log("claude_code.tool_result", 0);
        while tool.attributes.len() + 1 < place {
            let key = format!("filler.{}", tool.attributes.len());
            tool = tool.with(&key, 1);
        }
        let tool = tool.with("success", true);
        assert_eq!(tool.attributes.len(), place);
        assert_eq!(super::judged(&lines(&[tool])).evidence(), evidence, "{place}");
    }
}

#[test]
fn a_line_may_have_64_mib() {
    let long = |bytes: usize| {
        let line = prompt(0).with("prompt", "PAD").line();
        line.replace("PAD", &"x".repeat(bytes - (line.len() - "PAD".len())))
    };
    let limit = 64 << 20;
    let folder = Folder::new();
    let lines = [prompt(0).line(), long(limit + 1), long(limit), ok_tool(0).line()];
    assert_eq!((lines[1].len(), lines[2].len()), (limit + 1, limit));
    let judged = folder.write("log.jsonl", document(&lines)).judge_json(&["log.jsonl"]);
    assert_eq!((judged.evidence().as_str(), judged.counted("bad_lines")), ("tools=1 ok=1 prompts=2", 1));
    assert_eq!(judged.warnings.len(), 1);
    assert!(judged.warnings[0].starts_with("warning: log.jsonl:2: "), "{:?}", judged.warnings);
}

#[test]
fn bad_and_unfinished_frames_are_counted() {
    let good = frame(prompt(0).line().as_bytes());
    let bad = judged_file("log.bin", &[good.clone(), frame(b"{bad"), good.clone()].concat());
    assert_eq!((bad.evidence().as_str(), bad.counted("bad_lines")), ("prompts=2", 1));
    assert!(bad.warnings[0].starts_with("warning: log.bin:2: "), "{:?}", bad.warnings);
    let cut = judged_file("log.bin", &[&good[..], &good[..good.len() - 9]].concat());
    assert_eq!((cut.evidence().as_str(), cut.counted("bad_lines")), ("prompts=1", 0));
    assert_eq!(cut.warnings.len(), 1, "{:?}", cut.warnings);
    // A frame above the limit is skipped without allocating its length.
    let huge = judged_file("log.bin", &[&good[..], &[0x7f, 0xff, 0xff, 0xff, b'{']].concat());
    assert_eq!(huge.evidence(), "prompts=1");
}
