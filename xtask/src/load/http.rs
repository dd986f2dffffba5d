//! As much of HTTP/1.1 as a load needs: requests made in advance, and finding the end of a reply.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use memchr::memmem;

use super::Reply;

/// Timeout of a single request.
const PATIENCE: Duration = Duration::from_secs(10);

/// A `GET`.
pub(crate) fn get(path: &str, key: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n").into_bytes()
}

/// A `POST` of JSON.
pub(crate) fn post(path: &str, key: &str, body: &str) -> Vec<u8> {
    send("POST", path, key, "", body)
}

/// A request with JSON. Each of the other `headers` is a line with its end.
pub(crate) fn send(method: &str, path: &str, key: &str, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n{headers}\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Returns whether a reply is complete: a status, headers with a length, and a body of that length.
pub(super) fn reply(received: &[u8], status: u16) -> Reply {
    let Some(head_end) = memmem::find(received, b"\r\n\r\n") else { return Reply::Unfinished };
    let (head, rest) = received.split_at(head_end);
    let body = rest.len() - 4;
    match (status_of(head), body_length(head)) {
        (Some(found), Some(length)) if found == status => match body {
            body if body < length => Reply::Unfinished,
            body if body == length => Reply::Whole,
            _ => Reply::Wrong,
        },
        // An error is shown with its body.
        (Some(_), Some(length)) if body < length => Reply::Unfinished,
        _ => Reply::Wrong,
    }
}

/// The same for a server that may be busy: 503 with `Retry-After` is not an error.
pub(super) fn reply_or_busy(received: &[u8], status: u16) -> Reply {
    const BUSY: u16 = 503;
    let found = reply(received, status);
    if found != Reply::Wrong || reply(received, BUSY) != Reply::Whole {
        return found;
    }
    let head = memmem::find(received, b"\r\n\r\n").and_then(|end| received.get(..end)).unwrap_or_default();
    header::<u32>(head, b"retry-after:").map_or(Reply::Wrong, |seconds| Reply::Busy(seconds.into()))
}

/// Sends one request outside of a load, and returns the body of its reply.
pub(crate) fn fetch(address: SocketAddr, request: &[u8], status: u16) -> Result<Vec<u8>> {
    fetch_one_of(address, request, &[status])
}

/// The same, with several good statuses.
pub(crate) fn fetch_one_of(address: SocketAddr, request: &[u8], statuses: &[u16]) -> Result<Vec<u8>> {
    Ok(body(&exchange(address, request, statuses)?).to_vec())
}

/// The same, and returns the reply with its head.
pub(crate) fn exchange(address: SocketAddr, request: &[u8], statuses: &[u16]) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(request)?;
    let (mut received, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut part)?;
        ensure!(count > 0, "{address} closed the connection");
        received.extend_from_slice(part.get(..count).unwrap_or_default());
        let replies: Vec<Reply> = statuses.iter().map(|status| reply(&received, *status)).collect();
        if replies.contains(&Reply::Whole) {
            return Ok(received);
        }
        if replies.iter().all(|reply| *reply == Reply::Wrong) {
            bail!("wrong reply: {}", super::shown(&received));
        }
    }
}

fn body(reply: &[u8]) -> &[u8] {
    let end = memmem::find(reply, b"\r\n\r\n").map_or(reply.len(), |end| end + 4);
    reply.get(end..).unwrap_or_default()
}

fn status_of(head: &[u8]) -> Option<u16> {
    number(head.strip_prefix(b"HTTP/1.1 ")?.get(..3)?)
}

fn body_length<N: TryFrom<u32>>(head: &[u8]) -> Option<N> {
    header(head, b"content-length:")
}

/// Returns the number in a header, which is named with its colon.
fn header<N: TryFrom<u32>>(head: &[u8], name: &[u8]) -> Option<N> {
    let line = head
        .split(|&byte| byte == b'\n')
        .find(|line| line.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)))?;
    number(line.get(name.len()..)?.trim_ascii())
}

/// Parses a whole number as both protocols write it.
pub(super) fn number<N: TryFrom<u32>>(digits: &[u8]) -> Option<N> {
    let number: u32 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    N::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nContent-Length: 5\r\n\r\nhello";

    #[test]
    fn a_reply_cut_at_any_byte_is_unfinished() {
        for end in 0..GOOD.len() {
            assert_eq!(reply(&GOOD.as_bytes()[..end], 200), Reply::Unfinished, "{end}");
        }
        assert_eq!(reply(GOOD.as_bytes(), 200), Reply::Whole);
        assert_eq!(body(GOOD.as_bytes()), b"hello");
    }

    #[test]
    fn a_busy_server_says_when_to_come_back() {
        let busy = "HTTP/1.1 503 Busy\r\nRetry-After: 2\r\ncontent-length: 4\r\n\r\nbusy";
        for end in 0..busy.len() {
            assert_eq!(reply_or_busy(&busy.as_bytes()[..end], 200), Reply::Unfinished, "{end}");
        }
        assert_eq!(reply_or_busy(busy.as_bytes(), 200), Reply::Busy(2));
        assert_eq!(reply_or_busy(GOOD.as_bytes(), 200), Reply::Whole);
        let without = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n";
        assert_eq!(reply_or_busy(without.as_bytes(), 200), Reply::Wrong);
    }

    #[test]
    fn what_is_not_the_reply_is_wrong() {
        let cases = [
            ("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n", Reply::Wrong),
            ("HTTP/1.1 503 Busy\r\ncontent-length: 2\r\n\r\n{", Reply::Unfinished),
            ("HTTP/1.1 200 OK\r\n\r\n", Reply::Wrong),
            ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab", Reply::Wrong),
            ("HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n", Reply::Wrong),
            ("SSH-2.0\r\n\r\n", Reply::Wrong),
        ];
        for (received, expected) in cases {
            assert_eq!(reply(received.as_bytes(), 200), expected, "{received}");
        }
    }
}
