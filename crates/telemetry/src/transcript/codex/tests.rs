//! Do the lines of Codex become the facts of the table, each in the form that counts?

use crate::dialect::Agent;
use crate::ledger::TimeRange;
use crate::transcript::Transcript;
use crate::transcript::testing::{check, merged, named, read};

fn at(second: u32, kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-09-28T13:47:{second:02}.000Z","type":"{kind}","payload":{{{payload}}}}}"#)
}

fn meta(rest: &str) -> String {
    at(
        0,
        "session_meta",
        &format!(
            r#""id":"s","timestamp":"2026-09-28T13:47:00.000Z","cwd":"/p","cli_version":"0.153.4"{rest}"#
        ),
    )
}

fn event(second: u32, payload: &str) -> String {
    at(second, "event_msg", payload)
}

fn item(second: u32, item: &str) -> String {
    event(second, &format!(r#""type":"item_completed","item":{{{item}}}"#))
}

fn response(second: u32, payload: &str) -> String {
    at(second, "response_item", payload)
}

fn counts(second: u32, last: &str, total: u64) -> String {
    event(
        second,
        &format!(
            r#""type":"token_count","info":{{"last_token_usage":{{{last}}},"total_token_usage":{{"total_tokens":{total}}}}}"#
        ),
    )
}

fn call(second: u32, id: &str) -> String {
    response(second, &format!(r#""type":"function_call","name":"shell","call_id":"{id}","arguments":"{{}}""#))
}

fn output(second: u32, id: &str, output: &str) -> String {
    response(second, &format!(r#""type":"function_call_output","call_id":"{id}","output":{output}"#))
}

#[track_caller]
fn facts(lines: &[String], expected: &[&str]) {
    let lines = [vec![meta("")], lines.to_vec()].concat();
    check(Agent::Codex, &(lines.join("\n") + "\n"), expected);
}

const LAST: &str =
    r#""input_tokens":120,"cached_input_tokens":20,"output_tokens":30,"reasoning_output_tokens":5"#;

#[test]
fn of_several_forms_of_a_prompt_one_counts() {
    let message = |text: &str| {
        response(
            1,
            &format!(r#""type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]"#),
        )
    };
    let user = event(2, r#""type":"user_message","message":"hello""#);
    let typed = item(3, r#""type":"UserMessage","content":[{"type":"text","text":"hello"}]"#);
    facts(&[message("hello")], &["prompt"]);
    facts(&[message("hello"), user.clone()], &["prompt"]);
    facts(&[message("hello"), user, typed], &["prompt"]);
    for injected in
        ["# AGENTS.md instructions", "<environment_context>", "<turn_aborted>", "<user_shell_command>"]
    {
        facts(&[message(injected)], &[]);
    }
    facts(
        &[response(1, r#""type":"message","role":"developer","content":[{"type":"input_text","text":"x"}]"#)],
        &[],
    );
}

#[test]
fn of_several_forms_of_usage_one_counts() {
    let record = |second, response: &str, output: u64| {
        at(
            second,
            "token_usage_record",
            &format!(
                r#""response_id":"{response}","usage":{{"input_tokens":9,"output_tokens":{output}}},"turn_token_usage":{{"input_tokens":900}}"#
            ),
        )
    };
    let model = at(1, "turn_context", r#""model":"gpt-5-codex""#);
    facts(&[model.clone(), counts(2, LAST, 150)], &["request gpt-5-codex 100+30+20+0"]);
    facts(&[counts(2, LAST, 150), record(3, "r", 4), record(4, "r", 9)], &["request 9+9+0+0"]);
    // A repetition of the total is a rate-limit notice.
    facts(
        &[counts(2, LAST, 150), counts(3, LAST, 150), counts(4, LAST, 300)],
        &["request 100+30+20+0", "request 100+30+20+0"],
    );
    facts(&[event(2, r#""type":"token_count","info":null"#)], &[]);
    let written =
        r#""input_tokens":100,"cached_input_tokens":20,"cache_write_input_tokens":30,"output_tokens":7"#;
    facts(&[counts(2, written, 107)], &["request 50+7+20+30"]);
    // After a compaction the total falls, and the last call is empty.
    let empty = r#""input_tokens":0,"output_tokens":0"#;
    facts(
        &[counts(2, LAST, 150), counts(3, empty, 90), counts(4, LAST, 240)],
        &["request 100+30+20+0", "request 100+30+20+0"],
    );
    // Without the last call, the totals are compared.
    let total = |second, input: u64, output: u64| {
        event(
            second,
            &format!(
                r#""type":"token_count","info":{{"total_token_usage":{{"input_tokens":{input},"output_tokens":{output},"total_tokens":{}}}}}"#,
                input + output
            ),
        )
    };
    facts(&[total(2, 10, 1), total(3, 25, 3)], &["request 10+1+0+0", "request 15+2+0+0"]);
}

#[test]
fn the_outcome_of_a_call_comes_from_its_header_or_a_known_phrase() {
    for (text, expected) in [
        (r#""Exit code: 0\nWall time: 1\nOutput:\nExit code: 1""#, vec!["tool shell ok"]),
        (r#""Exit code: 2\nOutput:\nx""#, vec!["tool shell failed"]),
        (
            r#""Chunk ID: x\nWall time: 1.2500 seconds\nProcess exited with code 0\nOutput:\nProcess exited with code 1""#,
            vec!["tool shell ok"],
        ),
        (
            r#""Chunk ID: x\nWall time: 1.2500 seconds\nProcess exited with code 7\nOutput:\n""#,
            vec!["tool shell failed"],
        ),
        (r#""Chunk ID: x\nProcess running with session ID 4\nOutput:\n""#, vec!["tool shell ok"]),
        (r#""{\"output\":\"a\\nb\",\"metadata\":{\"exit_code\":3}}""#, vec!["tool shell failed"]),
        (r#""{\"output\":\"\",\"metadata\":{\"exit_code\":0}}""#, vec!["tool shell ok"]),
        (r#"[{"type":"input_text","text":"Exit code: 0\nOutput:\n"}]"#, vec!["tool shell ok"]),
        (r#""apply_patch verification failed: x""#, vec!["tool shell failed"]),
        (r#""exec command rejected by user""#, vec!["reject shell by user"]),
        (
            r#""patch rejected: writing outside of the project; rejected by user approval settings""#,
            vec!["reject shell by policy"],
        ),
        (r#""rejected by configuration""#, vec!["reject shell by policy"]),
        (r#""Command blocked by PreToolUse hook: no. Command: x""#, vec!["reject shell by hook"]),
        (r#""aborted by user after 3.1s""#, vec![]),
        (r#""Plan updated""#, vec!["tool shell unknown"]),
    ] {
        facts(&[call(1, "c"), output(2, "c", text)], &expected);
    }
    facts(&[call(1, "c")], &[]);
}

#[test]
fn an_item_decides_before_the_output() {
    let ran = output(3, "c", r#""Exit code: 0\nOutput:\n""#);
    let done = |status: &str| item(2, &format!(r#""type":"CommandExecution","id":"c","status":"{status}""#));
    facts(&[call(1, "c"), done("failed"), ran.clone()], &["tool shell failed"]);
    facts(&[call(1, "c"), done("completed"), ran.clone()], &["tool shell ok"]);
    facts(&[call(1, "c"), done("declined"), ran.clone()], &["reject shell by user"]);
    facts(&[call(1, "c"), done("in_progress"), ran], &["tool shell ok"]);
    let blocked = output(3, "c", r#""Tool call blocked by PreToolUse hook: no. Tool: x""#);
    facts(&[call(1, "c"), done("failed"), blocked], &["reject shell by hook"]);
    let patch = event(2, r#""type":"patch_apply_end","call_id":"c","success":false"#);
    facts(&[call(1, "c"), patch], &["tool shell failed"]);
    for (result, ok) in [
        (r#"{"Ok":{"content":[]}}"#, "ok"),
        (r#"{"Ok":{"isError":true}}"#, "failed"),
        (r#"{"Err":"x"}"#, "failed"),
    ] {
        let end = event(2, &format!(r#""type":"mcp_tool_call_end","call_id":"c","result":{result}"#));
        facts(&[call(1, "c"), end], &[&format!("tool shell {ok}")]);
    }
    facts(
        &[response(1, r#""type":"web_search_call","id":"w","status":"completed""#)],
        &["tool web_search ok"],
    );
}

#[test]
fn code_mode_counts_the_inner_calls_where_they_are_recorded() {
    let outer = response(1, r#""type":"custom_tool_call","call_id":"c","name":"exec","input":"x""#);
    let wait = response(4, r#""type":"function_call","call_id":"w","name":"wait""#);
    let done = response(
        5,
        r#""type":"custom_tool_call_output","call_id":"c","output":"Script completed\nOutput:\n""#,
    );
    let inner = |second, status: &str| {
        item(second, &format!(r#""type":"CommandExecution","status":"{status}","exit_code":0"#))
    };
    facts(&[outer.clone(), done.clone()], &["tool exec ok"]);
    facts(
        &[
            outer,
            inner(2, "completed"),
            inner(3, "failed"),
            wait,
            output(4, "w", r#""Script completed""#),
            done,
        ],
        &["tool shell ok", "tool shell failed"],
    );
    let mcp = item(1, r#""type":"mcpToolCall","id":"i","tool":"search","status":"completed""#);
    facts(&[mcp], &["tool search ok"]);
}

#[test]
fn a_compaction_counts_once_in_any_number_of_forms() {
    let all = [
        at(1, "compacted", r#""message":"x""#),
        event(1, r#""type":"context_compacted""#),
        item(1, r#""type":"ContextCompaction","id":"x""#),
    ];
    facts(&all, &["compaction"]);
    facts(&[all[0].clone(), all[1].clone(), at(9, "compacted", "")], &["compaction", "compaction"]);
    facts(&[event(1, r#""type":"task_complete","error":{"message":"x"}"#)], &["error"]);
    facts(
        &[
            event(1, r#""type":"task_complete","error":null"#),
            event(2, r#""type":"turn_aborted","reason":"interrupted""#),
        ],
        &[],
    );
}

fn file(stem: &str, lines: &[String]) -> (Agent, Transcript) {
    (Agent::Codex, read(Agent::Codex, named(stem), &(lines.join("\n") + "\n")))
}

fn own(id: &str, second: u32, rest: &str) -> String {
    at(second, "session_meta", &format!(r#""id":"{id}"{rest}"#))
}

#[test]
fn a_sub_agent_counts_in_the_root_of_its_parents() {
    let prompt = |second| event(second, r#""type":"user_message","message":"hello""#);
    let spawned = |parent: &str| {
        format!(
            r#","thread_source":"subagent","source":{{"subagent":{{"thread_spawn":{{"parent_thread_id":"{parent}","depth":1}}}}}}"#
        )
    };
    let files = [
        file("a", &[own("a", 0, ""), prompt(1), counts(2, LAST, 150)]),
        file("b", &[own("b", 3, &spawned("a")), prompt(4), counts(5, LAST, 150)]),
        file("c", &[own("c", 6, &spawned("b")), call(7, "x"), output(8, "x", r#""Exit code: 0""#)]),
    ];
    let (facts, _) = merged(&files, TimeRange::default());
    assert_eq!(facts.keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(facts["a"], ["prompt", "request 100+30+20+0", "request 100+30+20+0", "tool shell ok"]);
}

#[test]
fn a_fork_counts_only_what_is_its_own() {
    let prompt = |second, text: &str| event(second, &format!(r#""type":"user_message","message":"{text}""#));
    let history = |second| {
        vec![
            prompt(second, "a"),
            counts(second, LAST, 150),
            call(second, "x"),
            output(second, "x", r#""Exit code: 0""#),
        ]
    };
    let parent = [vec![own("a", 0, "")], history(1), vec![counts(3, LAST, 300)]].concat();
    let forked = own("b", 20, r#","forked_from_id":"a""#);
    // The new session repeats a total of the old one by chance.
    let news = vec![
        prompt(40, "b"),
        counts(42, r#""input_tokens":7,"output_tokens":7"#, 164),
        counts(43, LAST, 150),
    ];
    let fork = [vec![forked.clone(), own("a", 20, "")], history(20), news.clone()].concat();
    let (facts, _) = merged(&[file("a", &parent), file("b", &fork)], TimeRange::default());
    let old = ["prompt", "request 100+30+20+0", "tool shell ok"];
    assert_eq!(facts["a"], [old.as_slice(), &["request 100+30+20+0"]].concat());
    assert_eq!(facts["b"], ["prompt", "request 7+7+0+0", "request 100+30+20+0"]);
    // Without the parent's file, the copy ends at the first pause.
    let (facts, sessions) = merged(&[file("b", &fork)], TimeRange::default());
    assert_eq!(facts["b"], ["prompt", "request 7+7+0+0", "request 100+30+20+0"]);
    assert_eq!(sessions[0].session.started_at().unwrap().to_string(), "2026-09-28T13:47:40.000Z");
    // Copied lines may keep their old times.
    let fork = [vec![forked], history(1), news].concat();
    let (facts, _) = merged(&[file("b", &fork)], TimeRange::default());
    assert_eq!(facts["b"], ["prompt", "request 7+7+0+0", "request 100+30+20+0"]);
}

#[test]
fn a_paginated_sub_agent_says_where_its_own_history_begins() {
    let ordinal = |line: String, ordinal: u32| line.replacen('{', &format!(r#"{{"ordinal":{ordinal},"#), 1);
    let meta = own(
        "b",
        0,
        r#","parent_thread_id":"a","thread_source":"subagent","history_mode":"paginated","subagent_history_start_ordinal":"3""#,
    );
    let lines = [meta, ordinal(counts(1, LAST, 150), 2), ordinal(counts(2, LAST, 300), 3)];
    let (facts, _) = merged(&[file("b", &lines)], TimeRange::default());
    assert_eq!(facts["a"], ["request 100+30+20+0"]);
}

#[test]
fn the_window_begins_after_the_head_of_the_file() {
    let (_, sessions) =
        merged(&[file("s", &[meta(""), counts(5, LAST, 150), counts(9, LAST, 300)])], TimeRange::default());
    let report = sessions[0].report().unwrap();
    assert_eq!(report.started_at.unwrap().to_string(), "2026-09-28T13:47:05.000Z");
    assert_eq!(
        (sessions[0].project.as_deref(), sessions[0].agent_version.as_deref()),
        (Some("/p"), Some("0.153.4"))
    );
}
