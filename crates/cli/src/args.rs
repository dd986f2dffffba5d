//! What can be said on the command line.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use renown_core::gates::Strictness;
use renown_core::ids::{AgentId, OrgId};
use renown_core::kind::Kind;
use renown_core::time::Timestamp;
use renown_core::units::Micros;
use uuid::Uuid;

use crate::gate;
use crate::judge::{self, Min};
use crate::place::PlaceArgs;
use crate::settings::Listen;
use crate::setup::server::{self, ServerUrl};

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
    /// Serve the API: gates, the evidence log and reputations
    #[command(after_long_help = SERVE_HELP)]
    Serve(ServeArgs),

    /// Make, list and revoke API keys
    #[command(after_long_help = KEYS_HELP)]
    Keys(KeysArgs),

    /// List agents, or show one
    Agents(AgentsArgs),

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
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// The address of the API [default: `RENOWN_LISTEN`, else 127.0.0.1:7070]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<Listen>,

    /// The configuration [default: `RENOWN_CONFIG`, else renown.toml in the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    /// Show each value and where it came from, and do nothing
    #[arg(long)]
    pub(crate) print_config: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a key, and its organization when that is new; it is shown once
    Create {
        /// The organization [default: that of the caller's key, else default]
        #[arg(long, value_name = "NAME")]
        org: Option<OrgId>,

        /// What it may do
        #[arg(long, default_value = "publishable")]
        kind: KeyKindArg,

        /// What you call it
        #[arg(long, value_name = "TEXT")]
        label: Option<String>,

        #[command(flatten)]
        reach: KeysReach,
    },

    /// List keys: never the key itself, only its last four characters
    List {
        /// The organization [default: that of the caller's key, else all]
        #[arg(long, value_name = "NAME")]
        org: Option<OrgId>,

        #[command(flatten)]
        reach: KeysReach,
    },

    /// End a key at once
    Revoke {
        /// The id of the key, from `renown keys list`
        id: Uuid,

        #[command(flatten)]
        reach: KeysReach,
    },
}

#[derive(Debug, Args)]
pub(crate) struct KeysReach {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// How the result is printed
    #[arg(long, default_value = "text")]
    pub(crate) format: TextFormatArg,
}

/// A server to go through, instead of the data directory.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Go through the server at this URL
    #[arg(long, value_name = "URL", conflicts_with_all = ["data", "store"], value_hint = ValueHint::Url)]
    pub(crate) server: Option<ServerUrl>,

    /// The key for it; `RENOWN_KEY` is better, since process lists show arguments
    #[arg(long, value_name = "KEY", requires = "server")]
    pub(crate) key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyKindArg {
    /// Sends evidence and reads scores
    Publishable,
    /// Also administers
    Secret,
}

/// How a small result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormatArg {
    /// For people
    Text,
    /// For programs
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    pub(crate) command: AgentsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List agents
    List {
        /// Only those whose id contains this, in any case
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,

        /// In which order
        #[arg(long, default_value = "last-seen")]
        sort: AgentSortArg,

        /// How many at most
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        limit: u32,

        #[command(flatten)]
        common: AgentsCommon,
    },

    /// Show an agent's reputation and what it is made of
    Show {
        /// The agent
        #[arg(value_name = "ID")]
        agent: AgentId,

        #[command(flatten)]
        common: AgentsCommon,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AgentsCommon {
    /// The organization
    #[arg(long, value_name = "NAME", default_value = renown_store::DEFAULT_ORG)]
    pub(crate) org: OrgId,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// How the result is printed
    #[arg(long, default_value = "text")]
    pub(crate) format: TextFormatArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentSortArg {
    /// The last seen first
    LastSeen,
    /// The best first
    Score,
    /// By id
    AgentId,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The copy
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// The configuration [default: `RENOWN_CONFIG`, else renown.toml in the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    /// Logs: files or globs of OTLP JSON, one object a line, also gzip and zstd; `-` is standard input, which is also the
    /// default where it is not a terminal
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) logs: Vec<PathBuf>,

    /// Judge this session instead of the most recent one
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new(), conflicts_with_all = ["all", "last"])]
    pub(crate) session: Option<String>,

    /// Judge every session
    #[arg(long, conflicts_with = "last")]
    pub(crate) all: bool,

    /// Judge the last N sessions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) last: Option<u64>,

    /// Count only records from this time on, as in 2026-11-15T12:00:00Z
    #[arg(long, value_name = "T", value_parser = judge::time)]
    pub(crate) from: Option<Timestamp>,

    /// Count only records up to this time
    #[arg(long, value_name = "T", value_parser = judge::time)]
    pub(crate) to: Option<Timestamp>,

    /// The masque that the agent wore [default: what the session file or the telemetry says]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) masque: Option<String>,

    /// A YAML file with `active: {name: …, donned_at: …}`: the masque, and the default of --from
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) session_file: Option<PathBuf>,

    /// How the result is printed
    #[arg(long, default_value = "yaml")]
    pub(crate) format: FormatArg,

    /// Exit with 1 if a judged session is below this score
    #[arg(long, value_name = "X", value_parser = judge::min)]
    pub(crate) min: Option<Min>,

    /// Fail at the first bad line or refused record instead of skipping it
    #[arg(long)]
    pub(crate) strict: bool,

    /// Follow one log as it grows, and show the current session
    #[arg(long, conflicts_with_all = ["all", "last", "min"])]
    pub(crate) watch: bool,

    /// The configuration, for its prices [default: `RENOWN_CONFIG`, else renown.toml in the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

