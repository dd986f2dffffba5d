//! Encodes the generated records as lines of JSON, in any spelling that the reader accepts.

use std::fmt::{Display, Write};

use crate::model::{Attributes, Encoded, Record, Shape, Value};

/// The spelling of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Like the collector.
    Usual,
    /// Random: names, quotes, enums, order of fields, blanks, escapes, unknown fields.
    Any,
}

/// A JSON tree.
enum Tree {
    Object(Vec<(&'static str, Self)>),
    Array(Vec<Self>),
    Text(String),
    /// JSON text, written unchanged.
    Raw(String),
}

use Tree::{Array, Object, Raw, Text};
use renown_testing::Rng;

/// Splits the records into lines at random positions. Neighbors with the same resource and scope may share them.
pub(crate) fn lines(records: &[Record], spelling: Spelling, rng: &mut Rng) -> Vec<String> {
    rng.parts(records).iter().map(|part| line(part, spelling, rng)).collect()
}

pub(crate) fn line(records: &[Record], spelling: Spelling, rng: &mut Rng) -> String {
    let mut fields = Vec::new();
    for (is_log, name) in [(true, "resourceLogs"), (false, "resourceSpans")] {
        let of_kind: Vec<&Record> = records.iter().filter(|record| record.is_log() == is_log).collect();
        let mut runs: Vec<Vec<&Record>> = Vec::new();
        for record in of_kind {
            match runs.last_mut() {
                Some(run) if alike(run[0], record) && !rng.one_in(3) => run.push(record),
                _ => runs.push(vec![record]),
            }
        }
        if !runs.is_empty() {
            fields.push((name, Array(runs.iter().map(|run| resource(run, is_log, rng)).collect())));
        }
    }
    if spelling == Spelling::Any && rng.one_in(4) {
        fields.push(("resourceMetrics", Array(vec![Object(vec![("unknown", Raw("[1,{}]".to_owned()))])])));
    }
    let mut writer = Writer { spelling, rng, line: String::new() };
    writer.write(Object(fields), 0);
    writer.line
}

fn alike(left: &Record, right: &Record) -> bool {
    left.resource == right.resource && left.scope == right.scope
}

fn resource(run: &[&Record], is_log: bool, rng: &mut Rng) -> Tree {
    let (scopes, records) = if is_log { ("scopeLogs", "logRecords") } else { ("scopeSpans", "spans") };
    let [first, ..] = run else { unreachable!("a run has records") };
    let scope = Object(vec![("name", Text(first.scope.clone())), ("version", Text("1.0".to_owned()))]);
    let written = run.iter().map(|record| self::record(record, rng)).collect();
    Object(vec![
        ("resource", Object(vec![("attributes", attributes(&first.resource, rng))])),
        (scopes, Array(vec![Object(vec![("scope", scope), (records, Array(written))])])),
        ("schemaUrl", Text("https://opentelemetry.io/schemas/1.27.0".to_owned())),
    ])
}

fn record(record: &Record, rng: &mut Rng) -> Tree {
    let mut fields = match &record.shape {
        Shape::Log(log) => {
            let mut fields = vec![
                ("timeUnixNano", long(log.time, rng)),
                ("observedTimeUnixNano", long(log.observed_time, rng)),
                ("severityNumber", pick(rng, "9", "\"SEVERITY_NUMBER_INFO\"")),
                ("eventName", Text(log.event_name.clone())),
            ];
            fields.extend(log.body.as_ref().map(|body| ("body", any_value(body, rng))));
            fields
        }
        Shape::Span(span) => {
            let code = match span.status {
                0 => pick(rng, "0", "\"STATUS_CODE_UNSET\""),
                1 => pick(rng, "1", "\"STATUS_CODE_OK\""),
                _ => pick(rng, "2", "\"STATUS_CODE_ERROR\""),
            };
            vec![
                ("traceId", Text(hexadecimal(&span.trace_id, rng))),
                ("spanId", Text(hexadecimal(&span.id, rng))),
                ("name", Text(span.name.clone())),
                ("startTimeUnixNano", long(span.start, rng)),
                ("endTimeUnixNano", long(span.end, rng)),
                ("status", Object(vec![("code", code), ("message", Text("a message".to_owned()))])),
            ]
        }
    };
    fields.push(("attributes", attributes(&record.attributes, rng)));
    Object(fields)
}

/// Returns a 64-bit integer, which is a text in the standard and a number in some writers.
fn long(number: u64, rng: &mut Rng) -> Tree {
    if rng.one_in(2) { Raw(number.to_string()) } else { Text(number.to_string()) }
}

fn pick(rng: &mut Rng, one: &str, other: &str) -> Tree {
    Raw(rng.pick(&[one, other]).to_owned())
}

fn hexadecimal(id: &[u8], rng: &mut Rng) -> String {
    let upper = rng.one_in(3);
    id.iter().fold(String::new(), |mut text, byte| {
        let _ = if upper { write!(text, "{byte:02X}") } else { write!(text, "{byte:02x}") };
        text
    })
}

fn attributes(attributes: &Attributes, rng: &mut Rng) -> Tree {
    let entry = |(key, value): &(String, Value)| {
        Object(vec![("key", Text(key.clone())), ("value", any_value(value, rng))])
    };
    Array(attributes.iter().map(entry).collect())
}

fn any_value(value: &Value, rng: &mut Rng) -> Tree {
    let text = |text: String| Object(vec![("stringValue", Text(text))]);
    Object(vec![match value.encoded(rng) {
        Encoded::Text(text) => ("stringValue", Text(text)),
        Encoded::Int(number) if rng.one_in(2) => ("intValue", Raw(number.to_string())),
        Encoded::Int(number) => ("intValue", quoted(number)),
        Encoded::Double(number) => ("doubleValue", double(number, rng)),
        Encoded::Bool(flag) => ("boolValue", Raw(flag.to_string())),
        Encoded::List(texts) => {
            ("arrayValue", Object(vec![("values", Array(texts.into_iter().map(text).collect()))]))
        }
        Encoded::Map => ("kvlistValue", Object(vec![("values", Array(Vec::new()))])),
        Encoded::Bytes(_) => ("bytesValue", Text("NQ==".to_owned())),
        Encoded::Unset => return Object(Vec::new()),
    }])
}

/// Returns a number as a text without escapes.
fn quoted(number: impl Display) -> Tree {
    Raw(format!("\"{number}\""))
}

fn double(number: f64, rng: &mut Rng) -> Tree {
    match rng.below(4) {
        _ if number.is_nan() => quoted("NaN"),
        _ if number.is_infinite() => quoted("Infinity"),
        0 => quoted(number),
        1 => Raw(format!("{number:e}")),
        2 => Raw(format!("{number:?}")),
        _ => Raw(number.to_string()),
    }
}

struct Writer<'d> {
    spelling: Spelling,
    rng: &'d mut Rng,
    line: String,
}

impl Writer<'_> {
    fn write(&mut self, tree: Tree, depth: usize) {
        match tree {
            Object(mut fields) => {
                if self.is_any() {
                    self.rng.shuffle(&mut fields);
                    if depth < 8 && self.rng.one_in(6) {
                        let at = self.rng.below(fields.len() + 1);
                        let value = self.rng.pick(&["3", "null", "[{\"a\":\"]}\"}]", "\"x\\\"y\"", "-1e-7"]);
                        fields.insert(at, ("droppedAttributesCount", Raw(value.to_owned())));
                    }
                }
                self.list('{', '}', fields, |writer, (name, value)| {
                    let name = if writer.flip() { snake_case(name) } else { name.to_owned() };
                    writer.text(&name);
                    writer.blanks();
                    writer.line.push(':');
                    writer.blanks();
                    writer.write(value, depth + 1);
                });
            }
            Array(elements) => {
                self.list('[', ']', elements, |writer, element| writer.write(element, depth + 1));
            }
            Text(text) => self.text(&text),
            Raw(raw) => self.line.push_str(&raw),
        }
    }

