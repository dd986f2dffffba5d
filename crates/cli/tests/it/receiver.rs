//! A server that answers what it is told to, and remembers what it was sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// `POST /v1/logs HTTP/1.1`.
    pub(crate) head: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Taken {
    /// A header by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body, unpacked.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        flate2::read::GzDecoder::new(self.body.as_slice()).read_to_string(&mut text).unwrap();
        text
    }
}

pub(crate) struct Receiver {
    pub(crate) url: String,
    taken: Arc<Mutex<Vec<Taken>>>,
}

impl Receiver {
    /// Answers with these, each a head without line ends and a body, and with the last of them from then on.
    pub(crate) fn start(replies: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let taken = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&taken);
        let replies: Vec<String> = replies
            .iter()
            .map(|(head, body)| {
                format!("HTTP/1.1 {head}\r\nX-Request-Id: 1\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            })
            .collect();
        thread::spawn(move || {
            for stream in listener.incoming() {
                serve(&stream.unwrap(), &replies, &heard);
            }
        });
        Self { url, taken }
    }

    /// What was sent so far.
    pub(crate) fn taken(&self) -> Vec<Taken> {
        self.taken.lock().unwrap().clone()
    }
}

/// Answers on one connection until it ends.
fn serve(stream: &TcpStream, replies: &[String], heard: &Mutex<Vec<Taken>>) {
    let mut lines = BufReader::new(stream);
    while let Some(request) = read(&mut lines) {
        let mut stream = stream;
        // It is asked for its ports, and has none to name.
        if request.head.starts_with("GET ") {
            stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").unwrap();
            continue;
        }
        let mut heard = heard.lock().unwrap();
        let reply = replies.get(heard.len()).or(replies.last()).unwrap();
        heard.push(request);
        stream.write_all(reply.as_bytes()).unwrap();
    }
}

fn read(lines: &mut BufReader<&TcpStream>) -> Option<Taken> {
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
    Some(Taken { head, headers, body })
}
