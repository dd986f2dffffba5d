//! The arguments of commands that read the store: overview, agents, sessions, open and report.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use renown_core::ids::{AgentId, OrgId, SessionId};
use renown_core::time::Day;

use super::TextFormatArg;
use super::help::{AGENTS_LIST_HELP, AGENTS_SHOW_HELP, SESSIONS_LIST_HELP, SESSIONS_RECORDS_HELP};
use crate::store_location::StoreLocationArgs;

/// The organization to read, the location of the store, and the output format.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Organization to read
    #[arg(long, value_name = "NAME", default_value = renown_store::DEFAULT_ORG)]
    pub(crate) org: OrgId,

    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,

    /// Format of the result
    #[arg(long, default_value = "text")]
    pub(crate) format: TextFormatArg,
}

#[derive(Debug, Args)]
pub(crate) struct OverviewArgs {
    /// Day in UTC, such as 2026-11-15 [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) day: Option<Day>,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,

    /// Print the link instead of opening it
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Agent to report on
    #[arg(value_name = "AGENT")]
    pub(crate) agent: AgentId,

    /// Organization to read
    #[arg(long, value_name = "NAME", default_value = renown_store::DEFAULT_ORG)]
    pub(crate) org: OrgId,

    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,

    /// Format of the report
    #[arg(long, default_value = "md")]
    pub(crate) format: ReportFormatArg,

    /// File to write to [default: standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormatArg {
    /// Markdown
    Md,
    /// One self-contained HTML file
    Html,
}

#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    pub(crate) command: AgentsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List agents, one row per agent
    #[command(after_long_help = AGENTS_LIST_HELP)]
    List {
        /// Only agents whose id contains this text, ignoring case
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,

        /// Order of the rows
        #[arg(long, default_value = "last-seen")]
        sort: AgentSortArg,

        /// Maximum number of agents to list
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        limit: u32,

        #[command(flatten)]
        read: ReadArgs,
    },

    /// Show an agent: score and components, failures, runs and sessions
    #[command(after_long_help = AGENTS_SHOW_HELP)]
    Show {
        /// Id of the agent
        #[arg(value_name = "ID")]
        agent: AgentId,

        #[command(flatten)]
        read: ReadArgs,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentSortArg {
    /// Last seen first
    LastSeen,
    /// Best first; then calibrating agents, then agents without evaluations
    Score,
    /// By id
    Name,
    /// Most evaluations first
    Evaluations,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List sessions, latest start first
    #[command(after_long_help = SESSIONS_LIST_HELP)]
    List {
        /// Only sessions of this agent
        #[arg(long, value_name = "ID")]
        agent: Option<AgentId>,

        /// Maximum number of sessions to list
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        limit: u32,

        #[command(flatten)]
        read: ReadArgs,
    },

    /// Show the records of a session in order of time
    #[command(after_long_help = SESSIONS_RECORDS_HELP)]
    Records {
        /// Id of the session
        #[arg(value_name = "ID")]
        session: SessionId,

        /// Maximum number of records to show, from the start of the session
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        limit: u32,

        #[command(flatten)]
        read: ReadArgs,
    },
}
