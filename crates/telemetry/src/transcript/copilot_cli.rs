//! # Copilot CLI
//!
//! JSON Lines of events, one directory per session. An event with `agentId` comes from a sub-agent.
//!
//! | event | fact |
//! |---|---|
//! | `session.start`: `sessionId`, `copilotVersion`, `context.cwd` | session, version, project |
//! | `user.message` without `agentId`, `source` and `isAutopilotContinuation` | prompt |
//! | `tool.execution_complete`, name from the start, unless `isUserRequested` | tool result: `success` |
//! | … with `error.code` denied | rejection: by a hook if the message says so, else by what `permission.completed` says |
//! | `permission.completed` `approved*` | acceptance |
//! | `session.shutdown` `modelMetrics` | one API request per model: the usage since the start of the process |
//! | … `totalNanoAiu` | the cost: 10^11 nano-units are a dollar |
//! | `assistant.message` `outputTokens` after the last shutdown | API request with output alone: the session crashed or runs, and its tokens are partial |
//! | `model.call_failure`, `session.error` | API error |
//! | `session.compaction_complete` with `success` | compaction |
//!
//! ```text
//! input = inputTokens − cacheReadTokens − cacheWriteTokens      output = outputTokens, which contains the reasoning
//! ```
//!
//! A shutdown reports its process, or all processes so far; this differs by version. It is compared with the output
//! tokens of the messages: if the sum since the last shutdown is at least as near as the sum of the whole file, the
//! usage is added, else the last shutdown's is subtracted.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;

use super::collect::{Call, Collector, Record};
use super::scan::{self, Walked};
use super::{Keys, Line, Name, Transcript, TranscriptPath};
use crate::facts::{Decider, Fact, Fingerprint, Tokens};
use crate::fingerprint::{of_transcript, with_numbers};
use crate::json::LineError;
use crate::json::cursor::{Cursor, Start};

/// Nano-units of credit per nano-dollar.
const NANO_UNITS_PER_NANO_USD: u64 = 100;

/// Reads one file.
#[derive(Debug)]
pub(super) struct Reader {
    all: Collector,
    stem: String,
    id: String,
    session: Option<u32>,
    names: HashMap<Box<str>, Name>,
    /// Tool calls by the id of their permission request.
    asked: HashMap<Box<str>, Box<str>>,
    /// Who rejected a tool call.
    rejected: HashMap<Box<str>, Decider>,
    /// Tool calls whose end was recorded.
    ended: HashSet<Box<str>>,
    /// Rejections in the order of the file, of calls whose end may not be recorded.
    rejections: Vec<(u32, Record, Box<str>)>,
    /// Output tokens of messages by id.
    spoken: HashMap<Box<str>, Spoken>,
    /// Usage at the last shutdown.
    last: HashMap<Box<str>, Tokens>,
    last_units: u64,
    shutdowns: u64,
}

#[derive(Debug)]
struct Spoken {
    record: Record,
    model: Option<Name>,
    output: u64,
    /// Number of shutdowns before the message.
    segment: u64,
}

#[derive(Default)]
struct Fields<'a> {
    kind: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
    at: Option<Timestamp>,
    agent: Option<Cow<'a, str>>,
    data: Data<'a>,
}

/// The data of an event, of any type.
#[derive(Default)]
struct Data<'a> {
    session: Option<Cow<'a, str>>,
    version: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    source: Option<Cow<'a, str>>,
    is_autopilot: bool,
    is_user_requested: bool,
    call: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    /// Ids and names of the tool calls that a message asks for.
    tools: Vec<[Option<Cow<'a, str>>; 2]>,
    is_ok: Option<bool>,
    error_code: Option<Cow<'a, str>>,
    error_head: Option<Cow<'a, str>>,
    request: Option<Cow<'a, str>>,
    result: Option<Cow<'a, str>>,
    message: Option<Cow<'a, str>>,
    api_call: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    output: Option<u64>,
    units: Option<u64>,
    usage: Vec<(String, Tokens)>,
    status: Option<u64>,
    compacted: (Option<u64>, Option<u64>),
}

impl Reader {
    pub(super) fn new(path: TranscriptPath<'_>) -> Self {
        Self {
            all: Collector::default(),
            stem: path.stem.to_owned(),
            id: path.stem.to_owned(),
            session: None,
            names: HashMap::new(),
            asked: HashMap::new(),
            rejected: HashMap::new(),
            ended: HashSet::new(),
            rejections: Vec::new(),
            spoken: HashMap::new(),
            last: HashMap::new(),
            last_units: 0,
            shutdowns: 0,
        }
    }

