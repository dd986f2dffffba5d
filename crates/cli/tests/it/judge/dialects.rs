//! Does every event of Claude Code, Codex, Gemini CLI and Qwen Code give the right facts?

use super::{Record, judged, judged_with_prompt, lines, log, span};

/// Checks what is counted for a record with these attributes.
type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

#[track_caller]
fn expect(rows: &[Row<'_>]) {
    for (name, attributes, evidence) in rows {
        let (agent, _) = name.split_once('.').unwrap();
        let prompt = log(&format!("{agent}.user_prompt"), 0);
        let judged = judged_with_prompt(prompt, log(name, 0).with_all(attributes));
        assert_eq!(judged.evidence(), *evidence, "{name} {attributes:?}");
        assert_eq!(judged.counted("unknown_events"), 0, "{name} is an event of its agent");
    }
}

#[test]
fn claude_code_tools_prompts_and_calls() {
    expect(&[
        (
            "claude_code.tool_result",
            &[("tool_name", "Bash"), ("success", "true"), ("duration_ms", "12")],
            "tools=1 ok=1",
        ),
        ("claude_code.tool_result", &[("success", "false"), ("error_type", "Error:ENOENT")], "tools=1"),
        ("claude_code.tool_result", &[("tool_name", "Bash")], "tools=1"),
        ("claude_code.user_prompt", &[("prompt_length", "7")], "prompts=1"),
        ("claude_code.api_request", &[("input_tokens", "1")], "tokens=1"),
        ("claude_code.api_request", &[("output_tokens", "2")], "tokens=2"),
        ("claude_code.api_request", &[("cache_read_tokens", "4")], "tokens=4 cached=4"),
        ("claude_code.api_request", &[("cache_creation_tokens", "8")], "tokens=8"),
        ("claude_code.api_request", &[("cost_usd", "0.05")], "cost=0.05"),
        ("claude_code.api_request", &[("cost_usd_micros", "60000")], "cost=0.06"),
        ("claude_code.api_request", &[("cost_usd", "0.05"), ("cost_usd_micros", "60000")], "cost=0.05"),
        ("claude_code.api_request", &[("model", "opus"), ("duration_ms", "900")], ""),
        ("claude_code.api_error", &[("status_code", "529")], "api_errors=1"),
        ("claude_code.api_retries_exhausted", &[], "api_errors=1"),
        ("claude_code.api_refusal", &[], "refusals=1"),
        ("opencode.tool_result", &[("success", "true")], "tools=1 ok=1"),
        ("opencode.api_request", &[("input_tokens", "3"), ("cost_usd", "0.01")], "tokens=3 cost=0.01"),
    ]);
}

#[test]
fn claude_code_decisions_surveys_and_compactions() {
    let survey = |response| [("event_type", "responded"), ("survey_type", "session"), ("response", response)];
    expect(&[
        ("claude_code.tool_decision", &[("decision", "accept"), ("source", "config")], "accepts=1"),
        ("claude_code.tool_decision", &[("decision", "accept"), ("source", "user_permanent")], "accepts=1"),
        ("claude_code.tool_decision", &[("decision", "reject"), ("source", "config")], "rejects=1"),
        ("claude_code.tool_decision", &[("decision", "reject"), ("source", "hook")], "rejects=1"),
        (
            "claude_code.tool_decision",
            &[("decision", "reject"), ("source", "user_reject")],
            "rejects=1 by_user=1",
        ),
        (
            "claude_code.tool_decision",
            &[("decision", "reject"), ("source", "user_abort")],
            "rejects=1 by_user=1",
        ),
        ("claude_code.tool_decision", &[("decision", "reject")], "rejects=1"),
        ("claude_code.feedback_survey", &survey("bad"), "feedback=-1"),
        ("claude_code.feedback_survey", &survey("fine"), "feedback=0"),
        ("claude_code.feedback_survey", &survey("good"), "feedback=1"),
        ("claude_code.feedback_survey", &survey("dismissed"), ""),
        (
            "claude_code.feedback_survey",
            &[("event_type", "appeared"), ("survey_type", "session"), ("response", "good")],
            "",
        ),
        (
            "claude_code.feedback_survey",
            &[("event_type", "responded"), ("survey_type", "memory"), ("response", "good")],
            "",
        ),
        ("claude_code.compaction", &[("pre_tokens", "9"), ("post_tokens", "3")], "compactions=1"),
        ("claude_code.compaction", &[], "compactions=1"),
    ]);
}

#[test]
fn claude_code_spans() {
    let rows: [Row<'_>; 7] = [
        (
            "claude_code.llm_request",
            &[("input_tokens", "5"), ("cache_read_tokens", "3"), ("success", "true")],
            "tokens=8 cached=3",
        ),
        ("claude_code.llm_request", &[("success", "false"), ("status_code", "529")], "api_errors=1"),
        ("claude_code.tool.execution", &[("success", "true")], "tools=1 ok=1"),
        ("claude_code.tool.execution", &[("success", "false")], "tools=1"),
        ("claude_code.interaction", &[], "prompts=1"),
        ("claude_code.tool.blocked_on_user", &[("decision", "accept"), ("source", "config")], "accepts=1"),
        (
            "claude_code.tool.blocked_on_user",
            &[("decision", "reject"), ("source", "user_reject")],
            "rejects=1 by_user=1",
        ),
    ];
    for (name, attributes, evidence) in rows {
        let prompt = span("claude_code.interaction", 2, 2);
        let judged = judged_with_prompt(prompt, span(name, 1, 1).with_all(attributes));
        assert_eq!((judged.evidence().as_str(), judged.text("agent")), (evidence, "claude-code"), "{name}");
        assert_eq!(judged.document["coverage"]["signal"], "spans");
    }
}

#[test]
fn the_latest_feedback_counts_in_any_order() {
    let answer = |response: &str, seconds| {
        log("claude_code.feedback_survey", seconds).with_all(&[
            ("event_type", "responded"),
            ("survey_type", "session"),
            ("response", response),
        ])
    };
    let prompt = || log("claude_code.user_prompt", 0);
    for records in
        [[prompt(), answer("good", 0), answer("bad", 9)], [answer("bad", 9), answer("good", 0), prompt()]]
    {
        assert_eq!(judged(&lines(&records)).evidence(), "prompts=1 feedback=-1");
    }
}

/// A Codex event: the session in `conversation.id`, an empty body, only an observed time.
fn codex(name: &str, attributes: &[(&str, &str)]) -> Record {
    super::bare()
        .field("timeUnixNano", "0")
        .field("observedTimeUnixNano", super::T0.to_string())
        .field("body", serde_json::json!({ "stringValue": "" }))
        .with("event.name", format!("codex.{name}").as_str())
        .with("conversation.id", "c-1")
        .with_all(attributes)
}

#[track_caller]
fn expect_codex(rows: &[Row<'_>]) {
    for (name, attributes, evidence) in rows {
        let judged = judged_with_prompt(codex("user_prompt", &[]), codex(name, attributes));
        assert_eq!(
            (judged.evidence().as_str(), judged.text("agent")),
            (*evidence, "codex"),
            "{name} {attributes:?}"
        );
        assert_eq!(judged.counted("unknown_events"), 0, "{name} is an event of Codex");
    }
}

#[test]
fn codex_tools_prompts_and_decisions() {
    expect_codex(&[
        (
            "tool_result",
            &[("tool_name", "shell"), ("success", "true"), ("call_id", "a"), ("duration_ms", "3")],
            "tools=1 ok=1",
        ),
        ("tool_result", &[("tool_name", "shell"), ("success", "false"), ("call_id", "a")], "tools=1"),
        ("tool_result", &[("tool_name", "shell"), ("success", "false")], "tools=1"),
        ("user_prompt", &[("prompt_length", "7")], "prompts=1"),
        ("tool_decision", &[("decision", "approved"), ("source", "user")], "accepts=1"),
        ("tool_decision", &[("decision", "approved_for_session"), ("source", "config")], "accepts=1"),
        ("tool_decision", &[("decision", "denied"), ("source", "user")], "rejects=1 by_user=1"),
        ("tool_decision", &[("decision", "Denied"), ("source", "User")], "rejects=1 by_user=1"),
        ("tool_decision", &[("decision", "denied"), ("source", "config")], "rejects=1"),
        ("tool_decision", &[("decision", "abort"), ("source", "user")], "rejects=1 by_user=1"),
    ]);
}

#[test]
fn codex_calls_and_errors() {
    const DONE: (&str, &str) = ("event.kind", "response.completed");
    expect_codex(&[
        (
            "sse_event",
            &[
                DONE,
                ("input_token_count", "100"),
                ("cached_token_count", "60"),
                ("output_token_count", "7"),
                ("reasoning_token_count", "5"),
                ("tool_token_count", "107"),
            ],
            "tokens=107 cached=60",
        ),
        // More cached than input: the input is at least 0.
        (
            "sse_event",
            &[DONE, ("input_token_count", "10"), ("cached_token_count", "60")],
            "tokens=60 cached=60",
        ),
        ("sse_event", &[DONE, ("input_token_count", "10")], "tokens=10"),
        ("sse_event", &[DONE], ""),
        ("sse_event", &[DONE, ("output_token_count", "7")], ""),
        ("sse_event", &[("event.kind", "response.created"), ("input_token_count", "10")], ""),
        ("sse_event", &[("event.kind", "response.failed"), ("error.message", "overloaded")], "api_errors=1"),
        ("sse_event", &[("event.kind", "response.output_item.done"), ("success", "false")], "api_errors=1"),
        ("api_request", &[("http.response.status_code", "200"), ("attempt", "0")], ""),
        ("api_request", &[("http.response.status_code", "399")], ""),
        ("api_request", &[("http.response.status_code", "400")], "api_errors=1"),
        (
            "api_request",
            &[("http.response.status_code", "529"), ("error.message", "overloaded")],
            "api_errors=1",
        ),
        ("api_request", &[("success", "false")], "api_errors=1"),
        ("api_request", &[("success", "true")], ""),
        ("api_request", &[("error.message", "no route")], "api_errors=1"),
        ("websocket_request", &[("success", "false")], "api_errors=1"),
        ("websocket_request", &[("success", "true")], ""),
    ]);
}

#[test]
fn gemini_and_qwen_tools_and_decisions() {
    for prefix in ["gemini_cli", "qwen-code"] {
        let (call, prompt) = (format!("{prefix}.tool_call"), format!("{prefix}.user_prompt"));
        expect(&[
            (&call, &[("function_name", "ls"), ("success", "true"), ("duration_ms", "3")], "tools=1 ok=1"),
            (&call, &[("success", "false"), ("error_type", "enoent")], "tools=1"),
            (&call, &[("success", "false"), ("status", "success")], "tools=1"),
            (&call, &[("status", "success")], "tools=1 ok=1"),
            (&call, &[("status", "error")], "tools=1"),
            (&call, &[("success", "true"), ("decision", "auto_accept")], "tools=1 ok=1 accepts=1"),
            (&call, &[("success", "true"), ("decision", "accept")], "tools=1 ok=1 accepts=1"),
            (&call, &[("success", "true"), ("decision", "modify")], "tools=1 ok=1 accepts=1"),
            (&call, &[("success", "false"), ("decision", "reject")], "rejects=1 by_user=1"),
            (&call, &[("success", "false"), ("status", "cancelled")], "rejects=1 by_user=1"),
            (&call, &[("status", "cancelled"), ("decision", "accept")], "rejects=1 by_user=1"),
            (&prompt, &[("prompt_length", "7")], "prompts=1"),
        ]);
    }
}

#[test]
fn gemini_and_qwen_calls() {
    // Input 100, 60 of them cached, tools 8: 40 + 8 fresh, 60 read.
    let usage = |more: &[(&'static str, &'static str)]| {
        let mut usage = vec![
            ("input_token_count", "100"),
            ("cached_content_token_count", "60"),
            ("tool_token_count", "8"),
        ];
        usage.extend_from_slice(more);
        usage
    };
    for prefix in ["gemini_cli", "qwen-code"] {
        let name = |event: &str| format!("{prefix}.{event}");
        let response = name("api_response");
        expect(&[
            // 150 − 100 − 8 = 42 ≥ 20: thoughts are not part of the output.
            (
                &response,
                &usage(&[
                    ("output_token_count", "20"),
                    ("thoughts_token_count", "22"),
                    ("total_token_count", "150"),
                ]),
                "tokens=150 cached=60",
            ),
            // 128 − 108 = 20 ≥ 20: thoughts are part of the output.
            (
                &response,
                &usage(&[
                    ("output_token_count", "20"),
                    ("thoughts_token_count", "15"),
                    ("total_token_count", "128"),
                ]),
                "tokens=128 cached=60",
            ),
            // 127 − 108 = 19 < 20: the total is unusable.
            (
                &response,
                &usage(&[
                    ("output_token_count", "20"),
                    ("thoughts_token_count", "15"),
                    ("total_token_count", "127"),
                ]),
                "tokens=143 cached=60",
            ),
            // No total at all.
            (
                &response,
                &usage(&[("output_token_count", "20"), ("thoughts_token_count", "15")]),
                "tokens=143 cached=60",
            ),
            (&response, &[("input_token_count", "5"), ("output_token_count", "2")], "tokens=7"),
            // The total alone gives the output, unless it is less than the input.
            (&response, &[("input_token_count", "100"), ("total_token_count", "150")], "tokens=150"),
            (&response, &[("input_token_count", "100"), ("total_token_count", "50")], "tokens=100"),
            (&response, &[("input_token_count", "5"), ("error", "quota")], "api_errors=1"),
            (&name("api_error"), &[("status_code", "503"), ("error", "quota")], "api_errors=1"),
            (&name("api_request"), &[("model", "m"), ("input_token_count", "5")], ""),
            (&name("chat_compression"), &[("tokens_before", "9"), ("tokens_after", "3")], "compactions=1"),
        ]);
    }
}

#[test]
fn qwen_feedback() {
    for (rating, evidence) in [("1", "feedback=-1"), ("2", "feedback=0"), ("3", "feedback=1")] {
        expect(&[("qwen-code.user_feedback", &[("rating", rating)], evidence)]);
    }
}

#[test]
fn codex_and_gemini_never_report_a_cost() {
    for (name, attributes) in [
        (
            "codex.sse_event",
            &[("event.kind", "response.completed"), ("input_token_count", "5"), ("cost_usd", "9")][..],
        ),
        ("gemini_cli.api_response", &[("input_token_count", "5"), ("cost_usd", "9")]),
        ("qwen-code.api_response", &[("input_token_count", "5"), ("cost_usd", "9")]),
    ] {
        let judged = judged(&lines(&[log(name, 0).with_all(attributes)]));
        assert_eq!(
            (judged.evidence().as_str(), judged.coverage("missing").as_str()),
            ("tokens=5", "tools prompts cost")
        );
    }
}
