//! OTLP in protobuf: the bodies of `ExportLogsServiceRequest` and `ExportTraceServiceRequest`.
//!
//! | message | fields read |
//! |---|---|
//! | request | 1 resource logs or spans |
//! | resource logs or spans | 1 resource (1 attributes), 2 scope logs or spans |
//! | scope logs or spans | 1 scope (1 name), 2 log records or spans |
//! | log record | 1 time, 5 body, 6 attributes, 11 observed time, 12 event name |
//! | span | 1 trace id, 2 span id, 5 name, 7 start, 8 end, 9 attributes, 15 status (3 code) |
//! | attribute | 1 key, 2 value |
//! | value | 1 text, 2 flag, 3 integer, 4 double, 5 array (1 values), 6 key-value list, 7 bytes |
//!
//! Messages are slices of the body, so no tree is built. Other fields are skipped.

mod wire;

use std::borrow::Cow;
use std::fmt;

use renown_core::time::Timestamp;

use crate::attributes::{Attributes, Key};
use crate::facts::{Batch, Signal};
use crate::prices::Prices;
use crate::record::{LogRecord, RecordReader, Scope, SpanRecord};
use crate::value::{List, Value};
use wire::{Field, Fields};

/// The reason why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// The body ends within a field.
    Truncated,
    /// A field has a wire type that OTLP does not use.
    WireType,
    /// A text is not UTF-8.
    NotUtf8,
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the protobuf body ends within a field",
            Self::WireType => "not the protobuf body of an OTLP request",
            Self::NotUtf8 => "a text in the protobuf body is not UTF-8",
        })
    }
}

impl std::error::Error for BodyError {}

/// Reads one request of an OTLP signal into the batch. If it is bad, the batch does not change.
pub fn read(body: &[u8], signal: Signal, prices: &Prices, batch: &mut Batch) -> Result<(), BodyError> {
    let mark = batch.checkpoint();
    batch.account.lines += 1;
    let outcome = walk(body, signal, prices, RecordReader::new(batch, 0));
    if outcome.is_err() {
        batch.roll_back(&mark);
    }
    outcome
}

/// Reads a body that may have more records than should be in memory at once; a record can be as small as two bytes.
/// First checks the whole body, then reads it. Calls `full`, which must empty the batch, whenever the batch has
/// `records_max` records.
pub fn read_in_parts<'b>(
    body: &[u8],
    signal: Signal,
    prices: &'b Prices,
    batch: &'b mut Batch,
    records_max: usize,
    full: &'b mut dyn FnMut(&mut Batch),
) -> Result<(), BodyError> {
    walk(body, signal, prices, RecordReader::dry(&mut Batch::default()))?;
    batch.account.lines += 1;
    walk(body, signal, prices, RecordReader::in_parts(batch, 0, records_max, full))
}

fn walk<'b, 'a>(
    body: &'a [u8],
    signal: Signal,
    prices: &'b Prices,
    reader: RecordReader<'b, 'a>,
) -> Result<(), BodyError> {
    let mut walk = Walk { signal, prices, reader, attributes: Attributes::new() };
    each(body, 1, |resource| walk.resource(resource))
}

/// Whether an array contains a wanted text.
pub(crate) fn any_of_list(array: &[u8], mut wanted: impl FnMut(&str) -> bool) -> bool {
    let mut found = false;
    let _ = each(array, 1, |value| {
        found = found || any_value(value)?.text().is_some_and(|text| wanted(&text));
        Ok(())
    });
    found
}

/// Calls `found` with every message in the field with this number.
fn each<'a>(
    message: &'a [u8],
    wanted: u64,
    mut found: impl FnMut(&'a [u8]) -> Result<(), BodyError>,
) -> Result<(), BodyError> {
    let mut fields = Fields::new(message);
    while let Some((number, field)) = fields.next()? {
        match field {
            Field::Bytes(bytes) if number == wanted => found(bytes)?,
            Field::Bytes(_) | Field::Varint(_) | Field::Fixed64(_) | Field::Fixed32 => {}
        }
    }
    Ok(())
}

struct Walk<'b, 'a> {
    signal: Signal,
    prices: &'b Prices,
    reader: RecordReader<'b, 'a>,
    attributes: Attributes<'a>,
}

