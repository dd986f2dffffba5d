//! Runs, and how an agent is forgotten.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use renown_core::ids::{AgentId, OrgId, RunId, SpecId, Workspace};
use renown_core::scorecard::Tier;
use renown_core::time::Timestamp;

use super::{ServerArgs, TextFormatArg};
use crate::place::PlaceArgs;
use crate::source::STDIN;

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub(crate) command: RunsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// Score finished runs
    Submit {
        /// A file of JSON: one run, an array, or one a line; `-` is standard input
        #[arg(default_value = STDIN, value_hint = ValueHint::FilePath)]
        file: PathBuf,

        #[command(flatten)]
        reach: RunsReach,
    },

    /// Show a run and its scorecard
    Show {
        /// The run
        #[arg(value_name = "ID")]
        run: RunId,

        #[command(flatten)]
        reach: RunsReach,
    },

    /// List runs, the last accepted first
    List {
        #[command(flatten)]
        filter: RunsFilter,

        /// How many at most
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        limit: u32,

        #[command(flatten)]
        reach: RunsReach,
    },

    /// Compare the agents that attempted a spec
    Compare {
        /// The spec
        #[arg(value_name = "SPEC")]
        spec: SpecId,

        #[command(flatten)]
        reach: RunsReach,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunsFilter {
    /// Only of this agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<AgentId>,

    /// Only of this workspace
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<Workspace>,

    /// Only attempts at this spec
    #[arg(long, value_name = "ID")]
    pub(crate) spec: Option<SpecId>,

    /// Only of this tier: Unranked, Bronze, Silver, Gold or Elite
    #[arg(long, value_name = "NAME", value_parser = Tier::from_str)]
    pub(crate) tier: Option<Tier>,

    /// Only those that ended at this time or later, as RFC 3339
    #[arg(long, value_name = "T", value_parser = crate::judge::time)]
    pub(crate) from: Option<Timestamp>,

    /// Only those that ended at this time or earlier
    #[arg(long, value_name = "T", value_parser = crate::judge::time)]
    pub(crate) to: Option<Timestamp>,
}

#[derive(Debug, Args)]
pub(crate) struct RunsReach {
    /// The organization, in the data directory; a server knows it by the key
    #[arg(long, value_name = "NAME", default_value = renown_store::DEFAULT_ORG, conflicts_with = "server")]
    pub(crate) org: OrgId,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// How the result is printed
    #[arg(long, default_value = "text")]
    pub(crate) format: TextFormatArg,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Who runs it
    #[arg(long, value_name = "ID", env = "RENOWN_AGENT")]
    pub(crate) agent: AgentId,

    /// The task that it is an attempt at
    #[arg(long, value_name = "ID")]
    pub(crate) spec: Option<SpecId>,

    /// The runs that it is compared with [default: default]
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<Workspace>,

    /// What you call the run [default: one is made]
    #[arg(long, value_name = "ID")]
    pub(crate) run_id: Option<RunId>,

    /// The branch with its work
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,

    /// The pull request with its work
    #[arg(long, value_name = "URL")]
    pub(crate) pull_request: Option<String>,

    /// A JSON file that the command writes: `[{"name", "passed", "attempts"}, …]`, or `{"stages": […], "outcome": "blocked"}`; one
    /// that it does not write is left out
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) stages: Option<PathBuf>,

    /// Where the scorecard is written [default: standard error, since standard output is the command's]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reach: RunsReach,

    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// What is exported
    pub(crate) evidence: EvidenceArg,

    /// How it is written
    #[arg(long, default_value = "jsonl")]
    pub(crate) format: ExportFormatArg,

    /// With --format csv: write texts as they are, also those that a spreadsheet would run as a formula
    #[arg(long)]
    pub(crate) raw: bool,

    /// The file [default: standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// The organization
    #[arg(long, value_name = "NAME", default_value = renown_store::DEFAULT_ORG)]
    pub(crate) org: OrgId,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvidenceArg {
    /// Verdicts on outputs
    Evaluations,
    /// Reputation events
    Events,
    /// Runs with their scorecards
    Runs,
    /// Sessions of coding agents with their scores, and what their traces say at the default weights
    Sessions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormatArg {
    /// One JSON object a line
    Jsonl,
    /// With a header; a text that a spreadsheet would run as a formula gets an apostrophe in front, see --raw
    Csv,
    /// For DuckDB, pandas and the like
    Parquet,
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The agent
    #[arg(value_name = "AGENT")]
    pub(crate) agent: AgentId,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,

    /// The organization, in the data directory; a server knows it by the key
    #[arg(long, value_name = "NAME", default_value = renown_store::DEFAULT_ORG, conflicts_with = "server")]
    pub(crate) org: OrgId,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
