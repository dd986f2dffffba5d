//! What the gates see of a message of the server.
//!
//! They see all of it: the result, the error or the parameters, with `_meta` and members that no revision of the protocol knows.
//! Only data of images and audio and the blob of a resource is left out, with an empty text in its place, unless it is text in
//! base64 (`blobs.rs`). What the gates could miss there or between two texts is judged beside it, as [`Seen::beside`]:
//!
//! | piece | why |
//! |---|---|
//! | the texts of all items, joined | a value may be cut in two between two items |
//! | text that was in base64 | it is text to the client |
//!
//! Of a long text only both ends are joined, since it was judged by itself and no rule of the gates reaches further.
//!
//! A handle of a task is a result that comes later: it has a task with an id and a status, and nothing else that is a result.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::blobs;
use crate::message::{Members, is_blank, items, text};

/// What was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The result of a tool.
    Tool,
    /// What became of a task.
    Task,
    /// Anything else. It is never called empty.
    Other,
}

/// Members whose values hold items, and so perhaps data.
const DESCENDED: [&str; 6] = ["content", "contents", "messages", "resource", "result", "task"];

/// How deep they are looked for. The protocol needs four levels; deeper ones are judged as text.
const DEPTH_MAX: usize = 12;

/// A text that is longer than two of these, in bytes, is joined with others only at its ends.
const END_BYTES: usize = 1024;

/// A piece of text of a message.
#[derive(Debug)]
enum Piece<'m> {
    /// A JSON text.
    Raw(&'m RawValue),
    /// Text that was in base64.
    Decoded(String),
}

/// What the gates look at.
#[derive(Debug, Default)]
pub(crate) struct Seen<'m> {
    /// As JSON text, with every occurrence of a repeated key.
    pub(crate) json: String,
    /// Whether there is nothing in it: no data, no structured content, and only blank texts.
    pub(crate) is_empty: bool,
    /// Whether the tool says that it failed.
    pub(crate) is_error: bool,
    /// The id of the task whose result comes later, if it does.
    pub(crate) task: Option<String>,
    pieces: Vec<Piece<'m>>,
}

/// Looks at the result, error or parameters of a message.
pub(crate) fn see(value: &RawValue, shape: Shape) -> Seen<'_> {
    let mut looked = Looked::new(value.get().len(), shape);
    looked.value(value, Level::Result, 0);
    let Looked { json, pieces, has_result, has_something, is_error, task, .. } = looked;
    let task = task.filter(|_| !has_result);
    let is_empty = shape != Shape::Other && !has_something && task.is_none();
    Seen { json, is_empty, is_error, task, pieces }
}

impl Seen<'_> {
    /// What is judged beside it, as the texts of a JSON array.
    pub(crate) fn beside(&self) -> Vec<String> {
        let decoded = |piece: &Piece<'_>| match piece {
            Piece::Raw(_) => None,
            Piece::Decoded(text) => Some(text.clone()),
        };
        let mut beside: Vec<String> = self.pieces.iter().filter_map(decoded).collect();
        if self.pieces.len() > 1 {
            let mut joined = String::new();
            for piece in &self.pieces {
                match piece {
                    Piece::Raw(value) => join(&mut joined, &text(value).unwrap_or_default()),
                    Piece::Decoded(text) => join(&mut joined, text),
                }
            }
            beside.push(joined);
        }
        beside
    }
}

/// Adds a text to others, or both ends of it.
fn join(joined: &mut String, text: &str) {
    let head = text.floor_char_boundary(END_BYTES);
    let tail = text.ceil_char_boundary(text.len().saturating_sub(END_BYTES));
    match (text.get(..head), text.get(tail..)) {
        (Some(head), Some(tail)) if text.len() > 2 * END_BYTES => {
            joined.push_str(head);
            // So that no word or line begins where the text was cut.
            joined.push('…');
            joined.push_str(tail);
        }
        _ => joined.push_str(text),
    }
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// A result, or one inside of a task.
    Result,
    /// An item of a content, or a list of them.
    Item,
    /// The same in a resource, which may have a blob.
    Resource,
}

impl Level {
    /// The level of a member, if data is looked for in it.
    fn below(self, name: &str, value: &RawValue, depth: usize) -> Option<Self> {
        let is_nested = value.get().starts_with(['{', '[']);
        if !DESCENDED.contains(&name) || !is_nested || depth >= DEPTH_MAX {
            return None;
        }
        Some(match name {
            "task" | "result" if self == Self::Result => Self::Result,
            "contents" | "resource" => Self::Resource,
            _ => Self::Item,
        })
    }
}

/// What an item of a content is.
struct Item {
    is_data: bool,
    is_text: bool,
    in_resource: bool,
    mime_type: Option<String>,
}

impl Item {
    fn of(members: &Members<'_>, level: Level) -> Self {
        let kinds = members.texts("type");
        let is =
            |names: &[&str]| !kinds.is_empty() && kinds.iter().all(|kind| names.contains(&kind.as_str()));
        Self {
            is_data: level != Level::Result && is(&["image", "audio"]),
            is_text: is(&["text"]),
            in_resource: level == Level::Resource,
            mime_type: members.texts("mimeType").pop(),
        }
    }

    /// Whether a member is data, which no gate reads.
    fn leaves_out(&self, name: &str, value: &RawValue) -> bool {
        let is_data = (name == "data" && self.is_data) || (name == "blob" && self.in_resource);
        is_data && value.get().starts_with('"')
    }
}

