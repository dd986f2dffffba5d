//! The command line: commands, arguments and options.

mod eval;
mod help;
mod judge;
mod operate;
mod proxy;
mod read;
mod runs;
mod stats;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use renown_core::gates::Strictness;
use renown_core::ids::AgentId;
use renown_core::kind::ScoreKind;

use crate::gate;
use crate::setup::server::ServerUrl;
use crate::store_location::StoreLocationArgs;

pub(crate) use eval::*;
pub(crate) use help::command;
use help::{
    AGENTS_HELP, BACKUP_HELP, COMPLETIONS_HELP, DOCTOR_HELP, EVAL_HELP, EXPORT_HELP, FORGET_HELP, GATE_HELP,
    JUDGE_HELP, KEYS_HELP, OPEN_HELP, OVERVIEW_HELP, PROXY_HELP, REPORT_HELP, RESTORE_HELP, RUN_HELP,
    RUNS_HELP, SCORE_HELP, SERVE_HELP, SESSIONS_HELP, SETUP_HELP, STATS_HELP, VERIFY_HELP,
};
pub(crate) use judge::*;
pub(crate) use operate::*;
pub(crate) use proxy::*;
pub(crate) use read::*;
pub(crate) use runs::*;
pub(crate) use stats::*;

/// Scores the work of AI agents, so that you know which ones to trust.
#[derive(Debug, Parser)]
#[command(name = "renown", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// Print only results and errors
    #[arg(long, short, global = true, display_order = 900)]
    pub(crate) quiet: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the server: API, web pages and telemetry receiver
    #[command(after_long_help = SERVE_HELP)]
    Serve(ServeArgs),

    /// Open the web pages of a running server in the browser, logged in
    #[command(after_long_help = OPEN_HELP)]
    Open(OpenArgs),

    /// Write a report about an agent, for example for a pull request
    #[command(after_long_help = REPORT_HELP)]
    Report(ReportArgs),

    /// Create, list and revoke API keys
    #[command(after_long_help = KEYS_HELP)]
    Keys(KeysArgs),

    /// Show one day: totals, score changes and their causes, failing gates, best agents
    #[command(after_long_help = OVERVIEW_HELP)]
    Overview(OverviewArgs),

    /// List agents, or show one agent
    #[command(after_long_help = AGENTS_HELP)]
    Agents(AgentsArgs),

    /// List sessions, or show the records of one session
    #[command(after_long_help = SESSIONS_HELP)]
    Sessions(SessionsArgs),

    /// Score finished runs, list them, and compare agents on one spec
    #[command(after_long_help = RUNS_HELP)]
    Runs(RunsArgs),

    /// Compute session metrics over many sessions, and compare the results
    #[command(after_long_help = EVAL_HELP)]
    Eval(EvalArgs),

    /// Run a command, time it, and score the run
    #[command(after_long_help = RUN_HELP)]
    Run(RunArgs),

    /// Export evaluations, reputation events, runs or sessions
    #[command(after_long_help = EXPORT_HELP)]
    Export(ExportArgs),

    /// Erase an agent and all its evidence
    #[command(after_long_help = FORGET_HELP)]
    Forget(ForgetArgs),

    /// Recompute every stored score from the evidence and compare
    #[command(after_long_help = VERIFY_HELP)]
    Verify(VerifyArgs),

    /// Copy the store to a file, also while a server runs, and check the copy
    #[command(after_long_help = BACKUP_HELP)]
    Backup(BackupArgs),

    /// Restore a backup into an empty data directory
    #[command(after_long_help = RESTORE_HELP)]
    Restore(RestoreArgs),

    /// Check versions, paths, ports, the configuration and the store
    #[command(after_long_help = DOCTOR_HELP)]
    Doctor(DoctorArgs),

    /// Score sessions of coding agents: those on this machine, or in OpenTelemetry logs
    #[command(after_long_help = JUDGE_HELP)]
    Judge(JudgeArgs),

    /// Sum up the sessions of coding agents on this machine: tools, tokens, cost
    #[command(after_long_help = STATS_HELP)]
    Stats(StatsArgs),

    /// Compute a score from JSON, without a server
    #[command(after_long_help = SCORE_HELP)]
    Score(ScoreArgs),

    /// Run the gates on one output
    #[command(after_long_help = GATE_HELP)]
    Gate(GateArgs),

    /// Run in front of an MCP server and gate its tools' results
    #[command(after_long_help = PROXY_HELP)]
    Proxy(ProxyArgs),

    /// Start the MCP server of a proxy
    #[command(hide = true)]
    ExecChild(ChildArgs),

    /// Send the telemetry of Claude Code, Codex or Gemini CLI to Renown
    #[command(after_long_help = SETUP_HELP)]
    Setup(SetupArgs),

    /// Print a completion script for your shell
    #[command(after_long_help = COMPLETIONS_HELP)]
    Completions {
        /// Shell to print the script for
        shell: ShellArg,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    /// Score to compute
    pub(crate) kind: KindArg,

    /// Input file: one JSON object, an array of objects, or one object per line; `-` is standard input
    #[arg(default_value = "-", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Print the components of each score and their contributions instead of the score
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// File with the output; `-` is standard input
    #[arg(default_value = "-", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Configuration file [default: `RENOWN_CONFIG`, else renown.toml in the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    /// Gates to run, in this order, separated by commas [default: `gates.cli`, else filesystem,pii,content,secrets]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', env = "RENOWN_GATES")]
    pub(crate) gates: Option<Vec<String>>,

    /// How much counts as a finding [default: `gates.strictness`, else strict]
    #[arg(long, env = "RENOWN_STRICTNESS")]
    pub(crate) strictness: Option<StrictnessArg>,

    /// How to read the output [default: as JSON if all of it parses, else as text]
    #[arg(long = "as", value_name = "KIND", env = "RENOWN_AS")]
    pub(crate) read_as: Option<ReadAsArg>,

    /// Tool that made the output
    #[arg(long, value_name = "NAME", env = "RENOWN_TOOL")]
    pub(crate) tool: Option<String>,

    /// Time that the tool took, in milliseconds
    #[arg(long, value_name = "N", value_parser = gate::latency, allow_negative_numbers = true, env = "RENOWN_LATENCY_MS")]
    pub(crate) latency_ms: Option<Duration>,

    /// JSON file with the tool's input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "RENOWN_INPUT")]
    pub(crate) input: Option<PathBuf>,

    /// Format of the result
    #[arg(long, default_value = "text", env = "RENOWN_FORMAT")]
    pub(crate) format: GateFormatArg,

    /// Directory in which paths are allowed, in addition to those of the configuration; may be repeated
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, env = "RENOWN_ROOT")]
    pub(crate) root: Vec<PathBuf>,

    /// If the output passes, print it as redacted by gates with `mode = "redact"`, and the result to standard error
    #[arg(long)]
    pub(crate) redacted: bool,

    /// Measure precision and recall of each gate and rule on the labeled outputs in this directory instead
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["file", "redacted"])]
    pub(crate) report: Option<PathBuf>,
}

