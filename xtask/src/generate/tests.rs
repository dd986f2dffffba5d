//! The promises of the generator: repeatable bytes, valid lines, the requested counts, and the encodings by name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use super::{Account, Amount, Dialect, LogTransport, Plan, Shape};
use crate::shell::root;

const DIALECTS: [Dialect; 6] = [
    Dialect::ClaudeCode,
    Dialect::Codex,
    Dialect::GeminiCli,
    Dialect::QwenCode,
    Dialect::GenAi,
    Dialect::Mixed,
];

fn written(plan: &Plan) -> (String, Account) {
    let mut log = Vec::new();
    let account = plan.write(&mut log).expect("memory takes everything");
    (String::from_utf8(log).expect("UTF-8"), account)
}

/// Returns all logs and spans of a text, each with the attributes of its resource.
fn records(text: &str) -> Vec<(Value, Value)> {
    let mut records = Vec::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("each line is JSON");
        for (resources, scopes, entries) in
            [("resourceLogs", "scopeLogs", "logRecords"), ("resourceSpans", "scopeSpans", "spans")]
        {
            for resource in line[resources].as_array().into_iter().flatten() {
                for scope in resource[scopes].as_array().into_iter().flatten() {
                    for entry in scope[entries].as_array().into_iter().flatten() {
                        records.push((resource["resource"]["attributes"].clone(), entry.clone()));
                    }
                }
            }
        }
    }
    records
}

fn attribute<'a>(attributes: &'a Value, key: &str) -> Option<&'a Value> {
    attributes.as_array()?.iter().find(|entry| entry["key"] == key).map(|entry| &entry["value"])
}

/// Returns the names of the events or operations, and how often each occurs.
fn names(text: &str) -> BTreeMap<String, u64> {
    let mut names = BTreeMap::new();
    for (_, record) in records(text) {
        let attributes = &record["attributes"];
        let name = attribute(attributes, "event.name").or(attribute(attributes, "gen_ai.operation.name"));
        let name = name.and_then(|name| name["stringValue"].as_str()).expect("a record has a name");
        *names.entry(name.to_owned()).or_default() += 1;
    }
    names
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for dialect in DIALECTS {
        let plan = Plan { repeat: 10, shuffle: true, ..Plan::new(dialect) };
        let (first, _) = written(&plan);
        assert!(first == written(&plan).0, "{dialect:?}");
        assert!(first != written(&Plan { seed: 2, ..plan }).0, "{dialect:?}");
    }
}

#[test]
fn as_many_records_and_sessions_as_asked() {
    for dialect in DIALECTS {
        for (wanted, sessions) in [(1, 1), (7, 7), (7, 9), (1000, 20)] {
            let amount = Amount::Records(wanted);
            let plan = Plan { amount, sessions: Some(sessions), ..Plan::new(dialect) };
            let (text, account) = written(&plan);
            let expected = Account {
                sessions: sessions.min(wanted),
                records: wanted,
                repeated: 0,
                lines: text.lines().count() as u64,
                bytes: text.len() as u64,
            };
            assert_eq!(account, expected, "{dialect:?}");
            assert_eq!(records(&text).len() as u64, wanted, "{dialect:?}");
        }
    }
}

#[test]
fn each_session_has_its_own_id() {
    for (dialect, key) in [(Dialect::ClaudeCode, "session.id"), (Dialect::GenAi, "gen_ai.conversation.id")] {
        let plan = Plan { sessions: Some(12), amount: Amount::Records(3000), ..Plan::new(dialect) };
        let (text, _) = written(&plan);
        let ids: BTreeSet<String> = records(&text)
            .iter()
            .filter_map(|(_, record)| attribute(&record["attributes"], key).map(ToString::to_string))
            .collect();
        assert_eq!(ids.len(), 12, "{dialect:?}");
    }
}

#[test]
fn bytes_end_near_what_was_asked() {
    for dialect in DIALECTS {
        for (wanted, sessions) in [(300_000, Some(4)), (3_000_000, None)] {
            let plan = Plan { amount: Amount::Bytes(wanted), sessions, ..Plan::new(dialect) };
            let (text, account) = written(&plan);
            assert_eq!(account.bytes, text.len() as u64);
            assert!(account.bytes.abs_diff(wanted) < 10_000, "{dialect:?}: {account:?}");
            assert_eq!(account.sessions, sessions.unwrap_or(3));
        }
    }
}

#[test]
fn records_have_the_size_of_real_ones() {
    for dialect in DIALECTS {
        let (_, account) = written(&Plan { amount: Amount::Bytes(2_000_000), ..Plan::new(dialect) });
        let size = account.bytes / account.records;
        assert!((900..1800).contains(&size), "{dialect:?}: {size} bytes a record");
    }
}

#[test]
fn repeats_and_disorder_lose_nothing() {
    let plan = Plan { amount: Amount::Records(2000), ..Plan::new(Dialect::ClaudeCode) };
    let (ordered, _) = written(&plan);
    let (text, account) = written(&Plan { repeat: 25, shuffle: true, ..plan });
    assert!(account.repeated > 0);
    assert_eq!(account.records, 2000);
    assert_eq!(records(&text).len() as u64, account.records + account.repeated);
    let distinct: BTreeSet<&str> = text.lines().collect();
    assert_eq!(distinct, ordered.lines().collect());
    assert!(text.lines().take(distinct.len()).ne(ordered.lines()));
}

