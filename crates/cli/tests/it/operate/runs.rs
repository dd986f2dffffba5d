//! `renown runs`, `renown run`, `renown forget`, `renown export`: in the data directory, and through a server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use renown_store::sqlite::{Sqlite, system_clock};
use renown_testing::Scratch;
use serde_json::{Value, json};

use super::{Server, finish, run, run_with};

const RUNS: &str = r#"{"agent_id":"a","run_id":"r1","outcome":"completed","wall_ms":1000,"spec_id":"login","branch":"feat/a","pull_request":"https://example.com/1"}
{"agent_id":"b","run_id":"r2","outcome":"completed","wall_ms":1000,"spec_id":"login"}
{"agent_id":"b","run_id":"r3","outcome":"failed","wall_ms":-1,"spec_id":"login"}
"#;

#[test]
fn runs_are_submitted_shown_listed_and_compared() {
    let scratch = Scratch::new();
    let (data, file) = (scratch.at("data"), scratch.write("runs.jsonl", RUNS));
    let runs = |args: &[&str]| run(&[&["runs"], args, &["--data", &data]].concat());
    let message = runs(&["submit", &file]).good();
    assert!(message.contains("r1  70  Gold  by a in default"), "{message}");
    assert!(message.contains("r2  76  Gold  by b in default"), "{message}");
    assert!(message.contains("warning: wall_ms: -1 is negative"), "{message}");
    // Runs are scored even if the reader of standard output is gone.
    let (renown, other) = (env!("CARGO_BIN_EXE_renown"), scratch.at("other"));
    let piped = format!("{renown} runs submit {file} --data {other} | true");
    finish(Command::new("sh").args(["-c", &piped])).good();
    assert!(run(&["runs", "list", "--data", &other]).good().contains("r3"));
    let again = runs(&["submit", &file, "--format", "json"]).good();
    let scores: Vec<i64> = again
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["score"].as_i64().unwrap())
        .collect();
    assert_eq!(scores, [70, 76, 30], "the same scorecards as the first time");

    assert!(runs(&["show", "r1"]).good().contains("no evidence, counts as 50"));
    let shown = runs(&["show", "r1", "--format", "json"]).json();
    assert_eq!((&shown["branch"], &shown["score"]), (&"feat/a".into(), &70.into()));
    assert!(runs(&["show", "none"]).refused().contains("no run \"none\" in default"));
    let listed = runs(&["list", "--agent", "b", "--format", "json"]).json();
    assert_eq!(
        listed.as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap()).collect::<Vec<_>>(),
        ["r3", "r2"]
    );
    assert_eq!(runs(&["list", "--workspace", "none"]).good(), "no runs yet\n");
    let compared = runs(&["compare", "login"]).good();
    assert!(compared.contains("winner: a\n") && compared.contains("https://example.com/1"), "{compared}");
    assert!(compared.contains("RANKED compares every run with 1000.0 ms"), "{compared}");
    let compared = runs(&["compare", "login", "--format", "json"]).json();
    assert_eq!((&compared["winner"], compared["ranking"].as_array().unwrap().len()), (&"a".into(), 2));
    let ranked = |index: usize| compared["ranking"][index]["ranked_score"].clone();
    assert_eq!(
        (ranked(0), ranked(1)),
        (76.into(), 76.into()),
        "equal runs are equal, in any order of arrival"
    );
    assert_eq!(runs(&["compare", "none"]).good(), "no runs of none yet\n");

    // An invalid run is an error with its line; the others are scored.
    let bad = scratch.write(
        "bad.jsonl",
        "{\"agent_id\":\"a\",\"outcome\":\"done\"}\n{\"agent_id\":\"c\",\"outcome\":\"blocked\"}\n",
    );
    let refused = runs(&["submit", &bad]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("bad.jsonl, line 1: outcome: \"done\", expected"), "{refused:?}");
    assert!(refused.stdout.contains("Silver  by c"), "{refused:?}");
    let taken = scratch.write("taken.json", r#"{"agent_id":"a","run_id":"r1","outcome":"failed"}"#);
    assert!(runs(&["submit", &taken]).stderr.contains("run_id: \"r1\" is the id of another run"));
    assert!(
        runs(&["submit", &scratch.write("empty", "")]).refused().contains("empty, expected a run as JSON")
    );
    assert!(run(&["verify", "--data", &data]).good().contains("4 runs"));
}

