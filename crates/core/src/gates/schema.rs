//! `schema`: an output or input that violates a JSON schema.
//!
//! The schema is compiled once, when the engine is built. `$schema` selects draft 4 to 2020-12. Remote references are
//! not loaded.
//!
//! | option | is | default |
//! |---|---|---|
//! | `schema` | a file, relative to the settings file, or the schema itself as a table | required |
//! | `target` | `output` or `input` | `output` |
//!
//! Reason: `schema validation failed (7 issues): /seatbid/0/bid/0/price exclusiveMinimum; /id type; …`. The count
//! includes all issues. At most five are shown, as instance path and keyword. A segment that the schema does not name
//! is shown as `*`, so that no key of the payload is shown. Skipped: `no input`.
//!
//! A schema is checked against a parsed tree, in which the last of two equal keys would hide the first. So an object
//! with a repeated key fails, `repeated key in output`: otherwise a client could read a value that was never checked.
//! What it ignores: the deadline while it runs. The engine checks the deadline before and after.

use std::collections::BTreeSet;
use std::fmt::Write;

use jsonschema::Validator;
use jsonschema::paths::LocationSegment;
use serde_json::Value;
use serde_json::value::RawValue;

use super::engine::{Context, ReadSchema};
use super::options::{Options, SettingsError, SettingsProblem};
use super::settings::JudgedPart;
use super::tree::tree;
use super::verdict::{Finding, shortened};

/// Most issues that a reason shows.
const ISSUES_SHOWN_MAX: usize = 5;

#[derive(Debug)]
pub(super) struct Schema {
    validator: Validator,
    /// Every name in the schema. Only these may appear in a reason.
    names: BTreeSet<String>,
    target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Output,
    Input,
}

impl Schema {
    pub(super) fn build(
        options: &mut Options<'_>,
        read_schema: &mut ReadSchema<'_>,
    ) -> Result<Self, SettingsError> {
        let targets = [("output", Target::Output), ("input", Target::Input)];
        let target = options.word("target", "\"output\" or \"input\"", &targets)?.unwrap_or(Target::Output);
        let rejected =
            |options: &Options<'_>, what| options.error("schema", SettingsProblem::Schema(shortened(what)));
        let schema = match options.get("schema") {
            Some(Value::String(file)) => {
                let text = read_schema(file).map_err(|what| rejected(options, what))?;
                serde_json::from_str(&text)
                    .map_err(|error| rejected(options, format!("{file} is not JSON: {error}")))?
            }
            Some(inline @ Value::Object(_)) => inline.clone(),
            _ => {
                let expected = "the name of a file or a schema as a table";
                return Err(options.error("schema", SettingsProblem::Missing { expected }));
            }
        };
        let validator = jsonschema::options().offline().build(&schema);
        let validator = validator.map_err(|error| rejected(options, format!("invalid schema: {error}")))?;
        let mut names = BTreeSet::new();
        collect_names(&schema, &mut names);
        Ok(Self { validator, names, target })
    }

    /// Returns whether it checks the input of a tool.
    pub(super) fn is_of_input(&self) -> bool {
        self.target == Target::Input
    }

    pub(super) fn check(&self, context: &Context<'_>, part: JudgedPart) -> Finding {
        if part == JudgedPart::Arguments {
            return self.check_one(context.output, part.name());
        }
        match (self.target, context.input) {
            (Target::Output, _) => self.check_one(context.output, part.name()),
            (Target::Input, Some(input)) => self.check_one(input, "input"),
            (Target::Input, None) => Finding::Skip("no input".into()),
        }
    }

    fn check_one(&self, text: &RawValue, what: &str) -> Finding {
        let instance = match tree(text.get(), None) {
            Ok(instance) => instance,
            Err(no_tree) => return Finding::Fail(no_tree.reason(what)),
        };
        let (mut count, mut shown) = (0_usize, String::new());
        for error in self.validator.iter_errors(&instance) {
            count += 1;
            if count <= ISSUES_SHOWN_MAX {
                let separator = if count == 1 { "" } else { "; " };
                let path = self.path(error.instance_path().iter(), &instance);
                let _ = write!(shown, "{separator}{path} {}", error.kind().keyword());
            }
        }
        let issues = if count == 1 { "issue" } else { "issues" };
        let more = if count > ISSUES_SHOWN_MAX { "; …" } else { "" };
        match count {
            0 => Finding::Pass,
            _ => Finding::Fail(format!("schema validation failed ({count} {issues}): {shown}{more}")),
        }
    }

    /// Returns the path of an issue. The instance decides whether a segment is an index or a key that looks like one.
    fn path<'s>(&self, segments: impl Iterator<Item = LocationSegment<'s>>, instance: &Value) -> String {
        let (mut path, mut here) = (String::new(), Some(instance));
        for segment in segments {
            let name = segment.to_string();
            let shown = match here {
                Some(Value::Array(_)) => name.as_str(),
                _ if self.names.contains(&name) => name.as_str(),
                _ => "*",
            };
            path.push('/');
            path.push_str(shown);
            here = match here {
                Some(Value::Array(items)) => name.parse().ok().and_then(|index: usize| items.get(index)),
                Some(Value::Object(fields)) => fields.get(&name),
                _ => None,
            };
        }
        if path.is_empty() { "/".to_owned() } else { path }
    }
}

