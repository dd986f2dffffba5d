//! Whatever is fed to the program: one clear line, exit code 2, nothing lost, never a panic.

use serde_json::Value;

use crate::{Run, renown};

/// Checks that the input was refused, and returns the error line.
#[track_caller]
fn refused(run: &Run) -> &str {
    assert_eq!(run.code, 2, "{run:?}");
    let first = run.stderr.lines().next().unwrap_or_default();
    assert!(first.starts_with("error: "), "{run:?}");
    assert!(!run.stderr.contains("bug") && !run.stderr.contains("panicked"), "{run:?}");
    first
}

#[test]
fn usage() {
    for args in [
        &["score"][..],
        &["score", "karma"],
        &["frobnicate"],
        &["score", "run", "--frobnicate"],
        &["completions", "tcsh-x"],
    ] {
        refused(&renown(args, ""));
    }
}

#[test]
fn files_that_cannot_be_read() {
    let missing = renown(&["score", "run", "no-such-file.json"], "");
    assert!(refused(&missing).starts_with("error: no-such-file.json: "), "{missing:?}");
    assert!(missing.stderr.contains("\nhint: "));
    let directory = renown(&["score", "run", "examples"], "");
    assert_eq!(refused(&directory), "error: examples: is a directory, expected a file with JSON");
}

#[test]
fn nothing_at_all() {
    for nothing in ["", "\n \n", "\u{feff}"] {
        let run = renown(&["score", "run"], nothing);
        assert_eq!(
            refused(&run),
            "error: standard input: empty, expected a JSON object, an array of them, or one a line"
        );
    }
}

#[test]
fn garbage_of_ten_megabytes() {
    // Bytes of a linear congruential generator, with line ends, quotes and brackets among them.
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    let garbage: Vec<u8> = (0..10 * 1024 * 1024).map(|_| next()).collect();
    let run = renown(&["score", "run"], garbage.clone());
    refused(&run);
    assert!(run.stderr.lines().count() <= 4, "{}", run.stderr);
    assert!(run.stdout.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["error"].is_string()));
    // The same as one line, and as the inside of an array.
    let one_line: Vec<u8> = garbage.iter().copied().filter(|&byte| byte != b'\n').collect();
    assert_eq!(renown(&["score", "identity"], one_line.clone()).stdout.lines().count(), 1);
    let run = renown(&["score", "session"], [b"[".as_slice(), &one_line].concat());
    refused(&run);
    assert!(
        serde_json::from_str::<Vec<Value>>(&run.stdout)
            .unwrap()
            .iter()
            .all(|answer| answer["error"].is_string())
    );
}

#[test]
fn bytes_that_are_not_utf8_spoil_one_line_only() {
    let run = renown(
        &["score", "run"],
        b"{\"outcome\":\"failed\",\"x\":\"\xff\"}\n{\"outcome\":\"failed\"}\n".as_slice(),
    );
    assert_eq!(refused(&run), "error: standard input:1:1: not UTF-8: bad byte at offset 25");
    assert!(run.stdout.lines().nth(1).unwrap().starts_with("{\"score\":30,"));
}

#[test]
fn nesting_of_ten_thousand_levels() {
    let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
    for kind in ["reputation", "performance", "run", "session", "identity"] {
        refused(&renown(&["score", kind], format!("{open}{close}")));
        refused(&renown(&["score", kind], open.clone()));
        refused(&renown(&["score", kind], "{\"a\":".repeat(10_000)));
        for field in ["evaluations", "traces", "events", "as_of", "signal_weights", "outcome", "prompts"] {
            refused(&renown(&["score", kind], format!("{{\"{field}\":{open}{close}}}")));
        }
    }
    // In a field that is not read it is no business of ours.
    let run = renown(&["score", "run"], format!("{{\"outcome\":\"failed\",\"x\":{open}{close}}}"));
    assert_eq!(run.code, 0);
}

#[test]
fn huge_numbers() {
    for number in ["1e999", "-1e999", "123456789012345678901234567890", "1e-999"] {
        let input = format!("{{\"evaluations\":[{{\"passed\":true,\"latency_ms\":{number}}}]}}");
        let run = renown(&["score", "reputation"], input);
        if number == "1e-999" {
            assert_eq!(run.code, 0, "{number} is 0");
        } else {
            assert!(refused(&run).contains("evaluations[0].latency_ms: "), "{run:?}");
        }
        let run = renown(&["score", "run"], format!("{{\"outcome\":\"failed\",\"wall_ms\":{number}}}"));
        assert_eq!(run.code, 0, "a run is never refused for odd data: {run:?}");
    }
}

#[test]
fn keys_given_twice() {
    let run = renown(&["score", "reputation"], r#"{"evaluations":[],"evaluations":[]}"#);
    assert_eq!(refused(&run), "error: standard input:1:31: duplicate field `evaluations`");
    let run = renown(
        &["score", "session"],
        r#"{"traces":[{"trace_id":"a","signals":{"confidence":1,"confidence":0}}]}"#,
    );
    assert!(refused(&run).contains("traces[0].signals"), "{run:?}");
    let run = renown(&["score", "run"], r#"{"outcome":"failed","wall_ms":1,"wall_ms":2}"#);
    assert!(run.code == 0 && run.stdout.contains("wall_ms: given more than once"), "{run:?}");
}

#[test]
fn broken_json_says_where() {
    for (input, expected) in [
        ("{\"outcome\":\"failed\",}", "error: standard input:1:21: trailing comma"),
        ("{\"outcome\":\"failed\"} x", "error: standard input:1:22: trailing characters"),
        ("{\n  \"outcome\": failed\n}", "error: standard input:2:16: expected ident"),
        ("nonsense", "error: standard input:1:2: expected ident"),
        ("\"text\"", "error: standard input:1:6: invalid type: string \"text\", expected an object"),
        ("[{\"outcome\":\"failed\"}", "error: standard input: the array is not closed, expected `]`"),
        (
            "[{\"outcome\":\"failed\"}] x",
            "error: standard input: something follows the array, expected its end",
        ),
    ] {
        assert_eq!(refused(&renown(&["score", "run"], input)), expected, "{input}");
    }
}

#[test]
fn many_bad_inputs_are_counted_not_listed() {
    let run = renown(&["score", "run"], "{}\n".repeat(1000));
    refused(&run);
    assert_eq!(run.stdout.lines().count(), 1000);
    assert_eq!(run.stderr.lines().count(), 4);
    assert_eq!(run.stderr.lines().last(), Some("error: standard input: 997 more inputs were refused"));
}

#[test]
fn an_input_above_the_limit_is_skipped_and_the_next_is_read() {
    let long = format!("{{\"outcome\":\"failed\",\"x\":\"{}\"}}\n", "x".repeat(64 * 1024 * 1024));
    let run = renown(&["score", "run"], format!("{long}{{\"outcome\":\"failed\"}}\n"));
    assert_eq!(
        refused(&run),
        "error: standard input:1:1: longer than 64 MiB, the most that one input may have"
    );
    assert!(run.stdout.lines().nth(1).unwrap().starts_with("{\"score\":30,"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::{Command, Stdio};

    let mut child = Command::new(env!("CARGO_BIN_EXE_renown"))
        .args(["score", "run", "examples/runs.jsonl"])
        .current_dir(crate::root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("standard output"), "{output:?}");
}
