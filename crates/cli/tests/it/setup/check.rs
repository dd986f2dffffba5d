//! Does `renown setup --check` report whether records arrive?

use super::Home;
use crate::Run;
use crate::receiver::Receiver;
use crate::telemetry::{Received, line};

const PROTOBUF: (&str, &str) = ("200 OK\r\nContent-Type: application/x-protobuf", "");
const JSON: (&str, &str) = ("200 OK\r\nContent-Type: application/json; charset=utf-8", "{}");

/// Returns the mark, the subject and the text of each line.
fn lines(run: &Run) -> Vec<(String, String, String)> {
    let line = |line: &str| {
        let (mark, rest) = line.split_at(6);
        let (name, text) = rest.split_at(10);
        (mark.trim().to_owned(), name.trim().to_owned(), text.to_owned())
    };
    run.stdout.lines().map(line).collect()
}

#[track_caller]
fn check(run: &Run, code: i32, expected: &[(&str, &str, &str)]) {
    let lines = lines(run);
    assert_eq!((run.code, lines.len()), (code, expected.len()), "{run:?}");
    for ((mark, name, text), (wanted_mark, wanted_name, part)) in lines.iter().zip(expected) {
        assert_eq!((mark.as_str(), name.as_str()), (*wanted_mark, *wanted_name), "{run:?}");
        assert!(text.contains(part), "{part}: {run:?}");
    }
}

#[test]
fn correct_settings_and_a_receiver_that_answers() {
    for (agent, reply, kind, part) in [
        ("claude", PROTOBUF, "application/x-protobuf", "Claude Code sends to"),
        ("codex", PROTOBUF, "application/x-protobuf", "Codex sends to"),
        ("gemini", JSON, "application/json", "Gemini CLI sends to"),
    ] {
        let (home, receiver) = (Home::new(), Receiver::start(&[reply]));
        let server = ["--server", &receiver.url];
        assert_eq!(home.setup(&[&[agent, "--yes"], &server[..]].concat()).code, 0);
        let before = home.files();
        // --server overrides the server in the settings.
        for named in [&server[..], &[]] {
            let run = home.setup(&[&[agent, "--check"], named].concat());
            check(&run, 0, &[("ok", "settings", part), ("ok", "receiver", "/v1/logs accepted a record")]);
        }
        assert_eq!(home.files(), before, "nothing was written");
        let taken = receiver.received();
        assert_eq!(taken.len(), 2);
        assert_eq!(taken[0].head, "POST /v1/logs HTTP/1.1");
        assert_eq!(taken[0].header("content-type"), Some(kind));
        let text = String::from_utf8_lossy(&taken[0].body).into_owned();
        assert!(text.contains("renown setup --check") && !text.contains("session"), "{text}");
    }
}

#[test]
fn different_settings_are_listed() {
    let home = Home::new();
    let run = home.setup(&["codex", "--check"]);
    let env = "~/.codex/.env: OTEL_RESOURCE_ATTRIBUTES is not set, expected renown.agent_id=codex";
    check(
        &run,
        1,
        &[
            ("BAD", "settings", "~/.codex/config.toml: otel.exporter is not set, expected {"),
            ("BAD", "settings", "otel.log_user_prompt is not set, expected false"),
            ("BAD", "settings", env),
            ("note", "settings", "run `renown setup codex`; --server URL"),
        ],
    );
    assert!(home.files().is_empty());
    home.setup(&["codex", "--yes"]);
    let run = home.setup(&["codex", "--check", "--server", "https://renown.example/otlp"]);
    let endpoint = "otel.exporter is otlp-http to http://127.0.0.1:4318/v1/logs, expected";
    let advice = "run `renown setup codex --server https://renown.example/otlp`;";
    check(&run, 1, &[("BAD", "settings", endpoint), ("note", "settings", advice)]);
    let run = home.setup(&["codex", "--check", "--yes"]);
    assert!(run.code == 2 && run.stderr.contains("'--check' cannot be used with '--yes'"), "{run:?}");
}

