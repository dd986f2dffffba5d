//! # Gemini CLI
//!
//! Logs, `gemini_cli.*`. The session is `session.id`, the body is prose, and there is never a cost.
//!
//! | event | fact | attributes |
//! |---|---|---|
//! | `tool_call` | tool result | `function_name`, `success` (else `status` = success), `duration_ms`, `error_type` |
//! | … with `decision` | also a tool decision | `auto_accept` by policy, `accept` and `modify` by the user |
//! | … with `decision` reject or `status` cancelled | only the rejection by the user | |
//! | `user_prompt` | prompt | |
//! | `api_response` | API request; with `error`, API error | see below, `model`, `duration_ms` |
//! | `api_error` | API error | `error_type` |
//! | `api_request` | none: it is only the start of a call | |
//! | `chat_compression` | compaction | |
//!
//! ```text
//! input      = input_token_count − cached_content_token_count + tool_token_count
//! cache_read = cached_content_token_count
//! output     = total_token_count − input_token_count − tool_token_count   if that is ≥ output_token_count
//!              else output_token_count + thoughts_token_count
//! ```
//!
//! Some back ends include thoughts in the output count, others do not. The total shows which.

use super::claude_code;
use crate::attributes::Key;
use crate::facts::{Decider, Fact, Tokens};
use crate::fields::{BadValue, Fields, ReadFact, Reader};

/// Returns the reader of a log event.
pub(super) fn log(name: &str) -> Option<Reader> {
    Some(match name {
        "tool_call" => tool_call,
        "user_prompt" => claude_code::prompt,
        "api_response" => api_response,
        "api_error" => claude_code::api_error,
        "api_request" => nothing,
        "chat_compression" => compression,
        _ => return None,
    })
}

type Read = Result<(), BadValue>;

fn tool_call<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    let tool = || fields.text(Key::FunctionName);
    let decided = |accepted, by| Fact::ToolDecision { tool: tool(), accepted, by };
    let (decision, status) = (fields.word(Key::Decision), fields.word(Key::Status));
    if decision.as_deref() == Some("reject") || status.as_deref() == Some("cancelled") {
        facts.push(decided(false, Decider::User));
        return Ok(());
    }
    facts.push(Fact::ToolResult {
        tool: tool(),
        ok: fields.boolean(Key::Success).or_else(|| status.map(|status| status == "success")),
        duration_us: fields.milliseconds(Key::DurationMs)?,
        error_type: fields.error_type(Key::ErrorType),
    });
    match decision.as_deref() {
        Some("auto_accept") => facts.push(decided(true, Decider::Policy)),
        Some("accept" | "modify") => facts.push(decided(true, Decider::User)),
        _ => {}
    }
    Ok(())
}

fn api_response<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    if fields.has(Key::Error) {
        return claude_code::api_error(fields, facts);
    }
    let counts = [
        Key::InputTokenCount,
        Key::OutputTokenCount,
        Key::CachedContentTokenCount,
        Key::ThoughtsTokenCount,
        Key::ToolTokenCount,
        Key::TotalTokenCount,
    ];
    let any = counts.iter().any(|key| fields.has(*key));
    let [input, output, cached, thoughts, tool, total] = counts.map(|key| fields.integer(key));
    let (input, output, cached) = (input?.unwrap_or(0), output?.unwrap_or(0), cached?.unwrap_or(0));
    let (thoughts, tool) = (thoughts?.unwrap_or(0), tool?.unwrap_or(0));
    let by_total =
        total?.and_then(|total| total.checked_sub(input + tool)).filter(|by_total| *by_total >= output);
    let tokens = Tokens {
        input: (input + tool).saturating_sub(cached),
        output: by_total.unwrap_or(output + thoughts),
        cache_read: cached,
        cache_creation: 0,
    };
    let duration_us = fields.milliseconds(Key::DurationMs)?;
    let request = fields.api_request(fields.text(Key::Model), any.then_some(tokens), None, duration_us);
    facts.push(Fact::ApiRequest(request));
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a reader like the others")]
fn nothing<'a>(_: &Fields<'_, 'a>, _: &mut Vec<ReadFact<'a>>) -> Read {
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a reader like the others")]
fn compression<'a>(_: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    facts.push(Fact::Compaction { before: None, after: None });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::testing::{call, log, tool};

    #[test]
    fn log_events_become_facts() {
        let decided = |accepted, by| Fact::ToolDecision { tool: Some("read_file".to_owned()), accepted, by };
        let read = |ok| tool("read_file", ok, None, None);
        let request = |tokens| vec![Fact::ApiRequest(call(tokens))];
        for (name, attributes, expected) in [
            ("tool_call", "success=true", vec![read(Some(true))]),
            ("tool_call", "status=\"success\"", vec![read(Some(true))]),
            ("tool_call", "status=\"error\"", vec![read(Some(false))]),
            ("tool_call", "", vec![read(None)]),
            ("tool_call", "success=false status=\"success\"", vec![read(Some(false))]),
            (
                "tool_call",
                "success=true decision=\"auto_accept\"",
                vec![read(Some(true)), decided(true, Decider::Policy)],
            ),
            (
                "tool_call",
                "success=true decision=\"modify\"",
                vec![read(Some(true)), decided(true, Decider::User)],
            ),
            (
                "tool_call",
                "success=true decision=\"accept\"",
                vec![read(Some(true)), decided(true, Decider::User)],
            ),
            ("tool_call", "success=false decision=\"reject\"", vec![decided(false, Decider::User)]),
            ("tool_call", "success=false status=\"cancelled\"", vec![decided(false, Decider::User)]),
            ("user_prompt", "", vec![Fact::Prompt { trace: None }]),
            // Thoughts not included in the output: 1000 − 600 − 50 = 350 = 300 + 50.
            (
                "api_response",
                "input_token_count=600 cached_content_token_count=400 tool_token_count=50 output_token_count=300 thoughts_token_count=50 total_token_count=1000",
                request(Some([250, 350, 400, 0])),
            ),
            // Thoughts included in the output: 900 − 600 = 300.
            (
                "api_response",
                "input_token_count=600 output_token_count=300 thoughts_token_count=50 total_token_count=900",
                request(Some([600, 300, 0, 0])),
            ),
            // A total that is too small for the output is ignored.
            (
                "api_response",
                "input_token_count=600 output_token_count=300 thoughts_token_count=50 total_token_count=899",
                request(Some([600, 350, 0, 0])),
            ),
            ("api_response", "output_token_count=300 thoughts_token_count=50", request(Some([0, 350, 0, 0]))),
            ("api_response", "", request(None)),
            (
                "api_response",
                "error=\"quota\" input_token_count=600",
                vec![Fact::ApiError { status: None, error_type: None }],
            ),
            (
                "api_error",
                "error_type=\"503\"",
                vec![Fact::ApiError { status: None, error_type: Some("503".to_owned()) }],
            ),
            ("api_request", "", vec![]),
            ("chat_compression", "", vec![Fact::Compaction { before: None, after: None }]),
        ] {
            let attributes = format!("{attributes} function_name=\"read_file\"");
            assert_eq!(log(&format!("gemini_cli.{name}"), &attributes), expected, "{name} {attributes}");
            assert_eq!(log(&format!("qwen-code.{name}"), &attributes), expected, "{name} {attributes}");
        }
    }
}
