//! What the gates see of an answer.
//!
//! | answer to | seen |
//! |---|---|
//! | `tools/call`, `tasks/result` | `content`, `structuredContent`, and `inputRequests` where the server asks for more |
//! | `tasks/get` | the same of the result that the task carries, once it does |
//! | other methods that are gated | the whole result |
//!
//! Data of images and audio and the blob of a resource is left out, with an empty text in its place: it is no text, and may be
//! long. An item counts as image or audio only if every `type` of it says so. A handle of a task is no result yet.

use std::borrow::Cow;

use serde_json::value::RawValue;

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

fn is_nested(name: &str, value: &RawValue) -> bool {
    NESTED.contains(&name) && value.get().starts_with('{')
}

/// Whether the gates see a member of the result of a tool.
fn is_seen(name: &str, value: &RawValue) -> bool {
    SEEN.contains(&name) || is_nested(name, value)
}

/// What an item of a content is.
struct Item {
    is_data: bool,
    is_text: bool,
    in_resource: bool,
}

impl Item {
    fn of(members: &Members<'_>, in_resource: bool) -> Self {
        let kinds = members.texts("type");
        let is =
            |names: &[&str]| !kinds.is_empty() && kinds.iter().all(|kind| names.contains(&kind.as_str()));
        Self { is_data: is(&["image", "audio"]), is_text: is(&["text"]), in_resource }
    }

