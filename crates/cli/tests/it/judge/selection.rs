//! Are the right sessions, records and masque selected?

use super::{
    Folder, Record, SECOND, T0, bare, document, judge, judged, judged_with, lines, ok_tool, prompt, span,
};

fn record(session: &str, name: &str, seconds: u64) -> Record {
    bare()
        .field("timeUnixNano", (T0 + seconds * SECOND).to_string())
        .with("event.name", format!("claude_code.{name}").as_str())
        .with("session.id", session)
}

/// Returns four sessions: `b` and `c` have the same start, and `a`, the first, ends last.
fn four() -> Vec<String> {
    lines(&[
        record("c", "user_prompt", 100),
        record("a", "user_prompt", 0),
        record("d", "user_prompt", 50),
        record("b", "user_prompt", 100),
        record("a", "tool_result", 900).with("success", "true"),
    ])
}

fn ids(judged: &super::Judged) -> Vec<&str> {
    judged.document.as_array().unwrap().iter().map(|one| one["session_id"].as_str().unwrap()).collect()
}

#[test]
fn the_most_recent_session_has_the_latest_start() {
    // A tie goes to the greater id, independent of the order of the records.
    assert_eq!(judged(&four()).text("session_id"), "c");
    let mut reversed = four();
    reversed.reverse();
    assert_eq!(judged(&reversed).text("session_id"), "c");
}

#[test]
fn all_and_last_are_ordered_by_start_then_id() {
    for (args, expected) in [
        (&["--all"][..], &["a", "d", "b", "c"][..]),
        (&["--last", "4"], &["a", "d", "b", "c"]),
        (&["--last", "9"], &["a", "d", "b", "c"]),
        (&["--last", "2"], &["b", "c"]),
        (&["--last", "1"], &["c"]),
    ] {
        assert_eq!(ids(&judged_with(args, &four())), expected, "{args:?}");
    }
}

#[test]
fn a_session_by_its_id() {
    for id in ["a", "b", "c", "d"] {
        assert_eq!(judged_with(&["--session", id], &four()).text("session_id"), id);
    }
}

#[test]
fn the_error_for_an_unknown_session_lists_the_three_latest() {
    let run = judge(&["--session", "nope"], document(&four()));
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.lines().any(|line| line.starts_with("error: ") && line.contains("nope")), "{run:?}");
    let hint = run.stderr.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap();
    let words: Vec<_> = hint.split([' ', ',']).filter(|word| word.len() == 1).collect();
    assert_eq!(words, ["c", "b", "d"], "{hint}");
}

#[test]
fn below_min_the_exit_code_is_1_and_the_result_is_still_printed() {
    // Alone: 10, 2, 10, 0, 10 → 6.5. With a prompt only: 0, 0, 0, 0, 10 → 1.0.
    let good = record("good", "tool_result", 50).with("success", "true");
    let lines = lines(&[record("poor", "user_prompt", 0), good]);
    for (args, code) in [
        (&["--min", "6.5"][..], 0),
        (&["--min", "6.6"], 1),
        (&["--min", "0"], 0),
        (&["--session", "poor", "--min", "1.0"], 0),
        (&["--session", "poor", "--min", "1.1"], 1),
        (&["--all", "--min", "1"], 0),
        (&["--all", "--min", "6.5"], 1),
        (&["--last", "1", "--min", "6.5"], 0),
        (&["--last", "2", "--min", "6.5"], 1),
    ] {
        let run = judge(args, document(&lines));
        assert_eq!(run.code, code, "{args:?} {run:?}");
        assert!(run.stdout.contains("composite: "), "{args:?} {run:?}");
        assert!(!run.stderr.contains("error: "), "{args:?} {run:?}");
    }
}

