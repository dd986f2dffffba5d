//! Do the situations and sample records of the contract give its numbers?
//!
//! Numbers: quality, autonomy, productivity, token and cost efficiency → composite.

use serde_json::json;

use super::{
    Folder, Judged, Record, SECOND, T0, bare, call, document, judged, judged_with, lines, log, log_at,
    ok_tool, prompt,
};

#[track_caller]
fn expect(records: &[Record], brief: &str, missing: &str) -> Judged {
    let judged = judged(&lines(records));
    assert_eq!((judged.brief().as_str(), judged.coverage("missing").as_str()), (brief, missing));
    judged
}

#[test]
fn all_attributes_are_strings() {
    expect(&[prompt(0), ok_tool(60)], "10, 2, 10, 0, 10 → 6.5 review", "cost tokens");
}

#[test]
fn all_attributes_are_typed() {
    let tool = log("claude_code.tool_result", 60).with("success", true).with("duration_ms", 12.5);
    let call = call(120).with("cost_usd", 0.05).with("input_tokens", 1);
    expect(&[prompt(0), tool, call], "10, 2, 5, 0, 5 → 5.0 review", "");
}

#[test]
fn no_prompt_and_no_tokens() {
    let tool = log("claude_code.tool_result", 0).with("success", true);
    expect(&[tool, call(30).with("cost_usd", 0.05)], "10, 2, 10, 0, 5 → 6.0 review", "prompts tokens");
}

#[test]
fn a_tool_after_21_000_prompts() {
    let prompts: Vec<_> =
        (0..21_000).map(|i| log_at("claude_code.user_prompt", T0 + i * 2_000_000)).collect();
    let tool = log("claude_code.tool_result", 60);
    for (tool, brief, ok) in [
        (tool.clone().with("success", true), "10, 0, 10, 0, 10 → 6.0 review", 1),
        (
            tool.with("files", json!({ "arrayValue": { "values": [{ "stringValue": "a" }] } })),
            "0, 0, 0, 0, 10 → 1.0 doff",
            0,
        ),
    ] {
        let mut lines = lines(&prompts);
        lines.push(tool.line());
        let judged = judged(&lines);
        assert_eq!(judged.brief(), brief);
        let ok = if ok == 1 { "tools=1 ok=1 prompts=21000" } else { "tools=1 prompts=21000" };
        assert_eq!(judged.evidence(), ok);
    }
}

#[test]
fn success_false_then_true_is_a_failure() {
    let tool = log("claude_code.tool_result", 0).with("success", "false").with("success", "true");
    expect(&[prompt(0), tool], "0, 2, 0, 0, 10 → 1.5 doff", "cost tokens");
}

#[test]
fn a_call_without_a_tool() {
    let costly = call(1).with("cost_usd", 0.02).with("input_tokens", 1);
    expect(&[prompt(0), costly], "0, 0, 0, 0, 8 → 0.8 doff", "tools");
    let free = expect(&[call(0).with("cost_usd", 0.0)], "0, 0, 0, 0, 10 → 1.0 doff", "tools prompts tokens");
    assert_eq!(free.coverage("present"), "cost");
    assert_eq!(free.document["coverage"]["cost_source"], "reported");
}

#[test]
fn names_with_and_without_prefix_are_the_same() {
    let named = |body: &str, event_name: &str, attribute: &str, seconds: u64| {
        bare()
            .field("timeUnixNano", (T0 + seconds * SECOND).to_string())
            .field("body", json!({ "stringValue": body }))
            .field("eventName", event_name)
            .with("event.name", attribute)
            .with("session.id", "s-1")
    };
    for prefix in ["", "claude_code."] {
        let name = |event: &str| format!("{prefix}{event}");
        let prompt = named(&name("user_prompt"), "claude_code.user_prompt", &name("user_prompt"), 0);
        let tool = named(&name("tool_result"), "claude_code.tool_result", &name("tool_result"), 60);
        expect(&[prompt, tool.with("success", "true")], "10, 2, 10, 0, 10 → 6.5 review", "cost tokens");
    }
}

#[test]
fn durations_are_exact_to_the_nanosecond() {
    // 87 s are 1.45 min, which rounds to 1.5; anything less rounds to 1.4.
    for (late_ns, productivity, minutes) in [(0, 6.7, 2), (1, 7.1, 1), (500_000, 7.1, 1)] {
        let first = log_at("claude_code.user_prompt", T0 + late_ns);
        let judged = judged(&lines(&[first, ok_tool(87)]));
        assert_eq!(judged.document["dimensions"]["productivity"], productivity, "{late_ns} ns");
        assert_eq!(judged.document["duration_min"], minutes, "{late_ns} ns");
    }
}