    pub(super) fn line(&mut self, text: &str) -> Result<Line, LineError> {
        let mut fields = Fields::default();
        scan::line(text, |cursor, name| fields.field(cursor, name))?;
        self.all.line += 1;
        Ok(self.add(&fields))
    }

    fn add(&mut self, fields: &Fields<'_>) -> Line {
        let (Some(kind), Some(id)) = (fields.kind.as_deref(), fields.id.as_deref()) else {
            return Line::Unknown;
        };
        let data = &fields.data;
        if kind == "session.start" && self.session.is_none() {
            let own = data.session.as_deref().and_then(|id| Some((id, self.all.session(id)?)));
            if let Some((id, session)) = own {
                (self.id, self.session) = (id.to_owned(), Some(session));
            }
        }
        let stem = self.stem.clone();
        let Some(session) = self.session.or_else(|| self.all.session(&stem)) else { return Line::Unknown };
        self.session = Some(session);
        let is_side = fields.agent.is_some();
        let record = Record { session, at: fields.at, is_side, ..Record::default() };
        let keys = Keys::of(of_transcript(&["copilot", id]));
        self.all.moment(&record, keys.key);
        match kind {
            "session.start" => {
                self.all.describe(session, data.cwd.as_deref(), data.version.as_deref());
                if let Some(about) = self.all.about(session) {
                    about.created = about.created.or(fields.at);
                }
            }
            "user.message" if !is_side && data.source.is_none() && !data.is_autopilot => {
                self.all.fact(&record, keys, Fact::Prompt { trace: None });
            }
            "assistant.message" => self.message(fields, &record),
            "tool.execution_start" => self.name(data.call.as_deref(), data.tool.as_deref()),
            "tool.execution_complete" => self.tool(data, &record, keys),
            "permission.requested" => {
                if let (Some(request), Some(call)) = (data.request.as_deref(), data.call.as_deref()) {
                    self.asked.insert(request.into(), call.into());
                }
            }
            "permission.completed" => self.permission(data, &record, keys),
            "session.shutdown" => self.shutdown(data, &record, keys),
            "model.call_failure" | "session.error" => {
                self.all.fact(&record, keys, Fact::ApiError { status: data.status, error_type: None });
            }
            "session.compaction_complete" if data.is_ok != Some(false) => {
                let (before, after) = data.compacted;
                self.all.fact(&record, keys, Fact::Compaction { before, after });
            }
            _ => {}
        }
        Line::Known
    }

    fn name(&mut self, call: Option<&str>, tool: Option<&str>) {
        let name = tool.and_then(|tool| self.all.name(tool));
        if let (Some(call), Some(name)) = (call, name) {
            self.names.entry(call.into()).or_insert(name);
        }
    }

    fn message(&mut self, fields: &Fields<'_>, record: &Record) {
        let data = &fields.data;
        for [call, tool] in &data.tools {
            self.name(call.as_deref(), tool.as_deref());
        }
        let id = data.api_call.as_deref().or(data.message.as_deref()).or(fields.id.as_deref());
        if let (Some(id), Some(output)) = (id, data.output) {
            let model = data.model.as_deref().and_then(|model| self.all.name(model));
            let segment = self.shutdowns;
            let spoken = Spoken { record: *record, model, output, segment };
            match self.spoken.get_mut(id) {
                Some(known) => known.output = known.output.max(output),
                None => drop(self.spoken.insert(id.into(), spoken)),
            }
        }
    }

    fn tool(&mut self, data: &Data<'_>, record: &Record, event: Keys) {
        self.name(data.call.as_deref(), data.tool.as_deref());
        let (Some(call), false) = (data.call.as_deref(), data.is_user_requested) else { return };
        let tool = self.names.get(call).copied();
        let is_denied = data.is_ok == Some(false) && data.error_code.as_deref() == Some("denied");
        // A copy of the event in another session is known by the event's id.
        let keys = Keys { key: Some(self.tool_key(call)), alias: event.key, ..event };
        self.ended.insert(call.into());
        if !is_denied {
            let fact = Fact::ToolResult { tool, ok: data.is_ok, duration_us: None, error_type: None };
            return self.all.fact(record, keys, fact);
        }
        let message = data.error_head.as_deref().unwrap_or_default();
        let by =
            if message.contains("hook") { Some(Decider::Hook) } else { self.rejected.get(call).copied() };
        let by = by.unwrap_or(Decider::Unknown);
        self.all.fact(record, keys, Fact::ToolDecision { tool, accepted: false, by });
    }

    fn tool_key(&self, call: &str) -> Fingerprint {
        of_transcript(&["copilot tool", &self.id, call])
    }

