//! `renown verify`, `backup` and `restore`.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use renown_testing::{Scratch, until};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::{Server, run};

fn with_evidence(data: &str) -> Server {
    let server = Server::start(data);
    assert_eq!(server.ingest("a", "a", 30), 202);
    assert_eq!(server.ingest("b", "b", 7), 202);
    server
}

fn change(file: &str, sql: &str) {
    assert!(Connection::open(file).unwrap().execute(sql, []).unwrap() > 0, "{sql}");
}

#[test]
fn verify_finds_every_manipulated_score() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = with_evidence(&data);
    let verify = || run(&["verify", "--data", &data]);
    let good = "verified 37 evaluations of 2 agents, 0 runs, 0 sessions and 0 reputation events: every stored score matches the evidence\n";
    assert_eq!(verify().good(), good, "while the server runs");
    assert_eq!(server.stop().code(), Some(0));
    assert_eq!(verify().good(), good);
    let file = format!("{data}/renown.db");
    let (sound, table) = (fs::read(&file).unwrap(), "UPDATE evaluations SET");
    for (sql, message) in [
        (
            format!("{table} score = score + 1 WHERE evaluation_id = 'a-20'"),
            "agent \"a\" of default, evaluation a-20: the score after it",
        ),
        // Changed evidence changes all later scores.
        (
            format!("{table} passed = 0 WHERE evaluation_id = 'b-2'"),
            "agent \"b\" of default, evaluation b-2: the score after it",
        ),
        (
            "UPDATE agents SET score = 999 WHERE name = 'b'".to_owned(),
            "agent \"b\" of default: the score is stored as 999",
        ),
        (
            "DELETE FROM evaluations WHERE evaluation_id = 'a-29'".to_owned(),
            "agent \"a\" of default: the last evaluation",
        ),
    ] {
        fs::write(&file, &sound).unwrap();
        change(&file, &sql);
        let run = verify();
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{sql}: {run:?}");
        assert!(run.stderr.starts_with(&format!("error: {message}")), "{sql}: {}", run.stderr);
    }
}

