//! What the SDKs send, and the expected results.
//!
//! The log: two prompts, two model calls and four tools in three minutes; one tool fails.
//!
//! | dimension | by hand |
//! |---|---|
//! | quality | 10 · 3 / 4 = 7.5 |
//! | autonomy | 2 · 4 / 2 = 4.0 |
//! | productivity | 10 · 3 / 3.0 = 10.0 |
//! | token efficiency | 10 · 17 000 / 20 000 = 8.5 |
//! | cost efficiency | 10 − 100 · 0.0675 / 3 = 7.75, so 7.8 |
//! | composite | (30 · 75 + 25 · 40 + 20 · 100 + 15 · 85 + 10 · 78) / 100 = 73.05 tenths, so 7.3: keep |
//!
//! With one more tool that succeeds, a minute later: 8.0, 5.0, 10.0, 8.5, and 10 − 6.75 / 4 = 8.3125, so 8.3; together
//! (2400 + 1250 + 2000 + 1275 + 830) / 100 = 77.55 tenths, so 7.8.
//!
//! The spans: one request with two tools and two model calls in two minutes; one tool fails. The tokens in the agent's own span
//! repeat those of the calls. 10 · 1 / 2 = 5.0, 2 · 2 / 1 = 4.0, 10 · 1 / 2.0 = 5.0, 10 · 1200 / 1800 = 6.67, so 6.7, and 10.0
//! for no cost: (1500 + 1000 + 1000 + 1005 + 1000) / 100 = 55.05 tenths, so 5.5: review.

use anyhow::Result;
use renown_core::time::Timestamp;
use serde_json::{Map, Value, json};

/// The agent of the log, in its resource.
pub(super) const AGENT: &str = "sdk-tester";

/// Start of the stories where it does not matter: 21 September 2026.
pub(super) const START_S: i64 = 1_790_000_000;

/// The resource of the log.
pub(super) fn resource() -> Value {
    json!({"service.name": "claude-code", "service.version": "2.1.0", "renown.agent_id": AGENT})
}

/// The resource of the spans.
pub(super) fn span_resource() -> Value {
    json!({"service.name": "planner", "renown.agent_id": "sdk-planner"})
}

/// The nine records of the log, for an SDK: texts, booleans and numbers as agents of several versions send them.
pub(super) fn records(session: &str, start_s: i64) -> Vec<Value> {
    let call = |input: u64, output: u64, read: u64, written: u64, cost: f64| {
        json!({
            "model": "claude-opus-4", "input_tokens": input, "output_tokens": output, "cache_read_tokens": read,
            "cache_creation_tokens": written, "cost_usd": cost, "duration_ms": 3900,
        })
    };
    let tool =
        |name: &str, success: Value| json!({"tool_name": name, "success": success, "duration_ms": "12"});
    let decision = json!({"tool_name": "Read", "decision": "accept", "source": "config"});
    let events = [
        (0, "user_prompt", json!({"prompt_length": 12})),
        (4, "api_request", call(10, 200, 9000, 790, 0.042)),
        (6, "tool_decision", decision),
        (10, "tool_result", tool("Read", json!("true"))),
        (60, "tool_result", tool("Edit", json!(true))),
        (90, "tool_result", tool("Bash", json!("false"))),
        (120, "user_prompt", json!({"prompt_length": 40})),
        (150, "api_request", call(100, 900, 8000, 1000, 0.0255)),
        (180, "tool_result", tool("Write", json!("true"))),
    ];
    (1..)
        .zip(events)
        .map(|(number, (at, name, more))| record(session, number, start_s + at, name, more))
        .collect()
}

/// Returns the record that arrives late: one more tool, a minute after the others.
pub(super) fn late_record(session: &str, start_s: i64) -> Value {
    record(session, 10, start_s + 240, "tool_result", json!({"tool_name": "Read", "success": "true"}))
}

fn record(session: &str, sequence: u64, at_s: i64, name: &str, more: Value) -> Value {
    let mut attributes = json!({"session.id": session, "event.name": name, "event.sequence": sequence});
    if let (Some(all), Value::Object(more)) = (attributes.as_object_mut(), more) {
        all.extend(more);
    }
    json!({"time": nanos(at_s), "body": format!("claude_code.{name}"), "attributes": attributes})
}

/// The five spans, for an SDK; the first is the parent of the others.
pub(super) fn spans(session: &str, start_s: i64) -> Vec<Value> {
    let span = |from: i64, to: i64, name: &str, error: Option<&str>, more: Value| {
        let mut attributes = json!({"gen_ai.conversation.id": session});
        if let (Some(all), Value::Object(more)) = (attributes.as_object_mut(), more) {
            all.extend(more);
            all.extend(error.map(|kind| ("error.type".to_owned(), json!(kind))));
        }
        json!({
            "name": name, "start": nanos(start_s + from), "end": nanos(start_s + to), "failed": error.is_some(),
            "attributes": attributes,
        })
    };
    let usage = |operation: &str, input: u64, output: u64, read: u64| {
        json!({
            "gen_ai.operation.name": operation, "gen_ai.request.model": "m-1", "gen_ai.usage.input_tokens": input,
            "gen_ai.usage.output_tokens": output, "gen_ai.usage.cache_read.input_tokens": read,
        })
    };
    let tool = |name: &str| json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name});
    vec![
        span(0, 120, "invoke_agent planner", None, usage("invoke_agent", 1500, 300, 1200)),
        span(1, 5, "chat m-1", None, usage("chat", 1000, 200, 800)),
        span(10, 12, "execute_tool search", None, tool("search")),
        span(20, 50, "execute_tool run_tests", Some("timeout"), tool("run_tests")),
        span(60, 70, "chat m-1", None, usage("chat", 500, 100, 400)),
    ]
}

