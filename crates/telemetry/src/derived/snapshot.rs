//! The snapshot of folded traces: their bytes, so that a store can continue them.
//!
//! ```text
//! version 1 | logs | spans          logs, spans: 0 empty | 1 stale | 2 fold
//! fold: first other? | tools | entries | streak? | reached? | latest
//! ```
//!
//! A time is the difference to the time before it. Steps are sorted, so most times take a few bytes. A tool is its
//! index in the list of tools.

use std::collections::{HashSet, VecDeque};
use std::num::Saturating;
use std::sync::Arc;

use renown_core::time::Timestamp;

use super::fold::{Entry, Fold, FoldedTraces, Key, Side};
use super::{Calls, Moment};
use crate::bytes::{Cursor, Read, Unreadable, Writer};
use crate::facts::Fingerprint;
use crate::limits::{FOLDED_TRACES_MAX, LATEST_STEPS_MAX};
use crate::stored::number_of;

const VERSION: u8 = 1;

// Kinds of sides.
const EMPTY: u8 = 0;
const STALE: u8 = 1;
const FOLD: u8 = 2;

/// The success of a call at the index of its number.
const OKS: [Option<bool>; 3] = [Some(false), Some(true), None];

impl FoldedTraces {
    /// Encodes the traces as a snapshot.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Writer(vec![VERSION]);
        for side in [&self.logs, &self.spans] {
            match side {
                Side::Stale => bytes.0.push(STALE),
                Side::Exact(fold) if **fold == Fold::default() => bytes.0.push(EMPTY),
                Side::Exact(fold) => {
                    bytes.0.push(FOLD);
                    write(&mut bytes, fold);
                }
            }
        }
        bytes.0
    }

    /// Decodes a snapshot. Returns `None` if the bytes are not valid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(bytes);
        let folded = read_sides(&mut cursor).ok()?;
        cursor.0.is_empty().then_some(folded)
    }
}

/// The previous time, which the next one is written relative to.
struct Times(i64);

impl Times {
    fn write(&mut self, bytes: &mut Writer, (_, at, sequence): Moment) {
        bytes.0.push(at.is_some().into());
        if let Some(at) = at {
            // A negative difference wraps around, and wraps back when it is read.
            bytes.varint((i128::from(at.nanos()) - i128::from(self.0)).cast_unsigned());
            self.0 = at.nanos();
        }
        bytes.optional_number(sequence);
    }

    fn read(&mut self, cursor: &mut Cursor<'_>) -> Read<Moment> {
        let at = cursor.optional(|cursor| {
            let nanos = i128::from(self.0).checked_add(cursor.varint()?.cast_signed()).ok_or(Unreadable)?;
            let at = i64::try_from(nanos).ok().and_then(|nanos| Timestamp::from_nanos(nanos).ok());
            at.ok_or(Unreadable)
        })?;
        self.0 = at.map_or(self.0, Timestamp::nanos);
        Ok((at.is_none(), at, cursor.optional_number()?))
    }
}

fn write(bytes: &mut Writer, fold: &Fold) {
    let mut times = Times(0);
    bytes.0.push(fold.first_other.is_some().into());
    if let Some(moment) = fold.first_other {
        Times(0).write(bytes, moment);
    }
    let streak = fold.entries.last().and_then(|entry| entry.calls.streak.as_ref());
    let mut tools: Vec<&str> = Vec::new();
    let named = streak.and_then(|(tool, _)| tool.as_ref()).into_iter();
    for tool in named.chain(fold.reached.iter().chain(&fold.latest).filter_map(|key| key.tool.as_ref())) {
        if !tools.contains(&&**tool) {
            tools.push(tool);
        }
    }
    let number = |tool: Option<&Arc<str>>| {
        tool.and_then(|tool| tools.iter().position(|known| **known == **tool)).map(|index| index as u64)
    };
    bytes.varint(tools.len() as u128);
    for tool in &tools {
        bytes.text(tool);
    }
    bytes.varint(fold.entries.len() as u128);
    for entry in &fold.entries {
        write_entry(bytes, entry, &mut times);
    }
    bytes.0.push(streak.is_some().into());
    if let Some((tool, count)) = streak {
        bytes.optional_number(number(tool.as_ref()));
        bytes.varint((*count).into());
    }
    bytes.0.push(fold.reached.is_some().into());
    bytes.varint(fold.latest.len() as u128);
    for key in fold.reached.iter().chain(&fold.latest) {
        times.write(bytes, key.moment);
        bytes.0.push(key.is_call.into());
        if key.is_call {
            bytes.0.push(number_of(&OKS, &key.ok));
            bytes.optional_number(number(key.tool.as_ref()));
        } else {
            write_trace(bytes, key.trace);
        }
    }
}

