//! Are sessions that a server has received judged like those of a log?

use std::fs::File;
use std::process::Stdio;

use super::watch::Watch;
use super::{Folder, Record, Run, SECOND, T0, bare, document, judge, lines, ok_tool, prompt, run, span};
use crate::telemetry::Received;

fn record(session: &str, name: &str, seconds: u64) -> Record {
    bare()
        .field("timeUnixNano", (T0 + seconds * SECOND).to_string())
        .with("event.name", format!("claude_code.{name}").as_str())
        .with("session.id", session)
}

/// Returns sessions with the same start, one that ends last, one without a time, and one of spans.
fn several() -> Vec<String> {
    let timeless = bare().with("event.name", "claude_code.user_prompt").with("session.id", "zz");
    lines(&[
        record("c", "user_prompt", 100),
        record("a", "user_prompt", 0),
        record("d", "user_prompt", 50).with("agent.name", "reviewer"),
        timeless,
        record("b", "user_prompt", 100),
        record("a", "tool_result", 900).with("tool_name", "Edit").with("success", "true"),
        span("execute_tool x", 7, 20).with("gen_ai.tool.name", "x"),
    ])
}

#[test]
fn every_selection_gives_the_same_result_as_for_a_log() {
    let folder = Folder::new();
    folder.write("log.jsonl", document(&several()));
    folder.write("session.yaml", "active:\n  name: worn\n  donned_at: 2026-09-21T14:20:00Z\n");
    // The store is read while another process writes.
    let store = Received::open(&folder.path("data"));
    store.receive(&several());
    let (from, to) = ("2026-09-21T14:14:00Z", "2026-09-21T14:14:30Z");
    for args in [
        &[][..],
        &["--all"],
        &["--last", "1"],
        &["--last", "3"],
        &["--last", "99"],
        &["--session", "a"],
        &["--session", "zz"],
        &["--session", "s-1"],
        &["--all", "--from", from],
        &["--all", "--to", to],
        &["--all", "--from", from, "--to", to],
        &["--from", from],
        &["--to", to],
        &["--session", "a", "--from", from],
        &["--session-file", "session.yaml"],
        &["--masque", "other"],
        &["--all", "--min", "5"],
        &["--min", "1"],
        &["--all", "--format", "table"],
        &["--format", "yaml"],
        &["--all", "--strict"],
    ] {
        let format: &[&str] = if args.contains(&"--format") { &[] } else { &["--format", "json"] };
        let of_log = folder.judge(&[format, args, &["log.jsonl"]].concat());
        let of_store = folder.judge(&[format, args, &["--data", "data"]].concat());
        assert_eq!(
            (of_store.code, &of_store.stdout),
            (of_log.code, &of_log.stdout),
            "{args:?}: {of_store:?}"
        );
        assert!(!of_store.stdout.is_empty());
    }
}

#[test]
fn more_sessions_than_one_read_returns() {
    let folder = Folder::new();
    let prompts: Vec<Record> =
        (0..450).map(|number| record(&format!("n{number:03}"), "user_prompt", number / 2)).collect();
    let lines = [super::batch(&[], &serde_json::json!({}), &prompts)];
    folder.write("log.jsonl", document(&lines));
    Received::open(&folder.path("data")).receive(&lines);
    for args in [
        &["--all"][..],
        &["--last", "1"],
        &["--last", "251"],
        &["--last", "3", "--to", "2026-09-21T14:14:00Z"],
    ] {
        let args = [&["--format", "json"], args].concat();
        let of_log = folder.judge(&[args.as_slice(), &["log.jsonl"]].concat());
        let of_store = folder.judge(&[args.as_slice(), &["--store", "sqlite:data/renown.db"]].concat());
        assert_eq!(of_store.stdout, of_log.stdout, "{args:?}");
    }
}

