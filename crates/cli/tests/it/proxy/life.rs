//! The start and the end of a proxy.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::*;

#[test]
fn the_exit_code_is_that_of_the_server() {
    for (arguments, code) in [
        (json!({"code": 0}), 0),
        (json!({"code": 3}), 3),
        (json!({"code": 255}), 255),
        (json!({"signal": 9, "code": 0}), 128 + 9),
        (json!({"signal": 6, "code": 0}), 128 + 6),
    ] {
        let scratch = Scratch::new();
        let mut proxy = Proxy::start(&scratch, &[]);
        assert_eq!(text(&proxy.say(1, "hello")), "hello");
        proxy.call(&json!(2), "exit", &arguments);
        // The client has not closed its end: the end of the server is enough.
        let status = proxy.wait();
        assert_eq!(status.code(), Some(code), "{arguments}");
        assert_eq!(actions(&scratch), ["forwarded", "lost"]);
    }
}

#[test]
fn a_server_that_cannot_be_started_is_127_and_told() {
    let scratch = Scratch::new();
    let proxy = Proxy::spawn(&mut command(&scratch, &[], &["no-such-server-anywhere".to_owned()]));
    let (code, out, stderr) = proxy.end();
    assert_eq!((code, out.as_slice()), (127, &b""[..]));
    assert!(stderr.starts_with("error: cannot start no-such-server-anywhere: "), "{stderr}");
}

#[test]
fn an_unfinished_message_of_a_dying_server_is_dropped_and_its_calls_fail() {
    let scratch = Scratch::new();
    let mut proxy = Proxy::start(&scratch, &[]);
    proxy.call(&json!(1), "never", &json!({}));
    let half = "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"te";
    proxy.call(&json!(2), "exit", &json!({"code": 1, "base64": base64(half)}));
    // The unfinished message names its call; the other call fails because the server is gone.
    let answers = [proxy.message(), proxy.message()];
    assert_eq!(answers.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [&json!(2), &json!(1)]);
    assert!(answers.iter().all(|answer| error(answer).0 == -32000), "{answers:?}");
    assert_eq!(proxy.wait().code(), Some(1));
    let lines = logged(&scratch);
    let lost: Vec<_> = lines.iter().map(|line| (line["action"].as_str(), line["tool"].as_str())).collect();
    assert_eq!(lost, [(Some("blocked"), Some("exit")), (Some("lost"), Some("never"))]);
    assert!(lines.iter().all(|line| line["passed"] == false));
}

#[test]
fn the_server_ends_with_the_client() {
    let scratch = Scratch::new();
    let pid = scratch.at("pid");
    let mut proxy = Proxy::spawn(&mut command(&scratch, &[], &python(&["--pid", &pid])));
    assert_eq!(text(&proxy.say(1, "hello")), "hello");
    let started = Instant::now();
    assert_eq!(proxy.end().0, 0);
    assert!(started.elapsed() < Duration::from_secs(4));
    assert!(!lives(&pid));
}

#[test]
fn a_server_that_does_not_end_gets_a_signal_after_five_seconds() {
    let scratch = Scratch::new();
    let pid = scratch.at("pid");
    let mut proxy = Proxy::spawn(&mut command(&scratch, &[], &python(&["--stubborn", "--pid", &pid])));
    assert_eq!(text(&proxy.say(1, "hello")), "hello");
    let started = Instant::now();
    let (code, rest, _) = proxy.end();
    assert_eq!(code, 40 + 15);
    assert!(String::from_utf8(rest).unwrap().contains("got SIGTERM"));
    assert!(started.elapsed() >= Duration::from_secs(5));
}

#[test]
fn signals_are_passed_on() {
    for (signal, name, code) in
        [(Signal::INT, "SIGINT", 42), (Signal::TERM, "SIGTERM", 55), (Signal::HUP, "SIGHUP", 41)]
    {
        let scratch = Scratch::new();
        let mut proxy = Proxy::start(&scratch, &[]);
        assert_eq!(text(&proxy.say(1, "hello")), "hello");
        proxy.signal(signal);
        assert_eq!(proxy.wait().code(), Some(code));
        assert_eq!(proxy.message()["params"]["data"], format!("got {name}"));
    }
}

#[test]
fn a_server_that_ignores_signals_is_killed_after_five_seconds() {
    let scratch = Scratch::new();
    let pid = scratch.at("pid");
    let mut proxy = Proxy::spawn(&mut command(&scratch, &[], &python(&["--deaf", "--pid", &pid])));
    assert_eq!(text(&proxy.say(1, "hello")), "hello");
    let started = Instant::now();
    proxy.signal(Signal::TERM);
    assert_eq!(proxy.wait().code(), Some(128 + 9));
    assert!(started.elapsed() >= Duration::from_secs(5) && !lives(&pid));
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_never_outlives_a_proxy_that_was_killed() {
    for stubbornness in ["--stubborn", "--deaf"] {
        let scratch = Scratch::new();
        let pid = scratch.at("pid");
        let mut proxy = Proxy::spawn(&mut command(&scratch, &[], &python(&[stubbornness, "--pid", &pid])));
        assert_eq!(text(&proxy.say(1, "hello")), "hello");
        proxy.signal(Signal::KILL);
        proxy.wait();
        until(|| !lives(&pid));
    }
}

/// Returns whether the process whose id is in a file is running.
fn lives(file: &str) -> bool {
    let pid: i32 = fs::read_to_string(file).unwrap().parse().unwrap();
    rustix::process::test_kill_process(Pid::from_raw(pid).unwrap()).is_ok()
}
