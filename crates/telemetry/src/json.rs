//! OTLP in JSON: one object per line, as written by the collector's file exporter, or one body of OTLP/HTTP.
//!
//! ```text
//! { resourceLogs:  [ { resource: {attributes}, scopeLogs:  [ { scope: {name}, logRecords: [ … ] } ] } ],
//!   resourceSpans: [ { resource: {attributes}, scopeSpans: [ { scope: {name}, spans:      [ … ] } ] } ] }
//! ```
//!
//! The reader is lenient about how protobuf is mapped to JSON: names in lowerCamelCase or `snake_case`, 64-bit
//! integers as numbers or texts, enums as numbers or names, `null` for absent values, fields in any order. Unknown
//! fields and `resourceMetrics` are skipped.
//!
//! The reader builds no tree.
//!
//! A line counts as a whole or not at all: if it is bad, the batch is restored to its state before the line.
//!
//! `{}` is an empty request. A non-empty object without any of the three signals is a bad line.

mod attributes;
pub(crate) mod cursor;
mod text;

use std::borrow::Cow;
use std::fmt;

use renown_core::time::Timestamp;

use crate::attributes::Attributes;
use crate::facts::Batch;
use crate::limits::{LINE_BYTES_MAX, NESTING_MAX};
use crate::prices::Prices;
use crate::record::{LogRecord, RecordReader, Scope, SpanRecord};
use crate::value::{Value, trimmed};

use attributes::{PreviousList, any_value, attributes};
use cursor::{Cursor, Start};
pub(crate) use text::{Quoted, unescape};

/// The reason why a line was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineError {
    /// The line is not UTF-8.
    NotUtf8 {
        /// Position of the byte, counted from 1.
        column: usize,
    },
    /// The line is not JSON.
    NotJson {
        /// Position of the byte, counted from 1.
        column: usize,
        /// What was expected at this position.
        expected: &'static str,
    },
    /// The line is JSON, but not OTLP.
    NotOtlp {
        /// What was expected.
        expected: &'static str,
    },
    /// The line is nested too deeply.
    TooDeep,
    /// The line is too long.
    TooLong,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 { column } => write!(f, "byte {column} is not UTF-8"),
            Self::NotJson { column, expected } => write!(f, "not JSON at byte {column}, expected {expected}"),
            Self::NotOtlp { expected } => write!(f, "JSON but not OTLP, expected {expected}"),
            Self::TooDeep => write!(f, "nested more than {NESTING_MAX} deep"),
            Self::TooLong => write!(f, "longer than {} MiB", LINE_BYTES_MAX >> 20),
        }
    }
}

impl std::error::Error for LineError {}

impl LineError {
    /// Whether the line may be incomplete JSON, because its writer has not finished it yet.
    pub fn is_incomplete(self) -> bool {
        match self {
            Self::NotUtf8 { .. } | Self::NotJson { .. } => true,
            Self::NotOtlp { .. } | Self::TooDeep | Self::TooLong => false,
        }
    }
}

/// Reads one object, which is line `number`, into the batch. If it is bad, the batch does not change.
pub fn read(line: &[u8], number: u64, prices: &Prices, batch: &mut Batch) -> Result<(), LineError> {
    let text = checked_text(line)?;
    let mark = batch.checkpoint();
    batch.account.lines += 1;
    let outcome = walk(text, prices, RecordReader::new(batch, number));
    if outcome.is_err() {
        batch.roll_back(&mark);
    }
    outcome
}

/// Reads a line that may have more records than should be in memory at once. First checks the whole line, then reads
/// it. Calls `full`, which must empty the batch, whenever the batch has `records_max` records.
pub fn read_in_parts<'b>(
    line: &[u8],
    number: u64,
    prices: &'b Prices,
    batch: &'b mut Batch,
    records_max: usize,
    full: &'b mut dyn FnMut(&mut Batch),
) -> Result<(), LineError> {
    let text = checked_text(line)?;
    walk(text, prices, RecordReader::dry(&mut Batch::default()))?;
    batch.account.lines += 1;
    walk(text, prices, RecordReader::in_parts(batch, number, records_max, full))
}

