//! The arguments of `renown serve` and of the commands that administer its store.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use renown_core::ids::OrgId;
use uuid::Uuid;

use super::help::{KEYS_CREATE_HELP, KEYS_LIST_HELP, KEYS_REVOKE_HELP};
use crate::keys;
use crate::settings::{Listen, OtlpKeys, OtlpListen};
use crate::setup::server::ServerUrl;
use crate::store_location::StoreLocationArgs;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,

    /// Serve generated data of twelve agents, to look around; deleted when the server stops
    #[arg(long, conflicts_with_all = ["data", "store", "config", "print_config"])]
    pub(crate) demo: bool,

    /// Address of the API and the web pages [default: `RENOWN_LISTEN`, else 127.0.0.1:7070]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<Listen>,

    /// Address of the OTLP/gRPC receiver, or off [default: `RENOWN_OTLP_GRPC`, else 127.0.0.1:4317]
    #[arg(long, value_name = "ADDR|off")]
    pub(crate) otlp_grpc: Option<OtlpListen>,

    /// Address of the OTLP/HTTP receiver, or off [default: `RENOWN_OTLP_HTTP`, else 127.0.0.1:4318]
    #[arg(long, value_name = "ADDR|off")]
    pub(crate) otlp_http: Option<OtlpListen>,

    /// Key for telemetry: loopback (not needed on this machine) or required [default: `RENOWN_OTLP_AUTH`, else loopback]
    #[arg(long, value_name = "loopback|required")]
    pub(crate) otlp_auth: Option<OtlpKeys>,

    /// Configuration file [default: `RENOWN_CONFIG`, else renown.toml in the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    /// Print each setting and where it came from, then exit
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
    /// Create a key, and its organization if it is new; the key is shown once
    #[command(after_long_help = KEYS_CREATE_HELP)]
    Create {
        /// Organization of the key [default: that of the caller's key, else default]
        #[arg(long, value_name = "NAME")]
        org: Option<OrgId>,

        /// What the key may do
        #[arg(long, default_value = "publishable")]
        kind: KeyKindArg,

        /// Label of your choice
        #[arg(long, value_name = "TEXT", value_parser = keys::label)]
        label: Option<String>,

        #[command(flatten)]
        target: KeysTarget,
    },

    /// List keys by id, kind, label and last four characters
    #[command(after_long_help = KEYS_LIST_HELP)]
    List {
        /// Only keys of this organization [default: that of the caller's key, else all]
        #[arg(long, value_name = "NAME")]
        org: Option<OrgId>,

        #[command(flatten)]
        target: KeysTarget,
    },

    /// Revoke a key immediately
    #[command(after_long_help = KEYS_REVOKE_HELP)]
    Revoke {
        /// Id of the key, from `renown keys list`
        #[arg(value_parser = keys::id)]
        id: Uuid,

        #[command(flatten)]
        target: KeysTarget,
    },
}

#[derive(Debug, Args)]
pub(crate) struct KeysTarget {
    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Format of the result
    #[arg(long, default_value = "text")]
    pub(crate) format: TextFormatArg,
}

/// The server to send a command to, instead of using the data directory.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Use the server at this URL instead of the data directory
    #[arg(long, value_name = "URL", conflicts_with_all = ["data", "store"], value_hint = ValueHint::Url)]
    pub(crate) server: Option<ServerUrl>,

    /// Key for that server; prefer `RENOWN_KEY`, because process lists show arguments
    #[arg(long, value_name = "KEY", requires = "server")]
    pub(crate) key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyKindArg {
    /// Send evidence and read scores
    Publishable,
    /// Also administer
    Secret,
}

/// The output formats of most commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormatArg {
    /// For people
    Text,
    /// For programs
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// First rebuild missing or wrong derived data (run scores; totals of agents, sessions and identities); never changes evidence
    #[arg(long)]
    pub(crate) repair: bool,

    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// File to write the backup to; it must not exist
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// Backup to restore
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,

    /// Configuration file [default: `RENOWN_CONFIG`, else renown.toml in the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}
