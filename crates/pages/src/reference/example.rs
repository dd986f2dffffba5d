//! Generates examples from schemas. They are deterministic, and the server accepts them.

use serde_json::{Map, Value, json};

use super::{Schemas, list, string};
use crate::text::segment;

/// Returns the example of a field by its name, if its type alone is not enough.
fn known(name: &str) -> Option<Value> {
    Some(match name {
        "agent_id" | "slug" | "confirm" => json!("research-bot"),
        "agent" => json!("claude-code"),
        "output" => json!("All 14 tests pass."),
        "input" => json!("Run the tests."),
        "tool" | "tool_name" => json!("run_tests"),
        "name" => json!("pii"),
        "evaluation_id" => json!("ev-1"),
        "session_id" | "reference_id" => json!("3f0c2a91"),
        "trace_id" => json!("turn-1"),
        "run_id" => json!("login-1"),
        "eval_run_id" | "last_eval_run_id" => json!("eval_01K9ZQ4M2T7X8Y6W5V4S3R2P1N"),
        "schedule_id" => json!("sched_01K9ZQ4M2T7X8Y6W5V4S3R2P1N"),
        "cadence" => json!("daily"),
        "spec_id" => json!("login"),
        "workspace" => json!("shop"),
        "outcome" => json!("completed"),
        "branch" => json!("login/claude"),
        "pull_request" => json!("https://git.example.com/shop/pull/17"),
        "label" => json!("ci"),
        "org" => json!("default"),
        "masque" => json!("Codesmith"),
        "reason" => json!("email address detected in output"),
        "cause" => json!("pii failed 9 of 40 evaluations"),
        "category" => json!("task_quality"),
        "event_type" => json!("task_completed"),
        "reference_type" => json!("session"),
        "event_id" => json!("6f2a0a3e-0d67-4d0e-9c55-2c1b7e0d0001"),
        "identity_id" => json!("6f2c1a3e-6a52-5c1b-8f3e-2b1d0c9a8e7f"),
        "wall_ms" => json!(61000),
        "attempts" => json!(1),
        "memory_peak_bytes" => json!(268_435_456),
        "memory_limit_bytes" => json!(536_870_912),
        "formula_version" => json!("1"),
        "status" => json!(200),
        "key" => json!("rn_sec_…"),
        "id" => json!("0192f3c4-5d6e-7f80-9a1b-2c3d4e5f6071"),
        _ => return None,
    })
}

/// Optional fields of requests that examples omit, because they would make an example longer, but not clearer.
const LEFT_OUT: [&str; 11] = [
    "schema",
    "tmax_ms",
    "signal_weights",
    "thresholds",
    "attributes",
    "gates",
    "auction",
    "metadata",
    "roots",
    "identity_id",
    "session_ids",
];

/// Returns the schema of a request's body.
pub fn body_schema(described: &Value) -> Option<&Value> {
    described.get("requestBody")?.get("content")?.get("application/json")?.get("schema")
}

/// Returns the example of a request's body, if it has one.
pub fn body(document: &Value, described: &Value) -> Option<Value> {
    body_schema(described).map(|schema| of(Schemas(document), schema, ""))
}

/// Returns the path of an operation with its path parameters and required query parameters filled in.
pub fn path(document: &Value, path: &str, described: &Value) -> String {
    address(Schemas(document), path, described)
}

pub(super) fn address(schemas: Schemas<'_>, path: &str, described: &Value) -> String {
    let mut address = path.to_owned();
    let mut query = Vec::new();
    for parameter in list(described, "parameters") {
        let name = string(parameter, "name");
        let value = parameter.get("schema").map(|schema| of(schemas, schema, name)).unwrap_or_default();
        let value = segment(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        match (string(parameter, "in"), parameter.get("required")) {
            ("path", _) => address = address.replace(&format!("{{{name}}}"), &value),
            (_, Some(Value::Bool(true))) => query.push(format!("{name}={value}")),
            _ => {}
        }
    }
    if query.is_empty() { address } else { format!("{address}?{}", query.join("&")) }
}

/// Returns an example of a schema. `name` is the name of its field.
pub(super) fn of(schemas: Schemas<'_>, schema: &Value, name: &str) -> Value {
    let (_, schema) = schemas.resolve(schema);
    if let Some(example) = schema.get("example") {
        return example.clone();
    }
    let is_object = schema.get("properties").is_some() || !list(schema, "allOf").is_empty();
    if is_object {
        return Value::Object(object(schemas, schema));
    }
    let mut either = ["oneOf", "anyOf"].iter().flat_map(|key| list(schema, key));
    if let Some(first) = either.find(|part| part.get("type").is_none_or(|kind| kind != "null")) {
        return of(schemas, first, name);
    }
    if let Some(first) = list(schema, "enum").first() {
        return first.clone();
    }
    let kinds = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.as_slice(),
        Some(kind) => std::slice::from_ref(kind),
        None => &[],
    };
    let kind = kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or_default();
    plain(schemas, schema, kind, name)
}

fn object(schemas: Schemas<'_>, schema: &Value) -> Map<String, Value> {
    let parts = list(schema, "allOf").iter().map(|part| of(schemas, part, ""));
    let mut object: Map<String, Value> =
        parts.filter_map(|part| part.as_object().cloned()).flatten().collect();
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (name, field) in properties {
        let is_required = list(schema, "required").iter().any(|known| known == name);
        if is_required || !LEFT_OUT.contains(&name.as_str()) {
            object.insert(name.clone(), of(schemas, field, name));
        }
    }
    object
}

fn plain(schemas: Schemas<'_>, schema: &Value, kind: &str, name: &str) -> Value {
    let by_name = known(name).filter(|value| match kind {
        "string" => value.is_string(),
        "integer" | "number" => value.is_number(),
        _ => false,
    });
    if let Some(value) = by_name {
        return value;
    }
    match kind {
        "array" => {
            let items = schema.get("items").map(|items| of(schemas, items, ""));
            Value::Array(items.into_iter().collect())
        }
        "object" => match schema.get("additionalProperties").filter(|values| values.is_object()) {
            Some(values) => json!({ "confidence": of(schemas, values, "") }),
            None => json!({}),
        },
        "boolean" => json!(true),
        "integer" => schema.get("minimum").filter(|least| **least != 0).cloned().unwrap_or(json!(3)),
        "number" if name.ends_with("_ms") => json!(1.25),
        "number" => json!(0.9),
        "string" => match string(schema, "format") {
            "date-time" => json!("2026-05-28T12:00:00.000Z"),
            "date" | "utc-day" => json!("2026-05-28"),
            "uuid" => json!("6f2c1a3e-6a52-5c1b-8f3e-2b1d0c9a8e7f"),
            _ if matches!(name, "from" | "to" | "as_of" | "timestamp") || name.ends_with("_at") => {
                json!("2026-05-28T12:00:00.000Z")
            }
            _ => json!("text"),
        },
        _ => Value::Null,
    }
}
