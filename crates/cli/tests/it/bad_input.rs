//! Does every invalid input give one clear line and exit code 2, without data loss or a panic?

use serde_json::Value;

use crate::{Run, renown};

/// Checks that the input was rejected, and returns the error line.
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
    assert_eq!(renown(&[], "").stderr.lines().last(), Some("error: no command was given"));
    let run = renown(&["score"], "");
    assert_eq!(refused(&run), "error: the following required arguments were not provided: <KIND>");
    assert_eq!(run.stderr.lines().nth(1), Some("hint: usage: renown score <KIND> [FILE]"));
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
fn unreadable_files() {
    let missing = renown(&["score", "run", "no-such-file.json"], "");
    assert!(refused(&missing).starts_with("error: no-such-file.json: "), "{missing:?}");
    assert!(missing.stderr.contains("\nhint: "));
    let directory = renown(&["score", "run", "examples"], "");
    assert_eq!(refused(&directory), "error: examples: is a directory, expected a file with JSON");
}

#[test]
fn empty_input() {
    for nothing in ["", "\n \n", "\u{feff}"] {
        let run = renown(&["score", "run"], nothing);
        assert_eq!(
            refused(&run),
            "error: standard input: empty, expected a JSON object, an array of objects, or one object per line"
        );
    }
}

#[test]
fn ten_megabytes_of_garbage() {
    // Bytes of a linear congruential generator, including line ends, quotes and brackets.
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    let garbage: Vec<u8> = (0..10 * 1024 * 1024).map(|_| next()).collect();
    let run = renown(&["score", "run"], garbage.clone());
    refused(&run);
    assert!(run.stderr.lines().count() <= 4, "{}", run.stderr);
    let answers = serde_json::Deserializer::from_str(&run.stdout).into_iter::<Value>();
    assert!(answers.map(Result::unwrap).all(|answer| answer["error"].is_string()));
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
    assert_eq!(refused(&run), "error: standard input:1:26: not UTF-8, expected JSON text");
    assert!(run.stdout.lines().nth(1).unwrap().starts_with("{\"score\":30,"));
}

#[test]
fn ten_thousand_levels_of_nesting() {
    let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
    for kind in ["reputation", "performance", "run", "session", "identity"] {
        refused(&renown(&["score", kind], format!("{open}{close}")));
        refused(&renown(&["score", kind], open.clone()));
        refused(&renown(&["score", kind], "{\"a\":".repeat(10_000)));
        for field in ["evaluations", "traces", "events", "as_of", "signal_weights", "outcome", "prompts"] {
            refused(&renown(&["score", kind], format!("{{\"{field}\":{open}{close}}}")));
        }
    }
    // In an ignored field, it does not matter.
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
        assert_eq!(run.code, 0, "a run is never rejected for invalid optional data: {run:?}");
    }
}

#[test]
fn duplicate_keys() {
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
fn errors_in_json_have_a_position() {
    for (input, expected) in [
        ("{\"outcome\":\"failed\",}", "error: standard input:1:21: not JSON: trailing comma"),
        ("{\"outcome\":\"failed\"} x", "error: standard input:1:22: not JSON: trailing characters"),
        ("{\n  \"outcome\": failed\n}", "error: standard input:2:16: not JSON: expected ident"),
        ("nonsense", "error: standard input:1:2: not JSON: expected ident"),
        ("\"text\"", "error: standard input:1:6: invalid type: string \"text\", expected an object"),
        ("[{\"outcome\":\"failed\"}", "error: standard input: the array is not closed, expected `]`"),
        (
            "[{\"outcome\":\"failed\"}] x",
            "error: standard input: text after the array, expected the end of the input",
        ),
    ] {
        assert_eq!(refused(&renown(&["score", "run"], input)), expected, "{input}");
    }
}

#[test]
fn many_invalid_inputs_are_counted_and_not_listed() {
    for (count, last) in [
        (3, "error: standard input:3:2: outcome: missing, expected completed, blocked or failed"),
        (4, "error: standard input: 1 more invalid input"),
        (1000, "error: standard input: 997 more invalid inputs"),
    ] {
        let run = renown(&["score", "run"], "{}\n".repeat(count));
        refused(&run);
        assert_eq!((run.stdout.lines().count(), run.stderr.lines().count()), (count, count.min(4)));
        assert_eq!(run.stderr.lines().last(), Some(last));
    }
}

#[test]
fn input_cannot_forge_an_error_or_control_the_terminal() {
    let run =
        renown(&["score", "session"], r#"{"traces":[],"signal_weights":{"\u001b[31mX\nerror: fake":1}}"#);
    assert!(refused(&run).contains(r"\u{1b}[31mX\nerror: fake"), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1);
    let run = renown(&["score", "run", "no\u{1b}[31m\nfile"], "");
    assert!(refused(&run).starts_with(r"error: no\u{1b}[31m\nfile: "), "{run:?}");
    let long = format!(r#"{{"traces":[],"signal_weights":{{"{}":1}}}}"#, "k".repeat(1_000_000));
    let run = renown(&["score", "session"], long);
    assert!(refused(&run).len() < 1000 && run.stdout.len() < 1000, "{}", run.stderr.len());
}

#[test]
fn an_input_above_the_limit_is_skipped_and_the_next_is_read() {
    let long = format!("{{\"outcome\":\"failed\",\"x\":\"{}\"}}\n", "x".repeat(64 * 1024 * 1024));
    let run = renown(&["score", "run"], format!("{long}{{\"outcome\":\"failed\"}}\n"));
    assert_eq!(refused(&run), "error: standard input:1:1: longer than 64 MiB, the limit of one input");
    assert!(run.stdout.lines().nth(1).unwrap().starts_with("{\"score\":30,"));
}

/// Runs a shell command in which `renown` is the program under test. Returns its exit code and errors.
#[cfg(target_os = "linux")]
fn shell(line: &str) -> (i32, String) {
    let line = line.replace("renown", env!("CARGO_BIN_EXE_renown"));
    let output =
        std::process::Command::new("sh").args(["-c", &line]).current_dir(crate::root()).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn a_closed_pipe_is_no_error_but_invalid_input_still_is() {
    // More than fits into a pipe, so that the writer must notice.
    let good = "yes '{\"outcome\":\"failed\"}' | head -n 20000";
    let code = |inputs: &str| shell(&format!("({inputs}; echo) | (renown score run; echo $? >&2) | true")).1;
    assert_eq!(code(good), "0\n");
    assert!(code(&format!("echo '{{}}'; {good}")).ends_with("\n2\n"));
    for args in ["--help", "completions zsh", "completions fish"] {
        assert_eq!(shell(&format!("(renown {args}; echo $? >&2) | true")), (0, "0\n".to_owned()), "{args}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    for args in ["score run examples/run.json", "completions bash", "--help", "--version"] {
        let (code, stderr) = shell(&format!("renown {args} > /dev/full"));
        assert_eq!((code, stderr.lines().count()), (2, 1), "{args}: {stderr}");
        assert!(stderr.starts_with("error: standard output: "), "{args}: {stderr}");
    }
}
