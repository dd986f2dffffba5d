//! Do unchanged messages pass byte for byte, however they are split?

use std::fs;
use std::io::Write;

use serde_json::json;

use super::*;

/// Well-formed messages that pass: odd spelling, empty lines, characters of every length.
const STREAM: &str = concat!(
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"clientInfo\":{\"name\":\"é\"}}}\n",
    "\n",
    " { \"jsonrpc\" : \"2.0\" , \"method\" : \"x\\u0065\" , \"params\" : [ 1.0 , 1e2 , -0 ] } \r\n",
    "\r\n",
    "[{\"id\":4,\"method\":\"a\"},{\"method\":\"b\"}]\n",
    "{\"id\":5,\"result\":{\"text\":\"日本語 \u{1f600}\"}}\n",
    "{\"id\":6,\"error\":{\"code\":-1,\"message\":\"no\"}}\n",
    "{\"id\":7,\"result\":{},\"error\":null}\n",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":1}}\n",
    "{\"method\":\"no end of line\"}",
);

/// Ambiguous lines, which a client may read differently from the proxy. None of them passes.
const MALFORMED: [&str; 9] = [
    "Welcome to the server!\n",
    "{\"id\":2,\"id\":\"2\",\"id\":3.0,\"method\":\"ping\"}\n",
    "[{\"id\":4,\"method\":\"a\"},7,\"text\"]\n",
    "{\"broken\":\n",
    "}{\n",
    "[]\n",
    "{\"NaN\":NaN,\"id\":7,\"result\":Infinity}\n",
    "x\r{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
    "{\"id\":1,\"Result\":{}}\n",
];

#[test]
fn a_stream_passes_in_both_directions_byte_for_byte() {
    let scratch = Scratch::new();
    // `cat` echoes its input: each byte passes the proxy twice.
    let mut proxy = Proxy::spawn(&mut command(&scratch, &[], &["cat".to_owned()]));
    for byte in STREAM.as_bytes() {
        proxy.send([*byte]);
    }
    let (code, passed, stderr) = proxy.end();
    // Only the last line gets a line end, so that nothing can be appended to it.
    assert_eq!((code, String::from_utf8(passed).unwrap()), (0, format!("{STREAM}\n")));
    assert_eq!((stderr.as_str(), logged(&scratch)), ("", Vec::new()));
}

#[test]
fn malformed_messages_of_the_server_are_dropped_and_those_of_the_client_pass() {
    let scratch = Scratch::new();
    let mut proxy = Proxy::spawn(&mut command(&scratch, &[], &["cat".to_owned()]));
    proxy.send(b"\xff\xfe\x00 no text\n");
    for line in MALFORMED {
        proxy.send(line);
    }
    let (code, passed, stderr) = proxy.end();
    assert_eq!(code, 0);
    // The client gets errors of the proxy, for the requests in these lines.
    for line in String::from_utf8(passed).unwrap().lines() {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!(error(&answer), (-32000, "renown:malformed"), "{line}");
    }
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(
        lines,
        [
            "warning: a message of the server is dropped: not UTF-8",
            "10 messages of the server were not one well-formed JSON-RPC message each"
        ]
    );
}

#[test]
fn a_message_that_needs_no_verdict_passes_at_once() {
    let scratch = Scratch::new();
    let mut proxy = Proxy::spawn(&mut command(&scratch, &[], &["cat".to_owned()]));
    for number in 0..20 {
        let line = format!("{{\"method\":\"{number}\"}}\n");
        proxy.send(&line);
        assert_eq!(proxy.line(), line.as_bytes());
    }
}

#[test]
fn a_result_is_judged_however_the_server_splits_it() {
    let scratch = Scratch::new();
    let good = "\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"日本 fine\"}]}}\r\n";
    let bad = good.replace("fine", "jane.doe@corporation.org").trim_start().to_owned();
    for step in [1, 2, 3, 7, 64, 4096] {
        let mut proxy = Proxy::start(&scratch, &[]);
        proxy.call(&json!(1), "raw", &json!({"base64": base64(good), "step": step}));
        assert_eq!([proxy.line(), proxy.line()].concat(), good.as_bytes(), "byte for byte");
        proxy.call(&json!(1), "raw", &json!({"base64": base64(&bad), "step": step}));
        let line = proxy.line();
        assert!(line.ends_with(b"}\r\n"), "in the same framing");
        let answer: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(error(&answer), (-32000, "blocked by renown, the tool did run: pii"));
        assert_eq!(proxy.end().0, 0);
    }
}

