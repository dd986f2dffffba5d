//! What needs no change passes byte for byte, however it is cut.

use std::fs;
use std::io::Write;

use serde_json::json;

use super::*;

/// Everything that is not gated: odd JSON, no JSON at all, empty lines, CRLF, characters of every length.
const STREAM: &str = concat!(
    "Welcome to the server!\n",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"clientInfo\":{\"name\":\"é\"}}}\n",
    "\n",
    " { \"jsonrpc\" : \"2.0\" , \"method\" : \"x\\u0065\" , \"params\" : [ 1.0 , 1e2 , -0 ] } \r\n",
    "{\"id\":2,\"id\":\"2\",\"id\":3.0,\"method\":\"ping\"}\n",
    "[{\"id\":4,\"method\":\"a\"},{\"method\":\"b\"},7,\"text\"]\n",
    "{\"id\":5,\"result\":{\"text\":\"日本語 \u{1f600} jane.doe@corporation.org\"}}\n",
    "{\"id\":6,\"error\":{\"code\":-1,\"message\":\"rm -rf /\"}}\n",
    "{\"broken\":\n",
    "}{\n",
    "[]\n",
    "{\"NaN\":NaN,\"id\":7,\"result\":Infinity}\n",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":1}}\n",
    "no end of line",
);

#[test]
fn a_stream_passes_both_ways_byte_by_byte() {
    let scratch = Scratch::new();
    // What `cat` is told it tells: each byte passes the proxy twice.
    let mut proxy = Proxy::spawn(&mut command(&scratch, &[], &["cat".to_owned()]));
    let mut bytes = STREAM.as_bytes().to_vec();
    bytes.splice(0..0, *b"\xff\xfe\x00 no text\n");
    for byte in &bytes {
        proxy.send([*byte]);
    }
    let (code, passed, stderr) = proxy.end();
    assert_eq!((code, passed), (0, bytes));
    assert_eq!(stderr, "10 lines were no JSON and passed unchanged\n");
    assert_eq!(logged(&scratch), [] as [Value; 0]);
}

#[test]
fn a_message_that_waits_for_nothing_leaves_at_once() {
    let scratch = Scratch::new();
    let mut proxy = Proxy::spawn(&mut command(&scratch, &[], &["cat".to_owned()]));
    for number in 0..20 {
        let line = format!("{{\"method\":\"{number}\"}}\n");
        proxy.send(&line);
        assert_eq!(proxy.line(), line.as_bytes());
    }
}

#[test]
fn a_result_is_judged_however_the_server_cuts_it() {
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
fn what_a_server_prints_before_its_first_message_passes_and_is_told_once() {
    let scratch = Scratch::new();
    let server = python(&["--banner", "Starting…\nListening on stdio\n"]);
    let mut proxy = Proxy::spawn(&mut command(&scratch, &[], &server));
    assert_eq!(proxy.line(), "Starting…\n".as_bytes());
    assert_eq!(proxy.line(), b"Listening on stdio\n");
    assert_eq!(text(&proxy.say(1, "fine")), "fine");
    let (code, rest, stderr) = proxy.end();
    assert_eq!((code, rest.as_slice()), (0, &b""[..]));
    assert_eq!(stderr, "2 lines were no JSON and passed unchanged\n");
}

#[test]
fn the_server_gets_the_bytes_of_the_client() {
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
fn a_batch_is_rewritten_only_where_a_member_changes() {
    let scratch = Scratch::new();
    let mut proxy = Proxy::start(&scratch, &[]);
    // The server does not know batches: the answers are written by a call of their own.
    let calls: Vec<String> = [1, 2].map(|id| request(&json!(id), "none", &json!({}))).into();
    proxy.send(format!("[{}]\n", calls.join(",")));
    let member = |id: u8, said: &str| {
        format!("{{ \"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{said}\"}}]}}}}")
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
        // It ends when the proxy does.
        while stdin.write_all(b"{\"method\":\"filler\"}\n").is_ok() {}
    });
    child
}

#[test]
fn a_client_that_stops_reading_can_still_end_it() {
    let scratch = Scratch::new();
    let mut child = stuck(&scratch, "flood");
    // So that it floods already, which nobody reads on.
    child.stdout.as_mut().unwrap().read_exact(&mut vec![0; 100_000]).unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    until(|| child.try_wait().unwrap().is_some());
}

#[test]
fn a_client_that_is_gone_ends_a_server_that_does_not_read() {
    let scratch = Scratch::new();
    let mut child = stuck(&scratch, "linger");
    // The server says one thing more, which cannot be delivered, and nothing after that.
    drop(child.stdout.take());
    until(|| child.try_wait().unwrap().is_some());
}
