//! # Qwen Code
//!
//! JSON Lines with telemetry events inside. Old versions wrote the format of Gemini CLI.
//!
//! | field | fact |
//! |---|---|
//! | `system` line, subtype `ui_telemetry`: `systemPayload.uiEvent` | the fact of that telemetry event, as in the dialect `qwen` |
//! | assistant line with `usageMetadata`, if the file has no `api_response` event | API request, with the formula of the dialect `gemini` |
//! | `tool_result` line, if the file has no `tool_call` event | tool result by `toolCallResult.status`; `cancelled`: rejection by the user |
//! | user line without subtype, or with `mid_turn_user_message` | prompt, unless `provenance` says otherwise |
//! | subtype `slash_command` | prompt if an assistant line follows before the next prompt |
//! | subtype `chat_compression` | compaction |
//! | `cwd`, `version` | project, version |
//!
//! The key of a record is its `uuid`. A line with `forkedFrom` was copied from that session. A sub-agent's records
//! belong to the session of its parent, and none of them is a prompt.

use std::borrow::Cow;

use renown_core::time::Timestamp;

use super::collect::{Call, Collector, Record};
use super::gemini_cli::{self, GeminiTokens};
use super::scan::{self, Walked};
use super::{CopiedFrom, Keys, Line, Name, Transcript, TranscriptPath};
use crate::attributes::{Attributes, Key};
use crate::dialect::{Agent, DialectEvent, log_event};
use crate::facts::{Decider, Fact};
use crate::fields::{Fields as EventFields, Span};
use crate::fingerprint::{of_transcript, with_numbers};
use crate::json::LineError;
use crate::json::Quoted;
use crate::json::cursor::{Cursor, Start};
use crate::prices::Prices;
use crate::value::Value;

/// Reads one file.
#[derive(Debug)]
pub(super) struct Reader {
    all: Collector,
    is_subagent: bool,
    parent: Option<String>,
    pending: Option<(Record, Keys)>,
    has_responses: bool,
    has_calls: bool,
    /// Facts of lines that count if the file has no telemetry event of their kind.
    fallbacks: Vec<Fallback>,
    /// Reader of the old format, once a line has that format.
    old: Option<Box<gemini_cli::Reader>>,
    stem: String,
}

#[derive(Debug)]
struct Fallback {
    line: u32,
    record: Record,
    keys: Keys,
    fact: FallbackFact,
}

#[derive(Debug)]
enum FallbackFact {
    Call(Call),
    Tool(Fact<Name>),
}

#[derive(Default)]
struct Fields<'a> {
    kind: Option<Cow<'a, str>>,
    subtype: Option<Cow<'a, str>>,
    uuid: Option<Cow<'a, str>>,
    at: Option<Timestamp>,
    session: Option<Cow<'a, str>>,
    forked_from: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    version: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    provenance: Option<Cow<'a, str>>,
    is_side: bool,
    has_text: bool,
    usage: Option<GeminiTokens>,
    tool: Option<Cow<'a, str>>,
    status: Option<Cow<'a, str>>,
    error_type: Option<Cow<'a, str>>,
    /// The raw telemetry event.
    event: Option<&'a str>,
}

impl Reader {
    pub(super) fn new(path: TranscriptPath<'_>) -> Self {
        Self {
            all: Collector::default(),
            is_subagent: path.is_subagent,
            parent: path.parent.map(str::to_owned),
            pending: None,
            has_responses: false,
            has_calls: false,
            fallbacks: Vec::new(),
            old: None,
            stem: path.stem.to_owned(),
        }
    }

    pub(super) fn line(&mut self, text: &str) -> Result<Line, LineError> {
        if let Some(old) = &mut self.old {
            return old.line(text);
        }
        let mut fields = Fields::default();
        scan::line(text, |cursor, name| fields.field(cursor, name))?;
        if fields.uuid.is_none() && self.all.line == 0 {
            let path = TranscriptPath {
                stem: &self.stem,
                is_subagent: self.is_subagent,
                parent: self.parent.as_deref(),
                project: None,
            };
            let mut old = gemini_cli::Reader::new(path);
            let read = old.line(text)?;
            if read == Line::Known {
                self.old = Some(Box::new(old));
            }
            return Ok(read);
        }
        self.all.line += 1;
        Ok(self.add(&fields))
    }

