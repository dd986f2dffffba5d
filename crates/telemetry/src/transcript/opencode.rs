//! # OpenCode
//!
//! Rows of a database: sessions, messages and their parts. Old versions kept the same objects as files.
//!
//! | row | fact |
//! |---|---|
//! | session: `parent_id`, `directory`, `version`, `time_created` | a sub-agent's facts count in the root session; project, version |
//! | message of role user with a text or file part that is not `synthetic` or `ignored` | prompt, in a root session |
//! | … with a `compaction` part | compaction |
//! | part `tool`: `state.status` completed, error | tool result |
//! | … error that begins with `The user rejected permission` | rejection by the user |
//! | … error that begins with `The user has specified a rule` | rejection by policy |
//! | … `Tool execution aborted`, `metadata.interrupted` | neither |
//! | part `step-finish`: `tokens`, `cost` | API request; `modelID` of the message |
//! | assistant message without such parts: its own `tokens`, `cost` | API request |
//! | message `error.name`, except `MessageAbortedError`; part `retry` | API error |
//! | … `ContentFilterError` | refusal |
//!
//! ```text
//! input, cache_read, cache_creation = tokens.input, tokens.cache.read, tokens.cache.write     negative ones are 0
//! output                            = tokens.output + tokens.reasoning
//! ```
//!
//! A message's `tokens` are those of its last step alone, while its `cost` is that of all steps: they are never mixed.
//!
//! A fork copies rows with new ids, but not their times. So the key of an API request is the time of its message, its
//! number in the message, the model, the tokens and the cost; that of a tool call its `callID` and start; that of a
//! prompt the time of its message. The session that was created first owns them.

use std::borrow::Cow;
use std::collections::HashMap;

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;

use super::collect::{Call, Collector, Record};
use super::scan::{self, Walked, begins_with};
use super::{Keys, Name, Transcript, TranscriptCounts};
use crate::facts::{Decider, Fact, Tokens};
use crate::fingerprint::{of_transcript, with_numbers};
use crate::json::cursor::{Cursor, Start};

/// A row of the table `session`.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenCodeSession<'a> {
    /// Id of the session.
    pub id: &'a str,
    /// Id of the session that started it as a sub-agent.
    pub parent: Option<&'a str>,
    /// Directory of the project.
    pub directory: Option<&'a str>,
    /// Version of OpenCode.
    pub version: Option<&'a str>,
    /// When it was created, in milliseconds since 1970.
    pub created_ms: Option<i64>,
}

/// Reads rows. Parts may come before their messages.
#[derive(Debug, Default)]
pub struct OpenCodeReader {
    all: Collector,
    counts: TranscriptCounts,
    messages: Vec<Message>,
    by_id: HashMap<Box<str>, usize>,
    parts: HashMap<Box<str>, Vec<Part>>,
}

#[derive(Debug)]
struct Message {
    id: Box<str>,
    session: u32,
    created: Option<Timestamp>,
    completed: Option<Timestamp>,
    is_user: bool,
    is_assistant: bool,
    model: Option<Name>,
    usage: Option<Usage>,
    error: Option<MessageError>,
}

#[derive(Clone, Copy, Debug)]
enum MessageError {
    Api(Option<Name>),
    Refused,
}

/// The parts that matter.
#[derive(Debug)]
enum Part {
    Typed,
    Compaction,
    Step(Usage),
    Retry,
    Tool {
        call: Option<Box<str>>,
        name: Option<Name>,
        outcome: Outcome,
        start: Option<Timestamp>,
        end: Option<Timestamp>,
    },
}

#[derive(Clone, Copy, Debug)]
enum Outcome {
    Ran(bool),
    Rejected(Decider),
}

#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    tokens: Tokens,
    cost: Option<NanoUsd>,
}

impl OpenCodeReader {
    /// Reads a row of the table `session`.
    pub fn session(&mut self, row: &OpenCodeSession<'_>) {
        self.counts.lines += 1;
        let Some(session) = self.all.session(row.id) else { return };
        self.all.describe(session, row.directory, row.version);
        if let Some(about) = self.all.about(session) {
            about.created = row.created_ms.and_then(|millis| Timestamp::from_millis(millis).ok());
            about.parent = row.parent.map(Into::into);
        }
    }

