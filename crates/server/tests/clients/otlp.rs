//! Telemetry over real sockets: every encoding and transport, authentication, limits and errors.

mod answers;
mod authentication;
mod encodings;
mod grpc;
mod limits;
mod records;

use std::io::Write;
use std::net::SocketAddr;

use flate2::Compression;
use flate2::write::GzEncoder;
use renown_store::{DEFAULT_ORG, Reads, SessionQuery};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::running::Running;

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/x-protobuf";

/// A reply of the server.
#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let found =
            |line: &'_ str| line.split_once(": ").is_some_and(|(key, _)| key.eq_ignore_ascii_case(name));
        let line = self.head.lines().find(|line| found(line))?;
        line.split_once(": ").map(|(_, value)| value)
    }

    /// Returns status and machine code of a JSON error.
    fn refusal(&self) -> (u16, String) {
        (self.status, self.json().get("code").and_then(Value::as_str).unwrap().to_owned())
    }
}

/// A request. A test changes the parts that matter to it.
#[derive(Clone, Debug)]
struct Post {
    address: SocketAddr,
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    is_chunked: bool,
}

impl Post {
    /// Logs from this machine without a key, to the port for OTLP over HTTP.
    fn logs(server: &Running, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Host", "localhost".to_owned()), ("Content-Type", content_type.to_owned())];
        let (address, path) = (server.otlp_http, "/v1/logs".to_owned());
        Self { address, method: "POST", path, headers, body: body.into(), is_chunked: false }
    }

    fn to(self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    /// Sets or removes a header.
    fn with(mut self, name: &'static str, value: impl Into<Option<&'static str>>) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.extend(value.into().map(|value| (name, value.to_owned())));
        self
    }

    fn key(mut self, key: &str) -> Self {
        self.headers.push(("Authorization", format!("Bearer {key}")));
        self
    }

    fn gzip(self) -> Self {
        let body = gzip(&self.body);
        Self { body, ..self }.with("Content-Encoding", "gzip")
    }

    fn head(&self) -> String {
        let headers: Vec<String> =
            self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = if self.is_chunked {
            "Transfer-Encoding: chunked".to_owned()
        } else {
            format!("Content-Length: {}", self.body.len())
        };
        let (method, path, headers) = (self.method, &self.path, headers.concat());
        format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{headers}{length}\r\n\r\n")
    }

    async fn send(&self) -> Reply {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut bytes = self.head().into_bytes();
        if self.is_chunked {
            for chunk in self.body.chunks((self.body.len() / 3).max(1)) {
                bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
                bytes.extend([chunk, b"\r\n"].concat());
            }
            bytes.extend(b"0\r\n\r\n");
        } else {
            bytes.extend(&self.body);
        }
        stream.write_all(&bytes).await.unwrap();
        reply(&mut stream).await
    }
}

/// Reads a reply until the server closes the connection.
async fn reply(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let body = bytes.split_off(end + 4);
    let head = String::from_utf8(bytes).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reply { status, head, body }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Reads all sessions of an organization with their performance.
async fn sessions_of(server: &Running, org: &str) -> Value {
    let query = SessionQuery { limit: 100, ..SessionQuery::default() };
    let found = server.store.sessions(&org.parse().unwrap(), query).await.unwrap();
    let report = |ledger: &renown_telemetry::ledger::Session| serde_json::to_value(ledger.report()).unwrap();
    found.sessions.iter().map(|session| json!({"report": session.ledger.as_ref().map(report)})).collect()
}

async fn sessions(server: &Running) -> Value {
    sessions_of(server, DEFAULT_ORG).await
}

/// Counts the sessions.
async fn count(server: &Running) -> usize {
    sessions(server).await.as_array().unwrap().len()
}
