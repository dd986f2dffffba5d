//! Is every fact counted once, independent of order, batches and files?

use serde_json::json;

use super::{Folder, Record, batch, document, judged, lines, log, ok_tool, prompt, span};

#[test]
fn which_log_records_are_duplicates() {
    let numbered = |seconds, sequence: i64| prompt(seconds).with("event.sequence", sequence);
    let tagged = |name: &str, seconds, key: &str, id: &str| log(name, seconds).with(key, id);
    let elsewhere = |sequence: i64| {
        let mut record = numbered(0, sequence);
        record.attributes.retain(|attribute| attribute["key"] != "session.id");
        record.with("session.id", "s-0")
    };
    for (what, records, duplicates) in [
        ("no mark at all", [prompt(0), prompt(0)], 0),
        ("sequence and time", [numbered(0, 1), numbered(0, 1)], 1),
        ("another sequence", [numbered(0, 1), numbered(0, 2)], 0),
        ("the sequence restarted with the process", [numbered(0, 1), numbered(5, 1)], 0),
        ("another session", [numbered(0, 1), elsewhere(1)], 0),
        // "Same session, event.sequence and time": the name does not matter.
        ("another name", [numbered(0, 1), ok_tool(0).with("event.sequence", 1)], 1),
        ("tool_use_id", [ok_tool(0).with("tool_use_id", "a"), ok_tool(0).with("tool_use_id", "a")], 1),
        (
            "another tool_use_id",
            [ok_tool(0).with("tool_use_id", "a"), ok_tool(0).with("tool_use_id", "b")],
            0,
        ),
        (
            "tool_use_id at another time",
            [ok_tool(0).with("tool_use_id", "a"), ok_tool(5).with("tool_use_id", "a")],
            0,
        ),
        (
            "decision and result of one call",
            [
                ok_tool(0).with("tool_use_id", "a"),
                tagged("claude_code.tool_decision", 0, "tool_use_id", "a").with("decision", "accept"),
            ],
            0,
        ),
        (
            "call_id",
            [tagged("codex.tool_result", 0, "call_id", "c"), tagged("codex.tool_result", 0, "call_id", "c")],
            1,
        ),
        (
            "request_id",
            [
                tagged("claude_code.api_request", 0, "request_id", "r"),
                tagged("claude_code.api_request", 0, "request_id", "r"),
            ],
            1,
        ),
        (
            "sequences differ though the call is the same",
            [
                ok_tool(0).with("tool_use_id", "a").with("event.sequence", 1),
                ok_tool(0).with("tool_use_id", "a").with("event.sequence", 2),
            ],
            0,
        ),
    ] {
        let judged = judged(&lines(&records));
        assert_eq!(judged.counted("duplicates"), duplicates, "{what}");
        assert_eq!((judged.counted("records"), judged.counted("facts")), (2, 2 - duplicates), "{what}");
    }
}

#[test]
fn the_first_of_two_duplicates_wins() {
    let first = ok_tool(0).with("event.sequence", 1);
    let second = log("claude_code.tool_result", 0).with("success", "false").with("event.sequence", "1");
    assert_eq!(judged(&lines(&[first.clone(), second.clone()])).evidence(), "tools=1 ok=1");
    assert_eq!(judged(&lines(&[second, first])).evidence(), "tools=1");
}

#[test]
fn spans_are_deduplicated_by_trace_and_span_id() {
    let tool = |trace, id| span("execute_tool ls", trace, id);
    for (records, evidence, duplicates) in [
        ([tool(1, 1), tool(1, 1)], "tools=1 ok=1", 1),
        ([tool(1, 1), tool(1, 2)], "tools=2 ok=2", 0),
        ([tool(1, 1), tool(2, 1)], "tools=2 ok=2", 0),
        ([tool(1, 1), tool(1, 1).with("error.type", "late")], "tools=1 ok=1", 1),
    ] {
        let judged = judged(&lines(&records));
        assert_eq!((judged.evidence().as_str(), judged.counted("duplicates")), (evidence, duplicates));
    }
}

