//! `GET /v1/stream`: new scores of the key's organization, until the server stops or the key is revoked.

use serde_json::{Value, json};

use super::http::{Connection, Request};
use super::server::Server;

/// Connects a listener. It receives all later events.
struct Listener(Connection);

impl Listener {
    fn open(server: &Server, key: &str) -> Self {
        let mut connection = Connection::open(server.address);
        connection.write(&Request::get("/v1/stream").key(key).bytes(false)).unwrap();
        let head = connection.head().unwrap();
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
        assert!(head.header("x-request-id").is_some());
        assert_eq!(head.header("x-accel-buffering"), Some("no"), "a proxy must pass events on as they come");
        Self(connection)
    }

    /// Reads the name and the data of the next event, or `None` at the end. Skips chunk sizes and comments.
    fn next(&mut self) -> Option<(String, Value)> {
        let mut name = None;
        loop {
            let line = self.0.line().ok().flatten()?;
            if let Some(event) = line.strip_prefix("event: ") {
                name = Some(event.to_owned());
            } else if let (Some(data), Some(name)) = (line.strip_prefix("data: "), &name) {
                return Some((name.clone(), serde_json::from_str(data).unwrap()));
            } else if line == "0" {
                return None;
            }
        }
    }
}

fn ingest(server: &Server, key: &str, agent: &str) {
    let body = json!({"events": [{"agent_id": agent, "passed": true, "total_latency_ms": 10}]}).to_string();
    assert_eq!(server.send(&Request::post("/v1/ingest", body).key(key)).status, 202);
}

#[test]
fn each_evaluation_of_the_organization_sends_a_score() {
    let server = Server::start();
    let other = server.create_key("publishable", "acme");
    let (mut ours, mut theirs) =
        (Listener::open(&server, &server.publishable), Listener::open(&server, &other));
    ingest(&server, &other, "theirs");
    ingest(&server, &server.publishable, "bot/é \"x\"");
    let score =
        |agent: &str| json!({"agent_id": agent, "score": 629, "lifecycle": "calibrating", "eval_count": 1});
    assert_eq!(ours.next(), Some(("score".to_owned(), score("bot/é \"x\""))));
    assert_eq!(theirs.next(), Some(("score".to_owned(), score("theirs"))));
    assert_eq!(server.evaluate("judged").status, 200);
    let (name, event) = ours.next().unwrap();
    assert_eq!(
        (name.as_str(), event["agent_id"].as_str(), event["eval_count"].as_u64()),
        ("score", Some("judged"), Some(1))
    );
    // A duplicate counts nothing and sends no event; the next event is the next evaluation.
    let body = r#"{"agent_id":"once","output":1,"evaluation_id":"once"}"#;
    for _ in 0..2 {
        server.send(&Request::post("/v1/evaluate", body).key(&server.publishable));
    }
    assert_eq!(ours.next().unwrap().1["agent_id"], "once");
    ingest(&server, &server.publishable, "after");
    assert_eq!(ours.next().unwrap().1["agent_id"], "after");
    server.terminate();
    assert_eq!((ours.next(), theirs.next()), (None, None));
    let (status, _) = server.wait();
    assert!(status.success());
}

#[test]
fn a_stream_ends_with_its_key() {
    let server = Server::start();
    let made =
        server.send(&Request::post("/v1/keys", r#"{"kind":"publishable"}"#).key(&server.secret)).json();
    let mut revoked = Listener::open(&server, made["key"].as_str().unwrap());
    let mut stays = Listener::open(&server, &server.publishable);
    let path = format!("/v1/keys/{}", made["id"].as_str().unwrap());
    assert_eq!(server.send(&Request::new("DELETE", &path).key(&server.secret)).status, 204);
    ingest(&server, &server.publishable, "after");
    assert_eq!(revoked.next(), None);
    assert_eq!(stays.next().unwrap().1["agent_id"], "after");
}

#[test]
fn a_stream_needs_a_key() {
    let server = Server::start();
    assert_eq!(server.send(&Request::get("/v1/stream")).status, 401);
}
