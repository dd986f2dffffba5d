//! `renown doctor`: does it report what is fine, what does not exist yet, and what is wrong?

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use renown_core::time::Timestamp;
use renown_store::sqlite::Sqlite;
use renown_store::{Clock, DEFAULT_ORG, Evidence};
use renown_testing::{Scratch, wait};
use rusqlite::Connection;

use super::{Server, run_with};
use crate::Run;

fn doctor(data: &str, environment: &[(&str, &str)]) -> Run {
    run_with(&["doctor", "--data", data], &[&[("RENOWN_LISTEN", "127.0.0.1:0")], environment].concat())
}

/// Returns the marks and their subjects.
#[track_caller]
fn found(run: &Run, code: i32, findings: &[(&str, &str, &str)]) {
    assert_eq!((run.code, run.stderr.as_str()), (code, ""), "{run:?}");
    for (mark, name, message) in findings {
        let line = run.stdout.lines().find(|line| line.starts_with(&format!("{mark:<4}  {name} ")));
        assert!(line.is_some_and(|line| line.contains(message)), "{mark} {name} {message}: {}", run.stdout);
    }
    assert_eq!(run.stdout.lines().any(|line| line.starts_with("BAD ")), code == 1, "{run:?}");
}

#[test]
fn a_healthy_store_and_a_missing_store() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let missing = [
        ("note", "data", "does not exist yet"),
        ("note", "store", "does not exist yet"),
        ("ok", "gates", "pii"),
    ];
    found(&doctor(&data, &[]), 0, &missing);
    assert!(!scratch.join("data").exists(), "doctor creates nothing");
    let server = Server::start(&data);
    assert_eq!(server.ingest("a", "e", 5), 202);
    let well = [
        ("ok", "version", env!("CARGO_PKG_VERSION")),
        ("ok", "config", "none, defaults"),
        ("ok", "gates", "filesystem, pii, content, secrets"),
        ("ok", "data", data.as_str()),
        ("ok", "store", "schema version 8, "),
        ("ok", "store", "verified 5 evaluations of 1 agent"),
    ];
    found(&doctor(&data, &[]), 0, &well);
    let address = server.url.trim_start_matches("http://").to_owned();
    let taken = [("note", "listen", "is in use")];
    found(&run_with(&["doctor", "--data", &data], &[("RENOWN_LISTEN", &address)]), 0, &taken);
    assert!(server.stop().success());
    found(&doctor(&data, &[]), 0, &well);
}

#[test]
fn permissions_that_admit_other_users() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    drop(Server::start(&data));
    for (mode, code, mark, message) in [
        (0o750, 0, "note", "other users can read it (mode 750)"),
        (0o777, 1, "BAD", "other users can write to it (mode 777)"),
        (0o700, 0, "ok", ""),
    ] {
        fs::set_permissions(&data, fs::Permissions::from_mode(mode)).unwrap();
        found(&doctor(&data, &[]), code, &[(mark, "data", message)]);
    }
    let file = scratch.write("file", "");
    found(&doctor(&file, &[]), 1, &[("BAD", "config", "file: not a directory")]);
}

#[test]
fn damage_and_wrong_scores_are_reported() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = Server::start(&data);
    assert_eq!(server.ingest("a", "e", 5), 202);
    assert!(server.stop().success());
    let file = format!("{data}/renown.db");
    Connection::open(&file).unwrap().execute("UPDATE agents SET score = 7", []).unwrap();
    found(&doctor(&data, &[]), 1, &[("BAD", "store", "the score is stored as 7")]);
    fs::write(&file, "not a database, and longer than the header of one: ".repeat(20)).unwrap();
    found(&doctor(&data, &[]), 1, &[("BAD", "store", "is not a database of Renown"), ("ok", "data", "")]);
}

#[test]
fn errors_in_the_configuration_are_reported() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let config = scratch.write("own.toml", "[limits]\nrequests = 1\n");
    let mistake = [("BAD", "config", "own.toml: line 2: unknown key limits.requests, ")];
    found(&doctor(&data, &[("RENOWN_CONFIG", &config)]), 1, &mistake);
    scratch.write("own.toml", "[gate.pii]\nemial = true\n");
    found(&doctor(&data, &[("RENOWN_CONFIG", &config)]), 1, &[("BAD", "gates", "gate.pii.emial")]);
    found(&doctor(&data, &[("RENOWN_STORE", "x:y")]), 1, &[("BAD", "config", "RENOWN_STORE")]);
}

/// A clock that was ahead has left evidence with a later time.
#[test]
fn evidence_later_than_the_clock_is_reported() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = Server::start(&data);
    assert_eq!(server.ingest("a", "e", 1), 202);
    assert!(server.stop().success());
    found(&doctor(&data, &[]), 0, &[("ok", "clock", "T")]);
    let ahead: Clock = Arc::new(|| Ok(Timestamp::from_millis(4_000_000_000_000).unwrap()));
    let store = Sqlite::open(Path::new(&data), "a test", ahead).unwrap();
    wait(store.add_agent(&DEFAULT_ORG.parse().unwrap(), "b".parse().unwrap(), None)).unwrap();
    drop(store);
    let late = [("note", "clock", "the store has evidence of 2096-10-02T07:06:40.000Z")];
    found(&doctor(&data, &[]), 0, &late);
}
