//! `renown overview` and the table of agents: do they show every kind of evidence, the same as in the API?

use std::time::{Duration, SystemTime};

use renown_testing::Scratch;
use serde_json::{Value, json};

use super::{Run, Server, run};
use crate::telemetry::line;

/// Maximum number of attempts to read the API and the CLI in the same state.
const ATTEMPTS: usize = 50;

fn printed(command: &[&str], data: &str) -> Run {
    run(&[command, &["--data", data]].concat())
}

/// Returns the JSON of a command and of the API in the same state: the API's reply is equal before and after the command.
fn same_state(server: &Server, data: &str, path: &str, command: &[&str]) -> (Value, Value) {
    for _ in 0..ATTEMPTS {
        let before = server.get(path);
        let ours = printed(&[command, &["--format", "json"]].concat(), data).json();
        if before == server.get(path) {
            return (ours, before);
        }
    }
    panic!("{path} changes too fast");
}

/// Sends evaluations of one agent with a gate and a tool, dated this many days ago. Every nth of them failed.
fn judged(server: &Server, agent: &str, count: usize, days_ago: u32, gate: &str, fails_every: usize) {
    let at = SystemTime::now() - Duration::from_hours(24) * days_ago;
    let at = at.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    let at = u64::try_from(at).unwrap();
    let event = |number: usize| {
        let passed = !(number + 1).is_multiple_of(fails_every);
        json!({
            "agent_id": agent, "passed": passed, "total_latency_ms": 2, "tool": "search", "timestamp": at,
            "gates": [{"name": gate, "passed": passed, "latency_ms": 1}],
        })
    };
    let events: Vec<Value> = (0..count).map(event).collect();
    for events in events.chunks(100) {
        let (status, _, message) =
            server.call("POST", "/v1/ingest", &server.publishable, &json!({"events": events}));
        assert_eq!(status, 202, "{message}");
    }
}

/// Starts a server with an agent of every kind.
fn filled(data: &str) -> Server {
    let server = Server::start(data);
    judged(&server, "mature", 500, 1, "content", 1000);
    judged(&server, "falling", 60, 1, "pii", 1000);
    judged(&server, "falling", 30, 0, "pii", 3);
    assert_eq!(server.ingest("beginner", "b", 12), 202);
    let send = |path: &str, key: &str, body: &Value, expected: u16| {
        let (status, _, message) = server.call("POST", path, key, body);
        assert_eq!(status, expected, "{path}: {message}");
    };
    for record in [
        line("s1", "claude_code.user_prompt", 0, &[]),
        line("s1", "claude_code.tool_result", 60, &[("tool_name", "Edit"), ("success", "true")]),
    ] {
        let record = serde_json::from_str(&record).unwrap();
        send("/otlp/v1/logs", &server.publishable, &record, 200);
    }
    let run = json!({"agent_id": "runner", "run_id": "r1", "outcome": "completed", "wall_ms": 1000});
    send("/v1/runs", &server.publishable, &run, 201);
    server
}

/// Returns the cells of an agent's row, without the time.
fn cells<'a>(text: &'a str, agent: &str) -> Vec<&'a str> {
    let row =
        text.lines().find(|line| line.starts_with(&format!("{agent}  "))).unwrap_or_else(|| panic!("{text}"));
    let mut cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells.pop().map(str::len), Some("2026-11-15 12:00".len()), "{row}");
    cells
}

#[test]
fn one_table_shows_every_kind_of_evidence() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = filled(&data);
    let event = json!({
        "event_id": "00000000-0000-4000-8000-000000000001", "agent_id": "runner", "category": "economic",
        "timestamp": server.get("/v1/agents/runner")["first_seen"], "event_type": "paid", "score_delta": 0.5,
    });
    let (status, _, message) =
        server.call("POST", "/v1/reputation-events", &server.secret, &json!({"events": [event]}));
    assert_eq!(status, 202, "{message}");

    let text = printed(&["agents", "list"], &data).good();
    let head: Vec<&str> = text.lines().next().unwrap().split("  ").filter(|cell| !cell.is_empty()).collect();
    let head: Vec<&str> = head.into_iter().map(str::trim).collect();
    assert_eq!(
        head,
        ["AGENT", "SCORE", "PASSED", "LATENCY", "SESSION", "RUN", "IDENTITY", "LAST SEEN (UTC)"]
    );
    let score = server.get("/v1/reputation/mature")["score"].to_string();
    assert_eq!(cells(&text, "mature"), ["mature", &score, "100.0%", "2.0 ms", "–", "–", "–"]);
    assert_eq!(cells(&text, "beginner"), ["beginner", "calibrating 12/50", "83.3%", "2.0 ms", "–", "–", "–"]);
    assert_eq!(cells(&text, "coder")[..6], ["coder", "–", "–", "–", "6.5 review", "–"]);
    assert_eq!(cells(&text, "runner"), ["runner", "–", "–", "–", "–", "Gold", "0.18 (0.01)"]);
}

