//! The Python client: one `TypedDict` per schema, and each operation twice, for `Client` and `AsyncClient`.
//!
//! Replies are plain dictionaries with types, so that a new field in a reply breaks no client. The fields of a body are
//! keyword arguments. Optional ones are `None` by default: for the API, null means absent.

use super::model::{Api, Definition, Field, Operation, Reply, Shape, Type};
use super::text::{sentence, wrap};

const HEAD: &str = "\
\"\"\"The API of a server, made by `cargo xtask sdk` from its OpenAPI document. Do not edit it.\"\"\"

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal, TypeAlias, TypedDict

from ._http import AsyncHttp, Http, Request, StreamEvent, path

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired
";

const KEYWORDS: [&str; 9] = ["as", "class", "def", "from", "global", "in", "import", "is", "pass"];

/// The whole file.
pub(super) fn client(api: &Api) -> String {
    let mut file = HEAD.to_owned();
    let (aliases, objects): (Vec<&Type>, Vec<&Type>) =
        api.types.iter().partition(|found| matches!(found.definition, Definition::Alias(_)));
    for found in aliases.into_iter().chain(objects) {
        file += &type_text(found);
    }
    for client in [SYNC, ASYNC] {
        file += &client.head();
        for operation in &api.operations {
            file += &client.method(operation);
            file += &client.pages(operation).unwrap_or_default();
        }
    }
    file
}

fn type_text(found: &Type) -> String {
    let Type { name, description, definition } = found;
    match definition {
        Definition::Alias(shape) => {
            let quote = if matches!(shape, Shape::Either(_)) { "\"" } else { "" };
            let shape = annotation(shape);
            format!("\n{name}: TypeAlias = {quote}{shape}{quote}\n{}", docs(description, ""))
        }
        // A Python keyword cannot be a field of a class.
        Definition::Object(fields) if fields.iter().any(|field| is_keyword(&field.name)) => {
            let field = |field: &Field| format!("\"{}\": \"{}\"", field.name, field_annotation(field));
            let fields: Vec<String> = fields.iter().map(field).collect();
            let docs = docs(description, "");
            format!("\n{name} = TypedDict(\"{name}\", {{{}}})\n{docs}", fields.join(", "))
        }
        Definition::Object(fields) => {
            let field = |field: &Field| {
                format!(
                    "    {}: {}\n{}",
                    field.name,
                    field_annotation(field),
                    docs(&field.description, "    ")
                )
            };
            let fields: String = fields.iter().map(field).collect();
            format!("\n\nclass {name}(TypedDict):\n{}\n{fields}", docs(description, "    "))
        }
    }
}

fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// Returns the name of an argument. A Python keyword gets an underscore, as usual.
fn argument(name: &str) -> String {
    if is_keyword(name) { format!("{name}_") } else { name.to_owned() }
}

fn field_annotation(field: &Field) -> String {
    let shape = annotation(&field.shape);
    if field.required { shape } else { format!("NotRequired[{shape}]") }
}

fn annotation(shape: &Shape) -> String {
    match shape {
        Shape::Any => "Any".to_owned(),
        Shape::Null => "None".to_owned(),
        Shape::Text => "str".to_owned(),
        Shape::Whole => "int".to_owned(),
        Shape::Number => "float".to_owned(),
        Shape::Flag => "bool".to_owned(),
        Shape::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        Shape::List(item) => format!("list[{}]", annotation(item)),
        Shape::Map(value) => format!("dict[str, {}]", annotation(value)),
        Shape::Named(name) => name.clone(),
        Shape::Either(choices) => choices.iter().map(annotation).collect::<Vec<_>>().join(" | "),
    }
}

/// Returns a docstring, or an empty text without a description.
fn docs(text: &str, indent: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let text = text.replace('\\', "\\\\");
    let lines = wrap(&format!("\"\"\"{text}"), indent);
    if let [line] = lines.as_slice() {
        format!("{line}\"\"\"\n")
    } else {
        format!("{}\n{indent}\"\"\"\n", lines.join("\n"))
    }
}

/// One of the two clients.
struct Flavour {
    name: &'static str,
    base: &'static str,
    about: &'static str,
    define: &'static str,
    wait: &'static str,
    iterator: &'static str,
}

