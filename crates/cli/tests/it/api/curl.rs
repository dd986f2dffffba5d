//! Do the documented ways to read a score work with the real `curl`?

use std::process::Command;

use serde_json::Value;

use super::http::Request;
use super::server::Server;

/// Runs a shell command with `$RENOWN_URL` and `$RENOWN_API_KEY`, as in the documentation.
fn shell(server: &Server, line: &str) -> Value {
    let output = Command::new("sh")
        .args(["-c", line])
        .env("RENOWN_URL", server.url())
        .env("RENOWN_API_KEY", &server.publishable)
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn read(server: &Server) -> Value {
    shell(
        server,
        "curl --silent --show-error --fail $RENOWN_URL/v1/reputation/research-bot-v2 \\\n-H \"Authorization: Bearer $RENOWN_API_KEY\"",
    )
}

/// Sends this many verdicts with a latency of 10 ms.
fn ingest(server: &Server, passed: bool, count: usize) {
    let verdict =
        serde_json::json!({"agent_id": "research-bot-v2", "passed": passed, "total_latency_ms": 10});
    let body = serde_json::json!({"events": vec![verdict; count]}).to_string();
    assert_eq!(server.send(&Request::post("/v1/ingest", body).key(&server.publishable)).status, 202);
}

#[test]
fn the_score_is_read_with_curl() {
    let server = Server::start();
    // An unknown agent gives 200 and zeros, so that its score can be read before the first evaluation.
    let new = read(&server);
    for (field, expected) in [
        ("score", 0),
        ("eval_count", 0),
        ("evaluations", 0),
        ("passed", 0),
        ("streak", 0),
        ("window_size", 500),
    ] {
        assert_eq!(new[field], expected, "{field}");
    }
    assert_eq!((new["pass_rate"].as_f64(), new["avg_latency_ms"].as_f64()), (Some(0.0), Some(0.0)));
    assert_eq!((new["lifecycle"].as_str(), new["status"].as_str()), (Some("new"), Some("new")));

    // 124 evaluations, and the first one failed: 400 · 123/124 + 225 + 200 + 37.2 = 858.97.
    ingest(&server, false, 1);
    ingest(&server, true, 23);
    ingest(&server, true, 100);
    let active = read(&server);
    assert_eq!(active["agent_id"], "research-bot-v2");
    for (field, expected) in [
        ("score", 858),
        ("eval_count", 124),
        ("evaluations", 124),
        ("passed", 123),
        ("streak", 123),
        ("window_size", 500),
    ] {
        assert_eq!(active[field], expected, "{field}");
    }
    assert_eq!(active["pass_rate"].as_f64(), Some(0.991_935));
    assert_eq!(active["avg_latency_ms"].as_f64(), Some(10.0));
    assert_eq!((active["lifecycle"].as_str(), active["status"].as_str()), (Some("active"), Some("active")));
}

#[test]
fn every_evaluation_contains_the_reputation() {
    let server = Server::start();
    ingest(&server, true, 49);
    let reply = shell(
        &server,
        "curl --silent --show-error --fail $RENOWN_URL/v1/evaluate -H \"Authorization: Bearer $RENOWN_API_KEY\" \
         -H 'Content-Type: application/json' -d '{\"agent_id\":\"research-bot-v2\",\"output\":\"All 14 tests pass.\"}'",
    );
    let id = reply["evaluation_id"].as_str().unwrap();
    assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
    assert_eq!(reply["passed"], true);
    assert_eq!(
        (reply["reputation"]["lifecycle"].as_str(), reply["reputation"]["eval_count"].as_u64()),
        (Some("active"), Some(50))
    );
    let score = reply["reputation"]["score"].as_u64().unwrap();
    // 400 + 200 + 15, and at most 225.5 for 49 of 10 ms; the latency of the last one depends on the machine.
    assert!((615..=840).contains(&score), "{score}");
    assert_eq!(read(&server)["score"], score);
}
