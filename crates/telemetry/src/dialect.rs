//! The dialects: which agent uses which one, and which event of its dialect a record is.
//!
//! | dialect | agents | session | signal |
//! |---|---|---|---|
//! | `claude_code` | Claude Code, OpenCode plugins that mirror it | `session.id` | logs, spans |
//! | `codex` | Codex | `conversation.id` | logs |
//! | `gemini` | Gemini CLI | `session.id` | logs |
//! | `qwen` | Qwen Code: the events of Gemini CLI, and feedback | `session.id` | logs |
//! | `gen_ai` | Copilot, agent frameworks | `gen_ai.conversation.id` | spans |
//! | `transcript` | `renown judge --submit URL --history`, for every agent that keeps transcripts | `session.id` | logs |
//!
//! A dialect is one file: the table of its events and attributes, a function that returns the reader of an event name,
//! and the readers. Attributes that are not in a table are never read.

mod claude_code;
mod codex;
mod gemini;
mod gen_ai;
mod qwen;
#[cfg(test)]
mod testing;
mod transcript;

use serde::Serialize;

pub use transcript::PREFIX as TRANSCRIPT_PREFIX;

use crate::attributes::Key;
use crate::fields::{Fields, Reader};

/// A kind of agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AgentKind))]
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
    /// pi.
    Pi,
    /// Another agent that follows the GenAI conventions.
    #[serde(rename = "genai")]
    GenAi,
    /// Any other agent.
    Unknown,
}

/// The agents by the prefix of their event names.
const PREFIXES: [(&str, Agent); 5] = [
    ("claude_code.", Agent::ClaudeCode),
    ("codex.", Agent::Codex),
    ("gemini_cli.", Agent::GeminiCli),
    ("qwen-code.", Agent::QwenCode),
    ("opencode.", Agent::OpenCode),
];

/// The agents by their `service.name`.
const SERVICES: [(&str, Agent); 11] = [
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
    ("pi-coding-agent", Agent::Pi),
];

/// The prefix of Claude Code's instrumentation scopes.
const CLAUDE_CODE_SCOPE: &str = "com.anthropic.claude_code";

/// A log event that repeats the span of the same model call.
const INFERENCE_DETAILS: &str = "gen_ai.client.inference.operation.details";

impl Agent {
    /// Returns the name, as it is serialized.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::QwenCode => "qwen-code",
            Self::OpenCode => "opencode",
            Self::Copilot => "copilot",
            Self::Pi => "pi",
            Self::GenAi => "genai",
            Self::Unknown => "unknown",
        }
    }

    /// Returns a `service.name` of the agent.
    pub fn service_name(self) -> &'static str {
        SERVICES.iter().find(|(_, agent)| *agent == self).map_or("unknown", |(service, _)| service)
    }

    /// Returns the agent with this service name.
    pub(crate) fn of_service(name: &str) -> Option<Self> {
        SERVICES.iter().find(|(service, _)| *service == name).map(|(_, agent)| *agent)
    }

    /// Returns the agent with this instrumentation scope.
    pub(crate) fn of_scope(name: &str) -> Option<Self> {
        name.starts_with(CLAUDE_CODE_SCOPE).then_some(Self::ClaudeCode)
    }

    /// Splits an event name into the agent of its prefix and the rest of the name.
    pub(crate) fn of_name(name: &str) -> (Option<Self>, &str) {
        let prefixed =
            PREFIXES.iter().find_map(|(prefix, agent)| Some((Some(*agent), name.strip_prefix(prefix)?)));
        prefixed.unwrap_or((None, name))
    }
}

/// The kind of a record in its dialect.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DialectEvent {
    /// The dialect defines this record.
    Known(Reader),
    /// The record repeats a span, so it is not counted.
    Shadowed,
    /// The dialect does not define this record.
    Unknown,
}

/// Returns the log event with this name. `name` has no prefix; `agent` comes from the prefix, the resource or the
/// scope.
///
/// If the agent is unknown, the first dialect that defines the name is used.
pub(crate) fn log_event(agent: Option<Agent>, name: &str) -> DialectEvent {
    let reader = match agent {
        _ if name.starts_with(TRANSCRIPT_PREFIX) => transcript::log(name),
        _ if name == INFERENCE_DETAILS => return DialectEvent::Shadowed,
        Some(Agent::Copilot) => return DialectEvent::Shadowed,
        Some(Agent::ClaudeCode | Agent::OpenCode) => claude_code::log(name),
        Some(Agent::Codex) => codex::log(name),
        Some(Agent::GeminiCli) => gemini::log(name),
        Some(Agent::QwenCode) => qwen::log(name),
        Some(Agent::Pi | Agent::GenAi | Agent::Unknown) | None => {
            claude_code::log(name).or_else(|| codex::log(name)).or_else(|| qwen::log(name))
        }
    };
    reader.map_or(DialectEvent::Unknown, DialectEvent::Known)
}

/// Returns the event of a span. The dialect of the agent comes first, then the GenAI conventions.
pub(crate) fn span_event(agent: Option<Agent>, name: &str, fields: &Fields<'_, '_>) -> DialectEvent {
    let own = match agent {
        Some(Agent::ClaudeCode | Agent::OpenCode) => claude_code::span(name),
        Some(
            Agent::Codex
            | Agent::GeminiCli
            | Agent::QwenCode
            | Agent::Copilot
            | Agent::Pi
            | Agent::GenAi
            | Agent::Unknown,
        )
        | None => None,
    };
    let operation = fields.text(Key::OperationName);
    let operation = operation.as_deref().or_else(|| name.split_whitespace().next()).unwrap_or_default();
    let shared = || gen_ai::span(operation);
    let bare = || if agent.is_none() { claude_code::span(name) } else { None };
    own.or_else(shared).or_else(bare).map_or(DialectEvent::Unknown, DialectEvent::Known)
}
