//! Are the name, the session and the time of a record read from the fields that the contract names?

use serde_json::{Value, json};

use super::{
    Record, SECOND, T0, bare, document, judge, judged, judged_with, lines, log, log_at, ok_tool, prompt, span,
};

/// Returns a record with its name in any of three fields.
fn named(attribute: &str, event_name: &str, body: &str) -> Record {
    let mut record = bare().field("timeUnixNano", T0.to_string()).with("session.id", "s-1");
    if !attribute.is_empty() {
        record = record.with("event.name", attribute);
    }
    if !event_name.is_empty() {
        record = record.field("eventName", event_name);
    }
    if !body.is_empty() {
        record = record.field("body", json!({ "stringValue": body }));
    }
    record
}

#[test]
fn the_first_known_candidate_is_the_name() {
    for (attribute, event_name, body, evidence) in [
        ("claude_code.user_prompt", "", "", "prompts=1"),
        ("", "claude_code.user_prompt", "", "prompts=1"),
        ("", "", "claude_code.user_prompt", "prompts=1"),
        ("user_prompt", "", "", "prompts=1"),
        ("", "user_prompt", "", "prompts=1"),
        ("", "", "user_prompt", "prompts=1"),
        ("nonsense", "claude_code.user_prompt", "", "prompts=1"),
        ("nonsense", "more_of_it", "user_prompt", "prompts=1"),
        ("user_prompt", "claude_code.tool_result", "claude_code.tool_result", "prompts=1"),
        ("", "claude_code.tool_result", "claude_code.user_prompt", "tools=1"),
        ("codex.user_prompt", "", "claude_code.tool_result", "prompts=1"),
        ("gemini_cli.user_prompt", "", "User prompt. Length: 3.", "prompts=1"),
        ("qwen-code.user_prompt", "", "", "prompts=1"),
        ("opencode.user_prompt", "", "", "prompts=1"),
    ] {
        let judged = judged(&lines(&[named(attribute, event_name, body)]));
        assert_eq!(judged.evidence(), evidence, "{attribute:?} {event_name:?} {body:?}");
        assert_eq!(judged.counted("unknown_events"), 0, "{attribute:?} {event_name:?} {body:?}");
    }
}

#[test]
fn unknown_events_are_ignored_and_counted() {
    for (attribute, event_name, body) in [
        ("claude_code.nonsense", "", ""),
        ("", "", "user_prompt of mine"),
        ("", "", "claude_code.user_prompt!"),
        ("", "", ""),
        ("other.user_prompt", "", ""),
        ("claude_code.claude_code.user_prompt", "", ""),
        // Events of other agents, and of spans.
        ("claude_code.tool_call", "", ""),
        ("claude_code.sse_event", "", ""),
        ("claude_code.interaction", "", ""),
        ("codex.api_response", "", ""),
        ("codex.compaction", "", ""),
        ("gemini_cli.tool_result", "", ""),
        ("gemini_cli.user_feedback", "", ""),
    ] {
        let judged = judged(&lines(&[prompt(0), named(attribute, event_name, body)]));
        assert_eq!(judged.evidence(), "prompts=1", "{attribute:?} {event_name:?} {body:?}");
        assert_eq!(judged.counted("unknown_events"), 1, "{attribute:?} {event_name:?} {body:?}");
        assert_eq!(judged.warnings, [""; 0]);
    }
}

#[test]
fn a_name_without_prefix_belongs_to_the_agent_of_the_resource_or_scope_or_to_the_first_list() {
    let request = log("api_request", 0).with("input_tokens", 5);
    let response = log("api_response", 0).with("input_token_count", 5);
    let claude = json!({ "name": "com.anthropic.claude_code.events" });
    // Every agent has this event, so there is something to score.
    let prompt = log("user_prompt", 0);
    for (record, service, evidence, agent) in [
        (&request, "", "prompts=1 tokens=5", "unknown"),
        (&request, "claude-code", "prompts=1 tokens=5", "claude-code"),
        (&request, "gemini-cli", "prompts=1", "gemini-cli"),
        (&request, "codex_cli_rs", "prompts=1", "codex"),
        (&response, "", "prompts=1 tokens=5", "unknown"),
        (&response, "qwen-code", "prompts=1 tokens=5", "qwen-code"),
        // Its agent is known, but has no such event.
        (&response, "codex_cli_rs", "prompts=1", "codex"),
    ] {
        let lines = [&prompt, record].map(|record| record.below(&[("service.name", service)]));
        let judged = judged(&lines);
        assert_eq!((judged.evidence().as_str(), judged.text("agent")), (evidence, agent), "{lines:?}");
    }
    let judged = judged(&[request.within(&[], &claude)]);
    assert_eq!((judged.evidence().as_str(), judged.text("agent")), ("tokens=5", "claude-code"));
}

