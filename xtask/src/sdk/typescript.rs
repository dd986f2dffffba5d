//! The TypeScript client: one interface per schema, and one method per operation.
//!
//! Methods are in camel case. Fields, including those of a query, keep the names of the API: they are the same in the
//! document and in every log, and a new field needs no translation.

use super::model::{Api, Definition, Field, Operation, Reply, Shape, Type};
use super::text::{camel, pascal, sentence, wrap};

const HEAD: &str = "\
// The API of a server, made by `cargo xtask sdk` from its OpenAPI document. Do not edit it.

import { Http, path, type CallOptions, type PostOptions, type StreamEvent } from \"./http.js\";
";

/// The whole file.
pub(super) fn client(api: &Api) -> String {
    let mut file = HEAD.to_owned();
    for found in &api.types {
        file += &type_text(found);
    }
    for operation in api.operations.iter().filter(|operation| !operation.query.is_empty()) {
        let about = format!("What {} may ask for.", camel(&operation.name));
        file += &interface(&query_name(operation), &about, &operation.query);
    }
    file += "\n/** Every route of a server. */\nexport class Client extends Http {\n";
    let methods = api.operations.iter().flat_map(|operation| [Some(method(operation)), pages(operation)]);
    file += &methods.flatten().collect::<Vec<_>>().join("\n");
    file + "}\n"
}

fn type_text(found: &Type) -> String {
    match &found.definition {
        Definition::Object(fields) => interface(&found.name, &found.description, fields),
        Definition::Alias(shape) => {
            format!("\n{}export type {} = {};\n", docs(&found.description, ""), found.name, annotation(shape))
        }
    }
}

fn interface(name: &str, description: &str, fields: &[Field]) -> String {
    let field = |field: &Field| {
        let mark = if field.required { "" } else { "?" };
        format!("{}  {}{mark}: {};\n", docs(&field.description, "  "), field.name, annotation(&field.shape))
    };
    let fields: String = fields.iter().map(field).collect();
    format!("\n{}export interface {name} {{\n{fields}}}\n", docs(description, ""))
}

fn annotation(shape: &Shape) -> String {
    match shape {
        Shape::Any => "unknown".to_owned(),
        Shape::Null => "null".to_owned(),
        Shape::Text => "string".to_owned(),
        Shape::Whole | Shape::Number => "number".to_owned(),
        Shape::Flag => "boolean".to_owned(),
        Shape::Words(words) => words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" | "),
        Shape::List(item) => format!("Array<{}>", annotation(item)),
        Shape::Map(value) => format!("Record<string, {}>", annotation(value)),
        Shape::Named(name) => name.clone(),
        Shape::Either(choices) => choices.iter().map(annotation).collect::<Vec<_>>().join(" | "),
    }
}

/// Returns a comment, or an empty text without a description.
fn docs(text: &str, indent: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let lines = wrap(&text.replace("*/", "* /"), &format!("{indent} * "));
    match lines.as_slice() {
        [line] => format!("{indent}/** {} */\n", line.trim_start_matches([' ', '*'])),
        lines => {
            // The lines between paragraphs are empty.
            let lines = lines
                .iter()
                .map(|line| if line.is_empty() { format!("{indent} *\n") } else { format!("{line}\n") });
            format!("{indent}/**\n{}{indent} */\n", lines.collect::<String>())
        }
    }
}

fn query_name(operation: &Operation) -> String {
    format!("{}Query", pascal(&operation.name))
}

fn method_docs(operation: &Operation, more: &str) -> String {
    let mut text = sentence(&operation.summary) + more;
    if !operation.description.is_empty() {
        text += "\n\n";
        text += &operation.description;
    }
    docs(&text, "  ")
}

