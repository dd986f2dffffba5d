//! The arguments of `renown eval`.

use std::str::FromStr;

use clap::{Args, Subcommand};
use renown_core::eval::{EvalStatus, MetricName};
use renown_core::ids::{AgentId, EvalRunId, SessionId};
use renown_core::time::Timestamp;

use super::RunsTarget;
use super::help::{
    EVAL_CANCEL_HELP, EVAL_COMPARE_HELP, EVAL_LIST_HELP, EVAL_RETRY_HELP, EVAL_RUN_HELP, EVAL_SHOW_HELP,
};

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    pub(crate) command: EvalCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Evaluate sessions
    #[command(after_long_help = EVAL_RUN_HELP)]
    Run(Box<EvalRunArgs>),

    /// List eval runs, last created first
    #[command(after_long_help = EVAL_LIST_HELP)]
    List {
        /// Only runs in this state: pending, running, completed, failed or cancelled
        #[arg(long, value_name = "STATE", value_parser = EvalStatus::from_str)]
        status: Option<EvalStatus>,

        /// Maximum number of runs to list
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,

        #[command(flatten)]
        target: RunsTarget,
    },

    /// Show an eval run and its worst sessions
    #[command(after_long_help = EVAL_SHOW_HELP)]
    Show {
        /// Id of the eval run
        #[arg(value_name = "ID")]
        run: EvalRunId,

        #[command(flatten)]
        target: RunsTarget,
    },

    /// Compare two eval runs: what got better, what got worse
    #[command(after_long_help = EVAL_COMPARE_HELP)]
    Compare {
        /// Id of the earlier eval run
        #[arg(value_name = "BEFORE")]
        before: EvalRunId,

        /// Id of the later eval run
        #[arg(value_name = "AFTER")]
        after: EvalRunId,

        #[command(flatten)]
        target: RunsTarget,
    },

    /// Stop an eval run; its results so far stay
    #[command(after_long_help = EVAL_CANCEL_HELP)]
    Cancel {
        /// Id of the eval run
        #[arg(value_name = "ID")]
        run: EvalRunId,

        #[command(flatten)]
        target: RunsTarget,
    },

    /// Evaluate the failed sessions of an eval run again
    #[command(after_long_help = EVAL_RETRY_HELP)]
    Retry {
        /// Id of the eval run
        #[arg(value_name = "ID")]
        run: EvalRunId,

        #[command(flatten)]
        target: RunsTarget,
    },
}

#[derive(Debug, Args)]
pub(crate) struct EvalRunArgs {
    /// Name of the run
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,

    /// Metric to compute: `agent_reliability` or `agent_consistency`; may be repeated [default: both]
    #[arg(long = "metric", value_name = "NAME", value_parser = MetricName::from_str)]
    pub(crate) metrics: Vec<MetricName>,

    /// Session to evaluate; may be repeated [default: all that the filters select]
    #[arg(long = "session", value_name = "ID", conflicts_with_all = ["agent", "from", "to", "min_traces"])]
    pub(crate) sessions: Vec<SessionId>,

    /// Only sessions of this agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<AgentId>,

    /// Only sessions that began at this time or later, such as 2026-11-15T12:00:00Z
    #[arg(long, value_name = "T", value_parser = crate::judge::time)]
    pub(crate) from: Option<Timestamp>,

    /// Only sessions that began at this time or earlier
    #[arg(long, value_name = "T", value_parser = crate::judge::time)]
    pub(crate) to: Option<Timestamp>,

    /// Only sessions with this many traces or more
    #[arg(long, value_name = "N")]
    pub(crate) min_traces: Option<u32>,

    /// Share of the sessions to evaluate, more than 0 and at most 1 [default: 1]
    #[arg(long, value_name = "SHARE")]
    pub(crate) sample: Option<f64>,

    /// Weight of a signal, such as `coherence=0.5`; may be repeated
    #[arg(long = "weight", value_name = "SIGNAL=N", value_parser = setting)]
    pub(crate) weights: Vec<(String, f64)>,

    /// Score from which a metric passes, such as `agent_reliability=0.7`; may be repeated
    #[arg(long = "threshold", value_name = "METRIC=N", value_parser = setting)]
    pub(crate) thresholds: Vec<(String, f64)>,

    /// With --server: follow the run until it ends
    #[arg(long, requires = "server")]
    pub(crate) watch: bool,

    #[command(flatten)]
    pub(crate) target: RunsTarget,
}

/// Parses a name and a number.
fn setting(text: &str) -> Result<(String, f64), String> {
    let (name, number) = text.split_once('=').ok_or("expected NAME=NUMBER, such as coherence=0.5")?;
    let number = number.parse().map_err(|_| format!("{number:?}, expected a number"))?;
    Ok((name.to_owned(), number))
}