fn write_entry(bytes: &mut Writer, entry: &Entry, times: &mut Times) {
    if let Some(prompt) = entry.prompt {
        times.write(bytes, prompt);
        write_trace(bytes, entry.trace);
    } else {
        bytes.optional_time(entry.started_at);
    }
    bytes.0.push(entry.last.is_some().into());
    if let Some(last) = entry.last {
        times.write(bytes, last);
    }
    for count in [entry.calls.all.0, entry.calls.ok.0, entry.calls.longest] {
        bytes.varint(count.into());
    }
}

fn write_trace(bytes: &mut Writer, trace: Option<Fingerprint>) {
    bytes.optional_number(trace.map(|trace| trace.get() - 1));
}

fn read_sides(cursor: &mut Cursor<'_>) -> Read<FoldedTraces> {
    if cursor.byte()? != VERSION {
        return Err(Unreadable);
    }
    let mut side = || match cursor.byte()? {
        EMPTY => Ok(Side::default()),
        STALE => Ok(Side::Stale),
        FOLD => Ok(Side::Exact(Box::new(read(cursor)?))),
        _ => Err(Unreadable),
    };
    Ok(FoldedTraces { logs: side()?, spans: side()? })
}

fn read(cursor: &mut Cursor<'_>) -> Read<Fold> {
    let mut times = Times(0);
    let first_other = cursor.optional(|cursor| Times(0).read(cursor))?;
    // At most one tool for each of the latest steps, one for the streak and one for `reached`.
    let tools: Vec<Arc<str>> = list(cursor, LATEST_STEPS_MAX + 2, |cursor, _| cursor.text().map(Arc::from))?;
    let entries = list(cursor, FOLDED_TRACES_MAX, |cursor, index| read_entry(cursor, index, &mut times))?;
    let mut fold = Fold { first_other, entries, ..Fold::default() };
    fold.known = fold.entries.iter().filter_map(|entry| entry.trace).collect::<HashSet<_>>();
    let streak = cursor.optional(|cursor| Ok((read_tool(cursor, &tools)?, count(cursor)?)))?;
    fold.entries.last_mut().ok_or(Unreadable)?.calls.streak = streak;
    let has_reached = cursor.flag()?;
    let length = cursor.number()?;
    if has_reached {
        fold.reached = Some(read_key(cursor, &tools, &mut times)?);
    }
    if length > LATEST_STEPS_MAX as u64 {
        return Err(Unreadable);
    }
    let latest = (0..length).map(|_| read_key(cursor, &tools, &mut times));
    fold.latest = latest.collect::<Read<VecDeque<Key>>>()?;
    Ok(fold)
}

/// Reads a list with at most `max` elements.
fn list<'a, T>(
    cursor: &mut Cursor<'a>,
    max: usize,
    mut read: impl FnMut(&mut Cursor<'a>, usize) -> Read<T>,
) -> Read<Vec<T>> {
    let length = usize::try_from(cursor.varint()?).ok().filter(|length| *length <= max).ok_or(Unreadable)?;
    (0..length).map(|index| read(cursor, index)).collect()
}

fn read_entry(cursor: &mut Cursor<'_>, index: usize, times: &mut Times) -> Read<Entry> {
    let (prompt, trace, started_at) = if index == 0 {
        (None, None, cursor.optional(Cursor::time)?)
    } else {
        let prompt = times.read(cursor)?;
        (Some(prompt), read_trace(cursor)?, prompt.1)
    };
    let last = cursor.optional(|cursor| times.read(cursor))?;
    let (all, ok) = (Saturating(count(cursor)?), Saturating(count(cursor)?));
    let calls = Calls { all, ok, longest: count(cursor)?, streak: None };
    Ok(Entry { prompt, trace, started_at, last, calls })
}

fn read_key(cursor: &mut Cursor<'_>, tools: &[Arc<str>], times: &mut Times) -> Read<Key> {
    let moment = times.read(cursor)?;
    if !cursor.flag()? {
        return Ok(Key::prompt(moment, read_trace(cursor)?));
    }
    let ok = cursor.one_of(&OKS)?;
    Ok(Key { tool: read_tool(cursor, tools)?, ..Key::call(moment, None, ok) })
}

fn read_trace(cursor: &mut Cursor<'_>) -> Read<Option<Fingerprint>> {
    let trace = cursor.optional_number()?;
    trace.map(|trace| trace.checked_add(1).and_then(Fingerprint::new).ok_or(Unreadable)).transpose()
}

fn read_tool(cursor: &mut Cursor<'_>, tools: &[Arc<str>]) -> Read<Option<Arc<str>>> {
    let number = cursor.optional_number()?;
    let tool = |number| usize::try_from(number).ok().and_then(|number| tools.get(number).cloned());
    number.map(|number| tool(number).ok_or(Unreadable)).transpose()
}

fn count(cursor: &mut Cursor<'_>) -> Read<u32> {
    u32::try_from(cursor.number()?).map_err(|_| Unreadable)
}
