//! The real transport against servers that are none.

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use renown_shipping::{Destination, Http, Reply, Transport};

/// Answers every request with the same bytes, and tells the first line of each.
fn fake(reply: impl Fn(&str) -> String + Send + 'static) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (tell, told) = channel();
    let own = url.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut first, mut length) = (String::new(), 0);
            reader.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            reader.by_ref().take(length).read_to_end(&mut Vec::new()).unwrap();
            tell.send(first.trim().to_owned()).unwrap();
            reader.get_mut().write_all(reply(&own).as_bytes()).unwrap();
        }
    });
    (url, told)
}

fn with_body(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

fn posted(url: String) -> Reply {
    Http::new(&Destination { server: url, key: "k".to_owned() }).post("{\"events\":[1]}", 1)
}

#[test]
fn a_portal_has_not_taken_anything() {
    let (url, _told) = fake(|_| with_body("200 OK", "<html>portal</html>"));
    let why = "it answered 200 without taking the verdicts".to_owned();
    assert_eq!(posted(url), Reply::Later { why, after: None });
    let (url, _told) = fake(|_| with_body("202 Accepted", r#"{"accepted":1,"duplicates":0}"#));
    assert_eq!(posted(url), Reply::Accepted);
}

#[test]
fn nobody_is_followed_elsewhere() {
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let (url, told) = fake(move |own| {
            format!(
                "HTTP/1.1 {status}\r\nLocation: {own}/portal\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
        });
        assert!(matches!(posted(url), Reply::Later { .. }), "{status}");
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ["POST /v1/ingest HTTP/1.1"], "{status}");
    }
}
