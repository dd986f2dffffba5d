//! The parts of an OpenAPI document that a client needs.
//!
//! Only constructs that our server uses are understood. Anything else is an error, never a type that is too wide.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};

/// The operations and types of the document.
#[derive(Debug)]
pub(super) struct Api {
    pub(super) operations: Vec<Operation>,
    pub(super) types: Vec<Type>,
}

/// A method at a path.
#[derive(Debug)]
pub(super) struct Operation {
    /// In snake case.
    pub(super) name: String,
    /// In capitals.
    pub(super) method: String,
    pub(super) path: String,
    pub(super) summary: String,
    pub(super) description: String,
    /// In the order of the path.
    pub(super) in_path: Vec<Field>,
    pub(super) query: Vec<Field>,
    pub(super) body: Option<Body>,
    pub(super) reply: Reply,
    /// For a list that is read page by page: the field of the reply with the items, and their type.
    pub(super) items: Option<(String, Shape)>,
}

/// The request body.
#[derive(Debug)]
pub(super) struct Body {
    /// The name of its type.
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
}

/// The body of a successful reply.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Json(Shape),
    Text,
    /// Server-sent events.
    Events,
    Nothing,
}

/// A type with a name.
#[derive(Debug)]
pub(super) struct Type {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) definition: Definition,
}

/// The type behind a name.
#[derive(Debug)]
pub(super) enum Definition {
    /// The required fields come first.
    Object(Vec<Field>),
    Alias(Shape),
}

/// A field of an object, or a parameter.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) shape: Shape,
    pub(super) required: bool,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Any,
    Null,
    Text,
    Whole,
    Number,
    Flag,
    Words(Vec<String>),
    List(Box<Shape>),
    Map(Box<Shape>),
    Named(String),
    Either(Vec<Shape>),
}

impl Api {
    /// Reads a document.
    pub(super) fn read(document: &Value) -> Result<Self> {
        let schemas = object(document, "/components/schemas")?;
        let types: Vec<Type> =
            schemas.iter().map(|(name, schema)| Type::read(name, schema, schemas)).collect::<Result<_>>()?;
        let mut operations = Vec::new();
        for (path, methods) in object(document, "/paths")? {
            for (method, operation) in methods.as_object().context("methods of a path")? {
                let read = Operation::read(path, method, operation, &types)
                    .with_context(|| format!("{method} {path}"))?;
                operations.extend(read);
            }
        }
        let mut names = BTreeSet::new();
        let twice = operations.iter().find(|operation| !names.insert(operation.name.clone()));
        ensure!(
            twice.is_none(),
            "two operations are called {}",
            twice.map_or("", |operation| &operation.name)
        );
        Ok(Self { operations, types })
    }
}

impl Operation {
    /// Returns `None` for a page: a client does not read pages.
    fn read(path: &str, method: &str, operation: &Value, types: &[Type]) -> Result<Option<Self>> {
        let Some(reply) = Reply::read(object(operation, "/responses")?)? else { return Ok(None) };
        let parameters = operation.get("parameters").and_then(Value::as_array).into_iter().flatten();
        let (mut in_path, mut query) = (Vec::new(), Vec::new());
        for parameter in parameters {
            let field = Field {
                name: text(parameter, "name").context("a parameter without a name")?,
                description: text(parameter, "description").unwrap_or_default(),
                shape: Shape::read(parameter.get("schema").context("a parameter without a schema")?)?,
                required: parameter.get("required") == Some(&true.into()),
            };
            match parameter.get("in").and_then(Value::as_str) {
                Some("path") => in_path.push(field),
                Some("query") => query.push(field),
                other => bail!("a parameter in {other:?}"),
            }
        }
        in_path.sort_by_key(|field| path.find(&format!("{{{}}}", field.name)));
        let schema = operation.pointer("/requestBody/content/application~1json/schema");
        let body = schema.map(|schema| Body::read(schema, types)).transpose()?;
        let items =
            if query.iter().any(|field| field.name == "cursor") { items(&reply, types) } else { None };
        Ok(Some(Self {
            name: text(operation, "operationId").context("no operationId")?,
            method: method.to_uppercase(),
            path: path.to_owned(),
            summary: text(operation, "summary").context("no summary")?,
            description: text(operation, "description").unwrap_or_default(),
            in_path,
            query,
            body,
            reply,
            items,
        }))
    }
}

/// Returns the only list in a page.
fn items(reply: &Reply, types: &[Type]) -> Option<(String, Shape)> {
    let Reply::Json(Shape::Named(name)) = reply else { return None };
    let mut lists = fields(types, name)?.iter().filter_map(|field| {
        let Shape::List(item) = &field.shape else { return None };
        Some((field.name.clone(), (**item).clone()))
    });
    lists.next().filter(|_| lists.next().is_none())
}

