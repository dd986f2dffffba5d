//! Bugs that property tests and fuzzing found. Each test quotes the requirement that was violated.

#![expect(clippy::unwrap_used, reason = "a broken line has to fail loudly")]

use renown_telemetry::facts::{ApiRequest, Batch, Fact};
use renown_telemetry::json;
use renown_telemetry::ledger::{Ledger, Session, TimeRange};
use renown_telemetry::prices::Prices;

fn attribute(key: &str, value: &str) -> String {
    format!(r#"{{"key":"{key}","value":{value}}}"#)
}

/// Returns a line with one log record.
fn log(name: &str, attributes: &[String], resource: &[String]) -> String {
    let session = attribute("session.id", r#"{"stringValue":"s-1"}"#);
    let attributes = [&[session], attributes].concat().join(",");
    format!(
        r#"{{"resourceLogs":[{{"resource":{{"attributes":[{}]}},"scopeLogs":[{{"logRecords":[{{"timeUnixNano":"1790000000000000000","eventName":"{name}","attributes":[{attributes}]}}]}}]}}]}}"#,
        resource.join(",")
    )
}

fn span(name: &str, id: u8) -> String {
    let session = attribute("session.id", r#"{"stringValue":"s-1"}"#);
    format!(
        r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"traceId":"01","spanId":"{id:02}","name":"{name}","attributes":[{session}]}}]}}]}}]}}"#
    )
}

fn ledger(lines: &[String]) -> Ledger {
    let mut batch = Batch::default();
    for (line, number) in lines.iter().zip(1..) {
        json::read(line.as_bytes(), number, &Prices::default(), &mut batch).unwrap();
    }
    let mut ledger = Ledger::new(TimeRange::default());
    ledger.fold(&batch).unwrap();
    ledger
}

/// "Out-of-order records and interleaved sessions change nothing". The prompt of a trace counts once for all its
/// spans, and the number of shadowed records depended on which span came first.
#[test]
fn the_number_of_shadowed_records_does_not_depend_on_their_order() {
    let tool = log("claude_code.tool_result", &[], &[]);
    let (agent, chat) = (span("invoke_agent", 1), span("chat", 2));
    for lines in [[&tool, &agent, &chat], [&tool, &chat, &agent], [&chat, &tool, &agent]] {
        assert_eq!(ledger(&lines.map(Clone::clone)).account().shadowed, 2);
    }
}

