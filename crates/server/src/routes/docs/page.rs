//! The reference page: one HTML file without scripts, made from the OpenAPI document.

#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

use std::fmt::Write;

use serde_json::Value;

const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --accent: #3b6fd4; }
body { font: 16px/1.55 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
h1 { margin: .5rem 0; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); } h3 { font-size: 1rem; margin: 0; }
nav { display: flex; flex-wrap: wrap; gap: .4rem 1rem; } a { color: var(--accent); }
section { border: 1px solid var(--line); border-radius: .5rem; margin: 1rem 0; padding: .8rem 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .875rem; overflow-wrap: anywhere; }
pre { background: var(--soft); border-radius: .4rem; padding: .6rem; white-space: pre-wrap; }
.method { border-radius: .3rem; background: var(--accent); color: #fff; padding: .1rem .45rem; margin-right: .4rem; }
table { border-collapse: collapse; width: 100%; } td { border-top: 1px solid var(--line); padding: .3rem .5rem .3rem 0; vertical-align: top; }
td:first-child { white-space: nowrap; } summary { cursor: pointer; }
@media (max-width: 40rem) { tr { display: block; border-top: 1px solid var(--line); padding: .4rem 0; } td { display: block; border: 0; padding: 0; } }
";

/// The page of a document.
pub(super) fn render(document: &Value) -> String {
    let mut html = String::new();
    let info = &document["info"];
    let _ = write!(
        html,
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width, initial-scale=1'>\
         <title>Renown API</title><style>{STYLE}</style><h1>{} API</h1>",
        text(&info["title"])
    );
    for paragraph in info["description"].as_str().unwrap_or_default().split("\n\n") {
        let _ = write!(html, "<p>{}</p>", marked(paragraph));
    }
    html.push_str("<p>The same for machines: <a href=/openapi.json>openapi.json</a>.</p><nav>");
    let tags = document["tags"].as_array().map(Vec::as_slice).unwrap_or_default();
    for tag in tags {
        let _ = write!(html, "<a href='#{0}'>{0}</a>", text(&tag["name"]));
    }
    html.push_str("</nav>");
    for tag in tags {
        let _ =
            write!(html, "<h2 id='{0}'>{0}</h2><p>{1}</p>", text(&tag["name"]), text(&tag["description"]));
        for (path, method, operation) in operations(document, &tag["name"]) {
            section(&mut html, document, path, method, operation);
        }
    }
    html
}

/// The operations of a tag.
fn operations<'a>(
    document: &'a Value,
    tag: &'a Value,
) -> impl Iterator<Item = (&'a str, &'a str, &'a Value)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let each = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().into_iter().flatten();
        methods.map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
    });
    each.filter(move |(_, _, operation)| operation["tags"][0] == *tag)
}

fn section(html: &mut String, document: &Value, path: &str, method: &str, operation: &Value) {
    let _ = write!(
        html,
        "<section><h3><code><span class=method>{}</span>{}</code></h3><p><strong>{}.</strong> {}</p>",
        method.to_uppercase(),
        escaped(path),
        text(&operation["summary"]),
        marked(operation["description"].as_str().unwrap_or_default())
    );
    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !parameters.is_empty() {
        html.push_str("<p>Parameters</p><table>");
        for parameter in parameters {
            row(
                html,
                document,
                &parameter["name"],
                &parameter["schema"],
                parameter,
                parameter["required"] == true,
            );
        }
        html.push_str("</table>");
    }
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    if body.is_object() {
        html.push_str("<p>Request</p>");
        fields(html, document, body);
    }
    html.push_str("<p>Replies</p>");
    for (status, reply) in operation["responses"].as_object().into_iter().flatten() {
        let schema = &reply["content"]["application/json"]["schema"];
        let _ = write!(
            html,
            "<details><summary><code>{status}</code> {}</summary>",
            marked(reply["description"].as_str().unwrap_or_default())
        );
        if schema.is_object() {
            fields(html, document, schema);
        }
        html.push_str("</details>");
    }
    html.push_str("</section>");
}

/// What a schema stands for.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/components/schemas/"));
    name.map_or(schema, |name| &document["components"]["schemas"][name])
}

fn fields(html: &mut String, document: &Value, schema: &Value) {
    let schema = resolved(document, schema);
    html.push_str("<table>");
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let required =
            schema["required"].as_array().is_some_and(|required| required.iter().any(|known| known == name));
        row(html, document, &Value::from(name.as_str()), field, field, required);
    }
    html.push_str("</table>");
}

fn row(html: &mut String, document: &Value, name: &Value, schema: &Value, described: &Value, required: bool) {
    let _ = write!(
        html,
        "<tr><td><code>{}</code>{}<td><code>{}</code><td>{}",
        text(name),
        if required { "" } else { " ?" },
        escaped(&kind(document, schema)),
        marked(described["description"].as_str().unwrap_or_default())
    );
    let inner = if schema["items"].is_object() { &schema["items"] } else { schema };
    if schema["$ref"].is_string() || inner["$ref"].is_string() {
        fields_inside(html, document, inner);
    }
}

/// The fields of an object inside another, one level deep as the document has them.
fn fields_inside(html: &mut String, document: &Value, schema: &Value) {
    if resolved(document, schema)["properties"].is_object() {
        html.push_str("<details><summary>fields</summary>");
        fields(html, document, schema);
        html.push_str("</details>");
    }
}

/// The type of a schema and its limits, in few words.
fn kind(document: &Value, schema: &Value) -> String {
    let schema = resolved(document, schema);
    if let Some(names) = schema["enum"].as_array() {
        return names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ");
    }
    let mut kind = match &schema["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "any".to_owned(),
    };
    for (limit, shown) in [
        ("minimum", "≥"),
        ("maximum", "≤"),
        ("minLength", "length ≥"),
        ("maxLength", "length ≤"),
        ("maxItems", "items ≤"),
    ] {
        if let Some(number) = schema[limit].as_f64() {
            let _ = write!(kind, ", {shown} {number}");
        }
    }
    kind
}

fn text(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\'', "&#39;")
        .replace('"', "&quot;")
}

/// Escaped, with what stands between backticks as code.
fn marked(text: &str) -> String {
    let mut html = String::new();
    for (index, part) in text.split('`').enumerate() {
        let part = escaped(part);
        let _ = if index % 2 == 1 { write!(html, "<code>{part}</code>") } else { write!(html, "{part}") };
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_on_the_page_and_nothing_is_left_unescaped() {
        let document = serde_json::to_value(crate::routes::openapi()).unwrap();
        let html = render(&document);
        let mut count = 0;
        for (path, methods) in document["paths"].as_object().unwrap() {
            for method in methods.as_object().unwrap().keys() {
                let heading = format!("{}</span>{path}</code>", method.to_uppercase());
                assert!(html.contains(&heading), "{heading}");
                count += 1;
            }
        }
        assert!(count >= 15, "{count}");
        assert_eq!(marked("a `<b>` & c"), "a <code>&lt;b&gt;</code> &amp; c");
    }
}