fn fields<'t>(types: &'t [Type], name: &str) -> Option<&'t [Field]> {
    let found = types.iter().find(|found| found.name == name)?;
    match &found.definition {
        Definition::Object(fields) => Some(fields),
        Definition::Alias(_) => None,
    }
}

impl Body {
    fn read(schema: &Value, types: &[Type]) -> Result<Self> {
        let Shape::Named(name) = Shape::read(schema)? else { bail!("a body that is no type of its own") };
        let fields = fields(types, &name).context("a body that is no object")?.to_vec();
        Ok(Self { name, fields })
    }
}

impl Reply {
    /// Reads the first 2xx reply; if there are several, they have the same shape. Returns `None` for a page.
    fn read(responses: &Map<String, Value>) -> Result<Option<Self>> {
        let good = responses.iter().find(|(status, _)| status.starts_with('2'));
        let (_, good) = good.context("no reply of 2xx")?;
        let Some(content) = good.get("content").and_then(Value::as_object) else {
            return Ok(Some(Self::Nothing));
        };
        let (kind, body) = content.iter().next().context("content of no kind")?;
        Ok(Some(match kind.as_str() {
            "application/json" => Self::Json(Shape::read(body.get("schema").context("no schema")?)?),
            "text/event-stream" => Self::Events,
            "text/plain" => Self::Text,
            "text/html" => return Ok(None),
            other => bail!("a reply of {other}"),
        }))
    }
}

impl Type {
    fn read(name: &str, schema: &Value, schemas: &Map<String, Value>) -> Result<Self> {
        let context = || format!("schema {name}");
        let parts = schema.get("allOf").and_then(Value::as_array);
        let definition = if let Some(parts) = parts {
            let fields = parts.iter().map(|part| part_fields(part, schemas)).collect::<Result<Vec<_>>>();
            // Required fields come first, whichever part they are from.
            let (first, rest): (Vec<_>, Vec<_>) =
                fields.with_context(context)?.into_iter().flatten().partition(|field| field.required);
            Definition::Object([first, rest].concat())
        } else if schema.get("properties").is_some() {
            Definition::Object(object_fields(schema).with_context(context)?)
        } else {
            Definition::Alias(Shape::read(schema).with_context(context)?)
        };
        let description = text(schema, "description").unwrap_or_default();
        Ok(Self { name: name.to_owned(), description, definition })
    }
}

/// Returns the fields of a part of an object: of another type, or its own.
fn part_fields(part: &Value, schemas: &Map<String, Value>) -> Result<Vec<Field>> {
    let name = part.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    object_fields(name.map_or(Some(part), |name| schemas.get(name)).context("a part that is not there")?)
}

fn object_fields(schema: &Value) -> Result<Vec<Field>> {
    let properties = object(schema, "/properties")?;
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    let field = |name: &str, schema: &Value| -> Result<Field> {
        Ok(Field {
            name: name.to_owned(),
            description: described(schema),
            shape: Shape::read(schema).with_context(|| format!("field {name}"))?,
            required: required.contains(&name),
        })
    };
    // The document sorts properties by name; required fields keep the order in which the server lists them.
    let first = required.iter().filter_map(|name| Some((*name, properties.get(*name)?)));
    let rest = properties.iter().map(|(name, schema)| (name.as_str(), schema));
    let rest = rest.filter(|(name, _)| !required.contains(name));
    first.chain(rest).map(|(name, schema)| field(name, schema)).collect()
}

/// Returns the description of a field. If the field may be null, it is inside of a choice.
fn described(schema: &Value) -> String {
    let inside = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let said = text(schema, "description");
    said.or_else(|| inside.into_iter().find_map(|schema| text(schema, "description"))).unwrap_or_default()
}

