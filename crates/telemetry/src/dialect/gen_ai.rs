//! # GenAI conventions
//!
//! Spans of Copilot Chat, Copilot CLI and agent frameworks. The operation is `gen_ai.operation.name`, else the first
//! word of the span's name. A span failed if its status is ERROR or if it has `error.type`.
//!
//! | operation | fact | attributes |
//! |---|---|---|
//! | `execute_tool` | tool result, a success unless the span failed | `gen_ai.tool.name`, `error.type`; end − start |
//! | `chat`, `text_completion`, `generate_content` | API request; API error if the span failed and has no usage | `gen_ai.response.model`, else `gen_ai.request.model`; usage as below |
//! | … with a finish reason `refusal` or `content_filter` | also a refusal | `gen_ai.response.finish_reasons` |
//! | `invoke_agent` | API request that is a sum over the agent's calls; counts only if no inference span of the session has usage | usage as below |
//!
//! | attribute after `gen_ai.usage.` | old name |
//! |---|---|
//! | `input_tokens`, `output_tokens` | `prompt_tokens`, `completion_tokens` |
//! | `cache_read.input_tokens`, `cache_creation.input_tokens` | `cache_read_input_tokens`, `cache_creation_input_tokens` |
//! | `cost` | |
//!
//! The conventions include cached tokens in the input: input = input − `cache_read` − `cache_creation`. If that is
//! negative, the producer did not include them, and the input is used as it is.
//!
//! Prompts: the number of distinct OTLP traces with an agent or inference span. A sub-agent has the trace of its
//! caller.
//!
//! The sums of all agent spans are added up. If one agent calls another and the model calls of both report no usage,
//! the inner agent counts twice: the conventions do not define whether the outer sum includes the inner one.

use std::borrow::Cow;

use crate::attributes::Key;
use crate::facts::{ApiRequest, Fact, Tokens};
use crate::fields::{BadValue, Fields, ReadFact, Reader};

/// Returns the reader of a span.
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
    fields.span.is_error || fields.has(Key::SpanErrorType)
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
    if request.tokens.is_none() && request.cost.is_none() && failed(fields) {
        facts.push(Fact::ApiError { status: None, error_type: fields.error_type(Key::SpanErrorType) });
    } else {
        facts.push(Fact::ApiRequest(request));
    }
    if fields.list(Key::FinishReasons).lists_any(|reason| matches!(reason, "refusal" | "content_filter")) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::testing::{TRACE, call, span, tool, usd};
    use crate::facts::ApiRequest;
    use crate::fingerprint;

    const OK: u8 = 1;
    const ERROR: u8 = 2;

    /// Returns the prompt that every agent or inference span has.
    fn prompt() -> Fact<String> {
        Fact::Prompt { trace: Some(fingerprint::of_trace(TRACE)) }
    }

    fn request(tokens: Option<[u64; 4]>) -> ApiRequest<String> {
        ApiRequest { duration_us: Some(2_500_000), ..call(tokens) }
    }

    #[test]
    fn tool_spans_become_tool_results() {
        let run = |ok, error| vec![tool("runTests", Some(ok), Some(2_500_000), error)];
        for (name, status, attributes, expected) in [
            ("execute_tool runTests", OK, "", run(true, None)),
            ("execute_tool runTests", ERROR, "", run(false, None)),
            (
                "anything",
                OK,
                "gen_ai.operation.name=\"execute_tool\" error.type=\"timeout\"",
                run(false, Some("timeout")),
            ),
        ] {
            let attributes = format!("{attributes} gen_ai.tool.name=\"runTests\"");
            assert_eq!(span(name, status, &attributes), expected, "{name} {attributes}");
        }
    }

    #[test]
    fn inference_spans_become_api_requests_or_errors() {
        const USAGE: &str = "gen_ai.usage.input_tokens=1000 gen_ai.usage.output_tokens=20";
        const OLD: &str = "gen_ai.usage.prompt_tokens=1000 gen_ai.usage.completion_tokens=20";
        const CACHED: &str =
            "gen_ai.usage.cache_read.input_tokens=700 gen_ai.usage.cache_creation.input_tokens=100";
        const OLD_CACHED: &str =
            "gen_ai.usage.cache_read_input_tokens=700 gen_ai.usage.cache_creation_input_tokens=100";
        let called = |request| vec![prompt(), Fact::ApiRequest(request)];
        let failed = vec![prompt(), Fact::ApiError { status: None, error_type: None }];
        for (status, attributes, expected) in [
            (OK, USAGE.to_owned(), called(request(Some([1000, 20, 0, 0])))),
            (OK, format!("{USAGE} {CACHED}"), called(request(Some([200, 20, 700, 100])))),
            (OK, format!("{OLD} {OLD_CACHED}"), called(request(Some([200, 20, 700, 100])))),
            (
                OK,
                format!("gen_ai.usage.input_tokens=500 {CACHED}"),
                called(request(Some([500, 0, 700, 100]))),
            ),
            (
                OK,
                "gen_ai.usage.cost=0.5".to_owned(),
                called(ApiRequest { cost: Some(usd("0.5")), ..request(None) }),
            ),
            (OK, String::new(), called(request(None))),
            (ERROR, String::new(), failed),
            (ERROR, USAGE.to_owned(), called(request(Some([1000, 20, 0, 0])))),
            (
                ERROR,
                "gen_ai.usage.cost=0.5".to_owned(),
                called(ApiRequest { cost: Some(usd("0.5")), ..request(None) }),
            ),
        ] {
            for name in ["chat gpt-5", "text_completion", "generate_content"] {
                assert_eq!(span(name, status, &attributes), expected, "{name} {attributes}");
            }
        }
        let models = "gen_ai.request.model=\"gpt-5\" gen_ai.response.model=\"gpt-5-2026\"";
        let named = ApiRequest { model: Some("gpt-5-2026".to_owned()), ..request(None) };
        assert_eq!(span("chat", OK, models), called(named));
    }

    #[test]
    fn finish_reasons_show_refusals() {
        for (reasons, refuses) in [
            (r#"[{"stringValue":"stop"},{"stringValue":"content_filter"}]"#, true),
            (r#""refusal""#, true),
            (r#""[\"refusal\"]""#, true),
            (r#"[{"stringValue":"stop"}]"#, false),
        ] {
            let facts = span("chat", OK, &format!("gen_ai.response.finish_reasons={reasons}"));
            assert_eq!(facts.contains(&Fact::Refusal), refuses, "{reasons}");
        }
    }

    #[test]
    fn the_usage_of_an_agent_span_is_a_sum() {
        let sum = ApiRequest { is_sum: true, ..request(Some([1000, 0, 0, 0])) };
        assert_eq!(
            span("invoke_agent coder", OK, "gen_ai.usage.input_tokens=1000"),
            [prompt(), Fact::ApiRequest(sum)]
        );
        assert_eq!(span("invoke_agent coder", OK, ""), [prompt()]);
    }
}
