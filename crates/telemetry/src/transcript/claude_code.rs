//! # Claude Code
//!
//! JSON Lines. Conversation lines (`user`, `assistant`, `system`, `attachment`) have a `uuid` and a `timestamp`; they
//! move the window. All others are state, and only `cost-state` is read. The session is `sessionId`; a sub-agent's
//! lines name the session of their parent.
//!
//! | field | fact |
//! |---|---|
//! | `tool_result` block of a user line, joined with the `tool_use` block by `tool_use_id` | tool result; ok unless `is_error` |
//! | … with `toolDenialKind` | rejection: `user-rejected` by the user (unknown if `entrypoint` is `sdk-*`), `permission-rule`, `automode-*` by policy; `interrupted`, `cancelled` nothing |
//! | … with `is_error` and a known beginning (old versions) | rejection by the user, policy or a hook; or nothing |
//! | user line typed by a human, `queued_command` attachment | prompt |
//! | … that begins with `<command-name>` | prompt if an assistant line follows before the next prompt |
//! | `message.usage` of assistant lines with one `message.id` and `requestId` | API request: the line with most output |
//! | `usage.iterations[]` of type `advisor_message` | one more API request |
//! | `isApiErrorMessage` | API error |
//! | `stop_reason` refusal; `system` `model_refusal_*` | refusal, once per prompt |
//! | `system` `compact_boundary` | compaction |
//! | `cost-state`, the last one, if `hasUnknownModelCost` is false | the session's cost |
//! | `costUSD` (old versions) | the call's cost |
//! | `cwd`, `version` | project, version |
//!
//! ```text
//! input, output, cache_read = input_tokens, output_tokens, cache_read_input_tokens
//! cache_creation            = Σ cache_creation.*   if that is > 0, else cache_creation_input_tokens
//! ```
//!
//! | record | key: equal in all copies |
//! |---|---|
//! | API request | `message.id`, `requestId`; without `requestId` the session, `message.id`, and the line's `uuid` |
//! | tool result, rejection | `tool_use_id` |
//! | prompt | `uuid`; also `timestamp` with `promptId`, else with `parentUuid` |
//! | others | `uuid` |
//!
//! A line with `forkedFrom` was copied from that session. So was one whose `session_id` is not its `sessionId`, if
//! that session has it too. A side question repeats the messages of the session as `isSidechain` lines.
//!
//! Versions before 2.1.97 recorded fewer output tokens than were used: their tokens are partial.

mod text;

use std::borrow::Cow;
use std::collections::HashMap;

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;

use super::collect::{Call, Collector, Record};
use super::scan::{self, Walked};
use super::{CopiedFrom, Keys, Line, Name, Transcript, TranscriptPath};
use crate::facts::{Fact, Fingerprint, Tokens};
use crate::fingerprint::{of_transcript, with_numbers};
use crate::json::LineError;
use crate::json::cursor::{Cursor, Start};

/// The model of messages that the agent wrote itself.
const SYNTHETIC: &str = "<synthetic>";

/// Reads one file.
#[derive(Debug)]
pub(super) struct Reader {
    all: Collector,
    is_subagent: bool,
    calls: HashMap<Fingerprint, ToolCall>,
    /// A typed command that counts as a prompt once the model answers.
    pending: Option<(Record, Keys)>,
    /// The latest prompt.
    turn: Fingerprint,
}

#[derive(Clone, Copy, Debug)]
struct ToolCall {
    name: Option<Name>,
    at: Option<Timestamp>,
}

