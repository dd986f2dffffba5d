//! One line, as far as the table names its fields.

use std::borrow::Cow;

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;

use super::text;
use crate::facts::Tokens;
use crate::fingerprint::{of_transcript, with_numbers};
use crate::json::cursor::{Cursor, Start};
use crate::transcript::Keys;
use crate::transcript::scan::{self, Walked};

/// The fields of a line.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "these are the flags of a line")]
pub(super) struct Fields<'a> {
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) subtype: Option<Cow<'a, str>>,
    pub(super) uuid: Option<Cow<'a, str>>,
    pub(super) parent: Option<Cow<'a, str>>,
    pub(super) at: Option<Timestamp>,
    pub(super) session: Option<Cow<'a, str>>,
    pub(super) other_session: Option<Cow<'a, str>>,
    pub(super) forked_from: Option<Cow<'a, str>>,
    pub(super) prompt: Option<Cow<'a, str>>,
    pub(super) request: Option<Cow<'a, str>>,
    pub(super) cwd: Option<Cow<'a, str>>,
    pub(super) version: Option<Cow<'a, str>>,
    pub(super) entrypoint: Option<Cow<'a, str>>,
    pub(super) origin: Option<Cow<'a, str>>,
    pub(super) denial: Option<Cow<'a, str>>,
    pub(super) is_side: bool,
    /// Whether it is marked as written by the agent.
    pub(super) is_generated: bool,
    pub(super) is_api_error: bool,
    pub(super) status: Option<u64>,
    pub(super) error: Option<Cow<'a, str>>,
    pub(super) cost: Option<NanoUsd>,
    pub(super) has_result: bool,
    /// `toolUseResult`, if it is a text.
    pub(super) result: Option<Cow<'a, str>>,
    pub(super) duration_ms: Option<u64>,
    pub(super) message: Message<'a>,
    pub(super) attachment: Attachment<'a>,
    pub(super) compacted: (Option<u64>, Option<u64>),
    pub(super) total_cost: Option<NanoUsd>,
    pub(super) has_unknown_cost: Option<bool>,
}

#[derive(Default)]
pub(super) struct Message<'a> {
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) model: Option<Cow<'a, str>>,
    pub(super) stop_reason: Option<Cow<'a, str>>,
    /// Beginning of its text.
    pub(super) head: Option<Cow<'a, str>>,
    pub(super) has_media: bool,
    pub(super) blocks: Vec<Block<'a>>,
    pub(super) usage: Option<Usage<'a>>,
}

/// A block of a message, of any type.
#[derive(Default)]
pub(super) struct Block<'a> {
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) is_error: bool,
    pub(super) head: Option<Cow<'a, str>>,
}

#[derive(Default)]
pub(super) struct Usage<'a> {
    pub(super) tokens: Tokens,
    pub(super) long_writes: u64,
    pub(super) advisors: Vec<Advisor<'a>>,
}

/// One element of `iterations`.
#[derive(Default)]
pub(super) struct Advisor<'a> {
    pub(super) number: u64,
    pub(super) model: Option<Cow<'a, str>>,
    pub(super) tokens: Tokens,
    pub(super) long_writes: u64,
}

#[derive(Default)]
pub(super) struct Attachment<'a> {
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) origin: Option<Cow<'a, str>>,
    pub(super) mode: Option<Cow<'a, str>>,
    pub(super) head: Option<Cow<'a, str>>,
    pub(super) is_generated: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
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

    pub(super) fn tool_use_result(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        self.has_result = true;
        if cursor.start()? != Start::Object {
            self.result = scan::head(cursor)?;
            return Ok(());
        }
        scan::object(cursor, |cursor, name| {
            match name {
                "durationMs" => self.duration_ms = scan::count(cursor)?,
                _ => cursor.pass()?,
            }
            Ok(())
        })
    }

    /// Whether a human, or a program in place of one, wrote this user line.
    pub(super) fn is_human(&self) -> bool {
        if self.is_generated || self.has_result {
            return false;
        }
        let head = self.message.head.as_deref().unwrap_or_default();
        let has_content = !head.is_empty() || self.message.has_media;
        let by_human = self.origin.as_deref().is_none_or(|kind| kind == "human");
        by_human && has_content && !text::is_injected(head)
    }

    pub(super) fn prompt_keys(&self, keys: Keys) -> Keys {
        let at = self.at.map_or(0, |at| at.nanos().cast_unsigned());
        let with_time = |id: &str| with_numbers(of_transcript(&["claude prompt", id]), &[at]);
        let alias = self.prompt.as_deref().or(self.parent.as_deref()).map(with_time);
        Keys { alias: alias.filter(|_| self.at.is_some()), ..keys }
    }

    /// Without `requestId`, a message id says nothing about other sessions: relays repeat them. The `uuid` does.
    pub(super) fn request_keys(&self, keys: Keys) -> Keys {
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
pub(super) fn kind<'a>(cursor: &mut Cursor<'a>, wanted: &str) -> Walked<Option<Cow<'a, str>>> {
    let mut found = None;
    scan::object(cursor, |cursor, name| {
        if name == wanted { scan::text(cursor).map(|text| found = text) } else { cursor.pass() }
    })?;
    Ok(found)
}

/// Whether an error is a name and no prose.
pub(super) fn is_error_name(error: &str) -> bool {
    error.len() <= crate::limits::ERROR_TYPE_BYTES_MAX
        && error.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte))
}

impl<'a> Message<'a> {
    pub(super) fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
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

    pub(super) fn content(&mut self, cursor: &mut Cursor<'a>) -> Walked {
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
    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    pub(super) fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
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
pub(super) struct Counts {
    pub(super) tokens: Tokens,
    /// Σ `cache_creation.*`, and the part of it that is kept for an hour.
    pub(super) nested: u64,
    pub(super) long: u64,
}

impl Counts {
    pub(super) fn field(&mut self, cursor: &mut Cursor<'_>, name: &str) -> Walked {
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

    pub(super) fn finish(self) -> (Tokens, u64) {
        let Self { mut tokens, nested, long } = self;
        if nested > 0 {
            tokens.cache_creation = nested;
        }
        (tokens, long.min(tokens.cache_creation))
    }
}

impl<'a> Usage<'a> {
    pub(super) fn read(&mut self, cursor: &mut Cursor<'a>) -> Walked {
        let mut counts = Counts::default();
        scan::object(cursor, |cursor, name| match name {
            "iterations" => self.iterations(cursor),
            _ => counts.field(cursor, name),
        })?;
        (self.tokens, self.long_writes) = counts.finish();
        Ok(())
    }

    pub(super) fn iterations(&mut self, cursor: &mut Cursor<'a>) -> Walked {
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
    pub(super) fn field(&mut self, cursor: &mut Cursor<'a>, name: &str) -> Walked {
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
    pub(super) fn is_prompt(&self) -> bool {
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
