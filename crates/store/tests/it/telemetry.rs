//! Short ways to make telemetry.

use renown_telemetry::facts::Batch;
use renown_telemetry::json;
use renown_telemetry::prices::Prices;
use serde_json::{Value, json};

use crate::support::NOON_MS;

/// Decodes an OTLP object to a batch.
pub(crate) fn batch(line: &Value) -> Batch {
    let mut batch = Batch::default();
    json::read(line.to_string().as_bytes(), 1, &Prices::default(), &mut batch).unwrap();
    batch
}

/// Makes log records of an agent.
pub(crate) fn logs(agent: &str, records: &[Value]) -> Value {
    json!({"resourceLogs": [{"resource": resource(agent), "scopeLogs": [{"logRecords": records}]}]})
}

fn resource(agent: &str) -> Value {
    json!({"attributes": [attribute("renown.agent_id", agent)]})
}

fn attribute(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

fn nanos(after_noon_ms: i64) -> String {
    ((NOON_MS + after_noon_ms) * 1_000_000).to_string()
}

/// Makes a log record. `number` distinguishes it from others.
fn record(session: &str, number: u32, after_noon_ms: i64, name: &str, more: &[(&str, &str)]) -> Value {
    let mut attributes =
        vec![attribute("session.id", session), attribute("event.sequence", &number.to_string())];
    attributes.extend(more.iter().map(|(key, value)| attribute(key, value)));
    json!({"timeUnixNano": nanos(after_noon_ms), "eventName": format!("claude_code.{name}"), "attributes": attributes})
}

pub(crate) fn prompt(session: &str, number: u32, after_noon_ms: i64) -> Value {
    record(session, number, after_noon_ms, "user_prompt", &[])
}

pub(crate) fn tool(session: &str, number: u32, after_noon_ms: i64, tool: &str, ok: bool) -> Value {
    let ok = if ok { "true" } else { "false" };
    record(session, number, after_noon_ms, "tool_result", &[("tool_name", tool), ("success", ok)])
}

/// A record without evidence: its event is unknown.
pub(crate) fn unknown(session: &str, number: u32, after_noon_ms: i64) -> Value {
    record(session, number, after_noon_ms, "something_new", &[])
}

pub(crate) fn call(session: &str, number: u32, after_noon_ms: i64, cost: &str) -> Value {
    record(session, number, after_noon_ms, "api_request", &[("cost_usd", cost)])
}

/// Makes two spans of one trace, of an agent without a name.
pub(crate) fn spans(session: &str, after_noon_ms: i64) -> Value {
    let spans: Vec<Value> = ["chat m", "execute_tool sh"]
        .iter()
        .zip(1_u64..)
        .map(|(name, number)| {
            json!({"traceId": format!("{:032x}", 7), "spanId": format!("{number:016x}"), "name": name,
                "startTimeUnixNano": nanos(after_noon_ms), "endTimeUnixNano": nanos(after_noon_ms + 500),
                "attributes": [attribute("gen_ai.conversation.id", session)]})
        })
        .collect();
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
}