    fn add(&mut self, fields: &Fields<'_>) -> Line {
        let id = self.parent.clone().map(Cow::Owned).or_else(|| fields.session.clone());
        let session = id.and_then(|id| self.all.session(&id));
        let (Some(session), Some(uuid)) = (session, fields.uuid.as_deref()) else { return Line::Unknown };
        let origin = fields.forked_from.as_deref().and_then(|id| self.all.session(id));
        let copied_from = origin
            .filter(|origin| *origin != session)
            .map(|session| CopiedFrom { session, is_certain: true });
        let is_side = self.is_subagent || fields.is_side;
        let record = Record { session, at: fields.at, copied_from, is_side };
        let keys = Keys::of(of_transcript(&["qwen", uuid]));
        self.all.moment(&record, keys.key);
        self.all.describe(session, fields.cwd.as_deref(), fields.version.as_deref());
        if let Some(event) = fields.event {
            self.event(event, &record, keys);
        }
        match (fields.kind.as_deref(), fields.subtype.as_deref()) {
            (Some("user"), None | Some("mid_turn_user_message")) if !is_side => {
                let is_human = fields.provenance.as_deref().is_none_or(|from| from == "real_user");
                if is_human && fields.has_text {
                    self.pending = None;
                    self.all.fact(&record, keys, Fact::Prompt { trace: None });
                }
            }
            (_, Some("slash_command")) if !is_side => self.pending = Some((record, keys)),
            (_, Some("chat_compression")) => {
                self.all.fact(&record, keys, Fact::Compaction { before: None, after: None });
            }
            (Some("assistant"), _) => self.assistant(fields, &record, keys),
            (Some("tool_result"), _) => self.tool_result(fields, &record, keys),
            (Some("user" | "system"), _) => {}
            _ => return Line::Unknown,
        }
        Line::Known
    }

    fn assistant(&mut self, fields: &Fields<'_>, record: &Record, keys: Keys) {
        if let Some((record, keys)) = self.pending.take_if(|_| !record.is_side) {
            self.all.fact(&record, keys, Fact::Prompt { trace: None });
        }
        if let Some(usage) = fields.usage {
            let model = fields.model.as_deref().and_then(|model| self.all.name(model));
            let call = Call { model, tokens: usage.tokens(), ..Call::default() };
            self.fallback(record, keys, FallbackFact::Call(call));
        }
    }

    fn tool_result(&mut self, fields: &Fields<'_>, record: &Record, keys: Keys) {
        let tool = fields.tool.as_deref().and_then(|tool| self.all.name(tool));
        let error_type = fields.error_type.as_deref().and_then(|error| self.all.name(error));
        let ran = |ok| Fact::ToolResult { tool, ok: Some(ok), duration_us: None, error_type };
        let fact = match fields.status.as_deref() {
            Some("success") => ran(true),
            Some("error") => ran(false),
            Some("cancelled") => Fact::ToolDecision { tool, accepted: false, by: Decider::User },
            _ => return,
        };
        self.fallback(record, keys, FallbackFact::Tool(fact));
    }

    fn fallback(&mut self, record: &Record, keys: Keys, fact: FallbackFact) {
        self.fallbacks.push(Fallback { line: self.all.line, record: *record, keys, fact });
    }

    /// Reads a telemetry event with the reader of its dialect.
    fn event(&mut self, raw: &str, record: &Record, keys: Keys) {
        let mut attributes = Attributes::new();
        if scan::object(&mut Cursor::new(raw), |cursor, name| put(&mut attributes, cursor, name)).is_err() {
            return;
        }
        let name = attributes.get(Key::EventName).text();
        let (agent, name) = Agent::of_name(name.as_deref().unwrap_or_default());
        let DialectEvent::Known(read) = log_event(Some(agent.unwrap_or(Agent::QwenCode)), name) else {
            return;
        };
        let (resource, prices) = (Attributes::new(), Prices::default());
        let fields =
            EventFields { record: &attributes, resource: &resource, span: Span::default(), prices: &prices };
        let mut facts = Vec::new();
        if read(&fields, &mut facts).is_err() {
            return;
        }
        self.has_responses |= name == "api_response";
        self.has_calls |= name == "tool_call";
        for (number, fact) in (1..).zip(facts) {
            // Prompts are lines of their own.
            if matches!(fact, Fact::Prompt { .. }) {
                continue;
            }
            let fact = fact.map(|text| self.all.intern(text.trim()));
            let key = keys.key.map(|key| with_numbers(key, &[number]));
            self.all.fact(record, Keys { key, ..keys }, fact);
        }
    }

