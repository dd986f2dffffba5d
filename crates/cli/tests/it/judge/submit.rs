//! Is a log sent as it stands, and judged all the same?

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
        let said =
            format!("submitted 2 lines ({} bytes) to {}\n", good[0].len() + 1 + good[1].len(), receiver.url);
        assert!(run.stderr.ends_with(&said), "{said}{run:?}");
        let taken = receiver.taken();
        assert_eq!(taken.len(), 1);
        assert_eq!(taken[0].head, "POST /otlp/v1/logs HTTP/1.1");
        assert_eq!(taken[0].header("content-type"), Some("application/x-ndjson"));
        assert_eq!(taken[0].header("content-encoding"), Some("gzip"));
        assert_eq!(taken[0].header("authorization"), None);
        assert_eq!(taken[0].text(), good.join("\n"));
        // Sent again it has the same key, and another log has another.
        let key = |at: usize| receiver.taken()[at].header("idempotency-key").unwrap().to_owned();
        folder.judge(&[log, "--submit", &receiver.url]);
        folder.write("other.jsonl", prompt(1).line());
        folder.judge(&["other.jsonl", "--submit", &receiver.url]);
        assert!(key(0) == key(1) && key(1) != key(2), "{:?}", receiver.taken());
    }
}

#[test]
fn a_document_over_several_lines_becomes_one() {
    let folder = Folder::new();
    let line: serde_json::Value = serde_json::from_str(&prompt(0).line()).unwrap();
    folder.write("log.json", format!("{line:#}\n"));
    let receiver = Receiver::start(&[OK]);
    assert_eq!(folder.judge(&["log.json", "--submit", &receiver.url]).code, 0);
    let sent = receiver.taken()[0].text();
    assert!(!sent.contains('\n'));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&sent).unwrap(), line);
}

/// A line of about so many bytes.
fn long(number: u64, bytes: usize) -> String {
    log("claude_code.user_prompt", number).with("padding", "x".repeat(bytes).as_str()).line()
}

#[test]
fn bodies_hold_whole_lines_and_one_that_is_too_long_is_an_error_when_the_others_are_sent() {
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
    let bodies: Vec<String> = receiver.taken().iter().map(super::super::receiver::Taken::text).collect();
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
    assert_eq!(receiver.taken()[0].header("authorization"), Some(format!("Bearer {key}").as_str()));
    folder.write("log.jsonl", prompt(0).line());
    let run = folder.judge(&["log.jsonl", "--submit", &receiver.url, "--key", "no"]);
    assert!(run.code == 2 && run.stderr.starts_with("error: --key: not a key"), "{run:?}");
    let run = folder.judge(&["log.jsonl", "--submit", &receiver.url, "--watch"]);
    assert!(run.code == 2 && run.stderr.contains("'--submit <URL>'"), "{run:?}");
    let quiet = folder.judge(&["log.jsonl", "--submit", &receiver.url, "--quiet"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
}

#[test]
fn what_the_server_rejects_is_told() {
    let folder = Folder::new();
    folder.write("log.jsonl", prompt(0).line());
    let reply = json!({"partialSuccess": {"rejectedLogRecords": "2", "errorMessage": "cost_usd is odd"}});
    let receiver = Receiver::start(&[(OK.0, &reply.to_string())]);
    let run = folder.judge(&["log.jsonl", "--submit", &receiver.url]);
    let said = format!("warning: {} rejected 2 records: cost_usd is odd\n", receiver.url);
    assert!(run.code == 0 && run.stderr.contains(&said), "{run:?}");
}

#[test]
fn a_busy_server_is_waited_for() {
    let folder = Folder::new();
    folder.write("log.jsonl", prompt(0).line());
    let busy = ("503 Service Unavailable\r\nRetry-After: 0", "");
    let limited = ("429 Too Many Requests\r\nRetry-After: 0", "");
    let receiver = Receiver::start(&[busy, limited, OK]);
    let run = folder.judge(&["log.jsonl", "--submit", &receiver.url]);
    assert_eq!((run.code, receiver.taken().len()), (0, 3), "{run:?}");
    let receiver = Receiver::start(&[busy]);
    let run = folder.judge(&["log.jsonl", "--submit", &receiver.url]);
    assert_eq!((run.code, receiver.taken().len()), (2, 5), "{run:?}");
    assert!(run.stdout.contains("prompts: 1\n"), "it is judged all the same: {run:?}");
    assert!(
        run.stderr.contains("answered 503") && run.stderr.contains("hint: the server is busy"),
        "{run:?}"
    );
}

#[test]
fn refusals_name_the_server_and_what_to_do() {
    let folder = Folder::new();
    folder.write("log.jsonl", document(&lines(&[prompt(0)])));
    for (reply, error, hint) in [
        (
            ("400 Bad Request", r#"{"code":3,"message":"line 1: no OTLP"}"#),
            "line 1: no OTLP",
            "a server of Renown",
        ),
        (("401 Unauthorized", r#"{"error":"a key is wanted"}"#), "a key is wanted", "RENOWN_KEY"),
        (("404 Not Found", "<html>"), "answered 404 Not Found", "http://127.0.0.1:7070"),
        (("500 Internal Server Error", r#"{"error":"oh"}"#), "oh", "its log says why"),
        // Whoever answers like this has taken nothing.
        (("200 OK\r\nContent-Type: text/html", "<html>"), "answered 200 OK", "a server of Renown"),
        (
            ("301 Moved Permanently\r\nLocation: https://elsewhere.example/", ""),
            "answered 301 Moved Permanently, it points to https://elsewhere.example/",
            "a server of Renown",
        ),
    ] {
        let receiver = Receiver::start(&[reply]);
        let run = folder.judge(&["log.jsonl", "--submit", &receiver.url]);
        assert_eq!((run.code, receiver.taken().len()), (2, 1), "{run:?}");
        let said = format!("error: {}/otlp/v1/logs: {error}\n", receiver.url);
        assert!(run.stderr.contains(&said) && run.stderr.contains(hint), "{said}{run:?}");
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
    assert_eq!(receiver.taken(), [], "nothing of its part of the log was sent");
}

#[test]
fn many_lines_are_sent_in_their_order() {
    let folder = Folder::new();
    let records: Vec<Record> = (0..20_000).map(prompt).collect();
    let all = lines(&records);
    folder.write("a.jsonl", document(&all[..12_000]));
    folder.write("b.jsonl", batch(&[], &json!({}), &records[12_000..]));
    let receiver = Receiver::start(&[OK]);
    let run = folder.judge(&["a.jsonl", "b.jsonl", "--submit", &receiver.url]);
    assert!(run.code == 0 && run.stderr.contains("submitted 12001 lines"), "{run:?}");
    let sent: Vec<String> = receiver.taken().iter().map(super::super::receiver::Taken::text).collect();
    let sent = sent.join("\n");
    let expected = format!("{}{}", document(&all[..12_000]), batch(&[], &json!({}), &records[12_000..]));
    assert!(sent == expected, "the same lines");
}