fn walk<'b, 'a>(text: &'a str, prices: &'b Prices, reader: RecordReader<'b, 'a>) -> Result<(), LineError> {
    let mut walk = Walk { prices, reader, attributes: Attributes::new(), previous: PreviousList::default() };
    let mut cursor = Cursor::new(text);
    let outcome = walk.request(&mut cursor).and_then(|()| cursor.end());
    match outcome {
        // Invalid JSON is reported first: the shape of an unfinished line may be wrong only because the rest is
        // missing.
        Err(LineError::NotOtlp { .. }) => is_json(text).and(outcome),
        _ => outcome,
    }
}

fn is_json(text: &str) -> Result<(), LineError> {
    let mut cursor = Cursor::new(text);
    cursor.skip(0)?;
    cursor.end()
}

fn checked_text(line: &[u8]) -> Result<&str, LineError> {
    if line.len() > LINE_BYTES_MAX {
        return Err(LineError::TooLong);
    }
    std::str::from_utf8(line).map_err(|error| LineError::NotUtf8 { column: error.valid_up_to() + 1 })
}

/// Whether an `arrayValue` contains a wanted text.
pub(crate) fn any_of_list(raw: &str, mut wanted: impl FnMut(&str) -> bool) -> bool {
    let mut found = false;
    let _ = Cursor::new(raw).object(0, |cursor, name| {
        if !matches!(name, "values") {
            return cursor.skip(1);
        }
        cursor.array(1, |cursor| {
            let value = any_value(cursor, 2)?;
            found = found || value.text().is_some_and(|text| wanted(&text));
            Ok(())
        })
    });
    found
}

/// Whether a text that is a JSON array contains a wanted text.
pub(crate) fn any_of_array(text: &str, mut wanted: impl FnMut(&str) -> bool) -> bool {
    let mut found = false;
    let _ = Cursor::new(text).array(0, |cursor| {
        if cursor.start()? != Start::Text {
            return cursor.skip(1);
        }
        found |= wanted(&cursor.quoted()?.text());
        Ok(())
    });
    found
}

/// The OTLP signal that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Logs,
    Spans,
}

/// The state while one line is read.
struct Walk<'b, 'a> {
    prices: &'b Prices,
    reader: RecordReader<'b, 'a>,
    /// Attributes of the current record. They stay for the next record, which may begin with the same ones.
    attributes: Attributes<'a>,
    previous: PreviousList<'a>,
}

type Walked = Result<(), LineError>;

