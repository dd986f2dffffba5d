//! Describes the type of a schema and its limits in a few words.

use std::fmt::Write;

use serde_json::Value;

use super::{Schemas, list};

/// Returns the description of a schema's type.
pub(super) fn kind(schemas: Schemas<'_>, schema: &Value) -> String {
    let (name, schema) = schemas.resolve(schema);
    let either: Vec<&Value> = ["oneOf", "anyOf"].iter().flat_map(|key| list(schema, key)).collect();
    if !either.is_empty() {
        return joined(either.iter().map(|part| kind(schemas, part)));
    }
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        return joined(names.iter().filter_map(Value::as_str).map(str::to_owned));
    }
    if let [only] = list(schema, "allOf") {
        return kind(schemas, only);
    }
    if schema.get("properties").is_some() || !list(schema, "allOf").is_empty() {
        return name.unwrap_or("object").to_owned();
    }
    let types = match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => return "any JSON".to_owned(),
    };
    let mut text = joined(types.into_iter().map(|one| plain(schemas, schema, one)));
    limits(schema, &mut text);
    text
}

/// Returns the description of one of a schema's types.
fn plain(schemas: Schemas<'_>, schema: &Value, one: &str) -> String {
    match (one, schema.get("items"), schema.get("additionalProperties")) {
        ("array", Some(items), _) => format!("list of {}", kind(schemas, items)),
        ("object", _, Some(values)) if values.is_object() => format!("object of {}", kind(schemas, values)),
        ("string", ..) => match schema.get("format").and_then(Value::as_str) {
            Some("date-time") => "time".to_owned(),
            Some("date" | "utc-day") => "UTC day".to_owned(),
            Some("uuid") => "UUID".to_owned(),
            _ => "string".to_owned(),
        },
        (other, ..) => other.to_owned(),
    }
}

/// Joins distinct names: `a, b or c`.
fn joined(names: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    match all.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn limits(schema: &Value, text: &mut String) {
    for (limit, shown) in [
        ("minimum", "at least"),
        ("maximum", "at most"),
        ("maxLength", "characters at most"),
        ("maxItems", "items at most"),
    ] {
        // Numbers are written as in the document.
        if let Some(number) = schema.get(limit).filter(|number| number.is_number()) {
            let _ = write!(text, ", {shown} {number}");
        }
    }
}