#[test]
fn the_session_is_the_first_of_three_attributes() {
    let keys = ["session.id", "conversation.id", "gen_ai.conversation.id"];
    for (i, key) in keys.iter().enumerate() {
        // The lower-ranked attributes come first in the record and must lose.
        let record =
            bare().field("timeUnixNano", T0.to_string()).with("event.name", "claude_code.user_prompt");
        let record = keys[i + 1..].iter().rev().fold(record, |record, key| record.with(key, "lesser"));
        let judged = judged(&[record.with(key, "s-9").below(&[("session.id", "window")])]);
        assert_eq!(judged.text("session_id"), "s-9", "{key}");
    }
    let record = bare().field("timeUnixNano", T0.to_string()).with("event.name", "claude_code.user_prompt");
    for (i, key) in keys.iter().enumerate() {
        let mut resource: Vec<_> = keys[i + 1..].iter().map(|key| (*key, "lesser")).collect();
        resource.push((key, "s-8"));
        assert_eq!(judged(&[record.below(&resource)]).text("session_id"), "s-8", "{key} of the resource");
    }
}

#[test]
fn a_session_id_is_text_of_1_to_256_bytes() {
    let with = |id: Value| {
        bare()
            .field("timeUnixNano", T0.to_string())
            .with("event.name", "claude_code.user_prompt")
            .with("session.id", id)
            .line()
    };
    for (id, shown) in [
        (json!({ "stringValue": "x".repeat(256) }), "x".repeat(256)),
        (json!({ "stringValue": "é".repeat(128) }), "é".repeat(128)),
        (json!({ "stringValue": " padded " }), "padded".to_owned()),
        (json!({ "intValue": "42" }), "42".to_owned()),
    ] {
        assert_eq!(judged(&[with(id)]).text("session_id"), shown);
    }
    for id in [
        json!({ "stringValue": "x".repeat(257) }),
        json!({ "stringValue": "é".repeat(129) }),
        json!({ "stringValue": "" }),
        json!({ "stringValue": "  " }),
        json!({ "arrayValue": { "values": [{ "stringValue": "s-2" }] } }),
    ] {
        let judged = judged(&[prompt(0).line(), with(id.clone())]);
        assert_eq!((judged.evidence().as_str(), judged.counted("no_session")), ("prompts=1", 1), "{id}");
    }
    let scope = json!({ "attributes": [{ "key": "session.id", "value": { "stringValue": "s-1" } }] });
    let record = bare().field("timeUnixNano", T0.to_string()).with("event.name", "claude_code.user_prompt");
    let run = judge(&[], document(&[record.within(&[], &scope)]));
    assert_eq!(run.code, 2, "a session id of the scope is not read: {run:?}");
}

const AT_T0: &str = "2026-09-21T14:13:20.000Z";

#[test]
fn the_time_of_a_log_has_two_fallbacks() {
    let name = || bare().with("event.name", "claude_code.user_prompt").with("session.id", "s-1");
    let (t0, late) = (T0.to_string(), (T0 + 5 * SECOND).to_string());
    for (record, started) in [
        (name().field("timeUnixNano", t0.as_str()).field("observedTimeUnixNano", late.as_str()), AT_T0),
        (name().field("timeUnixNano", T0), AT_T0),
        (name().field("observedTimeUnixNano", t0.as_str()), AT_T0),
        (name().field("timeUnixNano", "0").field("observedTimeUnixNano", t0.as_str()), AT_T0),
        (name().field("timeUnixNano", 0).field("observedTimeUnixNano", t0.as_str()), AT_T0),
        (name().field("timeUnixNano", "").field("observedTimeUnixNano", t0.as_str()), AT_T0),
        (name().field("timeUnixNano", "0").field("observedTimeUnixNano", "0"), "null"),
        (name().with("event.timestamp", "2026-09-21T14:13:20Z"), AT_T0),
        (name().with("event.timestamp", "2026-09-21T16:13:20.000+02:00"), AT_T0),
        (name().field("timeUnixNano", "0").with("event.timestamp", "2026-09-21T14:13:20.0005Z"), AT_T0),
        (
            name().field("observedTimeUnixNano", t0.as_str()).with("event.timestamp", "2026-09-21T00:00:00Z"),
            AT_T0,
        ),
        (name().with("event.timestamp", "yesterday"), "null"),
        // 1999-12-31T23:59:59.999999999 and 2000-01-01, then 2100-01-01 and 2101-01-01.
        (name().field("timeUnixNano", "946684799999999999"), "null"),
        (name().field("timeUnixNano", "946684800000000000"), "2000-01-01T00:00:00.000Z"),
        (name().field("timeUnixNano", "4102444800000000000"), "2100-01-01T00:00:00.000Z"),
        (name().field("timeUnixNano", "4133980800000000000"), "null"),
        (
            name().field("timeUnixNano", "946684799999999999").field("observedTimeUnixNano", t0.as_str()),
            AT_T0,
        ),
        (name().field("timeUnixNano", u64::MAX), "null"),
    ] {
        let judged = judged(&lines(std::slice::from_ref(&record)));
        assert_eq!(judged.text("started_at"), started, "{}", record.line());
        assert_eq!(judged.counted("no_time"), u64::from(started == "null"), "{}", record.line());
        assert_eq!(judged.evidence(), "prompts=1", "{}", record.line());
    }
}

