//! The arguments of `renown runs`, `run`, `export` and `forget`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use renown_core::ids::{AgentId, OrgId, RunId, SpecId, Workspace};
use renown_core::scorecard::Tier;
use renown_core::time::Timestamp;

use super::help::{RUNS_COMPARE_HELP, RUNS_LIST_HELP, RUNS_SHOW_HELP, RUNS_SUBMIT_HELP};
use super::{ServerArgs, TextFormatArg};
use crate::input_file::STDIN;
use crate::store_location::StoreLocationArgs;

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub(crate) command: RunsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// Score finished runs
    #[command(after_long_help = RUNS_SUBMIT_HELP)]
    Submit {
        /// JSON file: one run, an array of runs, or one run per line; `-` is standard input
        #[arg(default_value = STDIN, value_hint = ValueHint::FilePath)]
        file: PathBuf,

        #[command(flatten)]
        target: RunsTarget,
    },

    /// Show a run and its scorecard
    #[command(after_long_help = RUNS_SHOW_HELP)]
    Show {
        /// Id of the run
        #[arg(value_name = "ID")]
        run: RunId,

        #[command(flatten)]
        target: RunsTarget,
    },

    /// List runs, last accepted first
    #[command(after_long_help = RUNS_LIST_HELP)]
    List {
        #[command(flatten)]
        filter: RunsFilter,

        /// Maximum number of runs to list
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        limit: u32,

        #[command(flatten)]
        target: RunsTarget,
    },

    /// Compare the agents that attempted a spec
    #[command(after_long_help = RUNS_COMPARE_HELP)]
    Compare {
        /// Id of the spec
        #[arg(value_name = "SPEC")]
        spec: SpecId,

        #[command(flatten)]
        target: RunsTarget,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunsFilter {
    /// Only runs of this agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<AgentId>,

    /// Only runs in this workspace
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<Workspace>,

    /// Only attempts at this spec
    #[arg(long, value_name = "ID")]
    pub(crate) spec: Option<SpecId>,

    /// Only runs of this tier: Unranked, Bronze, Silver, Gold or Elite
    #[arg(long, value_name = "NAME", value_parser = Tier::from_str)]
    pub(crate) tier: Option<Tier>,

    /// Only runs that ended at this time or later, such as 2026-11-15T12:00:00Z
    #[arg(long, value_name = "T", value_parser = crate::judge::time)]
    pub(crate) from: Option<Timestamp>,

    /// Only runs that ended at this time or earlier
    #[arg(long, value_name = "T", value_parser = crate::judge::time)]
    pub(crate) to: Option<Timestamp>,
}

#[derive(Debug, Args)]
pub(crate) struct RunsTarget {
    /// Organization in the data directory (with --server, the key decides)
    #[arg(long, value_name = "NAME", default_value = renown_store::DEFAULT_ORG, conflicts_with = "server")]
    pub(crate) org: OrgId,

    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Format of the result
    #[arg(long, default_value = "text")]
    pub(crate) format: TextFormatArg,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Agent that runs the command
    #[arg(long, value_name = "ID", env = "RENOWN_AGENT")]
    pub(crate) agent: AgentId,

    /// Spec (task) that the run attempts
    #[arg(long, value_name = "ID")]
    pub(crate) spec: Option<SpecId>,

    /// Workspace whose runs it is compared with [default: default]
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<Workspace>,

    /// Id of the run [default: a new one]
    #[arg(long, value_name = "ID")]
    pub(crate) run_id: Option<RunId>,

    /// Branch with the result
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,

    /// Pull request with the result
    #[arg(long, value_name = "URL")]
    pub(crate) pull_request: Option<String>,

    /// JSON file that COMMAND writes: `[{"name", "passed", "attempts"}, …]` or `{"stages": […], "outcome": "blocked"}`;
    /// ignored if COMMAND does not write it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) stages: Option<PathBuf>,

    /// File to write the scorecard to [default: standard error, because standard output belongs to COMMAND]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) target: RunsTarget,

    /// Command to run, with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Kind of evidence to export
    pub(crate) evidence: EvidenceArg,

    /// Format of the file
    #[arg(long, default_value = "jsonl")]
    pub(crate) format: ExportFormatArg,

    /// With --format csv: write text unchanged, even if a spreadsheet would run it as a formula
    #[arg(long)]
    pub(crate) raw: bool,

    /// File to write to [default: standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Organization to export
    #[arg(long, value_name = "NAME", default_value = renown_store::DEFAULT_ORG)]
    pub(crate) org: OrgId,

    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvidenceArg {
    /// Verdicts on outputs
    Evaluations,
    /// Reputation events
    Events,
    /// Runs with their scorecards
    Runs,
    /// Sessions with their scores; reliability and consistency use the default weights
    Sessions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormatArg {
    /// One JSON object per line
    Jsonl,
    /// With a header; text that a spreadsheet would run as a formula gets an apostrophe in front, see --raw
    Csv,
    /// For DuckDB, pandas and similar tools
    Parquet,
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// Agent to erase
    #[arg(value_name = "AGENT")]
    pub(crate) agent: AgentId,

    /// Do not ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,

    /// Organization in the data directory (with --server, the key decides)
    #[arg(long, value_name = "NAME", default_value = renown_store::DEFAULT_ORG, conflicts_with = "server")]
    pub(crate) org: OrgId,

    #[command(flatten)]
    pub(crate) location: StoreLocationArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