/// Runs `renown judge` with a terminal as standard input only.
fn on_terminal(folder: &Folder, args: &[&str]) -> Run {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let output = folder.command(args).stdin(theirs).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn on_null(folder: &Folder, args: &[&str]) -> Run {
    let output = folder.command(args).stdin(Stdio::null()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn without_logs_the_store_is_judged_unless_something_is_piped_in() {
    let folder = Folder::new();
    Received::open(&folder.path("data")).receive(&lines(&[prompt(0), ok_tool(60)]));
    let summary = "session s-1 of unknown, last seen ";
    for run in [on_terminal(&folder, &[]), on_null(&folder, &[]), folder.judge(&["--data", "data"])] {
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("composite: 6.5\n") && run.stderr.starts_with(summary), "{run:?}");
        assert!(run.stderr.ends_with("no evidence of cost, tokens: counted as 0\n"), "{run:?}");
    }
    let piped = document(&lines(&[prompt(0), prompt(1)]));
    let judged = run(folder.command(&[]), piped.clone().into_bytes());
    assert!(judged.stdout.contains("prompts: 2\n"), "{judged:?}");
    let judged = run(folder.command(&["--data", "data"]), piped.into_bytes());
    assert!(judged.stdout.contains("prompts: 1\n"), "--data selects the store: {judged:?}");
    let empty = folder.judge(&[]);
    assert!(
        empty.code == 2 && empty.stderr.starts_with("error: nothing to judge: "),
        "a pipe is a log: {empty:?}"
    );
    let quiet = on_null(&folder, &["--quiet"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
}

#[test]
fn nothing_to_judge_is_an_error_with_a_hint() {
    let folder = Folder::new();
    let refused = |run: Run, error: &str, hint: &str| {
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        let (first, second) = run.stderr.split_once('\n').unwrap();
        assert!(first.starts_with("error: ") && first.contains(error), "{run:?}");
        assert!(second.contains(hint) && second.is_empty() == hint.is_empty(), "{run:?}");
    };
    let setup = "hint: `renown setup claude` sends telemetry here, `renown judge FILE` reads a log, `renown serve --demo` shows \
                 generated data\n";
    refused(on_terminal(&folder, &[]), "nothing to judge", setup);
    refused(folder.judge(&["--data", "data"]), "there is no database", setup);
    let store = Received::open(&folder.path("data"));
    refused(on_null(&folder, &[]), "nothing to judge", setup);
    refused(on_null(&folder, &["--session", "x"]), "nothing to judge", setup);
    // This session has only signals.
    store.signal("only-signals", "reviewer", 1.0);
    refused(on_null(&folder, &["--all"]), "nothing to judge", setup);

    store.receive(&several());
    refused(
        on_null(&folder, &["--session", "nope"]),
        "no session nope in ",
        "hint: the latest are c, b, d\n",
    );
    refused(on_null(&folder, &["--session", &"x".repeat(300)]), "no session xxx", "the latest are c");
    refused(
        on_null(&folder, &["--from", "2027-01-01T00:00:00Z"]),
        "from 2027-01-01T00:00:00.000Z on (of 7 sessions)",
        "",
    );
    refused(
        on_null(&folder, &["--org", "unknown"]),
        "there is no organization \"unknown\"",
        "renown keys list",
    );
    refused(
        on_null(&folder, &["--org", "default", "log.jsonl"]),
        "'--org <NAME>' cannot be used with '[LOGS]",
        "usage",
    );
    refused(
        on_null(&folder, &["--submit", "http://127.0.0.1:1"]),
        "--submit sends a log, found no log",
        "name a log file",
    );
}

#[test]
fn watch_shows_a_session_as_it_is_received() {
    let folder = Folder::new();
    let store = Received::open(&folder.path("data"));
    let mut watch = Watch::start_with(&folder, &["--watch", "--data", "data"]);
    store.receive(&lines(&[prompt(0)]));
    watch.until("prompts: 1");
    store.receive(&lines(&[prompt(1)]));
    watch.until("prompts: 2");
    // A session with a later start replaces it.
    store.receive(&lines(&[record("later", "tool_result", 9)
        .with("tool_name", "Edit")
        .with("success", "true")]));
    watch.until("tools_ok: 1");
    assert!(!watch.stop().contains("warning: "));
}

#[test]
fn a_named_log_is_judged_even_if_a_store_exists() {
    let run = judge(&[], document(&lines(&[prompt(0)])));
    assert!(run.stderr.starts_with("read 1 line, 1 record"), "{run:?}");
}
