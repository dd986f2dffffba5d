//! An HTTP client that sends exactly the given bytes, without a library.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use renown_testing::PATIENCE;
use serde_json::Value;

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<Vec<u8>>,
}

impl Request {
    pub(super) fn new(method: &str, path: &str) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: None }
    }

    pub(super) fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    /// A POST of JSON.
    pub(super) fn post(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let request = Self { body: Some(body.into()), ..Self::new("POST", path) };
        request.header("Content-Type", "application/json")
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn key(self, key: &str) -> Self {
        self.header("Authorization", &format!("Bearer {key}"))
    }

    /// Returns the bytes of the request, for a connection that stays open or not.
    pub(super) fn bytes(&self, close: bool) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: localhost\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        if let Some(body) = &self.body {
            head.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
        }
        head.push_str(if close { "Connection: close\r\n\r\n" } else { "\r\n" });
        [head.as_bytes(), self.body.as_deref().unwrap_or_default()].concat()
    }
}

/// A reply.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// A connection for several replies.
pub(super) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(super) fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self(BufReader::new(stream))
    }

    pub(super) fn stream(&self) -> &TcpStream {
        self.0.get_ref()
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.stream().write_all(bytes)
    }

    /// Reads one line without its end, or `None` at the end of the stream.
    pub(super) fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line)?;
        Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
    }

    /// Reads the status and the headers of the next reply.
    pub(super) fn head(&mut self) -> io::Result<Reply> {
        let status = self.line()?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok());
        let mut reply = Reply {
            status: status.ok_or(io::ErrorKind::InvalidData)?,
            headers: Vec::new(),
            body: Vec::new(),
        };
        while let Some(line) = self.line()?.filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').ok_or(io::ErrorKind::InvalidData)?;
            reply.headers.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        Ok(reply)
    }

    /// Reads the next reply with its body.
    pub(super) fn reply(&mut self, method: &str) -> io::Result<Reply> {
        let mut reply = self.head()?;
        let length = reply.header("content-length").and_then(|length| length.parse().ok());
        if method != "HEAD" {
            reply.body = vec![0; length.unwrap_or(0)];
            self.0.read_exact(&mut reply.body)?;
        }
        Ok(reply)
    }

    /// Reads everything until the server closes.
    pub(super) fn rest(&mut self) -> io::Result<Vec<u8>> {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).map(|_| rest)
    }
}

/// Sends a request on a new connection and reads its reply.
pub(super) fn send(address: SocketAddr, request: &Request) -> io::Result<Reply> {
    let mut connection = Connection::open(address);
    connection.write(&request.bytes(true))?;
    connection.reply(&request.method)
}