const SYNC: Flavour = Flavour {
    name: "Client",
    base: "Http",
    about: "Every route of a server; each call waits for its reply.",
    define: "def",
    wait: "",
    iterator: "Iterator",
};

const ASYNC: Flavour = Flavour {
    name: "AsyncClient",
    base: "AsyncHttp",
    about: "Every route of a server, for `async` code.",
    define: "async def",
    wait: "await ",
    iterator: "AsyncIterator",
};

impl Flavour {
    fn head(&self) -> String {
        format!("\n\nclass {}({}):\n    \"\"\"{}\"\"\"\n", self.name, self.base, self.about)
    }

    fn method(&self, operation: &Operation) -> String {
        let request = request(operation, &operation.query);
        let (define, reply, body) = match &operation.reply {
            Reply::Events => {
                let body = format!(
                    "        return self._events(\n            {request},\n            timeout,\n        )\n"
                );
                ("def", format!("{}[StreamEvent]", self.iterator), body)
            }
            Reply::Nothing => (
                self.define,
                "None".to_owned(),
                format!("        {}self._send({request}, timeout)\n", self.wait),
            ),
            Reply::Json(_) | Reply::Text => {
                let shape = match &operation.reply {
                    Reply::Json(shape) => annotation(shape),
                    Reply::Text | Reply::Events | Reply::Nothing => "str".to_owned(),
                };
                let body = format!(
                    "        reply: {shape} = {}self._send(\n            {request},\n            timeout,\n        )\n        return reply\n",
                    self.wait
                );
                (self.define, shape, body)
            }
        };
        let signature = signature(operation, &operation.query);
        let docs = method_docs(operation, &operation.query);
        format!("\n    {define} {}({signature}) -> {reply}:\n{docs}{body}", operation.name)
    }

    /// Returns the iterator over all items of a list, or `None` if the operation is not a list.
    fn pages(&self, operation: &Operation) -> Option<String> {
        let (field, item) = operation.items.as_ref()?;
        // The iterator manages the cursor.
        let is_place = |field: &&Field| matches!(field.name.as_str(), "cursor" | "offset");
        let query: Vec<Field> = operation.query.iter().filter(|field| !is_place(field)).cloned().collect();
        let name = operation.name.strip_prefix("list_").unwrap_or(&operation.name);
        // The iterator yields everything; the `limit` of the API is its page size.
        let renamed: Vec<Field> = query.iter().cloned().map(page_size).collect();
        let request = request(operation, &query).replacen("\"limit\": limit", "\"limit\": page_size", 1);
        let signature = signature(operation, &renamed);
        let docs = method_docs(operation, &renamed).replacen(
            &sentence(&operation.summary),
            &format!("{} Page after page is read as they are used.", sentence(&operation.summary)),
            1,
        );
        let item = annotation(item);
        let iterator = self.iterator;
        Some(format!(
            "\n    def iter_{name}({signature}) -> {iterator}[{item}]:\n{docs}        return self._pages(\n            {request},\n            \"{field}\",\n            timeout,\n        )\n"
        ))
    }
}

/// Returns the name of a query field in an iterator over pages.
fn page_size(field: Field) -> Field {
    if field.name != "limit" {
        return field;
    }
    let description = "How many are read at a time; all are given".to_owned();
    Field { name: "page_size".to_owned(), description, ..field }
}

fn signature(operation: &Operation, query: &[Field]) -> String {
    let mut lines = vec!["self".to_owned()];
    let given = |field: &Field| format!("{}: {}", argument(&field.name), annotation(&field.shape));
    let optional = |field: &Field| {
        let null = if field.shape.is_nullable() { "" } else { " | None" };
        format!("{}{null} = None", given(field))
    };
    lines.extend(operation.in_path.iter().map(given));
    lines.push("*".to_owned());
    let body = operation.body.iter().flat_map(|body| &body.fields);
    let (required, rest): (Vec<&Field>, Vec<&Field>) = body.chain(query).partition(|field| field.required);
    lines.extend(required.into_iter().map(given));
    lines.extend(rest.into_iter().map(optional));
    if operation.method == "POST" {
        lines.push("idempotency_key: str | None = None".to_owned());
    }
    lines.push("timeout: float | None = None".to_owned());
    format!("\n        {},\n    ", lines.join(",\n        "))
}