#[test]
fn a_blank_line_between_equal_prompts() {
    for (sequence, prompts, duplicates) in [(None, 2, 0), (Some(7), 1, 1)] {
        let prompt = sequence.map_or(prompt(0), |number: i64| prompt(0).with("event.sequence", number));
        let judged = judged(&[prompt.line(), String::new(), prompt.line()]);
        assert_eq!(judged.document["stats"]["prompts"], prompts);
        assert_eq!(judged.counted("duplicates"), duplicates);
        assert_eq!(judged.warnings, [""; 0]);
    }
}

#[test]
fn overlapping_sessions_stay_separate() {
    let a = [0, 180, 360, 540].map(|seconds| session_tool("A", seconds));
    let b = [120, 330].map(|seconds| session_tool("B", seconds));
    let call = bare()
        .field("timeUnixNano", (T0 + 200 * SECOND).to_string())
        .with("event.name", "claude_code.api_request")
        .with("session.id", "B")
        .with("cost_usd", "0.01");
    let records = [&a[..2], &b[..1], &[call], &a[2..], &b[1..]].concat();
    let latest = judged(&lines(&records));
    assert_eq!(
        (latest.text("session_id"), latest.brief().as_str()),
        ("B", "10, 4, 5.7, 0, 9.5 → 6.1 review")
    );
    let a = judged_with(&["--session", "A"], &lines(&records));
    assert_eq!(a.brief(), "10, 8, 4.4, 0, 10 → 6.9 review");
}

fn session_tool(session: &str, seconds: u64) -> Record {
    bare()
        .field("timeUnixNano", (T0 + seconds * SECOND).to_string())
        .with("event.name", "claude_code.tool_result")
        .with("session.id", session)
        .with("success", "true")
}

#[test]
fn a_failed_tool_and_an_overloaded_model() {
    let call = call(4)
        .with("input_tokens", 6)
        .with("output_tokens", 308)
        .with("cache_read_tokens", 117_147)
        .with("cache_creation_tokens", 5_722)
        .with("cost_usd", 0.074_085);
    let accept = log("claude_code.tool_decision", 10).with("decision", "accept").with("source", "config");
    let tool = log("claude_code.tool_result", 12).with("success", "false");
    let error = log("claude_code.api_error", 18).with("status_code", "529");
    let judged = expect(&[prompt(0), call, accept, tool, error], "0, 2, 0, 9.5, 2.6 → 2.2 doff", "");
    assert_eq!(
        judged.evidence(),
        "tools=1 prompts=1 tokens=123183 cached=117147 cost=0.07 api_errors=1 accepts=1"
    );
}

/// The records of the contract's last section, unchanged.
const SAMPLES: [&str; 6] = [
    r#"{"timeUnixNano":"1790000000000000000","body":{"stringValue":"claude_code.user_prompt"},"attributes":[
      {"key":"session.id","value":{"stringValue":"s-1"}},{"key":"event.sequence","value":{"intValue":"1"}}]}"#,
    r#"{"timeUnixNano":1790000004000000000,"attributes":[{"key":"event.name","value":{"stringValue":"api_request"}},
      {"key":"session.id","value":{"stringValue":"s-1"}},{"key":"input_tokens","value":{"intValue":10}},
      {"key":"output_tokens","value":{"intValue":200}},{"key":"cache_read_tokens","value":{"intValue":9000}},
      {"key":"cache_creation_tokens","value":{"intValue":790}},{"key":"cost_usd","value":{"doubleValue":0.042}}]}"#,
    r#"{"timeUnixNano":"1790000015000000000","eventName":"claude_code.tool_result","attributes":[{"key":"session.id","value":
      {"stringValue":"s-1"}},{"key":"tool_name","value":{"stringValue":"Edit"}},{"key":"success","value":{"stringValue":"true"}}]}"#,
    r#"{"timeUnixNano":"0","observedTimeUnixNano":"1790000020000000000","attributes":[{"key":"event.name","value":{"stringValue":
      "codex.sse_event"}},{"key":"event.kind","value":{"stringValue":"response.completed"}},{"key":"conversation.id","value":
      {"stringValue":"c-1"}},{"key":"input_token_count","value":{"stringValue":"5000"}},{"key":"output_token_count","value":
      {"stringValue":"120"}},{"key":"cached_token_count","value":{"intValue":"4096"}}]}"#,
    r#"{"timeUnixNano":"1790000030000000000","body":{"stringValue":"Tool call: read_file. Success: true."},"attributes":[
      {"key":"event.name","value":{"stringValue":"gemini_cli.tool_call"}},{"key":"session.id","value":{"stringValue":"g-1"}},
      {"key":"function_name","value":{"stringValue":"read_file"}},{"key":"success","value":{"boolValue":true}}]}"#,
    r#"{"traceId":"7c1f0e6a92b84d3fa5d0c9e817264b3a","spanId":"c09d44e1b72f6a58","name":"execute_tool runTests","startTimeUnixNano":
      "1790000040000000000","endTimeUnixNano":"1790000042500000000","status":{"code":2},"attributes":[{"key":"gen_ai.tool.name",
      "value":{"stringValue":"runTests"}},{"key":"gen_ai.conversation.id","value":{"stringValue":"k-1"}}]}"#,
];

