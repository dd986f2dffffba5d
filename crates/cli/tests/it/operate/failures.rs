//! Failures of the disk or of the database file, and a database of another release.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use renown_testing::{PATIENCE, Scratch, until};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::{Server, run};

/// The variable with the directory of a test that runs again in its own process.
const DIR: &str = "RENOWN_OPERATE_TEST_DIR";

/// Returns the directory of a disk of 8 MiB, inside the process that has mounted it. Outside, runs the test again in such a
/// process. Its mounts end with it.
fn on_small_disk(test: &str) -> Option<PathBuf> {
    if let Some(dir) = std::env::var_os(DIR) {
        return Some(dir.into());
    }
    let scratch = Scratch::new();
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c"]);
    command.arg(format!("mount -t tmpfs -o size=8m renown \"${DIR}\" && exec \"$0\" \"$@\""));
    command.arg(std::env::current_exe().unwrap()).env(DIR, scratch.path());
    let test = format!("operate::failures::{test}");
    let done = command.args([&test, "--exact", "--nocapture", "--test-threads=1"]).output().unwrap();
    let message = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && message.contains("1 passed"), "{message}");
    None
}

/// Uses all the remaining space.
fn fill(path: &Path) {
    let mut ballast = OpenOptions::new().create(true).append(true).open(path).unwrap();
    for size in [4096, 1] {
        while ballast.write_all(&vec![0; size]).is_ok() {}
    }
}

#[test]
fn a_full_disk_rejects_writes_until_there_is_space_and_loses_nothing() {
    let Some(disk) = on_small_disk("a_full_disk_rejects_writes_until_there_is_space_and_loses_nothing")
    else {
        return;
    };
    let data = disk.join("data").to_str().unwrap().to_owned();
    let server = Server::start(&data);
    let mut acknowledged = 0;
    assert_eq!(server.ingest("a", "before", 100), 202);
    acknowledged += 100;
    fill(&disk.join("ballast"));
    let evaluate = |number: usize| {
        let body = json!({"agent_id": "a", "output": "fine", "evaluation_id": format!("full-{number}")});
        server.call("POST", "/v1/evaluate", &server.publishable, &body)
    };
    let ready = || server.call("GET", "/ready", "", &Value::Null).0;
    // Allocated space can be reused, so the first writes may still succeed, and small ones longer than others. The smallest
    // write is the time of last use of a key.
    let started = Instant::now();
    let mut refused = None;
    for number in 0.. {
        let reply = evaluate(number);
        acknowledged += usize::from(reply.0 == 200);
        refused = (reply.0 != 200).then_some((number, reply));
        assert_eq!(server.call("GET", "/v1/keys", &server.secret, &Value::Null).0, 200);
        if refused.is_some() && ready() == 503 {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "the disk is full");
    }
    let (number, (status, retry_after, body)) = refused.unwrap();
    assert_eq!((status, &body["code"]), (503, &"store_unavailable".into()), "{body}");
    assert!(retry_after.is_some_and(|seconds| seconds.parse::<u64>().is_ok_and(|seconds| seconds > 0)));
    assert_eq!(server.get("/v1/reputation/a")["evaluations"], acknowledged.min(500));
    assert_eq!(server.get("/v1/events?limit=1")["count"], 1);
    assert_eq!(server.call("GET", "/health", "", &Value::Null).0, 200);

    fs::remove_file(disk.join("ballast")).unwrap();
    assert_eq!(evaluate(number).0, 200, "the rejected evaluation was not counted, so it counts now");
    acknowledged += 1;
    // It is ready again once the cached result expires.
    until(|| ready() == 200);
    assert_eq!(server.get("/v1/reputation/a")["evaluations"], acknowledged.min(500));
    let log = server.log.lock().unwrap().clone();
    let lines = serde_json::Deserializer::from_str(&log).into_iter::<Value>().map_while(Result::ok);
    let is_full = |line: &Value| line["cause"].as_str().is_some_and(|cause| cause.contains("full"));
    let failed = lines.into_iter().find(is_full);
    let span = &failed.unwrap_or_else(|| panic!("the log says why: {log}"))["span"];
    assert_eq!((&span["route"], &span["method"]), (&"/v1/evaluate".into(), &"POST".into()), "{span}");
    assert_eq!(span["org"], "default", "{span}");
    assert_eq!(span["request_id"].as_str().map(str::len), Some(36), "{span}");
    assert!(server.stop().success());
    let verified = run(&["verify", "--data", &data]).good();
    assert!(verified.starts_with(&format!("verified {acknowledged} evaluations of 1 agent")), "{verified}");
}

#[test]
fn a_read_only_disk_is_reported_and_can_be_read() {
    let Some(disk) = on_small_disk("a_read_only_disk_is_reported_and_can_be_read") else { return };
    let data = disk.join("data").to_str().unwrap().to_owned();
    let server = Server::start(&data);
    assert_eq!(server.ingest("a", "e", 5), 202);
    assert!(server.stop().success());
    let mounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&disk).status().unwrap();
    assert!(mounted.success());
    let message = run(&["serve", "--data", &data, "--listen", "127.0.0.1:0"]).refused();
    assert!(message.contains("Read-only file system"), "{message}");
    let message = run(&["keys", "create", "--data", &data]).refused();
    assert!(message.contains("Read-only file system"), "{message}");
    let run_doctor = run(&["doctor", "--data", &data]);
    assert_eq!(run_doctor.code, 1, "{run_doctor:?}");
    assert!(
        run_doctor.stdout.contains("cannot be read and written: Read-only file system"),
        "{run_doctor:?}"
    );
    assert!(run(&["verify", "--data", &data]).good().starts_with("verified 5 evaluations"));
    assert!(run(&["agents", "list", "--data", &data]).good().contains("calibrating 5/50"));
    let message =
        run(&["serve", "--data", disk.join("new").to_str().unwrap(), "--listen", "127.0.0.1:0"]).refused();
    assert!(message.contains("new: Read-only file system"), "{message}");
    let run_doctor = run(&["doctor", "--data", disk.join("new").to_str().unwrap()]);
    assert!(run_doctor.code == 1 && run_doctor.stdout.contains("cannot be created: "), "{run_doctor:?}");
}