    fn list<T>(&mut self, open: char, close: char, items: Vec<T>, mut write: impl FnMut(&mut Self, T)) {
        self.line.push(open);
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.line.push(',');
            }
            self.blanks();
            write(self, item);
            self.blanks();
        }
        self.line.push(close);
    }

    fn is_any(&self) -> bool {
        self.spelling == Spelling::Any
    }

    fn flip(&mut self) -> bool {
        self.is_any() && self.rng.one_in(2)
    }

    fn blanks(&mut self) {
        while self.is_any() && self.rng.one_in(12) {
            self.line.push(self.rng.pick(&[' ', '\t', '\r']));
        }
    }

    fn text(&mut self, text: &str) {
        self.line.push('"');
        let escapes = self.is_any() && self.rng.one_in(10);
        for char in text.chars() {
            match char {
                '"' | '\\' => {
                    self.line.push('\\');
                    self.line.push(char);
                }
                '/' if self.flip() => self.line.push_str("\\/"),
                '\n' if self.flip() => self.line.push_str("\\n"),
                '\t' if self.flip() => self.line.push_str("\\t"),
                _ if char < ' ' || (escapes && self.rng.one_in(3)) => {
                    for unit in char.encode_utf16(&mut [0; 2]) {
                        let _ = write!(self.line, "\\u{unit:04x}");
                    }
                }
                _ => self.line.push(char),
            }
        }
        self.line.push('"');
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for char in name.chars() {
        if char.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(char.to_ascii_lowercase());
    }
    snake
}
