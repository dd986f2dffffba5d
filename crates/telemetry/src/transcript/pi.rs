//! # pi
//!
//! JSON Lines. The first line is the header; its `id` is the session.
//!
//! | field | fact |
//! |---|---|
//! | `message` with role `user` | prompt |
//! | role `toolResult` | tool result: `toolName`, ok unless `isError` |
//! | role `assistant` with `usage` | API request: `model`, `input`, `output`, `cacheRead`, `cacheWrite`, `cost.total` in dollars |
//! | … with `stopReason` error | API error |
//! | `compaction` | compaction: `tokensBefore` |
//! | header `cwd` | project |
//!
//! The key of a record is its `id` and `timestamp`: forks copy both. The session that was created first owns it.

use std::borrow::Cow;

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;

use super::collect::{Call, Collector, Record};
use super::scan::{self, Walked};
use super::{Keys, Line, Transcript, TranscriptPath};
use crate::facts::{Fact, Tokens};
use crate::fingerprint::{of_transcript, with_numbers};
use crate::json::LineError;
use crate::json::cursor::{Cursor, Start};

/// Reads one file.
#[derive(Debug)]
pub(super) struct Reader {
    all: Collector,
    stem: String,
    session: Option<u32>,
}

#[derive(Default)]
struct Fields<'a> {
    kind: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
    at: Option<Timestamp>,
    cwd: Option<Cow<'a, str>>,
    tokens_before: Option<u64>,
    message: Message<'a>,
}

#[derive(Default)]
struct Message<'a> {
    role: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    is_error: bool,
    stop: Option<Cow<'a, str>>,
    usage: Option<Usage>,
}

#[derive(Default)]
struct Usage {
    tokens: Tokens,
    cost: Option<NanoUsd>,
}

impl Reader {
    pub(super) fn new(path: TranscriptPath<'_>) -> Self {
        Self { all: Collector::default(), stem: path.stem.to_owned(), session: None }
    }

    pub(super) fn line(&mut self, text: &str) -> Result<Line, LineError> {
        let mut fields = Fields::default();
        scan::line(text, |cursor, name| fields.field(cursor, name))?;
        self.all.line += 1;
        Ok(self.add(&fields))
    }

    fn add(&mut self, fields: &Fields<'_>) -> Line {
        if fields.kind.as_deref() == Some("session") {
            self.session = fields.id.as_deref().and_then(|id| self.all.session(id));
            if let Some(session) = self.session {
                self.all.describe(session, fields.cwd.as_deref(), None);
                if let Some(about) = self.all.about(session) {
                    about.created = fields.at;
                }
            }
            return Line::Known;
        }
        let is_record = fields.at.is_some() && fields.id.is_some();
        if !is_record {
            return Line::Unknown;
        }
        let own = |reader: &mut Self| reader.all.session(reader.stem.rsplit('_').next().unwrap_or_default());
        let Some(session) = self.session.or_else(|| own(self)) else { return Line::Unknown };
        self.session = Some(session);
        let record = Record { session, at: fields.at, ..Record::default() };
        let at = fields.at.map_or(0, |at| at.nanos().cast_unsigned());
        let id = fields.id.as_deref().unwrap_or_default();
        let key = with_numbers(of_transcript(&["pi", id]), &[at]);
        self.all.moment(&record, Some(key));
        match fields.kind.as_deref() {
            Some("message") => self.message(&fields.message, &record, Keys::of(key)),
            Some("compaction") => {
                let fact = Fact::Compaction { before: fields.tokens_before, after: None };
                self.all.fact(&record, Keys::of(key), fact);
            }
            _ => {}
        }
        Line::Known
    }

    fn message(&mut self, message: &Message<'_>, record: &Record, keys: Keys) {
        match message.role.as_deref() {
            Some("user") => self.all.fact(record, keys, Fact::Prompt { trace: None }),
            Some("toolResult") => {
                let tool = message.tool.as_deref().and_then(|tool| self.all.name(tool));
                let ok = Some(!message.is_error);
                let fact = Fact::ToolResult { tool, ok, duration_us: None, error_type: None };
                self.all.fact(record, keys, fact);
            }
            Some("assistant") => {
                if message.stop.as_deref() == Some("error") {
                    let keys = Keys { key: keys.key.map(|key| with_numbers(key, &[1])), ..keys };
                    self.all.fact(record, keys, Fact::ApiError { status: None, error_type: None });
                }
                if let Some(Usage { tokens, cost }) = message.usage
                    && (message.stop.as_deref() != Some("error") || tokens != Tokens::default())
                {
                    let model = message.model.as_deref().and_then(|model| self.all.name(model));
                    self.all.request(record, keys, Call { model, tokens, long_writes: 0, cost });
                }
            }
            _ => {}
        }
    }

    pub(super) fn finish(self) -> Transcript {
        self.all.transcript
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "type" => self.kind = scan::text(cursor)?,
            "id" => self.id = scan::text(cursor)?,
            "timestamp" => self.at = scan::time(cursor)?,
            "cwd" => self.cwd = scan::text(cursor)?,
            "tokensBefore" => self.tokens_before = scan::count(cursor)?,
            "message" => scan::object(cursor, |cursor, name| self.message.field(cursor, name))?,
            _ => cursor.pass()?,
        }
        Ok(())
    }
}

impl<'a> Message<'a> {
    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "role" => self.role = scan::text(cursor)?,
            "model" => self.model = scan::text(cursor)?,
            "toolName" => self.tool = scan::text(cursor)?,
            "isError" => self.is_error = scan::is_true(cursor)?,
            "stopReason" => self.stop = scan::text(cursor)?,
            "usage" if cursor.start()? == Start::Object => {
                let mut usage = Usage::default();
                scan::object(cursor, |cursor, name| usage.field(cursor, name))?;
                self.usage = Some(usage);
            }
            _ => cursor.pass()?,
        }
        Ok(())
    }
}

impl Usage {
    fn field(&mut self, cursor: &mut Cursor<'_>, name: &str) -> Walked {
        let tokens = &mut self.tokens;
        match name {
            "input" => tokens.input = scan::count(cursor)?.unwrap_or(0),
            "output" => tokens.output = scan::count(cursor)?.unwrap_or(0),
            "cacheRead" => tokens.cache_read = scan::count(cursor)?.unwrap_or(0),
            "cacheWrite" => tokens.cache_creation = scan::count(cursor)?.unwrap_or(0),
            "cost" => scan::object(cursor, |cursor, name| {
                match name {
                    "total" => self.cost = scan::dollars(cursor)?,
                    _ => cursor.pass()?,
                }
                Ok(())
            })?,
            _ => cursor.pass()?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
