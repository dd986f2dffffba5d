//! One line, as far as the table names its fields.

use std::borrow::Cow;

use renown_core::time::Timestamp;

use super::text::{self, Verdict};
use crate::facts::{Decider, Tokens};
use crate::json::cursor::{Cursor, Start};
use crate::transcript::scan::{self, Walked};

/// Token counts with the names of Codex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) input: u64,
    pub(super) cached: u64,
    pub(super) written: u64,
    pub(super) output: u64,
    pub(super) total: u64,
}

/// The fields of a line.
#[derive(Default)]
pub(super) struct Fields<'a> {
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) at: Option<Timestamp>,
    pub(super) ordinal: Option<u64>,
    pub(super) has_payload: bool,
    pub(super) payload: Payload<'a>,
}

/// The fields of a payload, of any type.
#[derive(Default)]
pub(super) struct Payload<'a> {
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) call: Option<Cow<'a, str>>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) status: Option<Cow<'a, str>>,
    pub(super) is_ok: Option<bool>,
    pub(super) exit_code: Option<u64>,
    pub(super) output: Option<text::Output<'a>>,
    pub(super) role: Option<Cow<'a, str>>,
    pub(super) head: Option<Cow<'a, str>>,
    pub(super) last: Option<Counts>,
    pub(super) total: Option<Counts>,
    pub(super) usage: Option<Counts>,
    pub(super) response: Option<Cow<'a, str>>,
    pub(super) item: Option<Box<Payload<'a>>>,
    pub(super) has_error: bool,
    pub(super) model: Option<Cow<'a, str>>,
    pub(super) at: Option<Timestamp>,
    pub(super) cwd: Option<Cow<'a, str>>,
    pub(super) version: Option<Cow<'a, str>>,
    pub(super) forked_from: Option<Cow<'a, str>>,
    pub(super) parent: Option<Cow<'a, str>>,
    pub(super) is_subagent: bool,
    pub(super) is_paginated: bool,
    pub(super) first_ordinal: Option<u64>,
}

impl Counts {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Walked<Option<Self>> {
        if cursor.start()? != Start::Object {
            cursor.pass()?;
            return Ok(None);
        }
        let mut counts = Self::default();
        scan::object(cursor, |cursor, name| {
            let count = match name {
                "input_tokens" => &mut counts.input,
                "cached_input_tokens" => &mut counts.cached,
                "cache_write_input_tokens" | "cache_creation_input_tokens" => &mut counts.written,
                "output_tokens" => &mut counts.output,
                "total_tokens" => &mut counts.total,
                _ => return cursor.pass(),
            };
            *count = scan::count(cursor)?.unwrap_or(0);
            Ok(())
        })?;
        Ok(Some(counts))
    }

    pub(super) fn tokens(&self) -> Tokens {
        let &Self { input, cached, written, output, .. } = self;
        let input = input.saturating_sub(cached).saturating_sub(written);
        Tokens { input, output, cache_read: cached, cache_creation: written }
    }

    /// Returns the growth since an earlier total. A total that has fallen says nothing.
    pub(super) fn since(&self, before: &Self) -> Self {
        if self.total < before.total {
            return Self::default();
        }
        Self {
            input: self.input.saturating_sub(before.input),
            cached: self.cached.saturating_sub(before.cached),
            written: self.written.saturating_sub(before.written),
            output: self.output.saturating_sub(before.output),
            total: self.total - before.total,
        }
    }
}

impl<'a> Fields<'a> {
    pub(super) fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "type" => self.kind = scan::text(cursor)?,
            "timestamp" => self.at = scan::time(cursor)?,
            "ordinal" => self.ordinal = scan::count(cursor)?,
            "payload" => {
                self.has_payload = true;
                scan::object(cursor, |cursor, name| self.payload.field(cursor, name))?;
            }
            _ => self.payload.field(cursor, name)?,
        }
        Ok(())
    }
}

