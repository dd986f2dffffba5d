//! The arguments of `renown judge`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, ValueHint};
use renown_core::ids::OrgId;
use renown_core::time::Timestamp;

use crate::judge::{self, Min};
use crate::setup::server::ServerUrl;
use crate::store_location::StoreLocationArgs;

#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    /// Log files or globs: OTLP JSON, one object per line, plain, gzip or zstd; `-` is standard input
    /// [default: standard input if something is piped in, else the sessions that a server has received]
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
