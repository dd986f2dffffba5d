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

mod line;
mod text;

use renown_core::time::Timestamp;

use super::collect::{ByFingerprint, Call, Collector, Record};
use super::scan;
use super::{CopiedFrom, Keys, Line, Name, Transcript, TranscriptPath};
use crate::facts::{Fact, Fingerprint};
use crate::fingerprint::{of_transcript, with_numbers};
use crate::json::LineError;
use line::{Advisor, Block, Fields, Usage};

/// The model of messages that the agent wrote itself.
const SYNTHETIC: &str = "<synthetic>";

/// Reads one file.
#[derive(Debug)]
pub(super) struct Reader {
    all: Collector,
    is_subagent: bool,
    calls: ByFingerprint<ToolCall>,
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

impl Reader {
    pub(super) fn new(path: TranscriptPath<'_>) -> Self {
        Self {
            all: Collector::default(),
            is_subagent: path.is_subagent,
            calls: ByFingerprint::default(),
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
            message: fields.result.as_deref().unwrap_or_default(),
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

#[cfg(test)]
mod tests;