impl<'a> Payload<'a> {
    pub(super) fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "type" => self.kind = scan::text(cursor)?,
            "id" => self.id = scan::text(cursor)?,
            "call_id" => self.call = scan::text(cursor)?,
            "name" | "tool" => self.name = scan::text(cursor)?.or(self.name.take()),
            "status" => self.status = scan::text(cursor)?,
            "success" => self.is_ok = scan::flag(cursor)?.or(self.is_ok),
            "exit_code" | "exitCode" => self.exit_code = exit_code(cursor)?,
            "output" => self.output = Some(text::Output::read(cursor)?),
            "role" => self.role = scan::text(cursor)?,
            "content" | "message" => self.head = scan::head_of_blocks(cursor)?,
            "info" => scan::object(cursor, |cursor, name| {
                match name {
                    "last_token_usage" => self.last = Counts::read(cursor)?,
                    "total_token_usage" => self.total = Counts::read(cursor)?,
                    _ => cursor.pass()?,
                }
                Ok(())
            })?,
            "usage" => self.usage = Counts::read(cursor)?,
            "response_id" => self.response = scan::text(cursor)?,
            "item" => {
                let mut item = Box::<Self>::default();
                scan::object(cursor, |cursor, name| item.field(cursor, name))?;
                self.item = Some(item);
            }
            "result" => self.result(cursor)?,
            "error" => self.has_error = scan::is_set(cursor)?,
            _ => self.meta(cursor, name)?,
        }
        Ok(())
    }

    /// Reads the fields of `session_meta` and `turn_context`.
    pub(super) fn meta(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "model" => self.model = scan::text(cursor)?,
            "timestamp" => self.at = scan::time(cursor)?,
            "cwd" => self.cwd = scan::text(cursor)?,
            "cli_version" => self.version = scan::text(cursor)?,
            "forked_from_id" => self.forked_from = scan::text(cursor)?,
            "parent_thread_id" => self.parent = scan::text(cursor)?.or(self.parent.take()),
            "thread_source" => self.is_subagent |= scan::text(cursor)?.as_deref() == Some("subagent"),
            "history_mode" => self.is_paginated = scan::text(cursor)?.as_deref() == Some("paginated"),
            "subagent_history_start_ordinal" => self.first_ordinal = scan::count(cursor)?,
            "thread_settings" => scan::object(cursor, |cursor, name| match name {
                "model" => scan::text(cursor).map(|model| self.model = model),
                _ => cursor.pass(),
            })?,
            // {"subagent":{"thread_spawn":{"parent_thread_id":…}}}, or only a name below `subagent`
            "source" => scan::object(cursor, |cursor, name| {
                self.is_subagent |= name == "subagent";
                scan::object(cursor, |cursor, _| {
                    scan::object(cursor, |cursor, name| match name {
                        "parent_thread_id" => {
                            scan::text(cursor).map(|parent| self.parent = self.parent.take().or(parent))
                        }
                        _ => cursor.pass(),
                    })
                })
            })?,
            _ => cursor.pass()?,
        }
        Ok(())
    }

    /// Reads the result of an MCP call: `Ok` or `Err`, or an object with `isError`.
    pub(super) fn result(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        if cursor.start()? != Start::Object {
            return cursor.pass();
        }
        let mut is_ok = true;
        scan::object(cursor, |cursor, name| match name {
            "Err" | "error" => {
                is_ok &= !scan::is_set(cursor)?;
                Ok(())
            }
            "isError" | "is_error" => {
                is_ok &= !scan::is_true(cursor)?;
                Ok(())
            }
            "Ok" => scan::object(cursor, |cursor, name| match name {
                "isError" | "is_error" => {
                    is_ok &= !scan::is_true(cursor)?;
                    Ok(())
                }
                _ => cursor.pass(),
            }),
            _ => cursor.pass(),
        })?;
        self.is_ok = Some(self.is_ok.unwrap_or(true) && is_ok);
        Ok(())
    }

    /// Returns what an item or an end event says. Returns `None` if the call is still running.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        let status = self.status.as_deref().unwrap_or_default().to_ascii_lowercase().replace('_', "");
        match status.as_str() {
            "declined" => Some(Verdict::Rejected(Decider::User)),
            "inprogress" => None,
            "failed" => Some(Verdict::Ran(Some(false))),
            "completed" => Some(Verdict::Ran(Some(self.is_ok != Some(false)))),
            _ => {
                let by_code = self.exit_code.map(|code| code == 0);
                Some(Verdict::Ran(self.is_ok.or(by_code)))
            }
        }
    }
}

/// Reads an exit code. A negative one, of a signal, is an error too.
pub(super) fn exit_code(cursor: &mut Cursor<'_>) -> Walked<Option<u64>> {
    if cursor.start()? != Start::Number {
        cursor.pass()?;
        return Ok(None);
    }
    Ok(Some(cursor.number()?.parse().unwrap_or(1)))
}
