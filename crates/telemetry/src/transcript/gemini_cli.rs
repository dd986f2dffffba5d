//! # Gemini CLI
//!
//! JSON Lines: a header, messages, and patches. Old versions wrote one object with a list of messages. A message is
//! appended again whenever it changes; the last version counts. A rewind removes nothing: what happened, happened.
//!
//! | field | fact |
//! |---|---|
//! | header `sessionId`; `kind` subagent: the parent is the file's directory | session |
//! | message of type `user` with a text, outside function responses | prompt, unless it begins with `/`, `?`, `<session_context>` or `<hook_context>` |
//! | `toolCalls[].status` success, error | tool result; other states are unfinished |
//! | … cancelled | rejection by the user |
//! | … error whose text begins with `Tool execution blocked:` or `Agent execution stopped by hook:` | rejection by a hook |
//! | `tokens` of a message of type `gemini`, the last one that is not null | API request: `model`, see below |
//! | `$set.messages` | the messages in it, if no line has them |
//!
//! ```text
//! input      = input − cached + tool            cache_read = cached
//! output     = total − input − tool   if that is ≥ output, else output + thoughts
//! ```
//!
//! The key of a record is the session and the id of the message or the tool call. A command that exits with an error
//! is a successful tool call, as the agent records it. There is never a cost. None of a sub-agent's messages is a
//! prompt.

use std::borrow::Cow;
use std::collections::HashMap;

use renown_core::time::Timestamp;

use super::collect::{Call, Collector, Record};
use super::scan::{self, Walked, begins_with};
use super::{Keys, Line, Name, Transcript, TranscriptPath};
use crate::facts::{Decider, Fact, Tokens};
use crate::fingerprint::of_transcript;
use crate::json::LineError;
use crate::json::cursor::{Cursor, Start};

/// User messages that the agent or its commands wrote.
const IGNORED: &[&str] = &["/", "?", "<session_context>", "<hook_context>"];

/// Errors of tool calls that a hook rejected.
const BLOCKED: &[&str] = &["Tool execution blocked:", "Agent execution stopped by hook:"];

/// Token counts with the names of Gemini.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GeminiTokens {
    input: u64,
    output: u64,
    cached: u64,
    thoughts: u64,
    tool: u64,
    total: Option<u64>,
}

impl GeminiTokens {
    fn field(&mut self, cursor: &mut Cursor<'_>, name: &str) -> Walked {
        match name {
            "input" => self.input = scan::count(cursor)?.unwrap_or(0),
            "output" => self.output = scan::count(cursor)?.unwrap_or(0),
            "cached" => self.cached = scan::count(cursor)?.unwrap_or(0),
            "thoughts" => self.thoughts = scan::count(cursor)?.unwrap_or(0),
            "tool" => self.tool = scan::count(cursor)?.unwrap_or(0),
            "total" => self.total = scan::count(cursor)?,
            _ => cursor.pass()?,
        }
        Ok(())
    }

    /// Reads a field of `usageMetadata`.
    pub(super) fn metadata(&mut self, cursor: &mut Cursor<'_>, name: &str) -> Walked {
        self.field(
            cursor,
            match name {
                "promptTokenCount" => "input",
                "candidatesTokenCount" => "output",
                "cachedContentTokenCount" => "cached",
                "thoughtsTokenCount" => "thoughts",
                "toolUsePromptTokenCount" => "tool",
                "totalTokenCount" => "total",
                _ => "",
            },
        )
    }

    /// Returns each token once.
    pub(super) fn tokens(self) -> Tokens {
        let Self { input, output, cached, thoughts, tool, total } = self;
        let by_total =
            total.and_then(|total| total.checked_sub(input + tool)).filter(|found| *found >= output);
        Tokens {
            input: (input + tool).saturating_sub(cached),
            output: by_total.unwrap_or(output + thoughts),
            cache_read: cached,
            cache_creation: 0,
        }
    }
}

/// Reads one file.
#[derive(Debug)]
pub(super) struct Reader {
    all: Collector,
    path: OwnedPath,
    id: Option<String>,
    started: Option<Timestamp>,
    is_subagent: bool,
    messages: Vec<Message>,
    by_id: HashMap<Box<str>, usize>,
}

#[derive(Debug)]
struct OwnedPath {
    stem: String,
    parent: Option<String>,
    project: Option<String>,
}

/// The last version of a message.
#[derive(Debug, Default)]
struct Message {
    id: Box<str>,
    line: u32,
    at: Option<Timestamp>,
    is_prompt: bool,
    is_answer: bool,
    tokens: Option<GeminiTokens>,
    model: Option<Name>,
    calls: Vec<ToolCall>,
}

