//! Sessions of coding agents.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, ValueHint};
use renown_core::ids::OrgId;
use renown_core::time::Timestamp;

use crate::judge::{self, Min};
use crate::place::PlaceArgs;
use crate::setup::server::ServerUrl;

#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    /// Logs: files or globs of OTLP JSON, one object a line, also gzip and zstd; `-` is standard input [default: standard input
    /// where something is piped into it, else the sessions that a server has received]
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

    /// Follow one log as it grows, or the sessions that a server receives, and show the current session
    #[arg(long, conflicts_with_all = ["all", "last", "min"])]
    pub(crate) watch: bool,

    /// Also send the log to the server at this URL; records with an identity count once however often they are sent
    #[arg(long, value_name = "URL", conflicts_with = "watch", value_hint = ValueHint::Url)]
    pub(crate) submit: Option<ServerUrl>,

    /// The key for it, where it wants one; `RENOWN_KEY` is better, since process lists show arguments
    #[arg(long, value_name = "KEY", requires = "submit")]
    pub(crate) key: Option<String>,

    /// The organization whose sessions are judged, without logs [default: default]
    #[arg(long, value_name = "NAME", conflicts_with = "logs")]
    pub(crate) org: Option<OrgId>,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

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
