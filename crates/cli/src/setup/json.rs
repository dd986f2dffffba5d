//! Changes settings inside a JSON file and nothing else: no spaces, no order of keys, no comments.
//!
//! The file is never rewritten from a parsed tree. Values are replaced in place, and new ones are added after the last entry of
//! their object, with its indentation. Some agents allow comments (`//` and `/* */`) in their settings. Comments are replaced with
//! spaces before parsing, so that every offset in the parsed text is the same offset in the file.

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Why a file cannot be changed as JSON.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JsonError {
    /// The line, from 1.
    pub(crate) line: usize,
    pub(crate) problem: String,
}

impl JsonError {
    fn new(error: &serde_json::Error, line_before: usize) -> Self {
        let text = error.to_string();
        let problem = text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem);
        Self { line: line_before + error.line().max(1), problem: problem.to_owned() }
    }
}

/// The settings of one section, in their order.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Section(Vec<(String, Value)>);

impl Section {
    /// Returns the value of a key. If a key occurs twice, the last one counts, as for the agents.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }
}

/// Returns the section of this name. A missing section is empty.
pub(crate) fn section(text: &str, name: &str) -> Result<Section, JsonError> {
    let plain = without_comments(text);
    if plain.trim().is_empty() {
        return Ok(Section::default());
    }
    let root = Object::root(&plain)?;
    let Some(object) = root.section(&plain, name)? else { return Ok(Section::default()) };
    let mut values = Vec::new();
    for entry in object.entries {
        let raw = plain.get(entry.value.clone()).unwrap_or_default();
        let before = line_of(&plain, entry.value.start) - 1;
        values.push((entry.key, serde_json::from_str(raw).map_err(|error| JsonError::new(&error, before))?));
    }
    Ok(Section(values))
}