/// The fields of a line.
#[derive(Default)]
struct Fields<'a> {
    kind: Option<Cow<'a, str>>,
    subtype: Option<Cow<'a, str>>,
    uuid: Option<Cow<'a, str>>,
    parent: Option<Cow<'a, str>>,
    at: Option<Timestamp>,
    session: Option<Cow<'a, str>>,
    other_session: Option<Cow<'a, str>>,
    forked_from: Option<Cow<'a, str>>,
    prompt: Option<Cow<'a, str>>,
    request: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    version: Option<Cow<'a, str>>,
    entrypoint: Option<Cow<'a, str>>,
    origin: Option<Cow<'a, str>>,
    denial: Option<Cow<'a, str>>,
    is_side: bool,
    /// Whether it is marked as written by the agent.
    is_generated: bool,
    is_api_error: bool,
    status: Option<u64>,
    error: Option<Cow<'a, str>>,
    cost: Option<NanoUsd>,
    has_result: bool,
    /// `toolUseResult`, if it is a text.
    result: Option<Cow<'a, str>>,
    duration_ms: Option<u64>,
    message: Message<'a>,
    attachment: Attachment<'a>,
    compacted: (Option<u64>, Option<u64>),
    total_cost: Option<NanoUsd>,
    has_unknown_cost: Option<bool>,
}

#[derive(Default)]
struct Message<'a> {
    id: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    stop_reason: Option<Cow<'a, str>>,
    /// Beginning of its text.
    head: Option<Cow<'a, str>>,
    has_media: bool,
    blocks: Vec<Block<'a>>,
    usage: Option<Usage<'a>>,
}

/// A block of a message, of any type.
#[derive(Default)]
struct Block<'a> {
    kind: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    is_error: bool,
    head: Option<Cow<'a, str>>,
}

#[derive(Default)]
struct Usage<'a> {
    tokens: Tokens,
    long_writes: u64,
    advisors: Vec<Advisor<'a>>,
}

/// One element of `iterations`.
#[derive(Default)]
struct Advisor<'a> {
    number: u64,
    model: Option<Cow<'a, str>>,
    tokens: Tokens,
    long_writes: u64,
}

#[derive(Default)]
struct Attachment<'a> {
    kind: Option<Cow<'a, str>>,
    origin: Option<Cow<'a, str>>,
    mode: Option<Cow<'a, str>>,
    head: Option<Cow<'a, str>>,
    is_generated: bool,
}

impl Reader {
    pub(super) fn new(path: TranscriptPath<'_>) -> Self {
        Self {
            all: Collector::default(),
            is_subagent: path.is_subagent,
            calls: HashMap::new(),
            pending: None,
            turn: of_transcript(&["start"]),
        }
    }

    pub(super) fn line(&mut self, text: &str) -> Result<Line, LineError> {
        let mut fields = Fields::default();
        scan::line(text, |cursor, name| fields.field(cursor, name))?;
        self.all.line += 1;
        Ok(self.add(&fields))
    }

    fn add(&mut self, fields: &Fields<'_>) -> Line {
        let Some(session) = fields.session.as_deref().and_then(|id| self.all.session(id)) else {
            return if fields.kind.is_some() && fields.uuid.is_none() { Line::Known } else { Line::Unknown };
        };
        if fields.kind.as_deref() == Some("cost-state") {
            let cost = fields.total_cost.filter(|_| fields.has_unknown_cost == Some(false));
            if let Some(about) = self.all.about(session) {
                about.cost = cost;
            }
            return Line::Known;
        }
        let Some(uuid) = fields.uuid.as_deref() else { return Line::Known };
        let record = self.record(fields, session);
        let keys = Keys::of(of_transcript(&["claude", uuid]));
        self.all.describe(session, fields.cwd.as_deref(), fields.version.as_deref());
        match fields.kind.as_deref() {
            Some("user") => self.user(fields, &record, keys),
            Some("assistant") => self.assistant(fields, &record, keys),
            Some("system") => self.system(fields, &record, keys),
            Some("attachment") => {
                self.all.moment(&record, keys.key);
                if fields.attachment.is_prompt() {
                    self.prompt(&record, fields.prompt_keys(keys));
                }
            }
            Some(_) => return Line::Known,
            None => return Line::Unknown,
        }
        Line::Known
    }