/// Returns the call that sends the request.
fn request(operation: &Operation, query: &[Field]) -> String {
    let mut parts = vec![format!("\"{}\"", operation.method)];
    if operation.in_path.is_empty() {
        parts.push(format!("\"{}\"", operation.path));
    } else {
        let values: Vec<String> = operation.in_path.iter().map(|field| argument(&field.name)).collect();
        parts.push(format!("path(\"{}\", {})", operation.path, values.join(", ")));
    }
    let entries = |fields: &mut dyn Iterator<Item = &Field>| {
        let entry = |field: &Field| format!("\"{}\": {}", field.name, argument(&field.name));
        format!("{{{}}}", fields.map(entry).collect::<Vec<_>>().join(", "))
    };
    if !query.is_empty() {
        parts.push(format!("query={}", entries(&mut query.iter())));
    }
    if let Some(body) = &operation.body {
        parts.push(format!("body={}", entries(&mut body.fields.iter().filter(|field| field.required))));
        if body.fields.iter().any(|field| !field.required) {
            let optional = entries(&mut body.fields.iter().filter(|field| !field.required));
            parts.push(format!("optional={optional}"));
        }
    }
    if operation.method == "POST" {
        parts.push("idempotency_key=idempotency_key".to_owned());
    }
    if operation.reply == Reply::Text {
        parts.push("text=True".to_owned());
    }
    format!("Request({})", parts.join(", "))
}

fn method_docs(operation: &Operation, query: &[Field]) -> String {
    let indent = "        ";
    let mut text = sentence(&operation.summary);
    if !operation.description.is_empty() {
        text += "\n\n";
        text += &operation.description;
    }
    let body = operation.body.iter().flat_map(|body| &body.fields);
    let fields: Vec<&Field> = operation
        .in_path
        .iter()
        .chain(body)
        .chain(query)
        .filter(|field| !field.description.is_empty())
        .collect();
    if fields.is_empty() {
        return docs(&text, indent);
    }
    let mut lines = wrap(&format!("\"\"\"{}", text.replace('\\', "\\\\")), indent);
    lines.push(String::new());
    for field in fields {
        let said = format!(":param {}: {}", argument(&field.name), field.description.replace('\\', "\\\\"));
        lines.extend(wrap(&said, indent));
    }
    format!("{}\n{indent}\"\"\"\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, shape: Shape, required: bool) -> Field {
        Field { name: name.to_owned(), description: String::new(), shape, required }
    }

    fn object(fields: Vec<Field>) -> Type {
        Type {
            name: "T".to_owned(),
            description: "About.".to_owned(),
            definition: Definition::Object(fields),
        }
    }

    #[test]
    fn a_keyword_is_no_field_of_a_class() {
        let named = |name| object(vec![field(name, Shape::Whole, true), field("b", Shape::Text, false)]);
        assert_eq!(
            type_text(&named("a")),
            "\n\nclass T(TypedDict):\n    \"\"\"About.\"\"\"\n\n    a: int\n    b: NotRequired[str]\n"
        );
        assert_eq!(
            type_text(&named("pass")),
            "\nT = TypedDict(\"T\", {\"pass\": \"int\", \"b\": \"NotRequired[str]\"})\n\"\"\"About.\"\"\"\n"
        );
        assert_eq!((argument("from"), argument("q")), ("from_".to_owned(), "q".to_owned()));
    }

    #[test]
    fn annotations() {
        let either = Shape::Either(vec![Shape::List(Box::new(Shape::Number)), Shape::Null]);
        for (shape, expected) in [
            (Shape::Map(Box::new(Shape::Any)), "dict[str, Any]"),
            (either, "list[float] | None"),
            (Shape::Words(vec!["a".to_owned(), "b".to_owned()]), "Literal[\"a\", \"b\"]"),
            (Shape::Named("T".to_owned()), "T"),
        ] {
            assert_eq!(annotation(&shape), expected);
        }
    }

    #[test]
    fn nothing_that_is_said_ends_a_docstring_or_escapes() {
        assert_eq!(docs("`\\d+`", ""), "\"\"\"`\\\\d+`\"\"\"\n");
        assert_eq!(docs("", ""), "");
        let long = docs(&"word ".repeat(40), "    ");
        assert!(long.ends_with("\n    \"\"\"\n") && long.lines().count() > 2, "{long}");
    }
}