    /// Reads a session as a file of an old version has it.
    pub fn session_file(&mut self, data: &str) {
        let (mut id, mut parent, mut directory, mut version, mut created) = (None, None, None, None, None);
        let read = scan::line(data, |cursor, name| {
            match name {
                "id" => id = scan::text(cursor)?,
                "parentID" => parent = scan::text(cursor)?,
                "directory" => directory = scan::text(cursor)?,
                "version" => version = scan::text(cursor)?,
                "time" => (created, _) = times(cursor, "created", "updated")?,
                _ => cursor.pass()?,
            }
            Ok(())
        });
        match (read, id.as_deref()) {
            (Ok(()), Some(id)) => self.session(&OpenCodeSession {
                id,
                parent: parent.as_deref(),
                directory: directory.as_deref(),
                version: version.as_deref(),
                created_ms: created.map(Timestamp::millis),
            }),
            _ => self.bad(),
        }
    }

    /// Reads a row of the table `message`, or a file of an old version. The ids may be empty if `data` has them.
    pub fn message(&mut self, id: &str, session: &str, data: &str) {
        self.counts.lines += 1;
        let mut fields = MessageFields::default();
        if scan::line(data, |cursor, name| fields.field(cursor, name)).is_err() {
            self.counts.bad_lines += 1;
            return;
        }
        let or = |given: &str, own: &Option<Cow<'_, str>>| match own {
            Some(own) if given.is_empty() => own.to_string(),
            _ => given.to_owned(),
        };
        let (id, session) = (or(id, &fields.id), or(session, &fields.session));
        let Some(session) = self.all.session(&session).filter(|_| !id.is_empty()) else { return };
        let error = fields.error.as_deref().and_then(|error| match error {
            "MessageAbortedError" => None,
            "ContentFilterError" => Some(MessageError::Refused),
            other => Some(MessageError::Api(self.all.name(other))),
        });
        let message = Message {
            id: id.as_str().into(),
            session,
            created: fields.created,
            completed: fields.completed,
            is_user: fields.role.as_deref() == Some("user"),
            is_assistant: fields.role.as_deref().is_none_or(|role| role == "assistant"),
            model: fields.model.as_deref().and_then(|model| self.all.name(model)),
            usage: fields.usage,
            error,
        };
        let known = self.by_id.get(id.as_str());
        if let Some(known) = known.and_then(|known| self.messages.get_mut(*known)) {
            *known = message;
        } else {
            self.by_id.insert(id.into(), self.messages.len());
            self.messages.push(message);
        }
    }

    /// Reads a row of the table `part`, or a file of an old version. The id may be empty if `data` has it.
    pub fn part(&mut self, message: &str, data: &str) {
        self.counts.lines += 1;
        let mut fields = PartFields::default();
        if scan::line(data, |cursor, name| fields.field(cursor, name)).is_err() {
            self.counts.bad_lines += 1;
            return;
        }
        let message: Box<str> = match &fields.message {
            Some(own) if message.is_empty() => own.as_ref().into(),
            _ => message.into(),
        };
        if let Some(part) = self.part_of(&fields) {
            self.parts.entry(message).or_default().push(part);
        }
    }

    /// Counts a row or a file that could not be read.
    pub fn bad(&mut self) {
        self.counts.lines += 1;
        self.counts.bad_lines += 1;
    }

    fn part_of(&mut self, fields: &PartFields<'_>) -> Option<Part> {
        match fields.kind.as_deref()? {
            "text" | "file" if !fields.is_generated => Some(Part::Typed),
            "compaction" => Some(Part::Compaction),
            "retry" => Some(Part::Retry),
            "step-finish" => Some(Part::Step(fields.usage?)),
            "tool" => {
                let head = fields.error.as_deref().unwrap_or_default();
                let outcome = match fields.status.as_deref()? {
                    "completed" => Outcome::Ran(true),
                    "error" if fields.is_interrupted || head.starts_with("Tool execution aborted") => {
                        return None;
                    }
                    "error" if head.starts_with("The user rejected permission") => {
                        Outcome::Rejected(Decider::User)
                    }
                    "error" if begins_with(head, &["The user has specified a rule which prevents you"]) => {
                        Outcome::Rejected(Decider::Policy)
                    }
                    "error" => Outcome::Ran(false),
                    _ => return None,
                };
                let name = fields.tool.as_deref().and_then(|tool| self.all.name(tool));
                let call = fields.call.as_deref().map(Into::into);
                Some(Part::Tool { call, name, outcome, start: fields.start, end: fields.end })
            }
            _ => None,
        }
    }

    /// Returns the facts of all rows.
    pub fn finish(mut self) -> Transcript {
        for message in std::mem::take(&mut self.messages) {
            let parts = self.parts.remove(&message.id).unwrap_or_default();
            self.add(&message, &parts);
        }
        Transcript { counts: self.counts, ..self.all.transcript }
    }

    fn add(&mut self, message: &Message, parts: &[Part]) {
        let is_side = self.all.about(message.session).is_some_and(|session| session.parent.is_some());
        let record = Record { session: message.session, at: message.created, is_side, ..Record::default() };
        let created = message.created.map_or(0, |at| at.nanos().cast_unsigned());
        let key = |what: &str, numbers: &[u64]| {
            let numbers: Vec<u64> = [created].iter().chain(numbers).copied().collect();
            // Without a time, a message is identified by its id.
            let own = if created == 0 { message.id.as_ref() } else { "" };
            Keys::of(with_numbers(of_transcript(&["opencode", what, own]), &numbers))
        };
        let moment = key("message", &[message.is_user.into()]).key;
        self.all.moment(&record, moment);
        self.all.moment(&Record { at: message.completed, ..record }, moment);
        let has = |wanted: fn(&Part) -> bool| parts.iter().any(wanted);
        if message.is_user && has(|part| matches!(part, Part::Compaction)) {
            self.all.fact(&record, key("compaction", &[]), Fact::Compaction { before: None, after: None });
        } else if message.is_user && !is_side && has(|part| matches!(part, Part::Typed)) {
            self.all.fact(&record, key("prompt", &[]), Fact::Prompt { trace: None });
        }
        let steps =
            parts.iter().filter_map(|part| if let Part::Step(usage) = part { Some(*usage) } else { None });
        let steps: Vec<Usage> = steps.collect();
        let own = message.usage.filter(|_| message.is_assistant && steps.is_empty());
        let end = Record { at: message.completed.or(message.created), ..record };
        for (number, usage) in (1_u64..).zip(steps.into_iter().chain(own)) {
            let Tokens { input, output, cache_read, cache_creation } = usage.tokens;
            let cost = usage.cost.map_or(0, |cost| u64::try_from(cost.nano()).unwrap_or(u64::MAX));
            let keys = key("request", &[number, input, output, cache_read, cache_creation, cost]);
            let call = Call { model: message.model, tokens: usage.tokens, long_writes: 0, cost: usage.cost };
            self.all.request(&end, keys, call);
        }
        match message.error {
            Some(MessageError::Api(error_type)) => {
                self.all.fact(&end, key("error", &[]), Fact::ApiError { status: None, error_type });
            }
            Some(MessageError::Refused) => self.all.fact(&end, key("refusal", &[]), Fact::Refusal),
            None => {}
        }
        for (number, part) in (1_u64..).zip(parts) {
            match part {
                Part::Retry => {
                    let fact = Fact::ApiError { status: None, error_type: None };
                    self.all.fact(&end, key("retry", &[number]), fact);
                }
                Part::Tool { call, name: tool, outcome, start, end } => {
                    let at = end.or(*start).or(message.created);
                    let record = Record { at, ..record };
                    let start_ns = start.map_or(created, |at| at.nanos().cast_unsigned());
                    let keys = match call {
                        Some(call) => {
                            Keys::of(with_numbers(of_transcript(&["opencode tool", call]), &[start_ns]))
                        }
                        None => key("tool", &[number]),
                    };
                    let micros = end.zip(*start).map(|(end, start)| (end.nanos() - start.nanos()) / 1000);
                    let duration_us = micros.and_then(|micros| u64::try_from(micros).ok());
                    let tool = *tool;
                    let fact = match *outcome {
                        Outcome::Ran(ok) => {
                            Fact::ToolResult { tool, ok: Some(ok), duration_us, error_type: None }
                        }
                        Outcome::Rejected(by) => Fact::ToolDecision { tool, accepted: false, by },
                    };
                    self.all.moment(&record, keys.key);
                    self.all.fact(&record, keys, fact);
                }
                Part::Typed | Part::Compaction | Part::Step(_) => {}
            }
        }
    }
}

