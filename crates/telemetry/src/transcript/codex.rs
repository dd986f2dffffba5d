//! # Codex
//!
//! JSON Lines, one file per thread; the first `session_meta` has the id of the session. Files repeat the same happening
//! in several forms, so that one form is chosen per file and fact. It is chosen at the end of the file.
//!
//! | fact | forms, the first one in the file's list wins |
//! |---|---|
//! | prompt | `item_completed` `UserMessage`; event `user_message`; `message` of role user whose text is not injected |
//! | API request | `token_usage_record` by `response_id`, the last one; event `token_count` |
//! | tool result | the outcome of a call, see below |
//! | compaction | `compacted` line, `context_compacted` event, `ContextCompaction` item: the form with most of them |
//!
//! | field | fact |
//! |---|---|
//! | `function_call`, `custom_tool_call`, `local_shell_call` with an item, an end event or an output | tool result or rejection |
//! | `web_search_call` | tool result; ok if `completed` |
//! | items of code mode that belong to no call | tool results; then the outer `exec` and `wait` do not count |
//! | `task_complete` with `error` | API error |
//! | `cwd`, `cli_version` of `session_meta`; `model` of `turn_context` | project, version, model |
//!
//! ```text
//! input      = input_tokens − cached_input_tokens − cache_write_input_tokens     at least 0
//! cache_read = cached_input_tokens       cache_creation = cache_write_input_tokens
//! output     = output_tokens, which contains the reasoning
//! ```
//!
//! A `token_count` is the last call: `last_token_usage`, else the growth of `total_token_usage`. One with the same
//! total as the one before is a repetition. There is never a cost.
//!
//! The outcome of a call is decided by its item, then by the header of its output, then by known phrases, and is
//! unknown otherwise (`text.rs`).
//!
//! Sub-agents are threads of their own; their facts count in the thread that started them, and none is a prompt. A
//! fork begins with a copy of its parent. Where that copy ends is decided in the merge of all files.

mod line;
mod text;

use std::borrow::Cow;
use std::collections::HashMap;

use renown_core::time::Timestamp;

use super::collect::{Call, Collector, Record};
use super::scan;
use super::{FileFork, Keys, Line, Name, Transcript, TranscriptPath};
use crate::facts::{Fact, Fingerprint, Tokens};
use crate::fingerprint::{of_transcript, with_numbers};
use crate::json::LineError;
use line::{Counts, Fields, Payload};
use text::Verdict;

/// Copied lines are written at once; a line of the session itself comes at least this much later.
const BURST_NS: i64 = 1_000_000_000;

/// Reads one file.
#[derive(Debug, Default)]
pub(super) struct Reader {
    all: Collector,
    stem: String,
    meta: Option<Meta>,
    /// Session of a second `session_meta`, which a fork copies from its parent.
    embedded: Option<Box<str>>,
    model: Option<Name>,
    moments: Vec<(u32, Timestamp)>,
    /// First line after those that the file marks as copied.
    marked_end: u32,
    /// Prompts by form.
    prompts: [Vec<Place>; 3],
    records: Vec<Usage>,
    by_response: HashMap<Box<str>, usize>,
    counts: Vec<Usage>,
    total: Option<Counts>,
    calls: Vec<ToolCall>,
    by_call: HashMap<Box<str>, usize>,
    items: Vec<Item>,
    /// Compactions by form.
    compactions: [Vec<Place>; 3],
    errors: Vec<Place>,
}

/// A place in the file.
#[derive(Clone, Copy, Debug)]
struct Place {
    line: u32,
    at: Option<Timestamp>,
}

#[derive(Debug, Default)]
struct Meta {
    id: Box<str>,
    created: Option<Timestamp>,
    forked_from: Option<Box<str>>,
    parent: Option<Box<str>>,
    is_subagent: bool,
    is_paginated: bool,
    /// Ordinal of the first own line of a sub-agent.
    first_ordinal: Option<u64>,
    cwd: Option<String>,
    version: Option<String>,
}

#[derive(Debug)]
struct Usage {
    place: Place,
    model: Option<Name>,
    tokens: Tokens,
    key: Fingerprint,
}

#[derive(Debug)]
struct ToolCall {
    id: Box<str>,
    place: Place,
    name: Option<Name>,
    /// Whether it runs other calls.
    is_outer: bool,
    /// What the call itself says about its end.
    own: Option<Verdict>,
    output: Option<(Place, Verdict)>,
}