#[test]
fn strings_are_all_strings() {
    for dialect in DIALECTS {
        let (text, _) = written(&Plan { shape: Shape::Strings, ..Plan::new(dialect) });
        for typed in ["intValue", "doubleValue", "boolValue", "arrayValue"] {
            assert!(!text.contains(typed), "{dialect:?} has {typed}");
        }
    }
    let (modern, _) = written(&Plan::new(Dialect::ClaudeCode));
    for (key, value) in
        [("event.sequence", "intValue"), ("cost_usd", "doubleValue"), ("success", "stringValue")]
    {
        assert!(modern.contains(&format!(r#"{{"key":"{key}","value":{{"{value}":"#)), "{key}");
    }
    let (modern, _) = written(&Plan::new(Dialect::GenAi));
    assert!(modern.contains(r#"{"arrayValue":{"values":[{"stringValue":"stop"}]}}"#));
}

#[test]
fn integers_and_trace_ids_go_by_the_transport() {
    let plan = Plan::new(Dialect::ClaudeCode);
    let (collector, _) = written(&plan);
    let (http, _) = written(&Plan { transport: LogTransport::HttpJson, ..plan });
    for (text, quoted, dropped) in [(&collector, true, false), (&http, false, true)] {
        for (_, record) in records(text) {
            let sequence = attribute(&record["attributes"], "event.sequence").expect("a sequence");
            assert_eq!(sequence["intValue"].is_string(), quoted);
            assert_eq!(record.get("traceId").is_some(), quoted);
            assert_eq!(record.get("droppedAttributesCount").is_some(), dropped);
        }
    }
}

#[test]
fn every_kind_of_event_comes_up() {
    for (dialect, prefix, expected) in [
        (
            Dialect::ClaudeCode,
            "",
            "user_prompt api_request api_error api_refusal tool_decision tool_result compaction feedback_survey \
             hook_execution_start",
        ),
        (
            Dialect::Codex,
            "codex.",
            "conversation_starts user_prompt api_request sse_event tool_decision tool_result",
        ),
        (
            Dialect::GeminiCli,
            "gemini_cli.",
            "config user_prompt api_request api_response api_error tool_call chat_compression",
        ),
        (
            Dialect::QwenCode,
            "qwen-code.",
            "config user_prompt api_request api_response api_error tool_call chat_compression user_feedback",
        ),
        (
            Dialect::GenAi,
            "",
            "chat execute_tool invoke_agent copilot_chat.session.start copilot_chat.tool.call \
             copilot_chat.agent.turn gen_ai.client.inference.operation.details",
        ),
    ] {
        let (text, _) =
            written(&Plan { amount: Amount::Records(10_000), sessions: Some(4), ..Plan::new(dialect) });
        let found = names(&text);
        let expected: BTreeSet<String> =
            expected.split_whitespace().map(|name| format!("{prefix}{name}")).collect();
        assert_eq!(found.into_keys().collect::<BTreeSet<_>>(), expected, "{dialect:?}");
    }
}

#[test]
fn a_rejected_call_has_no_result() {
    let (text, _) = written(&Plan { amount: Amount::Records(5000), ..Plan::new(Dialect::ClaudeCode) });
    let (mut rejected, mut ran) = (BTreeSet::new(), BTreeSet::new());
    for (_, record) in records(&text) {
        let value = |key| attribute(&record["attributes"], key).map(|value| value["stringValue"].clone());
        let id = value("tool_use_id").map(|id| id.to_string());
        if value("decision").is_some_and(|decision| decision == "reject") {
            rejected.extend(id);
        } else if value("event.name").is_some_and(|name| name == "tool_result") {
            ran.extend(id);
        }
    }
    assert!(!rejected.is_empty() && !ran.is_empty());
    assert!(rejected.is_disjoint(&ran));
}

#[test]
fn an_agent_span_repeats_the_usage_of_its_chats() {
    let (text, _) = written(&Plan { amount: Amount::Records(4000), ..Plan::new(Dialect::GenAi) });
    let mut traces: BTreeMap<String, (u64, Option<u64>)> = BTreeMap::new();
    for (_, record) in records(&text).iter().filter(|(_, record)| record.get("startTimeUnixNano").is_some()) {
        let attributes = &record["attributes"];
        let usage =
            attribute(attributes, "gen_ai.usage.input_tokens").and_then(|value| value["intValue"].as_str());
        let Some(input) = usage.map(|usage| usage.parse::<u64>().expect("a number")) else { continue };
        let trace = traces.entry(record["traceId"].to_string()).or_default();
        match attribute(attributes, "gen_ai.operation.name") {
            Some(operation) if operation["stringValue"] == "invoke_agent" => trace.1 = Some(input),
            _ => trace.0 += input,
        }
    }
    let ended: Vec<_> =
        traces.values().filter_map(|(chats, agent)| agent.map(|agent| (*chats, agent))).collect();
    assert!(ended.len() > 20);
    assert!(ended.iter().all(|(chats, agent)| chats == agent));
}

#[test]
fn the_examples_are_small_and_valid() {
    for name in ["claude-code", "codex", "gemini-cli", "qwen-code", "copilot"] {
        let text = fs::read_to_string(root().join(format!("examples/{name}.jsonl"))).expect(name);
        assert!(text.len() < 40_000, "{name}: {} bytes", text.len());
        assert!((3..=10).contains(&text.lines().count()), "{name}");
        assert!((15..=40).contains(&records(&text).len()), "{name}: {} records", records(&text).len());
    }
}
