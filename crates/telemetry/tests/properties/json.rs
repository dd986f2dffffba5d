//! The records as lines of JSON, in any spelling that the contract takes.

use std::fmt::{Display, Write};

use crate::dice::Dice;
use crate::model::{Attributes, Record, Sent, Shape, Value};

/// How lines are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// As the collector writes them.
    Usual,
    /// Every choice at random: names, quotes, enums, order of fields, blanks, escapes, unknown fields.
    Any,
}

/// A tree to be written.
enum Tree {
    Object(Vec<(&'static str, Self)>),
    Array(Vec<Self>),
    Text(String),
    /// Written as it is.
    Raw(String),
}

use Tree::{Array, Object, Raw, Text};

/// The records as lines, cut anywhere. Neighbours with the same resource and scope may share theirs.
pub(crate) fn lines(records: &[Record], spelling: Spelling, dice: &mut Dice) -> Vec<String> {
    dice.parts(records).iter().map(|part| line(part, spelling, dice)).collect()
}

pub(crate) fn line(records: &[Record], spelling: Spelling, dice: &mut Dice) -> String {
    let mut fields = Vec::new();
    for (is_log, name) in [(true, "resourceLogs"), (false, "resourceSpans")] {
        let of_kind: Vec<&Record> = records.iter().filter(|record| record.is_log() == is_log).collect();
        let mut runs: Vec<Vec<&Record>> = Vec::new();
        for record in of_kind {
            match runs.last_mut() {
                Some(run) if alike(run[0], record) && !dice.one_in(3) => run.push(record),
                _ => runs.push(vec![record]),
            }
        }
        if !runs.is_empty() {
            fields.push((name, Array(runs.iter().map(|run| resource(run, is_log, dice)).collect())));
        }
    }
    if spelling == Spelling::Any && dice.one_in(4) {
        fields.push(("resourceMetrics", Array(vec![Object(vec![("unknown", Raw("[1,{}]".to_owned()))])])));
    }
    let mut writer = Writer { spelling, dice, line: String::new() };
    writer.write(Object(fields), 0);
    writer.line
}

fn alike(left: &Record, right: &Record) -> bool {
    left.resource == right.resource && left.scope == right.scope
}

fn resource(run: &[&Record], is_log: bool, dice: &mut Dice) -> Tree {
    let (scopes, records) = if is_log { ("scopeLogs", "logRecords") } else { ("scopeSpans", "spans") };
    let [first, ..] = run else { unreachable!("a run has records") };
    let scope = Object(vec![("name", Text(first.scope.clone())), ("version", Text("1.0".to_owned()))]);
    let written = run.iter().map(|record| self::record(record, dice)).collect();
    Object(vec![
        ("resource", Object(vec![("attributes", attributes(&first.resource, dice))])),
        (scopes, Array(vec![Object(vec![("scope", scope), (records, Array(written))])])),
        ("schemaUrl", Text("https://opentelemetry.io/schemas/1.27.0".to_owned())),
    ])
}

fn record(record: &Record, dice: &mut Dice) -> Tree {
    let mut fields = match &record.shape {
        Shape::Log(log) => {
            let mut fields = vec![
                ("timeUnixNano", long(log.time, dice)),
                ("observedTimeUnixNano", long(log.observed_time, dice)),
                ("severityNumber", pick(dice, "9", "\"SEVERITY_NUMBER_INFO\"")),
                ("eventName", Text(log.event_name.clone())),
            ];
            fields.extend(log.body.as_ref().map(|body| ("body", any_value(body, dice))));
            fields
        }
        Shape::Span(span) => {
            let code = match span.status {
                0 => pick(dice, "0", "\"STATUS_CODE_UNSET\""),
                1 => pick(dice, "1", "\"STATUS_CODE_OK\""),
                _ => pick(dice, "2", "\"STATUS_CODE_ERROR\""),
            };
            vec![
                ("traceId", Text(hexadecimal(&span.trace_id, dice))),
                ("spanId", Text(hexadecimal(&span.id, dice))),
                ("name", Text(span.name.clone())),
                ("startTimeUnixNano", long(span.start, dice)),
                ("endTimeUnixNano", long(span.end, dice)),
                ("status", Object(vec![("code", code), ("message", Text("a message".to_owned()))])),
            ]
        }
    };
    fields.push(("attributes", attributes(&record.attributes, dice)));
    Object(fields)
}

/// A 64-bit integer, which JSON has as a text and some writers as a number.
fn long(number: u64, dice: &mut Dice) -> Tree {
    if dice.one_in(2) { Raw(number.to_string()) } else { Text(number.to_string()) }
}

fn pick(dice: &mut Dice, one: &str, other: &str) -> Tree {
    Raw(dice.pick(&[one, other]).to_owned())
}

fn hexadecimal(id: &[u8], dice: &mut Dice) -> String {
    let upper = dice.one_in(3);
    id.iter().fold(String::new(), |mut text, byte| {
        let _ = if upper { write!(text, "{byte:02X}") } else { write!(text, "{byte:02x}") };
        text
    })
}

fn attributes(attributes: &Attributes, dice: &mut Dice) -> Tree {
    let entry = |(key, value): &(String, Value)| {
        Object(vec![("key", Text(key.clone())), ("value", any_value(value, dice))])
    };
    Array(attributes.iter().map(entry).collect())
}

fn any_value(value: &Value, dice: &mut Dice) -> Tree {
    let text = |text: String| Object(vec![("stringValue", Text(text))]);
    Object(vec![match value.sent(dice) {
        Sent::Text(text) => ("stringValue", Text(text)),
        Sent::Int(number) if dice.one_in(2) => ("intValue", Raw(number.to_string())),
        Sent::Int(number) => ("intValue", quoted(number)),
        Sent::Double(number) => ("doubleValue", double(number, dice)),
        Sent::Bool(flag) => ("boolValue", Raw(flag.to_string())),
        Sent::List(texts) => {
            ("arrayValue", Object(vec![("values", Array(texts.into_iter().map(text).collect()))]))
        }
        Sent::Map => ("kvlistValue", Object(vec![("values", Array(Vec::new()))])),
        Sent::Bytes(_) => ("bytesValue", Text("NQ==".to_owned())),
        Sent::Unset => return Object(Vec::new()),
    }])
}

/// A number as text. Nobody writes its digits as escapes.
fn quoted(number: impl Display) -> Tree {
    Raw(format!("\"{number}\""))
}

fn double(number: f64, dice: &mut Dice) -> Tree {
    match dice.roll(4) {
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
    dice: &'d mut Dice,
    line: String,
}

impl Writer<'_> {
    fn write(&mut self, tree: Tree, depth: usize) {
        match tree {
            Object(mut fields) => {
                if self.is_any() {
                    self.dice.shuffle(&mut fields);
                    if depth < 8 && self.dice.one_in(6) {
                        let at = self.dice.roll(fields.len() + 1);
                        let value = self.dice.pick(&["3", "null", "[{\"a\":\"]}\"}]", "\"x\\\"y\"", "-1e-7"]);
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
        self.is_any() && self.dice.one_in(2)
    }

    fn blanks(&mut self) {
        while self.is_any() && self.dice.one_in(12) {
            self.line.push(self.dice.pick(&[' ', '\t', '\r']));
        }
    }

    fn text(&mut self, text: &str) {
        self.line.push('"');
        let escapes = self.is_any() && self.dice.one_in(10);
        for char in text.chars() {
            match char {
                '"' | '\\' => {
                    self.line.push('\\');
                    self.line.push(char);
                }
                '/' if self.flip() => self.line.push_str("\\/"),
                '\n' if self.flip() => self.line.push_str("\\n"),
                '\t' if self.flip() => self.line.push_str("\\t"),
                _ if char < ' ' || (escapes && self.dice.one_in(3)) => {
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
