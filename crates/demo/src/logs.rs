//! Logs as agents write them: one file per dialect knows how its records look.
//!
//! A log is an endless supply of records from a seed. `cargo xtask generate` makes files of them for tests and benches; the demo gives
//! each session an agent and [`Habits`], and reads the lines with the same reader as any telemetry. The records have the attributes,
//! the types and the size of real ones, with what a reader must skip: accounts, prompts, arguments and outputs, all of them made up.

mod claude_code;
mod codex;
mod gemini;
mod gen_ai;
mod line;
mod opencode;
mod qwen;

use crate::random::Random;
pub use line::{Line, LineSignal, Shape, Transport};

/// The agent whose records are written.
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
    /// OpenCode, with a plugin that mirrors the events of Claude Code.
    OpenCode,
    /// Spans by the GenAI conventions, as Copilot writes them, with the logs that repeat them.
    Copilot,
}

/// How a session goes. It can change between two turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// Of a thousand tool calls, how many fail.
    pub fail_per_mille: u64,
    /// How long the user thinks before a prompt, in milliseconds: least and most.
    pub think_ms: (u64, u64),
    /// How many calls of the model a turn has: least and most.
    pub requests: (u64, u64),
    /// Whether the agent does nothing but call its shell, and fails every time.
    pub is_stuck: bool,
}

impl Default for Habits {
    fn default() -> Self {
        Self { fail_per_mille: 0, think_ms: (3000, 90_000), requests: (1, 12), is_stuck: false }
    }
}

/// A session of some agent: an endless supply of records.
pub trait AgentLog {
    /// What the next record is.
    fn signal(&mut self) -> LineSignal {
        LineSignal::Logs
    }

    /// The attributes of the resource.
    fn resource(&self) -> &str;

    /// The instrumentation scope, a JSON object.
    fn scope(&self) -> &str;

    /// Writes the next record.
    fn record(&mut self, line: &mut Line);

    /// The id by which a reader knows the session.
    fn session_id(&self) -> &str;

    /// When the latest record was written, in nanoseconds after 1970.
    fn now_ns(&self) -> u64;

    /// Whether a turn is over and the next record begins another.
    fn is_between_turns(&self) -> bool;

    /// How it goes on.
    fn set_habits(&mut self, habits: Habits);
}

/// A session that begins at a time, with these attributes of its resource beside the agent's own.
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
