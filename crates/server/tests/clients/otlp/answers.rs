//! Replies in the encoding of the request: partial successes, errors, routes, metrics, and the shutdown of the server.

use std::sync::Mutex;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use prost::Message;
use renown_store::WriteError;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::super::running::{LONG, SHORT, Setup, start_with};
use super::records::{as_json, as_protobuf, call, prompt, session};
use super::{JSON, PROTOBUF, Post, count, reply, sessions};

/// The fields of `google.rpc.Status` that are sent over HTTP.
#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

#[tokio::test]
async fn rejected_records_are_reported_and_the_others_are_stored() {
    let server = start_with(Setup::default()).await;
    let logs = [prompt("s-1"), call(-1), call(5), call(-2)];
    let message = "rejected records with an invalid number: input_tokens (2)";
    let reply = Post::logs(&server, JSON, as_json(&logs)).send().await;
    let expected = json!({"partialSuccess": {"rejectedLogRecords": "2", "errorMessage": message}});
    assert_eq!((reply.status, reply.json()), (200, expected));
    let reply = Post::logs(&server, PROTOBUF, as_protobuf(&logs)).send().await;
    let partial = ExportLogsServiceResponse::decode(&*reply.body).unwrap().partial_success.unwrap();
    assert_eq!((partial.rejected_log_records, partial.error_message.as_str()), (2, message));
    assert_eq!(count(&server).await, 1);
}

#[tokio::test]
async fn unknown_events_and_records_without_a_session_are_accepted() {
    let server = start_with(Setup::default()).await;
    let mut logs = vec![prompt("s-1"), prompt("s-1")];
    logs[0].event = "claude_code.something_new";
    logs[1].attributes.clear();
    let reply = Post::logs(&server, JSON, as_json(&logs)).send().await;
    assert_eq!((reply.status, reply.json()), (200, json!({})));
}

#[tokio::test]
async fn a_malformed_body_counts_nothing_and_is_refused_in_its_encoding() {
    let server = start_with(Setup::default()).await;
    let good = as_json(&session());
    let cut = as_protobuf(&session());
    let cut = &cut[..cut.len() - 1];
    for (content_type, body, code, said) in [
        (JSON, &b""[..], "bad_json", "not JSON"),
        (JSON, &good.as_bytes()[..good.len() - 1], "bad_json", "not JSON"),
        (JSON, b"\xff", "bad_json", "UTF-8"),
        (JSON, b"{\"logs\":[]}", "validation_error", "resourceLogs"),
        (JSON, b"[1]", "validation_error", "resourceLogs"),
        ("application/x-ndjson", format!("{good}\n\n{{]\n").as_bytes(), "bad_json", "line 3: "),
    ] {
        let reply = Post::logs(&server, content_type, body).send().await;
        assert_eq!(reply.refusal(), (400, code.to_owned()), "{said}");
        assert!(reply.json()["error"].as_str().unwrap().contains(said), "{reply:?}");
    }
    for (body, encoding) in [(cut, None), (b"{}", None), (b"no gzip", Some("gzip"))] {
        let reply = Post::logs(&server, PROTOBUF, body).with("Content-Encoding", encoding).send().await;
        assert_eq!((reply.status, reply.header("content-type")), (400, Some(PROTOBUF)), "{reply:?}");
        let status = Status::decode(&*reply.body).unwrap();
        assert!(status.code == 3 && !status.message.is_empty(), "{status:?}");
    }
    assert_eq!(count(&server).await, 0);
    assert_eq!(Post::logs(&server, JSON, good).send().await.status, 200);
    let text = server.text("/metrics").await;
    for (result, count) in [("lines", 1), ("records", 3), ("facts", 3), ("sessions", 1), ("bad_lines", 9)] {
        let line = format!("renown_telemetry_records_total{{result=\"{result}\"}} {count}\n");
        assert!(text.contains(&line), "{line}: {text}");
    }
    let line = r#"renown_requests_total{route="/otlp/v1/logs",method="POST",status="400"} 9"#;
    assert!(text.contains(line), "{text}");
}

