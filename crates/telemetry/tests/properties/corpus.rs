//! The seeds of the fuzz targets in `fuzz/corpus`: edge cases, and one record of each event in JSON, in protobuf and
//! in the encoding of stored records.
//!
//! `MAKE_SEEDS=1 cargo test -p renown-telemetry --test properties seeds` writes them again.

#![expect(clippy::disallowed_methods, reason = "seeds are files")]

use std::path::Path;
use std::{env, fs};

use renown_telemetry::ledger::Session;
use renown_telemetry::stored::encode;
use renown_testing::Rng;

use crate::batch_of;
use crate::events::{EVENTS, SPANS};
use crate::json::{Spelling, line};
use crate::model::{Requirement, record_of};
use crate::protobuf::bodies;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus");

/// Maximum size of a seed.
const BYTES_MAX: usize = 4096;

/// Returns a line with one log record that has these fields.
fn log(fields: &str) -> String {
    format!(r#"{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{{{fields}}}]}}]}}]}}"#)
}

/// Returns a line with a tool result of Claude Code that has this attribute.
fn tool(attribute: &str) -> String {
    let session = r#"{"key":"session.id","value":{"stringValue":"s-1"}}"#;
    log(&format!(r#""eventName":"claude_code.tool_result","attributes":[{session},{attribute}]"#))
}

/// Returns lines that the encoders of these tests do not write.
fn edges() -> Vec<(&'static str, Vec<u8>)> {
    let prompt = r#""timeUnixNano":1790000000000000000,"body":{"stringValue":"claude_code.user_prompt"},"attributes":[{"key":"session.id","value":{"stringValue":"s-1"}},{"key":"event.sequence","value":{"intValue":"1"}}]"#;
    let twice = format!("{}\r\n\n{}", log(prompt), log(prompt));
    let late = r#"{"resource_logs":[{"scope_logs":[{"log_records":[{"event_name":"tool_result"}],"scope":{"name":"com.anthropic.claude_code"}}],"resource":{"attributes":[{"value":{"string_value":"s-1"},"key":"session.id"}]}}]}"#;
    let span = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"7C1F","spanId":"c09d","name":"chat gpt-5","startTimeUnixNano":"1790000040000000000","endTimeUnixNano":"1790000042500000000","status":{"code":"STATUS_CODE_ERROR"},"attributes":[{"key":"gen_ai.conversation.id","value":{"stringValue":"k-1"}},{"key":"gen_ai.response.finish_reasons","value":{"stringValue":"[\"stop\",\"refusal\"]"}},{"key":"gen_ai.usage.cost","value":{"doubleValue":1e-9}}]}]}]}],"resourceLogs":null}"#;
    let texts = [
        ("twice", twice),
        ("late-resource", late.to_owned()),
        ("failed-span", span.to_owned()),
        ("empty", "{}".to_owned()),
        ("no-object", "[1,2.5e-7,true,null,\"x\"]".to_owned()),
        ("metrics", r#"{"resourceMetrics":[{"scopeMetrics":[{"a":[[[]]]}]}]}"#.to_owned()),
        ("unknown", r#"{"other":{"a":1}}"#.to_owned()),
        ("nested", format!("{}{}", "[".repeat(65), "]".repeat(65))),
        ("unfinished", log(prompt).split_at(120).0.to_owned()),
        ("surrogate", tool(r#"{"key":"tool_name","value":{"stringValue":"\ud83d\u00e9\ud83d\ude00\\"}}"#)),
        ("array", tool(r#"{"key":"success","value":{"arrayValue":{"values":[{"boolValue":true}]}}}"#)),
        ("map", tool(r#"{"key":"success","value":{"kvlistValue":{"values":[]}}}"#)),
        ("negative", tool(r#"{"key":"duration_ms","value":{"intValue":-1}}"#)),
        ("fraction", tool(r#"{"key":"duration_ms","value":{"doubleValue":0.0005}}"#)),
        ("infinite", tool(r#"{"key":"duration_ms","value":{"doubleValue":"Infinity"}}"#)),
        ("too-large", tool(r#"{"key":"duration_ms","value":{"intValue":"1000000000000001"}}"#)),
        ("empty-int", tool(r#"{"key":"duration_ms","value":{"intValue":""}}"#)),
        ("two-types", tool(r#"{"key":"success","value":{"boolValue":true,"stringValue":"false"}}"#)),
        ("stamp", tool(r#"{"key":"event.timestamp","value":{"stringValue":"2026-09-21T13:53:20.5+02:00"}}"#)),
        ("long-session", log(&prompt.replace("s-1", &"x".repeat(257)))),
    ];
    let mut edges: Vec<_> = texts.map(|(name, text)| (name, text.into_bytes())).into();
    edges.push(("not-utf8", [br#"{"a":""#, &[0xff, 0xc0][..], br#""}"#].concat()));
    edges
}

/// Bodies that the encoders of these tests do not write.
const BODIES: [(&str, &[u8]); 7] = [
    ("truncated", &[0x0a, 0x05, 0x12]),
    ("group", &[0x0b, 0x0c]),
    ("field-zero", &[0x00, 0x00]),
    ("other-fields", &[0x10, 0x96, 0x01, 0x1d, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8]),
    ("long-number", &[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
    ("empty-records", &[0x0a, 0x08, 0x12, 0x06, 0x12, 0x00, 0x12, 0x00, 0x12, 0x00]),
    ("not-utf8", &[0x0a, 0x07, 0x12, 0x05, 0x12, 0x03, 0x62, 0x01, 0xff]),
];

/// Returns what a store writes for a line with one record: the record and the snapshot of its session. Returns
/// nothing if the record has no session.
fn stored(line: &str) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let batch = batch_of(&[line.to_owned()]);
    let record = batch.records().next().map(|(origin, facts)| {
        let facts: Vec<_> = facts.collect();
        let mut session = Session::new(origin.session);
        session.add_record(&origin, &facts, |_| true);
        [("record", encode(&origin, facts)), ("session", session.to_bytes())]
    });
    record.into_iter().flatten()
}

/// Returns the path and the bytes of every seed.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    let events = EVENTS.iter().map(|event| (event, true)).chain(SPANS.iter().map(|event| (event, false)));
    for ((event, is_log), number) in events.zip(1..) {
        let record = record_of(event, is_log, &mut Rng::new(number), number, Requirement::Anything);
        let name = format!("{number:02}-{}{}", event.prefix, event.name.replace(' ', "-"));
        // Every second one in an unusual spelling.
        let spelling = if number % 2 == 0 { Spelling::Any } else { Spelling::Usual };
        let list = [record];
        let text = line(&list, spelling, &mut Rng::new(number));
        seeds.extend(stored(&text).map(|(what, bytes)| (format!("stored/{name}-{what}"), bytes)));
        seeds.push((format!("json/{name}"), text.into_bytes()));
        for (_, body) in bodies(&list, &mut Rng::new(number)) {
            seeds.push((format!("protobuf/{name}"), body));
        }
    }
    seeds.extend(edges().into_iter().map(|(name, bytes)| (format!("json/{name}"), bytes)));
    seeds.extend(BODIES.iter().map(|(name, bytes)| (format!("protobuf/{name}"), bytes.to_vec())));
    seeds
}

#[test]
fn the_seeds_of_the_fuzzer_are_up_to_date() {
    let must_write = env::var_os(WRITE_SEEDS).is_some();
    for (name, bytes) in seeds() {
        assert!(bytes.len() < BYTES_MAX, "{name} has {} bytes", bytes.len());
        let path = Path::new(FOLDER).join(&name);
        if must_write {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &bytes).unwrap();
        }
        let found = fs::read(&path).unwrap_or_default();
        assert!(found == bytes, "fuzz/corpus/{name} is stale: run this test with {WRITE_SEEDS}=1");
    }
}

/// The variable that makes the test write the seeds.
const WRITE_SEEDS: &str = "MAKE_SEEDS";
