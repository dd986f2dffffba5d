//! Do the messages of Gemini CLI become the facts of the table?

use crate::dialect::Agent;
use crate::ledger::TimeRange;
use crate::transcript::TranscriptPath;
use crate::transcript::testing::{check, merged, named, read};

const HEAD: &str = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-04-28T16:10:11.637Z","lastUpdated":"2026-04-28T16:10:11.637Z","kind":"main"}"#;

fn message(id: &str, second: u32, rest: &str) -> String {
    format!(r#"{{"id":"{id}","timestamp":"2026-04-28T16:11:{second:02}.000Z",{rest}}}"#)
}

#[track_caller]
fn facts(lines: &[String], expected: &[&str]) {
    check(Agent::GeminiCli, &format!("{HEAD}\n{}\n", lines.join("\n")), expected);
}

const TOKENS: &str =
    r#""tokens":{"input":20,"output":30,"cached":5,"thoughts":4,"tool":0,"total":54},"model":"flash""#;

#[test]
fn user_messages_with_a_typed_text_are_prompts() {
    for (content, is_prompt) in [
        (r#"[{"text":"hello"}]"#, true),
        (r#""hello""#, true),
        (r#"[{"text":""}]"#, false),
        (r#"[{"text":"/clear"}]"#, false),
        (r#"[{"text":"?"}]"#, false),
        (r#"[{"text":"<session_context>x"}]"#, false),
        (r#"[{"functionResponse":{"name":"x"}}]"#, false),
    ] {
        let lines = [message("u", 1, &format!(r#""type":"user","content":{content}"#))];
        facts(&lines, if is_prompt { &["prompt"] } else { &[] });
    }
}

#[test]
fn the_last_version_of_a_message_counts() {
    let answer = |rest: &str| message("g", 2, &format!(r#""type":"gemini","content":"",{rest}"#));
    facts(
        &[answer(r#""tokens":null"#), answer(TOKENS), answer(r#""tokens":null"#)],
        &["request flash 15+34+5+0"],
    );
    facts(
        &[answer(TOKENS), answer(&TOKENS.replace("30", "40").replace("54", "64"))],
        &["request flash 15+44+5+0"],
    );
    let call = |status: &str| {
        format!(r#""toolCalls":[{{"id":"c","name":"edit","status":"{status}","args":{{"x":1}}}}]"#)
    };
    facts(&[answer(&call("executing")), answer(&call("success"))], &["tool edit ok"]);
    // A rewind removes nothing.
    facts(&[answer(TOKENS), r#"{"$rewindTo":"u"}"#.to_owned()], &["request flash 15+34+5+0"]);
}

#[test]
fn messages_that_are_only_in_a_patch_count_once() {
    let user = message("u", 1, r#""type":"user","content":[{"text":"x"}]"#);
    let answer = message("g", 2, &format!(r#""type":"gemini",{TOKENS}"#));
    let patch =
        format!(r#"{{"$set":{{"messages":[{user},{answer}],"lastUpdated":"2026-06-03T18:12:38.058Z"}}}}"#);
    facts(std::slice::from_ref(&patch), &["prompt", "request flash 15+34+5+0"]);
    facts(&[user, answer, patch], &["prompt", "request flash 15+34+5+0"]);
}

#[test]
fn tool_calls_have_the_state_that_the_agent_recorded() {
    for (call, expected) in [
        (r#""status":"success","resultDisplay":"Command exited with code: 1""#, vec!["tool t ok"]),
        (r#""status":"error""#, vec!["tool t failed"]),
        (r#""status":"cancelled""#, vec!["reject t by user"]),
        (r#""status":"error","resultDisplay":"Tool execution blocked: no""#, vec!["reject t by hook"]),
        (
            r#""status":"error","result":[{"functionResponse":{"response":{"error":"Agent execution stopped by hook: no"}}}]"#,
            vec!["reject t by hook"],
        ),
        (r#""status":"scheduled""#, vec![]),
        (r#""result":[]"#, vec![]),
    ] {
        let lines =
            [message("g", 1, &format!(r#""type":"gemini","toolCalls":[{{"id":"c","name":"t",{call}}}]"#))];
        facts(&lines, &expected);
    }
}

#[test]
fn an_old_file_and_its_migrated_copy_are_one_session() {
    let user = message("u", 1, r#""type":"user","content":"x""#);
    let old = format!(r#"{{"sessionId":"s","projectHash":"h","messages":[{user}]}}"#);
    let new = format!("{HEAD}\n{user}\n");
    let path = TranscriptPath { project: Some("/p"), ..named("session-x") };
    let files = [
        (Agent::GeminiCli, read(Agent::GeminiCli, path, &old)),
        (Agent::GeminiCli, read(Agent::GeminiCli, path, &new)),
    ];
    let (facts, sessions) = merged(&files, TimeRange::default());
    assert_eq!(facts["s"], ["prompt"]);
    assert_eq!(sessions[0].project.as_deref(), Some("/p"));
}

#[test]
fn a_sub_agent_counts_in_its_parent_and_has_no_prompts() {
    let head = HEAD.replace("\"s\"", "\"child\"").replace("main", "subagent");
    let user = message("u", 1, r#""type":"user","content":"task""#);
    let answer = message("g", 2, &format!(r#""type":"gemini",{TOKENS}"#));
    let path = TranscriptPath { stem: "child", is_subagent: true, parent: Some("s"), project: None };
    let child = read(Agent::GeminiCli, path, &format!("{head}\n{user}\n{answer}\n"));
    let main = read(Agent::GeminiCli, named("session-x"), &format!("{HEAD}\n{user}\n"));
    let (facts, _) = merged(&[(Agent::GeminiCli, main), (Agent::GeminiCli, child)], TimeRange::default());
    assert_eq!(
        facts.into_iter().collect::<Vec<_>>(),
        [("s".to_owned(), vec!["prompt".to_owned(), "request flash 15+34+5+0".to_owned()])]
    );
}
