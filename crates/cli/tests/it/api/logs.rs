//! Does the log never contain what a client sends, at any level?

use std::process::{Command, Stdio};
use std::sync::Arc;

use renown_testing::Scratch;

use super::http::Request;
use super::server::Server;

/// A marker for private data.
const MARKER: &str = "xyzzyMARKERxyzzy";

/// Returns requests with the marker in every possible position.
fn requests(server: &Server) -> Vec<Request> {
    let (publishable, secret) = (&server.publishable, &server.secret);
    let marked_key = format!("rn_pub_{MARKER}{MARKER}");
    let body = format!(
        r#"{{"agent_id":"{MARKER}","output":"{MARKER}","input":"{MARKER}","tool":"{MARKER}","evaluation_id":"{MARKER}"}}"#
    );
    let bad_body = format!(r#"{{"agent_id":"{MARKER}","output":"{MARKER}","latency_ms":"{MARKER}"}}"#);
    let batch = format!(
        r#"{{"events":[{{"agent_id":"{MARKER}","passed":false,"total_latency_ms":1,"gates":[{{"name":"{MARKER}","passed":false,"latency_ms":1,"reason":"{MARKER}"}}]}}]}}"#
    );
    vec![
        Request::post("/v1/evaluate", body.clone()).key(publishable).header("Idempotency-Key", MARKER),
        Request::post("/v1/evaluate", body.clone()).key(publishable).header("Idempotency-Key", MARKER),
        Request::post("/v1/ingest", body.clone()).key(publishable).header("Idempotency-Key", MARKER),
        Request::post("/v1/evaluate", body.clone()).key(&marked_key),
        Request::post("/v1/evaluate", body.clone()).header("Authorization", MARKER),
        Request::post("/v1/evaluate", bad_body).key(publishable),
        Request::post("/v1/evaluate", MARKER).key(publishable),
        Request::post("/v1/evaluate", body.clone()).header("Content-Type", MARKER).key(publishable),
        Request::post("/v1/ingest", batch).key(publishable),
        Request::post("/v1/agents", body).key(publishable),
        Request::post("/v1/keys", format!(r#"{{"kind":"secret","label":"{MARKER}"}}"#)).key(secret),
        Request::get(&format!("/v1/reputation/{MARKER}")).key(publishable),
        Request::get(&format!("/v1/reputation/{MARKER}/explain")).key(publishable),
        Request::get(&format!("/v1/events?agent_id={MARKER}&tool={MARKER}&gate={MARKER}")).key(publishable),
        Request::get(&format!("/v1/events?cursor={MARKER}")).key(publishable),
        Request::get(&format!("/v1/agents?q={MARKER}")).key(publishable),
        Request::get(&format!("/{MARKER}?{MARKER}"))
            .header("User-Agent", MARKER)
            .header("X-Request-Id", MARKER),
        Request::new("DELETE", &format!("/v1/keys/{MARKER}")).key(secret),
        Request::new(MARKER, "/health"),
    ]
}

#[test]
fn no_level_logs_what_a_client_sent() {
    for level in ["error", "warn", "info", "debug", "trace"] {
        let server = Server::start_with(Arc::new(Scratch::new()), &[("RENOWN_LOG", level)]);
        for request in requests(&server) {
            let reply = server.send(&request);
            assert!(reply.status < 500, "{request:?}: {}", reply.text());
            let id = reply.header("x-request-id").unwrap();
            assert!(id.len() == 36 && !id.contains(MARKER), "{id}");
        }
        // Also over HTTP/2, whose library logs frames.
        let url = format!("{}/v1/reputation/{MARKER}", server.url());
        let curl = Command::new("curl")
            .args(["--silent", "--show-error", "--fail", "--http2-prior-knowledge", &url])
            .args([
                "-H",
                &format!("Authorization: Bearer {}", server.publishable),
                "-H",
                &format!("X-Private: {MARKER}"),
            ])
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(curl.success());
        let keys = [server.publishable.clone(), server.secret.clone()];
        server.terminate();
        let (status, log) = server.wait();
        assert!(status.success());
        assert!(level != "trace" || log.contains("request"), "the log has nothing at all");
        for private in [MARKER, &keys[0], &keys[1]] {
            // A key without its prefix is just as secret.
            let private = private.get(private.len() - 16..).unwrap();
            if let Some(line) = log.lines().find(|line| line.contains(private)) {
                panic!("{level}: {line}");
            }
        }
    }
}