/// "An array where a scalar is requirement" is an absent value, and "resource attributes fill what is missing".
#[test]
fn an_array_does_not_hide_the_scalar_of_the_resource() {
    let array = attribute("success", r#"{"arrayValue":{"values":[{"boolValue":false}]}}"#);
    let resource = attribute("success", r#"{"boolValue":true}"#);
    let ledger = ledger(&[log("claude_code.tool_result", &[array], &[resource])]);
    assert_eq!(ledger.find("s-1").unwrap().report().unwrap().performance.stats.tools_ok, 1);
}

/// The same for an attribute whose value does not matter, only its presence.
#[test]
fn an_array_is_not_an_error_message() {
    let array = attribute("error.message", r#"{"arrayValue":{"values":[]}}"#);
    let ledger = ledger(&[log("codex.user_prompt", &[], &[]), log("codex.api_request", &[array], &[])]);
    assert_eq!(ledger.find("s-1").unwrap().report().unwrap().signals.api_errors, 0);
}

/// "Any scalar may come in any OTLP value type […]; an empty string is an absent value."
#[test]
fn an_empty_text_is_absent_in_any_type() {
    for empty in [r#"{"intValue":""}"#, r#"{"doubleValue":" "}"#, r#"{"stringValue":""}"#] {
        let attributes = ["input_tokens", "cost_usd", "duration_ms"].map(|key| attribute(key, empty));
        let ledger = ledger(&[log("claude_code.api_request", &attributes, &[])]);
        assert_eq!(ledger.account().bad_values, 0, "{empty}");
        let report = ledger.find("s-1").unwrap().report().unwrap();
        assert_eq!(report.coverage.present, Vec::<&str>::new(), "{empty}");
    }
}

/// "Memory grows with sessions, not events". One name on the resource was stored again for each of its records, so
/// that a body of 16 MiB could become terabytes.
#[test]
fn names_of_tools_and_models_are_cut() {
    for (chars, length) in [(200, 200), (201, 200), (5000, 200)] {
        let name = format!(r#"{{"stringValue":"{}"}}"#, "é".repeat(chars));
        let resource = [attribute("tool_name", &name), attribute("model", &name)];
        let mut batch = Batch::default();
        for event in ["claude_code.tool_result", "claude_code.api_request", "claude_code.tool_decision"] {
            let decision = attribute("decision", r#"{"stringValue":"accept"}"#);
            let line = log(event, &[decision], &resource);
            json::read(line.as_bytes(), 1, &Prices::default(), &mut batch).unwrap();
        }
        let facts: Vec<_> = batch.records().flat_map(|(_, facts)| facts).collect();
        let [
            Fact::ToolResult { tool: Some(tool), .. },
            Fact::ApiRequest(ApiRequest { model: Some(model), .. }),
            Fact::ToolDecision { tool: Some(decided), .. },
        ] = facts.as_slice()
        else {
            panic!("other facts: {facts:?}")
        };
        assert_eq!([tool, model, decided].map(|text| text.chars().count()), [length; 3]);
    }
}

/// A damaged snapshot may hold any count. The sum of two counts overflowed.
#[test]
fn a_snapshot_with_counts_near_the_limit_can_be_scored() {
    let bytes = include_bytes!("../../../fuzz/regressions/stored/01-counts-near-2-to-64");
    let session = Session::from_bytes("s", bytes).expect("a snapshot");
    assert_eq!(session.report().is_some(), session.has_evidence());
}

/// A session without a tool result, a prompt and an API request got the score 1.0, `doff`.
#[test]
fn a_session_without_evidence_is_not_scored() {
    let accept = attribute("decision", r#"{"stringValue":"accept"}"#);
    for (event, attributes) in [
        ("claude_code.api_error", vec![]),
        ("claude_code.something_new", vec![]),
        ("claude_code.compaction", vec![]),
        ("claude_code.tool_decision", vec![accept]),
    ] {
        let ledger = ledger(&[log(event, &attributes, &[])]);
        let session = ledger.find("s-1").unwrap();
        assert!(session.report().is_none() && session.totals().is_none(), "{event}");
        assert!(session.started_at().is_some() && ledger.scorable().is_empty(), "{event}");
    }
    for event in ["claude_code.tool_result", "claude_code.user_prompt", "claude_code.api_request"] {
        let ledger = ledger(&[log(event, &[], &[])]);
        assert!(ledger.find("s-1").unwrap().report().is_some() && ledger.scorable().len() == 1, "{event}");
    }
}

/// Spans without evidence hid a prompt in the logs.
#[test]
fn a_prompt_in_the_logs_counts_if_the_spans_have_no_evidence() {
    let failed = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"07","spanId":"01","name":"claude_code.llm_request",
        "startTimeUnixNano":"1790000000000000000","endTimeUnixNano":"1790000001000000000","attributes":[
        {"key":"session.id","value":{"stringValue":"s-1"}},{"key":"success","value":{"boolValue":false}}]}]}]}]}"#;
    let ledger = ledger(&[log("claude_code.user_prompt", &[], &[]), failed.to_owned()]);
    let report = ledger.find("s-1").unwrap().report().unwrap();
    assert_eq!((report.performance.stats.prompts, report.signals.api_errors), (1, 0));
}

/// In OpenTelemetry's conventions `thread.id` is the number of an operating system thread. A service in Java got one
/// session per thread.
#[test]
fn a_thread_id_is_not_a_session_id() {
    let line = log("claude_code.user_prompt", &[attribute("thread.id", r#"{"intValue":"7"}"#)], &[])
        .replace("session.id", "thread.name");
    let ledger = ledger(&[line]);
    assert_eq!((ledger.account().sessions, ledger.account().no_session), (0, 1));
}
