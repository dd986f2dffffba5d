//! What is read from the store: the overview, agents and sessions.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use renown_core::ids::{AgentId, OrgId, SessionId};
use renown_core::time::Day;

use super::TextFormatArg;
use super::help::{AGENTS_LIST_HELP, AGENTS_SHOW_HELP, SESSIONS_LIST_HELP, SESSIONS_RECORDS_HELP};
use crate::place::PlaceArgs;

/// Whose evidence is read, where it is, and how it is printed.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// The organization
    #[arg(long, value_name = "NAME", default_value = renown_store::DEFAULT_ORG)]
    pub(crate) org: OrgId,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// How the result is printed
    #[arg(long, default_value = "text")]
    pub(crate) format: TextFormatArg,
}

#[derive(Debug, Args)]
pub(crate) struct OverviewArgs {
    /// The UTC day, such as 2026-11-15 [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) day: Option<Day>,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// Print the link and open nothing
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The agent
    #[arg(value_name = "AGENT")]
    pub(crate) agent: AgentId,

    /// The organization
    #[arg(long, value_name = "NAME", default_value = renown_store::DEFAULT_ORG)]
    pub(crate) org: OrgId,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// The form of the report
    #[arg(long, default_value = "md")]
    pub(crate) format: ReportFormatArg,

    /// Where it is written [default: standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormatArg {
    /// Markdown
    Md,
    /// One HTML file that loads nothing
    Html,
}

#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    pub(crate) command: AgentsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List agents: one row for each, over all its evidence
    #[command(after_long_help = AGENTS_LIST_HELP)]
    List {
        /// Only agents whose id contains this text, in upper or lower case
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,

        /// The order of the rows
        #[arg(long, default_value = "last-seen")]
        sort: AgentSortArg,

        /// The most agents to list
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        limit: u32,

        #[command(flatten)]
        read: ReadArgs,
    },

    /// Show an agent: its score and the parts of it, what failed, its runs and its sessions
    #[command(after_long_help = AGENTS_SHOW_HELP)]
    Show {
        /// The agent
        #[arg(value_name = "ID")]
        agent: AgentId,

        #[command(flatten)]
        read: ReadArgs,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentSortArg {
    /// The last seen first
    LastSeen,
    /// The best first; then agents that are calibrating, then agents without evaluations
    Score,
    /// By id
    Name,
    /// The most evaluations first
    Evaluations,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List sessions, the last to begin first
    #[command(after_long_help = SESSIONS_LIST_HELP)]
    List {
        /// Only sessions of this agent
        #[arg(long, value_name = "ID")]
        agent: Option<AgentId>,

        /// The most sessions to list
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        limit: u32,

        #[command(flatten)]
        read: ReadArgs,
    },

    /// Show the records of a session in the order of their time
    #[command(after_long_help = SESSIONS_RECORDS_HELP)]
    Records {
        /// The session
        #[arg(value_name = "ID")]
        session: SessionId,

        /// The most records to show, from the start of the session
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        limit: u32,

        #[command(flatten)]
        read: ReadArgs,
    },
}
