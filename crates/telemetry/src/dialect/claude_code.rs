//! # Claude Code
//!
//! Logs, `claude_code.*`. OpenCode plugins send the same events as `opencode.*`. A number may be a string, an integer
//! or a double; this differs by event and version.
//!
//! | event | fact | attributes |
//! |---|---|---|
//! | `tool_result` | tool result | `tool_name`, `success`, `duration_ms`, `error_type` |
//! | `user_prompt` | prompt | |
//! | `api_request` | API request | `model`, `input_tokens`, `output_tokens`, `cache_read_tokens`, `cache_creation_tokens`, `cost_usd` (else `cost_usd_micros`), `duration_ms` |
//! | `api_error`, `api_retries_exhausted` | API error | `error_type` |
//! | `api_refusal` | refusal | |
//! | `tool_decision` | tool decision | `tool_name`, `decision` accept or reject, `source`: `config` policy, `hook` hook, `user_*` user; in upper or lower case |
//! | `feedback_survey` | feedback | if `event_type` is responded and `survey_type` session: `response` bad −1, fine 0, good +1 |
//! | `compaction` | compaction | `pre_tokens`, `post_tokens` |
//!
//! Spans:
//!
//! | span | fact |
//! |---|---|
//! | `llm_request` | as `api_request`; with `success` false, API error |
//! | `tool.execution` | as `tool_result` |
//! | `interaction` | prompt |
//! | `tool.blocked_on_user` | as `tool_decision` |
//!
//! The duration of a span without `duration_ms` is its end − its start.

use crate::attributes::Key;
use crate::facts::{Decider, Fact, Tokens};
use crate::fields::{BadValue, Fields, ReadFact, Reader};

/// Returns the reader of a log event.
pub(super) fn log(name: &str) -> Option<Reader> {
    Some(match name {
        "tool_result" => tool_result,
        "user_prompt" => prompt,
        "api_request" => api_request,
        "api_error" | "api_retries_exhausted" => api_error,
        "api_refusal" => refusal,
        "tool_decision" => tool_decision,
        "feedback_survey" => feedback,
        "compaction" => compaction,
        _ => return None,
    })
}

/// Returns the reader of a span.
pub(super) fn span(name: &str) -> Option<Reader> {
    Some(match name {
        "llm_request" => llm_request,
        "tool.execution" => tool_result,
        "interaction" => prompt,
        "tool.blocked_on_user" => tool_decision,
        _ => return None,
    })
}

type Read = Result<(), BadValue>;

fn duration_us(fields: &Fields<'_, '_>) -> Result<Option<u64>, BadValue> {
    Ok(fields.milliseconds(Key::DurationMs)?.or_else(|| fields.span.duration_us()))
}

pub(super) fn tool_result<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    facts.push(Fact::ToolResult {
        tool: fields.text(Key::ToolName),
        ok: fields.boolean(Key::Success),
        duration_us: duration_us(fields)?,
        error_type: fields.error_type(Key::ErrorType),
    });
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a reader like the others")]
pub(super) fn prompt<'a>(_: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    facts.push(Fact::Prompt { trace: None });
    Ok(())
}

pub(super) fn api_request<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    let [input, output, cache_read, cache_creation] =
        [Key::InputTokens, Key::OutputTokens, Key::CacheReadTokens, Key::CacheCreationTokens]
            .map(|key| fields.integer(key));
    let (input, output, cache_read, cache_creation) = (input?, output?, cache_read?, cache_creation?);
    let tokens = input.or(output).or(cache_read).or(cache_creation).map(|_| Tokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: cache_read.unwrap_or(0),
        cache_creation: cache_creation.unwrap_or(0),
    });
    let cost = match fields.dollars(Key::CostUsd)? {
        Some(cost) => Some(cost),
        None => fields.micro_dollars(Key::CostUsdMicros)?,
    };
    let request = fields.api_request(fields.text(Key::Model), tokens, cost, duration_us(fields)?);
    facts.push(Fact::ApiRequest(request));
    Ok(())
}

fn llm_request<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    if fields.boolean(Key::Success) == Some(false) {
        return api_error(fields, facts);
    }
    api_request(fields, facts)
}

#[expect(clippy::unnecessary_wraps, reason = "a reader like the others")]
pub(super) fn api_error<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    facts.push(Fact::ApiError { status: None, error_type: fields.error_type(Key::ErrorType) });
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a reader like the others")]
pub(super) fn refusal<'a>(_: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    facts.push(Fact::Refusal);
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a reader like the others")]
pub(super) fn tool_decision<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    let accepted = match fields.word(Key::Decision).as_deref() {
        Some("accept") => true,
        Some("reject") => false,
        _ => return Ok(()),
    };
    let by = match fields.word(Key::Source).as_deref() {
        Some("config") => Decider::Policy,
        Some("hook") => Decider::Hook,
        Some(source) if source.starts_with("user_") => Decider::User,
        _ => Decider::Unknown,
    };
    facts.push(Fact::ToolDecision { tool: fields.text(Key::ToolName), accepted, by });
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a reader like the others")]
fn feedback<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    if !fields.is(Key::EventType, "responded") || !fields.is(Key::SurveyType, "session") {
        return Ok(());
    }
    let rating = match fields.text(Key::Response).as_deref() {
        Some("bad") => -1,
        Some("fine") => 0,
        Some("good") => 1,
        _ => return Ok(()),
    };
    facts.push(Fact::Feedback { rating });
    Ok(())
}

