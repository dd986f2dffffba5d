//! Do the lines of pi become the facts of the table?

use crate::dialect::Agent;
use crate::ledger::TimeRange;
use crate::transcript::testing::{check, merged, named, read};

fn head(id: &str, second: u32) -> String {
    format!(
        r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-12-03T14:00:{second:02}.000Z","cwd":"/p"}}"#
    )
}

fn message(second: u32, message: &str) -> String {
    format!(
        r#"{{"type":"message","id":"m{second}","parentId":"x","timestamp":"2026-12-03T14:00:{second:02}.000Z","message":{{{message}}}}}"#
    )
}

const ANSWER: &str = r#""role":"assistant","provider":"anthropic","model":"sonnet","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"totalTokens":10,"cost":{"input":0.1,"total":0.25}},"stopReason":"stop""#;

#[test]
fn messages_become_facts() {
    for (line, expected) in [
        (message(1, r#""role":"user","content":"hello""#), vec!["prompt"]),
        (message(1, ANSWER), vec!["request sonnet 1+2+3+4 $250000000"]),
        (
            message(
                1,
                r#""role":"toolResult","toolCallId":"c","toolName":"bash","content":[],"isError":false"#,
            ),
            vec!["tool bash ok"],
        ),
        (
            message(
                1,
                r#""role":"toolResult","toolCallId":"c","toolName":"bash","content":[],"isError":true"#,
            ),
            vec!["tool bash failed"],
        ),
        (message(1, r#""role":"bashExecution","command":"ls""#), vec![]),
        (
            message(
                1,
                r#""role":"assistant","model":"sonnet","usage":{"input":0,"output":0},"stopReason":"error""#,
            ),
            vec!["error"],
        ),
        (
            r#"{"type":"compaction","id":"c","timestamp":"2026-12-03T14:00:01.000Z","tokensBefore":9}"#
                .to_owned(),
            vec!["compaction 9"],
        ),
        (r#"{"type":"model_change","id":"c","timestamp":"2026-12-03T14:00:01.000Z"}"#.to_owned(), vec![]),
    ] {
        check(Agent::Pi, &format!("{}\n{line}\n", head("s", 0)), &expected);
    }
}

#[test]
fn a_fork_counts_only_what_is_its_own() {
    let prompt = message(1, r#""role":"user","content":"hello""#);
    let own = message(30, ANSWER);
    let fork = format!("{}\n{prompt}\n{own}\n", head("a-fork", 20));
    let first = format!("{}\n{prompt}\n", head("b-first", 0));
    let files = [
        (Agent::Pi, read(Agent::Pi, named("x_a-fork"), &fork)),
        (Agent::Pi, read(Agent::Pi, named("x_b-first"), &first)),
    ];
    let (facts, sessions) = merged(&files, TimeRange::default());
    assert_eq!(facts["b-first"], ["prompt"]);
    assert_eq!(facts["a-fork"], ["request sonnet 1+2+3+4 $250000000"]);
    assert_eq!(sessions[0].project.as_deref(), Some("/p"));
}
