//! Generated logs of agents. One file per dialect defines its records.
//!
//! A log is an endless sequence of records from a seed. `cargo xtask generate` writes them to files for tests and
//! benches. The demo gives each session an agent and [`Habits`], and reads the lines with the normal telemetry
//! reader. The records have the attributes, types and sizes of real ones, including made-up accounts, prompts,
//! arguments and outputs, which a reader must skip.

mod claude_code;
mod codex;
mod gemini;
mod gen_ai;
mod line;
mod opencode;
mod qwen;

use crate::random::Random;
pub use line::{Line, LineSignal, LogTransport, Shape};

/// The dialect of the generated records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// Qwen Code.
    QwenCode,
    /// OpenCode with a plugin that sends the events of Claude Code.
    OpenCode,
    /// Copilot: spans of the GenAI conventions, and logs that repeat them.
    Copilot,
}

/// The habits of an agent and its user in a session. They can change between two turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// Failing tool calls per thousand.
    pub fail_per_mille: u64,
    /// Time before a prompt in milliseconds: minimum and maximum.
    pub think_ms: (u64, u64),
    /// Model calls per turn: minimum and maximum.
    pub requests: (u64, u64),
    /// Whether the agent only calls its shell, and fails every time.
    pub is_stuck: bool,
}

impl Default for Habits {
    fn default() -> Self {
        Self { fail_per_mille: 0, think_ms: (3000, 90_000), requests: (1, 12), is_stuck: false }
    }
}

/// A session of an agent: an endless sequence of records.
pub trait AgentLog {
    /// Returns the OTLP signal of the next record.
    fn signal(&mut self) -> LineSignal {
        LineSignal::Logs
    }

    /// Returns the attributes of the resource.
    fn resource(&self) -> &str;

    /// Returns the instrumentation scope as a JSON object.
    fn scope(&self) -> &str;

    /// Writes the next record.
    fn record(&mut self, line: &mut Line);

    /// Returns the session id that a reader finds.
    fn session_id(&self) -> &str;

    /// Returns the time of the latest record in nanoseconds since 1970.
    fn now_ns(&self) -> u64;

    /// Whether the next record begins a new turn.
    fn is_between_turns(&self) -> bool;

    /// Changes the habits from the next turn on.
    fn set_habits(&mut self, habits: Habits);
}

/// Creates a session that begins at this time. `attributes` are added to the agent's own resource attributes.
pub fn agent_log(
    dialect: Dialect,
    random: &mut Random,
    start_ns: u64,
    attributes: &[(&str, &str)],
) -> Box<dyn AgentLog> {
    match dialect {
        Dialect::ClaudeCode => {
            Box::new(claude_code::Session::new(random, start_ns, &claude_code::CLAUDE, attributes))
        }
        Dialect::OpenCode => {
            Box::new(claude_code::Session::new(random, start_ns, &opencode::OPENCODE, attributes))
        }
        Dialect::Codex => Box::new(codex::Session::new(random, start_ns, attributes)),
        Dialect::GeminiCli => Box::new(gemini::Session::new(random, start_ns, &gemini::GEMINI, attributes)),
        Dialect::QwenCode => Box::new(gemini::Session::new(random, start_ns, &qwen::QWEN, attributes)),
        Dialect::Copilot => Box::new(gen_ai::Session::new(random, start_ns, attributes)),
    }
}