#[test]
fn duplicates_are_found_across_batches_and_files() {
    let records = [prompt(0).with("event.sequence", 1), ok_tool(1).with("event.sequence", 2)];
    let both = batch(&[], &json!({}), &records);
    let folder = Folder::new();
    folder.write("a.jsonl", document(&lines(&records))).write("b.jsonl", format!("{both}\n"));
    let judged = folder.judge_json(&["a.jsonl", "b.jsonl"]);
    assert_eq!((judged.evidence().as_str(), judged.counted("duplicates")), ("tools=1 ok=1 prompts=1", 2));
    assert_eq!((judged.counted("lines"), judged.counted("records")), (3, 4));
}

#[test]
fn order_batches_and_files_do_not_change_the_result() {
    let mut records: Vec<Record> =
        (0..20).map(|i| ok_tool(i * 7).with("event.sequence", i64::try_from(i).unwrap())).collect();
    records.extend((0..5).map(|i| prompt(i * 11).with("event.sequence", i64::try_from(100 + i).unwrap())));
    let forward = super::judge(&["--format", "json"], document(&lines(&records)));
    records.reverse();
    let backward = super::judge(&["--format", "json"], document(&lines(&records)));
    let one_batch = super::judge(&["--format", "json"], batch(&[], &json!({}), &records));
    let folder = Folder::new();
    folder
        .write("2.jsonl", document(&lines(&records[..9])))
        .write("1.jsonl", document(&lines(&records[9..])));
    let rotated = folder.judge(&["--format", "json", "2.jsonl", "1.jsonl"]);
    assert_eq!(forward.stdout, backward.stdout);
    assert_eq!(forward.stdout, one_batch.stdout);
    assert_eq!(forward.stdout, rotated.stdout);
}

#[test]
fn logs_and_spans_of_a_session_are_never_both_counted() {
    let tool = span("execute_tool ls", 1, 1);
    for (records, evidence, signal, shadowed) in [
        (vec![ok_tool(0), tool.clone()], "tools=1 ok=1", "logs", 1),
        (vec![tool.clone(), ok_tool(0)], "tools=1 ok=1", "logs", 1),
        (vec![log("claude_code.api_request", 0), tool.clone(), span("chat x", 1, 2)], "", "logs", 2),
        // Prompts in logs do not make it a session of logs.
        (vec![prompt(0), tool.clone()], "tools=1 ok=1", "spans", 1),
        (vec![tool.clone()], "tools=1 ok=1", "spans", 0),
        (vec![prompt(0)], "prompts=1", "logs", 0),
    ] {
        let judged = judged(&lines(&records));
        assert_eq!(judged.evidence(), evidence, "{signal}");
        assert_eq!(judged.document["coverage"]["signal"], signal);
        assert_eq!(judged.counted("shadowed"), shadowed, "{evidence} {signal}");
    }
}

#[test]
fn repeats_are_looked_for_in_the_first_65_536_records_of_a_session() {
    let line = |i: i64| {
        format!(
            r#"{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{{"timeUnixNano":"1790000000000000000","eventName":"claude_code.user_prompt","attributes":[{{"key":"session.id","value":{{"stringValue":"s-1"}}}},{{"key":"event.sequence","value":{{"intValue":"{i}"}}}}]}}]}}]}}]}}"#
        )
    };
    for (records, exact) in [(65_535, true), (65_537, false)] {
        let mut lines: Vec<_> = (0..records).map(line).collect();
        lines.push(line(0));
        let judged = judged(&lines);
        let (prompts, duplicates) = if exact { (records, 1) } else { (records + 1, 0) };
        assert_eq!(judged.document["stats"]["prompts"], prompts);
        assert_eq!(judged.counted("duplicates"), duplicates);
        assert_eq!(judged.warnings.len(), usize::from(!exact), "{:?}", judged.warnings);
        assert!(exact || judged.warnings[0].starts_with("warning: "), "{:?}", judged.warnings);
    }
}
