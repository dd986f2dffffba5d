//! What is answered, in the encoding of the request: partial successes, refusals, routes, figures, the end of the server.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use prost::Message;
use renown_store::StoreError;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::super::running::{LONG, SHORT, Setup, start_with};
use super::records::{as_json, as_protobuf, call, prompt, session};
use super::{JSON, PROTOBUF, Post, count, reply, sessions};

/// A `google.rpc.Status` as far as it is sent over HTTP.
#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

#[tokio::test]
async fn rejected_records_are_told_and_the_others_are_kept() {
    let server = start_with(Setup::default()).await;
    let logs = [prompt("s-1"), call(-1), call(5), call(-2)];
    let message = "refused for a number that cannot be: input_tokens (2)";
    let reply = Post::logs(&server, JSON, as_json(&logs)).send().await;
    let expected = json!({"partialSuccess": {"rejectedLogRecords": "2", "errorMessage": message}});
    assert_eq!((reply.status, reply.json()), (200, expected));
    let reply = Post::logs(&server, PROTOBUF, as_protobuf(&logs)).send().await;
    let partial = ExportLogsServiceResponse::decode(&*reply.body).unwrap().partial_success.unwrap();
    assert_eq!((partial.rejected_log_records, partial.error_message.as_str()), (2, message));
    assert_eq!(count(&server).await, 1);
}

#[tokio::test]
async fn what_is_unknown_or_belongs_to_no_session_is_accepted() {
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
async fn routes_methods_and_encodings_that_are_not_there() {
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
    // Who is at the wrong place is told where to go, with a key or without.
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
    // Metrics are taken, whatever is in them.
    for (content_type, body) in
        [(PROTOBUF, &b"\xff\xff"[..]), (JSON, b"{\"resourceMetrics\":[{}]}"), (JSON, b"no")]
    {
        let reply = Post::logs(&server, content_type, body).to("/v1/metrics").send().await;
        assert_eq!(reply.status, 200, "{reply:?}");
    }
    assert_eq!(count(&server).await, 0);
}

#[tokio::test]
async fn a_store_that_cannot_is_told_with_when_to_come_back() {
    let server = start_with(Setup { ingest_per_minute: 3, ..Setup::default() }).await;
    let post = || Post::logs(&server, PROTOBUF, as_protobuf(&session()));
    for (failure, code) in [(StoreError::Overloaded, 8), (StoreError::Closed, 14)] {
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

#[tokio::test]
async fn what_was_accepted_is_finished_when_the_server_ends() {
    let server = start_with(Setup::default()).await;
    server.store.shut();
    let mut streams = Vec::new();
    for address in [server.otlp_http, server.address] {
        let post = Post { address, ..Post::logs(&server, JSON, as_json(&session())) };
        let post = post.to("/otlp/v1/logs").key(&server.secret);
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&[post.head().as_bytes(), &post.body].concat()).await.unwrap();
        server.store.has_come().await;
        streams.push(stream);
    }
    server.end.notify_one();
    let refused = async { while TcpStream::connect(server.otlp_http).await.is_ok() {} };
    tokio::time::timeout(LONG, refused).await.unwrap();
    server.store.open();
    for stream in &mut streams {
        assert_eq!(reply(stream).await.status, 200);
    }
    tokio::time::timeout(LONG, server.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_retry_with_an_idempotency_key_counts_once_and_returns_the_first_reply() {
    let server = start_with(Setup::default()).await;
    // Nothing tells these from others like them.
    let logs = [prompt("s-1"), call(-1)];
    let json = Post::logs(&server, JSON, as_json(&logs)).with("Idempotency-Key", "json");
    let protobuf = Post::logs(&server, PROTOBUF, as_protobuf(&logs)).with("Idempotency-Key", "protobuf");
    for post in [&json, &protobuf] {
        let first = post.send().await;
        assert_eq!(first.status, 200);
        let again = post.send().await;
        let told = |reply: &super::Reply| (reply.status, reply.body.clone());
        assert_eq!(told(&again), told(&first));
        assert_eq!(again.header("content-type"), first.header("content-type"));
    }
    assert_eq!(sessions(&server).await[0]["report"]["stats"]["prompts"], 2, "one of each");
    let other = Post::logs(&server, JSON, as_json(&session())).with("Idempotency-Key", "json");
    assert_eq!(other.send().await.refusal(), (409, "conflict".to_owned()));
    assert_eq!(json.to("/v1/traces").send().await.refusal().0, 409);
}

#[tokio::test]
async fn whoever_waits_for_the_reply_gets_it_at_once() {
    let limits = renown_server::Limits { body_time_max: 2 * LONG, ..renown_server::Limits::default() };
    let server = start_with(Setup { limits, ..Setup::default() }).await;
    let large = vec![b' '; 17 * 1024 * 1024];
    let barred = Post::logs(&server, JSON, as_json(&session())).with("Host", "evil.example");
    for (post, status) in [(barred, 401), (Post::logs(&server, JSON, large), 413)] {
        // Both before a byte of the body is sent: who asks first is not told to go on.
        for post in [post.clone(), post.with("Expect", "100-continue")] {
            let mut stream = TcpStream::connect(server.otlp_http).await.unwrap();
            stream.write_all(post.head().as_bytes()).await.unwrap();
            let reply = tokio::time::timeout(LONG, reply(&mut stream)).await.unwrap();
            assert_eq!(reply.status, status, "{reply:?}");
        }
    }
}

#[tokio::test]
async fn a_client_that_has_said_all_is_answered() {
    let server = start_with(Setup::default()).await;
    let post = Post::logs(&server, JSON, as_json(&session()));
    for address in [server.otlp_http, server.address] {
        server.store.shut();
        let post = Post { address, ..post.clone() }.to("/otlp/v1/logs").key(&server.secret);
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&[post.head().as_bytes(), &post.body].concat()).await.unwrap();
        stream.shutdown().await.unwrap();
        server.store.has_come().await;
        server.store.open();
        assert_eq!(reply(&mut stream).await.status, 200);
    }
}

#[tokio::test]
async fn a_body_that_comes_too_slowly_is_refused() {
    let limits = renown_server::Limits { body_time_max: SHORT, ..renown_server::Limits::default() };
    let server = start_with(Setup { limits, ..Setup::default() }).await;
    let post = Post::logs(&server, PROTOBUF, as_protobuf(&session()));
    let mut stream = TcpStream::connect(server.otlp_http).await.unwrap();
    stream.write_all(&[post.head().as_bytes(), &post.body[..10]].concat()).await.unwrap();
    let reply = reply(&mut stream).await;
    assert_eq!((reply.status, Status::decode(&*reply.body).unwrap().code), (408, 4));
    assert_eq!(post.send().await.status, 200);
}
