//! # GenAI conventions
//!
//! Spans of Copilot Chat and CLI and of agent frameworks. The operation is `gen_ai.operation.name`, else the first word of
//! the span's name. A span has failed if its status is ERROR or it has `error.type`.
//!
//! | operation | fact | attributes |
//! |---|---|---|
//! | `execute_tool` | tool result, ok unless failed | `gen_ai.tool.name`, `error.type`; end − start |
//! | `chat`, `text_completion`, `generate_content` | API request; failed and without usage, API error | `gen_ai.response.model`, else `gen_ai.request.model`; the usage below |
//! | … with a finish reason `refusal` or `content_filter` | and a refusal | `gen_ai.response.finish_reasons` |
//! | `invoke_agent` | its usage repeats its children's: a sum, used only when no inference span of the session has any | the usage |
//!
//! | under `gen_ai.usage.` | or, of old |
//! |---|---|
//! | `input_tokens`, `output_tokens` | `prompt_tokens`, `completion_tokens` |
//! | `cache_read.input_tokens`, `cache_creation.input_tokens` | `cache_read_input_tokens`, `cache_creation_input_tokens` |
//! | `cost` | |
//!
//! The conventions count cached tokens inside the input: input = input − `cache_read` − `cache_creation`. If that is
//! negative, the producer left them out, and the input is taken as it is.
//!
//! Prompts: the distinct traces with an agent or inference span. A sub-agent shares the trace of its caller.

use std::borrow::Cow;

use crate::attributes::Key;
use crate::facts::{ApiRequest, Fact, Tokens};
use crate::fields::{BadValue, Fields, ReadFact, Reader};

/// The reader of a span.
pub(super) fn span(operation: &str) -> Option<Reader> {
    Some(match operation {
        "execute_tool" => execute_tool,
        "chat" | "text_completion" | "generate_content" => inference,
        "invoke_agent" => invoke_agent,
        _ => return None,
    })
}

type Read = Result<(), BadValue>;

fn failed(fields: &Fields<'_, '_>) -> bool {
    fields.span.failed || fields.has(Key::SpanErrorType)
}

#[expect(clippy::unnecessary_wraps, reason = "a reader like the others")]
fn execute_tool<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    facts.push(Fact::ToolResult {
        tool: fields.text(Key::GenAiToolName),
        ok: Some(!failed(fields)),
        duration_us: fields.span.duration_us(),
        error_type: fields.error_type(Key::SpanErrorType),
    });
    Ok(())
}

fn inference<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    facts.extend(prompt(fields));
    let request = request(fields)?;
    if request.tokens.is_none() && failed(fields) {
        facts.push(Fact::ApiError { status: None, error_type: fields.error_type(Key::SpanErrorType) });
    } else {
        facts.push(Fact::ApiRequest(request));
    }
    if fields.value(Key::FinishReasons).lists_any(|reason| matches!(reason, "refusal" | "content_filter")) {
        facts.push(Fact::Refusal);
    }
    Ok(())
}

fn invoke_agent<'a>(fields: &Fields<'_, 'a>, facts: &mut Vec<ReadFact<'a>>) -> Read {
    facts.extend(prompt(fields));
    let request = request(fields)?;
    if request.tokens.is_some() || request.cost.is_some() {
        facts.push(Fact::ApiRequest(ApiRequest { is_sum: true, ..request }));
    }
    Ok(())
}

fn prompt<'a>(fields: &Fields<'_, 'a>) -> Option<ReadFact<'a>> {
    fields.span.trace.map(|trace| Fact::Prompt { trace: Some(trace) })
}

fn request<'a>(fields: &Fields<'_, 'a>) -> Result<ApiRequest<Cow<'a, str>>, BadValue> {
    let count = |key, old| fields.integer(if fields.has(key) { key } else { old });
    let input = count(Key::UsageInput, Key::UsagePrompt)?;
    let output = count(Key::UsageOutput, Key::UsageCompletion)?;
    let cache_read = count(Key::UsageCacheRead, Key::UsageCacheReadOld)?;
    let cache_creation = count(Key::UsageCacheCreation, Key::UsageCacheCreationOld)?;
    let tokens = input.or(output).or(cache_read).or(cache_creation).map(|_| {
        let (input, cached) = (input.unwrap_or(0), cache_read.unwrap_or(0) + cache_creation.unwrap_or(0));
        Tokens {
            input: input.checked_sub(cached).unwrap_or(input),
            output: output.unwrap_or(0),
            cache_read: cache_read.unwrap_or(0),
            cache_creation: cache_creation.unwrap_or(0),
        }
    });
    let model = fields.text(Key::ResponseModel).or_else(|| fields.text(Key::RequestModel));
    Ok(fields.api_request(model, tokens, fields.dollars(Key::UsageCost)?, fields.span.duration_us()))
}