/// An item or an end event.
#[derive(Debug)]
struct Item {
    id: Option<Box<str>>,
    place: Place,
    name: Option<Name>,
    verdict: Option<Verdict>,
}

impl Reader {
    pub(super) fn new(path: TranscriptPath<'_>) -> Self {
        Self { stem: path.stem.to_owned(), ..Self::default() }
    }

    pub(super) fn line(&mut self, text: &str) -> Result<Line, LineError> {
        let mut fields = Fields::default();
        scan::line(text, |cursor, name| fields.field(cursor, name))?;
        self.all.line += 1;
        // Very old files have bare items.
        let kind = fields.kind.as_deref().filter(|_| fields.has_payload).unwrap_or("response_item");
        let is_known = fields.kind.is_some() || fields.payload.id.is_some();
        if !is_known {
            return Ok(Line::Unknown);
        }
        Ok(self.add(kind, &fields))
    }

    fn add(&mut self, kind: &str, fields: &Fields<'_>) -> Line {
        let place = Place { line: self.all.line, at: fields.at };
        let payload = &fields.payload;
        if kind == "session_meta" {
            self.session_meta(payload, fields.at);
            return Line::Known;
        }
        let first_ordinal = self.meta.as_ref().and_then(|meta| meta.first_ordinal);
        if first_ordinal.zip(fields.ordinal).is_some_and(|(first, ordinal)| ordinal < first) {
            self.marked_end = place.line + 1;
        }
        self.moments.extend(fields.at.map(|at| (place.line, at)));
        match kind {
            "turn_context" => self.set_model(payload),
            "response_item" => self.response_item(payload, fields.kind.as_deref(), place),
            "event_msg" => self.event(payload, place),
            "token_usage_record" => self.usage_record(payload, place),
            "compacted" => self.compacted(0, place),
            "world_state"
            | "inter_agent_communication"
            | "inter_agent_communication_metadata"
            | "retained_context"
            | "realtime_item" => {}
            _ => return Line::Unknown,
        }
        Line::Known
    }

    fn session_meta(&mut self, payload: &Payload<'_>, at: Option<Timestamp>) {
        let Some(id) = payload.id.as_deref() else { return };
        if let Some(meta) = &self.meta {
            if *meta.id != *id {
                self.embedded.get_or_insert_with(|| id.into());
            }
            return;
        }
        let boxed = |text: &Option<Cow<'_, str>>| text.as_deref().map(Into::into);
        self.meta = Some(Meta {
            id: id.into(),
            created: at.or(payload.at),
            forked_from: boxed(&payload.forked_from),
            parent: boxed(&payload.parent),
            is_subagent: payload.is_subagent,
            is_paginated: payload.is_paginated,
            first_ordinal: payload.first_ordinal,
            cwd: payload.cwd.as_deref().map(str::to_owned),
            version: payload.version.as_deref().map(str::to_owned),
        });
    }

    fn set_model(&mut self, payload: &Payload<'_>) {
        let model = payload.model.as_deref().and_then(|model| self.all.name(model));
        self.model = model.or(self.model);
        if let (Some(meta), Some(cwd)) = (&mut self.meta, payload.cwd.as_deref()) {
            meta.cwd.get_or_insert_with(|| cwd.to_owned());
        }
    }

