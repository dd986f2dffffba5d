//! Does every verdict arrive at the Renown server exactly once?

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::operate::Server;

/// Returns a well-formed key, for servers that do not check keys.
fn any_key() -> String {
    ["rn_pub_", "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P"].concat()
}

fn start(scratch: &Scratch, url: &str, key: &str) -> Proxy {
    let mut command = command(scratch, &["--agent", "shipped", "--server", url], &python(&[]));
    Proxy::spawn(command.env("RENOWN_KEY", key))
}

fn count(server: &Server) -> u64 {
    let listed = server.get("/v1/reputation/shipped");
    listed["eval_count"].as_u64().unwrap_or_default()
}

#[test]
fn every_verdict_is_counted_once_even_after_a_kill() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch.at("server"));
    let mut proxy = start(&scratch, &server.url, &server.publishable);
    for id in 0..30 {
        proxy.say(id, if id % 3 == 0 { "jane.doe@corporation.org" } else { "fine" });
    }
    // Every verdict that the client has seen is on disk or on the server.
    proxy.signal(Signal::KILL);
    proxy.wait();
    let mut next = start(&scratch, &server.url, &server.publishable);
    next.say(1, "fine");
    until(|| count(&server) == 31);
    let (code, _, stderr) = next.end();
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(count(&server), 31);
    let ids: BTreeSet<String> =
        logged(&scratch).iter().map(|line| line["evaluation_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 31);
    assert_eq!(spooled(&scratch), 0);
}

#[test]
fn an_unreachable_server_gets_everything_when_it_is_back() {
    let scratch = Scratch::new();
    let server = Server::start(&scratch.at("server"));
    let (url, key) = (server.url.clone(), server.publishable.clone());
    server.stop();
    let mut proxy = start(&scratch, &url, &key);
    for id in 0..10 {
        assert_eq!(text(&proxy.say(id, "fine")), "fine");
    }
    until(|| proxy.errors().contains("verdicts wait for the server"));
    assert_eq!(spooled(&scratch), 10);
    let address = url.trim_start_matches("http://").to_owned();
    let server = Server::start_with(&["--data", &scratch.at("server"), "--listen", &address]);
    let count = || {
        let (_, _, listed) = server.call("GET", "/v1/reputation/shipped", &key, &Value::Null);
        listed["eval_count"].as_u64().unwrap_or_default()
    };
    until(|| count() == 10);
    let (_, _, stderr) = proxy.end();
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines.len(), 2, "reported once, and its end: {stderr}");
    assert!(lines[0].contains("verdicts wait for the server") && lines[1].contains("again"), "{stderr}");
}

#[test]
fn an_error_of_the_server_is_retried_and_reported_once() {
    for (status, headers) in
        [("429 Too Many Requests", "Retry-After: 2\r\n"), ("503 Busy", ""), ("401 No", "")]
    {
        let scratch = Scratch::new();
        let fake = Fake::start(move |number, _| (number < 2).then_some((status, headers)));
        let mut proxy = start(&scratch, &fake.url, &any_key());
        for id in 0..5 {
            assert_eq!(text(&proxy.say(id, "fine")), "fine", "the client keeps working");
        }
        until(|| fake.accepted().len() == 5);
        let (_, _, stderr) = proxy.end();
        assert_eq!(stderr.lines().count(), 2, "{status}: {stderr}");
        assert_eq!(stderr.matches(status.split(' ').next().unwrap()).count(), 1, "{stderr}");
        let times = fake.times();
        let wait = times[1] - times[0];
        if headers.is_empty() {
            assert!(wait >= Duration::from_millis(500), "{status}: {wait:?}");
        } else {
            assert!(wait >= Duration::from_secs(2), "Retry-After is obeyed, {wait:?}");
        }
    }
}