    fn record(&mut self, fields: &Fields<'_>, session: u32) -> Record {
        let mut mark = |id: Option<&str>, is_certain| {
            let origin = self.all.session(id?).filter(|origin| *origin != session)?;
            Some(CopiedFrom { session: origin, is_certain })
        };
        let copied_from = mark(fields.forked_from.as_deref(), true)
            .or_else(|| mark(fields.other_session.as_deref(), false));
        Record { session, at: fields.at, copied_from, is_side: self.is_subagent || fields.is_side }
    }

    fn user(&mut self, fields: &Fields<'_>, record: &Record, keys: Keys) {
        let results = || fields.message.blocks.iter().filter(|block| block.is("tool_result"));
        let first = results().find_map(|block| block.id.as_deref());
        let key = first.map_or(keys.key, |id| Some(tool_key(id)));
        let is_prompt = first.is_none() && !record.is_side && fields.is_human();
        let prompt_keys = fields.prompt_keys(keys);
        let key = if is_prompt { prompt_keys.alias.or(key) } else { key };
        self.all.moment(record, key);
        if is_prompt {
            match fields.message.head.as_deref() {
                Some(head) if text::is_command(head) => self.pending = Some((*record, prompt_keys)),
                _ => self.prompt(record, prompt_keys),
            }
        }
        for block in results() {
            self.result(fields, record, block);
        }
    }

    fn prompt(&mut self, record: &Record, keys: Keys) {
        self.pending = None;
        self.turn = keys.key.unwrap_or(self.turn);
        self.all.fact(record, keys, Fact::Prompt { trace: None });
    }

    fn result(&mut self, fields: &Fields<'_>, record: &Record, block: &Block<'_>) {
        let Some(id) = block.id.as_deref() else { return };
        let key = tool_key(id);
        let call = self.calls.get(&key).copied();
        let tool = call.and_then(|call| call.name);
        let outcome = text::outcome(&text::Result {
            denial: fields.denial.as_deref(),
            is_error: block.is_error,
            head: block.head.as_deref().unwrap_or_default(),
            result: fields.result.as_deref().unwrap_or_default(),
            is_headless: fields.entrypoint.as_deref().is_some_and(|entry| entry.starts_with("sdk-")),
        });
        let since = || {
            let micros = (record.at?.nanos() - call?.at?.nanos()) / 1000;
            u64::try_from(micros).ok()
        };
        let duration_us = fields.duration_ms.map(|millis| millis.saturating_mul(1000)).or_else(since);
        let fact = match outcome {
            text::Outcome::Ran { ok } => {
                Fact::ToolResult { tool, ok: Some(ok), duration_us, error_type: None }
            }
            text::Outcome::Rejected(by) => Fact::ToolDecision { tool, accepted: false, by },
            text::Outcome::NotRun => return,
        };
        self.all.fact(record, Keys::of(key), fact);
    }

    fn assistant(&mut self, fields: &Fields<'_>, record: &Record, keys: Keys) {
        let message = &fields.message;
        let is_synthetic = message.model.as_deref() == Some(SYNTHETIC);
        let request_keys = fields.request_keys(keys);
        let key = if fields.request.is_some() { request_keys.key } else { keys.key };
        self.all.moment(record, key);
        if fields.is_api_error {
            let error_type = fields.error.as_deref().and_then(|error| self.all.name(error));
            self.all.fact(record, keys, Fact::ApiError { status: fields.status, error_type });
        }
        if is_synthetic {
            return;
        }
        if let Some((record, keys)) = self.pending.take_if(|_| !record.is_side) {
            self.prompt(&record, keys);
        }
        for block in message.blocks.iter().filter(|block| block.is("tool_use")) {
            if let Some(id) = block.id.as_deref() {
                let name = block.name.as_deref().and_then(|name| self.all.name(name));
                self.calls.entry(tool_key(id)).or_insert(ToolCall { name, at: record.at });
            }
        }
        if message.stop_reason.as_deref() == Some("refusal") {
            self.refusal(record);
        }
        self.usage(fields, record, request_keys);
    }