    /// Reads a response item. A bare item has its type on the line itself.
    fn response_item(&mut self, payload: &Payload<'_>, line_kind: Option<&str>, place: Place) {
        let kind = payload.kind.as_deref().or(line_kind);
        match kind {
            Some("message") => {
                let head = payload.head.as_deref().unwrap_or_default();
                if payload.role.as_deref() == Some("user") && !text::is_injected(head) {
                    self.prompt(2, place);
                }
            }
            Some("function_call" | "custom_tool_call" | "local_shell_call") => {
                let id = payload.call.as_deref().or(payload.id.as_deref());
                let name = payload.name.as_deref().unwrap_or("local_shell");
                let is_custom = kind == Some("custom_tool_call");
                let is_outer = (is_custom && name == "exec") || (!is_custom && name == "wait");
                self.call(id, name, is_outer, None, place);
            }
            Some("web_search_call") => {
                let id = payload.id.as_deref().or(payload.call.as_deref());
                let own = if payload.status.as_deref() == Some("completed") {
                    Verdict::Ran(Some(true))
                } else {
                    Verdict::Ran(Some(false))
                };
                let is_over = payload.status.as_deref() != Some("in_progress");
                self.call(id, "web_search", false, is_over.then_some(own), place);
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                let verdict = payload.output.as_ref().map_or(Verdict::Ran(None), text::Output::verdict);
                let call = payload.call.as_deref().and_then(|id| self.by_call.get(id));
                if let Some(call) = call.and_then(|call| self.calls.get_mut(*call)) {
                    call.output = Some((place, verdict));
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, id: Option<&str>, name: &str, is_outer: bool, own: Option<Verdict>, place: Place) {
        let name = self.all.name(name);
        let id = id.map_or_else(|| format!("line {}", place.line), str::to_owned);
        if let Some(known) = self.by_call.get(id.as_str()).and_then(|call| self.calls.get_mut(*call)) {
            known.own = own.or(known.own);
            return;
        }
        self.by_call.insert(id.as_str().into(), self.calls.len());
        self.calls.push(ToolCall { id: id.into(), place, name, is_outer, own, output: None });
    }

    fn event(&mut self, payload: &Payload<'_>, place: Place) {
        match payload.kind.as_deref() {
            Some("user_message") => {
                let head = payload.head.as_deref().unwrap_or_default();
                if !text::is_injected(head) {
                    self.prompt(1, place);
                }
            }
            Some("token_count") => self.token_count(payload, place),
            Some("thread_settings_applied") => self.set_model(payload),
            Some("item_completed") => {
                if let Some(item) = &payload.item {
                    self.item(item, place);
                }
            }
            Some("patch_apply_end" | "mcp_tool_call_end" | "exec_command_end") => {
                let name = payload.name.as_deref().and_then(|name| self.all.name(name));
                let id = payload.call.as_deref().map(Into::into);
                self.items.push(Item { id, place, name, verdict: payload.verdict() });
            }
            Some("context_compacted") => self.compacted(1, place),
            Some("task_complete" | "turn_complete") if payload.has_error => self.errors.push(place),
            _ => {}
        }
    }

    fn item(&mut self, item: &Payload<'_>, place: Place) {
        // Fixtures have both `McpToolCall` and `mcpToolCall`.
        let kind = item.kind.as_deref().unwrap_or_default().to_ascii_lowercase();
        let name = match kind.as_str() {
            "usermessage" => return self.prompt(0, place),
            "contextcompaction" => return self.compacted(2, place),
            "commandexecution" => "shell",
            "filechange" => "apply_patch",
            "mcptoolcall" | "dynamictoolcall" | "collabagenttoolcall" => {
                item.name.as_deref().unwrap_or("tool")
            }
            _ => return,
        };
        let name = self.all.name(name);
        let id = item.call.as_deref().or(item.id.as_deref()).map(Into::into);
        self.items.push(Item { id, place, name, verdict: item.verdict() });
    }

    fn prompt(&mut self, form: usize, place: Place) {
        if let Some(form) = self.prompts.get_mut(form) {
            form.push(place);
        }
    }

    fn compacted(&mut self, form: usize, place: Place) {
        if let Some(form) = self.compactions.get_mut(form) {
            form.push(place);
        }
    }

    fn usage_record(&mut self, payload: &Payload<'_>, place: Place) {
        let Some(counts) = payload.usage else { return };
        let response = payload.response.as_deref().map_or_else(|| place.line.to_string(), str::to_owned);
        let key = of_transcript(&["codex response", &response]);
        let usage = Usage { place, model: self.model, tokens: counts.tokens(), key };
        let known = self.by_response.get(response.as_str());
        if let Some(known) = known.and_then(|known| self.records.get_mut(*known)) {
            *known = usage;
        } else {
            self.by_response.insert(response.into(), self.records.len());
            self.records.push(usage);
        }
    }

    fn token_count(&mut self, payload: &Payload<'_>, place: Place) {
        let before = self.total;
        if let Some(total) = payload.total {
            if before == Some(total) {
                return;
            }
            self.total = Some(total);
        }
        let grown = || {
            let before = before.unwrap_or_default();
            payload.total.map(|total| total.since(&before))
        };
        let Some(counts) = payload.last.or_else(grown).filter(|counts| *counts != Counts::default()) else {
            return;
        };
        let tokens = counts.tokens();
        let at = place.at.map_or(0, |at| at.nanos().cast_unsigned());
        let Tokens { input, output, cache_read, cache_creation } = tokens;
        let numbers =
            [at, input, output, cache_read, cache_creation, payload.total.map_or(0, |all| all.total)];
        let key = with_numbers(of_transcript(&["codex count"]), &numbers);
        self.counts.push(Usage { place, model: self.model, tokens, key });
    }

    pub(super) fn finish(mut self) -> Transcript {
        let meta = self.meta.take().unwrap_or_else(|| Meta { id: thread_of(&self.stem), ..Meta::default() });
        let Some(session) = self.all.session(&meta.id).filter(|_| !self.is_empty()) else {
            return Transcript::default();
        };
        let fork = self.fork(&meta);
        self.all.describe(session, meta.cwd.as_deref(), meta.version.as_deref());
        if let Some(about) = self.all.about(session) {
            about.created = meta.created;
            about.parent = meta.parent.clone().filter(|_| meta.is_subagent);
            about.fork = fork;
        }
        let facts = Facts { session, thread: meta.id, is_subagent: meta.is_subagent };
        for (line, at) in std::mem::take(&mut self.moments) {
            self.all.line = line;
            let record = Record { session, at: Some(at), ..Record::default() };
            self.all.moment(&record, None);
        }
        self.put_usage(&facts);
        self.put_tools(&facts);
        self.put_others(&facts);
        // The merge walks through the facts of a fork in the order of the file.
        self.all.transcript.entries.sort_by_key(|entry| entry.line);
        self.all.transcript
    }

    fn is_empty(&self) -> bool {
        self.moments.is_empty()
            && self.calls.is_empty()
            && self.items.is_empty()
            && self.prompts.iter().all(Vec::is_empty)
    }

    /// Returns where the copied part of a fork ends.
    fn fork(&self, meta: &Meta) -> Option<FileFork> {
        let parent = meta.forked_from.clone().or_else(|| self.embedded.clone());
        let copies = self.marked_end > 0 || (parent.is_some() && !meta.is_paginated);
        let parent = parent.or_else(|| meta.parent.clone()).filter(|parent| copies && *parent != meta.id)?;
        if self.marked_end > 0 {
            return Some(FileFork { parent, certain_end: self.marked_end, burst_end: self.marked_end });
        }
        let created = meta.created.map_or(i64::MIN, Timestamp::nanos);
        let is_old = |(_, at): &&(u32, Timestamp)| at.nanos() < created.saturating_sub(BURST_NS);
        let certain_end = self.moments.iter().filter(is_old).map(|(line, _)| line + 1).max().unwrap_or(0);
        let (mut before, mut burst_end) = (created, certain_end);
        for (line, at) in self.moments.iter().filter(|(line, _)| *line >= certain_end) {
            if before > i64::MIN && at.nanos() - before >= BURST_NS {
                break;
            }
            (before, burst_end) = (at.nanos(), line + 1);
        }
        Some(FileFork { parent, certain_end, burst_end })
    }

    fn put_usage(&mut self, facts: &Facts) {
        let usage = if self.records.is_empty() { &mut self.counts } else { &mut self.records };
        for Usage { place, model, tokens, key } in std::mem::take(usage) {
            self.all.line = place.line;
            // A thread may begin without the name of its model.
            let call = Call { model: model.or(self.model), tokens, ..Call::default() };
            self.all.request(&facts.record(place), facts.keys(key), call);
        }
    }

    fn put_tools(&mut self, facts: &Facts) {
        let (calls, items) = (std::mem::take(&mut self.calls), std::mem::take(&mut self.items));
        let mut by_call: HashMap<&str, &Item> = HashMap::new();
        let mut inner = Vec::new();
        for item in &items {
            match item.id.as_deref().filter(|id| self.by_call.contains_key(*id)) {
                Some(id) => drop(by_call.insert(id, item)),
                None => inner.push(item),
            }
        }
        let has_code_mode = calls.iter().any(|call| call.is_outer);
        let counts_inner = !inner.is_empty() && (has_code_mode || calls.is_empty());
        for call in calls.iter().filter(|call| !(call.is_outer && counts_inner)) {
            let item = by_call.get(call.id.as_ref()).and_then(|item| Some((item.place, item.verdict?)));
            let (place, verdict) = match (item, call.output) {
                // An item does not say who rejected the call; the output may.
                (Some((_, Verdict::Ran(Some(false)))), Some((place, found @ Verdict::Rejected(_)))) => {
                    (place, found)
                }
                (Some(found), _) | (None, Some(found)) => found,
                (None, None) => match call.own {
                    Some(own) => (call.place, own),
                    None => continue,
                },
            };
            let key = of_transcript(&["codex call", &call.id]);
            self.put_tool(facts, place, call.place, call.name, verdict, key);
        }
        for item in inner.into_iter().filter(|_| counts_inner) {
            let Some(verdict) = item.verdict else { continue };
            let at = item.place.at.map_or(0, |at| at.nanos().cast_unsigned());
            let key = match item.id.as_deref() {
                Some(id) => of_transcript(&["codex item", id]),
                None => with_numbers(of_transcript(&["codex item"]), &[item.place.line.into(), at]),
            };
            self.put_tool(facts, item.place, item.place, item.name, verdict, key);
        }
    }

    fn put_tool(
        &mut self,
        facts: &Facts,
        place: Place,
        began: Place,
        tool: Option<Name>,
        verdict: Verdict,
        key: Fingerprint,
    ) {
        let micros = place.at.zip(began.at).map(|(end, start)| (end.nanos() - start.nanos()) / 1000);
        let duration_us = micros.and_then(|micros| u64::try_from(micros).ok()).filter(|micros| *micros > 0);
        let fact = match verdict {
            Verdict::Ran(ok) => Fact::ToolResult { tool, ok, duration_us, error_type: None },
            Verdict::Rejected(by) => Fact::ToolDecision { tool, accepted: false, by },
            Verdict::Aborted => return,
        };
        self.all.line = began.line;
        self.all.fact(&facts.record(place), facts.call_keys(key), fact);
    }

    fn put_others(&mut self, facts: &Facts) {
        let prompts = std::mem::take(&mut self.prompts).into_iter().find(|form| !form.is_empty());
        for place in prompts.unwrap_or_default().into_iter().filter(|_| !facts.is_subagent) {
            self.put(facts, place, "codex prompt", Fact::Prompt { trace: None });
        }
        let compactions = std::mem::take(&mut self.compactions).into_iter().max_by_key(Vec::len);
        for place in compactions.unwrap_or_default() {
            self.put(facts, place, "codex compaction", Fact::Compaction { before: None, after: None });
        }
        for place in std::mem::take(&mut self.errors) {
            self.put(facts, place, "codex error", Fact::ApiError { status: None, error_type: None });
        }
    }

    fn put(&mut self, facts: &Facts, place: Place, what: &str, fact: Fact<Name>) {
        // Without a time, the line is the identity.
        let identity = place.at.map_or(place.line.into(), |at| at.nanos().cast_unsigned());
        let key = with_numbers(of_transcript(&[what]), &[identity]);
        self.all.line = place.line;
        self.all.fact(&facts.record(place), facts.keys(key), fact);
    }
}

/// What all facts of a file share.
struct Facts {
    session: u32,
    thread: Box<str>,
    is_subagent: bool,
}

impl Facts {
    fn record(&self, place: Place) -> Record {
        Record { session: self.session, at: place.at, ..Record::default() }
    }

    /// Ids and times are only unique within a thread.
    fn keys(&self, key: Fingerprint) -> Keys {
        Keys::of(with_numbers(of_transcript(&["codex thread", &self.thread]), &[key.get()]))
    }

    /// The alias of a call is its id alone, to find out what a fork has copied.
    fn call_keys(&self, key: Fingerprint) -> Keys {
        Keys { alias: Some(key), has_weak_alias: true, ..self.keys(key) }
    }
}

/// Returns the thread in a name such as `rollout-2026-07-22T12-34-56-UUID`.
fn thread_of(stem: &str) -> Box<str> {
    const UUID: usize = 36;
    let start = "rollout-YYYY-MM-DDThh-mm-ss-".len();
    stem.get(start..start + UUID).unwrap_or(stem).into()
}

#[cfg(test)]
mod tests;
