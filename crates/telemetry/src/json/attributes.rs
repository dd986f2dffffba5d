//! Reads attributes and their values.
//!
//! Attributes are the largest part of a record. Two shortcuts use what is nearly always true:
//!
//! - Writers format attributes in the same way. [`usual`] tries this one format. The general reader is the fallback.
//! - Neighboring records begin with the same attributes (agent, service, session). [`PreviousList`] stores where each

use super::cursor::{Cursor, Start};
use super::{LineError, Walked, list, message, text};
use crate::attributes::{Attributes, Key, Set};
use crate::value::{List, Value};

/// Reads the attributes of a resource.
pub(super) fn attributes<'a>(cursor: &mut Cursor<'a>, depth: usize, into: &mut Attributes<'a>) -> Walked {
    list(cursor, depth, |cursor| any(cursor, depth + 1, into))
}

/// The attribute list of the previous record, and the end of each of its attributes.
#[derive(Default)]
pub(super) struct PreviousList<'a> {
    list: &'a str,
    ends: Vec<End>,
}

/// The end of an attribute and its comma, and the set of attributes up to there.
struct End {
    at: usize,
    set: Set,
}

impl<'a> PreviousList<'a> {
    /// Reads the attributes of a record. `into` still has the values of the previous record.
    pub(super) fn attributes(
        &mut self,
        cursor: &mut Cursor<'a>,
        depth: usize,
        into: &mut Attributes<'a>,
    ) -> Walked {
        // A record with two attribute lists is not compared with the next record.
        if cursor.start()? != Start::Array || !into.is_clear() {
            *self = Self::default();
            return attributes(cursor, depth, into);
        }
        cursor.expect(b'[', "an array")?;
        let list = cursor.rest();
        if let Some(end) = self.skip_same(list) {
            cursor.advance(end.at);
            into.restore(end.set);
        } else {
            cursor.blanks();
            if cursor.eat(b"]") {
                return Ok(());
            }
        }
        loop {
            cursor.blanks();
            any(cursor, depth + 1, into)?;
            cursor.blanks();
            if !cursor.eat(b",") {
                return cursor.expect(b']', "a comma or the end of the array");
            }
            self.ends.push(End { at: cursor.since(list), set: into.set() });
        }
    }

    /// Returns the end of the attributes that both lists have in common. The previous list is replaced by this list.
    fn skip_same(&mut self, list: &'a str) -> Option<&End> {
        let mut start = 0;
        let same = |end: &&End| {
            let range = start..end.at;
            start = end.at;
            list.as_bytes().get(range.clone()) == self.list.as_bytes().get(range)
        };
        let count = self.ends.iter().take_while(same).count();
        self.ends.truncate(count);
        self.list = list;
        self.ends.last()
    }
}

fn any<'a>(cursor: &mut Cursor<'a>, depth: usize, into: &mut Attributes<'a>) -> Walked {
    if !into.count_one() {
        return cursor.skip(depth);
    }
    if usual(cursor, into).is_some() { Ok(()) } else { attribute(cursor, depth, into) }
}

/// Reads an attribute in the format that nearly all writers use. If the format differs, returns `None` and does not
/// move the cursor.
#[inline]
fn usual<'a>(cursor: &mut Cursor<'a>, into: &mut Attributes<'a>) -> Option<()> {
    let mut at = *cursor;
    if !at.eat(br#"{"key":""#) {
        return None;
    }
    let key = at.plain_rest()?;
    if !at.eat(br#","value":{""#) {
        return None;
    }
    let value = usual_value(&mut at)?;
    if !at.eat(b"}}") {
        return None;
    }
    if let Some(key) = Key::of(key) {
        into.put(key, value);
    }
    *cursor = at;
    Some(())
}

/// Reads a value in this format, without the braces around it.
#[inline]
fn usual_value<'a>(at: &mut Cursor<'a>) -> Option<Value<'a>> {
    if at.eat(br#"stringValue":""#) {
        return at.quoted_rest().ok().map(Value::Text);
    }
    if at.eat(br#"intValue":"#) {
        return if at.eat(b"\"") { at.plain_rest().map(int) } else { at.number().ok().map(int) };
    }
    if at.eat(br#"doubleValue":"#) { at.number().ok().map(Value::Decimal) } else { None }
}

/// Reads an attribute in any format.
fn attribute<'a>(cursor: &mut Cursor<'a>, depth: usize, into: &mut Attributes<'a>) -> Walked {
    let (mut key, mut value) = (None, Value::Absent);
    message(cursor, depth, |cursor, name| {
        match name {
            "key" => key = text(cursor, depth + 1)?,
            "value" => value = any_value(cursor, depth + 1)?,
            _ => cursor.skip(depth + 1)?,
        }
        Ok(())
    })?;
    if let Some(key) = key.and_then(|key| Key::of(&key)) {
        into.put(key, value);
    }
    Ok(())
}

/// Reads a value of any type. If there are several, the last one counts, as in protobuf.
pub(super) fn any_value<'a>(cursor: &mut Cursor<'a>, depth: usize) -> Result<Value<'a>, LineError> {
    let mut at = *cursor;
    if at.eat(br#"{""#)
        && let Some(value) = usual_value(&mut at)
        && at.eat(b"}")
    {
        *cursor = at;
        return Ok(value);
    }
    let mut value = Value::Absent;
    message(cursor, depth, |cursor, name| {
        let inner = depth + 1;
        value = match name {
            "stringValue" | "string_value" | "boolValue" | "bool_value" => scalar(cursor, inner)?,
            "intValue" | "int_value" => match scalar(cursor, inner)? {
                Value::Text(quoted) if !quoted.escaped => int(quoted.raw),
                Value::Decimal(written) => int(written),
                other @ (Value::Absent
                | Value::Text(_)
                | Value::Int(_)
                | Value::Double(_)
                | Value::Bool(_)
                | Value::List(_)) => other,
            },
            "doubleValue" | "double_value" => match scalar(cursor, inner)? {
                Value::Text(quoted) if !quoted.escaped => Value::Decimal(quoted.raw),
                other @ (Value::Absent
                | Value::Text(_)
                | Value::Int(_)
                | Value::Decimal(_)
                | Value::Double(_)
                | Value::Bool(_)
                | Value::List(_)) => other,
            },
            "arrayValue" | "array_value" => Value::List(List::Json(cursor.raw(inner)?)),
            "kvlistValue" | "kvlist_value" | "bytesValue" | "bytes_value" => {
                cursor.skip(inner)?;
                Value::Absent
            }
            _ => return cursor.skip(inner),
        };
        Ok(())
    })?;
    Ok(value)
}

/// Reads a JSON scalar. Any other value is absent.
fn scalar<'a>(cursor: &mut Cursor<'a>, depth: usize) -> Result<Value<'a>, LineError> {
    Ok(match cursor.start()? {
        Start::Text => Value::Text(cursor.quoted()?),
        Start::Number => Value::Decimal(cursor.number()?),
        Start::True => {
            cursor.literal("true")?;
            Value::Bool(true)
        }
        Start::False => {
            cursor.literal("false")?;
            Value::Bool(false)
        }
        Start::Object | Start::Array | Start::Null => {
            cursor.skip(depth)?;
            Value::Absent
        }
    })
}

/// Reads the text of an integer. If it is not an integer, the error is reported when the value is used as a number.
fn int(written: &str) -> Value<'_> {
    written.trim().parse().map_or(Value::Decimal(written), Value::Int)
}