#[test]
fn one_bad_verdict_is_set_aside_and_the_others_arrive() {
    let scratch = Scratch::new();
    let fake = Fake::start(|_, body| body.contains("\"tool\":\"bad\"").then_some(("400 Bad Request", "")));
    let mut proxy = start(&scratch, &fake.url, &any_key());
    for (id, tool) in ["say", "say", "bad", "say"].into_iter().enumerate() {
        let answer =
            "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}\n";
        if tool == "bad" {
            proxy.call(&json!(9), "bad", &json!({}));
            proxy.call(&json!(10), "raw", &json!({"base64": base64(answer)}));
            proxy.line();
        } else {
            proxy.say(id as u64, "fine");
        }
    }
    let rejected = scratch.at("data/proxy/spool/rejected.jsonl");
    until(|| fake.accepted().len() == 3 && Path::new(&rejected).exists());
    let (_, _, stderr) = proxy.end();
    assert_eq!(stderr.matches("rejected a verdict").count(), 1, "{stderr}");
    let rejected = fs::read_to_string(rejected).unwrap();
    assert_eq!(
        (rejected.lines().count(), rejected.matches("\"tool\":\"bad\"").count()),
        (1, 1),
        "{rejected}"
    );
}

#[test]
fn a_full_disk_does_not_stop_the_proxy_and_is_reported_once() {
    let scratch = Scratch::new();
    let fake = Fake::start(|_, _| None);
    let proxy = command(&scratch, &["--agent", "shipped", "--server", &fake.url], &python(&[]));
    // The limit of file sizes is a few blocks.
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 8 && exec \"$0\" \"$@\""]).arg(proxy.get_program()).args(proxy.get_args());
    limited.env_clear().env("RENOWN_KEY", any_key()).env("PATH", std::env::var_os("PATH").unwrap());
    let mut proxy = Proxy::spawn(&mut limited);
    for id in 0..60 {
        assert_eq!(text(&proxy.say(id, "fine")), "fine");
    }
    until(|| fake.accepted().len() == 60);
    let (code, _, stderr) = proxy.end();
    assert_eq!(code, 0);
    assert_eq!(stderr.matches("the log ").count(), 1, "{stderr}");
    assert!(
        stderr.matches("the spool cannot be written").count()
            <= stderr.matches("can be written again").count() + 1,
        "{stderr}"
    );
}

/// Returns the number of verdicts on disk.
fn spooled(scratch: &Scratch) -> usize {
    let Ok(entries) = fs::read_dir(scratch.at("data/proxy/spool")) else { return 0 };
    let folders = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let spools = files.filter(|path| path.extension().is_some_and(|extension| extension == "spool"));
    spools.map(|path| fs::read_to_string(path).unwrap().lines().count()).sum()
}

/// A test server that accepts verdicts, or sends given errors.
struct Fake {
    url: String,
    received: Arc<Mutex<Received>>,
}

#[derive(Default)]
struct Received {
    times: Vec<Instant>,
    accepted: BTreeSet<String>,
}

impl Fake {
    /// `refuse` gets the number and the body of a request, and returns the status and headers of an error.
    fn start(refuse: impl Fn(usize, &str) -> Option<(&'static str, &'static str)> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Received::default()));
        let kept = Arc::clone(&received);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let body = body(&mut BufReader::new(&stream));
                let mut received = kept.lock().unwrap();
                let number = received.times.len();
                received.times.push(Instant::now());
                let mut text = "{\"error\":\"none\",\"code\":\"none\"}".to_owned();
                let (status, headers) = refuse(number, &body).unwrap_or_else(|| {
                    let body: Value = serde_json::from_str(&body).unwrap();
                    let events = body["events"].as_array().unwrap();
                    for event in events {
                        received.accepted.insert(event["evaluation_id"].as_str().unwrap().to_owned());
                    }
                    text = format!("{{\"accepted\":{},\"duplicates\":0}}", events.len());
                    ("200 OK", "")
                });
                drop(received);
                let start = format!(
                    "HTTP/1.1 {status}\r\n{headers}Content-Type: application/json\r\nConnection: close\r\n"
                );
                let _ = write!(stream, "{start}Content-Length: {}\r\n\r\n{text}", text.len());
            }
        });
        Self { url, received }
    }

    fn accepted(&self) -> BTreeSet<String> {
        self.received.lock().unwrap().accepted.clone()
    }

    fn times(&self) -> Vec<Instant> {
        self.received.lock().unwrap().times.clone()
    }
}

/// Returns the body of a request.
fn body(reader: &mut impl BufRead) -> String {
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}
