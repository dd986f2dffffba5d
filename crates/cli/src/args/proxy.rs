//! The arguments of `renown proxy`.

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
    /// Command of an MCP server that uses standard input and output
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "upstream", conflicts_with = "upstream", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,

    /// URL of an MCP server that uses streamable HTTP
    #[arg(long, value_name = "URL", env = "RENOWN_UPSTREAM", value_hint = ValueHint::Url)]
    pub(crate) upstream: Option<String>,

    /// With --upstream: address that the proxy listens on [default: 127.0.0.1:7080]
    #[arg(long, value_name = "ADDR", env = "RENOWN_PROXY_LISTEN", conflicts_with = "command")]
    pub(crate) listen: Option<Listen>,

    /// Agent whose calls these are [default: the client's name for itself, else mcp]
    #[arg(long, value_name = "ID", env = "RENOWN_AGENT")]
    pub(crate) agent: Option<AgentId>,

    /// Send the verdicts to the Renown server at this URL
    #[arg(long, value_name = "URL", env = "RENOWN_SERVER", value_hint = ValueHint::Url)]
    pub(crate) server: Option<ServerUrl>,

    /// Key for that server (publishable is enough); prefer `RENOWN_KEY`, because process lists show arguments
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,

    /// Only record verdicts; block and change nothing
    #[arg(long, value_name = "BOOL", env = "RENOWN_OBSERVE", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, value_parser = BoolishValueParser::new())]
    pub(crate) observe: Option<bool>,

    /// Also judge the arguments of a tool before it runs
    #[arg(long, value_name = "BOOL", env = "RENOWN_PRE", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, value_parser = BoolishValueParser::new())]
    pub(crate) pre: Option<bool>,

    /// Directory in which paths are allowed, in addition to those of the configuration, of COMMAND's
    /// arguments and of the client; may be repeated
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, env = "RENOWN_ROOT")]
    pub(crate) root: Vec<PathBuf>,

    /// What to do when a tool, prompt, resource or the instructions changed since they were first seen
    /// [default: block; with --observe: warn]
    #[arg(long, value_name = "MODE", env = "RENOWN_PIN")]
    pub(crate) pin: Option<PinArg>,

    /// Show what changed in this server's tools, accept the changes, and exit
    #[arg(long)]
    pub(crate) accept_pins: bool,

    /// Methods whose results are logged like those of tools, such as resources/read; with a minus, such as
    /// -prompts/get, methods that are not judged
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        env = "RENOWN_METHODS",
        allow_hyphen_values = true
    )]
    pub(crate) methods: Option<Vec<String>>,

    /// Also print the log to standard error
    #[arg(long, value_name = "BOOL", env = "RENOWN_VERBOSE", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, value_parser = BoolishValueParser::new())]
    pub(crate) verbose: Option<bool>,

    /// Data directory, for the log, the pins and unsent verdicts [default: `RENOWN_DATA`, else `renown` in the platform's data directory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,

    /// Configuration file [default: `RENOWN_CONFIG`, else renown.toml in the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

/// What the proxy does with a tool whose definition changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PinArg {
    /// Hide it, and answer calls to it with an error
    Block,
    /// Print a warning to standard error
    Warn,
    /// Do nothing, and remember nothing
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

/// The arguments of the hidden command that becomes the MCP server of a proxy.
#[derive(Debug, Args)]
pub(crate) struct ChildArgs {
    /// Process id of the proxy
    #[arg(long)]
    pub(crate) parent: u32,

    #[arg(last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}
