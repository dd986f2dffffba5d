//! The same records in every encoding and over every transport result in the same session.

use serde_json::json;

use super::super::running::{Running, Setup, start_with};
use super::grpc::Client;
use super::records::{as_json, as_protobuf, session, span_json, span_protobuf};
use super::{JSON, PROTOBUF, Post, gzip, sessions};

async fn server() -> Running {
    start_with(Setup::default()).await
}

/// Lists requests with the same logs in every way that HTTP offers.
fn ways(server: &Running) -> Vec<(&'static str, Post)> {
    let logs = session();
    let (text, message) = (as_json(&logs), as_protobuf(&logs));
    let lines: Vec<String> = session().chunks(1).map(as_json).collect();
    let lines = format!("{}\r\n", lines.join("\n\n"));
    let (begin, end) = message.split_at(message.len() / 2);
    let halves = [gzip(begin), gzip(end)].concat();
    let json = || Post::logs(server, JSON, text.clone());
    let protobuf = || Post::logs(server, PROTOBUF, message.clone());
    let main = |post: Post| Post { address: server.address, ..post }.to("/otlp/v1/logs").key(&server.secret);
    vec![
        ("json", json()),
        ("json with parameters", Post::logs(server, "Application/JSON; charset=UTF-8", text.clone())),
        ("json in gzip", json().gzip()),
        ("json in chunks", Post { is_chunked: true, ..json() }),
        ("json in gzip and chunks", Post { is_chunked: true, ..json().gzip() }),
        ("json, below /otlp", json().to("/otlp/v1/logs")),
        ("json, on the main port", main(json())),
        ("json with a key", main(json().with("Host", "renown.example"))),
        ("protobuf", protobuf()),
        ("protobuf in gzip", protobuf().gzip()),
        ("protobuf in two members", Post { body: halves, ..protobuf() }.with("Content-Encoding", "gzip")),
        ("protobuf in chunks", Post { is_chunked: true, ..protobuf() }),
        ("protobuf, said to be plain", protobuf().with("Content-Encoding", "identity")),
        ("protobuf, on the main port", main(protobuf())),
        ("lines", Post::logs(server, "application/x-ndjson", lines.clone())),
        ("lines in gzip", Post::logs(server, "application/x-ndjson", lines.clone()).gzip()),
        ("lines of logs, sent as traces", Post::logs(server, "application/x-ndjson", lines).to("/v1/traces")),
    ]
}

#[tokio::test]
async fn every_encoding_and_transport_gives_the_same_session() {
    let first = server().await;
    assert_eq!(Post::logs(&first, JSON, as_json(&session())).send().await.status, 200);
    let expected = sessions(&first).await;
    assert_eq!(expected[0]["report"]["session_id"], "s-1");
    assert_eq!(expected[0]["report"]["composite"], 7.4, "{expected}");
    for number in 0..ways(&first).len() {
        let server = server().await;
        let (name, post) = ways(&server).swap_remove(number);
        let reply = post.send().await;
        assert_eq!(reply.status, 200, "{name}: {reply:?}");
        let is_protobuf = name.starts_with("protobuf");
        assert_eq!(reply.header("content-type"), Some(if is_protobuf { PROTOBUF } else { JSON }), "{name}");
        assert_eq!(reply.body, if is_protobuf { &b""[..] } else { b"{}" }, "{name}");
        assert_eq!(sessions(&server).await, expected, "{name}");

        assert_eq!(reply.header("x-request-id").map(str::len), Some(36), "{name}");
    }
    for is_gzip in [false, true] {
        let server = server().await;
        let reply = Client::new(server.otlp_grpc).gzip(is_gzip).logs(as_protobuf(&session())).await.unwrap();
        assert!(reply.is_empty());
        assert_eq!(sessions(&server).await, expected, "gzip: {is_gzip}");
    }
}

#[tokio::test]
async fn spans_have_the_same_encodings_as_logs() {
    let first = server().await;
    let spans = |server: &Running| Post::logs(server, JSON, span_json()).to("/v1/traces");
    assert_eq!(spans(&first).send().await.status, 200);
    let expected = sessions(&first).await;
    assert_eq!(expected[0]["report"]["session_id"], "k-1");
    assert_eq!(expected[0]["report"]["stats"]["total_tools"], 1, "{expected}");
    let server = server().await;
    let protobuf = Post::logs(&server, PROTOBUF, span_protobuf()).to("/v1/traces");
    for _ in 0..2 {
        // A repeated span counts once.
        assert_eq!(protobuf.send().await.status, 200);
        assert_eq!(spans(&server).send().await.json(), json!({}));
        Client::new(server.otlp_grpc).traces(span_protobuf()).await.unwrap();
        assert_eq!(sessions(&server).await, expected);
    }
}
