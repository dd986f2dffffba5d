//! `/docs`: the API reference, rendered from the OpenAPI document.
//!
//! Every operation has its parameters, the fields of its request and its reply, an example of both, and a `curl`
//! command that can be pasted. Examples are generated from the schemas ([`example`]), so they are never outdated; a
//! test sends each of them to a server. Errors are the same for all routes and are listed once. A reply that several
//! operations have in common is described at the first of them; the others link to it.

pub mod example;
mod kind;

use std::collections::BTreeMap;

use askama::Template;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::Shell;
use kind::kind;

/// Renders the page of a document.
pub fn render(shell: &Shell<'_>, document: &Value) -> askama::Result<String> {
    let schemas = Schemas(document);
    let mut shown = Shown::default();
    let tags = list(document, "tags").iter().map(|tag| Tag::of(schemas, tag, shell.origin, &mut shown));
    let tags = tags.collect();
    let about = document.pointer("/info/description").and_then(Value::as_str).unwrap_or_default().to_owned();
    View { shell, about, tags, errors: errors(document) }.render()
}

#[derive(Template)]
#[template(path = "reference.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    about: String,
    tags: Vec<Tag>,
    errors: Vec<(String, String)>,
}

impl View<'_> {
    /// Returns a command that sends log records as an agent would.
    fn telemetry(&self) -> String {
        format!(
            "curl -s -X POST '{}/otlp/v1/logs' \\\n  -H \"Authorization: Bearer $KEY\" \\\n  -H 'Content-Type: application/json' \\\n  \
             --data-binary @examples/claude-code.jsonl",
            self.shell.origin
        )
    }
}

/// The schemas of a document.
#[derive(Clone, Copy)]
pub(crate) struct Schemas<'d>(&'d Value);

impl<'d> Schemas<'d> {
    /// Resolves a reference. Returns the schema, and its name if it has one.
    fn resolve(self, schema: &'d Value) -> (Option<&'d str>, &'d Value) {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let name = reference.and_then(|reference| reference.strip_prefix("#/components/schemas/"));
        let named = name.and_then(|name| Some((name, self.0.get("components")?.get("schemas")?.get(name)?)));
        named.map_or((None, schema), |(name, schema)| (Some(name), schema))
    }
}

/// The replies that the page has described so far: the name of the schema, and the operation.
#[derive(Default)]
struct Shown(BTreeMap<String, Link>);

/// A link to an operation on the page.
#[derive(Clone)]
struct Link {
    id: String,
    summary: String,
}

impl Shown {
    /// Returns the operation that has described a reply before. Returns `None` for the first one, and remembers it.
    fn first(&mut self, schema: Option<&str>, id: &str, summary: &str) -> Option<Link> {
        let schema = schema?;
        let known = self.0.get(schema).cloned();
        if known.is_none() {
            self.0.insert(schema.to_owned(), Link { id: id.to_owned(), summary: summary.to_owned() });
        }
        known
    }
}

/// A group of operations.
struct Tag {
    name: String,
    description: String,
    operations: Vec<Operation>,
}

impl Tag {
    fn of(schemas: Schemas<'_>, tag: &Value, origin: &str, shown: &mut Shown) -> Self {
        let name = string(tag, "name");
        let operations = operations(schemas.0).filter(|found| tag_of(found.2) == name);
        Self {
            name: name.to_owned(),
            description: string(tag, "description").to_owned(),
            operations: operations
                .map(|(path, method, described)| {
                    Operation::of(schemas, path, method, described, origin, shown)
                })
                .collect(),
        }
    }
}

/// Returns every operation of a document: path, method and description.
pub fn operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let paths = document.get("paths").and_then(Value::as_object).into_iter().flatten();
    paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().into_iter().flatten();
        methods.map(move |(method, described)| (path.as_str(), method.as_str(), described))
    })
}

fn tag_of(operation: &Value) -> &str {
    operation.pointer("/tags/0").and_then(Value::as_str).unwrap_or_default()
}

/// One operation.
struct Operation {
    id: String,
    method: String,
    path: String,
    summary: String,
    description: String,
    parameters: Vec<Field>,
    request: Vec<Field>,
    status: String,
    says: String,
    reply: Vec<Field>,
    reply_example: Option<String>,
    /// The operation that describes the same reply.
    same_reply: Option<Link>,
    /// The operation that describes the items of the list.
    same_items: Option<Link>,
    curl: String,
}

impl Operation {
    fn of(
        schemas: Schemas<'_>,
        path: &str,
        method: &str,
        described: &Value,
        origin: &str,
        shown: &mut Shown,
    ) -> Self {
        let parameters = list(described, "parameters");
        let body = example::body_schema(described);
        let (status, reply) = success(described);
        let content = reply.get("content").and_then(|content| content.get("application/json"));
        let shape = content.and_then(|content| content.get("schema"));
        let (id, summary) = (string(described, "operationId"), string(described, "summary"));
        let same_reply = shown.first(shape.and_then(|shape| schemas.resolve(shape).0), id, summary);
        let new_shape = shape.filter(|_| same_reply.is_none());
        let items = new_shape.and_then(|shape| item_of(schemas, shape));
        let same_items = items.and_then(|items| reader_of(schemas, items, id));
        Self {
            id: id.to_owned(),
            method: method.to_uppercase(),
            path: path.to_owned(),
            summary: summary.to_owned(),
            description: string(described, "description").to_owned(),
            parameters: parameters.iter().map(|parameter| Field::of_parameter(schemas, parameter)).collect(),
            request: body.map(|body| fields(schemas, body)).unwrap_or_default(),
            status: status.to_owned(),
            says: string(reply, "description").to_owned(),
            reply: new_shape.map(|shape| fields(schemas, shape)).unwrap_or_default(),
            reply_example: new_shape
                .filter(|_| same_items.is_none())
                .map(|shape| pretty(&example::of(schemas, shape, ""))),
            same_reply,
            same_items,
            curl: curl(schemas, path, method, described, origin),
        }
    }
}

