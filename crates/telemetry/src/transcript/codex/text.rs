//! What the beginning of a text says: whether the program wrote a user message, and how a tool call ended.
//!
//! Only the header of an output is read, up to a line `Output:`. What follows is the tool's own text, which could
//! imitate a header.

use std::borrow::Cow;

use crate::facts::Decider;
use crate::json::cursor::{Cursor, Start};
use crate::json::unescape;
use crate::transcript::scan::{self, Walked, begins_with};

/// Messages of role user that the program wrote.
const INJECTED: &[&str] = &[
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<user_instructions>",
    "<environment_context>",
    "<skill>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<recommended_plugins>",
    "<goal_context>",
    "<codex_internal_context",
    "<hook_prompt",
    "<external_",
    "Warning: ",
];

pub(super) fn is_injected(head: &str) -> bool {
    begins_with(head.trim_start(), INJECTED)
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// `None`: it is not known whether it succeeded.
    Ran(Option<bool>),
    Rejected(Decider),
    Aborted,
}

/// The output of a call.
#[derive(Debug)]
pub(super) struct Output<'a> {
    head: Cow<'a, str>,
    /// Exit code in the JSON object that old versions wrote.
    exit_code: Option<u64>,
}

impl<'a> Output<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Walked<Self> {
        if cursor.start()? == Start::Object {
            let mut head = None;
            scan::object(cursor, |cursor, name| match name {
                "content" => scan::head_of_blocks(cursor).map(|found| head = found),
                _ => cursor.pass(),
            })?;
            return Ok(Self { head: head.unwrap_or_default(), exit_code: None });
        }
        if cursor.start()? != Start::Text {
            let head = scan::head_of_blocks(cursor)?;
            return Ok(Self { head: head.unwrap_or_default(), exit_code: None });
        }
        let mut again = *cursor;
        let raw = again.pass_text()?;
        let exit_code = if raw.starts_with(r#"{\"output\""#) { metadata(&unescape(raw)) } else { None };
        let head = scan::head(cursor)?;
        Ok(Self { head: head.unwrap_or_default(), exit_code })
    }

    pub(super) fn verdict(&self) -> Verdict {
        if let Some(code) = self.exit_code {
            return Verdict::Ran(Some(code == 0));
        }
        let header = self.head.split("\nOutput:").next().unwrap_or_default();
        by_header(header).or_else(|| by_phrase(header)).unwrap_or(Verdict::Ran(None))
    }
}

/// Returns the exit code of `{"output":…,"metadata":{"exit_code":N}}`.
fn metadata(json: &str) -> Option<u64> {
    let mut code = None;
    let read = scan::object(&mut Cursor::new(json), |cursor, name| match name {
        "metadata" => scan::object(cursor, |cursor, name| match name {
            "exit_code" => super::line::exit_code(cursor).map(|found| code = found),
            _ => cursor.pass(),
        }),
        _ => cursor.pass(),
    });
    read.ok().and(code)
}

fn by_header(header: &str) -> Option<Verdict> {
    let ran = |ok| Some(Verdict::Ran(Some(ok)));
    let first = header.lines().next().unwrap_or_default();
    if let Some(code) = first.strip_prefix("Exit code: ") {
        return ran(code.trim() == "0");
    }
    match first.split([' ', ':', '.', '\r']).take(2).collect::<Vec<_>>().as_slice() {
        ["Script", "completed" | "running"] => return ran(true),
        ["Script", "failed" | "terminated"] => return ran(false),
        _ => {}
    }
    let is_chunk = begins_with(header, &["Chunk ID:", "Wall time:"]);
    for line in header.lines().filter(|_| is_chunk) {
        if let Some(code) = line.strip_prefix("Process exited with code ") {
            return ran(code.trim() == "0");
        }
        if line.starts_with("Process running with session ID") {
            return ran(true);
        }
    }
    None
}

/// Decides by the program's own phrases. They are short texts; only the first line is read.
fn by_phrase(header: &str) -> Option<Verdict> {
    let first = header.lines().next().unwrap_or_default();
    let has = |phrase: &str| first.contains(phrase);
    if begins_with(first, &["Command blocked by PreToolUse hook:", "Tool call blocked by PreToolUse hook:"]) {
        return Some(Verdict::Rejected(Decider::Hook));
    }
    if first.starts_with("aborted by user after") {
        return Some(Verdict::Aborted);
    }
    if has("rejected by user approval settings")
        || has("rejected by configuration")
        || has("automatic approval review denied")
    {
        return Some(Verdict::Rejected(Decider::Policy));
    }
    if has("rejected by user") {
        return Some(Verdict::Rejected(Decider::User));
    }
    let failed = [
        "apply_patch verification failed",
        "unsupported call",
        "failed to parse function arguments",
        "execution error",
        "tool call error",
    ];
    failed.iter().any(|phrase| has(phrase)).then_some(Verdict::Ran(Some(false)))
}