#[test]
fn agents_and_the_overview_match_the_api() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let server = filled(&data);
    // More agents than the overview ranks.
    let events: Vec<Value> = (0..25)
        .map(|number| json!({"agent_id": format!("a{number}"), "passed": true, "total_latency_ms": 1}))
        .collect();
    let (status, ..) = server.call("POST", "/v1/ingest", &server.publishable, &json!({"events": events}));
    assert_eq!(status, 202);
    for sort in ["last-seen", "score", "name", "evaluations"] {
        let path = format!("/v1/agents?sort={}", sort.replace('-', "_"));
        let (ours, theirs) = same_state(&server, &data, &path, &["agents", "list", "--sort", sort]);
        assert_eq!(ours, theirs["agents"], "{sort}");
        assert_eq!(ours.as_array().unwrap().len(), 30);
    }
    let (ours, theirs) = same_state(&server, &data, "/v1/overview", &["overview"]);
    assert_eq!(ours, theirs);
    assert_eq!(ours["ranking"].as_array().unwrap().len(), 20);
    for day in ["2026-09-21", "2026-09-20", "2000-01-01"] {
        let path = format!("/v1/overview?day={day}");
        let (ours, theirs) = same_state(&server, &data, &path, &["overview", "--day", day]);
        assert_eq!(ours, theirs, "{day}");
    }
    let path = "/v1/agents/falling/breakdown";
    let (ours, theirs) = same_state(&server, &data, path, &["agents", "show", "falling"]);
    assert_eq!(ours["breakdown"], theirs);
}

#[test]
fn an_overview_shows_changes_and_their_causes() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let _server = filled(&data);
    let text = printed(&["overview"], &data).good();
    for part in [
        ": 5 agents\n",
        "PERIOD      EVALUATIONS  PASSED  LATENCY  SESSIONS  COST  RUNS\n",
        "           42   71.4%   2.0 ms         0     –     1\n7 days              602   ",
        "falling  pii failed 10 of 30 evaluations\n",
        "FAILING GATE  FAILED  7 DAYS BEFORE\npii               10              0  new\n",
        "\nagents by score, as of now:\nAGENT   ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let shown = printed(&["agents", "show", "falling"], &data).good();
    for part in [
        "\nlast 30 days: 90 evaluations, 88.8% passed\nlatency: 90 up to 3 ms\n",
        "\nFAILING GATE  FAILED\npii               10\n",
        "\nFAILING TOOL  FAILED  EVALUATIONS\nsearch            10           90\n",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let quiet = printed(&["overview", "--day", "2026-09-21"], &data).good();
    assert!(quiet.starts_with("default on 2026-09-21 (UTC): 5 agents\n"), "{quiet}");
    assert!(quiet.contains("2026-09-21            0       –        –         1  $0.00     0\n"), "{quiet}");
    assert!(!quiet.contains("FAILING") && !quiet.contains("CHANGE"), "{quiet}");
}

#[test]
fn an_empty_store_has_a_hint_and_an_invalid_day_is_an_error() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let message = printed(&["overview"], &data).refused();
    assert!(message.contains("hint: `renown serve` creates one"), "{message}");
    let server = Server::start(&data);
    let text = printed(&["overview"], &data).good();
    assert!(text.starts_with("no agents in default yet\nnext: `renown setup claude` "), "{text}");
    let (ours, theirs) = same_state(&server, &data, "/v1/overview", &["overview"]);
    assert_eq!(ours, theirs);
    for day in ["2026-02-30", "yesterday", "2026-1-1", "1999-12-31", ""] {
        let message = printed(&["overview", "--day", day], &data).refused();
        assert!(message.contains("--day <YYYY-MM-DD>"), "{message}");
        assert!(day.is_empty() || message.contains("not a day such as 2026-11-15"), "{message}");
    }
    assert!(
        printed(&["overview", "--org", "unknown"], &data).refused().contains("no organization \"unknown\"")
    );
}
