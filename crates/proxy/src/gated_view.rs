//! The part of a server's message that the gates see.
//!
//! The gates see the whole result, error or parameters, with `_meta` and unknown members. Only the data of images and audio and the blobs of
//! resources are replaced with empty strings. So that a server cannot hide text there or between two items, these extra texts are judged
//! too, see [`GatedView::extra_texts`]:
//!
//! | extra text | why |
//! |---|---|
//! | the texts of all items, joined | a value may be split between two items |
//! | text that is encoded in base64 (`blobs.rs`) | the client reads it as text |
//!
//! Of a long text only the two ends are joined: the text itself was judged already, and no rule of the gates reaches further.
//!
//! A task handle is a result that comes later: it has a task with an id and a status, and no other member of a result.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::blobs;
use crate::message::{Members, is_blank, items, text};

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// The result of a tool.
    Tool,
    /// The result or the state of a task.
    Task,
    /// Anything else. It never counts as empty.
    Other,
}

/// Members whose values may contain items, and so data.
const DESCENDED: [&str; 6] = ["content", "contents", "messages", "resource", "result", "task"];

/// Maximum depth of such members. The protocol needs four levels; deeper ones are judged as plain text.
const DEPTH_MAX: usize = 12;

/// Length of each end of a long text that is joined, in bytes.
const END_BYTES: usize = 1024;

/// A text in a message.
#[derive(Debug)]
enum Piece<'m> {
    /// A JSON string.
    Raw(&'m RawValue),
    /// Text that was encoded in base64.
    Decoded(String),
}

/// The view of a value that the gates judge.
#[derive(Debug, Default)]
pub(crate) struct GatedView<'m> {
    /// The view as JSON text. Repeated keys are all present.
    pub(crate) json: String,
    /// Whether the value is empty: no data, no structured content, and only blank texts.
    pub(crate) is_empty: bool,
    /// Whether the tool reports a failure.
    pub(crate) is_error: bool,
    /// The id of the task, if the value is a task handle.
    pub(crate) task: Option<String>,
    pieces: Vec<Piece<'m>>,
}

/// Builds the view of the result, error or parameters of a message.
pub(crate) fn view(value: &RawValue, kind: ValueKind) -> GatedView<'_> {
    let mut builder = Builder::new(value.get().len(), kind);
    builder.value(value, Level::Result, 0);
    let Builder { json, pieces, has_result, has_content, is_error, task, .. } = builder;
    let task = task.filter(|_| !has_result);
    let is_empty = kind != ValueKind::Other && !has_content && task.is_none();
    GatedView { json, is_empty, is_error, task, pieces }
}

impl GatedView<'_> {
    /// Returns the texts that are judged in addition to the view.
    pub(crate) fn extra_texts(&self) -> Vec<String> {
        let decoded = |piece: &Piece<'_>| match piece {
            Piece::Raw(_) => None,
            Piece::Decoded(text) => Some(text.clone()),
        };
        let mut texts: Vec<String> = self.pieces.iter().filter_map(decoded).collect();
        if self.pieces.len() > 1 {
            let mut joined = String::new();
            for piece in &self.pieces {
                match piece {
                    Piece::Raw(value) => join(&mut joined, &text(value).unwrap_or_default()),
                    Piece::Decoded(text) => join(&mut joined, text),
                }
            }
            texts.push(joined);
        }
        texts
    }
}

/// Appends a text, or only its two ends if it is long.
fn join(joined: &mut String, text: &str) {
    let head = text.floor_char_boundary(END_BYTES);
    let tail = text.ceil_char_boundary(text.len().saturating_sub(END_BYTES));
    match (text.get(..head), text.get(tail..)) {
        (Some(head), Some(tail)) if text.len() > 2 * END_BYTES => {
            joined.push_str(head);
            // A separator, so that the cut does not look like the beginning of a word or line.
            joined.push('…');
            joined.push_str(tail);
        }
        _ => joined.push_str(text),
    }
}

/// The position of a value in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// A result, or the result inside of a task.
    Result,
    /// An item of a content, or a list of items.
    Item,
    /// An item of a resource, which may have a blob, or a list of them.
    Resource,
}

impl Level {
    /// Returns the level of a member, if it may contain data.
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

/// The properties of a content item.
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

    /// Returns whether a member is data, which the gates do not read.
    fn is_data_member(&self, name: &str, value: &RawValue) -> bool {
        let is_data = (name == "data" && self.is_data) || (name == "blob" && self.in_resource);
        is_data && value.get().starts_with('"')
    }
}

/// Builds a view.
struct Builder<'m> {
    kind: ValueKind,
    json: String,
    pieces: Vec<Piece<'m>>,
    has_result: bool,
    has_content: bool,
    is_error: bool,
    task: Option<String>,
}

impl<'m> Builder<'m> {
    fn new(length: usize, kind: ValueKind) -> Self {
        Self {
            kind,
            json: String::with_capacity(length),
            pieces: Vec::new(),
            has_result: false,
            has_content: false,
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
            return self.array(&items, |builder, item| builder.value(item, level, depth + 1));
        }
        // Results do not have this form. It is judged anyway.
        self.has_result |= level == Level::Result;
        self.has_content |= value.get() != "null";
        self.copy(value);
    }