#[derive(Debug)]
struct ToolCall {
    id: Box<str>,
    name: Option<Name>,
    at: Option<Timestamp>,
    status: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ok,
    Failed,
    Cancelled,
    Blocked,
    Unfinished,
}

/// The fields of a line, of `$set`, or of the one object of an old file.
#[derive(Default)]
struct Fields<'a> {
    session: Option<Cow<'a, str>>,
    kind: Option<Cow<'a, str>>,
    started: Option<Timestamp>,
    is_patch: bool,
    message: Read<'a>,
    messages: Vec<Read<'a>>,
}

/// A message as one line has it.
#[derive(Default)]
struct Read<'a> {
    id: Option<Cow<'a, str>>,
    at: Option<Timestamp>,
    kind: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    head: Option<Cow<'a, str>>,
    has_response: bool,
    tokens: Option<GeminiTokens>,
    calls: Vec<ReadCall<'a>>,
}

#[derive(Default)]
struct ReadCall<'a> {
    id: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    status: Option<Cow<'a, str>>,
    at: Option<Timestamp>,
    is_blocked: bool,
}

impl Reader {
    pub(super) fn new(path: TranscriptPath<'_>) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let TranscriptPath { stem, is_subagent, parent, project } = path;
        let path = OwnedPath { stem: stem.to_owned(), parent: owned(parent), project: owned(project) };
        Self {
            all: Collector::default(),
            path,
            id: None,
            started: None,
            is_subagent,
            messages: Vec::new(),
            by_id: HashMap::new(),
        }
    }

    pub(super) fn line(&mut self, text: &str) -> Result<Line, LineError> {
        let mut fields = Fields::default();
        scan::line(text, |cursor, name| fields.field(cursor, name))?;
        self.all.line += 1;
        let is_known = fields.session.is_some()
            || fields.is_patch
            || (fields.message.id.is_some() && fields.message.kind.is_some());
        if !is_known {
            return Ok(Line::Unknown);
        }
        if let Some(id) = fields.session {
            self.is_subagent |= fields.kind.as_deref() == Some("subagent");
            self.id.get_or_insert_with(|| id.into_owned());
            self.started = self.started.or(fields.started);
        }
        self.add(&fields.message);
        for message in &fields.messages {
            self.add(message);
        }
        Ok(Line::Known)
    }

    fn add(&mut self, read: &Read<'_>) {
        let (Some(id), Some(kind)) = (read.id.as_deref(), read.kind.as_deref()) else { return };
        let is_new = !self.by_id.contains_key(id);
        if is_new {
            self.by_id.insert(id.into(), self.messages.len());
            self.messages.push(Message { id: id.into(), line: self.all.line, ..Message::default() });
        }
        let model = read.model.as_deref().and_then(|model| self.all.name(model));
        let calls: Vec<ToolCall> = read.calls.iter().filter_map(|call| self.call(call)).collect();
        let Some(message) = self.by_id.get(id).and_then(|at| self.messages.get_mut(*at)) else { return };
        message.at = read.at.or(message.at);
        let head = read.head.as_deref().unwrap_or_default().trim_start();
        let is_typed = !head.is_empty() && !begins_with(head, IGNORED);
        message.is_prompt = kind == "user" && !read.has_response && is_typed;
        message.is_answer = kind == "gemini";
        message.tokens = read.tokens.or(message.tokens);
        message.model = model.or(message.model);
        for call in calls {
            match message.calls.iter_mut().find(|known| known.id == call.id) {
                Some(known) => *known = call,
                None => message.calls.push(call),
            }
        }
    }

    fn call(&mut self, call: &ReadCall<'_>) -> Option<ToolCall> {
        let status = match call.status.as_deref() {
            Some("success") => Status::Ok,
            Some("error") if call.is_blocked => Status::Blocked,
            Some("error") => Status::Failed,
            Some("cancelled") => Status::Cancelled,
            _ => Status::Unfinished,
        };
        let name = call.name.as_deref().and_then(|name| self.all.name(name));
        Some(ToolCall { id: call.id.as_deref()?.into(), name, at: call.at, status })
    }

    pub(super) fn finish(mut self) -> Transcript {
        let id = self.id.take().unwrap_or_else(|| self.path.stem.clone());
        let Some(session) = self.all.session(&id).filter(|_| !self.messages.is_empty()) else {
            return Transcript::default();
        };
        self.all.describe(session, self.path.project.as_deref(), None);
        if let Some(about) = self.all.about(session) {
            about.created = self.started;
            about.parent = self.path.parent.as_deref().filter(|parent| *parent != id).map(Into::into);
        }
        for message in std::mem::take(&mut self.messages) {
            self.message(session, &id, message);
        }
        self.all.transcript
    }