    fn permission(&mut self, data: &Data<'_>, record: &Record, keys: Keys) {
        let result = data.result.as_deref().unwrap_or_default();
        let asked = data.request.as_deref().and_then(|request| self.asked.get(request));
        let call: Option<Box<str>> = data.call.as_deref().map(Into::into).or_else(|| asked.cloned());
        let by = match result {
            "denied-interactively-by-user" => Decider::User,
            "denied-by-rules"
            | "denied-by-content-exclusion-policy"
            | "denied-no-approval-rule-and-could-not-request-from-user" => Decider::Policy,
            "denied-by-permission-request-hook" => Decider::Hook,
            denied if denied.starts_with("denied") => Decider::Unknown,
            approved if approved.starts_with("approved") => {
                let tool = call.as_ref().and_then(|call| self.names.get(call)).copied();
                let by = Decider::Unknown;
                return self.all.fact(record, keys, Fact::ToolDecision { tool, accepted: true, by });
            }
            _ => return,
        };
        match call {
            Some(call) => {
                self.rejected.insert(call.clone(), by);
                self.rejections.push((self.all.line, *record, call));
            }
            None => self.all.fact(record, keys, Fact::ToolDecision { tool: None, accepted: false, by }),
        }
    }

    fn shutdown(&mut self, data: &Data<'_>, record: &Record, keys: Keys) {
        let output = |tokens: &Tokens| tokens.output;
        let reported: u64 = data.usage.iter().map(|(_, tokens)| output(tokens)).sum();
        let segment: u64 = self
            .spoken
            .values()
            .filter(|spoken| spoken.segment == self.shutdowns)
            .map(|spoken| spoken.output)
            .sum();
        let whole: u64 = self.spoken.values().map(|spoken| spoken.output).sum();
        let is_segment = reported.abs_diff(segment) <= reported.abs_diff(whole);
        let units =
            data.units.map(|units| if is_segment { units } else { units.saturating_sub(self.last_units) });
        let mut cost = units.map(|units| NanoUsd::from_nano((units / NANO_UNITS_PER_NANO_USD).into()));
        for (number, (model, tokens)) in (1..).zip(&data.usage) {
            let before = self.last.get(model.as_str()).copied().filter(|_| !is_segment).unwrap_or_default();
            let own = Tokens {
                input: tokens.input.saturating_sub(before.input),
                output: tokens.output.saturating_sub(before.output),
                cache_read: tokens.cache_read.saturating_sub(before.cache_read),
                cache_creation: tokens.cache_creation.saturating_sub(before.cache_creation),
            };
            let name = self.all.name(model);
            // The credits are those of all models: the first call has them all.
            let cost = cost.as_mut().map(|cost| std::mem::replace(cost, NanoUsd::from_nano(0)));
            let keys = Keys { key: keys.key.map(|key| with_numbers(key, &[number])), ..keys };
            self.all.request(record, keys, Call { model: name, tokens: own, long_writes: 0, cost });
        }
        if data.usage.is_empty() {
            self.put_spoken(self.shutdowns, cost.take());
        }
        self.last = data.usage.iter().map(|(model, tokens)| (model.as_str().into(), *tokens)).collect();
        self.last_units = data.units.unwrap_or(self.last_units);
        self.shutdowns += 1;
    }

    /// Adds the messages of a process that reported no usage: only their output is known.
    fn put_spoken(&mut self, segment: u64, mut cost: Option<NanoUsd>) {
        let mut spoken: Vec<(&Box<str>, &Spoken)> =
            self.spoken.iter().filter(|(_, spoken)| spoken.segment == segment).collect();
        spoken.sort_by_key(|(id, spoken)| (spoken.record.at, (*id).clone()));
        let calls: Vec<_> = spoken
            .into_iter()
            .map(|(id, spoken)| {
                let tokens = Tokens { output: spoken.output, ..Tokens::default() };
                let cost = cost.as_mut().map(|cost| std::mem::replace(cost, NanoUsd::from_nano(0)));
                let call = Call { model: spoken.model, tokens, long_writes: 0, cost };
                (spoken.record, of_transcript(&["copilot message", id]), call)
            })
            .collect();
        if let (true, Some(cost), Some(session)) = (calls.is_empty(), cost, self.session) {
            let record = Record { session, ..Record::default() };
            let key = with_numbers(of_transcript(&["copilot cost", &self.id]), &[segment]);
            self.all.cost(&record, Keys::of(key), cost);
        }
        for (record, key, call) in calls {
            self.all.request(&record, Keys::of(key), call);
            if let Some(about) = self.all.about(record.session) {
                about.has_partial_tokens = true;
            }
        }
    }