fn method(operation: &Operation) -> String {
    let (reply, call) = match &operation.reply {
        Reply::Json(shape) => (format!("Promise<{}>", annotation(shape)), "send"),
        Reply::Text => ("Promise<string>".to_owned(), "send"),
        Reply::Nothing => ("Promise<void>".to_owned(), "send"),
        Reply::Events => ("AsyncGenerator<StreamEvent, void, undefined>".to_owned(), "events"),
    };
    let options = if operation.method == "POST" { "PostOptions" } else { "CallOptions" };
    let mut arguments = path_arguments(operation);
    if let Some(body) = &operation.body {
        let default = if body.fields.iter().any(|field| field.required) { "" } else { " = {}" };
        arguments.push(format!("body: {}{default}", body.name));
    }
    if !operation.query.is_empty() {
        let default = if operation.query.iter().any(|field| field.required) { "" } else { " = {}" };
        arguments.push(format!("query: {}{default}", query_name(operation)));
    }
    arguments.push(format!("options: {options} = {{}}"));
    format!(
        "{}  {}({}): {reply} {{\n    return this.{call}({}, options);\n  }}\n",
        method_docs(operation, ""),
        camel(&operation.name),
        arguments.join(", "),
        request(operation)
    )
}

/// Returns the iterator over all items of a list.
fn pages(operation: &Operation) -> Option<String> {
    let (field, item) = operation.items.as_ref()?;
    let name = camel(&format!("iter_{}", operation.name.strip_prefix("list_").unwrap_or(&operation.name)));
    let mut arguments = path_arguments(operation);
    // The iterator manages the cursor. It yields everything; the `limit` of the API is its page size.
    let omitted = "\"cursor\" | \"offset\" | \"limit\"";
    let query = format!("Omit<{}, {omitted}> & {{ pageSize?: number }}", query_name(operation));
    arguments.push(format!("{{ pageSize, ...query }}: {query} = {{}}"));
    arguments.push("options: CallOptions = {}".to_owned());
    Some(format!(
        "{}  {name}({}): AsyncGenerator<{}, void, undefined> {{\n    return this.pages({}, \"{field}\", options);\n  }}\n",
        method_docs(operation, " Page after page is read as they are used, `pageSize` at a time."),
        arguments.join(", "),
        annotation(item),
        request(operation).replacen("{ ...query }", "{ ...query, limit: pageSize }", 1)
    ))
}

fn path_arguments(operation: &Operation) -> Vec<String> {
    let argument = |field: &Field| format!("{}: {}", camel(&field.name), annotation(&field.shape));
    operation.in_path.iter().map(argument).collect()
}

fn request(operation: &Operation) -> String {
    let values: Vec<String> = operation.in_path.iter().map(|field| camel(&field.name)).collect();
    let place = if values.is_empty() {
        format!("\"{}\"", operation.path)
    } else {
        format!("path(\"{}\", {})", operation.path, values.join(", "))
    };
    let mut parts = vec![format!("method: \"{}\"", operation.method), format!("path: {place}")];
    if !operation.query.is_empty() {
        parts.push("query: { ...query }".to_owned());
    }
    if operation.body.is_some() {
        parts.push("body".to_owned());
    }
    if operation.reply == Reply::Text {
        parts.push("text: true".to_owned());
    }
    format!("{{ {} }}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations() {
        for (shape, expected) in [
            (Shape::Map(Box::new(Shape::Any)), "Record<string, unknown>"),
            (Shape::Either(vec![Shape::Whole, Shape::Null]), "number | null"),
            (
                Shape::List(Box::new(Shape::Words(vec!["a".to_owned(), "b".to_owned()]))),
                "Array<\"a\" | \"b\">",
            ),
        ] {
            assert_eq!(annotation(&shape), expected);
        }
    }

    #[test]
    fn nothing_that_is_said_ends_a_comment() {
        assert_eq!(docs("all of a/*/b", "  "), "  /** all of a/* /b */\n");
        assert_eq!(docs("one\n\ntwo", ""), "/**\n * one\n *\n * two\n */\n");
        assert_eq!(docs("", ""), "");
    }
}
