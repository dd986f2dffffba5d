//! The pages of evidence, from a real server: access, content, and that they show nothing of another organization.

use renown_server::Limits;
use renown_store::sqlite::system_clock;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::running::{LONG, Running, start};

/// The paths of all lists, and of one page of each kind.
const PATHS: [&str; 7] = [
    "/sessions",
    "/sessions/s%2F1%20%3Cscript%3E",
    "/runs",
    "/runs/run%2F1",
    "/specs",
    "/specs/login%3F",
    "/evaluations",
];

const SESSION: &str = "s/1 <script>";

/// Sends bytes. Returns status, head and body of the reply.
async fn exchange(server: &Running, request: String) -> (u16, String, String) {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_ascii_lowercase(), body.to_owned())
}

async fn get(server: &Running, path: &str, cookie: &str) -> (u16, String, String) {
    exchange(
        server,
        format!("GET {path} HTTP/1.1\r\nHost: renown.test\r\nConnection: close\r\nCookie: {cookie}\r\n\r\n"),
    )
    .await
}

/// Logs in with a key. Returns the cookie.
async fn log_in(server: &Running, key: &str) -> String {
    let form = format!("key={key}&next=%2Fsessions");
    let request = format!(
        "POST /login HTTP/1.1\r\nHost: renown.test\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    );
    let (status, head, _) = exchange(server, request).await;
    assert_eq!(status, 303, "{head}");
    assert!(head.contains("location: /sessions"), "{head}");
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    cookie.split(';').next().unwrap().to_owned()
}

/// Sends JSON with a key.
async fn post(server: &Running, key: &str, path: &str, body: &Value) -> Value {
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let (status, head, body) = exchange(server, request).await;
    assert!((200..300).contains(&status), "{head}\n{body}");
    serde_json::from_str(&body).unwrap_or_default()
}

fn attribute(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// The log of a session: a prompt, two calls of a tool (the second one fails), and a call of a model.
fn telemetry(agent: &str, tool: &str) -> Value {
    let record = |millis: i64, name: &str, more: &[(&str, &str)]| {
        let mut attributes = vec![attribute("session.id", SESSION), attribute("event.name", name)];
        attributes.extend(more.iter().map(|(key, value)| attribute(key, value)));
        json!({"timeUnixNano": format!("{}000000", 1_779_960_000_000_i64 + millis),
               "body": {"stringValue": format!("claude_code.{name}")}, "attributes": attributes})
    };
    let usage = [
        ("input_tokens", "100"),
        ("output_tokens", "50"),
        ("cache_read_tokens", "850"),
        ("cost_usd", "0.25"),
    ];
    let records = [
        record(0, "user_prompt", &[("prompt_length", "9")]),
        record(60_000, "tool_result", &[("tool_name", tool), ("success", "true")]),
        record(90_000, "api_request", &usage),
        record(120_000, "tool_result", &[("tool_name", tool), ("success", "false")]),
    ];
    json!({"resourceLogs": [{
        "resource": {"attributes": [attribute("service.name", "claude-code"), attribute("renown.agent_id", agent)]},
        "scopeLogs": [{"scope": {"name": "com.anthropic.claude_code.events"}, "logRecords": records}],
    }]})
}

/// Sends evidence of every kind for one organization. All names begin with `who`.
async fn fill(server: &Running, key: &str, who: &str) {
    post(server, key, "/otlp/v1/logs", &telemetry(&format!("{who}-coder"), &format!("{who}Tool"))).await;
    let gates = json!([{"name": "pii", "passed": false, "latency_ms": 0.5, "reason": format!("{who} reason")},
                       {"name": "schema", "passed": true, "latency_ms": 0.5}]);
    let event = |passed: bool, gates: &Value| json!({"agent_id": format!("{who}-bot"), "passed": passed, "total_latency_ms": 2.5, "gates": gates});
    let passed = event(true, &json!([{"name": "pii", "passed": true, "latency_ms": 0.5}]));
    post(server, key, "/v1/ingest", &json!({"events": [passed, event(false, &gates)]})).await;
    for (run, agent, outcome) in [("run/1", "fast", "completed"), ("run/2", "slow", "failed")] {
        let run = json!({"run_id": run, "agent_id": format!("{who}-{agent}"), "outcome": outcome, "spec_id": "login?",
                         "wall_ms": 2000, "branch": format!("{who}/branch"), "attributes": {"who": who}});
        post(server, key, "/v1/runs", &run).await;
    }
}

/// Starts a server with evidence of two organizations. Returns it with the keys of both.
async fn two_organizations() -> (Running, String, String) {
    let server = start(Limits::default(), system_clock()).await;
    let ours = server.secret.clone();
    let made = post(&server, &ours, "/v1/keys", &json!({"kind": "secret", "org": "other"})).await;
    let theirs = made.get("key").and_then(Value::as_str).unwrap().to_owned();
    fill(&server, &ours, "our").await;
    fill(&server, &theirs, "their").await;
    (server, ours, theirs)
}

#[tokio::test]
async fn without_a_login_every_page_redirects_to_the_login() {
    let server = start(Limits::default(), system_clock()).await;
    for path in PATHS {
        for cookie in ["", "renown=0000"] {
            let (status, head, body) = get(&server, path, cookie).await;
            assert_eq!(status, 303, "{path}");
            let next = path.replace('%', "%25").replace('/', "%2f");
            assert!(
                head.contains(&format!("location: /login?next={}", next.to_ascii_lowercase())),
                "{path}\n{head}"
            );
            assert_eq!(body, "", "{path}");
        }
    }
}

#[tokio::test]
async fn every_page_shows_only_its_own_organization() {
    let (server, ours, theirs) = two_organizations().await;
    for (key, who, other) in [(&ours, "our", "their"), (&theirs, "their", "our")] {
        let cookie = log_in(&server, key).await;
        let says: [(&str, Vec<String>); 7] = [
            (
                "/sessions",
                vec![format!("{who}-coder"), "1 of 2".into(), "$0.25".into(), "Claude Code".into()],
            ),
            (
                "/sessions/s%2F1%20%3Cscript%3E",
                vec![
                    "1 of 2 tool calls succeeded.".into(),
                    format!("<code title=\"{who}Tool\">{who}Tool</code>"),
                    "850 of 1\u{202f}000 tokens came from the cache".into(),
                    "s/1 &#60;script&#62;".into(),
                ],
            ),
            ("/runs", vec![format!("{who}-fast"), format!("{who}-slow"), "2.0 s".into()]),
            (
                "/runs/run%2F1",
                vec![format!("{who}-fast"), format!("{who}/branch"), "Gold: the work was done".into()],
            ),
            (
                "/specs",
                vec!["login?".into(), format!("{who}-fast"), "One spec that agents compete on.".into()],
            ),
            ("/specs/login%3F", vec![format!("{who}-fast won, with "), format!("{who}-slow")]),
            (
                "/evaluations",
                vec![
                    format!("{who}-bot"),
                    format!("{who} reason"),
                    "One of these two evaluations failed.".into(),
                ],
            ),
        ];
        for (path, sentences) in says {
            let (status, head, body) = get(&server, path, &cookie).await;
            assert_eq!(status, 200, "{path}\n{body}");
            assert!(
                head.contains("cache-control: no-store") && head.contains("default-src 'none'"),
                "{path}"
            );
            for sentence in sentences {
                assert!(body.contains(&sentence), "{sentence:?} is not on {path}\n{body}");
            }
            for foreign in ["-coder", "Tool", "-bot", " reason", "-fast", "-slow", "/branch"] {
                assert!(!body.contains(&format!("{other}{foreign}")), "{other}{foreign} is on {path}");
            }
            assert!(body.len() < 100_000 && !body.contains("<script>a"), "{path}");
        }
    }
}

#[tokio::test]
async fn filters_narrow_lists_and_invalid_ones_are_named() {
    let (server, ours, _) = two_organizations().await;
    let cookie = log_in(&server, &ours).await;
    for (path, there, absent) in [
        ("/evaluations?gate=pii&verdict=failed", "failed by gate pii", "class=\"verdict\">passed"),
        ("/evaluations?gate=schema&verdict=failed", "No evaluation matches.", "our reason"),
        ("/evaluations?agent=our-bot&verdict=passed", "One evaluation, and it passed.", "our reason"),
        ("/evaluations?agent=unknown", "No evaluation matches.", "our-bot"),
        (
            "/evaluations?verdict=maybe&from=yesterday&cursor=x",
            "Not understood and ignored: verdict “maybe”",
            "No evaluation",
        ),
        ("/runs?agent=our-fast", "This run completed.", "our-slow"),
        ("/runs?spec=other", "No run matches.", "our-fast"),
        ("/runs?tier=Wood", "Not understood and ignored: tier “Wood”", "No run"),
        ("/sessions?agent=our-coder&from=2026-05-28&to=2026-05-28", "our-coder", "No session"),
        ("/sessions?to=2026-05-27", "No session matches.", "our-coder"),
        ("/sessions?from=2026-99-99&agent=%00", "Not understood and ignored: agent", "No session"),
        ("/specs?after=zzz", "There are no more specs.", "our-fast"),
    ] {
        let (status, _, body) = get(&server, path, &cookie).await;
        assert_eq!(status, 200, "{path}\n{body}");
        assert!(body.contains(there), "{there:?} is not on {path}\n{body}");
        let main = body.split_once("<main").unwrap().1;
        assert!(!main.contains(absent), "{absent:?} is on {path}");
    }
}

#[tokio::test]
async fn unknown_ids_get_an_error_page() {
    let (server, ours, _) = two_organizations().await;
    let cookie = log_in(&server, &ours).await;
    let long = "x".repeat(201);
    for path in ["/sessions/nope", "/runs/nope", "/specs/nope", "/runs/%FF", &format!("/sessions/{long}")] {
        let (status, _, body) = get(&server, path, &cookie).await;
        assert_eq!(status, 404, "{path}");
        assert!(body.contains("There is nothing here."), "{path}\n{body}");
    }
}

#[tokio::test]
async fn the_next_page_continues_the_list() {
    let server = start(Limits::default(), system_clock()).await;
    let key = server.secret.clone();
    let events: Vec<Value> = (0..60)
        .map(
            |number| json!({"agent_id": format!("agent-{number:02}"), "passed": true, "total_latency_ms": 1}),
        )
        .collect();
    post(&server, &key, "/v1/ingest", &json!({"events": events})).await;
    for number in 0..30 {
        let run = json!({"agent_id": "a", "outcome": "completed", "run_id": format!("run-{number:02}"), "spec_id": format!("spec-{number:02}")});
        post(&server, &key, "/v1/runs", &run).await;
        let signals = json!({"traces": [{"trace_id": "t", "signals": {"confidence": 0.5}}]});
        post(&server, &key, &format!("/v1/sessions/session-{number:02}/signals"), &signals).await;
    }
    let cookie = log_in(&server, &key).await;
    for (path, first, rest) in [
        ("/evaluations", "agent-10", "agent-09"),
        ("/runs", "run-05", "run-04"),
        ("/sessions", "session-05", "session-04"),
        ("/specs", "spec-24", "spec-25"),
    ] {
        let (_, _, body) = get(&server, path, &cookie).await;
        let main = body.split_once("<main").unwrap().1;
        assert!(main.contains(first) && !main.contains(rest), "{path}\n{body}");
        let (before, _) = main.split_once("\" rel=\"next\"").unwrap();
        let next = before.rsplit_once("href=\"").unwrap().1.replace("&#38;", "&");
        let (status, _, body) = get(&server, &next, &cookie).await;
        let main = body.split_once("<main").unwrap().1;
        assert_eq!(status, 200);
        assert!(
            main.contains(rest) && !main.contains(first) && !main.contains("rel=\"next\""),
            "{next}\n{body}"
        );
    }
}

#[tokio::test]
async fn open_pages_are_notified_of_telemetry_and_runs() {
    let server = start(Limits::default(), system_clock()).await;
    let cookie = log_in(&server, &server.secret.clone()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = format!("GET /live HTTP/1.1\r\nHost: renown.test\r\nCookie: {cookie}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut received = String::new();
    let mut buffer = [0; 4096];
    // The head shows that the stream is open. Then each kind of evidence causes one event.
    for count in 0..=2 {
        while received.matches("event: session").count() < count || !received.contains("200 OK") {
            let read = tokio::time::timeout(LONG, stream.read(&mut buffer)).await.unwrap().unwrap();
            assert!(read > 0, "{received}");
            received.push_str(std::str::from_utf8(buffer.get(..read).unwrap()).unwrap());
        }
        match count {
            0 => post(&server, &server.secret, "/otlp/v1/logs", &telemetry("a", "Bash")).await,
            1 => {
                post(&server, &server.secret, "/v1/runs", &json!({"agent_id": "a", "outcome": "failed"}))
                    .await
            }
            _ => Value::Null,
        };
    }
}

#[tokio::test]
async fn the_page_of_an_agent_shows_a_dash_for_a_cost_that_was_not_reported() {
    let server = start(Limits::default(), system_clock()).await;
    let mut log = telemetry("frugal", "Bash");
    // Only the prompt: no tool and no cost was reported.
    let records = log.pointer_mut("/resourceLogs/0/scopeLogs/0/logRecords").and_then(Value::as_array_mut);
    records.unwrap().truncate(1);
    post(&server, &server.secret, "/otlp/v1/logs", &log).await;
    let cookie = log_in(&server, &server.secret).await;
    let (status, _, body) = get(&server, "/agents/frugal", &cookie).await;
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("no cost was reported") && body.contains("no tool call was reported"), "{body}");
    assert!(!body.contains("$0") && !body.contains("0 of 0"), "{body}");
}