    fn message(&mut self, session: u32, id: &str, message: Message) {
        let record = Record { session, at: message.at, is_side: self.is_subagent, ..Record::default() };
        let key = of_transcript(&["gemini", id, &message.id]);
        self.all.line = message.line;
        self.all.moment(&record, Some(key));
        if message.is_prompt && !self.is_subagent {
            self.all.fact(&record, Keys::of(key), Fact::Prompt { trace: None });
        }
        if let Some(tokens) = message.tokens.filter(|_| message.is_answer) {
            let call = Call { model: message.model, tokens: tokens.tokens(), ..Call::default() };
            self.all.request(&record, Keys::of(key), call);
        }
        for call in message.calls {
            let record = Record { at: call.at.or(record.at), ..record };
            let tool = call.name;
            let ran = |ok| Fact::ToolResult { tool, ok: Some(ok), duration_us: None, error_type: None };
            let rejected = |by| Fact::ToolDecision { tool, accepted: false, by };
            let fact = match call.status {
                Status::Ok => ran(true),
                Status::Failed => ran(false),
                Status::Cancelled => rejected(Decider::User),
                Status::Blocked => rejected(Decider::Hook),
                Status::Unfinished => continue,
            };
            let key = of_transcript(&["gemini tool", id, &call.id]);
            self.all.moment(&record, Some(key));
            self.all.fact(&record, Keys::of(key), fact);
        }
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "sessionId" => self.session = scan::text(cursor)?,
            "kind" => self.kind = scan::text(cursor)?,
            "startTime" => self.started = scan::time(cursor)?,
            "messages" => self.messages(cursor)?,
            "$set" => {
                self.is_patch = true;
                scan::object(cursor, |cursor, name| match name {
                    "messages" => self.messages(cursor),
                    _ => cursor.pass(),
                })?;
            }
            "$rewindTo" => {
                self.is_patch = true;
                cursor.pass()?;
            }
            _ => self.message.field(cursor, name)?,
        }
        Ok(())
    }

    fn messages(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        scan::array(cursor, |cursor| {
            let mut message = Read::default();
            scan::object(cursor, |cursor, name| message.field(cursor, name))?;
            self.messages.push(message);
            Ok(())
        })
    }
}

impl<'a> Read<'a> {
    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "id" => self.id = scan::text(cursor)?,
            "timestamp" => self.at = scan::time(cursor)?,
            "type" => self.kind = scan::text(cursor)?,
            "model" => self.model = scan::text(cursor)?,
            "content" => self.content(cursor)?,
            "tokens" if cursor.start()? == Start::Object => {
                let mut tokens = GeminiTokens::default();
                scan::object(cursor, |cursor, name| tokens.field(cursor, name))?;
                self.tokens = Some(tokens);
            }
            "toolCalls" => scan::array(cursor, |cursor| {
                let mut call = ReadCall::default();
                scan::object(cursor, |cursor, name| call.field(cursor, name))?;
                self.calls.push(call);
                Ok(())
            })?,
            _ => cursor.pass()?,
        }
        Ok(())
    }

    fn content(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        if cursor.start()? != Start::Array {
            return self.part_or_text(cursor);
        }
        scan::array(cursor, |cursor| self.part_or_text(cursor))
    }

    fn part_or_text(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        if cursor.start()? == Start::Object { self.part(cursor) } else { self.text(cursor) }
    }

    fn part(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        scan::object(cursor, |cursor, name| match name {
            "text" => self.text(cursor),
            "functionResponse" => {
                self.has_response = true;
                cursor.pass()
            }
            _ => cursor.pass(),
        })
    }

    /// Reads the first text that is not blank.
    fn text(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        let head = scan::head(cursor)?.filter(|head| !head.trim().is_empty());
        self.head = self.head.take().or(head);
        Ok(())
    }
}

impl<'a> ReadCall<'a> {
    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "id" => self.id = scan::text(cursor)?,
            "name" => self.name = scan::text(cursor)?,
            "status" => self.status = scan::text(cursor)?,
            "timestamp" => self.at = scan::time(cursor)?,
            "resultDisplay" | "error" => self.error(cursor)?,
            "result" => scan::array(cursor, |cursor| {
                scan::object(cursor, |cursor, name| match name {
                    "functionResponse" => scan::object(cursor, |cursor, name| match name {
                        "response" => scan::object(cursor, |cursor, name| match name {
                            "error" | "output" => self.error(cursor),
                            _ => cursor.pass(),
                        }),
                        _ => cursor.pass(),
                    }),
                    _ => cursor.pass(),
                })
            })?,
            _ => cursor.pass()?,
        }
        Ok(())
    }

    fn error(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        self.is_blocked |= scan::head(cursor)?.is_some_and(|head| begins_with(&head, BLOCKED));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
