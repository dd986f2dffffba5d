//! The HTTP transport against servers that are not Renown.

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use renown_shipping::{Destination, Http, ServerReply, Transport};

/// Starts a server that answers every request with the result of `reply`. The receiver gets the first line of each
/// request.
fn fake(reply: impl Fn(&str) -> String + Send + 'static) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = channel();
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
            sender.send(first.trim().to_owned()).unwrap();
            reader.get_mut().write_all(reply(&own).as_bytes()).unwrap();
        }
    });
    (url, requests)
}

fn with_body(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

fn posted(url: String) -> ServerReply {
    Http::new(&Destination { server: url, key: "k".to_owned() }).post("{\"events\":[1]}", 1)
}

#[test]
fn a_login_portal_does_not_confirm_verdicts() {
    let (url, _requests) = fake(|_| with_body("200 OK", "<html>portal</html>"));
    let why = "HTTP status 200, but the reply does not confirm the verdicts".to_owned();
    assert_eq!(posted(url), ServerReply::Later { why, after: None });
    let (url, _requests) = fake(|_| with_body("202 Accepted", r#"{"accepted":1,"duplicates":0}"#));
    assert_eq!(posted(url), ServerReply::Accepted);
}

#[test]
fn redirects_are_not_followed() {
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let (url, requests) = fake(move |own| {
            format!(
                "HTTP/1.1 {status}\r\nLocation: {own}/portal\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
        });
        assert!(matches!(posted(url), ServerReply::Later { .. }), "{status}");
        assert_eq!(requests.try_iter().collect::<Vec<_>>(), ["POST /v1/ingest HTTP/1.1"], "{status}");
    }
}