#[test]
fn times_above_2_to_the_53_are_exact_and_shown_to_the_millisecond() {
    // As a float, the first would round to …456 768 and the duration to 87 s.
    let at = |nanos: u64| bare().field("timeUnixNano", nanos).with("session.id", "s-1");
    let first = at(T0 + 123_456_789).with("event.name", "claude_code.user_prompt");
    for (nanos, minutes) in [(87 * SECOND + 123_456_788, 1), (87 * SECOND + 123_456_789, 2)] {
        let judged =
            judged(&lines(&[first.clone(), at(T0 + nanos).with("event.name", "claude_code.user_prompt")]));
        assert_eq!(judged.document["duration_min"], minutes, "{nanos}");
    }
    let judged = judged(&lines(&[log_at("claude_code.user_prompt", T0 + 999_999_999)]));
    assert_eq!(judged.text("started_at"), "2026-09-21T14:13:20.999Z");
}

#[test]
fn a_span_lasts_from_its_start_to_its_end() {
    let judged = judged(&lines(&[span("execute_tool a", 1, 0), span("execute_tool b", 1, 90)]));
    assert_eq!((judged.text("started_at"), judged.text("ended_at")), (AT_T0, "2026-09-21T14:14:52.500Z"));
    // 92.5 s are 1.54 min: 1.5, shown as 2.
    assert_eq!(judged.document["duration_min"], 2);
}

#[test]
fn a_record_without_a_time_counts_but_does_not_change_the_time_range() {
    let timeless = bare().with("event.name", "claude_code.user_prompt").with("session.id", "s-1");
    let judged = judged(&lines(&[ok_tool(0), timeless, ok_tool(600)]));
    assert_eq!((judged.evidence().as_str(), judged.counted("no_time")), ("tools=2 ok=2 prompts=1", 1));
    assert_eq!(judged.document["duration_min"], 10);
}

#[test]
fn a_session_without_time_lasts_a_minute_and_is_the_oldest() {
    let timeless = bare().with("event.name", "claude_code.tool_result").with("success", "1");
    let timeless = timeless.with("session.id", "z-last-by-name");
    let lines = lines(&[timeless.clone(), timeless, prompt(0)]);
    assert_eq!(judged(&lines).text("session_id"), "s-1");
    let all = judged_with(&["--all"], &lines);
    assert_eq!(all.document[0]["session_id"], "z-last-by-name");
    assert_eq!(all.document[0]["started_at"], Value::Null);
    assert_eq!(all.document[0]["ended_at"], Value::Null);
    assert_eq!(super::brief(&all.document[0]), "10, 4, 10, 0, 10 → 7.0 keep");
}

#[test]
fn every_record_of_the_scored_signal_extends_the_time_range() {
    let unknown = log("claude_code.nonsense", 600);
    assert_eq!(judged(&lines(&[ok_tool(0), unknown.clone()])).document["duration_min"], 10);
    // The unknown event comes first, the tool last.
    assert_eq!(judged(&lines(&[unknown, ok_tool(900)])).text("started_at"), "2026-09-21T14:23:20.000Z");
    // A span of a session that is scored from logs does not.
    assert_eq!(judged(&lines(&[ok_tool(0), span("execute_tool a", 1, 600)])).document["duration_min"], 1);
}

/// Returns a record of a session without a tool result, prompt or API request.
fn unscored(session: &str) -> Record {
    let record = bare().field("timeUnixNano", (T0 + 900 * SECOND).to_string());
    record.with("event.name", "claude_code.api_error").with("session.id", session)
}

#[test]
fn a_session_without_evidence_is_not_judged() {
    let run = judge(&[], document(&lines(&[unscored("s-1")])));
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    let error = "error: nothing to score in standard input (1 session without a tool result, prompt or API request)\n";
    assert!(run.stderr.contains(error), "{run:?}");
    // It is not the latest session, and `--all` skips it.
    let log = document(&lines(&[prompt(0), unscored("s-2")]));
    for args in [&["--format", "table"][..], &["--format", "table", "--all"]] {
        let run = judge(args, log.clone());
        assert_eq!((run.code, run.stdout.lines().count()), (0, 2), "{run:?}");
        assert!(run.stdout.contains("s-1"), "{run:?}");
        let note = "1 session without a tool result, prompt or API request: not scored\n";
        assert!(run.stderr.contains(note), "{run:?}");
    }
    let run = judge(&["--session", "s-2"], log);
    let error = "error: session s-2 is without a tool result, prompt or API request: nothing to score\n";
    assert!(run.code == 2 && run.stderr.contains(error), "{run:?}");
}
