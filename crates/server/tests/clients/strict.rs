//! No part of a request is silently ignored: documented parameters and fields are accepted, all others are refused.

#![expect(clippy::indexing_slicing, reason = "an absent member of a JSON value is null")]

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::running::{Running, Setup, start_with};

/// Routes whose clients were written for another API. They accept unknown fields, and list them in `warnings`.
const LENIENT: [&str; 3] = ["/v1/evaluate", "/v1/ingest", "/v1/runs"];

/// Lists that keep the shape of the API they are compatible with.
const OWN_SHAPE: [&str; 2] = ["list_agents", "list_events"];

/// One operation of the document.
struct Operation {
    method: String,
    /// The path in the document.
    template: String,
    /// The path with a value for each parameter.
    path: String,
    described: Value,
}

impl Operation {
    fn id(&self) -> &str {
        self.described["operationId"].as_str().unwrap()
    }

    fn is_guarded(&self) -> bool {
        self.template.starts_with("/v1/")
    }

    fn parameters(&self) -> BTreeSet<&str> {
        let parameters = self.described["parameters"].as_array().into_iter().flatten();
        let in_query = parameters.filter(|parameter| parameter["in"] == "query");
        in_query.map(|parameter| parameter["name"].as_str().unwrap()).collect()
    }
}

fn document() -> Value {
    serde_json::to_value(renown_server::openapi()).unwrap()
}

fn operations(document: &Value) -> Vec<Operation> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(template, item): (&String, &Value)| {
        let path = template.replace("{identity_id}", "6f2c1a3e-6a52-5c1b-8f3e-2b1d0c9a8e7f");
        let path = path.split('/').map(|part| if part.starts_with('{') { "x" } else { part });
        let path = path.collect::<Vec<_>>().join("/");
        let methods = item.as_object().unwrap().clone().into_iter();
        let operation = |(method, described): (String, Value)| Operation {
            method: method.to_uppercase(),
            template: template.clone(),
            path: path.clone(),
            described,
        };
        methods.map(operation).collect::<Vec<_>>()
    };
    let operations: Vec<Operation> = paths.iter().flat_map(of_path).collect();
    assert!(operations.len() > 30, "{}", operations.len());
    operations
}

/// Returns the names that an error lists: `x: unknown field, expected one of a, b; did you mean a?`
fn expected(error: &str, what: &str) -> Option<BTreeSet<String>> {
    let (_, list) = error.split_once(&format!(": unknown {what}, expected "))?;
    let list = list.split("; did you mean ").next().unwrap();
    let names = list.strip_prefix("one of ").unwrap_or(list).split(", ");
    Some(names.filter(|name| *name != "none").map(str::to_owned).collect())
}

async fn error(server: &Running, operation: &Operation, query: &str, body: &str) -> (u16, String) {
    let path = format!("{}{query}", operation.path);
    let (status, reply) = server.ask(&operation.method, &path, "", body).await;
    (status, reply["error"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn every_operation_accepts_exactly_its_documented_parameters() {
    let server = start_with(Setup::default()).await;
    let document = document();
    for operation in operations(&document) {
        let (id, parameters) = (operation.id(), operation.parameters());
        let (status, refused) = error(&server, &operation, "?unknown_parameter=1", "").await;
        if !operation.is_guarded() {
            assert_eq!(status, 200, "{id}: monitors append parameters of their own");
            continue;
        }
        assert_eq!(status, 400, "{id}: {refused}");
        let known = expected(&refused, "parameter").unwrap_or_else(|| panic!("{id}: {refused}"));
        assert_eq!(known, parameters.iter().map(|name| (*name).to_owned()).collect(), "{id}");
        for name in parameters {
            let (_, refused) = error(&server, &operation, &format!("?{name}="), "").await;
            assert!(!refused.contains("unknown parameter"), "{id}: {refused}");
        }
        // A handler that reads an undocumented parameter panics here. The stream never ends, so it is not called.
        if id != "stream" {
            let (status, refused) = error(&server, &operation, "", "{}").await;
            assert!(status < 500, "{id}: {refused}");
        }
    }
}

/// A step on the path to a value in a body.
#[derive(Clone)]
enum Step {
    Field(String),
    Item,
}

/// Resolves the reference of a schema.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let alternatives = schema["oneOf"].as_array().into_iter().flatten();
    let schema = alternatives.chain([schema]).find(|schema| schema["$ref"].is_string()).unwrap_or(schema);
    let name = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/components/schemas/"));
    name.map_or(schema, |name| &document["components"]["schemas"][name])
}

/// Finds every object with named fields in a schema, with the path to it.
fn objects<'a>(
    document: &'a Value,
    schema: &'a Value,
    path: &[Step],
    found: &mut Vec<(Vec<Step>, &'a Value)>,
) {
    let schema = resolved(document, schema);
    if schema["items"].is_object() {
        objects(document, &schema["items"], &[path, &[Step::Item]].concat(), found);
    }
    let Some(properties) = schema["properties"].as_object() else { return };
    found.push((path.to_vec(), schema));
    for (name, property) in properties {
        objects(document, property, &[path, &[Step::Field(name.clone())]].concat(), found);
    }
}

/// Builds a body with an unknown field at the end of a path.
fn body(path: &[Step]) -> Value {
    let wrap = |inside: Value, step: &Step| match step {
        Step::Item => json!([inside]),
        Step::Field(name) => Value::Object(Map::from_iter([(name.clone(), inside)])),
    };
    path.iter().rev().fold(json!({"unknown_field": 1}), wrap)
}

#[tokio::test]
async fn every_body_accepts_exactly_its_documented_fields() {
    let server = start_with(Setup::default()).await;
    let document = document();
    let mut refusing = BTreeSet::new();
    for operation in operations(&document) {
        let schema = &operation.described["requestBody"]["content"]["application/json"]["schema"];
        if schema.is_null() {
            continue;
        }
        let id = operation.id();
        let mut found = Vec::new();
        objects(&document, schema, &[], &mut found);
        for (path, schema) in found {
            let body = body(&path).to_string();
            let (status, refused) = error(&server, &operation, "", &body).await;
            let strict = expected(&refused, "field");
            if LENIENT.contains(&operation.template.as_str()) {
                assert_eq!((strict, &schema["additionalProperties"]), (None, &Value::Null), "{id}: {body}");
                continue;
            }
            let fields = schema["properties"].as_object().unwrap().keys().cloned().collect();
            assert_eq!((status, strict), (400, Some(fields)), "{id}: {body}: {refused}");
            assert_eq!(schema["additionalProperties"], false, "{id}: {body}");
            refusing.insert(id.to_owned());
        }
    }
    let wanted = [
        "add_agent",
        "add_reputation_events",
        "add_signals",
        "create_eval_run",
        "create_key",
        "create_schedule",
        "publish_agent",
        "update_schedule",
        "update_settings",
    ];
    assert_eq!(refusing, wanted.map(str::to_owned).into());
}

#[test]
fn every_list_has_one_shape() {
    let document = document();
    let mut lists = 0;
    for operation in operations(&document).iter().filter(|operation| operation.id().starts_with("list_")) {
        let reply = &operation.described["responses"]["200"]["content"]["application/json"]["schema"];
        let fields = resolved(&document, reply)["properties"].as_object().unwrap();
        let fields: BTreeSet<&str> = fields.keys().map(String::as_str).collect();
        let is_page = fields == ["data", "next_cursor"].into();
        assert_eq!(is_page, !OWN_SHAPE.contains(&operation.id()), "{}: {fields:?}", operation.id());
        lists += 1;
    }
    assert_eq!(lists, 12);
}