/// Session, agent, numbers, evidence, missing evidence, signal, source of the cost, first and last record.
const SAMPLE_SESSIONS: [[&str; 9]; 4] = [
    [
        "s-1",
        "claude-code",
        "10, 2, 10, 9, 5.8 → 7.4 keep",
        "tools=1 ok=1 prompts=1 tokens=10000 cached=9000 cost=0.04",
        "",
        "logs",
        "reported",
        "2026-09-21T14:13:20.000Z",
        "2026-09-21T14:13:35.000Z",
    ],
    [
        "c-1",
        "codex",
        "0, 0, 0, 8, 10 → 2.2 doff",
        "tokens=5120 cached=4096",
        "tools prompts cost",
        "logs",
        "none",
        "2026-09-21T14:13:40.000Z",
        "2026-09-21T14:13:40.000Z",
    ],
    [
        "g-1",
        "gemini-cli",
        "10, 2, 10, 0, 10 → 6.5 review",
        "tools=1 ok=1",
        "prompts cost tokens",
        "logs",
        "none",
        "2026-09-21T14:13:50.000Z",
        "2026-09-21T14:13:50.000Z",
    ],
    [
        "k-1",
        "genai",
        "0, 2, 0, 0, 10 → 1.5 doff",
        "tools=1",
        "prompts cost tokens",
        "spans",
        "none",
        "2026-09-21T14:14:00.000Z",
        "2026-09-21T14:14:02.500Z",
    ],
];

#[test]
fn the_sample_records() {
    let lines = SAMPLES.map(|record| {
        let record = record.replace('\n', "");
        if record.contains("traceId") {
            format!(r#"{{"resourceSpans":[{{"resource":{{"attributes":[]}},"scopeSpans":[{{"spans":[{record}]}}]}}]}}"#)
        } else {
            format!(
                r#"{{"resourceLogs":[{{"resource":{{"attributes":[]}},"scopeLogs":[{{"logRecords":[{record}]}}]}}]}}"#
            )
        }
    });
    let folder = Folder::new();
    folder.write("logs.jsonl", document(&lines));
    let latest = folder.judge_json(&["logs.jsonl"]);
    assert_eq!(latest.text("session_id"), "k-1");
    assert_eq!((latest.counted("records"), latest.counted("facts"), latest.counted("sessions")), (6, 6, 4));
    for session in SAMPLE_SESSIONS {
        let judged = folder.judge_json(&["--session", session[0], "logs.jsonl"]);
        let (brief, evidence, missing) = (judged.brief(), judged.evidence(), judged.coverage("missing"));
        let coverage = &judged.document["coverage"];
        let found = [
            judged.text("session_id"),
            judged.text("agent"),
            &brief,
            &evidence,
            &missing,
            coverage["signal"].as_str().unwrap(),
            coverage["cost_source"].as_str().unwrap(),
            judged.text("started_at"),
            judged.text("ended_at"),
        ];
        assert_eq!(found, session);
    }
}

#[test]
fn halves_are_rounded_away_from_zero() {
    // 1 of 8 ok, 64 prompts, 45 of 1000 tokens cached, $0.0005: 1.25, 0.25, 10, 0.45 and 9.95 before rounding;
    // 0.3 · 1.3 + 0.25 · 0.3 + 0.2 · 10 + 0.15 · 0.5 + 0.1 · 10 = 3.54.
    let mut records: Vec<_> = (0..64).map(|_| prompt(0)).collect();
    records.push(ok_tool(0));
    records.extend((0..7).map(|_| log("claude_code.tool_result", 0).with("success", false)));
    let call = call(0).with("cost_usd", "0.0005").with("input_tokens", 955).with("cache_read_tokens", 45);
    records.push(call);
    let judged = expect(&records, "1.3, 0.3, 10, 0.5, 10 → 3.5 doff", "");
    assert_eq!(judged.document["stats"]["tool_success_pct"], 13, "12.5 percent");
}

#[test]
fn the_thresholds_are_on_the_rounded_composite() {
    // 10, 4, 10, 0, 10 → exactly 7.0; with a cost of $0.01 the last is 9.5 and the sum 6.95, which is shown as 7.0.
    expect(&[ok_tool(0), ok_tool(0)], "10, 4, 10, 0, 10 → 7.0 keep", "prompts cost tokens");
    let call = call(0).with("cost_usd", 0.01);
    expect(&[ok_tool(0), ok_tool(0), call], "10, 4, 10, 0, 9.5 → 7.0 keep", "prompts tokens");
}
