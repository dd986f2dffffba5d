//! A test server that sends given replies and records the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// `POST /v1/logs HTTP/1.1`.
    pub(crate) head: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// Returns a header by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the decompressed body.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        flate2::read::GzDecoder::new(self.body.as_slice()).read_to_string(&mut text).unwrap();
        text
    }
}

pub(crate) struct Receiver {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Request>>>,
}

impl Receiver {
    /// Sends these replies in order, each a head without line ends and a body. Repeats the last one.
    pub(crate) fn start(replies: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let requests = Arc::clone(&received);
        let replies: Vec<String> = replies
            .iter()
            .map(|(head, body)| {
                format!("HTTP/1.1 {head}\r\nX-Request-Id: 1\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            })
            .collect();
        thread::spawn(move || {
            for stream in listener.incoming() {
                serve(&stream.unwrap(), &replies, &requests);
            }
        });
        Self { url, received }
    }

    /// Returns the requests so far.
    pub(crate) fn received(&self) -> Vec<Request> {
        self.received.lock().unwrap().clone()
    }
}

/// Answers the requests of one connection.
fn serve(stream: &TcpStream, replies: &[String], requests: &Mutex<Vec<Request>>) {
    let mut lines = BufReader::new(stream);
    while let Some(request) = read(&mut lines) {
        let mut stream = stream;
        // The health check asks for its ports; it has none.
        if request.head.starts_with("GET ") {
            stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").unwrap();
            continue;
        }
        let mut requests = requests.lock().unwrap();
        let reply = replies.get(requests.len()).or(replies.last()).unwrap();
        requests.push(request);
        stream.write_all(reply.as_bytes()).unwrap();
    }
}

fn read(lines: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut line = || {
        let mut line = String::new();
        lines.read_line(&mut line).ok().filter(|read| *read > 0)?;
        Some(line.trim_end().to_owned())
    };
    let head = line()?;
    let mut headers = Vec::new();
    while let Some((name, value)) = line()?.split_once(": ") {
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map(|(_, value)| value.parse().unwrap());
    let mut body = vec![0; length.unwrap_or(0)];
    lines.read_exact(&mut body).ok()?;
    Some(Request { head, headers, body })
}
