//! Is bad input reported, counted and skipped, and is an input without sessions an error?

use std::io::Write as _;

use serde_json::Value;

use super::{Folder, Judged, Record, bare, call, document, judge, lines, ok_tool, prompt};

/// Returns lines that are invalid in a log.
fn bad_lines() -> Vec<Vec<u8>> {
    let texts = [
        "{bad",
        "[]",
        "1",
        "null",
        "\"resourceLogs\"",
        r#"{"a":1}"#,
        r#"{"resourceLogs":7}"#,
        r#"{"resourceLogs":[]} x"#,
        r#"{"resourceLogs":[],}"#,
        r#"{"resourceLogs":["#,
        "time,level,message",
    ];
    let mut lines: Vec<_> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    let mut broken = prompt(0).with("prompt", "?").line().into_bytes();
    let place = broken.iter().position(|byte| *byte == b'?').unwrap();
    broken[place] = 0xff;
    lines.push(broken);
    lines
}

fn between(bad: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("{}\n", prompt(0).line()).into_bytes();
    for line in bad {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    bytes.extend(format!("{}\n", ok_tool(1).line()).bytes());
    bytes
}

#[test]
fn a_bad_line_is_skipped_counted_and_shown() {
    for bad in bad_lines() {
        let shown = String::from_utf8_lossy(&bad).into_owned();
        let folder = Folder::new();
        folder.write("log.jsonl", between(&[&bad]));
        let judged = folder.judge_json(&["log.jsonl"]);
        assert_eq!(judged.evidence(), "tools=1 ok=1 prompts=1", "{shown}");
        assert_eq!((judged.counted("lines"), judged.counted("bad_lines")), (3, 1), "{shown}");
        assert_eq!(judged.warnings.len(), 1, "{shown}: {:?}", judged.warnings);
        assert!(judged.warnings[0].starts_with("warning: log.jsonl:2: "), "{shown}: {:?}", judged.warnings);
        let strict = folder.judge(&["--strict", "log.jsonl"]);
        assert_eq!((strict.code, strict.stdout.as_str()), (2, ""), "{shown}: {strict:?}");
        assert!(
            strict.stderr.lines().any(|line| line.starts_with("error: log.jsonl:2: ")),
            "{shown}: {strict:?}"
        );
    }
}

#[test]
fn blank_lines_count_towards_the_number_of_a_line() {
    let folder = Folder::new();
    folder.write("log.jsonl", format!("\n\r\n{}\n\n{{bad\n{}\n", prompt(0).line(), prompt(1).line()));
    let run = folder.judge(&["--strict", "log.jsonl"]);
    assert!(run.stderr.contains("error: log.jsonl:5: "), "{run:?}");
}

#[test]
fn the_first_three_bad_lines_are_shown() {
    let folder = Folder::new();
    folder.write("log.jsonl", between(&[b"{1", b"{2", b"{3", b"{4", b"{5"]));
    let judged = folder.judge_json(&["log.jsonl"]);
    assert_eq!(judged.counted("bad_lines"), 5);
    let named = |number: u32| {
        judged.warnings.iter().any(|line| line.starts_with(&format!("warning: log.jsonl:{number}: ")))
    };
    assert_eq!([2, 3, 4, 5, 6].map(named), [true, true, true, false, false], "{:?}", judged.warnings);
}

#[test]
fn the_first_three_rejected_records_are_shown_with_the_bad_lines() {
    let rejected: Vec<Record> = (0..5).map(|i| call(i).with("cost_usd", -1)).collect();
    let mut lines = lines(&rejected);
    lines.extend(["{bad".to_owned(), prompt(0).line()]);
    let folder = Folder::new();
    let judged = folder.write("log.jsonl", document(&lines)).judge_json(&["log.jsonl"]);
    assert_eq!((judged.counted("bad_values"), judged.counted("bad_lines")), (5, 1));
    let named = |number: u32| {
        judged.warnings.iter().any(|line| line.starts_with(&format!("warning: log.jsonl:{number}: ")))
    };
    assert_eq!(
        [1, 2, 3, 4, 5, 6].map(named),
        [true, true, true, false, false, true],
        "{:?}",
        judged.warnings
    );
}

#[test]
fn an_unfinished_last_line_is_tolerated() {
    let (good, next) = (prompt(0).line(), ok_tool(1).line());
    for (tail, bytes) in
        [(&next[..64], 64), (&next[..1], 1), (&next[..next.len() - 1], next.len() - 1), ("garbage", 7)]
    {
        for strict in [&[][..], &["--strict"]] {
            let folder = Folder::new();
            folder.write("log.jsonl", format!("{good}\n{tail}"));
            let run = folder.judge(&[&["--format", "json", "log.jsonl"], strict].concat());
            let judged = Judged::from(&run);
            assert_eq!(
                judged.warnings,
                [format!(
                    "warning: log.jsonl: ignored {bytes} byte{} of an unfinished last line",
                    if bytes == 1 { "" } else { "s" }
                )]
            );
            assert_eq!(judged.evidence(), "prompts=1");
            assert_eq!((judged.counted("truncated_bytes"), judged.counted("bad_lines")), (bytes as u64, 0));
        }
    }
}

#[test]
fn every_file_may_have_an_unfinished_last_line() {
    let folder = Folder::new();
    let next = ok_tool(1).line();
    folder
        .write("a.jsonl", format!("{}\n{}", prompt(0).line(), &next[..64]))
        .write("b.jsonl", prompt(1).line());
    let judged = folder.judge_json(&["--strict", "a.jsonl", "b.jsonl"]);
    assert_eq!(judged.warnings, ["warning: a.jsonl: ignored 64 bytes of an unfinished last line"]);
    assert_eq!(judged.evidence(), "prompts=2");
}

#[test]
fn a_complete_last_line_without_a_line_end_counts() {
    let good = prompt(0).line();
    let bad = judge(&["--strict"], format!("{good}\n[1]"));
    assert_eq!(bad.code, 2, "complete JSON that is not OTLP is a bad line: {bad:?}");
    assert!(bad.stderr.contains("error: standard input:2: "), "{bad:?}");
}

#[test]
fn an_empty_request_is_not_a_bad_line() {
    let run = judge(
        &["--strict", "--format", "json"],
        format!("{{}}\n{}\n{{\"resourceLogs\":[]}}\n", prompt(0).line()),
    );
    let judged = Judged::from(&run);
    assert_eq!((judged.counted("lines"), judged.counted("records"), judged.counted("bad_lines")), (3, 1, 0));
}

#[track_caller]
fn nothing(bytes: &[u8], error: &str) {
    let folder = Folder::new();
    let run = folder.write("log.jsonl", bytes).judge(&["log.jsonl"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    let found = run.stderr.lines().find(|line| line.starts_with("error: ")).unwrap();
    assert!(found.starts_with(error), "{found}");
    assert!(!run.stderr.contains("panicked"), "{run:?}");
}

#[test]
fn nothing_to_score_is_an_error() {
    let homeless =
        bare().field("timeUnixNano", "1790000000000000000").with("event.name", "claude_code.user_prompt");
    let homeless = homeless.line();
    nothing(b"", "error: no records in log.jsonl");
    nothing(b"\n\r\n \n", "error: no records in log.jsonl");
    nothing(b"\xef\xbb\xbf", "error: no records in log.jsonl");
    nothing(b"{}\n", "error: no records in log.jsonl");
    nothing(br#"{"resourceMetrics":[{}]}"#, "error: no records in log.jsonl");
    nothing(homeless.as_bytes(), "error: no session found in log.jsonl (1 record without a session id)");
    nothing(
        format!("{homeless}\n{homeless}\n").as_bytes(),
        "error: no session found in log.jsonl (2 records without a session id)",
    );
}

#[test]
fn other_kinds_of_files_have_no_records() {
    nothing(b"time,level,message\n2026-09-21,info,hello\n", "error: no records in log.jsonl");
    let png =
        [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0".as_slice(), &[0xff; 64]].concat();
    nothing(&png, "error: ");
    nothing(&[0; 4096], "error: ");
    nothing(b"\0", "error: ");
    nothing(&[0x1f, 0x8b], "error: ");
    nothing(&[0x28, 0xb5, 0x2f, 0xfd], "error: ");
    nothing(&[0xff; 3], "error: ");
}

#[test]
fn a_file_that_cannot_be_opened_is_an_error() {
    let folder = Folder::new();
    folder.write("log.jsonl", document(&lines(&[prompt(0)])));
    for (path, named) in
        [("absent.jsonl", "absent.jsonl"), ("data", "data"), ("none/*.jsonl", "none/*.jsonl")]
    {
        for args in [&[path][..], &["log.jsonl", path]] {
            let run = folder.judge(args);
            assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
            assert!(run.stderr.lines().any(|line| line.starts_with(&format!("error: {named}: "))), "{run:?}");
        }
    }
}

#[test]
fn empty_standard_input_is_an_error_with_a_hint() {
    let run = judge(&[], "");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    let hint = run.stderr.lines().find(|line| line.starts_with("hint: ")).unwrap();
    for way in ["renown setup claude", "renown judge FILE", "renown serve --demo"] {
        assert!(hint.contains(way), "{hint}");
    }
}

#[test]
fn bad_usage_is_one_error_line() {
    let good = document(&lines(&[prompt(0)]));
    for args in [
        &["--nonsense"][..],
        &["--session", "s-1", "--all"],
        &["--all", "--last", "2"],
        &["--last", "many"],
        &["--last", "-1"],
        &["--from", "yesterday"],
        &["--to", "2026-13-01T00:00:00Z"],
        &["--format", "xml"],
        &["--min", "much"],
        &["--min", "NaN"],
        &["--watch", "--all", "log.jsonl"],
        &["--watch", "--last", "1", "log.jsonl"],
        &["--watch", "--min", "1", "log.jsonl"],
        &["--session-file", "absent.yaml"],
    ] {
        let run = judge(args, good.clone());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?} {run:?}");
        let errors = run.stderr.lines().filter(|line| line.starts_with("error: ")).count();
        assert_eq!(errors, 1, "{args:?} {run:?}");
    }
}

#[test]
fn a_log_with_only_an_unfinished_line_has_no_records() {
    let tail = &prompt(0).line()[..64];
    nothing(tail.as_bytes(), "error: no records in log.jsonl");
    let run = judge(&["-"], tail);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(
        run.stderr.contains("warning: standard input: ignored 64 bytes of an unfinished last line"),
        "{run:?}"
    );
    assert!(run.stderr.contains("error: no records in standard input"), "{run:?}");
}

#[test]
fn null_counts_as_an_absent_field() {
    for line in [
        r#"{"resourceLogs":null}"#,
        r#"{"resourceLogs":[{"resource":null,"scopeLogs":null}]}"#,
        r#"{"resourceLogs":[{"scopeLogs":[{"scope":null,"logRecords":null}]}]}"#,
        r#"{"resourceLogs":[],"resourceSpans":null}"#,
    ] {
        let judged = super::judged(&[line.to_owned(), prompt(0).line()]);
        assert_eq!((judged.counted("bad_lines"), judged.evidence().as_str()), (0, "prompts=1"), "{line}");
    }
    let record = prompt(0)
        .field("body", Value::Null)
        .field("eventName", Value::Null)
        .field("severityNumber", Value::Null);
    let record = record.field("observedTimeUnixNano", Value::Null).with("success", Value::Null);
    assert_eq!(super::judged(&[record.line()]).evidence(), "prompts=1");
}

#[test]
fn a_closed_pipe_causes_no_panic() {
    let folder = Folder::new();
    let mut child = folder.command(&["--all"]).spawn().unwrap();
    drop(child.stdout.take());
    let records: Vec<_> = (0..2000).map(|i| prompt(i).with("thread.id", "t")).collect();
    let text = document(&lines(&records));
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code().is_some() && !stderr.contains("panicked"), "{stderr}");
}

#[test]
fn lines_are_numbered_per_file_and_three_are_shown_in_total() {
    let folder = Folder::new();
    folder
        .write("a.jsonl", between(&[b"{1", b"{2"]))
        .write("b.jsonl", [b"{3\n{4\n", &between(&[])[..]].concat());
    let judged = folder.judge_json(&["a.jsonl", "b.jsonl"]);
    let named: Vec<_> = judged.warnings.iter().filter(|line| line.contains(".jsonl:")).collect();
    assert_eq!((judged.counted("bad_lines"), named.len()), (4, 3), "{named:?}");
    for (line, place) in named.iter().zip(["a.jsonl:2: ", "a.jsonl:3: ", "b.jsonl:1: "]) {
        assert!(line.starts_with(&format!("warning: {place}")), "{line}");
    }
}

#[test]
fn the_limit_is_a_million_sessions() {
    let line = |first: u32| {
        let records: Vec<_> = (first..first + 1000)
            .map(|i| format!(r#"{{"body":{{"stringValue":"user_prompt"}},"attributes":[{{"key":"session.id","value":{{"intValue":{i}}}}}]}}"#))
            .collect();
        format!(r#"{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{}]}}]}}]}}"#, records.join(","))
    };
    let million = (0..1000).map(|i| line(i * 1000)).collect::<Vec<_>>();
    let enough = judge(&["--format", "json"], document(&million));
    assert_eq!(Judged::from(&enough).counted("sessions"), 1_000_000);
    let run = judge(&[], document(&million) + &prompt(0).line());
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(
        run.stderr.lines().any(|line| line.starts_with("error: ") && line.contains("1000000 sessions")),
        "{run:?}"
    );
}

#[test]
fn a_log_may_end_at_any_byte() {
    let (good, next) = (prompt(0).line(), ok_tool(1).with("prompt", "é 🎭").line());
    for end in 0..=next.len() {
        let bytes = [good.as_bytes(), b"\n", &next.as_bytes()[..end]].concat();
        let judged = Judged::from(&judge(&["--strict", "--format", "json"], bytes));
        let complete = end == next.len();
        let (evidence, cut) = if complete { ("tools=1 ok=1 prompts=1", 0) } else { ("prompts=1", end) };
        assert_eq!(judged.evidence(), evidence, "{end} bytes");
        assert_eq!(judged.account["truncated_bytes"], cut, "{end} bytes");
    }
}

#[test]
fn a_brace_alone_on_the_first_line_is_one_bad_line() {
    let folder = Folder::new();
    let log = format!("{{\n{}", document(&lines(&[prompt(0), ok_tool(5)])));
    let judged = folder.write("log.jsonl", &log).judge_json(&["log.jsonl"]);
    assert_eq!(judged.evidence(), "tools=1 ok=1 prompts=1");
    assert_eq!(judged.counted("bad_lines"), 1);
    assert!(judged.warnings[0].starts_with("warning: log.jsonl:1: "), "{:?}", judged.warnings);
}

#[test]
fn input_cannot_control_the_terminal() {
    let id = "s\u{1b}]0;x\u{7}\nerror: forged";
    let record =
        bare().field("eventName", "user_prompt").with("session.id", id).with("masque.name", "m\u{9b}31m");
    let run = judge(&["--min", "10"], document(&lines(&[record])));
    assert_eq!(run.code, 1, "{run:?}");
    for text in [&run.stdout, &run.stderr] {
        assert!(!text.chars().any(|char| char.is_control() && char != '\n'), "{run:?}");
        assert!(!text.contains("\nerror: "), "{run:?}");
    }
}