#[tokio::test]
async fn unknown_routes_methods_and_encodings_are_refused() {
    let server = start_with(Setup::default()).await;
    let post = || Post::logs(&server, JSON, as_json(&session()));
    let get = || Post { method: "GET", ..post() };
    let main = |post: Post| Post { address: server.address, ..post };
    let grpc = |post: Post| Post { address: server.otlp_grpc, ..post };
    for (request, status, code) in [
        (post().to("/v1/spans"), 404, "not_found"),
        (post().to("/"), 404, "not_found"),
        (post().to("/v1/evaluate"), 404, "not_found"),
        (main(post().to("/otlp/v1/evaluate")), 404, "not_found"),
        (get(), 405, "method_not_allowed"),
        (main(get().to("/otlp/v1/traces")), 405, "method_not_allowed"),
        (post().with("Content-Encoding", "br"), 415, "unsupported_media_type"),
        (
            post().with("Content-Type", "application/x-ndjson").to("/v1/metrics"),
            415,
            "unsupported_media_type",
        ),
        (grpc(post()), 415, "unsupported_media_type"),
        (grpc(post().with("Content-Type", "application/grpc")), 415, "unsupported_media_type"),
    ] {
        let reply = request.send().await;
        assert_eq!(reply.refusal(), (status, code.to_owned()), "{request:?}");
        assert_eq!(reply.header("allow"), (status == 405).then_some("POST"), "{request:?}");
    }
    // The error for a wrong port or path names the right one, with or without a key.
    let export = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
    for (request, said) in [
        (main(post()), "/otlp/v1/logs"),
        (main(post().to("/v1/traces")), "/otlp/v1/traces"),
        (post().to(export), "4317"),
    ] {
        let reply = request.send().await;
        assert_eq!(reply.refusal(), (404, "not_found".to_owned()), "{request:?}");
        assert!(reply.json()["error"].as_str().unwrap().contains(said), "{reply:?}");
    }
    let reply = Post::logs(&server, PROTOBUF, "").to("/v1/spans").send().await;
    assert_eq!((reply.status, Status::decode(&*reply.body).unwrap().code), (404, 12));
    // Metrics are accepted with any content.
    for (content_type, body) in
        [(PROTOBUF, &b"\xff\xff"[..]), (JSON, b"{\"resourceMetrics\":[{}]}"), (JSON, b"no")]
    {
        let reply = Post::logs(&server, content_type, body).to("/v1/metrics").send().await;
        assert_eq!(reply.status, 200, "{reply:?}");
    }
    assert_eq!(count(&server).await, 0);
}

#[tokio::test]
async fn failures_of_the_store_have_a_retry_delay() {
    let server = start_with(Setup { ingest_per_minute: 3, ..Setup::default() }).await;
    let post = || Post::logs(&server, PROTOBUF, as_protobuf(&session()));
    for (failure, code) in
        [(WriteError::Overloaded, 8), (WriteError::Unavailable("the store has shut down".into()), 14)]
    {
        server.store.fail(failure);
        let reply = post().send().await;
        assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")), "{reply:?}");
        assert_eq!(Status::decode(&*reply.body).unwrap().code, code);
    }
    assert_eq!(post().send().await.header("ratelimit-remaining"), Some("0"));
    let reply = post().send().await;
    assert_eq!((reply.status, Status::decode(&*reply.body).unwrap().code), (429, 8));
    assert!(reply.header("retry-after").is_some());
    assert_eq!(sessions(&server).await[0]["report"]["stats"]["prompts"], 1);
}

/// The log of all servers in this process.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct LogWriter;

impl std::io::Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_cause_of_a_5xx_is_logged_once_in_the_span_of_its_request() {
    tracing_subscriber::fmt().json().with_max_level(tracing::Level::WARN).with_writer(|| LogWriter).init();
    let server = start_with(Setup::default()).await;
    server.store.fail(WriteError::Unavailable("the store has shut down".into()));
    let reply = Post::logs(&server, JSON, as_json(&session())).send().await;
    assert_eq!(reply.refusal(), (503, "store_unavailable".to_owned()));
    let cause = "the store has shut down";
    assert!(!reply.json()["error"].as_str().unwrap().contains(cause), "{reply:?}");
    let log = LOG.lock().unwrap().clone();
    let id = reply.header("x-request-id").unwrap();
    let lines: Vec<Value> = serde_json::Deserializer::from_slice(&log)
        .into_iter()
        .map(Result::unwrap)
        .filter(|line: &Value| line.to_string().contains(id))
        .collect();
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((&line["level"], &line["fields"]["cause"]), (&json!("ERROR"), &json!(cause)), "{line}");
    let span = &line["span"];
    let named = ["request_id", "method", "route", "org"].map(|name| span[name].as_str().unwrap_or_default());
    assert_eq!(named, [id, "POST", "/otlp/v1/logs", "default"], "{line}");
}

