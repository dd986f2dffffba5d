//! Retries: the same bytes again, except for API keys, which are shown once.

use renown_server::Limits;
use renown_store::sqlite::system_clock;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::running::{Running, start};

/// Sends a POST with a key. Returns the status line and the bytes of the body.
async fn post(server: &Running, path: &str, key: &str, body: &str) -> (String, String) {
    let headers =
        format!("Connection: close\r\nContent-Type: application/json\r\nIdempotency-Key: {key}\r\n");
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(server.request("POST", path, &headers, body).as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), body.to_owned())
}

/// Requests to every route with POST except `/v1/keys` and those of [`EVALS`]. Each counts something or shows something else when
/// it is sent a second time without a key.
const REQUESTS: [(&str, &str, &str); 16] = [
    ("/v1/evaluate", "200", r#"{"agent_id":"a","output":"done","tool":"sh","latency_ms":1.5}"#),
    ("/v1/evaluate", "200", r#"{"agent_id":"a","output":"done","colour":1,"size":2}"#),
    ("/v1/evaluate", "200", r#"{"agent_id":"a","output":null,"evaluation_id":"e1"}"#),
    ("/v1/evaluate", "200", r#"{"agent_id":"unknown","output":"done","evaluation_id":"e1"}"#),
    (
        "/v1/ingest",
        "202",
        r#"{"events":[{"agent_id":"c","passed":true,"total_latency_ms":1},{"agent_id":"b","passed":false,"total_latency_ms":2,"gates":[{"name":"g","passed":false,"latency_ms":1,"size":1}]},{"agent_id":"c","passed":true,"total_latency_ms":3,"evaluation_id":"e1","colour":1}],"size":1}"#,
    ),
    (
        "/v1/ingest",
        "202",
        r#"{"events":[{"agent_id":"z","passed":true,"total_latency_ms":1,"evaluation_id":"e1"}]}"#,
    ),
    ("/v1/agents", "201", r#"{"agent_id":"named"}"#),
    ("/v1/agents", "200", r#"{"agent_id":"a"}"#),
    (
        "/v1/runs",
        "201",
        r#"{"agent_id":"a","outcome":"completed","wall_ms":-5,"colour":1,"finished_at":"2026-11-01T00:00:00.123456789Z"}"#,
    ),
    ("/v1/runs", "201", r#"{"agent_id":"a","outcome":"failed","run_id":"r1","attributes":{"b":1,"a":2}}"#),
    ("/v1/runs", "200", r#"{"agent_id":"a","outcome":"failed","run_id":"r1","attributes":{"a":2,"b":1}}"#),
    (
        "/v1/reputation-events",
        "202",
        r#"{"events":[{"event_id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-14T00:00:00Z","agent_id":"a","category":"economic","event_type":"paid","score_delta":0.5}]}"#,
    ),
    (
        "/v1/sessions/s1/signals",
        "202",
        r#"{"agent_id":"a","traces":[{"trace_id":"t1","signals":{"confidence":0.5}}]}"#,
    ),
    (
        "/otlp/v1/logs",
        "200",
        r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1790000000000000000","eventName":"claude_code.user_prompt","attributes":[{"key":"session.id","value":{"stringValue":"s1"}}]}]}]}]}"#,
    ),
    (
        "/otlp/v1/logs",
        "200",
        r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1790000000000000000","eventName":"claude_code.api_request","attributes":[{"key":"session.id","value":{"stringValue":"s1"}},{"key":"cost_usd","value":{"stringValue":"-1"}}]},{"timeUnixNano":"1790000000000000000","eventName":"claude_code.user_prompt","attributes":[{"key":"session.id","value":{"stringValue":"s1"}}]}]}]}]}"#,
    ),
    ("/otlp/v1/traces", "200", r#"{"resourceSpans":[]}"#),
];

/// Routes with POST that name what another request has created: the next test sends them.
const EVALS: [&str; 7] = [
    "/v1/eval-runs",
    "/v1/eval-runs/{eval_run_id}/cancel",
    "/v1/eval-runs/{eval_run_id}/retry",
    "/v1/schedules",
    "/v1/schedules/{schedule_id}/pause",
    "/v1/schedules/{schedule_id}/resume",
    "/v1/schedules/{schedule_id}/trigger",
];

#[tokio::test]
async fn every_post_about_evals_with_a_key_returns_the_same_bytes_again() {
    let server = start(Limits::default(), system_clock()).await;
    let mut ids = std::collections::BTreeMap::new();
    for (number, (path, status, body)) in [
        ("/v1/eval-runs", "202", r#"{"session_ids":["unknown"]}"#),
        ("/v1/schedules", "201", r#"{"name":"s","cadence":"daily"}"#),
        ("/v1/schedules/{schedule_id}/pause", "200", ""),
        ("/v1/schedules/{schedule_id}/resume", "200", "{}"),
        ("/v1/schedules/{schedule_id}/trigger", "202", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let path = ids.iter().fold(path.to_owned(), |path, (name, id): (&String, &String)| {
            path.replace(&format!("{{{name}}}"), id)
        });
        let key = format!("k{number}");
        let first = post(&server, &path, &key, body).await;
        assert!(first.0.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {first:?}");
        assert_eq!(post(&server, &path, &key, body).await, first, "{path}");
        let (other, reply) = post(&server, &path, &key, &format!("{body} ")).await;
        assert!(other.starts_with("HTTP/1.1 4"), "{path}: {reply}");
        let created: Value = serde_json::from_str(&first.1).unwrap();
        for name in ["eval_run_id", "schedule_id"] {
            if let Some(id) = created[name].as_str() {
                ids.insert(name.to_owned(), id.to_owned());
            }
        }
    }
    let (_, runs) = server.ask("GET", "/v1/eval-runs", "", "").await;
    assert_eq!(runs["data"].as_array().map(Vec::len), Some(2), "one was created, and one triggered: {runs}");
    // The first run has ended, because its only session is unknown. Its retry waits, then ends again.
    let ended = runs["data"][1]["eval_run_id"].as_str().unwrap();
    let completed = async {
        loop {
            let (_, run) = server.ask("GET", &format!("/v1/eval-runs/{ended}"), "", "").await;
            if run["status"] == "completed" {
                break;
            }
        }
    };
    let minute = std::time::Duration::from_mins(1);
    assert!(tokio::time::timeout(minute, completed).await.is_ok(), "the run does not complete");
    let path = format!("/v1/eval-runs/{ended}/retry");
    let first = post(&server, &path, "retry", "").await;
    assert!(first.0.starts_with("HTTP/1.1 202 "), "{first:?}");
    assert_eq!(post(&server, &path, "retry", "").await, first);
    let cancel = post(&server, &format!("/v1/eval-runs/{ended}/cancel"), "cancel", "").await;
    assert!(
        ["HTTP/1.1 200 ", "HTTP/1.1 409 "].iter().any(|status| cancel.0.starts_with(status)),
        "{cancel:?}"
    );
}

#[tokio::test]
async fn every_post_with_a_key_returns_the_same_bytes_again() {
    let server = start(Limits::default(), system_clock()).await;
    let mut first = Vec::new();
    for (number, (path, status, body)) in REQUESTS.iter().enumerate() {
        let reply = post(&server, path, &format!("k{number}"), body).await;
        assert!(reply.0.starts_with(&format!("HTTP/1.1 {status} ")), "{path} {body}: {reply:?}");
        first.push(reply);
    }
    let (_, before) = server.ask("GET", "/v1/agents", "", "").await;
    // After all of them, so that every agent has other scores by now.
    for (number, ((path, _, body), first)) in REQUESTS.iter().zip(first).enumerate() {
        assert_eq!(post(&server, path, &format!("k{number}"), body).await, first, "{path} {body}");
        let (status, reply) = post(&server, path, &format!("k{number}"), &format!("{body} ")).await;
        // Telemetry without records writes nothing, so nothing is kept.
        let is_kept = !body.contains("[]");
        assert_eq!(status.starts_with("HTTP/1.1 409 "), is_kept, "{path} {body}: {reply}");
    }
    let (_, after) = server.ask("GET", "/v1/agents", "", "").await;
    assert_eq!(before, after, "the retries changed nothing");
    let text = server.text("/openapi.json").await;
    let document: Value = serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let is_sent = REQUESTS.iter().any(|(sent, ..)| *sent == path.replace("{session_id}", "s1"));
        assert!(
            operations.get("post").is_none()
                || is_sent
                || path == "/v1/keys"
                || EVALS.contains(&path.as_str()),
            "{path} is neither in REQUESTS nor in EVALS"
        );
    }
}

#[tokio::test]
async fn a_retry_of_creating_a_key_names_the_first_key_but_does_not_show_it() {
    let server = start(Limits::default(), system_clock()).await;
    let create = || server.ask("POST", "/v1/keys", "Idempotency-Key: k\r\n", r#"{"kind":"publishable"}"#);
    let (status, created) = create().await;
    assert_eq!(status, 201, "{created}");
    let (id, key) = (created["id"].as_str().unwrap(), created["key"].as_str().unwrap());
    let (status, refused) = create().await;
    assert_eq!((status, refused["code"].as_str()), (409, Some("conflict")), "{refused}");
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains(id) && !error.contains(key), "{error}");
    let (_, keys) = server.ask("GET", "/v1/keys", "", "").await;
    assert_eq!(keys["data"].as_array().map(Vec::len), Some(2), "the retry created no key: {keys}");
}