impl<'a> Walk<'_, 'a> {
    fn request(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        const EXPECTED: &str = "an object with resourceLogs, resourceSpans or resourceMetrics";
        if cursor.start()? != Start::Object {
            return Err(LineError::NotOtlp { expected: EXPECTED });
        }
        let (mut fields, mut known) = (0, 0);
        cursor.object(0, |cursor, name| {
            fields += 1;
            let kind = match name {
                "resourceLogs" | "resource_logs" => Kind::Logs,
                "resourceSpans" | "resource_spans" => Kind::Spans,
                "resourceMetrics" | "resource_metrics" => {
                    known += 1;
                    return cursor.skip(1);
                }
                _ => return cursor.skip(1),
            };
            known += 1;
            list(cursor, 1, |cursor| self.resource(cursor, kind))
        })?;
        // An object without fields is a request without records.
        if known == 0 && fields > 0 { Err(LineError::NotOtlp { expected: EXPECTED }) } else { Ok(()) }
    }

    /// Reads one element of `resourceLogs` or `resourceSpans`. The resource may come after its scopes.
    fn resource(&mut self, cursor: &mut Cursor<'a>, kind: Kind) -> Walked {
        let mut resource = Attributes::new();
        let mut has_resource = false;
        let mut early: Vec<&'a str> = Vec::new();
        message(cursor, 2, |cursor, name| match name {
            "resource" => {
                has_resource = true;
                message(cursor, 3, |cursor, name| match name {
                    "attributes" => attributes(cursor, 4, &mut resource),
                    _ => cursor.skip(4),
                })
            }
            "scopeLogs" | "scope_logs" | "scopeSpans" | "scope_spans" if !has_resource => {
                early.push(cursor.raw(3)?);
                Ok(())
            }
            "scopeLogs" | "scope_logs" | "scopeSpans" | "scope_spans" => self.scopes(cursor, kind, &resource),
            _ => cursor.skip(3),
        })?;
        early.into_iter().try_for_each(|raw| self.scopes(&mut Cursor::new(raw), kind, &resource))
    }

    fn scopes(&mut self, cursor: &mut Cursor<'a>, kind: Kind, resource: &Attributes<'a>) -> Walked {
        list(cursor, 3, |cursor| self.scope(cursor, kind, resource))
    }

    /// Reads one element of `scopeLogs` or `scopeSpans`. The scope may come after its records.
    fn scope(&mut self, cursor: &mut Cursor<'a>, kind: Kind, resource: &Attributes<'a>) -> Walked {
        let mut scope = Scope::new(resource, None, self.prices);
        let mut has_scope = false;
        let mut early: Vec<&'a str> = Vec::new();
        message(cursor, 4, |cursor, name| match name {
            "scope" => {
                has_scope = true;
                message(cursor, 5, |cursor, name| match name {
                    "name" => {
                        scope = Scope::new(resource, text(cursor, 6)?.as_deref(), self.prices);
                        Ok(())
                    }
                    _ => cursor.skip(6),
                })
            }
            "logRecords" | "log_records" | "spans" if !has_scope => {
                early.push(cursor.raw(5)?);
                Ok(())
            }
            "logRecords" | "log_records" | "spans" => self.records(cursor, kind, &scope),
            _ => cursor.skip(5),
        })?;
        early.into_iter().try_for_each(|raw| self.records(&mut Cursor::new(raw), kind, &scope))
    }

    fn records(&mut self, cursor: &mut Cursor<'a>, kind: Kind, scope: &Scope<'_, 'a>) -> Walked {
        list(cursor, 5, |cursor| match kind {
            Kind::Logs => self.log(cursor, scope),
            Kind::Spans => self.span(cursor, scope),
        })
    }

    fn log(&mut self, cursor: &mut Cursor<'a>, scope: &Scope<'_, 'a>) -> Walked {
        let Self { reader, attributes: own, previous, .. } = self;
        own.clear();
        let mut log = LogRecord::default();
        message(cursor, 6, |cursor, name| {
            match name {
                "timeUnixNano" | "time_unix_nano" => log.time = time(cursor)?,
                // The observed time is only a fallback, and the event time usually comes first.
                "observedTimeUnixNano" | "observed_time_unix_nano" if log.time.is_some() => cursor.skip(7)?,
                "observedTimeUnixNano" | "observed_time_unix_nano" => log.observed_time = time(cursor)?,
                "eventName" | "event_name" => log.event_name = text(cursor, 7)?,
                "body" => log.body = body(cursor)?,
                "attributes" => previous.attributes(cursor, 7, own)?,
                _ => cursor.skip(7)?,
            }
            Ok(())
        })?;
        reader.log(&log, own, scope);
        Ok(())
    }

    fn span(&mut self, cursor: &mut Cursor<'a>, scope: &Scope<'_, 'a>) -> Walked {
        let Self { reader, attributes: own, previous, .. } = self;
        own.clear();
        let mut span = SpanRecord::default();
        message(cursor, 6, |cursor, name| {
            match name {
                "name" => span.name = text(cursor, 7)?.unwrap_or_default(),
                "traceId" | "trace_id" => span.trace_id = hexadecimal(text(cursor, 7)?),
                "spanId" | "span_id" => span.span_id = hexadecimal(text(cursor, 7)?),
                "startTimeUnixNano" | "start_time_unix_nano" => span.start = time(cursor)?,
                "endTimeUnixNano" | "end_time_unix_nano" => span.end = time(cursor)?,
                "status" => span.is_error = is_error(cursor)?,
                "attributes" => previous.attributes(cursor, 7, own)?,
                _ => cursor.skip(7)?,
            }
            Ok(())
        })?;
        reader.span(&span, own, scope);
        Ok(())
    }
}

