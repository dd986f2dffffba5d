//! The server and the commands around its store.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use renown_core::ids::OrgId;
use uuid::Uuid;

use crate::keys;
use crate::place::PlaceArgs;
use crate::settings::{Listen, OtlpKeys, OtlpListen};
use crate::setup::server::ServerUrl;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// Serve a made-up month of twelve agents, to look around; its data is thrown away when the server ends
    #[arg(long, conflicts_with_all = ["data", "store", "config", "print_config"])]
    pub(crate) demo: bool,

    /// The address of the API [default: `RENOWN_LISTEN`, else 127.0.0.1:7070]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<Listen>,

    /// The address of OTLP over gRPC, or off [default: `RENOWN_OTLP_GRPC`, else 127.0.0.1:4317]
    #[arg(long, value_name = "ADDR|off")]
    pub(crate) otlp_grpc: Option<OtlpListen>,

    /// The address of OTLP over HTTP, or off [default: `RENOWN_OTLP_HTTP`, else 127.0.0.1:4318]
    #[arg(long, value_name = "ADDR|off")]
    pub(crate) otlp_http: Option<OtlpListen>,

    /// Whether telemetry of this machine needs a key: loopback (it does not) or required [default: `RENOWN_OTLP_AUTH`, else loopback]
    #[arg(long, value_name = "loopback|required")]
    pub(crate) otlp_auth: Option<OtlpKeys>,

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
        #[arg(long, value_name = "TEXT", value_parser = keys::label)]
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
        #[arg(value_parser = keys::id)]
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
pub(crate) struct VerifyArgs {
    /// First make again what is missing or wrong: scores of runs, sums of agents, sessions and identities; evidence is never touched
    #[arg(long)]
    pub(crate) repair: bool,

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
