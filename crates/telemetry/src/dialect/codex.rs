//! # Codex
//!
//! Logs, `codex.*`. The name is the attribute `event.name`, the session is `conversation.id`. The body is empty, the
//! time is often only an observed time, and there is never a cost.
//!
//! | event | fact | attributes |
//! |---|---|---|
//! | `tool_result` | tool result; without `call_id` the dispatch failed, which counts like any failure | `tool_name`, `success`, `duration_ms`, `error_type` |
//! | `user_prompt` | prompt | |
//! | `tool_decision` | tool decision | `tool_name`, `decision`: `approved*` accept, `denied`, `abort` reject; `source` user or config; in upper or lower case |
//! | `sse_event` with `event.kind` `response.completed` and `input_token_count` | API request | input = `input_token_count` − `cached_token_count` (at least 0), cache read = `cached_token_count`, output = `output_token_count` (including reasoning), `model`, `duration_ms` |
//! | `sse_event`, `api_request`, `websocket_request` with `error.message`, `success` false or `http.response.status_code` ≥ 400 | API error | the status |
//! | those three otherwise | nothing | |
//!
//! `tool_token_count` is the total of the request. It is not read.

use super::claude_code;
use crate::attributes::Key;
use crate::facts::{Decider, Fact, Tokens};
use crate::fields::{BadValue, Fields, ReadFact, Reader};

/// The lowest HTTP status of a failed call.
const FAILED_FROM: u64 = 400;

/// Returns the reader of a log event.
pub(super) fn log(name: &str) -> Option<Reader> {
    Some(match name {
        "tool_result" => claude_code::tool_result,
        "user_prompt" => claude_code::prompt,
        "tool_decision" => tool_decision,
        "sse_event" => sse_event,
        "api_request" | "websocket_request" => request,
        _ => return None,
    })
}

type Read = Result<(), BadValue>;

#[expect(clippy::unnecessary_wraps, reason = "a reader like the others")]
fn tool_decision<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    let accepted = match fields.word(Key::Decision).as_deref() {
        Some(decision) if decision.starts_with("approved") => true,
        Some("denied" | "abort") => false,
        _ => return Ok(()),
    };
    let by = match fields.word(Key::Source).as_deref() {
        Some("user") => Decider::User,
        Some("config") => Decider::Policy,
        _ => Decider::Unknown,
    };
    facts.push(Fact::ToolDecision { tool: fields.text(Key::ToolName), accepted, by });
    Ok(())
}

fn sse_event<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    if !fields.is(Key::EventKind, "response.completed") {
        return request(fields, facts);
    }
    let Some(input) = fields.integer(Key::InputTokenCount)? else {
        return request(fields, facts);
    };
    let cached = fields.integer(Key::CachedTokenCount)?.unwrap_or(0);
    let tokens = Tokens {
        input: input.saturating_sub(cached),
        output: fields.integer(Key::OutputTokenCount)?.unwrap_or(0),
        cache_read: cached,
        cache_creation: 0,
    };
    let duration_us = fields.milliseconds(Key::DurationMs)?;
    let request = fields.api_request(fields.text(Key::Model), Some(tokens), None, duration_us);
    facts.push(Fact::ApiRequest(request));
    Ok(())
}

fn request<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    let status = fields.integer(Key::HttpStatus)?;
    let failed = fields.has(Key::ErrorMessage)
        || fields.boolean(Key::Success) == Some(false)
        || status.is_some_and(|status| status >= FAILED_FROM);
    if failed {
        facts.push(Fact::ApiError { status, error_type: None });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::testing::{call, log, tool};

    #[test]
    fn log_events_become_facts() {
        let decided = |accepted, by| Fact::ToolDecision { tool: Some("shell".to_owned()), accepted, by };
        let error = |status| Fact::ApiError { status, error_type: None };
        let completed = "event.kind=\"response.completed\"";
        for (name, attributes, expected) in [
            (
                "tool_result",
                "tool_name=\"shell\" success=\"true\" duration_ms=\"5\" call_id=\"c\"",
                vec![tool("shell", Some(true), Some(5000), None)],
            ),
            (
                "tool_result",
                "tool_name=\"shell\" success=\"false\"",
                vec![tool("shell", Some(false), None, None)],
            ),
            ("user_prompt", "", vec![Fact::Prompt { trace: None }]),
            (
                "tool_decision",
                "tool_name=\"shell\" decision=\"approved_for_session\" source=\"user\"",
                vec![decided(true, Decider::User)],
            ),
            (
                "tool_decision",
                "tool_name=\"shell\" decision=\"Denied\" source=\"User\"",
                vec![decided(false, Decider::User)],
            ),
            (
                "tool_decision",
                "tool_name=\"shell\" decision=\"APPROVED\" source=\"CONFIG\"",
                vec![decided(true, Decider::Policy)],
            ),
            (
                "tool_decision",
                "tool_name=\"shell\" decision=\"approved\" source=\"config\"",
                vec![decided(true, Decider::Policy)],
            ),
            (
                "tool_decision",
                "tool_name=\"shell\" decision=\"denied\" source=\"user\"",
                vec![decided(false, Decider::User)],
            ),
            (
                "tool_decision",
                "tool_name=\"shell\" decision=\"abort\"",
                vec![decided(false, Decider::Unknown)],
            ),
            (
                "sse_event",
                &format!(
                    "{completed} input_token_count=\"5000\" output_token_count=\"120\" cached_token_count=4096 tool_token_count=5120"
                ),
                vec![Fact::ApiRequest(call(Some([904, 120, 4096, 0])))],
            ),
            (
                "sse_event",
                &format!("{completed} input_token_count=5 cached_token_count=9"),
                vec![Fact::ApiRequest(call(Some([0, 0, 9, 0])))],
            ),
            ("sse_event", completed, vec![]),
            ("sse_event", "event.kind=\"response.created\" input_token_count=5", vec![]),
            ("sse_event", "event.kind=\"response.failed\" error.message=\"x\"", vec![error(None)]),
            ("api_request", "http.response.status_code=200", vec![]),
            ("api_request", "http.response.status_code=399", vec![]),
            ("api_request", "http.response.status_code=\"400\"", vec![error(Some(400))]),
            ("websocket_request", "success=\"false\"", vec![error(None)]),
            ("websocket_request", "success=\"true\"", vec![]),
        ] {
            assert_eq!(log(&format!("codex.{name}"), attributes), expected, "{name} {attributes}");
        }
    }
}
