//! Transcripts: the files in which coding agents keep their sessions, read into the same facts as telemetry.
//!
//! ```text
//! lines of a file ──►  reader of its agent  ──►  Transcript  ──►  merge of all files  ──►  Session, one per session
//!                      skips all payloads        facts, keys      each fact once            signal `transcript`
//! ```
//!
//! | agent | file | module |
//! |---|---|---|
//! | Claude Code | JSON Lines per session and sub-agent | `claude_code` |
//! | Codex | JSON Lines per thread | `codex` |
//! | Gemini CLI | JSON Lines, or one JSON object in old versions | `gemini_cli` |
//! | Qwen Code | JSON Lines with telemetry events inside; old versions as Gemini CLI | `qwen_code` |
//! | OpenCode | rows of a database; in old versions the same objects as files | [`opencode`] |
//! | Copilot CLI | JSON Lines of events | `copilot_cli` |
//! | pi | JSON Lines | `pi` |
//!
//! Each of them is one file: the table of its fields and facts, and the reader. Fields that are not in a table are
//! skipped. The text of a prompt or of a tool's output is only compared with known beginnings.
//!
//! Agents copy old records into new files: on resume, fork, rewind, compaction, and for sub-agents. So each record has
//! a key that its copies share, and `merge` counts it once, in the session where it happened.
//!
//! Sans-io like the rest of the crate. A reader holds the facts of its file, and nothing else of a line.

mod claude_code;
mod codex;
mod collect;
mod copilot_cli;
mod encoded;
mod gemini_cli;
mod merge;
pub mod opencode;
mod pi;
mod qwen_code;
mod scan;
#[cfg(test)]
mod testing;

use std::ops::AddAssign;

use renown_core::time::Timestamp;
use renown_core::units::NanoUsd;

use crate::dialect::Agent;
use crate::facts::{Fact, Fingerprint};
use crate::json::LineError;
use crate::limits::LINE_BYTES_MAX;

pub use merge::{JudgedTranscript, ModelUsage, TranscriptMerge};

/// What the path of a file tells about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct TranscriptPath<'a> {
    /// Name of the file without its extension. For agents that keep one directory per session, the directory's name.
    pub stem: &'a str,
    /// Whether the file belongs to a sub-agent.
    pub is_subagent: bool,
    /// Session of the sub-agent's parent.
    pub parent: Option<&'a str>,
    /// Directory of the project, if it is kept next to the transcripts.
    pub project: Option<&'a str>,
}

/// Counts of what was read from transcripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TranscriptCounts {
    /// Lines that were not blank.
    pub lines: u64,
    /// Lines that are not JSON objects of this agent.
    pub bad_lines: u64,
    /// Bytes of an unfinished last line.
    pub truncated_bytes: u64,
    /// Lines of a type that is not known.
    pub unknown: u64,
}

impl AddAssign for TranscriptCounts {
    fn add_assign(&mut self, other: Self) {
        let Self { lines, bad_lines, truncated_bytes, unknown } = other;
        self.lines = self.lines.saturating_add(lines);
        self.bad_lines = self.bad_lines.saturating_add(bad_lines);
        self.truncated_bytes = self.truncated_bytes.saturating_add(truncated_bytes);
        self.unknown = self.unknown.saturating_add(unknown);
    }
}

/// The facts of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// Counts of what was read.
    pub counts: TranscriptCounts,
    /// Texts that entries and sessions refer to by number.
    names: Vec<Box<str>>,
    sessions: Vec<FileSession>,
    entries: Vec<Entry>,
    moments: Vec<Moment>,
}

impl Transcript {
    /// Whether the file has no record of a session.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.moments.is_empty()
    }

    fn name(&self, name: Name) -> &str {
        self.names.get(name.0 as usize).map_or("", AsRef::as_ref)
    }
}

/// The number of a text in its transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Name(u32);

/// What one file says about a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FileSession {
    id: Box<str>,
    /// Session that started this one as a sub-agent.
    parent: Option<Box<str>>,
    project: Option<Name>,
    version: Option<Name>,
    /// When the session was created, if the file says so. The session that was created first owns copied records.
    created: Option<Timestamp>,
    /// The agent's own sum of the session's costs.
    cost: Option<NanoUsd>,
    /// Whether the agent recorded only a part of the tokens.
    has_partial_tokens: bool,
    fork: Option<FileFork>,
}

/// A file that begins with copied records that have no mark.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileFork {
    /// Session that was copied.
    parent: Box<str>,
    /// First line after those that are certainly copied.
    certain_end: u32,
    /// First line after those that were written at once, which counts if the parent's file is gone.
    burst_end: u32,
}

/// A record that is identified by one of two keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Keys {
    key: Option<Fingerprint>,
    alias: Option<Fingerprint>,
    /// Whether the alias only counts if one of the two records belongs to a side conversation.
    has_weak_alias: bool,
}

impl Keys {
    fn of(key: Fingerprint) -> Self {
        Self { key: Some(key), ..Self::default() }
    }
}

