//! The arguments of `renown judge`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, ValueHint};
use renown_core::ids::{AgentId, OrgId};
use renown_core::time::Timestamp;
use renown_telemetry::dialect::Agent;

use crate::judge::{self, Min};
use crate::setup::server::ServerUrl;
use crate::store_location::StoreLocationArgs;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "these are flags of a command")]
pub(crate) struct JudgeArgs {
    /// Log files or globs: OTLP JSON lines, plain, gzip or zstd; `-` is standard input
    /// [default: standard input if piped, else the sessions on this machine]
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

    /// Count only records from this time on, such as 2026-11-15T12:00:00Z
    #[arg(long, value_name = "T", value_parser = judge::time)]
    pub(crate) from: Option<Timestamp>,

    /// Count only records up to this time
    #[arg(long, value_name = "T", value_parser = judge::time)]
    pub(crate) to: Option<Timestamp>,

    /// Judge only sessions of this agent, such as claude or codex
    #[arg(long, value_name = "AGENT", value_parser = agent_kind, conflicts_with = "logs")]
    pub(crate) agent: Option<AgentName>,

    /// Judge only sessions on this machine that worked in or below DIR
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "logs")]
    pub(crate) project: Option<PathBuf>,

    /// Judge only sessions that a server has received
    #[arg(long, conflicts_with_all = ["logs", "agent", "project"])]
    pub(crate) no_history: bool,

    /// With --submit: send the sessions on this machine, each record once
    #[arg(long, requires = "submit", hide_short_help = true, conflicts_with_all = ["logs", "session", "all", "last", "project", "no_history", "watch"])]
    pub(crate) history: bool,

    /// With --history: agent id of the sessions [default: the agent's name]
    #[arg(long, value_name = "ID", requires = "history", hide_short_help = true)]
    pub(crate) agent_id: Option<AgentId>,

    /// Masque (persona) that the agent wore [default: from the session file or the telemetry]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) masque: Option<String>,

    /// YAML file with `active: {name: …, donned_at: …}`, which sets the masque and the default of --from
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) session_file: Option<PathBuf>,

    /// Format of the result
    #[arg(long, default_value = "yaml")]
    pub(crate) format: FormatArg,

    /// Exit with 1 if a judged session scores below this
    #[arg(long, value_name = "X", value_parser = judge::min)]
    pub(crate) min: Option<Min>,

    /// Fail at the first bad line or rejected record instead of skipping it
    #[arg(long)]
    pub(crate) strict: bool,

    /// Follow a growing log, or the sessions that a server receives, and show the current session
    #[arg(long, conflicts_with_all = ["all", "last", "min"])]
    pub(crate) watch: bool,

    /// Also send the log to the server at this URL; records with an id are deduplicated
    #[arg(long, value_name = "URL", conflicts_with = "watch", value_hint = ValueHint::Url)]
    pub(crate) submit: Option<ServerUrl>,

    /// Key for that server, if it needs one; prefer `RENOWN_KEY`, because process lists show arguments
    #[arg(long, value_name = "KEY", requires = "submit")]
    pub(crate) key: Option<String>,

    /// Organization whose received sessions are judged [default: default]
    #[arg(long, value_name = "NAME", conflicts_with = "logs")]
    pub(crate) org: Option<OrgId>,

    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,

    /// Configuration file with the prices of models [default: `RENOWN_CONFIG`, else renown.toml in the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

impl JudgeArgs {
    /// Returns the agent whose sessions are judged.
    pub(crate) fn agent_kind(&self) -> Option<Agent> {
        self.agent.map(|AgentName(agent)| agent)
    }

    /// Whether an argument only makes sense for sessions on this machine, so that standard input is not read.
    pub(crate) fn names_history(&self) -> bool {
        self.agent.is_some() || self.project.is_some() || self.no_history
    }
}

/// An agent by one of its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AgentName(pub(crate) Agent);

/// The short names of agents that keep transcripts; their names in results are accepted too.
const AGENTS: [(&str, Agent); 7] = [
    ("claude", Agent::ClaudeCode),
    ("codex", Agent::Codex),
    ("gemini", Agent::GeminiCli),
    ("qwen", Agent::QwenCode),
    ("opencode", Agent::OpenCode),
    ("copilot", Agent::Copilot),
    ("pi", Agent::Pi),
];

/// Parses `--agent`.
pub(crate) fn agent_kind(text: &str) -> Result<AgentName, String> {
    let found = AGENTS.iter().find(|(short, agent)| *short == text || agent.name() == text);
    found.map(|(_, agent)| AgentName(*agent)).ok_or_else(|| {
        let names: Vec<&str> = AGENTS.iter().map(|(short, _)| *short).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// The output formats of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// One YAML document per session
    Yaml,
    /// A JSON object; with --all and --last an array
    Json,
    /// One line per session
    Table,
}
