//! What the beginning of a text says: whether a human wrote a prompt, and what became of a tool call.

use crate::facts::Decider;
use crate::transcript::scan::begins_with;

/// Texts that the agent puts into user lines.
const INJECTED: &[&str] = &[
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "Caveat: The messages below",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<system-reminder>",
    "<teammate-message",
    "<agent-message",
    "<cross-session-message>",
    "<user-memory-input>",
    "<fork-boilerplate>",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
    "Stop hook feedback:",
    "No response requested.",
];

/// Typed commands, such as `/review`.
const COMMANDS: &[&str] = &["<command-name>", "<command-message>"];

pub(super) fn is_injected(head: &str) -> bool {
    begins_with(head.trim_start(), INJECTED)
}

pub(super) fn is_command(head: &str) -> bool {
    begins_with(head.trim_start(), COMMANDS)
}

/// What a user line says about one tool call.
pub(super) struct Result<'a> {
    pub(super) denial: Option<&'a str>,
    pub(super) is_error: bool,
    pub(super) head: &'a str,
    /// `toolUseResult`, if it is a text.
    pub(super) message: &'a str,
    /// Whether no human could answer.
    pub(super) is_headless: bool,
}

/// What became of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Ran {
        ok: bool,
    },
    Rejected(Decider),
    /// It was neither executed nor rejected.
    NotRun,
}

pub(super) fn outcome(result: &Result<'_>) -> Outcome {
    let by_user = if result.is_headless { Decider::Unknown } else { Decider::User };
    match result.denial {
        Some("interrupted" | "cancelled") => return Outcome::NotRun,
        Some("user-rejected") => return Outcome::Rejected(by_user),
        Some("permission-rule" | "automode-blocked" | "automode-unavailable") => {
            return Outcome::Rejected(Decider::Policy);
        }
        Some(_) => return Outcome::Rejected(Decider::Unknown),
        None if !result.is_error => return Outcome::Ran { ok: true },
        None => {}
    }
    // Only errors: the output of a successful call may contain anything.
    let head = result.head.trim_start();
    let inner = head.strip_prefix("<tool_use_error>").unwrap_or(head);
    if inner.starts_with("Cancelled: parallel tool call")
        || begins_with(
            head,
            &["[Request interrupted by user for tool use]", "API Error: Request was aborted."],
        )
    {
        return Outcome::NotRun;
    }
    let rejected =
        ["The user doesn't want to proceed with this tool use", "The user doesn't want to take this action"];
    if begins_with(head, &rejected)
        || result.message.trim_start_matches("Error: ") == "User rejected tool use"
    {
        return Outcome::Rejected(by_user);
    }
    let is_permission = head.starts_with("Permission to use ") && head.contains(" has been denied");
    if is_permission || head.starts_with("Permission for this tool use was denied") {
        return Outcome::Rejected(Decider::Policy);
    }
    if head.starts_with("PreToolUse:") && head.contains(" hook error:") {
        return Outcome::Rejected(Decider::Hook);
    }
    Outcome::Ran { ok: false }
}