/// How sessions are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// As a YAML document each
    Yaml,
    /// As a JSON object, or an array of them with --all and --last
    Json,
    /// As a line each
    Table,
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

    /// The gates to run, in order [default: `gates.cli`, else filesystem,pii,content]
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
    #[arg(long, value_name = "N", value_parser = gate::latency, env = "RENOWN_LATENCY_MS")]
    pub(crate) latency_ms: Option<Micros>,

    /// What the tool was given: a file with JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "RENOWN_INPUT")]
    pub(crate) input: Option<PathBuf>,

    /// How the result is printed
    #[arg(long, default_value = "text", env = "RENOWN_FORMAT")]
    pub(crate) format: GateFormatArg,

    /// A directory in which paths are allowed, beside those of the configuration
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, env = "RENOWN_ROOT")]
    pub(crate) root: Vec<PathBuf>,
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

    /// The base URL of the OTLP/HTTP receiver
    #[arg(long, value_name = "URL", default_value = server::LOCAL, value_hint = ValueHint::Url)]
    pub(crate) server: ServerUrl,

    /// What this agent is called in Renown [default: what its settings say, else its kind]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<AgentId>,

    /// Print what would be written to new files, and change nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) print: bool,

    /// Write without asking
    #[arg(long)]
    pub(crate) yes: bool,
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

const SERVE_HELP: &str = r#"On the first start a data directory is made, for its owner only, with the
organization `default` and two keys, which are shown once.

Every value can also be set by its variable RENOWN_… or in renown.toml:
  listen = "127.0.0.1:7070"
  store = "sqlite:"
  [limits]                       # per organization; 0 is no limit
  requests_per_minute = 0
  ingest_per_minute = 0
  [gates]                        # see `renown gate --help`

The log goes to standard error, as JSON where that is no terminal; RENOWN_LOG
(error, warn, info, debug) chooses how much. Payloads and keys are never in it.

Examples:
  renown serve
  renown serve --data ./data --listen 0.0.0.0:7070
  renown serve --print-config"#;

const KEYS_HELP: &str = r"Works on the data directory when no server holds it, and through the server
otherwise: --server URL, with a secret key in RENOWN_KEY.

Examples:
  renown keys create --kind secret --label ci
  RENOWN_KEY=rn_sec_… renown keys list --server http://127.0.0.1:7070
  renown keys revoke 0199…";

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

const GATE_HELP: &str = r"Gates, with their options in [gate.NAME] of the configuration:
  latency     the tool took longer than max_ms
  schema      the output, or input, does not fit a JSON schema
  filesystem  paths that climb, system paths, credentials; roots
  pii         e-mail, US social security and phone numbers, cards, IBAN
  content     empty outputs, refusals

Nothing of the output is kept, logged or printed.

Exit codes: 0 passed, 1 failed, 2 bad usage or bad input.

Examples:
  renown gate output.json
  some-tool | renown gate --as text --strictness balanced
  renown gate --gates pii,content --format json output.json";

const SETUP_HELP: &str = r"What is changed (only what differs, after asking):
  claude  env in ~/.claude/settings.json or $CLAUDE_CONFIG_DIR, and the
          command /performance in its commands folder
  codex   [otel] in ~/.codex/config.toml or $CODEX_HOME, and the agent's
          name in .env beside it
  gemini  telemetry in ~/.gemini/settings.json or under $GEMINI_CLI_HOME,
          and the agent's name in .env beside it

Other settings, their order and comments stay. The file as it was is kept
beside it as FILE.renown-backup. The content of prompts, tool calls and
answers is never switched on; where it already is, a warning names it.

Examples:
  renown setup claude
  renown setup codex --agent reviewer-1 --yes
  renown setup gemini --server https://renown.example/otlp --print";

const JUDGE_HELP: &str = r"Reads logs and spans of Claude Code, Codex, Gemini CLI, Qwen Code, OpenCode,
Copilot and agents that follow the GenAI conventions of OpenTelemetry. Several
files are one stream, in any order. Prompts, arguments and outputs are never
read.

The result goes to standard output, the account of what was read to standard
error. Bad lines are skipped, counted, and the first three are named.

Exit codes: 0 judged, 1 below --min, 2 nothing to judge or bad input.

Examples:
  renown judge logs.jsonl
  renown judge --all --format table 'logs/*.jsonl.gz'
  renown judge --session 0b1c… --format json logs.jsonl
  renown judge --min 7 logs.jsonl && git push
  renown judge --watch logs.jsonl";