impl Shape {
    fn read(schema: &Value) -> Result<Self> {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let name = reference.rsplit('/').next().unwrap_or_default();
            return Ok(Self::Named(name.to_owned()));
        }
        if let Some(choices) = schema.get("oneOf").or(schema.get("anyOf")).and_then(Value::as_array) {
            return Ok(Self::Either(choices.iter().map(Self::read).collect::<Result<_>>()?));
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            let words = words.iter().map(|word| Some(word.as_str()?.to_owned()));
            return Ok(Self::Words(words.collect::<Option<_>>().context("an enum that is not of texts")?));
        }
        ensure!(schema.get("allOf").is_none(), "parts outside of a type with a name");
        match schema.get("type") {
            None => Ok(Self::Any),
            Some(Value::String(kind)) => Self::of_kind(kind, schema),
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().map(|kind| Self::of_kind(kind.as_str().unwrap_or_default(), schema));
                Ok(Self::Either(kinds.collect::<Result<_>>()?))
            }
            Some(other) => bail!("a type {other}"),
        }
    }

    fn of_kind(kind: &str, schema: &Value) -> Result<Self> {
        let inside = |name: &str| schema.get(name).map_or(Ok(Self::Any), Self::read).map(Box::new);
        Ok(match kind {
            "null" => Self::Null,
            "string" => Self::Text,
            "integer" => Self::Whole,
            "number" => Self::Number,
            "boolean" => Self::Flag,
            "array" => Self::List(inside("items")?),
            "object" if schema.get("properties").is_none() => Self::Map(inside("additionalProperties")?),
            other => bail!("a type {other:?}"),
        })
    }

    /// Returns whether a value may be null.
    pub(super) fn is_nullable(&self) -> bool {
        match self {
            Self::Any | Self::Null => true,
            Self::Either(choices) => choices.iter().any(Self::is_nullable),
            Self::Text
            | Self::Whole
            | Self::Number
            | Self::Flag
            | Self::Words(_)
            | Self::List(_)
            | Self::Map(_)
            | Self::Named(_) => false,
        }
    }
}

fn text(value: &Value, name: &str) -> Option<String> {
    Some(value.get(name)?.as_str()?.trim().to_owned())
}

fn object<'v>(value: &'v Value, pointer: &str) -> Result<&'v Map<String, Value>> {
    value.pointer(pointer).and_then(Value::as_object).with_context(|| format!("no {pointer}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shapes() {
        let list = |item| Shape::List(Box::new(item));
        for (schema, expected) in [
            (json!({}), Shape::Any),
            (json!({"type": "integer", "format": "int32"}), Shape::Whole),
            (json!({"type": ["string", "null"]}), Shape::Either(vec![Shape::Text, Shape::Null])),
            (json!({"$ref": "#/components/schemas/A"}), Shape::Named("A".to_owned())),
            (json!({"type": "array", "items": {"type": "boolean"}}), list(Shape::Flag)),
            (json!({"type": "object", "additionalProperties": {}}), Shape::Map(Box::new(Shape::Any))),
            (
                json!({"type": "string", "enum": ["a", "b"]}),
                Shape::Words(vec!["a".to_owned(), "b".to_owned()]),
            ),
        ] {
            assert_eq!(Shape::read(&schema).unwrap(), expected, "{schema}");
        }
        assert!(Shape::read(&json!({"type": "tuple"})).is_err());
        assert!(Shape::read(&json!({"allOf": []})).is_err());
        assert!(Shape::read(&json!({"type": "object", "properties": {}})).is_err(), "it should have a name");
    }

    #[test]
    fn names_are_given_once() {
        let operation = json!({"operationId": "a", "summary": "A", "responses": {"204": {}}});
        let document = |paths: Value| json!({"paths": paths, "components": {"schemas": {}}});
        assert!(Api::read(&document(json!({"/a": {"get": operation}}))).is_ok());
        let error = Api::read(&document(json!({"/a": {"get": operation}, "/b": {"get": operation}})));
        assert_eq!(error.unwrap_err().to_string(), "two operations are called a");
    }

    #[test]
    fn a_list_with_a_cursor_is_read_page_by_page() {
        let document = json!({
            "components": {"schemas": {"Page": {"type": "object", "required": ["data"], "properties": {
                "data": {"type": "array", "items": {"type": "string"}}, "next_cursor": {"type": "string"}}}}},
            "paths": {"/a": {"get": {"operationId": "list_a", "summary": "A",
                "parameters": [{"name": "cursor", "in": "query", "schema": {"type": "string"}}],
                "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/x/Page"}}}}}}}}});
        let api = Api::read(&document).unwrap();
        assert_eq!(api.operations[0].items, Some(("data".to_owned(), Shape::Text)));
    }

    #[test]
    fn an_object_of_parts_has_the_fields_of_all() {
        let part =
            json!({"type": "object", "required": ["a"], "properties": {"a": {}, "b": {"type": "string"}}});
        let schemas = Map::from_iter([("Part".to_owned(), part)]);
        let own = json!({"type": "object", "required": ["c"], "properties": {"c": {"type": "boolean"}}});
        let whole = json!({"allOf": [{"$ref": "#/components/schemas/Part"}, own]});
        let Definition::Object(fields) = Type::read("Whole", &whole, &schemas).unwrap().definition else {
            panic!("it is an object")
        };
        assert_eq!(fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(), ["a", "c", "b"]);
    }
}