    fn result(&mut self, members: Members<'m>, depth: usize) {
        self.is_error |= members.all("isError").any(|value| value.get() == "true");
        let has_status = !members.texts("status").is_empty();
        let is_handle = members.texts("resultType").iter().any(|kind| kind == "task")
            || (has_status && (depth > 0 || self.kind == ValueKind::Task));
        if is_handle && let Some(id) = members.texts("taskId").pop() {
            self.task = Some(id);
        }
        self.object(members, |builder, name, value| {
            if matches!(name, "content" | "structuredContent" | "inputRequests") {
                builder.has_result = true;
                builder.has_content |= value.get() != "null" && name != "content";
            }
            if let Some(level) = Level::Result.below(name, value, depth) {
                builder.value(value, level, depth + 1);
            } else {
                builder.has_content |= name == "content" && value.get() != "null";
                builder.copy(value);
            }
        });
    }

    fn item(&mut self, members: Members<'m>, level: Level, depth: usize) {
        let item = Item::of(&members, level);
        // A link or an unknown kind of item counts as content.
        self.has_content |=
            !item.is_data && !item.is_text && !members.has("resource") && !members.has("text");
        self.object(members, |builder, name, value| match level.below(name, value, depth) {
            _ if item.is_data_member(name, value) => builder.data(value, item.mime_type.as_deref()),
            Some(level) => builder.value(value, level, depth + 1),
            None => {
                if name == "text" && value.get().starts_with('"') {
                    builder.has_content |= !is_blank(value);
                    builder.pieces.push(Piece::Raw(value));
                }
                builder.copy(value);
            }
        });
    }

    /// Writes an empty string instead of data. Data counts as content, unless it is empty.
    fn data(&mut self, value: &RawValue, mime_type: Option<&str>) {
        self.has_content |= value.get() != "\"\"";
        let base64 = serde_json::from_str::<Cow<'_, str>>(value.get()).unwrap_or_default();
        self.pieces.extend(blobs::text(&base64, mime_type).map(Piece::Decoded));
        self.json.push_str("\"\"");
    }

    fn copy(&mut self, value: &RawValue) {
        self.json.push_str(value.get());
    }

    fn array(&mut self, items: &[&'m RawValue], mut each: impl FnMut(&mut Self, &'m RawValue)) {
        self.json.push('[');
        for (index, item) in items.iter().enumerate() {
            self.json.push_str(if index == 0 { "" } else { "," });
            each(self, item);
        }
        self.json.push(']');
    }

    fn object(&mut self, members: Members<'m>, mut each: impl FnMut(&mut Self, &str, &'m RawValue)) {
        self.json.push('{');
        for (index, (name, value)) in members.into_iter().enumerate() {
            self.json.push_str(if index == 0 { "" } else { "," });
            self.json.push_str(&serde_json::to_string(&name).unwrap_or_default());
            self.json.push(':');
            each(self, &name, value);
        }
        self.json.push('}');
    }
}

/// Builds the redacted value: the redacted view, with the data put back. All else stays as it was written: numbers of any size, and the
/// order of members. Returns `None` if the two do not fit together.
pub(crate) fn redacted(value: &RawValue, redacted_view: &str) -> Option<String> {
    let redacted: &RawValue = serde_json::from_str(redacted_view).ok()?;
    let mut json = String::with_capacity(value.get().len());
    restore(value, redacted, Level::Result, 0, &mut json)?;
    Some(json)
}

/// Writes the redacted value, with data from the original. The two values have the same structure.
fn restore(
    value: &RawValue,
    redacted: &RawValue,
    level: Level,
    depth: usize,
    json: &mut String,
) -> Option<()> {
    if let (Some(members), Some(redacted_members)) = (Members::of(value), Members::of(redacted)) {
        let item = Item::of(&members, level);
        json.push('{');
        for (index, (original, redacted)) in members.into_iter().zip(redacted_members).enumerate() {
            let ((name, value), (redacted_name, redacted)) = (original, redacted);
            json.push_str(if index == 0 { "" } else { "," });
            json.push_str(&serde_json::to_string(&redacted_name).ok()?);
            json.push(':');
            match level.below(&name, value, depth) {
                _ if item.is_data_member(&name, value) => json.push_str(value.get()),
                Some(level) => restore(value, redacted, level, depth + 1, json)?,
                None => json.push_str(redacted.get()),
            }
        }
        json.push('}');
        return Some(());
    }
    let lists =
        if level != Level::Result && depth < DEPTH_MAX { items(value).zip(items(redacted)) } else { None };
    let Some((items, redacted_items)) = lists else {
        json.push_str(redacted.get());
        return Some(());
    };
    json.push('[');
    for (index, (item, redacted)) in items.into_iter().zip(redacted_items).enumerate() {
        json.push_str(if index == 0 { "" } else { "," });
        restore(item, redacted, level, depth + 1, json)?;
    }
    json.push(']');
    Some(())
}

#[cfg(test)]
mod tests;