#[test]
fn output_before_the_first_message_is_dropped_and_reported_once() {
    let scratch = Scratch::new();
    let server = python(&["--banner", "Starting…\nListening on stdio\n"]);
    let mut proxy = Proxy::spawn(&mut command(&scratch, &[], &server));
    assert_eq!(text(&proxy.say(1, "fine")), "fine");
    let (code, rest, stderr) = proxy.end();
    assert_eq!((code, rest.as_slice()), (0, &b""[..]));
    assert_eq!(
        stderr,
        "warning: a message of the server is dropped: not exactly one JSON value\n2 messages of the server were not one well-formed JSON-RPC message each\n"
    );
}

#[test]
fn a_client_whose_reply_was_dropped_gets_an_error_when_the_server_ends() {
    let scratch = Scratch::new();
    let mut proxy = Proxy::start(&scratch, &[]);
    // An object that spans several lines: no line is a message, and none names the call.
    let answer = "{\n\"jsonrpc\":\"2.0\",\n\"id\":1,\n\"result\":{\"content\":[]}\n}\n";
    proxy.call(&json!(1), "exit", &json!({"code": 0, "base64": base64(answer)}));
    let reply = proxy.message();
    assert_eq!((error(&reply), &reply["id"]), ((-32000, "renown:malformed"), &json!(1)));
    assert_eq!(proxy.wait().code(), Some(0));
    assert_eq!(actions(&scratch), ["lost"]);
}

#[test]
fn the_server_gets_the_exact_bytes_of_the_client() {
    let scratch = Scratch::new();
    let received = scratch.at("received");
    let server = python(&["--received", &received]);
    let mut proxy = Proxy::spawn(&mut command(&scratch, &["--pre"], &server));
    let calls = concat!(
        "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"say\",\"arguments\":{\"text\":\"\\u00e9 1.50\"}}}\r\n",
        "{ \"params\" :{ \"arguments\":{\"text\":\"b\"},\"name\":\"say\" },\"method\":\"tools/call\",\"id\":\"two\" }\n",
    );
    for byte in calls.as_bytes() {
        proxy.send([*byte]);
    }
    assert_eq!(text(&proxy.message()), "é 1.50");
    assert_eq!(proxy.message()["id"], "two");
    proxy.end();
    assert_eq!(fs::read(received).unwrap(), calls.as_bytes());
}

#[test]
fn only_the_changed_members_of_a_batch_are_rewritten() {
    let scratch = Scratch::new();
    let mut proxy = Proxy::start(&scratch, &[]);
    // The test server has no batches: a separate call writes the replies.
    let calls: Vec<String> = [1, 2].map(|id| request(&json!(id), "none", &json!({}))).into();
    proxy.send(format!("[{}]\n", calls.join(",")));
    let member = |id: u8, text: &str| {
        format!("{{ \"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}")
    };
    let batch =
        format!("[{},{{\"method\":\"n\"}}, {}]\n", member(1, "fine"), member(2, "jane.doe@corporation.org"));
    proxy.call(&json!(3), "raw", &json!({"base64": base64(batch)}));
    let line = String::from_utf8(proxy.line()).unwrap();
    let start = format!(
        "[{},{{\"method\":\"n\"}},{{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{{\"code\":-32000,",
        member(1, "fine")
    );
    assert!(line.starts_with(&start) && line.ends_with("}]\n"), "{line}");
    assert_eq!(proxy.end().0, 0);
    assert_eq!(actions(&scratch), ["forwarded", "blocked", "lost"]);
}

/// Starts a server that stops reading, and a client that writes more than pipes hold and reads nothing.
fn stuck(scratch: &Scratch, tool: &str) -> Child {
    let mut child = command(scratch, &[], &python(&[]));
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let call = request(&json!(1), tool, &json!({})) + "\n";
    thread::spawn(move || {
        stdin.write_all(call.as_bytes()).unwrap();
        // It ends with the proxy.
        while stdin.write_all(b"{\"method\":\"filler\"}\n").is_ok() {}
    });
    child
}

#[test]
fn a_client_that_stops_reading_can_still_end_the_proxy() {
    let scratch = Scratch::new();
    let mut child = stuck(&scratch, "flood");
    // Wait until the server floods the pipe, which no process reads.
    child.stdout.as_mut().unwrap().read_exact(&mut vec![0; 100_000]).unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    until(|| child.try_wait().unwrap().is_some());
}

#[test]
fn a_client_that_is_gone_ends_a_server_that_does_not_read() {
    let scratch = Scratch::new();
    let mut child = stuck(&scratch, "linger");
    // The server sends one more message, which cannot be delivered, and then nothing.
    drop(child.stdout.take());
    until(|| child.try_wait().unwrap().is_some());
}