/// Collects all keys of a schema, and the names that it requires.
fn collect_names(schema: &Value, names: &mut BTreeSet<String>) {
    let mut rest = vec![schema];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(fields) => {
                names.extend(fields.keys().cloned());
                if let Some(Value::Array(required)) = fields.get("required") {
                    names.extend(required.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                rest.extend(fields.values());
            }
            Value::Array(items) => rest.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn build(options: &Value) -> Result<Schema, SettingsError> {
        let table = options.as_object().unwrap();
        let mut options = Options::new("gate.answer".to_owned(), table);
        let mut read = |file: &str| match file {
            "answer.json" => Ok(r#"{"type":"object"}"#.to_owned()),
            "broken.json" => Ok("{".to_owned()),
            _ => Err(format!("{file}: no such file")),
        };
        Schema::build(&mut options, &mut read)
    }

    fn check(schema: &Value, output: &str) -> Finding {
        let output: Box<RawValue> = serde_json::from_str(output).unwrap();
        build(&json!({ "schema": schema })).unwrap().check(&Context::of(&output), JudgedPart::Output)
    }

    #[test]
    fn issues_are_counted_and_named_by_path_and_keyword() {
        let schema = json!({
            "properties": {
                "id": {"type": "string"},
                "bid": {"items": {"properties": {"price": {"exclusiveMinimum": 0}}}},
            },
            "additionalProperties": {"type": "boolean"},
            "required": ["id"],
        });
        let fails = |reason: &str| Finding::Fail(format!("schema validation failed {reason}"));
        for (output, expected) in [
            (r#"{"id":"a","bid":[{"price":1}],"other":true}"#, Finding::Pass),
            (r#"{"id":7}"#, fails("(1 issue): /id type")),
            ("{}", fails("(1 issue): / required")),
            (r#"{"id":"a","bid":[{"price":0}]}"#, fails("(1 issue): /bid/0/price exclusiveMinimum")),
            (r#"{"id":"a","4111111111111111":1}"#, fails("(1 issue): /* type")),
            (
                r#"{"id":"a","bid":[{"price":0},{"price":0},{"price":0},{"price":0},{"price":0},{"price":0}]}"#,
                fails(
                    "(6 issues): /bid/0/price exclusiveMinimum; /bid/1/price exclusiveMinimum; \
                     /bid/2/price exclusiveMinimum; /bid/3/price exclusiveMinimum; \
                     /bid/4/price exclusiveMinimum; …",
                ),
            ),
            (r#"{"id":7,"id":"a"}"#, Finding::Fail("repeated key in output".to_owned())),
        ] {
            assert_eq!(check(&schema, output), expected, "{output}");
        }
    }

    #[test]
    fn every_draft_is_supported() {
        for (draft, keyword) in [
            ("http://json-schema.org/draft-04/schema#", "exclusiveMinimum"),
            ("http://json-schema.org/draft-06/schema#", "minimum"),
            ("http://json-schema.org/draft-07/schema#", "minimum"),
            ("https://json-schema.org/draft/2019-09/schema", "minimum"),
            ("https://json-schema.org/draft/2020-12/schema", "minimum"),
        ] {
            let mut schema = json!({"$schema": draft, "minimum": 3});
            if keyword == "exclusiveMinimum" {
                schema["exclusiveMinimum"] = json!(true);
                assert!(matches!(check(&schema, "3"), Finding::Fail(_)), "{draft}");
            }
            assert_eq!(check(&schema, "4"), Finding::Pass, "{draft}");
            assert!(matches!(check(&schema, "2"), Finding::Fail(_)), "{draft}");
        }
    }

    #[test]
    fn the_input_can_be_the_target() {
        let schema = build(&json!({"schema": {"type": "string"}, "target": "input"})).unwrap();
        let (output, input) = (RawValue::from_string("1".to_owned()), RawValue::from_string("2".to_owned()));
        let (output, input) = (output.unwrap(), input.unwrap());
        let context = Context::of(&output);
        assert_eq!(schema.check(&context, JudgedPart::Output), Finding::Skip("no input".into()));
        let context = Context { input: Some(&input), ..context };
        assert_eq!(
            schema.check(&context, JudgedPart::Output),
            Finding::Fail("schema validation failed (1 issue): / type".to_owned())
        );
    }

    #[test]
    fn invalid_schemas_are_rejected() {
        assert!(build(&json!({"schema": "answer.json"})).is_ok());
        for (options, part) in [
            (json!({}), "gate.answer.schema: missing, expected the name of a file"),
            (json!({"schema": "none.json"}), "gate.answer.schema: none.json: no such file"),
            (json!({"schema": "broken.json"}), "gate.answer.schema: broken.json is not JSON"),
            (json!({"schema": {"type": "strin"}}), "gate.answer.schema: invalid schema"),
            (
                json!({"schema": {"$ref": "https://schemas.invalid/a.json"}}),
                "gate.answer.schema: invalid schema",
            ),
            (json!({"schema": {}, "target": "both"}), "gate.answer.target: \"both\", expected"),
        ] {
            let error = build(&options).unwrap_err().to_string();
            assert!(error.starts_with(part), "{options}: {error}");
        }
    }
}