#[test]
fn a_backup_under_load_is_sound_and_has_all_acknowledged_writes() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = Server::start(&data);
    let (acknowledged, stop) = (Mutex::new(HashSet::new()), AtomicBool::new(false));
    let (copy, before) = thread::scope(|scope| {
        for writer in 0..3 {
            let (server, acknowledged, stop) = (&server, &acknowledged, &stop);
            scope.spawn(move || {
                for number in 0.. {
                    let id = format!("w{writer}-{number}");
                    let body = json!({"agent_id": format!("agent-{}", number % 7), "output": "fine", "evaluation_id": id});
                    assert_eq!(server.call("POST", "/v1/evaluate", &server.publishable, &body).0, 200);
                    acknowledged.lock().unwrap().insert(id);
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        until(|| acknowledged.lock().unwrap().len() >= 60);
        let before = acknowledged.lock().unwrap().clone();
        let copy = scratch.at("copy.db");
        let run = run(&["backup", &copy, "--data", &data]);
        stop.store(true, Ordering::Relaxed);
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
        assert!(run.stderr.starts_with(&format!("{copy}: verified ")), "{}", run.stderr);
        (copy, before)
    });
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    let store = format!("sqlite:{copy}");
    assert!(run(&["verify", "--store", &store]).good().starts_with("verified "));
    let names: Vec<_> =
        fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "a backup is one file, even after it was read: {names:?}");
    let copy = Connection::open(&copy).unwrap();
    let mut select = copy.prepare("SELECT evaluation_id FROM evaluations").unwrap();
    let held: HashSet<String> = select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(before.is_subset(&held));
    drop(server);
    let verified = run(&["verify", "--data", &data]).good();
    let all = acknowledged.into_inner().unwrap().len();
    assert!(verified.starts_with(&format!("verified {all} evaluations")), "{all}: {verified}");
}

#[test]
fn a_backup_never_overwrites_a_file() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    drop(with_evidence(&data));
    let there = scratch.write("there.db", "mine");
    let message = run(&["backup", &there, "--data", &data]).refused();
    assert!(
        message.starts_with(&format!("error: {there} exists already and is never overwritten")),
        "{message}"
    );
    assert_eq!(fs::read_to_string(&there).unwrap(), "mine");
    let message = run(&["backup", &scratch.at("no/such/copy.db"), "--data", &data]).refused();
    assert!(message.contains("no/such: no such directory"), "{message}");
    let message = run(&["backup", &scratch.at("copy.db"), "--data", &scratch.at("nothing")]).refused();
    assert!(message.contains("there is no database at"), "{message}");
    assert!(!scratch.join("copy.db").exists());
    assert_eq!(run(&["--quiet", "backup", &scratch.at("copy.db"), "--data", &data]).stderr, "");
}

#[test]
fn a_backup_with_a_wrong_score_is_kept_and_reported() {
    let scratch = Scratch::new();
    let (data, copy) = (scratch.at("data"), scratch.at("copy.db"));
    assert!(with_evidence(&data).stop().success());
    change(&format!("{data}/renown.db"), "UPDATE agents SET score = 1 WHERE name = 'a'");
    let run = run(&["backup", &copy, "--data", &data]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("agent \"a\" of default: the score is stored as 1"), "{run:?}");
    assert!(run.stderr.contains("hint: the copy is kept"), "{run:?}");
    assert!(scratch.join("copy.db").exists());
}

#[test]
fn a_restored_store_serves_the_same_scores() {
    let scratch = Scratch::new();
    let (data, copy, fresh) = (scratch.at("data"), scratch.at("copy.db"), scratch.at("fresh/data"));
    let server = with_evidence(&data);
    run(&["backup", &copy, "--data", &data]).good();
    let message = run(&["restore", &copy, "--data", &data]).refused();
    assert!(message.contains("renown.db exists already and is never overwritten"), "{message}");
    let run_restore = run(&["restore", &copy, "--data", &fresh]);
    assert!(
        run_restore.stderr.starts_with(&format!("restored to {fresh}/renown.db: verified 37")),
        "{run_restore:?}"
    );
    run_restore.good();
    assert_eq!(fs::metadata(&fresh).unwrap().permissions().mode() & 0o777, 0o700);
    let asked = ["/v1/agents", "/v1/reputation/a", "/v1/reputation/b/explain", "/v1/events?limit=100"];
    let answers = |server: &Server| asked.map(|path| server.get(path));
    let before = answers(&server);
    let mut restored = Server::start(&fresh);
    assert!(!restored.greeting.contains("rn_"), "the backup has the keys, so there are no new ones");
    restored.publishable.clone_from(&server.publishable);
    assert_eq!(answers(&restored), before);
    assert_eq!(restored.ingest("a", "new", 1), 202, "and it goes on");
    assert_eq!(restored.ingest("a", "a", 1), 202, "known evaluations are deduplicated");
    assert_eq!(restored.get("/v1/reputation/a")["evaluations"], 31);
}

#[test]
fn an_invalid_backup_is_rejected_and_nothing_is_created() {
    let scratch = Scratch::new();
    let (data, copy) = (scratch.at("data"), scratch.at("copy.db"));
    drop(with_evidence(&data));
    run(&["backup", &copy, "--data", &data]).good();
    let text = scratch.write("text.db", "this is a text and no database ".repeat(200));
    let other = scratch.at("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    let cut = scratch.at("cut.db");
    let bytes = fs::read(&copy).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let wrong = scratch.at("wrong.db");
    fs::write(&wrong, &bytes).unwrap();
    change(&wrong, "UPDATE agents SET score = 1 WHERE name = 'a'");
    let empty = scratch.write("empty.db", "");
    for (file, message) in [
        (text.as_str(), "is not a database of Renown"),
        (&other, "is not a database of Renown"),
        (&cut, "SQLite error: database disk image is malformed"),
        (&wrong, "the score is stored as 1"),
        (&empty, "there is no database"),
        (&scratch.at("missing.db"), "there is no database at"),
        (&data, "data"),
    ] {
        let found = run(&["restore", file, "--data", &scratch.at("fresh")]).refused();
        assert!(found.contains(message), "{file}: {found}");
        assert!(!scratch.join("fresh").exists(), "{file}");
    }
    // SQLite would replay the leftover log of another database into this one.
    fs::create_dir(scratch.at("fresh")).unwrap();
    scratch.write("fresh/renown.db-wal", "");
    let found = run(&["restore", &copy, "--data", &scratch.at("fresh")]).refused();
    assert!(found.contains("renown.db-wal exists already"), "{found}");
}

#[test]
fn a_retry_after_a_restore_is_still_idempotent() {
    let scratch = Scratch::new();
    let (data, copy, fresh) = (scratch.at("data"), scratch.at("copy.db"), scratch.at("fresh"));
    let server = Server::start(&data);
    let body = json!({"agent_id": "a", "output": "fine", "evaluation_id": "once"});
    let first = server.call("POST", "/v1/evaluate", &server.publishable, &body).2;
    run(&["backup", &copy, "--data", &data]).good();
    run(&["restore", &copy, "--data", &fresh]).good();
    let restored = Server::start(&fresh);
    let again = restored.call("POST", "/v1/evaluate", &server.publishable, &body).2;
    let without = |mut reply: Value| reply["gates"].take();
    assert_eq!(again["evaluation_id"], first["evaluation_id"]);
    assert_eq!(again["reputation"], first["reputation"]);
    assert_eq!(without(again).as_array().unwrap().len(), without(first).as_array().unwrap().len());
}