    fn usage(&mut self, fields: &Fields<'_>, record: &Record, keys: Keys) {
        let Some(usage) = &fields.message.usage else { return };
        if fields.is_api_error {
            return;
        }
        let model = fields.message.model.as_deref().and_then(|model| self.all.name(model));
        let &Usage { tokens, long_writes, .. } = usage;
        self.all.request(record, keys, Call { model, tokens, long_writes, cost: fields.cost });
        for advisor in &usage.advisors {
            let keys = Keys {
                key: keys.key.map(|key| with_numbers(key, &[1, advisor.number])),
                alias: keys.alias.map(|alias| with_numbers(alias, &[1, advisor.number])),
                ..keys
            };
            let model = advisor.model.as_deref().and_then(|model| self.all.name(model)).or(model);
            let &Advisor { tokens, long_writes, .. } = advisor;
            self.all.request(record, keys, Call { model, tokens, long_writes, cost: None });
        }
        if fields.version.as_deref().is_some_and(has_partial_output)
            && let Some(about) = self.all.about(record.session)
        {
            about.has_partial_tokens = true;
        }
    }

    fn refusal(&mut self, record: &Record) {
        let key = with_numbers(self.turn, &[2]);
        self.all.fact(record, Keys::of(key), Fact::Refusal);
    }

    fn system(&mut self, fields: &Fields<'_>, record: &Record, keys: Keys) {
        self.all.moment(record, keys.key);
        match fields.subtype.as_deref() {
            Some("compact_boundary") => {
                let (before, after) = fields.compacted;
                self.all.fact(record, keys, Fact::Compaction { before, after });
            }
            Some("model_refusal_fallback" | "model_refusal_no_fallback") => self.refusal(record),
            _ => {}
        }
    }

    pub(super) fn finish(self) -> Transcript {
        self.all.transcript
    }
}

fn tool_key(id: &str) -> Fingerprint {
    of_transcript(&["claude tool", id])
}