/// Returns the name of the schema of a list's items.
fn item_of<'d>(schemas: Schemas<'d>, shape: &'d Value) -> Option<&'d str> {
    let items = schemas.resolve(shape).1.pointer("/properties/data/items")?;
    schemas.resolve(items).0
}

/// Returns another operation that replies with one such item.
fn reader_of(schemas: Schemas<'_>, items: &str, id: &str) -> Option<Link> {
    let mut others = operations(schemas.0).filter(|(.., described)| string(described, "operationId") != id);
    let (.., described) = others.find(|(.., described)| {
        let content = success(described).1.get("content").and_then(|content| content.get("application/json"));
        let shape = content.and_then(|content| content.get("schema"));
        shape.and_then(|shape| schemas.resolve(shape).0) == Some(items)
    })?;
    let text = |name: &str| string(described, name).to_owned();
    Some(Link { id: text("operationId"), summary: text("summary") })
}

/// Returns the status and the description of the success reply.
fn success(described: &Value) -> (&str, &Value) {
    let replies = described.get("responses").and_then(Value::as_object).into_iter().flatten();
    let mut good = replies.filter(|(status, _)| status.starts_with('2'));
    good.next().map_or(("", &Value::Null), |(status, reply)| (status.as_str(), reply))
}

/// Returns a `curl` command that can be pasted.
fn curl(schemas: Schemas<'_>, path: &str, method: &str, described: &Value, origin: &str) -> String {
    let method = if method == "get" { String::new() } else { format!(" -X {}", method.to_uppercase()) };
    let key = if path.starts_with("/v1/") { " \\\n  -H \"Authorization: Bearer $KEY\"" } else { "" };
    let address = example::address(schemas, path, described);
    let line = format!("curl -s{method} '{origin}{address}'{key}");
    let Some(body) = example::body_schema(described) else { return line };
    let body = example::of(schemas, body, "");
    format!("{line} \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'")
}

/// Formats JSON on several lines with minimal indentation, because the page has dozens of examples.
fn pretty(value: &Value) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(b" "));
    // Writing a JSON value cannot fail, and the result is UTF-8.
    let _ = value.serialize(&mut serializer);
    String::from_utf8(bytes).unwrap_or_default()
}

/// A field of an object, or a parameter.
struct Field {
    name: String,
    kind: String,
    required: bool,
    description: String,
}

impl Field {
    fn of_parameter(schemas: Schemas<'_>, parameter: &Value) -> Self {
        Self {
            name: string(parameter, "name").to_owned(),
            kind: parameter.get("schema").map(|schema| kind(schemas, schema)).unwrap_or_default(),
            required: parameter.get("required").and_then(Value::as_bool).unwrap_or_default(),
            description: string(parameter, "description").to_owned(),
        }
    }
}

/// Returns the fields of an object, including those of its parts.
fn fields(schemas: Schemas<'_>, schema: &Value) -> Vec<Field> {
    let (_, schema) = schemas.resolve(schema);
    let parts = list(schema, "allOf").iter().flat_map(|part| fields(schemas, part));
    let required = list(schema, "required");
    let own = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let own = own.map(|(name, field)| Field {
        name: name.clone(),
        kind: kind(schemas, field),
        required: required.iter().any(|known| known == name),
        description: described(schemas, field),
    });
    parts.chain(own).collect()
}

/// Returns the description of a field, or of the schema that it refers to.
fn described(schemas: Schemas<'_>, field: &Value) -> String {
    let own = string(field, "description");
    if !own.is_empty() {
        return own.to_owned();
    }
    let either = list(field, "oneOf").iter().chain(list(field, "anyOf"));
    let inner = either.chain([field]).map(|schema| schemas.resolve(schema).1);
    inner
        .map(|schema| string(schema, "description"))
        .find(|text| !text.is_empty())
        .unwrap_or_default()
        .to_owned()
}

/// Returns the errors of all routes: status and description. They are read from the first operation that needs a key.
fn errors(document: &Value) -> Vec<(String, String)> {
    let guarded = operations(document).find(|(path, _, _)| path.starts_with("/v1/"));
    let replies = guarded.and_then(|(_, _, described)| described.get("responses")?.as_object());
    let bad = replies.into_iter().flatten().filter(|(status, _)| !status.starts_with('2'));
    bad.map(|(status, reply)| (status.clone(), string(reply, "description").to_owned())).collect()
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn string<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Splits a text at backticks. Returns the parts, and whether each is between backticks.
fn marked(text: &str) -> Vec<(bool, &str)> {
    text.split('`').enumerate().map(|(index, part)| (index % 2 == 1, part)).collect()
}
