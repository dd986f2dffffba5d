//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use renown_core::kind::Kind;

/// Tells whether an AI agent's work can be trusted.
#[derive(Debug, Parser)]
#[command(name = "renown", version, arg_required_else_help = true, max_term_width = 110)]
pub(crate) struct Cli {
    /// Say nothing but results and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compute a score from JSON, without a server
    #[command(after_long_help = SCORE_HELP)]
    Score(ScoreArgs),

    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: ShellArg,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    /// Which score
    pub(crate) kind: KindArg,

    /// The input: one JSON object, an array of them, or one a line; `-` is standard input
    #[arg(default_value = "-", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Print the parts of each score and what they contributed, in place of the score
    #[arg(long)]
    pub(crate) explain: bool,
}

/// The shells that are supported.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ShellArg {
    Bash,
    Zsh,
    Fish,
}

impl From<ShellArg> for clap_complete::Shell {
    fn from(shell: ShellArg) -> Self {
        match shell {
            ShellArg::Bash => Self::Bash,
            ShellArg::Zsh => Self::Zsh,
            ShellArg::Fish => Self::Fish,
        }
    }
}

/// The names of the scores on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum KindArg {
    /// Reputation of an agent, 0–1000
    Reputation,
    /// Performance of a session, 0–10, with keep, review or doff
    Performance,
    /// Scorecard of a run, 0–100, with a tier
    Run,
    /// Reliability and consistency of a session, 0–1
    Session,
    /// Reputation of an identity over time, with confidence and trends
    Identity,
}

impl From<KindArg> for Kind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Reputation => Self::Reputation,
            KindArg::Performance => Self::Performance,
            KindArg::Run => Self::Run,
            KindArg::Session => Self::Session,
            KindArg::Identity => Self::Identity,
        }
    }
}

const SCORE_HELP: &str = r#"Inputs (? marks what may be left out):
  reputation
    {"evaluations": [{"passed": true, "latency_ms"?: 12.5}, …]}
    Oldest first; latency from 0 to 60000 ms.
  performance
    {"started_at", "ended_at", "prompts", "total_tools", "tools_ok",
     "total_cost", "total_tokens", "cache_tokens"}
    Times as RFC 3339 or whole milliseconds, cost in US dollars.
  run
    {"outcome": "completed|blocked|failed",
     "stages"?: [{"name": "lint", "passed": true, "attempts"?: 1}, …],
     "wall_ms"?, "baseline_wall_ms"?: [ …, newest last],
     "resources"?: {"memory_peak_bytes"?, "memory_limit_bytes"?,
       "cpu_periods"?, "cpu_throttled_periods"?, "cpu_throttled_ms"?}}
    Only a bad outcome is refused: other bad parts count as absent and
    are named in "warnings".
  session
    {"traces": [{"trace_id": "t1", "signals": {"confidence"?: 0.9,
       "loop_detection"?, "tool_correctness"?, "coherence"?}}, …],
     "signal_weights"?: {…}}
    Signals from 0 to 1, weights from 0 to 10.
  identity
    {"as_of": "2026-11-15T00:00:00Z", "events": [{"event_id": UUID,
       "timestamp", "category", "event_type", "score_delta",
       "confidence"?}, …]}
    Categories task_quality, economic, identity_hygiene; deltas from
    -1000000 to 1000000.

An array gives an array, JSON Lines give JSON Lines, and a document over
several lines is answered over several lines. A bad input is answered by
{"error": …} in its place, the first three are also told on standard error,
the others are still scored, and the exit code is 2. One input may have up
to 64 MiB; a stream of them has no limit.

Examples:
  renown score run runs.jsonl
  renown score reputation --explain < evaluations.json"#;
