//! Deleted files, lost writes and erased agents, as an operator sees them.

use std::fs;
use std::thread;

use renown_testing::{Scratch, until};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::{Server, run};

#[test]
fn a_server_whose_lock_file_is_deleted_rejects_writes_with_a_reason() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = Server::start(&data);
    assert_eq!(server.ingest("a", "before", 3), 202);
    fs::remove_file(format!("{data}/renown.lock")).unwrap();
    for _ in 0..3 {
        assert_eq!(server.ingest("a", "after", 1), 503);
    }
    // `/ready` caches its result for a second.
    let (status, _, message) = loop {
        let reply = server.call("GET", "/ready", "", &Value::Null);
        if reply.0 != 200 {
            break reply;
        }
        thread::yield_now();
    };
    let error = message["error"].as_str().unwrap();
    assert_eq!((status, &message["code"]), (503, &"store_unavailable".into()));
    assert!(error.contains("renown.lock was deleted or moved while the store was open"), "{error}");
    assert_eq!(server.get("/v1/reputation/a")["evaluations"], 3, "reads go on");
    let log = server.log.lock().unwrap().clone();
    assert_eq!(log.matches("writes are refused from now on").count(), 1, "{log}");
    assert!(!log.contains("cause"), "logged once: {log}");
}

#[test]
fn lost_writes_are_reported_until_the_loss_is_accepted() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let first = Server::start(&data);
    let publishable = first.publishable.clone();
    assert!(first.stop().success());
    let server = Server::start(&data);
    // A read of an older state keeps all later writes in the write-ahead log.
    let old =
        Connection::open_with_flags(format!("{data}/renown.db"), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    old.execute_batch("BEGIN; SELECT count(*) FROM evaluations").unwrap();
    for number in 0..4 {
        let body =
            serde_json::json!({"agent_id": "a", "output": "fine", "evaluation_id": format!("e{number}")});
        assert_eq!(server.call("POST", "/v1/evaluate", &publishable, &body).0, 200);
    }
    drop(server);
    drop(old);
    fs::remove_file(format!("{data}/renown.db-wal")).unwrap();
    let verify = run(&["verify", "--data", &data]);
    assert_eq!(verify.code, 1, "{verify:?}");
    assert!(verify.stderr.contains("acknowledged writes are missing: 4 evaluations and"), "{verify:?}");
    let doctor = run(&["doctor", "--data", &data]);
    assert!(
        doctor.stdout.contains("BAD   store     the database is damaged: acknowledged writes"),
        "{doctor:?}"
    );
    let server = Server::start_after(1, &["--data", &data]);
    assert!(server.before.contains("acknowledged writes are missing: 4 evaluations"), "{}", server.before);
    assert!(server.stop().success());
    assert_eq!(run(&["verify", "--data", &data]).code, 1, "the next start does not forget it");
    let repaired = run(&["verify", "--repair", "--data", &data]);
    assert_eq!(repaired.code, 0, "{repaired:?}");
    assert!(repaired.stderr.contains("accepted as lost"), "{repaired:?}");
    run(&["verify", "--data", &data]).good();
}

#[test]
fn no_byte_of_an_erased_agent_remains_while_a_server_runs() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = Server::start(&data);
    for round in 0..12 {
        for agent in 0..6 {
            let name = format!("agent-{agent}x");
            assert_eq!(server.ingest(&name, &format!("id-{agent}x-{round}"), 30), 202);
        }
    }
    for agent in [1, 3, 4] {
        let path = format!("/v1/agents/agent-{agent}x?confirm=agent-{agent}x");
        assert_eq!(server.call("DELETE", &path, &server.secret, &Value::Null).0, 202);
    }
    let database =
        Connection::open_with_flags(format!("{data}/renown.db"), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let clean = "SELECT count(clean_at) FROM tombstones";
    until(|| database.query_row(clean, [], |row| row.get::<_, i64>(0)).unwrap() == 3);
    let backup = scratch.at("backup.db");
    assert_eq!(run(&["--quiet", "backup", &backup, "--data", &data]).code, 0);
    let files = ["renown.db", "renown.db-wal", "renown.db-shm"].map(|name| format!("{data}/{name}"));
    for file in files.iter().chain([&backup]) {
        let bytes = fs::read(file).unwrap();
        for agent in 0..6 {
            let texts = [format!("agent-{agent}x"), format!("id-{agent}x")];
            let is_there =
                texts.iter().any(|text| bytes.windows(text.len()).any(|found| found == text.as_bytes()));
            let may_be_there = ![1, 3, 4].contains(&agent);
            assert!(!is_there || may_be_there, "agent {agent} in {file}");
        }
    }
    assert!(server.stop().success());
    run(&["verify", "--data", &data]).good();
}