#[test]
fn from_and_to_limit_the_time_range() {
    let records: Vec<_> = (0..10).map(|i| ok_tool(i * 60)).collect();
    for (args, tools, minutes, started) in [
        (&[][..], 10, 9, "2026-09-21T14:13:20.000Z"),
        (&["--from", "2026-09-21T14:15:00Z"], 8, 7, "2026-09-21T14:15:20.000Z"),
        (&["--from", "2026-09-21T14:15:20Z"], 8, 7, "2026-09-21T14:15:20.000Z"),
        (&["--from", "2026-09-21T14:15:20.001Z"], 7, 6, "2026-09-21T14:16:20.000Z"),
        (&["--from", "2026-09-21T16:15:00+02:00"], 8, 7, "2026-09-21T14:15:20.000Z"),
        (&["--to", "2026-09-21T14:15:30Z"], 3, 2, "2026-09-21T14:13:20.000Z"),
        (
            &["--from", "2026-09-21T14:15:00Z", "--to", "2026-09-21T14:17:00Z"],
            2,
            1,
            "2026-09-21T14:15:20.000Z",
        ),
    ] {
        let judged = judged_with(args, &lines(&records));
        assert_eq!(judged.document["stats"]["total_tools"], tools, "{args:?}");
        assert_eq!(judged.document["duration_min"], minutes, "{args:?}");
        assert_eq!(judged.text("started_at"), started, "{args:?}");
    }
}

#[test]
fn records_without_a_time_are_outside_every_time_range() {
    let timeless = bare().with("event.name", "claude_code.user_prompt").with("session.id", "s-1");
    let records = lines(&[ok_tool(0), timeless, ok_tool(60)]);
    assert_eq!(judged(&records).evidence(), "tools=2 ok=2 prompts=1");
    assert_eq!(judged_with(&["--from", "2026-09-21T00:00:00Z"], &records).evidence(), "tools=2 ok=2");
    assert_eq!(judged_with(&["--to", "2026-09-22T00:00:00Z"], &records).evidence(), "tools=2 ok=2");
}

#[test]
fn an_empty_time_range_has_nothing_to_score() {
    let run = judge(&["--from", "2027-01-01T00:00:00Z"], document(&lines(&[ok_tool(0)])));
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.lines().any(|line| line.starts_with("error: ")), "{run:?}");
}

/// The masque of a record, of a session file and of the command line.
#[test]
fn the_masque_of_the_flag_precedes_the_file_and_the_record() {
    let tagged = lines(&[prompt(0).with("masque.name", "Record")]);
    let plain = lines(&[prompt(0)]);
    for (file, args, lines, masque) in [
        ("active: {name: File}", &["--masque", "Flag"][..], &tagged, "Flag"),
        ("active: {name: File}", &[], &tagged, "File"),
        ("active:\n  name: 'File'\n", &[], &plain, "File"),
        ("active: {name: null}\nprevious: {name: Old}", &[], &tagged, "Record"),
        ("active: {name: null}\nprevious: {name: Old}", &[], &plain, "unknown"),
        ("active: {name: ~}", &[], &tagged, "Record"),
        ("active: {}\nprevious: {name: Old}", &[], &tagged, "Record"),
        ("active:\n", &[], &plain, "unknown"),
        ("previous: {name: Old}", &[], &plain, "unknown"),
        ("", &[], &plain, "unknown"),
    ] {
        let folder = Folder::new();
        folder.write("session.yaml", file).write("log.jsonl", document(lines));
        let judged = folder.judge_json(&[&["--session-file", "session.yaml", "log.jsonl"], args].concat());
        assert_eq!(judged.text("masque"), masque, "{file:?} {args:?}");
    }
}

#[test]
fn donned_at_is_the_default_of_from() {
    let records: Vec<_> = (0..10).map(|i| ok_tool(i * 60)).collect();
    let folder = Folder::new();
    folder.write("log.jsonl", document(&lines(&records)));
    for (file, args, tools) in [
        ("active: {name: A, donned_at: 2026-09-21T14:15:00Z}", &[][..], 8),
        ("active: {name: A, donned_at: '2026-09-21T16:15:00+02:00'}", &[], 8),
        ("active: {name: A, donned_at: 2026-09-21T14:15:00Z}", &["--from", "2026-09-21T14:20:00Z"], 3),
        ("active: {name: A, donned_at: 2026-09-21T14:15:00Z}", &["--to", "2026-09-21T14:17:00Z"], 2),
        ("active: {name: A, donned_at: null}", &[], 10),
        ("active: {name: A}", &[], 10),
    ] {
        folder.write("session.yaml", file);
        let judged = folder.judge_json(&[&["--session-file", "session.yaml", "log.jsonl"], args].concat());
        assert_eq!(judged.document["stats"]["total_tools"], tools, "{file:?} {args:?}");
    }
}