/// What the gates see, as far as it is written, and what was noticed on the way.
struct Looked<'m> {
    shape: Shape,
    json: String,
    pieces: Vec<Piece<'m>>,
    has_result: bool,
    has_something: bool,
    is_error: bool,
    task: Option<String>,
}

impl<'m> Looked<'m> {
    fn new(length: usize, shape: Shape) -> Self {
        Self {
            shape,
            json: String::with_capacity(length),
            pieces: Vec::new(),
            has_result: false,
            has_something: false,
            is_error: false,
            task: None,
        }
    }

    fn value(&mut self, value: &'m RawValue, level: Level, depth: usize) {
        if let Some(members) = Members::of(value) {
            return match level {
                Level::Result => self.result(members, depth),
                Level::Item | Level::Resource => self.item(members, level, depth),
            };
        }
        if level != Level::Result
            && depth < DEPTH_MAX
            && let Some(items) = items(value)
        {
            return self.array(&items, |looked, item| looked.value(item, level, depth + 1));
        }
        // No result is of this shape: whatever it is, it is judged.
        self.has_result |= level == Level::Result;
        self.has_something |= value.get() != "null";
        self.whole(value);
    }

    fn result(&mut self, members: Members<'m>, depth: usize) {
        self.is_error |= members.all("isError").any(|value| value.get() == "true");
        let has_status = !members.texts("status").is_empty();
        let is_handle = members.texts("resultType").iter().any(|kind| kind == "task")
            || (has_status && (depth > 0 || self.shape == Shape::Task));
        if is_handle && let Some(id) = members.texts("taskId").pop() {
            self.task = Some(id);
        }
        self.object(members, |looked, name, value| {
            if matches!(name, "content" | "structuredContent" | "inputRequests") {
                looked.has_result = true;
                looked.has_something |= value.get() != "null" && name != "content";
            }
            if let Some(level) = Level::Result.below(name, value, depth) {
                looked.value(value, level, depth + 1);
            } else {
                looked.has_something |= name == "content" && value.get() != "null";
                looked.whole(value);
            }
        });
    }

    fn item(&mut self, members: Members<'m>, level: Level, depth: usize) {
        let kind = Item::of(&members, level);
        // A link, or whatever comes later, is something.
        self.has_something |=
            !kind.is_data && !kind.is_text && !members.has("resource") && !members.has("text");
        self.object(members, |looked, name, value| match level.below(name, value, depth) {
            _ if kind.leaves_out(name, value) => looked.left_out(value, kind.mime_type.as_deref()),
            Some(level) => looked.value(value, level, depth + 1),
            None => {
                if name == "text" && value.get().starts_with('"') {
                    looked.has_something |= !is_blank(value);
                    looked.pieces.push(Piece::Raw(value));
                }
                looked.whole(value);
            }
        });
    }

    /// Data is something, unless it is empty.
    fn left_out(&mut self, value: &RawValue, mime_type: Option<&str>) {
        self.has_something |= value.get() != "\"\"";
        let base64 = serde_json::from_str::<Cow<'_, str>>(value.get()).unwrap_or_default();
        self.pieces.extend(blobs::text(&base64, mime_type).map(Piece::Decoded));
        self.json.push_str("\"\"");
    }

    fn whole(&mut self, value: &RawValue) {
        self.json.push_str(value.get());
    }

    fn array(&mut self, items: &[&'m RawValue], mut each: impl FnMut(&mut Self, &'m RawValue)) {
        self.json.push('[');
        for (place, item) in items.iter().enumerate() {
            self.json.push_str(if place == 0 { "" } else { "," });
            each(self, item);
        }
        self.json.push(']');
    }

    fn object(&mut self, members: Members<'m>, mut each: impl FnMut(&mut Self, &str, &'m RawValue)) {
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

/// A value in which what the gates saw is replaced by what they left of it. All else stays as it was written: what was left
/// out, numbers of any size, the order of members.
pub(crate) fn redacted(value: &RawValue, left: &str) -> Option<String> {
    let left: &RawValue = serde_json::from_str(left).ok()?;
    let mut json = String::with_capacity(value.get().len());
    restore(value, left, Level::Result, 0, &mut json)?;
    Some(json)
}

/// Puts data back where it was left out. The two values have the same shape.
fn restore(value: &RawValue, left: &RawValue, level: Level, depth: usize, json: &mut String) -> Option<()> {
    if let (Some(members), Some(left_members)) = (Members::of(value), Members::of(left)) {
        let kind = Item::of(&members, level);
        json.push('{');
        for (place, ((name, value), (name_left, left))) in members.into_iter().zip(left_members).enumerate() {
            json.push_str(if place == 0 { "" } else { "," });
            json.push_str(&serde_json::to_string(&name_left).ok()?);
            json.push(':');
            match level.below(&name, value, depth) {
                _ if kind.leaves_out(&name, value) => json.push_str(value.get()),
                Some(level) => restore(value, left, level, depth + 1, json)?,
                None => json.push_str(left.get()),
            }
        }
        json.push('}');
        return Some(());
    }
    let lists =
        if level != Level::Result && depth < DEPTH_MAX { items(value).zip(items(left)) } else { None };
    let Some((items, left_items)) = lists else {
        json.push_str(left.get());
        return Some(());
    };
    json.push('[');
    for (place, (item, left)) in items.into_iter().zip(left_items).enumerate() {
        json.push_str(if place == 0 { "" } else { "," });
        restore(item, left, level, depth + 1, json)?;
    }
    json.push(']');
    Some(())
}

#[cfg(test)]
mod tests;
