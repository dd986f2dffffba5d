//! What depends on time and on what the store does meanwhile: a server in this process, with limits that are short.

#![expect(clippy::unwrap_used, reason = "a broken test fails loudly")]

mod gated;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gated::Gated;
use renown_core::gates::{Choice, Engine, Place};
use renown_server::keys::KeyText;
use renown_server::{Api, Limits, Settings, serve};
use renown_store::sqlite::system_clock;
use renown_store::{Clock, DEFAULT_ORG, KeyKind, Store};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server in this process.
struct Running {
    address: std::net::SocketAddr,
    store: Arc<Gated>,
    secret: String,
}

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_mins(1);

async fn start(limits: Limits, clock: Clock) -> Running {
    let store = Arc::new(Gated::new(system_clock()));
    let secret = KeyText::generate(KeyKind::Secret).unwrap();
    let new = secret.to_new(DEFAULT_ORG.parse().unwrap(), None, (system_clock())()).unwrap();
    store.create_key(new, None).await.unwrap();
    let mut no_schemas = |_: &str| Err(String::new());
    let engine =
        Engine::new(&renown_core::gates::Settings::default(), &Choice::of(Place::Evaluate), &mut no_schemas);
    let settings = Settings { engine: engine.unwrap(), requests_per_minute: 0, ingest_per_minute: 0, limits };
    let api = Api::new(Arc::clone(&store) as Arc<dyn Store>, settings, clock).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(api, listener, std::future::pending()));
    Running { address, store, secret: secret.reveal().to_owned() }
}

impl Running {
    fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            self.secret,
            body.len()
        )
    }

    /// Sends bytes and reads until the server closes, or has answered.
    async fn send(&self, bytes: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        answer(&mut stream).await
    }

    async fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, Value) {
        self.send(&self.request(method, path, &format!("Connection: close\r\n{headers}"), body)).await
    }
}

/// Reads until the server closes.
async fn answer(stream: &mut TcpStream) -> (u16, Value) {
    let mut bytes = Vec::new();
    // A connection that is closed with something unread is reset, which is an end like any.
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8(bytes).unwrap();
    let status = text.split(' ').nth(1).map_or(0, |status| status.parse().unwrap());
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    (status, serde_json::from_str(body).unwrap_or_default())
}

const EVALUATE: &str = r#"{"agent_id":"a","output":1}"#;

#[tokio::test]
async fn a_body_that_comes_too_slowly_is_refused() {
    let server = start(Limits { body_time_max: SHORT, ..Limits::default() }, system_clock()).await;
    let whole = server.request("POST", "/v1/evaluate", "Connection: close\r\n", EVALUATE);
    let (all_but_one, _) = whole.split_at(whole.len() - 1);
    let (status, body) = server.send(all_but_one).await;
    assert_eq!((status, body.get("code").and_then(Value::as_str)), (408, Some("timeout")));
    assert_eq!(server.ask("POST", "/v1/evaluate", "", EVALUATE).await.0, 200);
}

#[tokio::test]
async fn a_head_that_comes_too_slowly_is_closed() {
    let server = start(Limits { head_time_max: SHORT, ..Limits::default() }, system_clock()).await;
    for begun in ["", "P", "PR", "GET /health HTT", "GET /health HTTP/1.1\r\nX: 1\r\n"] {
        let (status, _) = server.send(begun).await;
        assert!(status == 0 || status == 408, "{begun:?}: {status}");
    }
    // A connection that was used and is idle is closed as well.
    let (status, _) = server.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn a_connection_too_many_waits_until_another_is_closed() {
    let server = start(Limits { connections_max: 1, ..Limits::default() }, system_clock()).await;
    let first = TcpStream::connect(server.address).await.unwrap();
    let health = "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let mut waiting = Box::pin(server.send(health));
    assert!(tokio::time::timeout(SHORT, &mut waiting).await.is_err());
    drop(first);
    assert_eq!(tokio::time::timeout(LONG, waiting).await.unwrap().0, 200);
}

#[tokio::test]
async fn a_revocation_is_finished_when_its_client_goes_away() {
    let server = start(Limits::default(), system_clock()).await;
    let (_, made) = server.ask("POST", "/v1/keys", "", r#"{"kind":"publishable"}"#).await;
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    server.store.shut();
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let revoke = server.request("DELETE", &format!("/v1/keys/{id}"), "", "");
    stream.write_all(revoke.as_bytes()).await.unwrap();
    server.store.has_come().await;
    drop(stream);
    server.store.open();
    let ask = format!(
        "GET /v1/agents HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n\r\n"
    );
    let revoked = async { while server.send(&ask).await.0 != 401 {} };
    tokio::time::timeout(LONG, revoked).await.unwrap();
}

#[tokio::test]
async fn a_retry_counts_nothing_while_the_first_is_in_flight_and_its_client_gone() {
    let server = start(Limits::default(), system_clock()).await;
    server.store.shut();
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = server.request("POST", "/v1/evaluate", "Idempotency-Key: k\r\n", EVALUATE);
    stream.write_all(request.as_bytes()).await.unwrap();
    server.store.has_come().await;
    drop(stream);
    let (status, body) = server.ask("POST", "/v1/evaluate", "Idempotency-Key: k\r\n", EVALUATE).await;
    assert_eq!((status, body["code"].as_str()), (409, Some("conflict")));
    server.store.open();
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
async fn an_accident_tells_its_request_id_and_nothing_else() {
    let broken = Arc::new(AtomicBool::new(false));
    let (is_broken, time) = (Arc::clone(&broken), system_clock());
    // Asked once for the id of the request, and a second time inside, where it fails.
    let asked = AtomicBool::new(false);
    let clock: Clock = Arc::new(move || {
        let inside = asked.fetch_xor(true, Ordering::SeqCst);
        assert!(!(inside && is_broken.load(Ordering::SeqCst)), "a secret of the server");
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