/// Whether a version recorded fewer output tokens than were used: those before 2.1.97.
fn has_partial_output(version: &str) -> bool {
    let mut numbers = version.split(['.', '-', '+']).map(|part| part.parse::<u64>().ok());
    let mut next = || numbers.next().flatten();
    match (next(), next(), next()) {
        (Some(major), Some(minor), Some(patch)) => (major, minor, patch) < (2, 1, 97),
        _ => false,
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "type" => self.kind = scan::text(cursor)?,
            "subtype" => self.subtype = scan::text(cursor)?,
            "uuid" => self.uuid = scan::text(cursor)?,
            "parentUuid" => self.parent = scan::text(cursor)?,
            "timestamp" => self.at = scan::time(cursor)?,
            "sessionId" => self.session = scan::text(cursor)?,
            "session_id" => self.other_session = scan::text(cursor)?,
            "promptId" => self.prompt = scan::text(cursor)?,
            "requestId" => self.request = scan::text(cursor)?,
            "cwd" => self.cwd = scan::text(cursor)?,
            "version" => self.version = scan::text(cursor)?,
            "entrypoint" => self.entrypoint = scan::text(cursor)?,
            "isSidechain" => self.is_side = scan::is_true(cursor)?,
            "isMeta"
            | "isCompactSummary"
            | "isVisibleInTranscriptOnly"
            | "turnCompanion"
            | "verifiedSlackHumanTurn" => self.is_generated |= scan::is_set(cursor)?,
            "isApiErrorMessage" => self.is_api_error = scan::is_true(cursor)?,
            "apiErrorStatus" => self.status = scan::count(cursor)?,
            "error" => self.error = scan::text(cursor)?.filter(|error| is_error_name(error)),
            "costUSD" => self.cost = scan::dollars(cursor)?,
            "toolDenialKind" => self.denial = scan::text(cursor)?,
            "toolUseResult" => self.tool_use_result(cursor)?,
            "origin" => self.origin = kind(cursor, "kind")?,
            "forkedFrom" => self.forked_from = kind(cursor, "sessionId")?,
            "message" => scan::object(cursor, |cursor, name| self.message.field(cursor, name))?,
            "attachment" => scan::object(cursor, |cursor, name| self.attachment.field(cursor, name))?,
            "compactMetadata" => scan::object(cursor, |cursor, name| {
                match name {
                    "preTokens" => self.compacted.0 = scan::count(cursor)?,
                    "postTokens" => self.compacted.1 = scan::count(cursor)?,
                    _ => cursor.pass()?,
                }
                Ok(())
            })?,
            "totalCostUSD" => self.total_cost = scan::dollars(cursor)?,
            "hasUnknownModelCost" => self.has_unknown_cost = scan::flag(cursor)?,
            _ => cursor.pass()?,
        }
        Ok(())
    }

    fn tool_use_result(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        self.has_result = true;
        self.result = match cursor.start()? {
            Start::Object => {
                scan::object(cursor, |cursor, name| {
                    match name {
                        "durationMs" => self.duration_ms = scan::count(cursor)?,
                        _ => cursor.pass()?,
                    }
                    Ok(())
                })?;
                None
            }
            _ => scan::head(cursor)?,
        };
        Ok(())
    }

    /// Whether a human typed this user line, or a program that stands for one.
    fn is_human(&self) -> bool {
        if self.is_generated || self.has_result {
            return false;
        }
        let head = self.message.head.as_deref().unwrap_or_default();
        let has_content = !head.is_empty() || self.message.has_media;
        let by_human = self.origin.as_deref().is_none_or(|kind| kind == "human");
        by_human && has_content && !text::is_injected(head)
    }

    fn prompt_keys(&self, keys: Keys) -> Keys {
        let at = self.at.map_or(0, |at| at.nanos().cast_unsigned());
        let with_time = |id: &str| with_numbers(of_transcript(&["claude prompt", id]), &[at]);
        let alias = self.prompt.as_deref().or(self.parent.as_deref()).map(with_time);
        Keys { alias: alias.filter(|_| self.at.is_some()), ..keys }
    }

    /// Without `requestId`, a message id says nothing about other sessions: relays repeat them. The `uuid` does.
    fn request_keys(&self, keys: Keys) -> Keys {
        let session = self.session.as_deref().unwrap_or_default();
        match (self.message.id.as_deref(), self.request.as_deref()) {
            (Some(id), Some(request)) => Keys {
                key: Some(of_transcript(&["claude request", id, request])),
                alias: Some(of_transcript(&["claude message", session, id])),
                has_weak_alias: true,
            },
            (Some(id), None) => Keys {
                key: Some(of_transcript(&["claude message", session, id])),
                alias: keys.key,
                has_weak_alias: false,
            },
            (None, _) => keys,
        }
    }
}

/// Reads one text field of an object.
fn kind<'a>(cursor: &mut Cursor<'a>, wanted: &str) -> Walked<Option<Cow<'a, str>>> {
    let mut found = None;
    scan::object(cursor, |cursor, name| {
        if name == wanted { scan::text(cursor).map(|text| found = text) } else { cursor.pass() }
    })?;
    Ok(found)
}

/// Whether an error is a name and no prose.
fn is_error_name(error: &str) -> bool {
    error.len() <= crate::limits::ERROR_TYPE_BYTES_MAX
        && error.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte))
}

impl<'a> Message<'a> {
    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "id" => self.id = scan::text(cursor)?,
            "model" => self.model = scan::text(cursor)?,
            "stop_reason" => self.stop_reason = scan::text(cursor)?,
            "content" => self.content(cursor)?,
            "usage" => {
                let mut usage = Usage::default();
                if cursor.start()? == Start::Object {
                    usage.read(cursor)?;
                    self.usage = Some(usage);
                } else {
                    cursor.pass()?;
                }
            }
            _ => cursor.pass()?,
        }
        Ok(())
    }

    fn content(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        if cursor.start()? != Start::Array {
            self.head = scan::head(cursor)?;
            return Ok(());
        }
        scan::array(cursor, |cursor| {
            let mut block = Block::default();
            scan::object(cursor, |cursor, name| block.field(cursor, name))?;
            match block.kind.as_deref() {
                Some("text") => self.head = self.head.take().or(block.head),
                Some("image" | "document") => self.has_media = true,
                Some("tool_use" | "tool_result") => self.blocks.push(block),
                _ => {}
            }
            Ok(())
        })
    }
}