/// Reads a message: an object, or `null` for an empty one.
fn message<'a>(
    cursor: &mut Cursor<'a>,
    depth: usize,
    field: impl FnMut(&mut Cursor<'a>, &str) -> Walked,
) -> Walked {
    match cursor.start()? {
        Start::Object => cursor.object(depth, field),
        Start::Null => cursor.skip(depth),
        Start::Array | Start::Text | Start::Number | Start::True | Start::False => {
            Err(LineError::NotOtlp { expected: "an object where OTLP has a message" })
        }
    }
}

/// Reads a repeated field: an array, or `null` for an empty one.
fn list<'a>(cursor: &mut Cursor<'a>, depth: usize, element: impl FnMut(&mut Cursor<'a>) -> Walked) -> Walked {
    match cursor.start()? {
        Start::Array | Start::Null => cursor.array(depth, element),
        Start::Object | Start::Text | Start::Number | Start::True | Start::False => {
            Err(LineError::NotOtlp { expected: "an array where OTLP has a list" })
        }
    }
}

/// Reads a text, or the text of a number. Returns `None` for any other value.
fn text<'a>(cursor: &mut Cursor<'a>, depth: usize) -> Result<Option<Cow<'a, str>>, LineError> {
    match cursor.start()? {
        Start::Text => Ok(Some(cursor.quoted()?.text())),
        Start::Number => Ok(Some(Cow::Borrowed(cursor.number()?))),
        Start::Object | Start::Array | Start::True | Start::False | Start::Null => {
            cursor.skip(depth)?;
            Ok(None)
        }
    }
}

/// Reads nanoseconds since 1970 from a number or text. They are parsed as an integer, because they exceed 2^53. Zero
/// means no time.
fn time(cursor: &mut Cursor<'_>) -> Result<Option<Timestamp>, LineError> {
    let nanos = text(cursor, 7)?.and_then(|text| trimmed(text).parse().ok());
    Ok(nanos.and_then(|nanos| Timestamp::from_nanos(nanos).ok()))
}

/// Reads a body. Returns `None` if it is not a text.
fn body<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Cow<'a, str>>, LineError> {
    match any_value(cursor, 7)? {
        Value::Text(quoted) => Ok(Some(quoted.text())),
        Value::Absent
        | Value::Int(_)
        | Value::Decimal(_)
        | Value::Double(_)
        | Value::Bool(_)
        | Value::List(_) => Ok(None),
    }
}

/// Returns an id in lower case, or an empty text if it is all zeros.
fn hexadecimal(id: Option<Cow<'_, str>>) -> Cow<'_, str> {
    match id {
        Some(id) if id.bytes().all(|byte| byte == b'0') => Cow::Borrowed(""),
        Some(id) if id.bytes().any(|byte| byte.is_ascii_uppercase()) => Cow::Owned(id.to_ascii_lowercase()),
        Some(id) => id,
        None => Cow::Borrowed(""),
    }
}

/// Whether a status is ERROR.
fn is_error(cursor: &mut Cursor<'_>) -> Result<bool, LineError> {
    let mut is_error = false;
    message(cursor, 7, |cursor, name| match name {
        "code" => {
            is_error = matches!(text(cursor, 8)?.as_deref(), Some("2" | "STATUS_CODE_ERROR"));
            Ok(())
        }
        _ => cursor.skip(8),
    })?;
    Ok(is_error)
}