#[tokio::test]
async fn accepted_requests_are_finished_during_the_shutdown() {
    let server = start_with(Setup::default()).await;
    server.store.block();
    let mut streams = Vec::new();
    for address in [server.otlp_http, server.address] {
        let post = Post { address, ..Post::logs(&server, JSON, as_json(&session())) };
        let post = post.to("/otlp/v1/logs").key(&server.secret);
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&[post.head().as_bytes(), &post.body].concat()).await.unwrap();
        server.store.wait_until_blocked().await;
        streams.push(stream);
    }
    server.end.notify_one();
    let refused = async { while TcpStream::connect(server.otlp_http).await.is_ok() {} };
    tokio::time::timeout(LONG, refused).await.unwrap();
    server.store.unblock();
    for stream in &mut streams {
        assert_eq!(reply(stream).await.status, 200);
    }
    tokio::time::timeout(LONG, server.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_retry_with_an_idempotency_key_counts_once_and_returns_the_first_reply() {
    let server = start_with(Setup::default()).await;
    // These records have no ids.
    let logs = [prompt("s-1"), call(-1)];
    let json = Post::logs(&server, JSON, as_json(&logs)).with("Idempotency-Key", "json");
    let protobuf = Post::logs(&server, PROTOBUF, as_protobuf(&logs)).with("Idempotency-Key", "protobuf");
    for post in [&json, &protobuf] {
        let first = post.send().await;
        assert_eq!(first.status, 200);
        let again = post.send().await;
        let content = |reply: &super::Reply| (reply.status, reply.body.clone());
        assert_eq!(content(&again), content(&first));
        assert_eq!(again.header("content-type"), first.header("content-type"));
    }
    assert_eq!(sessions(&server).await[0]["report"]["stats"]["prompts"], 2, "one of each");
    let other = Post::logs(&server, JSON, as_json(&session())).with("Idempotency-Key", "json");
    assert_eq!(other.send().await.refusal(), (409, "conflict".to_owned()));
    assert_eq!(json.to("/v1/traces").send().await.refusal().0, 409);
}

#[tokio::test]
async fn a_client_that_waits_for_the_reply_gets_it_at_once() {
    let limits = renown_server::Limits { body_time_max: 2 * LONG, ..renown_server::Limits::default() };
    let server = start_with(Setup { limits, ..Setup::default() }).await;
    let large = vec![b' '; 17 * 1024 * 1024];
    let barred = Post::logs(&server, JSON, as_json(&session())).with("Host", "evil.example");
    for (post, status) in [(barred, 401), (Post::logs(&server, JSON, large), 413)] {
        // The client sends no byte of the body. With `Expect`, the reply is the error instead of `100 Continue`.
        for post in [post.clone(), post.with("Expect", "100-continue")] {
            let mut stream = TcpStream::connect(server.otlp_http).await.unwrap();
            stream.write_all(post.head().as_bytes()).await.unwrap();
            let reply = tokio::time::timeout(LONG, reply(&mut stream)).await.unwrap();
            assert_eq!(reply.status, status, "{reply:?}");
        }
    }
}

#[tokio::test]
async fn a_client_that_closed_its_sending_side_gets_a_reply() {
    let server = start_with(Setup::default()).await;
    let post = Post::logs(&server, JSON, as_json(&session()));
    for address in [server.otlp_http, server.address] {
        server.store.block();
        let post = Post { address, ..post.clone() }.to("/otlp/v1/logs").key(&server.secret);
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&[post.head().as_bytes(), &post.body].concat()).await.unwrap();
        stream.shutdown().await.unwrap();
        server.store.wait_until_blocked().await;
        server.store.unblock();
        assert_eq!(reply(&mut stream).await.status, 200);
    }
}

#[tokio::test]
async fn a_slow_body_is_refused() {
    let limits = renown_server::Limits { body_time_max: SHORT, ..renown_server::Limits::default() };
    let server = start_with(Setup { limits, ..Setup::default() }).await;
    let post = Post::logs(&server, PROTOBUF, as_protobuf(&session()));
    let mut stream = TcpStream::connect(server.otlp_http).await.unwrap();
    stream.write_all(&[post.head().as_bytes(), &post.body[..10]].concat()).await.unwrap();
    let reply = reply(&mut stream).await;
    assert_eq!((reply.status, Status::decode(&*reply.body).unwrap().code), (408, 4));
    assert_eq!(post.send().await.status, 200);
}