    pub(super) fn finish(mut self) -> Transcript {
        self.put_spoken(self.shutdowns, None);
        for (line, record, call) in std::mem::take(&mut self.rejections) {
            if self.ended.contains(&call) {
                continue;
            }
            self.all.line = line;
            let by = self.rejected.get(&call).copied().unwrap_or(Decider::Unknown);
            let tool = self.names.get(&call).copied();
            let keys = Keys::of(self.tool_key(&call));
            self.all.fact(&record, keys, Fact::ToolDecision { tool, accepted: false, by });
        }
        self.all.transcript
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "type" => self.kind = scan::text(cursor)?,
            "id" => self.id = scan::text(cursor)?,
            "timestamp" => self.at = scan::time(cursor)?,
            "agentId" => self.agent = scan::text(cursor)?,
            "data" => scan::object(cursor, |cursor, name| self.data.field(cursor, name))?,
            _ => cursor.pass()?,
        }
        Ok(())
    }
}

impl<'a> Data<'a> {
    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "sessionId" => self.session = scan::text(cursor)?,
            "copilotVersion" => self.version = scan::text(cursor)?,
            "context" => scan::object(cursor, |cursor, name| match name {
                "cwd" => scan::text(cursor).map(|cwd| self.cwd = cwd),
                _ => cursor.pass(),
            })?,
            "source" => self.source = scan::text(cursor)?,
            "isAutopilotContinuation" => self.is_autopilot = scan::is_true(cursor)?,
            "isUserRequested" => self.is_user_requested = scan::is_true(cursor)?,
            "toolCallId" => self.call = scan::text(cursor)?,
            "toolName" => self.tool = scan::text(cursor)?,
            "toolRequests" => self.requests(cursor)?,
            "success" => self.is_ok = scan::flag(cursor)?,
            "error" => scan::object(cursor, |cursor, name| {
                match name {
                    "code" => self.error_code = scan::text(cursor)?,
                    "message" => self.error_head = scan::head(cursor)?,
                    _ => cursor.pass()?,
                }
                Ok(())
            })?,
            "requestId" => self.request = scan::text(cursor)?,
            "permissionRequest" => scan::object(cursor, |cursor, name| match name {
                "toolCallId" => scan::text(cursor).map(|call| self.call = call),
                _ => cursor.pass(),
            })?,
            "result" => scan::object(cursor, |cursor, name| match name {
                "kind" => scan::text(cursor).map(|kind| self.result = kind),
                _ => cursor.pass(),
            })?,
            "messageId" => self.message = scan::text(cursor)?,
            "apiCallId" => self.api_call = scan::text(cursor)?,
            "model" => self.model = scan::text(cursor)?,
            "outputTokens" => self.output = scan::count(cursor)?,
            "totalNanoAiu" => self.units = scan::count(cursor)?,
            "modelMetrics" => self.metrics(cursor)?,
            "statusCode" => self.status = scan::count(cursor)?,
            "preCompactionTokens" => self.compacted.0 = scan::count(cursor)?,
            "postCompactionTokens" => self.compacted.1 = scan::count(cursor)?,
            _ => cursor.pass()?,
        }
        Ok(())
    }

    fn requests(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        scan::array(cursor, |cursor| {
            let (mut id, mut tool) = (None, None);
            scan::object(cursor, |cursor, name| {
                match name {
                    "toolCallId" => id = scan::text(cursor)?,
                    "name" | "toolName" => tool = scan::text(cursor)?,
                    _ => cursor.pass()?,
                }
                Ok(())
            })?;
            self.tools.push([id, tool]);
            Ok(())
        })
    }

    fn metrics(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        scan::object(cursor, |cursor, model| {
            let model = model.to_owned();
            let (mut tokens, mut has_usage) = (Tokens::default(), false);
            scan::object(cursor, |cursor, name| match name {
                "usage" if cursor.start()? == Start::Object => {
                    has_usage = true;
                    usage(cursor, &mut tokens)
                }
                _ => cursor.pass(),
            })?;
            if has_usage {
                tokens.input =
                    tokens.input.saturating_sub(tokens.cache_read.saturating_add(tokens.cache_creation));
                self.usage.push((model, tokens));
            }
            Ok(())
        })
    }
}

fn usage(cursor: &mut Cursor<'_>, tokens: &mut Tokens) -> Walked {
    scan::object(cursor, |cursor, name| {
        let count = match name {
            "inputTokens" => &mut tokens.input,
            "outputTokens" => &mut tokens.output,
            "cacheReadTokens" => &mut tokens.cache_read,
            "cacheWriteTokens" => &mut tokens.cache_creation,
            _ => return cursor.pass(),
        };
        *count = scan::count(cursor)?.unwrap_or(0);
        Ok(())
    })
}

#[cfg(test)]
mod tests;