impl<'a> Block<'a> {
    fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "type" => self.kind = scan::text(cursor)?,
            "id" | "tool_use_id" => self.id = scan::text(cursor)?,
            "name" => self.name = scan::text(cursor)?,
            "is_error" => self.is_error = scan::is_true(cursor)?,
            "text" => self.head = scan::head(cursor)?,
            "content" => self.head = scan::head_of_blocks(cursor)?,
            _ => cursor.pass()?,
        }
        Ok(())
    }
}

/// Token counts of one object with the names of the API.
#[derive(Default)]
struct Counts {
    tokens: Tokens,
    /// Σ `cache_creation.*`, and the part of it that is kept for an hour.
    nested: u64,
    long: u64,
}

impl Counts {
    fn field(&mut self, cursor: &mut Cursor<'_>, name: &str) -> Walked {
        let read = |cursor: &mut Cursor<'_>| Ok(scan::count(cursor)?.unwrap_or(0));
        match name {
            "input_tokens" => self.tokens.input = read(cursor)?,
            "output_tokens" => self.tokens.output = read(cursor)?,
            "cache_read_input_tokens" => self.tokens.cache_read = read(cursor)?,
            "cache_creation_input_tokens" => self.tokens.cache_creation = read(cursor)?,
            "cache_creation" => scan::object(cursor, |cursor, name| {
                let count = scan::count(cursor)?.unwrap_or(0);
                if name.ends_with("_input_tokens") {
                    self.nested = self.nested.saturating_add(count);
                }
                if name == "ephemeral_1h_input_tokens" {
                    self.long = count;
                }
                Ok(())
            })?,
            _ => cursor.pass()?,
        }
        Ok(())
    }

    fn finish(self) -> (Tokens, u64) {
        let Self { mut tokens, nested, long } = self;
        if nested > 0 {
            tokens.cache_creation = nested;
        }
        (tokens, long.min(tokens.cache_creation))
    }
}

impl<'a> Usage<'a> {
    fn read(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        let mut counts = Counts::default();
        scan::object(cursor, |cursor, name| match name {
            "iterations" => self.iterations(cursor),
            _ => counts.field(cursor, name),
        })?;
        (self.tokens, self.long_writes) = counts.finish();
        Ok(())
    }

    fn iterations(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        let mut number = 0;
        scan::array(cursor, |cursor| {
            let (mut counts, mut kind, mut model) = (Counts::default(), None, None);
            scan::object(cursor, |cursor, name| {
                match name {
                    "type" => kind = scan::text(cursor)?,
                    "model" => model = scan::text(cursor)?,
                    _ => counts.field(cursor, name)?,
                }
                Ok(())
            })?;
            if kind.as_deref() == Some("advisor_message") {
                let (tokens, long_writes) = counts.finish();
                self.advisors.push(Advisor { number, model, tokens, long_writes });
            }
            number += 1;
            Ok(())
        })
    }
}

impl<'a> Attachment<'a> {
    fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
        match name {
            "type" => self.kind = scan::text(cursor)?,
            "origin" => self.origin = kind(cursor, "kind")?,
            "commandMode" => self.mode = scan::text(cursor)?,
            "isMeta" => self.is_generated = scan::is_set(cursor)?,
            "prompt" => self.head = scan::head_of_blocks(cursor)?,
            _ => cursor.pass()?,
        }
        Ok(())
    }

    /// Whether it is a prompt that the user typed while the agent worked.
    fn is_prompt(&self) -> bool {
        let by_human = match self.origin.as_deref() {
            Some(kind) => kind == "human",
            None => self.mode.as_deref() != Some("task-notification"),
        };
        let head = self.head.as_deref().unwrap_or_default();
        self.kind.as_deref() == Some("queued_command")
            && by_human
            && !self.is_generated
            && !text::is_injected(head)
    }
}

#[cfg(test)]
mod tests;
