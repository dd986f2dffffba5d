//! Is a log sent unchanged, and judged at the same time?

use std::io::Write as _;

use serde_json::json;

use super::{Folder, Record, batch, document, lines, log, ok_tool, prompt};
use crate::receiver::Receiver;

const OK: (&str, &str) = ("200 OK\r\nContent-Type: application/json", "{}");

#[test]
fn the_good_lines_of_a_log_are_sent_and_the_result_is_the_same() {
    let folder = Folder::new();
    let good = lines(&[prompt(0), ok_tool(60)]);
    let text = format!("{}\r\n\nno json\n{}\n{{\"resourceLogs\":[", good[0], good[1]);
    folder.write("log.jsonl", &text);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    folder.write("log.jsonl.gz", gzip.finish().unwrap());
    let alone = folder.judge(&["log.jsonl"]);
    for log in ["log.jsonl", "log.jsonl.gz"] {
        let receiver = Receiver::start(&[OK]);
        let run = folder.judge(&[log, "--submit", &receiver.url]);
        assert_eq!((run.code, &run.stdout), (0, &alone.stdout), "{run:?}");
        let expected =
            format!("submitted 2 lines ({} bytes) to {}\n", good[0].len() + 1 + good[1].len(), receiver.url);
        assert!(run.stderr.ends_with(&expected), "{expected}{run:?}");
        let taken = receiver.received();
        assert_eq!(taken.len(), 1);
        assert_eq!(taken[0].head, "POST /otlp/v1/logs HTTP/1.1");
        assert_eq!(taken[0].header("content-type"), Some("application/x-ndjson"));
        assert_eq!(taken[0].header("content-encoding"), Some("gzip"));
        assert_eq!(taken[0].header("authorization"), None);
        assert_eq!(taken[0].text(), good.join("\n"));
        // The same log has the same key, another log has another key.
        let key = |at: usize| receiver.received()[at].header("idempotency-key").unwrap().to_owned();
        folder.judge(&[log, "--submit", &receiver.url]);
        folder.write("other.jsonl", prompt(1).line());
        folder.judge(&["other.jsonl", "--submit", &receiver.url]);
        assert!(key(0) == key(1) && key(1) != key(2), "{:?}", receiver.received());
    }
}

#[test]
fn a_document_that_spans_lines_is_sent_as_one_line() {
    let folder = Folder::new();
    let line: serde_json::Value = serde_json::from_str(&prompt(0).line()).unwrap();
    folder.write("log.json", format!("{line:#}\n"));
    let receiver = Receiver::start(&[OK]);
    assert_eq!(folder.judge(&["log.json", "--submit", &receiver.url]).code, 0);
    let sent = receiver.received()[0].text();
    assert!(!sent.contains('\n'));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&sent).unwrap(), line);
}

/// Returns a line of about this many bytes.
fn long(number: u64, bytes: usize) -> String {
    log("claude_code.user_prompt", number).with("padding", "x".repeat(bytes).as_str()).line()
}

#[test]
fn bodies_have_whole_lines_and_a_line_that_is_too_long_is_reported_at_the_end() {
    const MIB: usize = 1 << 20;
    let folder = Folder::new();
    let mut all: Vec<String> = (0..6).map(|number| long(number, MIB)).collect();
    all.push(long(6, 15 * MIB));
    all.push(long(7, 17 * MIB));
    all.extend((8..10).map(|number| long(number, 10)));
    folder.write("log.jsonl", document(&all));
    let receiver = Receiver::start(&[OK]);
    let run = folder.judge(&["log.jsonl", "--submit", &receiver.url]);
    assert!(run.code == 2 && run.stdout.contains("prompts: 10\n"), "{run:?}");
    assert!(run.stderr.contains(": 1 line not sent, longer than 16 MiB\n"), "{run:?}");
    assert!(run.stderr.contains("submitted 9 lines (22.0 MB) to "), "{run:?}");
    let bodies: Vec<String> = receiver.received().iter().map(super::super::receiver::Request::text).collect();
    let counts: Vec<usize> = bodies.iter().map(|body| body.lines().count()).collect();
    assert_eq!(counts, [3, 3, 1, 2]);
    all.remove(7);
    assert_eq!(bodies.join("\n"), all.join("\n"));
}

