//! Does each line of Claude Code become the facts of the table?

use crate::dialect::Agent;
use crate::ledger::TimeRange;
use crate::transcript::TranscriptPath;
use crate::transcript::testing::{check, merged, named, read};

/// Returns a conversation line of session `s`, `second` seconds after the start.
fn line(kind: &str, second: u32, rest: &str) -> String {
    format!(
        r#"{{"type":"{kind}","uuid":"u{second}","parentUuid":"u{before}","timestamp":"2026-09-14T15:07:{second:02}.000Z","sessionId":"s","version":"2.1.270",{rest}}}"#,
        before = second.saturating_sub(1),
    )
}

fn user(second: u32, rest: &str) -> String {
    line("user", second, rest)
}

fn prompt(second: u32, text: &str) -> String {
    user(second, &format!(r#""message":{{"role":"user","content":"{text}"}}"#))
}

/// An assistant line with a request id.
fn answer(second: u32, id: &str, usage: &str, content: &str) -> String {
    line(
        "assistant",
        second,
        &format!(
            r#""requestId":"r-{id}","message":{{"id":"{id}","model":"opus","content":[{content}],"usage":{{{usage}}}}}"#
        ),
    )
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"x"}}}}"#)
}

fn result(second: u32, id: &str, block: &str, rest: &str) -> String {
    user(
        second,
        &format!(r#""message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}"{block}}}]}}{rest}"#),
    )
}

#[track_caller]
fn facts(lines: &[String], expected: &[&str]) {
    check(Agent::ClaudeCode, &(lines.join("\n") + "\n"), expected);
}

const USAGE: &str = r#""input_tokens":10,"output_tokens":1"#;

#[test]
fn results_of_tools_become_tool_results_or_rejections() {
    for (block, rest, expected) in [
        ("", "", vec!["tool Bash ok"]),
        (r#","is_error":false"#, "", vec!["tool Bash ok"]),
        (r#","is_error":null"#, "", vec!["tool Bash ok"]),
        (r#","is_error":true,"content":"Exit code 1\nx""#, "", vec!["tool Bash failed"]),
        (
            r#","is_error":true,"content":"<tool_use_error>InputValidationError""#,
            "",
            vec!["tool Bash failed"],
        ),
        (
            r#","content":"launched""#,
            r#","toolUseResult":{"isAsync":true,"status":"async_launched"}"#,
            vec!["tool Bash ok"],
        ),
        (
            r#","is_error":true,"content":"x""#,
            r#","toolDenialKind":"user-rejected""#,
            vec!["reject Bash by user"],
        ),
        (
            r#","is_error":true"#,
            r#","toolDenialKind":"user-rejected","entrypoint":"sdk-cli""#,
            vec!["reject Bash by unknown"],
        ),
        (r#","is_error":true"#, r#","toolDenialKind":"permission-rule""#, vec!["reject Bash by policy"]),
        (r#","is_error":true"#, r#","toolDenialKind":"automode-blocked""#, vec!["reject Bash by policy"]),
        (r#","is_error":true"#, r#","toolDenialKind":"new-kind""#, vec!["reject Bash by unknown"]),
        (r#","is_error":true"#, r#","toolDenialKind":"interrupted""#, vec![]),
        (r#","is_error":true"#, r#","toolDenialKind":"cancelled""#, vec![]),
        (
            r#","is_error":true,"content":"The user doesn't want to proceed with this tool use. More.""#,
            "",
            vec!["reject Bash by user"],
        ),
        (r#","is_error":true"#, r#","toolUseResult":"User rejected tool use""#, vec!["reject Bash by user"]),
        (
            r#","is_error":true,"content":[{"type":"text","text":"Permission to use Bash has been denied"}]"#,
            "",
            vec!["reject Bash by policy"],
        ),
        (r#","is_error":true,"content":"PreToolUse:Bash hook error: no""#, "", vec!["reject Bash by hook"]),
        (r#","is_error":true,"content":"[Request interrupted by user for tool use]""#, "", vec![]),
        (
            r#","is_error":true,"content":"<tool_use_error>Cancelled: parallel tool call Bash errored""#,
            "",
            vec![],
        ),
        // The output of a successful call may say anything.
        (r#","content":"The user doesn't want to proceed with this tool use""#, "", vec!["tool Bash ok"]),
    ] {
        let lines = [answer(1, "m", USAGE, &call("t")), result(2, "t", block, rest)];
        let expected: Vec<&str> = [vec!["request opus 10+1+0+0"], expected].concat();
        facts(&lines, &expected);
    }
    facts(&[answer(1, "m", USAGE, &call("t"))], &["request opus 10+1+0+0"]);
}

#[test]
fn lines_that_a_human_typed_become_prompts() {
    for (rest, is_prompt) in [
        (r#""message":{"content":"hello"}"#, true),
        (r#""message":{"content":[{"type":"text","text":"hello"}]}"#, true),
        (r#""message":{"content":[{"type":"image","source":{}}]}"#, true),
        (r#""origin":{"kind":"human"},"message":{"content":"hello"}"#, true),
        (r#""message":{"content":""}"#, false),
        (r#""origin":{"kind":"task-notification"},"message":{"content":"hello"}"#, false),
        (r#""isMeta":true,"message":{"content":"hello"}"#, false),
        (r#""isCompactSummary":true,"message":{"content":"hello"}"#, false),
        (r#""isVisibleInTranscriptOnly":true,"message":{"content":"hello"}"#, false),
        (r#""turnCompanion":{"x":1},"message":{"content":"hello"}"#, false),
        (r#""isSidechain":true,"message":{"content":"hello"}"#, false),
        (r#""toolUseResult":{},"message":{"content":"hello"}"#, false),
        (r#""message":{"content":"<bash-input>ls</bash-input>"}"#, false),
        (r#""message":{"content":"<task-notification>done"}"#, false),
        (r#""message":{"content":"[Request interrupted by user]"}"#, false),
        (
            r#""message":{"content":"This session is being continued from a previous conversation that"}"#,
            false,
        ),
        (r#""message":{"content":"Caveat: The messages below were generated"}"#, false),
    ] {
        facts(&[user(1, rest)], if is_prompt { &["prompt"] } else { &[] });
    }
    let queued =
        |rest: &str| line("attachment", 1, &format!(r#""attachment":{{"type":"queued_command",{rest}}}"#));
    facts(&[queued(r#""prompt":"also this""#)], &["prompt"]);
    facts(&[queued(r#""origin":{"kind":"human"},"prompt":[{"type":"text","text":"x"}]"#)], &["prompt"]);
    facts(&[queued(r#""commandMode":"task-notification","prompt":"x""#)], &[]);
    facts(&[queued(r#""isMeta":true,"prompt":"x""#)], &[]);
    facts(&[r#"{"type":"queue-operation","operation":"enqueue","sessionId":"s","timestamp":"2026-09-14T15:07:08.158Z"}"#.to_owned()], &[]);
}

#[test]
fn a_typed_command_is_a_prompt_if_the_model_answers_before_the_next_prompt() {
    let command = prompt(1, "<command-name>/review</command-name>");
    let reply = answer(3, "m", USAGE, "");
    facts(&[command.clone(), reply.clone()], &["prompt", "request opus 10+1+0+0"]);
    facts(std::slice::from_ref(&command), &[]);
    facts(&[command.clone(), prompt(2, "hello"), reply.clone()], &["prompt", "request opus 10+1+0+0"]);
    let synthetic = line("assistant", 2, r#""message":{"id":"x","model":"<synthetic>","content":[]}"#);
    facts(&[command.clone(), synthetic], &[]);
    let human =
        user(1, r#""origin":{"kind":"human"},"message":{"content":"<command-message>x</command-message>"}"#);
    facts(&[human], &[]);
}

#[test]
fn a_response_counts_once_with_its_most_output() {
    let growing =
        |second, output| answer(second, "m", &format!(r#""input_tokens":3,"output_tokens":{output}"#), "");
    facts(&[growing(1, 1), growing(2, 5), growing(3, 406)], &["request opus 3+406+0+0"]);
    facts(&[growing(1, 1), growing(2, 406), growing(3, 5)], &["request opus 3+406+0+0"]);
    let other = answer(4, "n", USAGE, "");
    facts(&[growing(1, 1), other], &["request opus 3+1+0+0", "request opus 10+1+0+0"]);
}

#[test]
fn token_counts_are_read_however_they_are_written() {
    for (usage, expected) in [
        (
            r#""input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4"#,
            "1+2+3+4",
        ),
        (
            r#""input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":6}"#,
            "1+2+0+11",
        ),
        (
            r#""input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":4,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0}"#,
            "1+2+0+4",
        ),
        (r#""input_tokens":null,"output_tokens":2,"cache_read_input_tokens":null"#, "0+2+0+0"),
    ] {
        facts(&[answer(1, "m", usage, "")], &[&format!("request opus {expected}")]);
    }
}

#[test]
fn tokens_written_for_an_hour_have_their_own_price() {
    let usage = r#""input_tokens":0,"output_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":1,"ephemeral_1h_input_tokens":2}"#;
    let text = answer(1, "m", usage, "").replace("opus", "priced");
    facts(&[text], &["request priced 0+0+0+3 ~$22000000000"]);
}

#[test]
fn an_advisor_is_one_more_request() {
    let usage = r#""input_tokens":2,"output_tokens":491,"iterations":[{"type":"message","input_tokens":1,"output_tokens":45},{"type":"advisor_message","model":"adviser","input_tokens":159419,"output_tokens":7805}]"#;
    let expected = ["request adviser 159419+7805+0+0", "request opus 2+491+0+0"];
    facts(&[answer(1, "m", usage, ""), answer(1, "m", usage, "")], &expected);
}

#[test]
fn errors_refusals_and_compactions_are_counted() {
    let error = line(
        "assistant",
        1,
        r#""isApiErrorMessage":true,"error":"rate_limit","apiErrorStatus":429,"message":{"id":"x","model":"<synthetic>","content":[],"usage":{"input_tokens":0,"output_tokens":0}}"#,
    );
    facts(&[error], &["error 429 rate_limit"]);
    facts(
        &[line(
            "assistant",
            1,
            r#""message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}"#,
        )],
        &[],
    );
    facts(&[line("system", 1, r#""subtype":"api_error","retryAttempt":1"#)], &[]);
    let refused = line(
        "assistant",
        2,
        r#""requestId":"r","message":{"id":"m","model":"opus","stop_reason":"refusal","content":[]}"#,
    );
    let fallback = line("system", 3, r#""subtype":"model_refusal_fallback""#);
    facts(&[prompt(1, "a"), refused.clone(), fallback.clone()], &["prompt", "refusal"]);
    facts(
        &[
            prompt(1, "a"),
            refused,
            prompt(3, "b"),
            line("system", 4, r#""subtype":"model_refusal_no_fallback""#),
        ],
        &["prompt", "refusal", "prompt", "refusal"],
    );
    let compact = line(
        "system",
        1,
        r#""subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":155000}"#,
    );
    facts(&[compact], &["compaction 155000"]);
    facts(&[line("system", 1, r#""subtype":"microcompact_boundary""#)], &[]);
}

#[test]
fn the_last_cost_state_is_the_cost_of_the_session() {
    let state = |cost: &str, unknown: bool| {
        format!(
            r#"{{"type":"cost-state","sessionId":"s","totalCostUSD":{cost},"hasUnknownModelCost":{unknown}}}"#
        )
    };
    let calls = || vec![answer(1, "m", USAGE, ""), answer(2, "n", USAGE, "")];
    let with = |states: &[String]| [calls(), states.to_vec()].concat();
    facts(
        &with(&[state("0.5", false), state("0.0319246", false)]),
        &["request opus 10+1+0+0 $31924600", "request opus 10+1+0+0 $0"],
    );
    facts(&with(&[state("0.5", true)]), &["request opus 10+1+0+0", "request opus 10+1+0+0"]);
    facts(
        &[calls(), vec![answer(3, "o", USAGE, "").replacen('{', r#"{"costUSD":0.25,"#, 1)]].concat(),
        &["request opus 10+1+0+0", "request opus 10+1+0+0", "request opus 10+1+0+0 $250000000"],
    );
}

#[test]
fn a_side_question_repeats_the_messages_of_the_session() {
    let copy =
        answer(9, "m", USAGE, "").replace("r-m", "r-other").replacen('{', r#"{"isSidechain":true,"#, 1);
    facts(&[answer(1, "m", USAGE, ""), copy.clone()], &["request opus 10+1+0+0"]);
    facts(&[copy.clone(), answer(1, "m", USAGE, "")], &["request opus 10+1+0+0"]);
    // A sub-agent's own messages count.
    facts(&[answer(1, "n", USAGE, ""), copy], &["request opus 10+1+0+0", "request opus 10+1+0+0"]);
}

#[test]
fn a_sub_agent_counts_in_its_parent() {
    let main = [prompt(1, "hello"), answer(2, "m", USAGE, &call("t"))].join("\n");
    let sub = [prompt(3, "task"), answer(4, "n", USAGE, &call("t2")), result(5, "t2", "", "")].join("\n");
    let path = TranscriptPath { stem: "agent-1", is_subagent: true, ..TranscriptPath::default() };
    let files = [
        (Agent::ClaudeCode, read(Agent::ClaudeCode, named("s"), &main)),
        (Agent::ClaudeCode, read(Agent::ClaudeCode, path, &sub)),
    ];
    let (facts, sessions) = merged(&files, TimeRange::default());
    assert_eq!(facts["s"], ["prompt", "request opus 10+1+0+0", "request opus 10+1+0+0", "tool Bash ok"]);
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].agent_version.as_deref(), Some("2.1.270"));
    assert_eq!(sessions[0].models, ["opus"]);
}

#[test]
fn old_versions_recorded_only_a_part_of_the_output() {
    let text = answer(1, "m", USAGE, "");
    for (version, is_partial) in
        [("2.1.96", true), ("1.0.51", true), ("2.1.97", false), ("2.2.0", false), ("dev", false)]
    {
        let file = read(Agent::ClaudeCode, named("s"), &text.replace("2.1.270", version));
        let (_, sessions) = merged(&[(Agent::ClaudeCode, file)], TimeRange::default());
        let report = sessions[0].report().unwrap();
        assert_eq!(report.coverage.partial.contains(&"tokens"), is_partial, "{version}");
    }
}

#[test]
fn odd_lines_are_counted_and_change_nothing() {
    let good = prompt(1, "a\u{2028}b");
    let text = format!(
        "\u{feff}{good}\n\0\0\0{}\n\n[1]\n{{\"a\":\nnonsense\n{{\"type\":\"new-kind\",\"sessionId\":\"s\"}}\n{{\"type\":\"user\",\"uu",
        prompt(2, "b")
    );
    let file = read(Agent::ClaudeCode, named("s"), &text);
    let counts = file.counts;
    assert_eq!((counts.lines, counts.bad_lines, counts.truncated_bytes), (6, 3, 18));
    let (facts, _) = merged(&[(Agent::ClaudeCode, file)], TimeRange::default());
    assert_eq!(facts["s"], ["prompt", "prompt"]);
}
