//! Sessions that were received: `renown agents show`, `renown verify`, `renown export sessions`.

use std::path::Path;

use serde_json::{Value, json};

use super::{Scratch, run};
use crate::telemetry::{Received, line};

/// One session with records, and one of which only a signal was sent.
fn received(data: &str) -> Received {
    let store = Received::open(Path::new(data));
    store.receive(&[
        line("with records", "claude_code.user_prompt", 0, &[]),
        line("with records", "claude_code.tool_result", 60, &[("tool_name", "Edit"), ("success", "true")]),
    ]);
    store.signal("only, \"signals\"", "reviewer", 0.75);
    store
}

#[test]
fn an_agent_is_shown_with_its_latest_sessions() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let _beside = received(&data);
    let show = |args: &[&str]| run(&[&["agents", "show"], args, &["--data", &data]].concat());
    let text = show(&["coder"]).good();
    let head = "SESSION       BEGAN (UTC)       SCORE       RELIABILITY  CONSISTENCY\n";
    assert!(text.contains(head), "{text}");
    assert!(text.contains("\nwith records  2026-09-21 14:13  6.5 review"), "{text}");
    assert!(!text.contains("only"), "{text}");
    let reviewer = show(&["reviewer", "--format", "json"]).json();
    let mut session = reviewer["sessions"][0].clone();
    for time in ["began_at", "last_seen"] {
        assert!(session[time].take().is_string());
    }
    let expected = json!({
        "session_id": "only, \"signals\"", "began_at": null, "last_seen": null, "closed_at": null,
        "composite": null, "recommendation": null, "reliability": 0.75, "consistency": 0.75,
    });
    assert_eq!(session, expected);
    let verified = run(&["verify", "--data", &data]).good();
    assert!(
        verified.starts_with("verified 0 evaluations of 2 agents, 0 runs, 2 sessions and 0 "),
        "{verified}"
    );
}

#[test]
fn sessions_are_exported_row_by_row() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let _beside = received(&data);
    let export = |args: &[&str]| run(&[&["export", "sessions", "--data", &data], args].concat());
    let rows: Vec<Value> =
        export(&[]).good().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2);
    for (row, name, expected) in [
        (0, "session_id", json!("with records")),
        (0, "agent_id", json!("coder")),
        (0, "agent", json!("claude-code")),
        (0, "masque", json!("unknown")),
        (0, "started_at", json!("2026-09-21T14:13:20.000Z")),
        (0, "ended_at_ns", json!(1_790_000_060_000_000_000_u64)),
        (0, "closed_at", json!(null)),
        (0, "duration_min", json!(1)),
        (0, "composite", json!(6.5)),
        (0, "recommendation", json!("review")),
        (0, "tools_ok", json!(1)),
        (0, "missing", json!(["cost", "tokens"])),
        (0, "cost_source", json!("none")),
        (0, "formula_version", json!("1")),
        (0, "traces", json!(1)),
        (1, "session_id", json!("only, \"signals\"")),
        (1, "agent_id", json!("reviewer")),
        (1, "composite", json!(null)),
        (1, "reliability", json!(0.75)),
        (1, "consistency_evaluable", json!(true)),
    ] {
        assert_eq!(rows[row][name], expected, "{row} {name}");
    }
    let csv = export(&["--format", "csv"]).good();
    assert!(csv.starts_with("session_id,agent_id,agent,masque,started_at,"), "{csv}");
    assert!(csv.contains("\r\n\"only, \"\"signals\"\"\",reviewer,,,,,"), "{csv}");
    let file = scratch.at("sessions.parquet");
    assert_eq!(export(&["--format", "parquet", "-o", &file]).good(), "");
    assert!(std::fs::read(file).unwrap().starts_with(b"PAR1"));
}