/// Returns the text with these settings in the section of this name. Creates the section if it is missing.
pub(crate) fn set(text: &str, name: &str, settings: &[(&str, Value)]) -> Result<String, JsonError> {
    if settings.is_empty() {
        return Ok(text.to_owned());
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let pretty = |outer: &str, unit: &str| {
        let lines = settings.iter().map(|(key, value)| format!("{newline}{outer}{unit}{}", pair(key, value)));
        format!("{{{}{newline}{outer}}}", lines.collect::<Vec<_>>().join(","))
    };
    let plain = without_comments(text);
    if plain.trim().is_empty() {
        let above = text.trim_end();
        let gap = if above.is_empty() { "" } else { newline };
        let body = pretty("  ", "  ");
        return Ok(format!("{above}{gap}{{{newline}  {}: {body}{newline}}}{newline}", Value::from(name)));
    }
    let root = Object::root(&plain)?;
    let unit = root.indent(&plain).filter(|indent| !indent.is_empty()).unwrap_or("  ");
    let mut edits = Vec::new();
    match root.section(&plain, name)? {
        None => {
            let entry = format!("{}: {}", Value::from(name), pretty(unit, unit));
            root.append(text, &plain, &[entry], unit, newline, &mut edits);
        }
        Some(object) => {
            let mut added = Vec::new();
            for (key, value) in settings {
                match object.entries.iter().rev().find(|entry| entry.key == *key) {
                    Some(entry) => edits.push((entry.value.clone(), value.to_string())),
                    None => added.push(pair(key, value)),
                }
            }
            let outer = line_indent(&plain, object.span.start);
            let indent = object.indent(&plain).map_or_else(|| format!("{outer}{unit}"), str::to_owned);
            object.append(text, &plain, &added, &indent, newline, &mut edits);
        }
    }
    Ok(apply(text, edits))
}

fn pair(key: &str, value: &Value) -> String {
    format!("{}: {value}", Value::from(key))
}

/// Applies edits, which must not overlap.
fn apply(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let mut written = String::with_capacity(text.len());
    let mut done = 0;
    for (range, replacement) in edits {
        written.push_str(text.get(done..range.start).unwrap_or_default());
        written.push_str(&replacement);
        done = range.end;
    }
    written.push_str(text.get(done..).unwrap_or_default());
    written
}

/// An object, with the positions of it and of its values.
struct Object {
    /// From its `{` to its `}`, inclusive.
    span: Range<usize>,
    entries: Vec<Entry>,
}

struct Entry {
    key: String,
    value: Range<usize>,
}

impl Object {
    fn root(plain: &str) -> Result<Self, JsonError> {
        let start = plain.len() - plain.trim_start().len();
        Self::parse(plain, start..plain.trim_end().len())
    }

    fn parse(plain: &str, span: Range<usize>) -> Result<Self, JsonError> {
        let text = plain.get(span.clone()).unwrap_or_default();
        let before = line_of(plain, span.start) - 1;
        let Entries(raw) = serde_json::from_str(text).map_err(|error| JsonError::new(&error, before))?;
        let span_of = |value: &RawValue| {
            let start = span.start + (value.get().as_ptr().addr() - text.as_ptr().addr());
            start..start + value.get().len()
        };
        let entries = raw.into_iter().map(|(key, value)| Entry { key, value: span_of(value) }).collect();
        Ok(Self { span, entries })
    }

    /// Returns the object that is the value of this key.
    fn section(&self, plain: &str, name: &str) -> Result<Option<Self>, JsonError> {
        let Some(entry) = self.entries.iter().rev().find(|entry| entry.key == name) else { return Ok(None) };
        Self::parse(plain, entry.value.clone())
            .map(Some)
            .map_err(|JsonError { line, problem }| JsonError { line, problem: format!("{name}: {problem}") })
    }

    /// Returns the indentation of its entries, or `None` if they are on the line of its `{` or if there are none.
    fn indent<'a>(&self, plain: &'a str) -> Option<&'a str> {
        let last = self.entries.last()?;
        let inside = plain.get(self.span.start..last.value.start).unwrap_or_default();
        inside.contains('\n').then(|| line_indent(plain, last.value.start))
    }

    /// Adds entries after the last one, each on its own line unless the object is on one line.
    fn append(
        &self,
        text: &str,
        plain: &str,
        added: &[String],
        indent: &str,
        newline: &str,
        edits: &mut Vec<(Range<usize>, String)>,
    ) {
        if added.is_empty() {
            return;
        }
        let close = self.span.end - 1;
        let inside = |from: usize| text.get(from..close).unwrap_or_default();
        let last = self.entries.last().map(|entry| entry.value.end);
        if let Some(end) = last {
            edits.push((end..end, ",".to_owned()));
            if !plain.get(self.span.clone()).unwrap_or_default().contains('\n') {
                edits.push((end..end, format!(" {}", added.join(", "))));
                return;
            }
        }
        // After a comment that follows the last entry, because the comment belongs to it.
        let from = last.unwrap_or(self.span.start + 1);
        let at = from + inside(from).trim_end().len();
        let lines = added.iter().map(|entry| format!("{newline}{indent}{entry}")).collect::<Vec<_>>();
        let closing = if inside(at).contains('\n') {
            String::new()
        } else {
            format!("{newline}{}", line_indent(plain, self.span.start))
        };
        edits.push((at..at, format!("{}{closing}", lines.join(","))));
    }
}

/// The entries of an object in their order, with references to their values.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Returns the line of an offset, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|&byte| byte == b'\n').count() + 1
}

/// Returns the indentation of the line of an offset.
fn line_indent(text: &str, offset: usize) -> &str {
    let (before, _) = text.split_at(offset);
    let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    let (indent, _) = line.split_at(line.len() - line.trim_start_matches([' ', '\t']).len());
    indent
}

/// Replaces each byte of comments and of a byte order mark with a space. Keeps line ends.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let blank = |plain: &mut String, char: char| match char {
        '\n' | '\r' => plain.push(char),
        _ => plain.extend(std::iter::repeat_n(' ', char.len_utf8())),
    };
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('\u{feff}', _) if plain.is_empty() => blank(&mut plain, char),
            ('"', _) => {
                plain.push('"');
                while let Some(inner) = chars.next() {
                    plain.push(inner);
                    match inner {
                        '"' => break,
                        '\\' => plain.extend(chars.next()),
                        _ => {}
                    }
                }
            }
            ('/', Some('/')) => {
                plain.push(' ');
                while let Some(inner) = chars.next_if(|&next| next != '\n') {
                    blank(&mut plain, inner);
                }
            }
            ('/', Some('*')) => {
                chars.next();
                plain.push_str("  ");
                let mut before = ' ';
                for inner in chars.by_ref() {
                    blank(&mut plain, inner);
                    if before == '*' && inner == '/' {
                        break;
                    }
                    before = inner;
                }
            }
            _ => plain.push(char),
        }
    }
    plain
}