#[test]
fn each_reply_is_reported_with_advice() {
    for (reply, part) in [
        (("401 Unauthorized", "{}"), "answered 401 Unauthorized; the server needs a key: set env.OTEL"),
        (
            ("302 Found\r\nLocation: /login", ""),
            "answered 302 Found, a redirect to /login; this is not an OTLP",
        ),
        (("404 Not Found", "{}"), "answered 404 Not Found; this is not an OTLP/HTTP receiver"),
        (("200 OK\r\nContent-Type: text/html", "<html>"), "answered 200 OK; this is not an OTLP"),
        (("503 Service Unavailable", ""), "answered 503 Service Unavailable; the server is busy"),
    ] {
        let (home, receiver) = (Home::new(), Receiver::start(&[reply]));
        home.setup(&["claude", "--yes", "--server", &receiver.url]);
        let run = home.setup(&["claude", "--check", "--server", &receiver.url]);
        check(&run, 1, &[("ok", "settings", "http/protobuf"), ("BAD", "receiver", part)]);
    }
    let home = Home::new();
    let unused_port = ["--server", "http://127.0.0.1:1"];
    home.setup(&[&["claude", "--yes"], &unused_port[..]].concat());
    let run = home.setup(&[&["claude", "--check"], &unused_port[..]].concat());
    check(
        &run,
        1,
        &[("ok", "settings", ""), ("BAD", "receiver", "nothing listens there: start `renown serve`")],
    );
}

#[test]
fn the_probe_uses_the_headers_and_protocol_of_the_settings() {
    let key = format!("rn_pub_{}", "k".repeat(32));
    let receiver = Receiver::start(&[JSON]);
    let logs = format!("{}/v1/logs", receiver.url);
    let home = Home::new();
    home.write(
        ".codex/config.toml",
        &format!(
            "[otel]\nlog_user_prompt = false\n[otel.exporter.otlp-http]\nendpoint = \"{logs}\"\nprotocol = \"json\"\nheaders = {{ Authorization = \"Bearer {key}\" }}\n"
        ),
    );
    home.write(".codex/.env", "OTEL_RESOURCE_ATTRIBUTES=renown.agent_id=codex\n");
    let run = home.setup(&["codex", "--check", "--server", &receiver.url]);
    check(&run, 0, &[("ok", "settings", "as http/json"), ("ok", "receiver", "accepted")]);
    assert!(!run.stdout.contains(&key), "a key is never shown");

    let of_claude = Receiver::start(&[PROTOBUF]);
    home.setup(&["claude", "--yes", "--server", &of_claude.url]);
    let mut settings = home.json(".claude/settings.json");
    settings["env"]["OTEL_EXPORTER_OTLP_HEADERS"] = format!("Authorization=Bearer%20{key},x=1").into();
    home.write(".claude/settings.json", &settings.to_string());
    assert_eq!(home.setup(&["claude", "--check", "--server", &of_claude.url]).code, 0);
    for taken in [&receiver.received()[0], &of_claude.received()[0]] {
        assert_eq!(taken.header("authorization"), Some(format!("Bearer {key}").as_str()));
    }
}

#[test]
fn the_last_arrival_is_reported() {
    let (home, receiver) = (Home::new(), Receiver::start(&[JSON]));
    home.setup(&["gemini", "--yes", "--server", &receiver.url]);
    let data = home.0.join("data");
    let store = Received::open(&data);
    let args = ["gemini", "--check", "--server", &receiver.url, "--data", data.to_str().unwrap()];
    let nothing = "no records of Gemini CLI in ~/data/renown.db yet: restart Gemini CLI, send it a prompt";
    for (name, session, expected) in [
        ("claude_code.user_prompt", "of-claude", ("note", "arrived", nothing)),
        (
            "gemini_cli.user_prompt",
            "of-gemini",
            ("ok", "arrived", ", of session of-gemini in ~/data/renown.db"),
        ),
    ] {
        store.receive(&[line(session, name, 0, &[])]);
        check(&home.setup(&args), 0, &[("ok", "settings", ""), ("ok", "receiver", ""), expected]);
    }
}
