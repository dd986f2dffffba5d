//! Are spans of the GenAI conventions and of Copilot read as the contract says?

use serde_json::json;

use super::{Judged, Record, SECOND, T0, judged, lines, log, span};

fn expect(records: &[Record], evidence: &str) -> Judged {
    let judged = judged(&lines(records));
    assert_eq!(judged.evidence(), evidence, "{:#?}", lines(records));
    judged
}

fn chat(trace: u64, id: u64) -> Record {
    span("chat gpt-5", trace, id)
}

fn usage(record: Record, pairs: &[(&str, i64)]) -> Record {
    pairs.iter().fold(record, |record, (key, value)| record.with(&format!("gen_ai.usage.{key}"), *value))
}

#[test]
fn the_operation_is_the_attribute_else_the_first_word_of_the_name() {
    for (name, operation, evidence) in [
        ("execute_tool ls", "", "tools=1 ok=1"),
        ("execute_tool", "", "tools=1 ok=1"),
        ("anything", "execute_tool", "tools=1 ok=1"),
        ("chat gpt-5", "execute_tool", "tools=1 ok=1"),
        ("execute_tool ls", "chat", "prompts=1"),
        ("chat gpt-5", "", "prompts=1"),
        ("text_completion x", "", "prompts=1"),
        ("generate_content x", "", "prompts=1"),
        ("invoke_agent x", "", "prompts=1"),
    ] {
        expect(&[span(name, 1, 1).with("gen_ai.operation.name", operation)], evidence);
    }
}

#[test]
fn a_span_without_a_known_operation_is_an_unknown_event() {
    let judged = expect(&[chat(1, 1), span("GET /", 1, 2), span("embeddings x", 1, 3)], "prompts=1");
    assert_eq!(judged.counted("unknown_events"), 2);
}

#[test]
fn a_span_fails_by_its_status_or_its_error_type() {
    let tool = |id| span("execute_tool ls", 1, id);
    for (record, evidence) in [
        (tool(1), "tools=1 ok=1"),
        (tool(1).field("status", json!({})), "tools=1 ok=1"),
        (tool(1).field("status", json!({ "code": 0 })), "tools=1 ok=1"),
        (tool(1).field("status", json!({ "code": 1 })), "tools=1 ok=1"),
        (tool(1).field("status", json!({ "code": "STATUS_CODE_OK" })), "tools=1 ok=1"),
        (tool(1).field("status", json!({ "code": 2 })), "tools=1"),
        (tool(1).field("status", json!({ "code": "STATUS_CODE_ERROR" })), "tools=1"),
        (tool(1).field("status", json!({ "message": "bad", "code": 2 })), "tools=1"),
        (tool(1).with("error.type", "timeout"), "tools=1"),
        (tool(1).with("error.type", ""), "tools=1 ok=1"),
        (chat(1, 1).with("error.type", "timeout"), "prompts=1 api_errors=1"),
        (usage(chat(1, 1), &[("input_tokens", 5)]).with("error.type", "timeout"), "prompts=1 tokens=5"),
    ] {
        expect(&[record], evidence);
    }
}

#[test]
fn usage_has_new_and_old_names() {
    for (pairs, evidence) in [
        (&[("input_tokens", 100), ("output_tokens", 20)][..], "prompts=1 tokens=120"),
        (&[("prompt_tokens", 100), ("completion_tokens", 20)], "prompts=1 tokens=120"),
        (&[("input_tokens", 100), ("prompt_tokens", 7)], "prompts=1 tokens=100"),
        // Cached tokens are inside the input …
        (&[("input_tokens", 100), ("cache_read.input_tokens", 60)], "prompts=1 tokens=100 cached=60"),
        (
            &[("input_tokens", 100), ("cache_read.input_tokens", 60), ("cache_creation.input_tokens", 40)],
            "prompts=1 tokens=100 cached=60",
        ),
        (&[("input_tokens", 100), ("cache_read_input_tokens", 60)], "prompts=1 tokens=100 cached=60"),
        (&[("input_tokens", 100), ("cache_creation_input_tokens", 60)], "prompts=1 tokens=100"),
        // … unless they exceed it; then the input counts unchanged.
        (
            &[("input_tokens", 100), ("cache_read.input_tokens", 60), ("cache_creation.input_tokens", 41)],
            "prompts=1 tokens=201 cached=60",
        ),
        (&[("input_tokens", 10), ("cache_read.input_tokens", 60)], "prompts=1 tokens=70 cached=60"),
    ] {
        expect(&[usage(chat(1, 1), pairs)], evidence);
    }
}