/// Reads two times of an object.
fn times(
    cursor: &mut Cursor<'_>,
    first: &str,
    second: &str,
) -> Walked<(Option<Timestamp>, Option<Timestamp>)> {
    let mut found = (None, None);
    scan::object(cursor, |cursor, name| {
        if name == first {
            found.0 = scan::time(cursor)?;
        } else if name == second {
            found.1 = scan::time(cursor)?;
        } else {
            cursor.pass()?;
        }
        Ok(())
    })?;
    Ok(found)
}

#[derive(Default)]
struct MessageFields<'a> {
    id: Option<Cow<'a, str>>,
    session: Option<Cow<'a, str>>,
    role: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    created: Option<Timestamp>,
    completed: Option<Timestamp>,
    error: Option<Cow<'a, str>>,
    usage: Option<Usage>,
    cost: Option<NanoUsd>,
}

impl<'a> MessageFields<'a> {
    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "id" => self.id = scan::text(cursor)?,
            "sessionID" => self.session = scan::text(cursor)?,
            "role" => self.role = scan::text(cursor)?,
            "modelID" => self.model = scan::text(cursor)?,
            "time" => (self.created, self.completed) = times(cursor, "created", "completed")?,
            "error" => scan::object(cursor, |cursor, name| match name {
                "name" => scan::text(cursor).map(|error| self.error = error),
                _ => cursor.pass(),
            })?,
            "tokens" if cursor.start()? == Start::Object => {
                let tokens = tokens(cursor)?;
                self.usage = Some(Usage { tokens, cost: self.cost });
            }
            "cost" => {
                self.cost = scan::dollars(cursor)?;
                if let Some(usage) = &mut self.usage {
                    usage.cost = self.cost;
                }
            }
            _ => cursor.pass()?,
        }
        Ok(())
    }
}

