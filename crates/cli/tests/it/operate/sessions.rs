//! Received sessions: `renown sessions`, `renown agents show`, `renown verify`, `renown export sessions`.

use std::path::Path;

use renown_testing::Scratch;
use serde_json::{Value, json};

use super::run;
use crate::telemetry::{Received, line};

/// Returns a store with one session that has records, and one that has only a signal.
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
    let _writer = received(&data);
    let show = |args: &[&str]| run(&[&["agents", "show"], args, &["--data", &data]].concat());
    let text = show(&["coder"]).good();
    let head = "SESSION       AGENT  BEGAN (UTC)            SCORE  RELIABILITY  CONSISTENCY\n";
    assert!(text.contains(head), "{text}");
    assert!(text.contains("\nwith records  coder  2026-09-21 14:13  6.5 review"), "{text}");
    assert!(!text.contains("only"), "{text}");
    let reviewer = show(&["reviewer", "--format", "json"]).json();
    let mut session = reviewer["sessions"][0].clone();
    for time in ["began_at", "last_seen"] {
        assert!(session[time].take().is_string());
    }
    let expected = json!({
        "session_id": "only, \"signals\"", "agent_id": "reviewer", "began_at": null, "last_seen": null, "closed_at": null,
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
fn sessions_are_listed_latest_start_first() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let list = |args: &[&str]| run(&[&["sessions", "list"], args, &["--data", &data]].concat());
    assert!(list(&[]).refused().contains("`renown serve` creates one"));
    let empty = Received::open(Path::new(&data));
    assert!(list(&[]).good().starts_with("no sessions in default yet\nnext: `renown setup claude` "));
    assert_eq!(list(&["--format", "json"]).good(), "[]\n");
    drop(empty);

    let _writer = received(&data);
    let text = list(&[]).good();
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows[0].starts_with("SESSION          AGENT     BEGAN (UTC)"), "{text}");
    assert!(rows[1].starts_with("only, \"signals\"  reviewer  "), "{text}");
    assert!(rows[1].ends_with("         –       0.7500       0.7500"), "{text}");
    assert!(rows[2].starts_with("with records     coder     2026-09-21 14:13  6.5 review"), "{text}");
    let ids = |args: &[&str]| {
        let rows = list(&[args, &["--format", "json"]].concat()).json();
        let ids = rows.as_array().unwrap().iter().map(|row| row["session_id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids(&[]), ["only, \"signals\"", "with records"]);
    assert_eq!(ids(&["--agent", "coder"]), ["with records"]);
    assert_eq!(ids(&["--limit", "1"]), ["only, \"signals\""]);
    assert!(list(&["--limit", "1"]).good().ends_with("… and more: --limit N shows them\n"));
    assert_eq!(list(&["--agent", "unknown"]).good(), "no sessions of \"unknown\" in default\n");
    assert!(list(&["--limit", "0"]).refused().contains("--limit"));
}

#[test]
fn records_are_shown_in_order_of_time() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let writer = received(&data);
    let request = [
        ("model", "opus"),
        ("cost_usd", "0.0042"),
        ("input_tokens", "100"),
        ("output_tokens", "20"),
        ("duration_ms", "1200"),
    ];
    writer.receive(&[
        // It arrives late, but is shown at its time.
        line("with records", "claude_code.api_request", 30, &request),
        line("with records", "claude_code.something_else", 90, &[]),
    ]);
    let records = |args: &[&str]| run(&[&["sessions", "records"], args, &["--data", &data]].concat());
    let text = records(&["with records"]).good();
    assert!(text.starts_with("SESSION       AGENT  "), "{text}");
    let (_, timeline) = text.split_once("\n\n").unwrap();
    let expected = "\
TIME (UTC)      KIND         TOOL OR MODEL  OK   DURATION     COST  TOKENS  NOTE
09-21 14:13:20  prompt       –              –           –        –       –
09-21 14:13:50  api_request  opus           yes   1200 ms  $0.0042     120
09-21 14:14:20  tool_result  Edit           yes         –        –       –
09-21 14:14:50  other        –              –           –        –       –
";
    assert_eq!(timeline, expected);
    let cut = records(&["with records", "--limit", "3"]).good();
    assert!(cut.ends_with("… and 1 more record: --limit N shows them\n"), "{cut}");
    let shown = records(&["with records", "--format", "json", "--limit", "2"]).json();
    assert_eq!(shown.as_array().unwrap().len(), 2);
    let call = &shown[1];
    assert_eq!(
        (&call["at"], &call["signal"]),
        (&"2026-09-21T14:13:50.000Z".into(), &"logs".into()),
        "{call}"
    );
    assert_eq!(
        (&call["facts"][0]["kind"], &call["facts"][0]["model"]),
        (&"api_request".into(), &"opus".into()),
        "{call}"
    );
    let none = records(&["only, \"signals\""]).good();
    assert!(none.ends_with("no records: only signals were sent\n"), "{none}");
    assert_eq!(records(&["only, \"signals\"", "--format", "json"]).good(), "[]\n");
    let message = records(&["nothing"]).refused();
    assert_eq!(
        message,
        "error: no session \"nothing\" in default\nhint: `renown sessions list` lists them\n"
    );
    assert!(records(&["with records", "--org", "unknown"]).refused().contains("no organization \"unknown\""));
}

#[test]
fn sessions_are_exported_row_by_row() {
    let scratch = Scratch::new();
    let data = scratch.at("data");
    let _writer = received(&data);
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