#[test]
fn usage_may_have_a_cost() {
    let judged = expect(&[chat(1, 1).with("gen_ai.usage.cost", 0.05)], "prompts=1 cost=0.05");
    assert_eq!(judged.document["coverage"]["cost_source"], "reported");
}

#[test]
fn refusals_count_as_calls_too() {
    for reason in ["refusal", "content_filter"] {
        let refused = usage(chat(1, 1), &[("input_tokens", 5)]).with(
            "gen_ai.response.finish_reasons",
            json!({ "arrayValue": { "values": [{ "stringValue": reason }] } }),
        );
        expect(&[refused], "prompts=1 tokens=5 refusals=1");
    }
}

#[test]
fn the_usage_of_an_agent_span_counts_only_if_no_call_has_usage() {
    let agent = usage(span("invoke_agent x", 1, 1), &[("input_tokens", 100)]);
    expect(std::slice::from_ref(&agent), "prompts=1 tokens=100");
    expect(&[agent.clone(), chat(1, 2)], "prompts=1 tokens=100");
    let call = usage(chat(1, 2), &[("input_tokens", 7)]);
    for records in [[agent.clone(), call.clone()], [call, agent]] {
        expect(&records, "prompts=1 tokens=7");
    }
}

#[test]
fn prompts_are_the_distinct_traces_of_agents_and_calls() {
    let records = [
        span("invoke_agent x", 1, 1),
        span("invoke_agent helper", 1, 2),
        chat(1, 3),
        chat(2, 4),
        span("execute_tool ls", 3, 5),
    ];
    expect(&records, "tools=1 ok=1 prompts=2");
}

#[test]
fn copilots_logs_repeat_its_spans() {
    let resource = [("service.name", "copilot-chat"), ("session.id", "window")];
    let conversation = |record: Record| {
        let mut record = record;
        record.attributes.clear();
        record.with("gen_ai.conversation.id", "k-1")
    };
    let event = |name: &str| {
        super::bare().field("timeUnixNano", (T0 + 900 * SECOND).to_string()).with("event.name", name)
    };
    let judged = judged(&[
        conversation(span("execute_tool ls", 1, 1)).below(&resource),
        conversation(chat(1, 2)).below(&resource),
        event("copilot_chat.tool.call").below(&resource),
        event("copilot_chat.session.start").below(&resource),
        event("gen_ai.client.inference.operation.details")
            .with("gen_ai.usage.input_tokens", 9)
            .below(&resource),
    ]);
    assert_eq!((judged.text("session_id"), judged.evidence().as_str()), ("k-1", "tools=1 ok=1 prompts=1"));
    assert_eq!((judged.text("agent"), judged.counted("shadowed")), ("copilot", 3));
    assert_eq!(judged.counted("sessions"), 1, "the window's id is no session");
}

#[test]
fn inference_details_are_not_read_from_any_agent() {
    let details = log("gen_ai.client.inference.operation.details", 600).with("gen_ai.usage.input_tokens", 9);
    let judged = expect(&[chat(1, 1), details], "prompts=1");
    assert_eq!(judged.counted("shadowed"), 1);
}

#[test]
fn ids_are_hexadecimal_in_any_case_and_may_be_missing() {
    let tool =
        |trace: &str, id: &str| span("execute_tool ls", 1, 1).field("traceId", trace).field("spanId", id);
    let (trace, id) = ("7c1f0e6a92b84d3fa5d0c9e817264b3a", "c09d44e1b72f6a58");
    expect(&[tool(trace, id), tool(&trace.to_uppercase(), &id.to_uppercase())], "tools=1 ok=1");
    // Without ids, they are not duplicates.
    expect(&[tool("", ""), tool("", "")], "tools=2 ok=2");
}

#[test]
fn a_span_without_genai_attributes_has_no_known_agent() {
    assert_eq!(expect(&[span("execute_tool ls", 1, 1)], "tools=1 ok=1").text("agent"), "unknown");
}

#[test]
fn invalid_times_of_a_span_are_tolerated() {
    for (start, end) in [(T0 + SECOND, T0), (T0, 0), (0, T0)] {
        let tool = span("execute_tool ls", 1, 1)
            .field("startTimeUnixNano", start.to_string())
            .field("endTimeUnixNano", end.to_string());
        let judged = expect(&[tool], "tools=1 ok=1");
        assert_eq!((judged.text("started_at"), judged.counted("no_time")), ("2026-09-21T14:13:20.000Z", 0));
    }
}

#[test]
fn spans_set_the_time_range_of_their_session() {
    let late = log("claude_code.user_prompt", 900);
    let judged = expect(&[span("execute_tool ls", 1, 1), late], "tools=1 ok=1");
    assert_eq!((&judged.document["duration_min"], judged.counted("shadowed")), (&json!(1), 1));
}
