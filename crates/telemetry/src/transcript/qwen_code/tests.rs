//! Do the lines of Qwen Code become the facts of the table?

use crate::dialect::Agent;
use crate::ledger::TimeRange;
use crate::transcript::TranscriptPath;
use crate::transcript::testing::{check, merged, named, read};

fn line(second: u32, kind: &str, rest: &str) -> String {
    format!(
        r#"{{"uuid":"u{second}","sessionId":"s","timestamp":"2026-06-15T14:40:{second:02}.000Z","type":"{kind}","cwd":"/tmp/q","version":"0.18.1"{rest}}}"#
    )
}

fn telemetry(second: u32, event: &str) -> String {
    line(second, "system", &format!(r#","subtype":"ui_telemetry","systemPayload":{{"uiEvent":{{{event}}}}}"#))
}

#[track_caller]
fn facts(lines: &[String], expected: &[&str]) {
    check(Agent::QwenCode, &(lines.join("\n") + "\n"), expected);
}

const RESPONSE: &str = r#""event.name":"qwen-code.api_response","model":"coder","input_token_count":500,"output_token_count":20,"cached_content_token_count":0,"thoughts_token_count":0,"total_token_count":520"#;
const CALL: &str = r#""event.name":"qwen-code.tool_call","function_name":"list_directory","status":"error","success":false,"error_type":"invalid_tool_params""#;

#[test]
fn telemetry_events_count_before_the_lines_that_repeat_them() {
    let usage = line(
        4,
        "assistant",
        r#","model":"coder","usageMetadata":{"promptTokenCount":550,"candidatesTokenCount":5,"cachedContentTokenCount":50,"totalTokenCount":555}"#,
    );
    let result = line(
        5,
        "tool_result",
        r#","toolCallResult":{"callId":"c","status":"error","errorType":"invalid_tool_params"}"#,
    );
    facts(
        &[telemetry(1, RESPONSE), usage.clone(), telemetry(2, CALL), result.clone()],
        &["request coder 500+20+0+0", "tool list_directory failed"],
    );
    facts(&[usage, result], &["request coder 500+5+50+0", "tool failed"]);
    let cancelled = CALL.replace("error\",\"success", "cancelled\",\"success");
    facts(&[telemetry(1, &cancelled)], &["reject list_directory by user"]);
    facts(&[telemetry(1, r#""event.name":"qwen-code.api_error","error_type":"503""#)], &["error 503"]);
    for (status, expected) in [("success", "tool ok"), ("cancelled", "reject by user")] {
        facts(
            &[line(1, "tool_result", &format!(r#","toolCallResult":{{"callId":"c","status":"{status}"}}"#))],
            &[expected],
        );
    }
}

#[test]
fn prompts_come_from_users() {
    let text = r#","message":{"role":"user","parts":[{"text":"x"}]}"#;
    for (rest, is_prompt) in [
        ("", true),
        (r#","subtype":"mid_turn_user_message""#, true),
        (r#","provenance":"real_user""#, true),
        (r#","provenance":"injected""#, false),
        (r#","subtype":"notification""#, false),
        (r#","subtype":"cron""#, false),
        (r#","isSidechain":true"#, false),
    ] {
        facts(&[line(1, "user", &format!("{rest}{text}"))], if is_prompt { &["prompt"] } else { &[] });
    }
    facts(&[line(1, "user", r#","message":{"parts":[{"functionResponse":{}}]}"#)], &[]);
    let command = line(1, "system", r#","subtype":"slash_command""#);
    facts(&[command.clone(), line(2, "assistant", "")], &["prompt"]);
    facts(&[command], &[]);
    facts(&[line(1, "system", r#","subtype":"chat_compression""#)], &["compaction"]);
}

#[test]
fn a_branch_and_a_sub_agent_count_where_they_came_from() {
    let prompt = line(1, "user", r#","message":{"parts":[{"text":"x"}]}"#);
    let copy = prompt.replace(r#""s""#, r#""b""#).replacen('{', r#"{"forkedFrom":{"sessionId":"s"},"#, 1);
    let own = line(9, "user", r#","message":{"parts":[{"text":"y"}]}"#).replace(r#""s""#, r#""b""#);
    let sub = TranscriptPath { stem: "agent-1", is_subagent: true, parent: Some("s"), project: None };
    let files = [
        (Agent::QwenCode, read(Agent::QwenCode, named("b"), &format!("{copy}\n{own}\n"))),
        (Agent::QwenCode, read(Agent::QwenCode, named("s"), &format!("{prompt}\n"))),
        (Agent::QwenCode, read(Agent::QwenCode, sub, &telemetry(5, RESPONSE).replace("\"s\"", "\"x\""))),
    ];
    let (facts, sessions) = merged(&files, TimeRange::default());
    assert_eq!(facts["s"], ["prompt", "request coder 500+20+0+0"]);
    assert_eq!(facts["b"], ["prompt"]);
    assert_eq!(facts.len(), 2);
    assert!(sessions.iter().any(|judged| judged.agent_version.as_deref() == Some("0.18.1")));
}

#[test]
fn old_files_have_the_format_of_gemini_cli() {
    let text = r#"{"sessionId":"s","messages":[{"id":"u","timestamp":"2026-06-15T14:40:22.832Z","type":"user","content":"x"}]}"#;
    check(Agent::QwenCode, text, &["prompt"]);
}
