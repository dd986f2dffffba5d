//! Replies while there are more requests than the server admits.

use renown_server::Limits;
use renown_store::sqlite::system_clock;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::running::{Running, start};

/// Builds an evaluation with an output of this many bytes.
fn body(bytes: usize) -> String {
    json!({"agent_id": "a", "output": "x".repeat(bytes)}).to_string()
}

async fn send(server: &Running, stream: &mut TcpStream, headers: &str, bytes: usize) {
    let request = server.request("POST", "/v1/evaluate", headers, &body(bytes));
    stream.write_all(request.as_bytes()).await.unwrap();
}

/// Reads head and body of a reply whose connection stays open.
async fn reply(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut bytes = [0; 4096];
    while !text.ends_with('}') {
        let count = stream.read(&mut bytes).await.unwrap();
        assert!(count > 0, "the connection was closed after {text:?}");
        text.push_str(std::str::from_utf8(bytes.get(..count).unwrap()).unwrap());
    }
    text
}

#[tokio::test]
async fn evaluations_over_the_limit_are_refused_and_other_requests_are_answered() {
    let limits = Limits { evaluations_max: 1, ..Limits::default() };
    let server = start(limits, system_clock()).await;
    server.store.block();
    let mut admitted = TcpStream::connect(server.address).await.unwrap();
    send(&server, &mut admitted, "", 10).await;
    server.store.wait_until_blocked().await;

    // The connection stays open, whatever the size of the refused body.
    let mut refused = TcpStream::connect(server.address).await.unwrap();
    for bytes in [10, 600_000, 10] {
        send(&server, &mut refused, "", bytes).await;
        let reply = reply(&mut refused).await;
        assert!(reply.starts_with("HTTP/1.1 503 ") && reply.contains(r#""code":"overloaded""#), "{reply}");
        assert!(reply.to_ascii_lowercase().contains("\r\nretry-after: 1\r\n"), "{reply}");
    }
    assert_eq!(server.ask("GET", "/health", "", "").await.0, 200);
    assert_eq!(server.ask("GET", "/metrics", "", "").await.0, 200);

    server.store.unblock();
    assert!(reply(&mut admitted).await.starts_with("HTTP/1.1 200 "));
    send(&server, &mut refused, "", 10).await;
    let counted = reply(&mut refused).await;
    assert!(counted.contains(r#""eval_count":2"#), "refused evaluations are not counted: {counted}");
}
