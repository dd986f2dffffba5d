//! What can be said on the command line.

mod help;
mod judge;
mod operate;
mod proxy;
mod read;
mod runs;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use renown_core::gates::Strictness;
use renown_core::ids::AgentId;
use renown_core::kind::Kind;

use crate::gate;
use crate::place::PlaceArgs;
use crate::setup::server::ServerUrl;

use help::{
    AGENTS_HELP, GATE_HELP, JUDGE_HELP, KEYS_HELP, OPEN_HELP, OVERVIEW_HELP, PROXY_HELP, REPORT_HELP,
    SCORE_HELP, SERVE_HELP, SESSIONS_HELP, SETUP_HELP,
};
pub(crate) use judge::*;
pub(crate) use operate::*;
pub(crate) use proxy::*;
pub(crate) use read::*;
pub(crate) use runs::*;

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
    /// Serve the API and take telemetry of agents
    #[command(after_long_help = SERVE_HELP)]
    Serve(ServeArgs),

    /// Open the web pages of a running server in the browser, logged in
    #[command(after_long_help = OPEN_HELP)]
    Open(OpenArgs),

    /// Write the page of an agent to a file, for a pull request
    #[command(after_long_help = REPORT_HELP)]
    Report(ReportArgs),

    /// Make, list and revoke API keys
    #[command(after_long_help = KEYS_HELP)]
    Keys(KeysArgs),

    /// Show a day: totals, changes of scores and their cause, failing gates, the best agents
    #[command(after_long_help = OVERVIEW_HELP)]
    Overview(OverviewArgs),

    /// List agents, or show one
    #[command(after_long_help = AGENTS_HELP)]
    Agents(AgentsArgs),

    /// List sessions, or show the records of one
    #[command(after_long_help = SESSIONS_HELP)]
    Sessions(SessionsArgs),

    /// Score finished runs, list them, and compare agents that attempted one spec
    Runs(RunsArgs),

    /// Run a command, time it, and score the run
    Run(RunArgs),

    /// Write all evidence of a kind to a file
    Export(ExportArgs),

    /// Erase an agent and all its evidence
    Forget(ForgetArgs),

    /// Replay all evidence and compare every stored score with a fresh one
    Verify(VerifyArgs),

    /// Make a consistent copy of the store while it runs, and check it
    Backup(BackupArgs),

    /// Bring a copy back, to a data directory without data
    Restore(BackupArgs),

    /// Look at versions, paths, ports and the store, and say what is wrong
    Doctor(DoctorArgs),

    /// Score sessions of coding agents from their OpenTelemetry logs
    #[command(after_long_help = JUDGE_HELP)]
    Judge(JudgeArgs),

    /// Compute a score from JSON, without a server
    #[command(after_long_help = SCORE_HELP)]
    Score(ScoreArgs),

    /// Run the gates on one output
    #[command(after_long_help = GATE_HELP)]
    Gate(GateArgs),

    /// Stand before an MCP server and gate what its tools give back
    #[command(after_long_help = PROXY_HELP)]
    Proxy(ProxyArgs),

    /// Become the server of a proxy
    #[command(hide = true)]
    ExecChild(ChildArgs),

    /// Point an agent's telemetry at Renown
    #[command(after_long_help = SETUP_HELP)]
    Setup(SetupArgs),

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

#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// The output: JSON if the whole of it parses, else a text; `-` is standard input
    #[arg(default_value = "-", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// The configuration [default: `RENOWN_CONFIG`, else renown.toml in the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    /// The gates to run, in order [default: `gates.cli`, else filesystem,pii,content,secrets]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', env = "RENOWN_GATES")]
    pub(crate) gates: Option<Vec<String>>,

    /// What counts as a finding [default: `gates.strictness`, else strict]
    #[arg(long, env = "RENOWN_STRICTNESS")]
    pub(crate) strictness: Option<StrictnessArg>,

    /// How the output is read [default: as JSON if it is, else as a text]
    #[arg(long = "as", value_name = "KIND", env = "RENOWN_AS")]
    pub(crate) read_as: Option<ReadAsArg>,

    /// The tool that made the output
    #[arg(long, value_name = "NAME", env = "RENOWN_TOOL")]
    pub(crate) tool: Option<String>,

    /// How long the tool took, in milliseconds
    #[arg(long, value_name = "N", value_parser = gate::latency, allow_negative_numbers = true, env = "RENOWN_LATENCY_MS")]
    pub(crate) latency_ms: Option<Duration>,

    /// What the tool was given: a file with JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "RENOWN_INPUT")]
    pub(crate) input: Option<PathBuf>,

    /// How the result is printed
    #[arg(long, default_value = "text", env = "RENOWN_FORMAT")]
    pub(crate) format: GateFormatArg,

    /// A directory in which paths are allowed, beside those of the configuration
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, env = "RENOWN_ROOT")]
    pub(crate) root: Vec<PathBuf>,

    /// Print the output itself if it passes, as gates with `mode = "redact"` left it, and the result to standard error
    #[arg(long)]
    pub(crate) redacted: bool,

    /// Measure the gates on the labelled outputs in this directory instead: precision and recall of each gate and rule
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["file", "redacted"])]
    pub(crate) report: Option<PathBuf>,
}

/// How much counts as a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StrictnessArg {
    /// Any mention
    Strict,
    /// What looks intended
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

/// How an output is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReadAsArg {
    /// As one string
    Text,
    /// As JSON, or not at all
    Json,
}

/// How a verdict is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateFormatArg {
    /// As a line each gate, and PASS or FAIL
    Text,
    /// As a JSON object
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// Which agent
    #[arg(value_name = "AGENT")]
    pub(crate) agent_kind: AgentArg,

    /// The base URL of the OTLP/HTTP receiver [default: `http://127.0.0.1:4318`; with --check, where the settings point to]
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) server: Option<ServerUrl>,

    /// What this agent is called in Renown [default: what its settings say, else its kind]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<AgentId>,

    /// Print what would be written to new files, and change nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) print: bool,

    /// Write without asking
    #[arg(long)]
    pub(crate) yes: bool,

    /// Change nothing: look whether the settings are right, send a record where they point to, and say what has arrived
    #[arg(long, conflicts_with_all = ["print", "yes"])]
    pub(crate) check: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
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
