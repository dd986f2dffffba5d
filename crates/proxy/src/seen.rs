//! What the gates see of an answer.
//!
//! | answer to | seen |
//! |---|---|
//! | `tools/call`, `tasks/result` | `content`, `structuredContent`, and `inputRequests` where the server asks for more |
//! | `tasks/get` | the same of the result that the task carries, once it does |
//! | other methods that are gated | the whole result |
//!
//! Data of images, audio and blobs is left out, with an empty text in its place: it is no text, and may be long. An item counts
//! as image or audio only if every `type` of it says so. A handle of a task is no result yet.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::message::{Members, is_blank, items};

/// Which method was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Tool,
    Task,
    Whole,
}

/// An answer, taken apart.
#[derive(Debug)]
pub(crate) enum Answer {
    /// What the gates look at.
    Result(Seen),
    /// A task that has no result yet, with its id.
    Task(Option<String>),
}

/// What the gates look at.
#[derive(Debug)]
pub(crate) struct Seen {
    /// As JSON text, with every occurrence of a repeated key.
    pub(crate) json: String,
    /// Whether there is nothing in it: no data, no structured content, and only blank texts.
    pub(crate) is_empty: bool,
    /// Whether the tool says that it failed.
    pub(crate) is_error: bool,
}

/// Members of a result that the gates see.
const SEEN: [&str; 3] = ["content", "structuredContent", "inputRequests"];

/// Members under which the result of a task may stand.
const NESTED: [&str; 2] = ["task", "result"];

/// Takes an answer apart. There is more than one result if the key is repeated.
pub(crate) fn see(results: &[&RawValue], shape: Shape) -> Answer {
    let length: usize = results.iter().map(|result| result.get().len() + 1).sum();
    let mut looked = Looked { json: String::with_capacity(length + 1), ..Looked::default() };
    match results {
        [one] => looked.result(one, shape),
        several => looked.array(several, |looked, result| looked.result(result, shape)),
    }
    let Looked { json, has_result, has_something, is_error, is_task, task_id } = looked;
    if shape != Shape::Whole && !has_result && is_task {
        return Answer::Task(task_id);
    }
    Answer::Result(Seen { json, is_empty: !has_something, is_error })
}

/// What the gates see, as far as it is written, and what was noticed on the way.
#[expect(clippy::struct_excessive_bools, reason = "each is noticed by itself")]
#[derive(Default)]
struct Looked {
    json: String,
    has_result: bool,
    has_something: bool,
    is_error: bool,
    is_task: bool,
    task_id: Option<String>,
}

impl Looked {
    fn result(&mut self, result: &RawValue, shape: Shape) {
        let Some(members) = Members::of(result) else {
            // No result is of this shape: whatever it is, it is looked at.
            (self.has_result, self.has_something) = (true, true);
            return self.whole(result);
        };
        self.is_error |= members.all("isError").any(|value| value.get() == "true");
        if shape == Shape::Whole {
            self.has_something = true;
            return self.object(members, |looked, name, value| match name {
                "contents" => looked.content(value),
                _ => looked.whole(value),
            });
        }
        let is_handle = members.texts("resultType").iter().any(|kind| kind == "task");
        self.is_task |= is_handle || shape == Shape::Task || members.has("task") || members.has("taskId");
        self.task_id = members.texts("taskId").pop().or(self.task_id.take());
        let is_nested = |name: &str, value: &RawValue| NESTED.contains(&name) && value.get().starts_with('{');
        let seen =
            members.into_iter().filter(|(name, value)| SEEN.contains(&&**name) || is_nested(name, value));
        self.object(seen, |looked, name, value| match name {
            "content" => {
                looked.has_result = true;
                looked.content(value);
            }
            name if is_nested(name, value) => looked.result(value, shape),
            _ => {
                looked.has_result = true;
                looked.has_something |= value.get() != "null";
                looked.whole(value);
            }
        });
    }

    /// The content without its data.
    fn content(&mut self, content: &RawValue) {
        if let Some(items) = items(content) {
            return self.array(&items, Self::item);
        }
        self.has_something |= content.get() != "null";
        self.whole(content);
    }

    fn item(&mut self, item: &RawValue) {
        let Some(members) = Members::of(item) else {
            self.has_something = true;
            return self.whole(item);
        };
        let kinds = members.texts("type");
        let is_data =
            !kinds.is_empty() && kinds.iter().all(|kind| matches!(kind.as_str(), "image" | "audio"));
        let is_text = !kinds.is_empty() && kinds.iter().all(|kind| kind == "text");
        // A link, or whatever comes later, is something.
        self.has_something |= !is_data && !is_text && !members.has("resource") && !members.has("text");
        self.object(members, |looked, name, value| match name {
            "data" if is_data => looked.left_out(value),
            "blob" => looked.left_out(value),
            "text" => {
                looked.has_something |= !is_blank(value);
                looked.whole(value);
            }
            "resource" if value.get().starts_with('{') => looked.item(value),
            _ => looked.whole(value),
        });
    }