#[test]
fn an_invalid_session_file_is_an_error_with_its_name() {
    let folder = Folder::new();
    folder.write("log.jsonl", document(&lines(&[prompt(0)])));
    for file in ["active: {donned_at: yesterday}", "active: ["] {
        let run = folder.write("session.yaml", file).judge(&["--session-file", "session.yaml", "log.jsonl"]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{file:?} {run:?}");
        assert!(run.stderr.starts_with("error: session.yaml"), "{file:?} {run:?}");
    }
}

#[test]
fn several_files_and_globs_are_one_stream() {
    let folder = Folder::new();
    folder.write("log-1.jsonl", document(&lines(&[prompt(0)])));
    folder.write("log-2.jsonl", document(&lines(&[ok_tool(60)])));
    folder.write("other.txt", document(&lines(&[ok_tool(120)])));
    for (args, evidence, warnings) in [
        (&["log-2.jsonl", "log-1.jsonl"][..], "tools=1 ok=1 prompts=1", 0),
        (&["log-*.jsonl"], "tools=1 ok=1 prompts=1", 0),
        (&["log-?.jsonl", "other.txt"], "tools=2 ok=2 prompts=1", 0),
        (&["log-[1].jsonl"], "prompts=1", 0),
        (&["log-1.jsonl", "log-1.jsonl"], "prompts=1", 1),
        (&["log-1.jsonl", "./log-1.jsonl"], "prompts=1", 1),
        (&["log-1.jsonl", "log-*.jsonl"], "tools=1 ok=1 prompts=1", 1),
    ] {
        let judged = folder.judge_json(args);
        assert_eq!(judged.evidence(), evidence, "{args:?}");
        assert_eq!(judged.warnings.len(), warnings, "{args:?} {:?}", judged.warnings);
        assert!(
            judged.warnings.iter().all(|line| line.starts_with("warning: ") && line.contains("log-1.jsonl"))
        );
    }
}

#[test]
fn an_existing_file_name_with_brackets_is_not_a_glob() {
    let folder = Folder::new();
    folder.write("log[1].jsonl", document(&lines(&[prompt(0)])));
    assert_eq!(folder.judge_json(&["log[1].jsonl"]).evidence(), "prompts=1");
}

#[test]
fn standard_input_is_the_default_and_the_meaning_of_a_dash() {
    let text = document(&lines(&[prompt(0)]));
    let default = judge(&[], text.clone());
    assert_eq!(judge(&["-"], text.clone()), default);
    let folder = Folder::new();
    folder.write("log.jsonl", document(&lines(&[ok_tool(1)])));
    let both = super::run(folder.command(&["--format", "json", "log.jsonl", "-"]), text.into_bytes());
    assert_eq!(super::Judged::from(&both).evidence(), "tools=1 ok=1 prompts=1");
}

#[test]
fn starts_are_compared_to_the_nanosecond() {
    let at = |session: &str, nanos: u64| {
        bare()
            .field("timeUnixNano", (T0 + nanos).to_string())
            .with("event.name", "claude_code.user_prompt")
            .with("session.id", session)
    };
    let lines = lines(&[at("a", 2), at("b", 1)]);
    assert_eq!(judged(&lines).text("session_id"), "a");
    assert_eq!(ids(&judged_with(&["--all"], &lines)), ["b", "a"]);
}

#[test]
fn a_span_beyond_the_time_range_ends_with_it() {
    let long = span("execute_tool build", 1, 1)
        .field("startTimeUnixNano", T0.to_string())
        .field("endTimeUnixNano", (T0 + 3600 * SECOND).to_string());
    let judged = judged_with(&["--to", "2026-09-21T14:15:20Z"], &lines(&[long]));
    assert_eq!(judged.text("ended_at"), "2026-09-21T14:15:20.000Z");
    assert_eq!(judged.document["duration_min"], 2);
}