    /// Whether a text under this name is data, which no gate reads.
    fn leaves_out(&self, name: &str) -> bool {
        (name == "data" && self.is_data) || (name == "blob" && self.in_resource)
    }
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
            self.has_result = true;
            self.has_something |= result.get() != "null";
            return self.whole(result);
        };
        self.is_error |= members.all("isError").any(|value| value.get() == "true");
        if shape == Shape::Whole {
            self.has_something = true;
            return self.object(members, |looked, name, value| match name {
                "contents" => looked.content(value, true),
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
                looked.content(value, false);
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
    fn content(&mut self, content: &RawValue, in_resource: bool) {
        if let Some(items) = items(content) {
            return self.array(&items, |looked, item| looked.item(item, in_resource));
        }
        self.has_something |= content.get() != "null";
        self.whole(content);
    }

    fn item(&mut self, item: &RawValue, in_resource: bool) {
        let Some(members) = Members::of(item) else {
            self.has_something = true;
            return self.whole(item);
        };
        let kind = Item::of(&members, in_resource);
        // A link, or whatever comes later, is something.
        self.has_something |=
            !kind.is_data && !kind.is_text && !members.has("resource") && !members.has("text");
        self.object(members, |looked, name, value| match name {
            name if kind.leaves_out(name) => looked.left_out(value),
            "text" => {
                looked.has_something |= !is_blank(value);
                looked.whole(value);
            }
            "resource" if value.get().starts_with('{') => looked.item(value, true),
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

/// A result in which what the gates saw is replaced by what they left of it. All else stays as it was written: what was left
/// out, numbers of any size, the order of members.
pub(crate) fn redacted(result: &RawValue, shape: Shape, left: &str) -> Option<String> {
    let left: &RawValue = serde_json::from_str(left).ok()?;
    // One for each occurrence of a repeated key, of which the last counts.
    let left = match items(left) {
        Some(all) if result.get().starts_with('{') => all.last().copied()?,
        _ => left,
    };
    let mut json = String::with_capacity(result.get().len());
    restore(result, left, shape, &mut json)?;
    Some(json)
}

fn restore(result: &RawValue, left: &RawValue, shape: Shape, json: &mut String) -> Option<()> {
    let (Some(members), Some(left_members)) = (Members::of(result), Members::of(left)) else {
        json.push_str(left.get());
        return Some(());
    };
    let mut left_members = left_members.into_iter();
    write_object(members, json, |name, value, json| {
        if shape != Shape::Whole && !is_seen(name, value) {
            write_member(name, value.get(), json);
            return Some(());
        }
        let (name_left, left) = left_members.next()?;
        write_member(&name_left, "", json);
        match name {
            "contents" if shape == Shape::Whole => restore_content(value, left, true, json),
            "content" if shape != Shape::Whole => restore_content(value, left, false, json),
            name if shape != Shape::Whole && is_nested(name, value) => restore(value, left, shape, json),
            _ => {
                json.push_str(left.get());
                Some(())
            }
        }
    })
}

/// Puts data of images, audio and blobs back where it was left out.
fn restore_content(content: &RawValue, left: &RawValue, in_resource: bool, json: &mut String) -> Option<()> {
    let (Some(content), Some(left_items)) = (items(content), items(left)) else {
        json.push_str(left.get());
        return Some(());
    };
    json.push('[');
    for (place, (item, left)) in content.into_iter().zip(left_items).enumerate() {
        json.push_str(if place == 0 { "" } else { "," });
        restore_item(item, left, in_resource, json)?;
    }
    json.push(']');
    Some(())
}

fn restore_item(item: &RawValue, left: &RawValue, in_resource: bool, json: &mut String) -> Option<()> {
    let (Some(members), Some(left_members)) = (Members::of(item), Members::of(left)) else {
        json.push_str(left.get());
        return Some(());
    };
    let kind = Item::of(&members, in_resource);
    let mut left_members = left_members.into_iter();
    write_object(members, json, |name, value, json| {
        let (name_left, left) = left_members.next()?;
        write_member(&name_left, "", json);
        if name == "resource" && value.get().starts_with('{') {
            return restore_item(value, left, true, json);
        }
        let is_left_out = kind.leaves_out(name) && value.get().starts_with('"');
        json.push_str(if is_left_out { value.get() } else { left.get() });
        Some(())
    })
}

fn write_object(
    members: Members<'_>,
    json: &mut String,
    mut each: impl FnMut(&str, &RawValue, &mut String) -> Option<()>,
) -> Option<()> {
    json.push('{');
    for (place, (name, value)) in members.into_iter().enumerate() {
        json.push_str(if place == 0 { "" } else { "," });
        each(&name, value, json)?;
    }
    json.push('}');
    Some(())
}

fn write_member(name: &str, value: &str, json: &mut String) {
    json.push_str(&serde_json::to_string(name).unwrap_or_default());
    json.push(':');
    json.push_str(value);
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
        let whole = r#"{"content":[{"type":"text","text":"a","blob":"b"}]}"#;
        assert_eq!(seen(whole, Shape::Tool), (whole.to_owned(), false, false), "only a resource has a blob");
        assert_eq!(seen("null", Shape::Tool), ("null".to_owned(), true, false));
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
        let result = r#"{"n":12345678901234567890123,"content":[{"type":"text","text":"x@y.zz","n":1E400},{"type":"image","data":"iVBO"},{"type":"resource","resource":{"blob":"AA","uri":"u"}}],"structuredContent":{"x@y.zz":1},"_meta":{"a":1}}"#;
        let (json, _, _) = seen(result, Shape::Tool);
        let left = json.replace("x@y.zz", "[email address]");
        let new = redacted(&raw(result), Shape::Tool, &left).unwrap();
        assert_eq!(new, result.replace("x@y.zz", "[email address]"));
        let task = r#"{"taskId":"t","result":{"content":[{"type":"text","text":"x@y.zz"}]}}"#;
        let left = seen(task, Shape::Task).0.replace("x@y.zz", "-");
        let new = redacted(&raw(task), Shape::Task, &left).unwrap();
        assert_eq!(new, task.replace("x@y.zz", "-"));
        let whole = r#"{"contents":[{"uri":"u","blob":"AA"},{"text":"x@y.zz"}],"n":1E400}"#;
        let left = seen(whole, Shape::Whole).0.replace("x@y.zz", "-");
        assert_eq!(redacted(&raw(whole), Shape::Whole, &left).unwrap(), whole.replace("x@y.zz", "-"));
    }
}