    pub(super) fn finish(mut self) -> Transcript {
        if let Some(old) = self.old {
            return old.finish();
        }
        for Fallback { line, record, keys, fact } in std::mem::take(&mut self.fallbacks) {
            self.all.line = line;
            match fact {
                FallbackFact::Call(call) if !self.has_responses => self.all.request(&record, keys, call),
                FallbackFact::Tool(fact) if !self.has_calls => self.all.fact(&record, keys, fact),
                FallbackFact::Call(_) | FallbackFact::Tool(_) => {}
            }
        }
        self.all.transcript
    }
}

/// Reads one attribute of a telemetry event.
fn put<'a>(attributes: &mut Attributes<'a>, cursor: &mut Cursor<'a>, name: &str) -> Walked {
    let Some(key) = Key::of(name) else { return cursor.pass() };
    let value = match cursor.start()? {
        Start::Text => {
            let raw = cursor.pass_text()?;
            Value::Text(Quoted { raw, escaped: raw.contains('\\') })
        }
        Start::Number => Value::Decimal(cursor.number()?),
        Start::True | Start::False => Value::Bool(scan::is_true(cursor)?),
        Start::Object | Start::Array | Start::Null => return cursor.pass(),
    };
    attributes.put(key, value);
    Ok(())
}

impl<'a> Fields<'a> {
    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "type" => self.kind = scan::text(cursor)?,
            "subtype" => self.subtype = scan::text(cursor)?,
            "uuid" => self.uuid = scan::text(cursor)?,
            "timestamp" => self.at = scan::time(cursor)?,
            "sessionId" => self.session = scan::text(cursor)?,
            "cwd" => self.cwd = scan::text(cursor)?,
            "version" => self.version = scan::text(cursor)?,
            "model" => self.model = scan::text(cursor)?,
            "provenance" => self.provenance = scan::text(cursor)?,
            "isSidechain" => self.is_side |= scan::is_true(cursor)?,
            "agentId" => self.is_side |= scan::text(cursor)?.is_some(),
            "forkedFrom" => scan::object(cursor, |cursor, name| {
                match name {
                    "sessionId" => self.forked_from = scan::text(cursor)?,
                    _ => cursor.pass()?,
                }
                Ok(())
            })?,
            "message" => scan::object(cursor, |cursor, name| match name {
                "parts" => self.parts(cursor),
                _ => cursor.pass(),
            })?,
            "usageMetadata" if cursor.start()? == Start::Object => {
                let mut usage = GeminiTokens::default();
                scan::object(cursor, |cursor, name| usage.metadata(cursor, name))?;
                self.usage = Some(usage);
            }
            "toolCallResult" => scan::object(cursor, |cursor, name| {
                match name {
                    "name" | "toolName" => self.tool = scan::text(cursor)?,
                    "status" => self.status = scan::text(cursor)?,
                    "errorType" => self.error_type = scan::text(cursor)?,
                    _ => cursor.pass()?,
                }
                Ok(())
            })?,
            "systemPayload" => scan::object(cursor, |cursor, name| match name {
                "uiEvent" => raw(cursor).map(|raw| self.event = Some(raw)),
                _ => cursor.pass(),
            })?,
            _ => cursor.pass()?,
        }
        Ok(())
    }

    /// Reads the parts of a message. Only whether there is anything but function responses matters.
    fn parts(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        scan::array(cursor, |cursor| {
            scan::object(cursor, |cursor, name| match name {
                "text" => scan::head(cursor).map(|head| {
                    self.has_text |= head.is_some_and(|head| !head.trim().is_empty());
                }),
                "inlineData" | "fileData" => {
                    self.has_text = true;
                    cursor.pass()
                }
                _ => cursor.pass(),
            })
        })
    }
}

/// Skips a value and returns its raw text.
fn raw<'a>(cursor: &mut Cursor<'a>) -> Walked<&'a str> {
    cursor.blanks();
    let rest = cursor.rest();
    cursor.pass()?;
    Ok(rest.get(..cursor.since(rest)).unwrap_or_default())
}

#[cfg(test)]
mod tests;
