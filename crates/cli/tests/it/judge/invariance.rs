//! Do the same records give the same output, independent of order, batches, files and value types?
//!
//! The input is the example logs of the repository, which contain every dialect.

use serde_json::{Value, json};

use super::{Folder, document, judge};
use crate::root;

const AGENTS: [&str; 5] = ["claude-code", "codex", "copilot", "gemini-cli", "qwen-code"];

/// The lines of every example.
fn examples() -> Vec<Value> {
    let texts =
        AGENTS.map(|agent| std::fs::read_to_string(root().join(format!("examples/{agent}.jsonl"))).unwrap());
    texts.iter().flat_map(|text| text.lines()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

const SHAPES: [[&str; 3]; 2] =
    [["resourceLogs", "scopeLogs", "logRecords"], ["resourceSpans", "scopeSpans", "spans"]];

/// Returns one line per record, with its own resource and scope.
fn exploded(lines: &[Value]) -> Vec<Value> {
    let mut records = Vec::new();
    for line in lines {
        for [outer, middle, inner] in SHAPES {
            for resource in line[outer].as_array().into_iter().flatten() {
                for scope in resource[middle].as_array().into_iter().flatten() {
                    for record in scope[inner].as_array().into_iter().flatten() {
                        records.push(json!({ outer: [{
                            "resource": resource["resource"],
                            middle: [{ "scope": scope["scope"], inner: [record] }],
                        }] }));
                    }
                }
            }
        }
    }
    records
}

/// Replaces every value of an attribute with an equivalent one.
fn retyped(value: &Value, change: &impl Fn(&str, &Value) -> Option<Value>) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| retyped(item, change)).collect(),
        Value::Object(fields) => {
            let changed = match fields.iter().next() {
                Some((kind, scalar)) if fields.len() == 1 => change(kind, scalar),
                _ => None,
            };
            changed.unwrap_or_else(|| {
                fields.iter().map(|(key, field)| (key.clone(), retyped(field, change))).collect()
            })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Every scalar as a text.
fn as_texts(kind: &str, scalar: &Value) -> Option<Value> {
    let text = scalar.as_str().map_or_else(|| scalar.to_string(), str::to_owned);
    matches!(kind, "intValue" | "doubleValue" | "boolValue").then(|| json!({ "stringValue": text }))
}

/// Integers as doubles and as bare numbers, flags as integers.
fn as_numbers(kind: &str, scalar: &Value) -> Option<Value> {
    let text = scalar.as_str().map_or_else(|| scalar.to_string(), str::to_owned);
    match kind {
        "intValue" => Some(json!({ "doubleValue": text.parse::<f64>().unwrap() })),
        "boolValue" => Some(json!({ "intValue": i32::from(text == "true") })),
        _ => None,
    }
}

fn all(lines: &[Value]) -> String {
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    let run = judge(&["--all", "--format", "json"], document(&lines));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout.matches("session_id").count(), AGENTS.len(), "a session of each agent");
    run.stdout
}

#[test]
fn order_and_batches() {
    let expected = all(&examples());
    let mut records = exploded(&examples());
    assert!(records.len() > 100);
    assert_eq!(all(&records), expected, "a line each");
    records.reverse();
    assert_eq!(all(&records), expected, "backwards");
    // Every seventh, then every seventh from the second on: a shuffle that is the same each time.
    let shuffled: Vec<_> = (0..7).flat_map(|first| records.iter().skip(first).step_by(7)).cloned().collect();
    assert_eq!(all(&shuffled), expected, "shuffled");
}

#[test]
fn value_types() {
    let expected = all(&examples());
    let texts: Vec<_> = examples().iter().map(|line| retyped(line, &as_texts)).collect();
    assert_ne!(texts, examples());
    assert_eq!(all(&texts), expected, "texts");
    let numbers: Vec<_> = examples().iter().map(|line| retyped(line, &as_numbers)).collect();
    assert_ne!(numbers, examples());
    assert_eq!(all(&numbers), expected, "numbers");
}

#[test]
fn files() {
    let expected = all(&examples());
    let records: Vec<_> = exploded(&examples()).iter().map(Value::to_string).collect();
    let folder = Folder::new();
    for (number, part) in records.chunks(40).rev().enumerate() {
        folder.write(&format!("part-{number}.jsonl"), document(part));
    }
    let run = folder.judge(&["--all", "--format", "json", "part-*.jsonl"]);
    assert_eq!(run.stdout, expected);
}