#[test]
fn a_run_whose_scoring_fails_is_kept_and_scored_later() {
    let scratch = Scratch::new();
    let (data, file) = (scratch.at("data"), scratch.write("runs.jsonl", RUNS));
    let failing = [("RENOWN_TEST_SCORING_FAILS", "1")];
    let message = run_with(&["runs", "submit", &file, "--data", &data], &failing).good();
    assert!(message.contains("r1  –  Unranked  by a in default"), "{message}");
    let runs =
        |args: &[&str]| run(&[&["runs"], args, &["--data", &data, "--format", "json"]].concat()).json();
    let shown = runs(&["show", "r1"]);
    assert_eq!(
        (&shown["score"], &shown["axes"], &shown["tier"]),
        (&Value::Null, &Value::Null, &"Unranked".into())
    );
    let compared = runs(&["compare", "login"]);
    assert_eq!((&compared["winner"], &compared["ranking"][0]["score"]), (&Value::Null, &Value::Null));
    assert!(run(&["verify", "--data", &data]).good().contains("3 runs without a score, --repair adds it"));
    let repaired = run(&["verify", "--repair", "--data", &data]);
    assert!(repaired.stderr.contains("rebuilt: 3 runs, 0 sessions, 0 agents"), "{repaired:?}");
    assert!(
        repaired.good().ends_with(
            "3 runs, 0 sessions and 0 reputation events: every stored score matches the evidence\n"
        )
    );
    assert_eq!(["r1", "r2", "r3"].map(|id| runs(&["show", id])["score"].as_i64().unwrap()), [70, 76, 30]);
}

#[test]
fn runs_work_the_same_through_a_server() {
    let scratch = Scratch::new();
    let (data, file) = (scratch.at("data"), scratch.write("runs.jsonl", RUNS));
    let server = Server::start(&data);
    let environment = [("RENOWN_KEY", server.secret.as_str())];
    let asked = |args: &[&str]| run_with(&[args, &["--server", &server.url]].concat(), &environment);
    assert!(asked(&["runs", "submit", &file]).good().contains("r2  76  Gold"));
    assert!(asked(&["runs", "compare", "login"]).good().contains("winner: a\n"));
    assert!(asked(&["runs", "list", "--limit", "2"]).good().contains("r3"));
    assert!(asked(&["runs", "show", "r1"]).good().contains("by a in default"));
    assert!(asked(&["runs", "show", "no/ne"]).refused().contains("there is no run"));
    let held = run(&["run", "--agent", "a", "--data", &data, "--", "touch", &scratch.at("ran")]).refused();
    assert!(held.contains("renown serve on http") && !fs::exists(scratch.at("ran")).unwrap(), "{held}");
    assert!(asked(&["forget", "b"]).refused().contains("b would be erased permanently"));
    assert_eq!(
        asked(&["forget", "b", "--yes"]).good(),
        "b is being erased, which takes less than a minute\n"
    );
    assert!(asked(&["runs", "compare", "login"]).good().contains("winner: a\n"));
}