fn tokens(cursor: &mut Cursor<'_>) -> Walked<Tokens> {
    let (mut tokens, mut reasoning) = (Tokens::default(), 0);
    scan::object(cursor, |cursor, name| {
        match name {
            "input" => tokens.input = scan::count(cursor)?.unwrap_or(0),
            "output" => tokens.output = scan::count(cursor)?.unwrap_or(0),
            "reasoning" => reasoning = scan::count(cursor)?.unwrap_or(0),
            "cache" => scan::object(cursor, |cursor, name| {
                match name {
                    "read" => tokens.cache_read = scan::count(cursor)?.unwrap_or(0),
                    "write" => tokens.cache_creation = scan::count(cursor)?.unwrap_or(0),
                    _ => cursor.pass()?,
                }
                Ok(())
            })?,
            _ => cursor.pass()?,
        }
        Ok(())
    })?;
    tokens.output += reasoning;
    Ok(tokens)
}

#[derive(Default)]
struct PartFields<'a> {
    message: Option<Cow<'a, str>>,
    kind: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    call: Option<Cow<'a, str>>,
    is_generated: bool,
    usage: Option<Usage>,
    cost: Option<NanoUsd>,
    status: Option<Cow<'a, str>>,
    error: Option<Cow<'a, str>>,
    is_interrupted: bool,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
}

impl<'a> PartFields<'a> {
    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "messageID" => self.message = scan::text(cursor)?,
            "type" => self.kind = scan::text(cursor)?,
            "tool" => self.tool = scan::text(cursor)?,
            "callID" => self.call = scan::text(cursor)?,
            "synthetic" | "ignored" => self.is_generated |= scan::is_true(cursor)?,
            "tokens" if cursor.start()? == Start::Object => {
                let tokens = tokens(cursor)?;
                self.usage = Some(Usage { tokens, cost: self.cost });
            }
            "cost" => {
                self.cost = scan::dollars(cursor)?;
                if let Some(usage) = &mut self.usage {
                    usage.cost = self.cost;
                }
            }
            "state" => scan::object(cursor, |cursor, name| {
                match name {
                    "status" => self.status = scan::text(cursor)?,
                    "error" => self.error = scan::head(cursor)?,
                    "time" => (self.start, self.end) = times(cursor, "start", "end")?,
                    "metadata" => scan::object(cursor, |cursor, name| match name {
                        "interrupted" => scan::is_true(cursor).map(|found| self.is_interrupted = found),
                        _ => cursor.pass(),
                    })?,
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
