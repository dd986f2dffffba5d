//! Malformed heads get an error in the usual shape. Each limit is tested on both sides.

use renown_server::Limits;
use renown_store::sqlite::system_clock;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::running::{Running, start};

/// Sends bytes. Returns all text until the server closes the connection.
async fn text(server: &Running, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

/// Builds a head of this many bytes in total.
fn head_of(bytes: usize) -> Vec<u8> {
    let (begin, end) = ("GET /health HTTP/1.1\r\nConnection: close\r\nX: ", "\r\n\r\n");
    format!("{begin}{}{end}", "x".repeat(bytes - begin.len() - end.len())).into_bytes()
}

fn headers(count: usize) -> Vec<u8> {
    format!("GET /health HTTP/1.1\r\nConnection: close\r\n{}\r\n", "A: b\r\n".repeat(count - 1)).into_bytes()
}

#[tokio::test]
async fn every_refused_head_gets_an_error_in_the_usual_shape() {
    let server = start(Limits::default(), system_clock()).await;
    let path = |chars: usize| format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(chars)).into_bytes();
    let (bad, large) = ((400, "validation_error"), (431, "head_too_large"));
    for (bytes, (status, code)) in [
        (b"HELO there\r\n\r\n".to_vec(), bad),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(), bad),
        (b"GET /health HTTP/1.1\r\nbad header\r\n\r\n".to_vec(), bad),
        (b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n".to_vec(), bad),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx".to_vec(), bad),
        (b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nHELO there\r\n\r\n".to_vec(), bad),
        (head_of(64 * 1024 + 1), large),
        // The sender gets the error even if it sends more than the limit.
        (head_of(4 * 1024 * 1024), large),
        (headers(101), large),
        (path(1024 * 1024), large),
    ] {
        let text = text(&server, &bytes).await;
        let shown = String::from_utf8_lossy(bytes.get(..40.min(bytes.len())).unwrap()).into_owned();
        let refusal = text.get(text.rfind("HTTP/1.1 ").unwrap()..).unwrap();
        let (head, body) = refusal.split_once("\r\n\r\n").unwrap();
        let header = |name: &str| {
            head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default()
        };
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{shown}: {head}");
        assert_eq!(header("content-length"), body.len().to_string(), "{shown}");
        assert_eq!((header("content-type"), header("connection")), ("application/json", "close"), "{shown}");
        assert!(header("x-request-id").len() == 36 && header("date").ends_with("GMT"), "{shown}: {head}");
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!((body["status"].as_u64(), body["code"].as_str()), (Some(status), Some(code)), "{shown}");
        assert!(body["error"].as_str().unwrap().contains("expected"), "{shown}: {body}");
    }
    for bytes in [head_of(64 * 1024), headers(100)] {
        assert!(text(&server, &bytes).await.starts_with("HTTP/1.1 200 OK\r\n"));
    }
}

/// Builds an HTTP/2 frame on stream 1.
fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, 1], payload].concat()
}

/// Sends `GET /health` over HTTP/2 with a header of `padding` bytes. Returns the body of the reply.
async fn ask_http2(server: &Running, padding: usize) -> Value {
    const FRAME_BYTES_MAX: usize = 16 * 1024;
    // Method, scheme and path from the static table, then a literal header: its name, and its value with a length above 127 in groups of
    // seven bits.
    let mut fields = b"\x82\x86\x04\x07/health\x00\x01x\x7f".to_vec();
    let mut rest = padding - 127;
    while rest > 127 {
        fields.push(u8::try_from(rest & 127).unwrap() | 128);
        rest >>= 7;
    }
    fields.push(u8::try_from(rest).unwrap());
    fields.extend(vec![b'x'; padding]);
    let (first, others) = fields.split_at(FRAME_BYTES_MAX.min(fields.len()));
    let (end_stream, end_headers) = (1, if others.is_empty() { 4 } else { 0 });
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    bytes.extend(frame(1, end_stream | end_headers, first));
    if !others.is_empty() {
        bytes.extend(frame(9, 4, others));
    }
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let [high, middle, low, kind, ..] = head;
        let mut payload = vec![0; usize::try_from(u32::from_be_bytes([0, high, middle, low])).unwrap()];
        stream.read_exact(&mut payload).await.unwrap();
        if kind == 0 {
            return serde_json::from_slice(&payload).unwrap();
        }
    }
}

#[tokio::test]
async fn a_large_http2_header_list_gets_an_error_with_a_body() {
    let server = start(Limits::default(), system_clock()).await;
    assert_eq!(ask_http2(&server, 16_000).await["status"], "ok");
    for padding in [16 * 1024, 30_000] {
        let body = ask_http2(&server, padding).await;
        assert_eq!((body["status"].as_u64(), body["code"].as_str()), (Some(431), Some("head_too_large")));
    }
}