pub(super) fn compaction<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    let (before, after) = (fields.integer(Key::PreTokens)?, fields.integer(Key::PostTokens)?);
    facts.push(Fact::Compaction { before, after });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::testing::{call, log, span, tool, usd};
    use crate::facts::ApiRequest;

    #[test]
    fn log_events_become_facts() {
        let edit = tool("Edit", Some(false), Some(12_000), Some("Error:ENOENT"));
        let request = ApiRequest {
            model: Some("opus".to_owned()),
            cost: Some(usd("0.042")),
            duration_us: Some(900_000),
            ..call(Some([10, 200, 9000, 790]))
        };
        let counts =
            "input_tokens=10 output_tokens=\"200\" cache_read_tokens=9000 cache_creation_tokens=790.0";
        let decided = |accepted, by| Fact::ToolDecision { tool: Some("Bash".to_owned()), accepted, by };
        let survey = "event_type=\"responded\" survey_type=\"session\"";
        for (name, attributes, expected) in [
            (
                "tool_result",
                "tool_name=\"Edit\" success=\"false\" duration_ms=\"12\" error_type=\"Error:ENOENT\"",
                vec![edit],
            ),
            (
                "tool_result",
                "tool_name=\"Edit\" error_type=\"no_such_file!\"",
                vec![tool("Edit", None, None, None)],
            ),
            ("user_prompt", "prompt=\"secret\"", vec![Fact::Prompt { trace: None }]),
            (
                "api_request",
                &format!("{counts} cost_usd=0.042 cost_usd_micros=1 duration_ms=900 model=\"opus\""),
                vec![Fact::ApiRequest(request)],
            ),
            (
                "api_request",
                "cost_usd_micros=42",
                vec![Fact::ApiRequest(ApiRequest { cost: Some(usd("0.000042")), ..call(None) })],
            ),
            (
                "api_request",
                "cost_usd_micros=42.5",
                vec![Fact::ApiRequest(ApiRequest { cost: Some(usd("0.0000425")), ..call(None) })],
            ),
            ("api_error", "", vec![Fact::ApiError { status: None, error_type: None }]),
            ("api_retries_exhausted", "", vec![Fact::ApiError { status: None, error_type: None }]),
            ("api_refusal", "", vec![Fact::Refusal]),
            (
                "tool_decision",
                "tool_name=\"Bash\" decision=\"accept\" source=\"config\"",
                vec![decided(true, Decider::Policy)],
            ),
            (
                "tool_decision",
                "tool_name=\"Bash\" decision=\"reject\" source=\"user_reject\"",
                vec![decided(false, Decider::User)],
            ),
            (
                "tool_decision",
                "tool_name=\"Bash\" decision=\"reject\" source=\"hook\"",
                vec![decided(false, Decider::Hook)],
            ),
            (
                "tool_decision",
                "tool_name=\"Bash\" decision=\"accept\"",
                vec![decided(true, Decider::Unknown)],
            ),
            ("tool_decision", "tool_name=\"Bash\" decision=\"maybe\"", vec![]),
            ("feedback_survey", &format!("{survey} response=\"good\""), vec![Fact::Feedback { rating: 1 }]),
            ("feedback_survey", &format!("{survey} response=\"fine\""), vec![Fact::Feedback { rating: 0 }]),
            ("feedback_survey", &format!("{survey} response=\"bad\""), vec![Fact::Feedback { rating: -1 }]),
            ("feedback_survey", &format!("{survey} response=\"dismissed\""), vec![]),
            ("feedback_survey", "event_type=\"responded\" survey_type=\"memory\" response=\"bad\"", vec![]),
            (
                "compaction",
                "pre_tokens=9 post_tokens=\"2\"",
                vec![Fact::Compaction { before: Some(9), after: Some(2) }],
            ),
        ] {
            assert_eq!(log(&format!("claude_code.{name}"), attributes), expected, "{name} {attributes}");
            assert_eq!(log(&format!("opencode.{name}"), attributes), expected, "{name} {attributes}");
            assert_eq!(log(name, attributes), expected, "{name} {attributes}");
        }
    }

    #[test]
    fn spans_become_facts() {
        let request = ApiRequest { duration_us: Some(2_500_000), ..call(Some([7, 0, 0, 0])) };
        let decided = Fact::ToolDecision { tool: None, accepted: false, by: Decider::User };
        for (name, attributes, expected) in [
            ("llm_request", "input_tokens=7", vec![Fact::ApiRequest(request)]),
            (
                "llm_request",
                "input_tokens=7 success=false",
                vec![Fact::ApiError { status: None, error_type: None }],
            ),
            (
                "tool.execution",
                "tool_name=\"Edit\" success=true",
                vec![tool("Edit", Some(true), Some(2_500_000), None)],
            ),
            ("interaction", "", vec![Fact::Prompt { trace: None }]),
            ("tool.blocked_on_user", "decision=\"reject\" source=\"user_abort\"", vec![decided]),
        ] {
            assert_eq!(span(&format!("claude_code.{name}"), 0, attributes), expected, "{name} {attributes}");
            assert_eq!(span(name, 0, attributes), expected, "{name} {attributes}");
        }
    }
}