/// Returns records as the collector writes them to its file: one object of OTLP JSON.
pub(super) fn collected(records: &[Value]) -> Value {
    let written = records.iter().map(|record| {
        let part = |name: &str| record.get(name).cloned().unwrap_or_default();
        json!({
            "timeUnixNano": part("time"), "body": {"stringValue": part("body")},
            "attributes": attributes(&part("attributes")),
        })
    });
    let written: Vec<Value> = written.collect();
    json!({"resourceLogs": [{
        "resource": {"attributes": attributes(&resource())},
        "scopeLogs": [{"scope": {"name": "com.anthropic.claude_code.events"}, "logRecords": written}],
    }]})
}

fn attributes(flat: &Value) -> Vec<Value> {
    let pairs = flat.as_object().into_iter().flatten().map(|(key, value)| {
        let (kind, value) = match value {
            Value::Bool(_) => ("boolValue", value.clone()),
            Value::Number(number) if number.is_f64() => ("doubleValue", value.clone()),
            Value::Number(number) => ("intValue", json!(number.to_string())),
            Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                ("stringValue", value.clone())
            }
        };
        json!({"key": key, "value": Map::from_iter([(kind.to_owned(), value)])})
    });
    pairs.collect()
}

/// The performance of the log.
pub(super) fn performance(session: &str, start_s: i64) -> Result<Value> {
    Ok(json!({
        "masque": "unknown",
        "duration_min": 3,
        "dimensions": {
            "quality": 7.5, "autonomy": 4.0, "productivity": 10.0, "token_efficiency": 8.5, "cost_efficiency": 7.8
        },
        "composite": 7.3,
        "recommendation": "keep",
        "stats": {
            "total_cost": 0.07, "total_tools": 4, "tools_ok": 3, "tool_success_pct": 75, "prompts": 2,
            "total_tokens": 20_000, "cache_tokens": 17_000
        },
        "session_id": session,
        "agent_id": AGENT,
        "agent": "claude-code",
        "started_at": moment(start_s)?,
        "ended_at": moment(start_s + 180)?,
        "formula_version": "1",
        "coverage": {
            "present": ["tools", "prompts", "cost", "tokens"], "missing": [], "partial": [], "signal": "logs",
            "cost_source": "reported"
        },
        "signals": signals(1),
    }))
}

/// Returns the performance of the log with the late record.
pub(super) fn late_performance(session: &str, start_s: i64) -> Result<Value> {
    let mut later = performance(session, start_s)?;
    if let Some(fields) = later.as_object_mut() {
        fields.insert("duration_min".into(), json!(4));
        fields.insert(
            "dimensions".into(),
            json!({
                "quality": 8.0, "autonomy": 5.0, "productivity": 10.0, "token_efficiency": 8.5, "cost_efficiency": 8.3
            }),
        );
        fields.insert("composite".into(), json!(7.8));
        fields.insert(
            "stats".into(),
            json!({
                "total_cost": 0.07, "total_tools": 5, "tools_ok": 4, "tool_success_pct": 80, "prompts": 2,
                "total_tokens": 20_000, "cache_tokens": 17_000
            }),
        );
        fields.insert("ended_at".into(), json!(moment(start_s + 240)?));
    }
    Ok(later)
}

/// The performance of the spans.
pub(super) fn span_performance(session: &str, start_s: i64) -> Result<Value> {
    Ok(json!({
        "masque": "unknown",
        "duration_min": 2,
        "dimensions": {
            "quality": 5.0, "autonomy": 4.0, "productivity": 5.0, "token_efficiency": 6.7, "cost_efficiency": 10.0
        },
        "composite": 5.5,
        "recommendation": "review",
        "stats": {
            "total_cost": 0.0, "total_tools": 2, "tools_ok": 1, "tool_success_pct": 50, "prompts": 1,
            "total_tokens": 1800, "cache_tokens": 1200
        },
        "session_id": session,
        "agent_id": "sdk-planner",
        "agent": "genai",
        "started_at": moment(start_s)?,
        "ended_at": moment(start_s + 120)?,
        "formula_version": "1",
        "coverage": {
            "present": ["tools", "prompts", "tokens"], "missing": ["cost"], "partial": [], "signal": "spans",
            "cost_source": "none"
        },
        "signals": signals(0),
    }))
}

fn signals(accepts: u64) -> Value {
    json!({
        "api_errors": 0, "accepts": accepts, "rejects": 0, "rejects_by_user": 0, "feedback": null, "compactions": 0,
        "refusals": 0
    })
}

/// Returns a time in the form of OTLP. It is a string, because it exceeds the exact integers of JavaScript.
fn nanos(at_s: i64) -> String {
    format!("{at_s}000000000")
}

/// Returns a time in the form of the API.
pub(super) fn moment(at_s: i64) -> Result<String> {
    Ok(Timestamp::from_millis(at_s * 1000)?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_both_formats() {
        assert_eq!(moment(START_S).unwrap(), "2026-09-21T14:13:20.000Z");
        assert_eq!(nanos(START_S), "1790000000000000000");
    }

    #[test]
    fn attributes_keep_their_type() {
        let found = attributes(&json!({"a": "x", "b": true, "c": 7, "d": 0.5}));
        let expected = [
            json!({"key": "a", "value": {"stringValue": "x"}}),
            json!({"key": "b", "value": {"boolValue": true}}),
            json!({"key": "c", "value": {"intValue": "7"}}),
            json!({"key": "d", "value": {"doubleValue": 0.5}}),
        ];
        assert_eq!(found, expected);
    }
}
