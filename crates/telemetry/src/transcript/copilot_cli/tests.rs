//! Do the events of Copilot CLI become the facts of the table?

use crate::dialect::Agent;
use crate::ledger::TimeRange;
use crate::transcript::testing::{check, merged, named, read};

fn event(second: u32, kind: &str, data: &str) -> String {
    format!(
        r#"{{"type":"{kind}","id":"e{second}","timestamp":"2026-07-30T01:56:{second:02}.000Z","data":{{{data}}}}}"#
    )
}

#[track_caller]
fn facts(lines: &[String], expected: &[&str]) {
    check(Agent::Copilot, &(lines.join("\n") + "\n"), expected);
}

fn spoken(second: u32, id: &str, output: u32) -> String {
    event(
        second,
        "assistant.message",
        &format!(r#""model":"sonnet","apiCallId":"{id}","outputTokens":{output}"#),
    )
}

fn shutdown(second: u32, output: u32, rest: &str) -> String {
    event(
        second,
        "session.shutdown",
        &format!(
            r#""modelMetrics":{{"sonnet":{{"requests":{{"count":2,"cost":1}},"usage":{{"inputTokens":71282,"outputTokens":{output},"cacheReadTokens":35495,"cacheWriteTokens":35783}}}}}}{rest}"#
        ),
    )
}

#[test]
fn prompts_come_from_humans() {
    facts(&[event(1, "user.message", r#""content":"x","parentAgentTaskId":"t""#)], &["prompt"]);
    facts(&[event(1, "user.message", r#""content":"x","source":"skill-a""#)], &[]);
    facts(&[event(1, "user.message", r#""content":"x","isAutopilotContinuation":true"#)], &[]);
    let agent = event(1, "user.message", r#""content":"x""#).replacen('{', r#"{"agentId":"a","#, 1);
    facts(&[agent], &[]);
}

#[test]
fn tools_are_results_or_rejections() {
    let start = event(1, "tool.execution_start", r#""toolCallId":"c","toolName":"bash""#);
    let end = |rest: &str| event(2, "tool.execution_complete", &format!(r#""toolCallId":"c",{rest}"#));
    facts(&[start.clone(), end(r#""success":true"#), end(r#""success":true"#)], &["tool bash ok"]);
    facts(&[start.clone(), end(r#""success":false"#)], &["tool bash failed"]);
    facts(&[start.clone(), end(r#""success":true,"isUserRequested":true"#)], &[]);
    let denied =
        |message: &str| end(&format!(r#""success":false,"error":{{"code":"denied","message":"{message}"}}"#));
    facts(&[start.clone(), denied("Denied by preToolUse hook: no")], &["reject bash by hook"]);
    let asked = event(1, "permission.requested", r#""requestId":"q","permissionRequest":{"toolCallId":"c"}"#);
    let answered = |kind: &str| {
        event(1, "permission.completed", &format!(r#""requestId":"q","result":{{"kind":"{kind}"}}"#))
    };
    let by_user = answered("denied-interactively-by-user");
    facts(&[start.clone(), asked.clone(), by_user.clone(), denied("no")], &["reject bash by user"]);
    facts(&[start.clone(), asked.clone(), by_user], &["reject bash by user"]);
    facts(&[start.clone(), asked.clone(), answered("denied-by-rules")], &["reject bash by policy"]);
    facts(
        &[start, asked, answered("approved"), end(r#""success":true"#)],
        &["accept bash by unknown", "tool bash ok"],
    );
    let named = event(1, "assistant.message", r#""toolRequests":[{"toolCallId":"c","name":"skill"}]"#);
    facts(&[named, end(r#""success":true"#)], &["tool skill ok"]);
}

#[test]
fn a_shutdown_reports_the_usage_of_its_process_or_of_all_so_far() {
    facts(&[spoken(1, "a", 30), shutdown(2, 30, "")], &["request sonnet 4+30+35495+35783"]);
    // Two processes that add up: 2 + 3.
    facts(
        &[spoken(1, "a", 2), shutdown(2, 2, ""), spoken(3, "b", 3), shutdown(4, 3, "")],
        &["request sonnet 4+2+35495+35783", "request sonnet 4+3+35495+35783"],
    );
    // The second report holds the first.
    facts(
        &[spoken(1, "a", 20), shutdown(2, 20, ""), spoken(3, "b", 3), shutdown(4, 23, "")],
        &["request sonnet 4+20+35495+35783", "request sonnet 0+3+0+0"],
    );
    let units = r#","totalNanoAiu":4513400000"#;
    facts(&[shutdown(2, 30, units)], &["request sonnet 4+30+35495+35783 $45134000"]);
    facts(
        &[event(1, "session.shutdown", r#""modelMetrics":{},"totalNanoAiu":4513400000"#)],
        &["request $45134000"],
    );
}

#[test]
fn after_a_crash_only_the_output_is_known() {
    let lines = [spoken(1, "a", 103), spoken(2, "a", 103), spoken(3, "b", 7)];
    facts(&lines, &["request sonnet 0+103+0+0", "request sonnet 0+7+0+0"]);
    let file = read(Agent::Copilot, named("s"), &lines.join("\n"));
    let (_, sessions) = merged(&[(Agent::Copilot, file)], TimeRange::default());
    assert_eq!(sessions[0].report().unwrap().coverage.partial, ["tokens"]);
}

#[test]
fn the_start_describes_the_session() {
    let start =
        event(1, "session.start", r#""sessionId":"real","copilotVersion":"1.0.80","context":{"cwd":"/p"}"#);
    let lines = [
        start,
        event(2, "user.message", r#""content":"x""#),
        event(3, "model.call_failure", r#""statusCode":503"#),
        event(4, "session.compaction_complete", r#""success":true,"preCompactionTokens":9"#),
    ];
    let file = read(Agent::Copilot, named("dir"), &lines.join("\n"));
    let (facts, sessions) = merged(&[(Agent::Copilot, file)], TimeRange::default());
    assert_eq!(facts["real"], ["prompt", "error 503", "compaction 9"]);
    assert_eq!(sessions[0].agent_version.as_deref(), Some("1.0.80"));
    assert_eq!(sessions[0].project.as_deref(), Some("/p"));
}