    /// Data is something, unless it is empty; what is no text is no data either and stays.
    fn left_out(&mut self, value: &RawValue) {
        if !value.get().starts_with('"') {
            return self.whole(value);
        }
        self.has_something |= value.get() != "\"\"";
        self.json.push_str("\"\"");
    }

    fn whole(&mut self, value: &RawValue) {
        self.json.push_str(value.get());
    }

    fn array(&mut self, items: &[&RawValue], mut each: impl FnMut(&mut Self, &RawValue)) {
        self.json.push('[');
        for (place, item) in items.iter().enumerate() {
            self.json.push_str(if place == 0 { "" } else { "," });
            each(self, item);
        }
        self.json.push(']');
    }

    fn object<'m>(
        &mut self,
        members: impl IntoIterator<Item = (Cow<'m, str>, &'m RawValue)>,
        mut each: impl FnMut(&mut Self, &str, &RawValue),
    ) {
        self.json.push('{');
        for (place, (name, value)) in members.into_iter().enumerate() {
            self.json.push_str(if place == 0 { "" } else { "," });
            self.json.push_str(&serde_json::to_string(&name).unwrap_or_default());
            self.json.push(':');
            each(self, &name, value);
        }
        self.json.push('}');
    }
}

/// A result in which what the gates saw is replaced by what they left of it.
pub(crate) fn redacted(result: &RawValue, shape: Shape, seen: &str) -> Option<String> {
    let (mut result, mut seen): (Value, Value) =
        (serde_json::from_str(result.get()).ok()?, serde_json::from_str(seen).ok()?);
    // One for each occurrence of a repeated key, of which the last counts.
    if let (Value::Array(all), Value::Object(_)) = (&mut seen, &result) {
        seen = all.pop()?;
    }
    replace(&mut result, seen, shape);
    serde_json::to_string(&result).ok()
}

fn replace(result: &mut Value, seen: Value, shape: Shape) {
    let (Value::Object(result), Value::Object(seen)) = (&mut *result, seen.clone()) else {
        *result = seen;
        return;
    };
    if shape == Shape::Whole {
        let mut seen = seen;
        restore_data(result.get("contents"), seen.get_mut("contents"));
        *result = seen;
        return;
    }
    for (name, mut value) in seen {
        if NESTED.contains(&name.as_str()) {
            if let Some(inner) = result.get_mut(&name) {
                replace(inner, value, shape);
            }
        } else {
            restore_data(result.get(&name), Some(&mut value));
            result.insert(name, value);
        }
    }
}

/// Puts data of images, audio and blobs back where it was left out.
fn restore_data(content: Option<&Value>, seen: Option<&mut Value>) {
    let (Some(Value::Array(content)), Some(Value::Array(seen))) = (content, seen) else { return };
    for (item, seen) in content.iter().zip(seen) {
        let (Value::Object(item), Value::Object(seen)) = (item, seen) else { continue };
        restore_item(item, seen);
        if let (Some(Value::Object(item)), Some(Value::Object(seen))) =
            (item.get("resource"), seen.get_mut("resource"))
        {
            restore_item(item, seen);
        }
    }
}

