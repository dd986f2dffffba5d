//! Timeouts, slow clients, and requests that wait for the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use renown_server::Limits;
use renown_store::sqlite::system_clock;
use renown_store::{Clock, ClockError, Reads};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::running::{LONG, SHORT, Setup, answer, start, start_with};

const EVALUATE: &str = r#"{"agent_id":"a","output":1}"#;

#[tokio::test]
async fn a_slow_body_is_refused() {
    let server = start(Limits { body_time_max: SHORT, ..Limits::default() }, system_clock()).await;
    let whole = server.request("POST", "/v1/evaluate", "Connection: close\r\n", EVALUATE);
    let (all_but_one, _) = whole.split_at(whole.len() - 1);
    let (status, body) = server.send(all_but_one).await;
    assert_eq!((status, body.get("code").and_then(Value::as_str)), (408, Some("timeout")));
    assert_eq!(server.ask("POST", "/v1/evaluate", "", EVALUATE).await.0, 200);
}

#[tokio::test]
async fn a_connection_with_a_slow_head_is_closed() {
    let server = start(Limits { head_time_max: SHORT, ..Limits::default() }, system_clock()).await;
    for begun in ["", "P", "PR", "GET /health HTT", "GET /health HTTP/1.1\r\nX: 1\r\n"] {
        let (status, _) = server.send(begun).await;
        assert!(status == 0 || status == 408, "{begun:?}: {status}");
    }
    // An idle connection is closed too, after its first request.
    let (status, _) = server.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn a_connection_over_the_limit_waits_until_another_is_closed() {
    let server = start(Limits { connections_max: 1, ..Limits::default() }, system_clock()).await;
    let first = TcpStream::connect(server.address).await.unwrap();
    let health = "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let mut waiting = Box::pin(server.send(health));
    assert!(tokio::time::timeout(SHORT, &mut waiting).await.is_err());
    drop(first);
    assert_eq!(tokio::time::timeout(LONG, waiting).await.unwrap().0, 200);
}

#[tokio::test]
async fn a_revocation_is_finished_even_if_its_client_disconnects() {
    let server = start(Limits::default(), system_clock()).await;
    let (_, made) = server.ask("POST", "/v1/keys", "", r#"{"kind":"publishable"}"#).await;
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    server.store.block();
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let revoke = server.request("DELETE", &format!("/v1/keys/{id}"), "", "");
    stream.write_all(revoke.as_bytes()).await.unwrap();
    server.store.wait_until_blocked().await;
    drop(stream);
    server.store.unblock();
    let ask = format!(
        "GET /v1/agents HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n\r\n"
    );
    let revoked = async { while server.send(&ask).await.0 != 401 {} };
    tokio::time::timeout(LONG, revoked).await.unwrap();
}

#[tokio::test]
async fn a_revocation_keeps_connections_without_a_request_open() {
    let server = start(Limits::default(), system_clock()).await;
    let mut idle = TcpStream::connect(server.address).await.unwrap();
    let (_, made) = server.ask("POST", "/v1/keys", "", r#"{"kind":"publishable"}"#).await;
    let path = format!("/v1/keys/{}", made["id"].as_str().unwrap());
    assert_eq!(server.ask("DELETE", &path, "", "").await.0, 204);
    idle.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
    assert_eq!(answer(&mut idle).await.0, 200);
}

#[tokio::test]
async fn a_key_that_is_revoked_during_its_creation_is_invalid() {
    let server = start(Limits::default(), system_clock()).await;
    server.store.block_key_replies();
    let mut making = Box::pin(server.ask("POST", "/v1/keys", "", r#"{"kind":"publishable"}"#));
    // The key is in the store, and the server does not know it yet.
    tokio::select! {
        _ = &mut making => unreachable!("the reply is blocked"),
        () = server.store.wait_until_blocked() => {}
    }
    let id = server.store.keys().await.unwrap().last().unwrap().key.id;
    let path = format!("/v1/keys/{id}");
    let mut revoking = Box::pin(server.ask("DELETE", &path, "", ""));
    let early = tokio::time::timeout(SHORT, &mut revoking).await;
    server.store.unblock_key_replies();
    let (_, made) = making.await;
    let (status, _) = if let Ok(early) = early { early } else { revoking.await };
    assert_eq!(status, 204);
    let ask = format!(
        "GET /v1/agents HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\r\n",
        made["key"].as_str().unwrap()
    );
    assert_eq!(server.send(&ask).await.0, 401);
}

#[tokio::test]
async fn a_retry_counts_nothing_while_the_first_request_is_in_flight() {
    let server = start(Limits::default(), system_clock()).await;
    server.store.block();
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = server.request("POST", "/v1/evaluate", "Idempotency-Key: k\r\n", EVALUATE);
    stream.write_all(request.as_bytes()).await.unwrap();
    server.store.wait_until_blocked().await;
    drop(stream);
    let (status, body) = server.ask("POST", "/v1/evaluate", "Idempotency-Key: k\r\n", EVALUATE).await;
    assert_eq!((status, body["code"].as_str()), (409, Some("conflict")));
    server.store.unblock();
    let retried = async {
        loop {
            let (status, body) = server.ask("POST", "/v1/evaluate", "Idempotency-Key: k\r\n", EVALUATE).await;
            if status == 200 {
                return body;
            }
        }
    };
    let body = tokio::time::timeout(LONG, retried).await.unwrap();
    assert_eq!(body["reputation"]["eval_count"], 1);
    assert_eq!(server.ask("GET", "/v1/reputation/a", "", "").await.1["eval_count"], 1);
}

#[tokio::test]
async fn writes_are_refused_while_the_clock_is_obviously_wrong() {
    let broken = Arc::new(AtomicBool::new(false));
    let (is_broken, time) = (Arc::clone(&broken), system_clock());
    let store_clock: Clock = Arc::new(move || {
        if is_broken.load(Ordering::SeqCst) { Err(ClockError::new(900_000_000_000)) } else { time() }
    });
    let server = start_with(Setup { store_clock, ..Setup::default() }).await;
    assert_eq!(server.ask("POST", "/v1/evaluate", "", EVALUATE).await.0, 200);
    broken.store(true, Ordering::SeqCst);
    for (method, path, headers) in [
        ("POST", "/v1/evaluate", ""),
        ("POST", "/v1/evaluate", "Idempotency-Key: k\r\n"),
        ("GET", "/ready", ""),
    ] {
        let (status, body) = server.ask(method, path, headers, EVALUATE).await;
        assert_eq!((status, body["code"].as_str()), (503, Some("clock")), "{path} {headers} {body}");
        assert!(body["error"].as_str().unwrap().contains("shows 1998-07-09"), "{body}");
    }
    assert_eq!(server.ask("GET", "/v1/reputation/a", "", "").await.1["eval_count"], 1);
    broken.store(false, Ordering::SeqCst);
    assert_eq!(server.ask("POST", "/v1/evaluate", "", EVALUATE).await.0, 200);
}

#[tokio::test]
async fn an_internal_error_reveals_only_the_request_id() {
    let broken = Arc::new(AtomicBool::new(false));
    let (is_broken, time) = (Arc::clone(&broken), system_clock());
    // The first reading of each request makes its id. The second one is in the handler, and panics.
    let was_read = AtomicBool::new(false);
    let clock: Clock = Arc::new(move || {
        let in_handler = was_read.fetch_xor(true, Ordering::SeqCst);
        assert!(!(in_handler && is_broken.load(Ordering::SeqCst)), "a secret of the server");
        time()
    });
    let server = start(Limits::default(), clock).await;
    for headers in ["", "Idempotency-Key: k\r\n"] {
        broken.store(true, Ordering::SeqCst);
        let (status, body) = server.ask("POST", "/v1/evaluate", headers, EVALUATE).await;
        let error = body["error"].as_str().unwrap();
        let id = error.strip_prefix("internal error, request ").unwrap();
        assert_eq!((status, body["code"].as_str(), id.len()), (500, Some("internal"), 36));
        assert_eq!(body.as_object().unwrap().len(), 3);
        broken.store(false, Ordering::SeqCst);
    }
    assert_eq!(server.ask("GET", "/health", "", "").await.0, 200);
}

#[tokio::test]
async fn a_client_that_does_not_read_replies_is_disconnected() {
    let limits = Limits { connections_max: 1, write_time_max: SHORT, ..Limits::default() };
    let server = start(limits, system_clock()).await;
    let mut deaf = TcpStream::connect(server.address).await.unwrap();
    // More than the buffers of both sides hold.
    let requests = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1000);
    deaf.write_all(requests.as_bytes()).await.unwrap();
    // Only one connection is allowed, so this one is answered after the first was closed.
    let health = server.send("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_eq!(tokio::time::timeout(LONG, health).await.unwrap().0, 200);
}

#[tokio::test]
async fn a_client_that_reads_slowly_gets_all_replies() {
    // Longer than the pauses of this client, and shorter than the whole transfer.
    let write_time_max = 5 * SHORT;
    let server = start(Limits { write_time_max, ..Limits::default() }, system_clock()).await;
    let mut slow = TcpStream::connect(server.address).await.unwrap();
    let (one, last) = ("GET /openapi.json HTTP/1.1\r\nHost: x\r\n", "Connection: close\r\n\r\n");
    let requests = format!("{}{one}{last}", format!("{one}\r\n").repeat(199));
    slow.write_all(requests.as_bytes()).await.unwrap();
    let (mut read, mut part) = (0, vec![0; 1 << 20]);
    let started = Instant::now();
    loop {
        let bytes = slow.read(&mut part).await.unwrap();
        if bytes == 0 {
            break;
        }
        read += bytes;
        tokio::time::sleep(write_time_max / 15).await;
    }
    let document = serde_json::to_vec(&renown_server::openapi()).unwrap().len();
    assert!(read > 200 * document && started.elapsed() > write_time_max, "{read} bytes");
}
