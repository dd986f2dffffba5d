//! Do the rows of OpenCode become the facts of the table?

use super::{OpenCodeReader, OpenCodeSession};
use crate::dialect::Agent;
use crate::ledger::TimeRange;
use crate::transcript::Transcript;
use crate::transcript::testing::merged;

const CREATED: i64 = 1_767_312_000_000;

fn session(id: &str, parent: Option<&str>, created_ms: i64, rows: &[(&str, &[&str])]) -> Transcript {
    let mut reader = OpenCodeReader::default();
    let session = OpenCodeSession {
        id,
        parent,
        directory: Some("/p"),
        version: Some("1.18.18"),
        created_ms: Some(created_ms),
    };
    reader.session(&session);
    for (number, (message, parts)) in rows.iter().enumerate() {
        let name = format!("{id}-{number}");
        for part in *parts {
            reader.part(&name, part);
        }
        reader.message(&name, id, message);
    }
    reader.finish()
}

#[track_caller]
fn facts(rows: &[(&str, &[&str])], expected: &[&str]) {
    let files = [(Agent::OpenCode, session("s", None, CREATED, rows))];
    let found: Vec<String> = merged(&files, TimeRange::default()).0.into_values().flatten().collect();
    assert_eq!(found, expected, "{rows:?}");
}

const USER: &str = r#"{"role":"user","time":{"created":1767312000000}}"#;
const ANSWER: &str = r#"{"role":"assistant","modelID":"sonnet","time":{"created":1767312001000,"completed":1767312009000},"tokens":{"input":100,"output":50,"reasoning":7,"cache":{"read":10,"write":20}},"cost":0.02}"#;
const STEP: &str = r#"{"type":"step-finish","cost":0.001,"tokens":{"input":671,"output":8,"reasoning":2,"cache":{"read":21415,"write":0}}}"#;