/// The session that a record was copied from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CopiedFrom {
    /// Number of the session in the file.
    session: u32,
    /// Whether the mark is proof. If not, the other session must have the record too.
    is_certain: bool,
}

/// One fact of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// Number of the session in the file.
    session: u32,
    line: u32,
    copied_from: Option<CopiedFrom>,
    /// Whether it belongs to a side conversation, which may repeat records of the main one.
    is_side: bool,
    at: Option<Timestamp>,
    keys: Keys,
    /// Tokens that were written to the cache for an hour; they are part of the tokens written to it.
    long_writes: u64,
    fact: Fact<Name>,
}

/// A record that shows that a session was active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    session: u32,
    line: u32,
    copied_from: Option<CopiedFrom>,
    at: Timestamp,
    key: Option<Fingerprint>,
}

/// Reads the lines of one file.
#[derive(Debug)]
pub struct TranscriptReader {
    reader: AgentReader,
    counts: TranscriptCounts,
}

#[derive(Debug)]
enum AgentReader {
    ClaudeCode(Box<claude_code::Reader>),
    Codex(Box<codex::Reader>),
    GeminiCli(Box<gemini_cli::Reader>),
    QwenCode(Box<qwen_code::Reader>),
    CopilotCli(Box<copilot_cli::Reader>),
    Pi(Box<pi::Reader>),
}

/// What a reader made of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Known,
    /// Valid, but of a type that is not in the table.
    Unknown,
}

impl TranscriptReader {
    /// Creates the reader of a file of this agent. Returns `None` if the agent keeps no such files.
    pub fn new(agent: Agent, path: TranscriptPath<'_>) -> Option<Self> {
        let reader = match agent {
            Agent::ClaudeCode => AgentReader::ClaudeCode(Box::new(claude_code::Reader::new(path))),
            Agent::Codex => AgentReader::Codex(Box::new(codex::Reader::new(path))),
            Agent::GeminiCli => AgentReader::GeminiCli(Box::new(gemini_cli::Reader::new(path))),
            Agent::QwenCode => AgentReader::QwenCode(Box::new(qwen_code::Reader::new(path))),
            Agent::Copilot => AgentReader::CopilotCli(Box::new(copilot_cli::Reader::new(path))),
            Agent::Pi => AgentReader::Pi(Box::new(pi::Reader::new(path))),
            Agent::OpenCode | Agent::GenAi | Agent::Unknown => return None,
        };
        Some(Self { reader, counts: TranscriptCounts::default() })
    }

    /// Reads a complete line, without its line end. A bad line is counted and has no other effect.
    pub fn line(&mut self, line: &[u8]) {
        if self.read(line).is_err() {
            self.counts.bad_lines += 1;
        }
    }

    /// Reads what follows the last line end. If it is not complete JSON, its writer has not finished it.
    pub fn last_line(&mut self, line: &[u8]) {
        match self.read(line) {
            Ok(()) => {}
            Err(error) if error.is_incomplete() => {
                self.counts.lines -= 1;
                self.counts.truncated_bytes += line.len() as u64;
            }
            Err(_) => self.counts.bad_lines += 1,
        }
    }

    /// Counts a line that was too long to be read.
    pub fn skipped_line(&mut self) {
        self.counts.lines += 1;
        self.counts.bad_lines += 1;
    }

    fn read(&mut self, line: &[u8]) -> Result<(), LineError> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let zeros = line.iter().take_while(|byte| **byte == 0).count();
        let line = line.get(zeros..).unwrap_or_default().trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        self.counts.lines += 1;
        if line.len() > LINE_BYTES_MAX {
            return Err(LineError::TooLong);
        }
        let not_utf8 = |error: std::str::Utf8Error| LineError::NotUtf8 { column: error.valid_up_to() + 1 };
        let text = std::str::from_utf8(line).map_err(not_utf8)?;
        let read = match &mut self.reader {
            AgentReader::ClaudeCode(reader) => reader.line(text),
            AgentReader::Codex(reader) => reader.line(text),
            AgentReader::GeminiCli(reader) => reader.line(text),
            AgentReader::QwenCode(reader) => reader.line(text),
            AgentReader::CopilotCli(reader) => reader.line(text),
            AgentReader::Pi(reader) => reader.line(text),
        }?;
        self.counts.unknown += u64::from(read == Line::Unknown);
        Ok(())
    }

    /// Returns the facts of the file.
    pub fn finish(self) -> Transcript {
        let transcript = match self.reader {
            AgentReader::ClaudeCode(reader) => reader.finish(),
            AgentReader::Codex(reader) => reader.finish(),
            AgentReader::GeminiCli(reader) => reader.finish(),
            AgentReader::QwenCode(reader) => reader.finish(),
            AgentReader::CopilotCli(reader) => reader.finish(),
            AgentReader::Pi(reader) => reader.finish(),
        };
        Transcript { counts: self.counts, ..transcript }
    }
}