#[test]
fn a_command_is_timed_and_scored_and_keeps_its_exit_code() {
    let scratch = Scratch::new();
    let (data, stages) = (scratch.at("data"), scratch.at("stages.json"));
    let ran = |more: &[&str], script: &str| {
        run_with(
            &[&["run", "--agent", "me", "--data", &data], more, &["--", "/bin/sh", "-c", script]].concat(),
            &[("PATH", "/usr/bin:/bin")],
        )
    };
    let script = format!("echo out; echo '[{{\"name\":\"lint\",\"passed\":true}}]' > {stages}; exit 0");
    let first = ran(&["--spec", "s", "--run-id", "first", "--stages", &stages], &script);
    assert_eq!((first.code, first.stdout.as_str()), (0, "out\n"), "standard output belongs to the command");
    assert!(first.stderr.contains("first  ") && first.stderr.contains("by me in default"), "{first:?}");
    let shown = run(&["runs", "show", "first", "--format", "json", "--data", &data]).json();
    assert_eq!((&shown["outcome"], &shown["axes"]["error_rate"]), (&"completed".into(), &100.into()));
    assert!(shown["wall_ms"].as_u64().unwrap() < 60_000 && shown["started_at"].is_string());

    assert_eq!(ran(&["--run-id", "second"], "exit 7").code, 7);
    assert_eq!(
        run(&["runs", "show", "second", "--format", "json", "--data", &data]).json()["outcome"],
        "failed"
    );
    assert_eq!(ran(&[], "kill -9 $$").code, 137);
    let outcome =
        |id: &str| run(&["runs", "show", id, "--format", "json", "--data", &data]).json()["outcome"].clone();
    let says = |outcome: &str, code: u8| {
        format!("echo '{{\"outcome\":\"{outcome}\",\"stages\":[]}}' > {stages}; exit {code}")
    };
    for (id, script, code, expected, warning) in [
        ("blocked", says("blocked", 1), 1, "blocked", ""),
        ("boasting", says("completed", 3), 3, "failed", "reported `completed`, but it failed"),
        (
            "unknown",
            says("weird", 0),
            0,
            "completed",
            "outcome: \"weird\", expected completed, blocked or failed",
        ),
        ("stale", "exit 0".to_owned(), 0, "completed", "the command did not write it"),
        ("pipe", format!("rm {stages}; mkfifo {stages}"), 0, "completed", "not a file"),
    ] {
        let ran = ran(&["--run-id", id, "--stages", &stages], &script);
        assert_eq!((ran.code, outcome(id)), (code, expected.into()), "{ran:?}");
        assert!(ran.stderr.contains(warning), "{ran:?}");
    }
    // A signal to `renown run` reaches the command.
    let asked = "trap 'exit 9' TERM; kill -TERM $PPID; while :; do sleep 0.05; done";
    assert_eq!((ran(&["--run-id", "asked"], asked).code, outcome("asked")), (9, "failed".into()));
    // The command runs as it would alone: its new files are readable by others, and the store is not locked meanwhile.
    let alone = finish(Command::new("/bin/sh").args(["-c", "umask"])).good();
    assert_eq!(ran(&[], "umask").stdout, alone);
    let inner =
        format!("{} run --agent inner --run-id inner --data {data} -- true", env!("CARGO_BIN_EXE_renown"));
    assert_eq!((ran(&["--run-id", "outer"], &inner).code, outcome("inner")), (0, "completed".into()));
    let mine = scratch.write("package.json", "{}");
    ran(&["--stages", &mine], "exit 0");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "{}", "an existing file is not changed");
    let score = scratch.at("score.json");
    let written = ran(&["--format", "json", "-o", &score], "exit 0");
    assert_eq!(written.stderr, "");
    assert_eq!(serde_json::from_slice::<Value>(&fs::read(&score).unwrap()).unwrap()["agent_id"], "me");
    // Errors that are known in advance are reported before the command runs.
    let never = format!("touch {}", scratch.at("ran"));
    assert!(
        ran(&["--run-id", "first"], &never).refused().contains("run_id: \"first\" is the id of another run")
    );
    assert!(ran(&["--org", "unknown"], &never).refused().contains("there is no organization"));
    assert!(!fs::exists(scratch.at("ran")).unwrap());
    let missing = run(&["run", "--agent", "me", "--data", &data, "--", "/no/such/program"]);
    assert_eq!(missing.code, 127);
    assert!(missing.stderr.contains("cannot start /no/such/program"), "{missing:?}");
    assert_eq!(run(&["run", "--agent", "me", "--data", &data, "--", "/"]).code, 126, "it cannot be started");
    let quiet = run(&["--quiet", "run", "--agent", "me", "--data", &data, "--", "/bin/true"]);
    assert!(quiet.stderr.contains("by me in default"), "the scorecard is still printed: {quiet:?}");
}

#[test]
fn a_run_that_cannot_be_submitted_is_saved_and_keeps_its_exit_code() {
    let scratch = Scratch::new();
    let environment =
        [("RENOWN_KEY", "rn_pub_00000000000000000000000000000000"), ("RENOWN_DATA", &scratch.at("data"))];
    let args = ["run", "--agent", "me", "--server", "http://127.0.0.1:9", "--", "/bin/sh", "-c", "exit 3"];
    let away = run_with(&args, &environment);
    assert_eq!(away.code, 3, "{away:?}");
    let hint = away.stderr.lines().find(|line| line.starts_with("hint: the run is saved in ")).unwrap();
    let (file, command) =
        hint.trim_start_matches("hint: the run is saved in ").split_once(": submit it with `").unwrap();
    assert_eq!(command, format!("renown runs submit {file} --server http://127.0.0.1:9`"));
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(scratch.at("data")).unwrap().permissions().mode() & 0o777, 0o700);
    let kept: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!((&kept["agent_id"], &kept["outcome"]), (&"me".into(), &"failed".into()));
    assert!(
        run(&["runs", "submit", file, "--data", &scratch.at("other")]).good().contains("by me in default")
    );
}

#[test]
fn an_agent_is_erased_in_the_data_directory() {
    let scratch = Scratch::new();
    let (data, file) = (scratch.at("data"), scratch.write("runs.jsonl", RUNS));
    run(&["runs", "submit", &file, "--data", &data]).good();
    assert!(run(&["forget", "b", "--data", &data]).refused().contains("--yes erases without asking"));
    assert_eq!(run(&["forget", "b", "--yes", "--data", &data]).good(), "b is erased\n");
    assert!(run(&["forget", "b", "--yes", "--data", &data]).refused().contains("no agent \"b\" in default"));
    assert!(run(&["runs", "compare", "login", "--data", &data]).good().contains("winner: a\n"));
    run(&["verify", "--data", &data]).good();
}