#[test]
fn prompts_are_typed() {
    facts(&[(USER, &[r#"{"type":"text","text":"x"}"#])], &["prompt"]);
    facts(&[(USER, &[r#"{"type":"file"}"#])], &["prompt"]);
    facts(&[(USER, &[r#"{"type":"text","text":"x","synthetic":true}"#])], &[]);
    facts(&[(USER, &[r#"{"type":"text","text":"x","ignored":true}"#])], &[]);
    facts(&[(USER, &[r#"{"type":"compaction"}"#, r#"{"type":"text","text":"x"}"#])], &["compaction"]);
}

#[test]
fn the_steps_of_a_message_count_before_its_own_tokens() {
    facts(&[(ANSWER, &[])], &["request sonnet 100+57+10+20 $20000000"]);
    facts(
        &[(ANSWER, &[STEP, STEP])],
        &["request sonnet 671+10+21415+0 $1000000", "request sonnet 671+10+21415+0 $1000000"],
    );
    let negative = r#"{"type":"step-finish","cost":0.001,"tokens":{"input":-5,"output":8,"cache":{"read":0,"write":0}}}"#;
    facts(&[(ANSWER, &[negative])], &["request sonnet 0+8+0+0 $1000000"]);
    let free = STEP.replace("0.001", "0");
    facts(&[(ANSWER, &[&free])], &["request sonnet 671+10+21415+0 $0"]);
    let priced = ANSWER.replace("sonnet", "priced");
    let step =
        r#"{"type":"step-finish","cost":0,"tokens":{"input":1,"output":1,"cache":{"read":0,"write":0}}}"#;
    facts(&[(&priced, &[step])], &["request priced 1+1+0+0 ~$3000000000"]);
}

#[test]
fn tools_errors_and_rejections_are_told_apart() {
    let tool = |state: &str| {
        format!(
            r#"{{"type":"tool","tool":"bash","callID":"c","state":{{{state},"time":{{"start":1767312002000,"end":1767312003000}}}}}}"#
        )
    };
    for (state, expected) in [
        (r#""status":"completed","metadata":{"exit":1}"#, vec!["tool bash ok"]),
        (r#""status":"error","error":"x""#, vec!["tool bash failed"]),
        (
            r#""status":"error","error":"The user rejected permission to use this specific tool call.""#,
            vec!["reject bash by user"],
        ),
        (
            r#""status":"error","error":"The user has specified a rule which prevents you from using""#,
            vec!["reject bash by policy"],
        ),
        (r#""status":"error","error":"Tool execution aborted""#, vec![]),
        (r#""status":"error","error":"x","metadata":{"interrupted":true}"#, vec![]),
        (r#""status":"running""#, vec![]),
    ] {
        facts(&[(r#"{"role":"assistant","time":{"created":1767312001000}}"#, &[&tool(state)])], &expected);
    }
    let failed = |name: &str| {
        format!(r#"{{"role":"assistant","time":{{"created":1767312001000}},"error":{{"name":"{name}"}}}}"#)
    };
    facts(&[(&failed("APIError"), &[])], &["error APIError"]);
    facts(&[(&failed("MessageAbortedError"), &[])], &[]);
    facts(&[(&failed("ContentFilterError"), &[r#"{"type":"retry"}"#])], &["error", "refusal"]);
}

#[test]
fn a_fork_has_new_ids_and_counts_only_what_is_its_own() {
    let text = r#"{"type":"text","text":"x"}"#;
    let tool = r#"{"type":"tool","tool":"read","callID":"c","state":{"status":"completed","time":{"start":1767312002000,"end":1767312003000}}}"#;
    let own = STEP.replace("671", "672");
    let later = ANSWER.replace("1767312001000", "1767312501000").replace("1767312009000", "1767312509000");
    let files = [
        (
            Agent::OpenCode,
            session(
                "b",
                None,
                CREATED + 400_000,
                &[(USER, &[text]), (ANSWER, &[STEP, tool]), (&later, &[&own])],
            ),
        ),
        (Agent::OpenCode, session("z", None, CREATED, &[(USER, &[text]), (ANSWER, &[STEP, tool])])),
    ];
    let (facts, sessions) = merged(&files, TimeRange::default());
    assert_eq!(facts["z"], ["prompt", "tool read ok", "request sonnet 671+10+21415+0 $1000000"]);
    assert_eq!(facts["b"], ["request sonnet 672+10+21415+0 $1000000"]);
    let fork = sessions.iter().find(|judged| judged.session.id() == "b").unwrap();
    assert_eq!(fork.session.started_at().unwrap().millis(), 1_767_312_501_000);
}

#[test]
fn a_child_session_counts_in_its_root() {
    let text = r#"{"type":"text","text":"x"}"#;
    let later = ANSWER.replace("1767312001000", "1767312005000");
    let files = [
        (Agent::OpenCode, session("a", None, CREATED, &[(USER, &[text])])),
        (
            Agent::OpenCode,
            session(
                "b",
                Some("a"),
                CREATED + 1,
                &[(&USER.replace("2000000", "2004000"), &[text]), (&later, &[STEP])],
            ),
        ),
    ];
    let (facts, sessions) = merged(&files, TimeRange::default());
    assert_eq!(facts["a"], ["prompt", "request sonnet 671+10+21415+0 $1000000"]);
    assert_eq!(sessions[0].agent_version.as_deref(), Some("1.18.18"));
    assert_eq!(facts.len(), 1);
}

#[test]
fn files_of_old_versions_have_the_same_objects() {
    let mut reader = OpenCodeReader::default();
    reader.session_file(r#"{"id":"s","directory":"/p","version":"0.5","time":{"created":1767312000000}}"#);
    reader.message("", "", &USER.replacen('{', r#"{"id":"m","sessionID":"s","#, 1));
    reader.part("", r#"{"id":"p","messageID":"m","sessionID":"s","type":"text","text":"x"}"#);
    reader.message("", "", "nonsense");
    let file = reader.finish();
    assert_eq!((file.counts.lines, file.counts.bad_lines), (4, 1));
    let (facts, sessions) = merged(&[(Agent::OpenCode, file)], TimeRange::default());
    assert_eq!(facts["s"], ["prompt"]);
    assert_eq!(sessions[0].project.as_deref(), Some("/p"));
}
