//! Sessions of regulars, spread over the same days as their evaluations.

use anyhow::Result;
use renown_store::Evidence;
use renown_telemetry::facts::Batch;
use renown_telemetry::json;
use renown_telemetry::prices::Prices;
use serde_json::{Value, json};

use super::data::{Size, Span};
use crate::bench::bulk::{Bulk, agent};

pub(super) const SESSIONS: u64 = 2000;
const RECORDS: u64 = 50;

/// Number of sessions per transaction.
const TOGETHER: u64 = 20;

/// Time between two records of a session.
const STEP_NS: i64 = 20_000_000_000;

/// Adds all sessions.
pub(super) fn add(bulk: &Bulk, size: &Size, span: Span) -> Result<()> {
    for first in (0..SESSIONS).step_by(usize::try_from(TOGETHER)?) {
        let mut batch = Batch::default();
        for number in first..first + TOGETHER {
            let last_ns = span.at(number, SESSIONS)?.nanos();
            let line = session(number, &agent(number % size.regulars), last_ns)?;
            json::read(line.to_string().as_bytes(), 1, &Prices::default(), &mut batch)?;
        }
        bulk.runtime.block_on(bulk.store.add_records(&bulk.org, batch, None))?;
    }
    Ok(())
}

fn attribute(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// Returns the log records of a session, as Claude Code sends them.
fn session(number: u64, agent: &str, last_ns: i64) -> Result<Value> {
    let record = |place: u64| {
        let (name, more): (&str, &[(&str, &str)]) = match place % 5 {
            0 => ("user_prompt", &[("prompt_length", "212")]),
            1 | 3 => (
                "api_request",
                &[
                    ("model", "claude-opus-4-1"),
                    ("input_tokens", "6"),
                    ("output_tokens", "308"),
                    ("cost_usd", "0.074085"),
                ],
            ),
            2 => ("tool_result", &[("tool_name", "Edit"), ("success", "true"), ("duration_ms", "41")]),
            _ if (number + place).is_multiple_of(3) => {
                ("tool_result", &[("tool_name", "Bash"), ("success", "false")])
            }
            _ => ("tool_result", &[("tool_name", "Bash"), ("success", "true")]),
        };
        let own = [
            attribute("session.id", &format!("session-{number:04}")),
            attribute("event.sequence", &place.to_string()),
        ];
        let attributes: Vec<Value> =
            own.into_iter().chain(more.iter().map(|(key, value)| attribute(key, value))).collect();
        let back = i64::try_from(RECORDS - place)?.saturating_mul(STEP_NS);
        let at_ns = last_ns.saturating_sub(back).to_string();
        Ok(
            json!({"timeUnixNano": at_ns, "eventName": format!("claude_code.{name}"), "attributes": attributes}),
        )
    };
    let records = (0..RECORDS).map(record).collect::<Result<Vec<_>>>()?;
    let resource = json!({"attributes": [attribute("renown.agent_id", agent)]});
    Ok(json!({"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": records}]}]}))
}
