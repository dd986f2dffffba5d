//! The dialects of agents: who speaks which, and which event of it a record is.
//!
//! | dialect | agents | session | signal |
//! |---|---|---|---|
//! | `claude_code` | Claude Code, OpenCode plugins that mirror it | `session.id` | logs, spans |
//! | `codex` | Codex | `conversation.id` | logs |
//! | `gemini` | Gemini CLI | `session.id` | logs |
//! | `qwen` | Qwen Code: Gemini's, and feedback | `session.id` | logs |
//! | `gen_ai` | Copilot, agent frameworks | `gen_ai.conversation.id` | spans |
//!
//! A dialect is one file: the table of its events and attributes, a function from the name of an event to its reader, and
//! the readers. Only what a table names is looked at.

mod claude_code;
mod codex;
mod gemini;
mod gen_ai;
mod qwen;
#[cfg(test)]
mod testing;

use serde::Serialize;

use crate::attributes::Key;
use crate::fields::{Fields, Reader};

/// A kind of agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// Qwen Code.
    QwenCode,
    /// OpenCode.
    #[serde(rename = "opencode")]
    OpenCode,
    /// GitHub Copilot.
    Copilot,
    /// Another that follows the GenAI conventions.
    #[serde(rename = "genai")]
    GenAi,
    /// Another.
    Unknown,
}

/// The prefixes of event names.
const PREFIXES: [(&str, Agent); 5] = [
    ("claude_code.", Agent::ClaudeCode),
    ("codex.", Agent::Codex),
    ("gemini_cli.", Agent::GeminiCli),
    ("qwen-code.", Agent::QwenCode),
    ("opencode.", Agent::OpenCode),
];

/// The names of services.
const SERVICES: [(&str, Agent); 10] = [
    ("claude-code", Agent::ClaudeCode),
    ("codex_cli_rs", Agent::Codex),
    ("codex_exec", Agent::Codex),
    ("codex_tui", Agent::Codex),
    ("codex-cli", Agent::Codex),
    ("gemini-cli", Agent::GeminiCli),
    ("qwen-code", Agent::QwenCode),
    ("opencode", Agent::OpenCode),
    ("copilot-chat", Agent::Copilot),
    ("github-copilot", Agent::Copilot),
];

/// What the scopes of Claude Code begin with.
const CLAUDE_CODE_SCOPE: &str = "com.anthropic.claude_code";

/// A log event that repeats the span of the same call.
const INFERENCE_DETAILS: &str = "gen_ai.client.inference.operation.details";

impl Agent {
    /// The agent of a service.
    pub(crate) fn of_service(name: &str) -> Option<Self> {
        SERVICES.iter().find(|(service, _)| *service == name).map(|(_, agent)| *agent)
    }

    /// The agent of an instrumentation scope.
    pub(crate) fn of_scope(name: &str) -> Option<Self> {
        name.starts_with(CLAUDE_CODE_SCOPE).then_some(Self::ClaudeCode)
    }

    /// The name of an event without the prefix of its agent, and that agent.
    pub(crate) fn of_name(name: &str) -> (Option<Self>, &str) {
        let prefixed =
            PREFIXES.iter().find_map(|(prefix, agent)| Some((Some(*agent), name.strip_prefix(prefix)?)));
        prefixed.unwrap_or((None, name))
    }
}

/// What a record is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Known(Reader),
    /// It repeats what a span says.
    Shadowed,
    Unknown,
}

/// The log event of this name (without prefix), where `agent` is that of its prefix, resource or scope.
///
/// A bare name of an unknown agent belongs to the first dialect that has it.
pub(crate) fn log_event(agent: Option<Agent>, name: &str) -> Event {
    let reader = match agent {
        _ if name == INFERENCE_DETAILS => return Event::Shadowed,
        Some(Agent::Copilot) => return Event::Shadowed,
        Some(Agent::ClaudeCode | Agent::OpenCode) => claude_code::log(name),
        Some(Agent::Codex) => codex::log(name),
        Some(Agent::GeminiCli) => gemini::log(name),
        Some(Agent::QwenCode) => qwen::log(name),
        Some(Agent::GenAi | Agent::Unknown) | None => {
            claude_code::log(name).or_else(|| codex::log(name)).or_else(|| qwen::log(name))
        }
    };
    reader.map_or(Event::Unknown, Event::Known)
}

/// The same of a span. An agent with spans of its own is asked first, then the GenAI conventions.
pub(crate) fn span_event(agent: Option<Agent>, name: &str, fields: &Fields<'_, '_>) -> Event {
    let own = match agent {
        Some(Agent::ClaudeCode | Agent::OpenCode) => claude_code::span(name),
        Some(
            Agent::Codex
            | Agent::GeminiCli
            | Agent::QwenCode
            | Agent::Copilot
            | Agent::GenAi
            | Agent::Unknown,
        )
        | None => None,
    };
    let operation = fields.text(Key::OperationName);
    let operation = operation.as_deref().or_else(|| name.split_whitespace().next()).unwrap_or_default();
    let shared = || gen_ai::span(operation);
    let bare = || if agent.is_none() { claude_code::span(name) } else { None };
    own.or_else(shared).or_else(bare).map_or(Event::Unknown, Event::Known)
}
