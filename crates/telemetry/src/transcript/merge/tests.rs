//! Does every record of Claude Code count once, in the session where it happened?

use renown_core::time::Timestamp;

use crate::dialect::Agent;
use crate::ledger::TimeRange;
use crate::transcript::Transcript;
use crate::transcript::testing::{Facts, merged, named, read};

/// Returns a conversation line.
fn line(session: &str, kind: &str, uuid: &str, minute: u32, rest: &str) -> String {
    format!(
        r#"{{"type":"{kind}","uuid":"{uuid}","timestamp":"2026-09-14T15:{minute:02}:00.000Z","sessionId":"{session}",{rest}}}"#
    )
}

fn prompt(session: &str, uuid: &str, minute: u32) -> String {
    line(session, "user", uuid, minute, &format!(r#""promptId":"p{minute}","message":{{"content":"x"}}"#))
}

fn answer(session: &str, uuid: &str, minute: u32, output: u32) -> String {
    let message = format!(
        r#""message":{{"id":"m{minute}","model":"opus","usage":{{"input_tokens":1,"output_tokens":{output}}}}}"#
    );
    line(session, "assistant", uuid, minute, &format!(r#""requestId":"r{minute}",{message}"#))
}

fn tool(session: &str, minute: u32) -> String {
    line(
        session,
        "user",
        &format!("t{minute}"),
        minute,
        &format!(r#""message":{{"content":[{{"type":"tool_result","tool_use_id":"toolu{minute}"}}]}}"#),
    )
}

fn file(stem: &str, lines: &[String]) -> (Agent, Transcript) {
    (Agent::ClaudeCode, read(Agent::ClaudeCode, named(stem), &(lines.join("\n") + "\n")))
}

fn facts(files: &[(Agent, Transcript)]) -> Facts {
    merged(files, TimeRange::default()).0
}

#[test]
fn a_copy_without_a_mark_belongs_to_the_session_that_began_first() {
    // The fork keeps the uuids and has the smaller id.
    let old = |session: &str| vec![prompt(session, "a", 1), answer(session, "b", 2, 5), tool(session, 3)];
    let first = [old("z"), vec![prompt("z", "c", 4)]].concat();
    let fork = [old("f"), vec![prompt("f", "d", 9), answer("f", "e", 10, 7)]].concat();
    for files in [[file("z", &first), file("f", &fork)], [file("f", &fork), file("z", &first)]] {
        let (found, sessions) = merged(&files, TimeRange::default());
        assert_eq!(found["z"], ["prompt", "request opus 1+5+0+0", "tool ok", "prompt"]);
        assert_eq!(found["f"], ["prompt", "request opus 1+7+0+0"]);
        let fork = sessions.iter().find(|judged| judged.session.id() == "f").unwrap();
        assert_eq!(fork.session.started_at().unwrap().to_string(), "2026-09-14T15:09:00.000Z");
    }
    // A session that is wholly contained in another comes first.
    let found = facts(&[file("z", &old("z")), file("f", &fork)]);
    assert_eq!(found["z"].len(), 3);
    assert_eq!(found["f"], ["prompt", "request opus 1+7+0+0"]);
    // Of two equal ones, the smaller id.
    assert_eq!(facts(&[file("z", &old("z")), file("f", &old("f"))]).keys().collect::<Vec<_>>(), ["f"]);
    // A copy whose original is gone counts where it is.
    assert_eq!(facts(&[file("f", &fork)])["f"].len(), 5);
}

#[test]
fn a_mark_says_where_a_copy_came_from() {
    let marked = |line: String, mark: &str| line.replacen('{', &format!("{{{mark},"), 1);
    let forked = r#""forkedFrom":{"sessionId":"z","messageUuid":"x"}"#;
    // The branch has its own record before all records of the original.
    let branch = [
        prompt("b", "early", 0),
        marked(prompt("b", "a", 1), forked),
        marked(answer("b", "b", 2, 5), forked),
    ];
    let original = [prompt("z", "a", 1), answer("z", "b", 2, 5), prompt("z", "late", 8)];
    let found = facts(&[file("b", &branch), file("z", &original)]);
    assert_eq!(found["z"], ["prompt", "request opus 1+5+0+0", "prompt"]);
    assert_eq!(found["b"], ["prompt"]);
    assert_eq!(facts(&[file("b", &branch)])["b"].len(), 3, "the original is gone");
    let other = r#""session_id":"z""#;
    let resumed =
        [prompt("b", "early", 0), marked(prompt("b", "a", 1), other), marked(prompt("b", "own", 9), other)];
    let found = facts(&[file("b", &resumed), file("z", &original)]);
    assert_eq!((found["b"].len(), found["z"].len()), (2, 3), "a mark without a copy proves nothing");
}

#[test]
fn a_copy_with_new_uuids_is_known_by_its_other_ids() {
    let original = [prompt("a", "u1", 1), answer("a", "u2", 2, 5), tool("a", 3), prompt("a", "u4", 4)];
    let copy = [prompt("b", "v1", 1), answer("b", "v2", 2, 5), tool("b", 3), prompt("b", "v9", 9)];
    let (found, sessions) = merged(&[file("a", &original), file("b", &copy)], TimeRange::default());
    assert_eq!(found["a"], ["prompt", "request opus 1+5+0+0", "tool ok", "prompt"]);
    assert_eq!(found["b"], ["prompt"]);
    let copy = sessions.iter().find(|judged| judged.session.id() == "b").unwrap();
    assert_eq!(copy.session.started_at().unwrap().to_string(), "2026-09-14T15:09:00.000Z");
}

#[test]
fn the_same_response_in_two_sessions_counts_once_with_its_most_output() {
    let found = facts(&[
        file("a", &[prompt("a", "p", 0), answer("a", "u", 2, 5)]),
        file("b", &[answer("b", "u", 2, 406), prompt("b", "q", 9)]),
    ]);
    assert_eq!(found["a"], ["prompt", "request opus 1+406+0+0"]);
    assert_eq!(found["b"], ["prompt"]);
}

#[test]
fn a_message_id_without_a_request_id_is_no_proof_of_a_copy() {
    let relay = |session: &str, uuid: &str| answer(session, uuid, 2, 5).replace(r#""requestId":"r2","#, "");
    let found = facts(&[file("a", &[relay("a", "u1"), relay("a", "u2")]), file("b", &[relay("b", "u3")])]);
    assert_eq!(found["a"], ["request opus 1+5+0+0"]);
    assert_eq!(found["b"], ["request opus 1+5+0+0"]);
}

#[test]
fn time_is_active_time() {
    let lines = [prompt("a", "1", 0), prompt("a", "2", 10), prompt("a", "3", 41), prompt("a", "4", 45)];
    let (_, sessions) = merged(&[file("a", &lines)], TimeRange::default());
    let json = serde_json::to_value(sessions[0].report().unwrap()).unwrap();
    assert_eq!(json["duration_min"], 14);
    assert_eq!(json["coverage"]["signal"], "transcript");
    assert_eq!(json["coverage"]["duration"], "active");
    assert_eq!(json["agent_id"], "claude-code");
}

#[test]
fn a_time_range_cuts_sessions() {
    let lines = [prompt("a", "1", 0), prompt("a", "2", 10), prompt("a", "3", 20)];
    let at = |minute| Timestamp::parse(&format!("2026-09-14T15:{minute:02}:00Z")).ok();
    for (from, to, prompts) in
        [(None, None, 3), (at(10), None, 2), (None, at(10), 2), (at(5), at(15), 1), (at(30), None, 0)]
    {
        let (found, _) = merged(&[file("a", &lines)], TimeRange { from, to });
        assert_eq!(found.get("a").map_or(0, Vec::len), prompts, "{from:?} {to:?}");
    }
}

#[test]
fn sessions_of_two_agents_with_one_id_are_two() {
    let pi = r#"{"type":"session","id":"a"}
{"type":"message","id":"m","timestamp":"2026-12-03T14:00:01.000Z","message":{"role":"user"}}
"#;
    let files = [file("a", &[prompt("a", "1", 0)]), (Agent::Pi, read(Agent::Pi, named("a"), pi))];
    assert_eq!(merged(&files, TimeRange::default()).1.len(), 2);
}
