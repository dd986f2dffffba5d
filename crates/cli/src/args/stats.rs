//! The arguments of `renown stats`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use renown_core::time::Timestamp;

use super::judge::{AgentName, FormatArg, JudgeArgs, agent_kind};
use crate::judge;
use crate::store_location::StoreLocationArgs;

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// What the rows are
    #[arg(long, default_value = "agent")]
    pub(crate) by: StatsByArg,

    /// Count only sessions of this agent
    #[arg(long, value_name = "AGENT", value_parser = agent_kind)]
    pub(crate) agent: Option<AgentName>,

    /// Count only sessions that worked in this directory or below it
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,

    /// Count only records from this time on, such as 2026-11-15T12:00:00Z
    #[arg(long, value_name = "T", value_parser = judge::time)]
    pub(crate) from: Option<Timestamp>,

    /// Count only records up to this time
    #[arg(long, value_name = "T", value_parser = judge::time)]
    pub(crate) to: Option<Timestamp>,

    /// Format of the result
    #[arg(long, default_value = "table")]
    pub(crate) format: StatsFormatArg,

    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,

    /// Configuration file with the prices of models [default: `RENOWN_CONFIG`, else renown.toml in the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

/// What sums are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatsByArg {
    /// Kind of the agent
    Agent,
    /// Model; a session counts where most of its tokens do
    Model,
    /// Directory in which the agent worked
    Project,
    /// Day in UTC on which the session began
    Day,
}

/// The output formats of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatsFormatArg {
    /// Columns for people
    Table,
    /// One JSON object
    Json,
    /// Comma-separated values
    Csv,
}

impl JudgeArgs {
    /// Returns the arguments that judge every session that is counted.
    pub(crate) fn of_stats(args: &StatsArgs) -> Self {
        Self {
            logs: Vec::new(),
            session: None,
            all: true,
            last: None,
            from: args.from,
            to: args.to,
            agent: args.agent,
            project: args.project.clone(),
            no_history: false,
            history: false,
            agent_id: None,
            masque: None,
            session_file: None,
            format: FormatArg::Json,
            min: None,
            strict: false,
            watch: false,
            submit: None,
            key: None,
            org: None,
            location: args.location.clone(),
            config: args.config.clone(),
        }
    }
}