/// How much the gates treat as a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StrictnessArg {
    /// Every mention
    Strict,
    /// Only what looks intended
    Balanced,
}

impl From<StrictnessArg> for Strictness {
    fn from(strictness: StrictnessArg) -> Self {
        match strictness {
            StrictnessArg::Strict => Self::Strict,
            StrictnessArg::Balanced => Self::Balanced,
        }
    }
}

/// How the gates read an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReadAsArg {
    /// One string
    Text,
    /// JSON; other input is an error
    Json,
}

/// The output formats of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateFormatArg {
    /// One line per gate, and PASS or FAIL
    Text,
    /// One JSON object
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// Agent to set up
    #[arg(value_name = "AGENT")]
    pub(crate) agent_kind: AgentArg,

    /// Base URL of the OTLP/HTTP receiver [default: `http://127.0.0.1:4318`; with --check, the URL in the settings]
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) server: Option<ServerUrl>,

    /// Id of this agent in Renown [default: the one in its settings, else its kind]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<AgentId>,

    /// Print the settings for new files, and change nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) print: bool,

    /// Write without asking for confirmation
    #[arg(long)]
    pub(crate) yes: bool,

    /// Check the settings, send a test record, and show what has arrived; change nothing
    #[arg(long, conflicts_with_all = ["print", "yes"])]
    pub(crate) check: bool,

    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,
}

/// The agents whose settings are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentArg {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
}

/// The supported shells.
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

impl From<KindArg> for ScoreKind {
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