#[test]
fn a_damaged_page_is_reported_and_affects_only_its_agents() {
    // The page size of a new database.
    const PAGE: usize = 8192;
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = Server::start(&data);
    for batch in 0..3 {
        assert_eq!(server.ingest("well", &format!("well-{batch}"), 100), 202);
    }
    assert_eq!(server.ingest("hurt", "hurt-0", 100), 202);
    let marker = "find-this-page";
    let event = json!({"agent_id": "hurt", "passed": true, "total_latency_ms": 2, "tool": marker});
    assert_eq!(server.call("POST", "/v1/ingest", &server.publishable, &json!({"events": [event]})).0, 202);
    assert_eq!(server.ingest("hurt", "hurt-1", 100), 202);
    let publishable = server.publishable.clone();
    assert!(server.stop().success());
    let file = format!("{data}/renown.db");
    let mut bytes = fs::read(&file).unwrap();
    let found = bytes.windows(marker.len()).position(|window| window == marker.as_bytes()).unwrap();
    let at = found / PAGE * PAGE;
    bytes[at..at + PAGE].fill(0xa5);
    fs::write(&file, bytes).unwrap();

    let mut server = Server::start(&data);
    server.publishable = publishable;
    assert_eq!(server.get("/v1/reputation/well")["evaluations"], 300);
    assert_eq!(server.ingest("well", "more", 1), 202);
    assert_eq!(server.call("GET", "/health", "", &Value::Null).0, 200);
    drop(server);
    let verify = run(&["verify", "--data", &data]);
    assert_eq!((verify.code, verify.stdout.as_str()), (1, ""), "{verify:?}");
    assert!(verify.stderr.starts_with("error: the database"), "{verify:?}");
    let doctor = run(&["doctor", "--data", &data]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    assert!(doctor.stdout.contains("BAD   store     the database"), "{doctor:?}");
    let copy = scratch.at("copy.db");
    let message = run(&["backup", &copy, "--data", &data]).refused();
    assert!(message.contains("hint: `renown doctor`"), "{message}");
    assert!(!Path::new(&copy).exists(), "a damaged copy is deleted");
}

#[test]
fn a_database_of_a_newer_release_is_not_changed() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    assert!(Server::start(&data).stop().success());
    let file = format!("{data}/renown.db");
    Connection::open(&file).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(&file).unwrap();
    for args in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["keys", "create"],
        &["keys", "list"],
        &["agents", "list"],
        &["verify"],
        &["backup", &scratch.at("copy.db")],
    ] {
        let message = run(&[args, &["--data", &data]].concat()).refused();
        assert!(
            message.contains("schema version 99, this release knows up to 8: use a newer release"),
            "{message}"
        );
    }
    let doctor = run(&["doctor", "--data", &data]);
    assert!(doctor.code == 1 && doctor.stdout.contains("schema version 99"), "{doctor:?}");
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_file_that_is_not_a_database_is_rejected_and_not_changed() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    fs::create_dir(&data).unwrap();
    let text = "a text, and longer than the header of a database has to be. ".repeat(10);
    fs::write(format!("{data}/renown.db"), &text).unwrap();
    for args in
        [&["serve", "--listen", "127.0.0.1:0"][..], &["keys", "create"], &["agents", "list"], &["verify"]]
    {
        let message = run(&[args, &["--data", &data]].concat()).refused();
        assert!(message.contains("renown.db is not a database of Renown"), "{message}");
    }
    assert_eq!(fs::read_to_string(format!("{data}/renown.db")).unwrap(), text);
}

#[test]
fn a_killed_server_has_lost_nothing() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let mut server = Server::start(&data);
    assert_eq!(server.ingest("a", "e", 40), 202);
    let (publishable, before) = (server.publishable.clone(), server.get("/v1/events?limit=100"));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    assert!(run(&["verify", "--data", &data]).good().starts_with("verified 40 evaluations"));
    let mut server = Server::start(&data);
    server.publishable = publishable;
    assert_eq!(server.get("/v1/events?limit=100"), before);
}

/// For every limit of open files, a server answers, or it ends with an error.
#[test]
fn a_server_with_too_few_file_descriptors_ends_with_an_error() {
    let mut with_error = 0;
    for files in 8..40 {
        let scratch = Scratch::new();
        let script = format!("ulimit -n {files} && exec \"$0\" \"$@\"");
        let mut child = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_renown"), "serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(scratch.at("data"))
            .env_clear()
            .envs(super::NO_TELEMETRY)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut greeting = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut greeting).unwrap();
        let address = greeting.trim().rsplit("http://").next().unwrap_or_default().to_owned();
        // Only if it started to listen.
        let answered = !greeting.is_empty()
            && TcpStream::connect(&address).is_ok_and(|mut stream| {
                let mut reply = String::new();
                let asked = stream.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
                asked.is_ok() && stream.read_to_string(&mut reply).is_ok() && reply.contains(" 200 ")
            });
        if answered {
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            answered || (output.status.code() == Some(2) && stderr.contains("error: ")),
            "{files}: {stderr}"
        );
        with_error += usize::from(stderr.contains("error: cannot accept connections: "));
        if answered {
            break;
        }
    }
    assert!(with_error > 0, "no limit let a server start without accepting connections");
}