fn restore_item(item: &Map<String, Value>, seen: &mut Map<String, Value>) {
    for name in ["data", "blob"] {
        if let (Some(data), Some(Value::String(left_out))) = (item.get(name), seen.get(name))
            && left_out.is_empty()
        {
            seen.insert(name.to_owned(), data.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn seen(result: &str, shape: Shape) -> (String, bool, bool) {
        match see(&[&raw(result)], shape) {
            Answer::Result(seen) => (seen.json, seen.is_empty, seen.is_error),
            Answer::Task(id) => (format!("task {id:?}"), false, false),
        }
    }

    #[test]
    fn gates_see_texts_and_structure_but_no_data() {
        for (result, shape, json, is_empty) in [
            (
                r#"{"content":[{"type":"text","text":"a"}],"_meta":{"x":1}}"#,
                Shape::Tool,
                r#"{"content":[{"type":"text","text":"a"}]}"#,
                false,
            ),
            (
                r#"{"content":[{"type":"text","text":" \n"}]}"#,
                Shape::Tool,
                r#"{"content":[{"type":"text","text":" \n"}]}"#,
                true,
            ),
            (r#"{"content":[]}"#, Shape::Tool, r#"{"content":[]}"#, true),
            (
                r#"{"content":[],"structuredContent":{"a":1}}"#,
                Shape::Tool,
                r#"{"content":[],"structuredContent":{"a":1}}"#,
                false,
            ),
            (
                r#"{"content":[],"structuredContent":null}"#,
                Shape::Tool,
                r#"{"content":[],"structuredContent":null}"#,
                true,
            ),
            (
                r#"{"content":[{"type":"image","data":"iVBO","mimeType":"image/png"}]}"#,
                Shape::Tool,
                r#"{"content":[{"type":"image","data":"","mimeType":"image/png"}]}"#,
                false,
            ),
            (
                r#"{"content":[{"type":"audio","data":""}]}"#,
                Shape::Tool,
                r#"{"content":[{"type":"audio","data":""}]}"#,
                true,
            ),
            (
                r#"{"content":[{"type":"text","data":"x","text":""}]}"#,
                Shape::Tool,
                r#"{"content":[{"type":"text","data":"x","text":""}]}"#,
                true,
            ),
            (
                r#"{"content":[{"type":"image","type":"text","data":"x"}]}"#,
                Shape::Tool,
                r#"{"content":[{"type":"image","type":"text","data":"x"}]}"#,
                false,
            ),
            (
                r#"{"content":[{"type":"resource","resource":{"uri":"u","blob":"AAAA"}}]}"#,
                Shape::Tool,
                r#"{"content":[{"type":"resource","resource":{"uri":"u","blob":""}}]}"#,
                false,
            ),
            (
                r#"{"content":[{"type":"resource_link","uri":"u"}]}"#,
                Shape::Tool,
                r#"{"content":[{"type":"resource_link","uri":"u"}]}"#,
                false,
            ),
            (
                r#"{"content":[{"type":"text","text":"a"}],"cont\u0065nt":[]}"#,
                Shape::Tool,
                r#"{"content":[{"type":"text","text":"a"}],"content":[]}"#,
                false,
            ),
            ("{}", Shape::Tool, "{}", true),
            (r#""text""#, Shape::Tool, r#""text""#, false),
            (r#"{"content":"text"}"#, Shape::Tool, r#"{"content":"text"}"#, false),
            (
                r#"{"resultType":"input_required","inputRequests":{"a":{"method":"m"}}}"#,
                Shape::Tool,
                r#"{"inputRequests":{"a":{"method":"m"}}}"#,
                false,
            ),
            (
                r#"{"taskId":"t","status":"completed","result":{"content":[{"type":"text","text":"a"}]}}"#,
                Shape::Task,
                r#"{"result":{"content":[{"type":"text","text":"a"}]}}"#,
                false,
            ),
            (
                r#"{"contents":[{"uri":"u","blob":"AA"},{"text":"t"}]}"#,
                Shape::Whole,
                r#"{"contents":[{"uri":"u","blob":""},{"text":"t"}]}"#,
                false,
            ),
        ] {
            assert_eq!(seen(result, shape), (json.to_owned(), is_empty, false), "{result}");
        }
        assert!(seen(r#"{"content":[],"isError":true}"#, Shape::Tool).2);
        let twice = see(&[&raw(r#"{"content":[1]}"#), &raw(r#"{"content":[2]}"#)], Shape::Tool);
        assert!(matches!(twice, Answer::Result(seen) if seen.json == r#"[{"content":[1]},{"content":[2]}]"#));
    }

    #[test]
    fn a_handle_of_a_task_is_no_result() {
        for (result, shape) in [
            (r#"{"task":{"taskId":"t","status":"working"}}"#, Shape::Tool),
            (r#"{"resultType":"task","taskId":"t","status":"working"}"#, Shape::Tool),
            (r#"{"taskId":"t","status":"working"}"#, Shape::Task),
        ] {
            assert_eq!(seen(result, shape).0, r#"task Some("t")"#, "{result}");
        }
        let both = r#"{"task":{"taskId":"t"},"content":[{"type":"text","text":"a"}]}"#;
        assert!(seen(both, Shape::Tool).0.contains("content"), "a result beside the handle is one");
    }

    #[test]
    fn what_is_redacted_is_put_back_with_its_data() {
        let result = r#"{"content":[{"type":"text","text":"x@y.zz"},{"type":"image","data":"iVBO"},{"type":"resource","resource":{"blob":"AA","uri":"u"}}],"structuredContent":{"x@y.zz":1},"_meta":{"a":1}}"#;
        let (json, _, _) = seen(result, Shape::Tool);
        let left = json.replace("x@y.zz", "[email address]");
        let new = redacted(&raw(result), Shape::Tool, &left).unwrap();
        let expected: Value = serde_json::from_str(&result.replace("x@y.zz", "[email address]")).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&new).unwrap(), expected);
        let task = r#"{"taskId":"t","result":{"content":[{"type":"text","text":"x@y.zz"}]}}"#;
        let left = seen(task, Shape::Task).0.replace("x@y.zz", "-");
        let new = redacted(&raw(task), Shape::Task, &left).unwrap();
        assert_eq!(new, r#"{"result":{"content":[{"text":"-","type":"text"}]},"taskId":"t"}"#);
    }
}
