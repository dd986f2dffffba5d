//! Clients that send too much, too slowly, or garbage, or disconnect. Does the server still answer the next good request?

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::http::{Connection, Reply, Request};
use super::server::Server;

const MEGABYTE: usize = 1 << 20;

fn evaluate(server: &Server, agent: &str) -> Request {
    let body = json!({"agent_id": agent, "output": "done"}).to_string();
    Request::post("/v1/evaluate", body).key(&server.publishable)
}

/// Checks that a good request is answered quickly.
fn assert_well(server: &Server) {
    let started = Instant::now();
    assert_eq!(server.evaluate("well").status, 200);
    assert!(started.elapsed() < Duration::from_secs(5), "a good request took {:?}", started.elapsed());
}

/// Sends bytes, and reads the reply until the server closes.
fn answer_to(server: &Server, bytes: &[u8]) -> String {
    let mut connection = Connection::open(server.address);
    let _ = connection.write(bytes);
    let _ = connection.stream().shutdown(Shutdown::Write);
    String::from_utf8_lossy(&connection.rest().unwrap_or_default()).into_owned()
}

/// Returns the peak memory of the server.
#[cfg(target_os = "linux")]
fn peak_bytes(server: &Server) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[test]
#[cfg(target_os = "linux")]
fn a_body_of_100_mb_is_refused_without_being_held() {
    let server = Server::start();
    let refused = |head: &str, chunk: &[u8]| -> Reply {
        let mut connection = Connection::open(server.address);
        let start =
            format!("POST /v1/ingest HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n", server.secret);
        connection.write(format!("{start}{head}\r\n\r\n").as_bytes()).unwrap();
        for _ in 0..100 {
            // The server may have answered and closed before it has read everything.
            if connection.write(chunk).is_err() {
                break;
            }
        }
        let _ = connection.write(b"0\r\n\r\n");
        connection.reply("POST").unwrap()
    };
    assert_well(&server);
    let megabyte = vec![b' '; MEGABYTE];
    let chunked = [format!("{MEGABYTE:x}\r\n").as_bytes(), &megabyte, b"\r\n"].concat();
    let both = [
        (format!("Content-Length: {}", 100 * MEGABYTE), &megabyte),
        ("Transfer-Encoding: chunked".to_owned(), &chunked),
    ];
    let before = peak_bytes(&server);
    for _ in 0..2 {
        for (head, chunk) in &both {
            let reply = refused(head, chunk);
            assert_eq!((reply.status, reply.json()["code"].as_str()), (413, Some("too_large")), "{head}");
        }
    }
    // 400 MB were sent. The allocator keeps a few megabytes for the next bodies.
    let grown = peak_bytes(&server) - before;
    assert!(grown < 40 * MEGABYTE, "{grown} bytes more at its peak");
    assert_well(&server);
}