impl<'a> Walk<'_, 'a> {
    fn resource(&mut self, message: &'a [u8]) -> Result<(), BodyError> {
        let mut resource = Attributes::new();
        each(message, 1, |message| each(message, 1, |message| attribute(message, &mut resource)))?;
        each(message, 2, |message| self.scope(message, &resource))
    }

    fn scope(&mut self, message: &'a [u8], resource: &Attributes<'a>) -> Result<(), BodyError> {
        let mut name = None;
        each(message, 1, |message| {
            each(message, 1, |bytes| {
                name = Some(text(bytes)?);
                Ok(())
            })
        })?;
        let scope = Scope::new(resource, name, self.prices);
        each(message, 2, |message| match self.signal {
            Signal::Logs | Signal::Transcript => self.log(message, &scope),
            Signal::Spans => self.span(message, &scope),
        })
    }

    fn log(&mut self, message: &'a [u8], scope: &Scope<'_, 'a>) -> Result<(), BodyError> {
        self.attributes.clear();
        let mut log = LogRecord::default();
        let mut fields = Fields::new(message);
        while let Some(field) = fields.next()? {
            match field {
                (1, Field::Fixed64(nanos)) => log.time = time(nanos),
                (5, Field::Bytes(body)) => {
                    if let Value::Text(body) = any_value(body)? {
                        log.body = Some(body.text());
                    }
                }
                (6, Field::Bytes(message)) => attribute(message, &mut self.attributes)?,
                (11, Field::Fixed64(nanos)) => log.observed_time = time(nanos),
                (12, Field::Bytes(name)) => log.event_name = Some(Cow::Borrowed(text(name)?)),
                _ => {}
            }
        }
        self.reader.log(&log, &self.attributes, scope);
        Ok(())
    }

    fn span(&mut self, message: &'a [u8], scope: &Scope<'_, 'a>) -> Result<(), BodyError> {
        self.attributes.clear();
        let mut span = SpanRecord::default();
        let mut fields = Fields::new(message);
        while let Some(field) = fields.next()? {
            match field {
                (1, Field::Bytes(id)) => span.trace_id = hexadecimal(id),
                (2, Field::Bytes(id)) => span.span_id = hexadecimal(id),
                (5, Field::Bytes(name)) => span.name = Cow::Borrowed(text(name)?),
                (7, Field::Fixed64(nanos)) => span.start = time(nanos),
                (8, Field::Fixed64(nanos)) => span.end = time(nanos),
                (9, Field::Bytes(message)) => attribute(message, &mut self.attributes)?,
                (15, Field::Bytes(status)) => span.is_error = is_error(status)?,
                _ => {}
            }
        }
        self.reader.span(&span, &self.attributes, scope);
        Ok(())
    }
}

fn text(bytes: &[u8]) -> Result<&str, BodyError> {
    std::str::from_utf8(bytes).map_err(|_| BodyError::NotUtf8)
}

/// Converts nanoseconds since 1970. Zero means no time.
fn time(nanos: u64) -> Option<Timestamp> {
    i64::try_from(nanos).ok().and_then(|nanos| Timestamp::from_nanos(nanos).ok())
}

/// Returns an id in lower-case hexadecimal, or an empty text if it is all zeros.
fn hexadecimal(id: &[u8]) -> Cow<'static, str> {
    let is_set = id.iter().any(|byte| *byte != 0);
    Cow::Owned(if is_set { renown_core::hex::encode(id) } else { String::new() })
}

/// Whether a status is ERROR.
fn is_error(message: &[u8]) -> Result<bool, BodyError> {
    const ERROR: u64 = 2;
    let (mut fields, mut is_error) = (Fields::new(message), false);
    while let Some(field) = fields.next()? {
        if let (3, Field::Varint(code)) = field {
            is_error = code == ERROR;
        }
    }
    Ok(is_error)
}

fn attribute<'a>(message: &'a [u8], into: &mut Attributes<'a>) -> Result<(), BodyError> {
    if !into.count_one() {
        return Ok(());
    }
    let (mut key, mut value) = (None, Value::Absent);
    let mut fields = Fields::new(message);
    while let Some(field) = fields.next()? {
        match field {
            (1, Field::Bytes(name)) => key = Key::of(text(name)?),
            (2, Field::Bytes(message)) => value = any_value(message)?,
            _ => {}
        }
    }
    if let Some(key) = key {
        into.put(key, value);
    }
    Ok(())
}

/// Reads a value of any type. If there are several, the last one counts.
fn any_value(message: &[u8]) -> Result<Value<'_>, BodyError> {
    let (mut fields, mut value) = (Fields::new(message), Value::Absent);
    while let Some(field) = fields.next()? {
        value = match field {
            (1, Field::Bytes(bytes)) => Value::plain(text(bytes)?),
            (2, Field::Varint(flag)) => Value::Bool(flag != 0),
            (3, Field::Varint(int)) => Value::Int(int.cast_signed()),
            (4, Field::Fixed64(bits)) => Value::Double(f64::from_bits(bits)),
            (5, Field::Bytes(array)) => Value::List(List::Protobuf(array)),
            (6 | 7, Field::Bytes(_)) => Value::Absent,
            _ => continue,
        };
    }
    Ok(value)
}