#[test]
fn evidence_is_exported_row_by_row() {
    let scratch = Scratch::new();
    let (data, file) = (scratch.at("data"), scratch.write("runs.jsonl", RUNS));
    let server = Server::start(&data);
    assert_eq!(server.ingest("a", "e", 3), 202);
    let now = server.get("/v1/agents/a")["first_seen"].clone();
    let event = json!({"event_id": "00000000-0000-4000-8000-000000000001", "timestamp": now, "agent_id": "a", "category": "economic", "event_type": "paid, \"cash\"", "score_delta": 0.5});
    assert_eq!(
        server.call("POST", "/v1/reputation-events", &server.secret, &json!({"events": [event]})).0,
        202
    );
    run_with(&["runs", "submit", &file, "--server", &server.url], &[("RENOWN_KEY", &server.secret)]).good();

    let known = run(&["agents", "show", "a", "--data", &data]).good();
    for part in ["identity: 0.175000 with confidence 0.010000, from 1 event in 90 days", "r1   a         70"]
    {
        assert!(known.contains(part), "{part}: {known}");
    }

    let export = |args: &[&str]| run(&[&["export"], args, &["--data", &data]].concat());
    let rows =
        |text: String| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    let evaluations = rows(export(&["evaluations"]).good());
    assert_eq!(
        evaluations.iter().map(|row| row["evaluation_id"].as_str().unwrap()).collect::<Vec<_>>(),
        ["e-0", "e-1", "e-2"]
    );
    assert_eq!((&evaluations[0]["passed"], &evaluations[0]["gates"]), (&true.into(), &json!([])));
    let runs = rows(export(&["runs"]).good());
    assert_eq!((runs.len(), &runs[1]["score"], &runs[1]["baseline_p50_ms"]), (3, &76.into(), &1000.0.into()));
    let events = rows(export(&["events"]).good());
    assert_eq!(
        (&events[0]["score_delta"], &events[0]["event_type"]),
        (&0.5.into(), &"paid, \"cash\"".into())
    );
    assert_eq!(export(&["sessions"]).good(), "", "there are no sessions");
    assert!(export(&["sessions", "--format", "csv"]).good().starts_with("session_id,agent_id,agent,masque,"));
    let out = scratch.at("events.csv");
    assert_eq!(export(&["events", "--format", "csv", "-o", &out]).good(), "");
    let csv = fs::read_to_string(&out).unwrap();
    assert!(
        csv.starts_with("event_id,identity_id,timestamp,category,") && csv.contains("\"paid, \"\"cash\"\"\""),
        "{csv}"
    );
    assert!(export(&["evaluations", "--org", "unknown"]).refused().contains("there is no organization"));
    assert!(export(&["evaluations", "-o", &scratch.at("no/such/file")]).refused().contains("No such file"));
}

#[test]
fn the_command_of_a_run_gets_no_variable_of_renown() {
    let scratch = Scratch::new();
    let key = ["rn_sec_", "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P"].concat();
    let environment = [
        ("RENOWN_KEY", key.as_str()),
        ("RENOWN_DATA", &scratch.at("data")),
        ("RENOWN_ANYTHING", "MARKER"),
        ("PATH", "/usr/bin:/bin"),
        ("KEPT", "yes"),
    ];
    let ran = run_with(&["run", "--agent", "me", "--", "env"], &environment);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("KEPT=yes"), "{ran:?}");
    assert!(!ran.stdout.to_uppercase().contains("RENOWN_"), "{ran:?}");
    assert!(!ran.stdout.contains(&key) && !ran.stdout.contains("MARKER"), "{ran:?}");
}

/// The text of a lock file must not decide whether a server or a command holds the store.
#[test]
#[expect(clippy::disallowed_methods, reason = "gives the command time to find the lock")]
fn submit_waits_for_a_command_but_not_for_a_server() {
    let scratch = Scratch::new();
    let (data, input) =
        (scratch.at("data"), scratch.write("run.json", r#"{"agent_id":"me","outcome":"completed"}"#));
    let args = ["runs", "submit", &input, "--data", &data];
    run(&args).good();
    let command = Sqlite::open(Path::new(&data), "renown serve", system_clock()).unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| run(&args));
        thread::sleep(Duration::from_millis(300));
        drop(command);
        waiting.join().unwrap().good();
    });
    let _server = Server::start(&data);
    let started = Instant::now();
    let message = run(&args).refused();
    assert!(message.contains("is in use by process"), "{message}");
    assert!(started.elapsed() < Duration::from_secs(5), "it does not wait for a server");
}