#[test]
fn keys_and_standard_input() {
    let folder = Folder::new();
    let key = format!("rn_pub_{}", "k".repeat(32));
    let receiver = Receiver::start(&[OK]);
    let mut command = folder.command(&["--submit", &receiver.url]);
    command.env("RENOWN_KEY", &key);
    let run = super::run(command, document(&lines(&[prompt(0)])).into_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(receiver.received()[0].header("authorization"), Some(format!("Bearer {key}").as_str()));
    folder.write("log.jsonl", prompt(0).line());
    let run = folder.judge(&["log.jsonl", "--submit", &receiver.url, "--key", "no"]);
    assert!(run.code == 2 && run.stderr.starts_with("error: --key: not a key"), "{run:?}");
    let run = folder.judge(&["log.jsonl", "--submit", &receiver.url, "--watch"]);
    assert!(run.code == 2 && run.stderr.contains("'--submit <URL>'"), "{run:?}");
    let quiet = folder.judge(&["log.jsonl", "--submit", &receiver.url, "--quiet"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
}

#[test]
fn rejected_records_are_reported() {
    let folder = Folder::new();
    folder.write("log.jsonl", prompt(0).line());
    let reply = json!({"partialSuccess": {"rejectedLogRecords": "2", "errorMessage": "cost_usd is odd"}});
    let receiver = Receiver::start(&[(OK.0, &reply.to_string())]);
    let run = folder.judge(&["log.jsonl", "--submit", &receiver.url]);
    let expected = format!("warning: {} rejected 2 records: cost_usd is odd\n", receiver.url);
    assert!(run.code == 0 && run.stderr.contains(&expected), "{run:?}");
}

#[test]
fn requests_to_a_busy_server_are_retried() {
    let folder = Folder::new();
    folder.write("log.jsonl", prompt(0).line());
    let busy = ("503 Service Unavailable\r\nRetry-After: 0", "");
    let limited = ("429 Too Many Requests\r\nRetry-After: 0", "");
    let receiver = Receiver::start(&[busy, limited, OK]);
    let run = folder.judge(&["log.jsonl", "--submit", &receiver.url]);
    assert_eq!((run.code, receiver.received().len()), (0, 3), "{run:?}");
    let receiver = Receiver::start(&[busy]);
    let run = folder.judge(&["log.jsonl", "--submit", &receiver.url]);
    assert_eq!((run.code, receiver.received().len()), (2, 5), "{run:?}");
    assert!(run.stdout.contains("prompts: 1\n"), "the log is still judged: {run:?}");
    assert!(
        run.stderr.contains("answered 503") && run.stderr.contains("hint: the server is busy"),
        "{run:?}"
    );
}

#[test]
fn errors_name_the_server_and_have_a_hint() {
    let folder = Folder::new();
    folder.write("log.jsonl", document(&lines(&[prompt(0)])));
    for (reply, error, hint) in [
        (
            ("400 Bad Request", r#"{"code":3,"message":"line 1: no OTLP"}"#),
            "line 1: no OTLP",
            "a Renown server",
        ),
        (("401 Unauthorized", r#"{"error":"a key is wanted"}"#), "a key is wanted", "RENOWN_KEY"),
        (("404 Not Found", "<html>"), "answered 404 Not Found", "http://127.0.0.1:7070"),
        (("500 Internal Server Error", r#"{"error":"oh"}"#), "oh", "the server's log has the cause"),
        // A server that answers like this has accepted nothing.
        (("200 OK\r\nContent-Type: text/html", "<html>"), "answered 200 OK", "a Renown server"),
        (
            ("301 Moved Permanently\r\nLocation: https://elsewhere.example/", ""),
            "answered 301 Moved Permanently, a redirect to https://elsewhere.example/",
            "a Renown server",
        ),
    ] {
        let receiver = Receiver::start(&[reply]);
        let run = folder.judge(&["log.jsonl", "--submit", &receiver.url]);
        assert_eq!((run.code, receiver.received().len()), (2, 1), "{run:?}");
        let expected = format!("error: {}/otlp/v1/logs: {error}\n", receiver.url);
        assert!(run.stderr.contains(&expected) && run.stderr.contains(hint), "{expected}{run:?}");
        assert!(run.stdout.contains("prompts: 1\n") && !run.stderr.contains("submitted"), "{run:?}");
    }
    let run = folder.judge(&["log.jsonl", "--submit", "http://127.0.0.1:1"]);
    assert!(run.code == 2 && run.stderr.contains("hint: is the server running"), "{run:?}");
    let run = folder.judge(&["log.jsonl", "--submit", "127.0.0.1:7070"]);
    assert!(run.code == 2 && run.stderr.contains("no http://"), "{run:?}");
}

#[test]
fn strict_stops_at_a_bad_line() {
    let folder = Folder::new();
    folder.write("log.jsonl", format!("{}\nbad\n", prompt(0).line()));
    let receiver = Receiver::start(&[OK]);
    let run = folder.judge(&["log.jsonl", "--strict", "--submit", &receiver.url]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains("error: log.jsonl:2: "), "{run:?}");
    assert_eq!(receiver.received(), [], "nothing of its part of the log was sent");
}

#[test]
fn many_lines_are_sent_in_order() {
    let folder = Folder::new();
    let records: Vec<Record> = (0..20_000).map(prompt).collect();
    let all = lines(&records);
    folder.write("a.jsonl", document(&all[..12_000]));
    folder.write("b.jsonl", batch(&[], &json!({}), &records[12_000..]));
    let receiver = Receiver::start(&[OK]);
    let run = folder.judge(&["a.jsonl", "b.jsonl", "--submit", &receiver.url]);
    assert!(run.code == 0 && run.stderr.contains("submitted 12001 lines"), "{run:?}");
    let sent: Vec<String> = receiver.received().iter().map(super::super::receiver::Request::text).collect();
    let sent = sent.join("\n");
    let expected = format!("{}{}", document(&all[..12_000]), batch(&[], &json!({}), &records[12_000..]));
    assert!(sent == expected, "the same lines");
}
