//! The proxy before an MCP server.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum, ValueHint};
use renown_core::ids::AgentId;
use renown_proxy::PinMode;
use serde::Deserialize;

use crate::settings::Listen;
use crate::setup::server::ServerUrl;

#[derive(Debug, Args)]
pub(crate) struct ProxyArgs {
    /// The server: a command that speaks MCP on its standard input and output
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "upstream", conflicts_with = "upstream", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,

    /// The server: the address of a streamable HTTP one
    #[arg(long, value_name = "URL", env = "RENOWN_UPSTREAM", value_hint = ValueHint::Url)]
    pub(crate) upstream: Option<String>,

    /// Where clients find the proxy of an HTTP server [default: 127.0.0.1:7080]
    #[arg(long, value_name = "ADDR", env = "RENOWN_PROXY_LISTEN", conflicts_with = "command")]
    pub(crate) listen: Option<Listen>,

    /// Whose calls these are [default: what the client calls itself, else mcp]
    #[arg(long, value_name = "ID", env = "RENOWN_AGENT")]
    pub(crate) agent: Option<AgentId>,

    /// Count the verdicts on the server of Renown at this URL
    #[arg(long, value_name = "URL", env = "RENOWN_SERVER", value_hint = ValueHint::Url)]
    pub(crate) server: Option<ServerUrl>,

    /// The key for it, a publishable one will do; `RENOWN_KEY` is better, since process lists show arguments
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,

    /// Block and change nothing, only record
    #[arg(long, value_name = "BOOL", env = "RENOWN_OBSERVE", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, value_parser = BoolishValueParser::new())]
    pub(crate) observe: Option<bool>,

    /// Also judge what a tool is given, before it runs
    #[arg(long, value_name = "BOOL", env = "RENOWN_PRE", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, value_parser = BoolishValueParser::new())]
    pub(crate) pre: Option<bool>,

    /// A directory in which paths are allowed, beside those of the configuration, those among the arguments of COMMAND, and
    /// those that the client names
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, env = "RENOWN_ROOT")]
    pub(crate) root: Vec<PathBuf>,

    /// What happens to a tool, prompt, resource or the instructions that changed since they were first seen
    /// [default: block, with --observe warn]
    #[arg(long, value_name = "MODE", env = "RENOWN_PIN")]
    pub(crate) pin: Option<PinArg>,

    /// Show how tools of this server have changed, accept that, and exit
    #[arg(long)]
    pub(crate) accept_pins: bool,

    /// Methods whose results are logged as those of tools are, as in resources/read; with a minus, as in -prompts/get, methods
    /// that are not judged
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        env = "RENOWN_METHODS",
        allow_hyphen_values = true
    )]
    pub(crate) methods: Option<Vec<String>>,

    /// Repeat the log on standard error
    #[arg(long, value_name = "BOOL", env = "RENOWN_VERBOSE", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, value_parser = BoolishValueParser::new())]
    pub(crate) verbose: Option<bool>,

    /// The data directory, for the log, the pins and the spool [default: `RENOWN_DATA`, else the platform's data directory + /renown]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,

    /// The configuration [default: `RENOWN_CONFIG`, else renown.toml in the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

/// What happens to a tool whose definition changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PinArg {
    /// It is left out, and calls to it are answered with an error
    Block,
    /// A line on standard error
    Warn,
    /// Nothing, nothing is remembered
    Off,
}

impl From<PinArg> for PinMode {
    fn from(pin: PinArg) -> Self {
        match pin {
            PinArg::Block => Self::Block,
            PinArg::Warn => Self::Warn,
            PinArg::Off => Self::Off,
        }
    }
}

/// The server of the proxy, with nothing between it and the command line.
#[derive(Debug, Args)]
pub(crate) struct ChildArgs {
    /// The process whose child this is
    #[arg(long)]
    pub(crate) parent: u32,

    #[arg(last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}