#[test]
fn chunked_bodies_are_accepted() {
    let server = Server::start();
    let body = json!({"agent_id": "chunked", "output": "done"}).to_string();
    let head = format!(
        "POST /v1/evaluate HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        server.publishable
    );
    let chunks: Vec<String> = body.chars().map(|char| format!("1\r\n{char}\r\n")).collect();
    let chunks = chunks.concat();
    let mut connection = Connection::open(server.address);
    connection.write(format!("{head}{chunks}0\r\n\r\n").as_bytes()).unwrap();
    assert_eq!(connection.reply("POST").unwrap().status, 200);
    assert_eq!(server.eval_count("chunked"), 1);
    // A chunk with a wrong or invalid size counts nothing.
    for bad in [format!("{head}ffffffffffffffff\r\n{body}"), format!("{head}x\r\n{body}\r\n0\r\n\r\n")] {
        let answer = answer_to(&server, bad.as_bytes());
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert_eq!(server.eval_count("chunked"), 1);
}

#[test]
fn http_garbage_is_rejected() {
    let server = Server::start();
    let long_header = format!("GET /health HTTP/1.1\r\nHost: x\r\nX-Long: {}\r\n\r\n", "a".repeat(MEGABYTE));
    let many_headers = format!("GET /health HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(10_000));
    let long_path = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(MEGABYTE));
    let two_lengths =
        "POST /v1/evaluate HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx";
    let smuggled = "POST /v1/evaluate HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n";
    for bytes in [
        b"\0\0\0\0\0\0\0\0".as_slice(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"HELO there\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /health HTTP/9.9\r\n\r\n",
        b"GET /health HTTP/1.1\r\nbad header\r\n\r\n",
        b"GET /health\x01 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\ngarbage after the preface of HTTP/2",
        b"P",
        b"PRI",
        b"\r\n\r\n\r\n",
        long_header.as_bytes(),
        many_headers.as_bytes(),
        long_path.as_bytes(),
        two_lengths.as_bytes(),
        smuggled.as_bytes(),
        &[0xff; 10_000],
    ] {
        let answer = answer_to(&server, bytes);
        let shown = String::from_utf8_lossy(bytes.get(..40.min(bytes.len())).unwrap()).into_owned();
        // A reply of HTTP/2 is a frame, which does not start with letters.
        let refused = answer.is_empty() || answer.starts_with("HTTP/1.1 4") || bytes.starts_with(b"PRI");
        assert!(refused, "{shown:?}: {answer:?}");
        // Every reply has the shape of an error.
        let has_shape = answer.contains(r#","code":""#) && answer.contains("x-request-id: ");
        assert!(has_shape || !answer.starts_with("HTTP/1.1 "), "{shown:?}: {answer:?}");
        assert_well(&server);
    }
}

#[test]
fn a_body_that_is_no_utf8_is_no_json() {
    let server = Server::start();
    for body in [
        b"{\"agent_id\":\"a\xff\",\"output\":1}".as_slice(),
        b"{\"agent_id\":\"a\",\"output\":\"\xc3\x28\"}",
        b"\xff\xfe{\0}\0",
    ] {
        let reply = server.send(&Request::post("/v1/evaluate", body).key(&server.publishable));
        assert_eq!((reply.status, reply.json()["code"].as_str()), (400, Some("bad_json")));
    }
    assert_well(&server);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Server::start();
    let mut connection = Connection::open(server.address);
    let agents: Vec<String> = (0..50).map(|number| format!("pipe-{number}")).collect();
    let mut bytes = Vec::new();
    for agent in &agents {
        bytes.extend(evaluate(&server, agent).bytes(false));
        bytes.extend(Request::get(&format!("/v1/reputation/{agent}")).key(&server.publishable).bytes(false));
    }
    connection.write(&bytes).unwrap();
    for agent in &agents {
        assert_eq!(connection.reply("POST").unwrap().json()["reputation"]["eval_count"], 1);
        let record = connection.reply("GET").unwrap().json();
        assert_eq!(
            (record["agent_id"].as_str(), record["eval_count"].as_u64()),
            (Some(agent.as_str()), Some(1))
        );
    }
}

#[test]
fn a_connection_stays_open_after_an_error() {
    let server = Server::start();
    let mut connection = Connection::open(server.address);
    for (request, status) in [
        (Request::post("/v1/evaluate", "{").key(&server.publishable), 400),
        (Request::post("/v1/evaluate", "{}"), 401),
        (Request::post("/v1/nothing", "{}").key(&server.publishable), 404),
        (Request::post("/v1/evaluate", vec![b' '; MEGABYTE + 1]).key(&server.publishable), 413),
        (Request::new("HEAD", "/v1/reputation/a").key(&server.publishable), 200),
        (Request::new("HEAD", "/v1/reputation/a"), 401),
        (Request::new("DELETE", "/v1/evaluate").key(&server.publishable), 405),
        (evaluate(&server, "on"), 200),
    ] {
        connection.write(&request.bytes(false)).unwrap();
        assert_eq!(
            connection.reply(&request.method).unwrap().status,
            status,
            "{} {}",
            request.method,
            request.path
        );
    }
}

#[test]
fn expect_continue_is_answered() {
    let server = Server::start();
    let request = evaluate(&server, "expect").header("Expect", "100-continue");
    let body = request.body.clone().unwrap();
    let bytes = request.bytes(false);
    let head = bytes.get(..bytes.len() - body.len()).unwrap();
    let mut connection = Connection::open(server.address);
    connection.write(head).unwrap();
    assert_eq!(connection.head().unwrap().status, 100);
    connection.write(&body).unwrap();
    assert_eq!(connection.reply("POST").unwrap().status, 200);
    // Without a key, the server does not ask for the body.
    let head = "POST /v1/evaluate HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n";
    let mut connection = Connection::open(server.address);
    connection.write(head.as_bytes()).unwrap();
    assert_eq!(connection.reply("POST").unwrap().status, 401);
}

#[test]
fn half_closed_connections_do_no_harm() {
    let server = Server::start();
    for cut in [1, 2, 3, 20, 100, evaluate(&server, "half").bytes(true).len() - 1] {
        let bytes = evaluate(&server, "half").bytes(true);
        let answer = answer_to(&server, bytes.get(..cut).unwrap());
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "cut at {cut}: {answer}");
    }
    assert_eq!(server.eval_count("half"), 0);
    // A complete request on a half-closed connection may be answered or not; it is never counted twice.
    let answer = answer_to(&server, &evaluate(&server, "half").bytes(true));
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_well(&server);
}

#[test]
fn ten_thousand_idle_connections_do_not_slow_others_down() {
    let server = Server::start();
    // Each is an open file on both sides. If the system allows fewer, use as many as leave room for the rest.
    let allowed = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(1024);
    let count = usize::try_from(allowed).unwrap().saturating_sub(500).min(10_000);
    let idle: Vec<TcpStream> = (0..count).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    // Some have started a request.
    for mut stream in idle.iter().step_by(10) {
        stream.write_all(b"POST /v1/evaluate HTTP/1.1\r\nHost: x\r\n").unwrap();
    }
    assert_well(&server);
    assert_eq!(server.eval_count("well"), 1);
    drop(idle);
    assert_well(&server);
}

#[test]
fn http2_is_spoken_on_the_same_port() {
    let server = Server::start();
    // The preface and an empty SETTINGS frame; the answer begins with the SETTINGS of the server.
    let hello = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    // Also if the first bytes arrive one by one.
    for pieces in [vec![hello.as_slice()], hello.chunks(1).collect()] {
        let mut connection = Connection::open(server.address);
        connection.stream().set_nodelay(true).unwrap();
        for piece in pieces {
            connection.write(piece).unwrap();
            thread::yield_now();
        }
        let mut frame = [0; 9];
        read_exact(&mut connection, &mut frame).unwrap();
        assert_eq!(frame.get(3), Some(&4), "{frame:?}");
    }
    assert_well(&server);
}

fn read_exact(connection: &mut Connection, buffer: &mut [u8]) -> io::Result<()> {
    connection.stream().read_exact(buffer)
}

/// The client sends a write and disconnects at once. A retry with the same key must count exactly once.
#[test]
fn a_client_that_disconnects_and_retries_is_counted_once() {
    const ROUNDS: u64 = 40;
    let server = Server::start();
    for round in 0..ROUNDS {
        let request = evaluate(&server, "gone").header("Idempotency-Key", &format!("round-{round}"));
        let connection = Connection::open(server.address);
        connection.write(&request.bytes(false)).unwrap();
        drop(connection);
        // While the first request is in progress, the retry is a conflict.
        let reply = loop {
            let reply = server.send(&request);
            if reply.status != 409 {
                break reply;
            }
        };
        assert_eq!(reply.status, 200);
        assert_eq!(reply.json()["reputation"]["eval_count"], round + 1, "{}", reply.text());
    }
    assert_eq!(server.eval_count("gone"), ROUNDS);
}
