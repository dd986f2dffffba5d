//! `renown stats`: sums over the sessions of this machine, by agent, model, project or day.
//!
//! The sums are over the same sessions as `renown judge --all`. A session counts in one row of each table. By model, it
//! counts in the row of the model that used most of its tokens; tokens and costs count in the rows of their models.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use renown_core::decimal::{Decimal, ratio};
use renown_core::units::NanoUsd;
use renown_telemetry::report::{CostSource, SessionReport};
use renown_telemetry::transcript::{JudgedTranscript, ModelUsage};
use serde::Serialize;

use crate::args::{StatsArgs, StatsByArg, StatsFormatArg};
use crate::failure::{self, Failure};
use crate::judge::local::Everything;
use crate::table::{NOTHING, fitted, left, right, terminal_width};
use crate::{as_json, print};

pub(crate) fn run(args: &StatsArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let everything = Everything::load(args, quiet)?;
    let (mut total, mut rows) = (Sums::default(), BTreeMap::<String, Sums>::new());
    for (report, judged, cost) in everything.reports() {
        total.add(&report, cost);
        match (args.by, judged) {
            (StatsByArg::Model, Some(judged)) => by_model(&report, judged, &mut rows),
            (by, judged) => rows.entry(key(by, &report, judged)).or_default().add(&report, cost),
        }
    }
    let mut rows: Vec<Row> = rows.into_iter().map(|(key, sums)| sums.row(Some(key))).collect();
    if args.by != StatsByArg::Day {
        rows.sort_by_key(|row| std::cmp::Reverse(row.total_tokens));
    }
    let stats = Stats { total: total.row(None), rows, prices_as_of: everything.as_of().to_owned() };
    print(&match args.format {
        StatsFormatArg::Json => as_json(&stats)?,
        StatsFormatArg::Csv => csv(&stats),
        StatsFormatArg::Table => table(args.by, &stats),
    })?;
    if !quiet {
        failure::note(&everything.summary());
        if args.format == StatsFormatArg::Table && stats.total.is_estimate() {
            failure::note(&format!("~ marks estimates, from prices of {}", stats.prices_as_of));
        }
        if let Some(unpriced) = everything.unpriced() {
            failure::note(&unpriced);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn key(by: StatsByArg, report: &SessionReport<'_>, judged: Option<&JudgedTranscript>) -> String {
    const UNKNOWN: &str = "unknown";
    match by {
        StatsByArg::Agent => report.agent.name().to_owned(),
        StatsByArg::Model => UNKNOWN.to_owned(),
        StatsByArg::Project => {
            judged.and_then(|judged| judged.project.as_deref()).unwrap_or(UNKNOWN).to_owned()
        }
        StatsByArg::Day => report.started_at.map_or_else(
            || UNKNOWN.to_owned(),
            |at| at.to_string().chars().take("2026-11-15".len()).collect(),
        ),
    }
}

/// Adds a session to the row of its main model, and its tokens and costs to the rows of all its models.
fn by_model(report: &SessionReport<'_>, judged: &JudgedTranscript, rows: &mut BTreeMap<String, Sums>) {
    let name = |number: usize| judged.models.get(number).map_or("unknown", String::as_str);
    let main = (0..judged.usage.len()).max_by_key(|number| {
        judged.usage.get(*number).map(|usage| (usage.total_tokens, std::cmp::Reverse(*number)))
    });
    rows.entry(name(main.unwrap_or(usize::MAX)).to_owned()).or_default().add_work(report);
    for (number, usage) in judged.usage.iter().enumerate() {
        rows.entry(name(number).to_owned()).or_default().add_usage(usage);
    }
}

/// Sums over sessions.
#[derive(Default)]
struct Sums {
    sessions: u64,
    prompts: u64,
    tools: u64,
    tools_ok: u64,
    composites: i128,
    tokens: u64,
    cached: u64,
    cost_nano: u128,
    has_reported: bool,
    has_priced: bool,
}

impl Sums {
    fn add(&mut self, report: &SessionReport<'_>, cost: Option<NanoUsd>) {
        self.add_work(report);
        let stats = &report.performance.stats;
        let source = report.coverage.cost_source;
        self.add_usage(&ModelUsage {
            total_tokens: stats.total_tokens,
            cache_tokens: stats.cache_tokens,
            cost_nano: cost.map_or(0, NanoUsd::nano),
            has_reported: matches!(source, CostSource::Reported | CostSource::Mixed),
            has_priced: matches!(source, CostSource::Priced | CostSource::Mixed),
        });
    }

    fn add_work(&mut self, report: &SessionReport<'_>) {
        let stats = &report.performance.stats;
        self.sessions += 1;
        self.prompts = self.prompts.saturating_add(stats.prompts);
        self.tools = self.tools.saturating_add(stats.total_tools);
        self.tools_ok = self.tools_ok.saturating_add(stats.tools_ok);
        self.composites += report.performance.composite.units();
    }

    fn add_usage(&mut self, usage: &ModelUsage) {
        self.tokens = self.tokens.saturating_add(usage.total_tokens);
        self.cached = self.cached.saturating_add(usage.cache_tokens);
        self.cost_nano = self.cost_nano.saturating_add(usage.cost_nano);
        self.has_reported |= usage.has_reported;
        self.has_priced |= usage.has_priced;
    }

    fn row(&self, key: Option<String>) -> Row {
        Row {
            key,
            sessions: self.sessions,
            prompts: self.prompts,
            total_tools: self.tools,
            tools_ok: self.tools_ok,
            tool_success_pct: (self.tools > 0)
                .then(|| ratio(100 * u128::from(self.tools_ok), self.tools.into())),
            performance: (self.sessions > 0)
                .then(|| ratio(self.composites.unsigned_abs(), 10 * u128::from(self.sessions))),
            total_tokens: self.tokens,
            cache_tokens: self.cached,
            total_cost: ratio(self.cost_nano, 1_000_000_000),
            cost_source: match (self.has_reported, self.has_priced) {
                (true, true) => CostSource::Mixed,
                (true, false) => CostSource::Reported,
                (false, true) => CostSource::Priced,
                (false, false) => CostSource::None,
            },
        }
    }
}

#[derive(Serialize)]
struct Stats {
    total: Row,
    rows: Vec<Row>,
    /// Date of the prices that estimates use.
    prices_as_of: String,
}

#[derive(Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    sessions: u64,
    prompts: u64,
    total_tools: u64,
    tools_ok: u64,
    tool_success_pct: Option<Decimal<0>>,
    /// Mean of the sessions' composite scores.
    performance: Option<Decimal<1>>,
    total_tokens: u64,
    cache_tokens: u64,
    total_cost: Decimal<2>,
    cost_source: CostSource,
}

impl Row {
    fn is_estimate(&self) -> bool {
        matches!(self.cost_source, CostSource::Priced | CostSource::Mixed)
    }

    fn cost(&self) -> String {
        match self.cost_source {
            CostSource::None => NOTHING.to_owned(),
            CostSource::Reported => format!("${}", self.total_cost),
            CostSource::Priced | CostSource::Mixed => format!("~${}", self.total_cost),
        }
    }

    fn cells(&self, key: &str) -> [String; 9] {
        [
            failure::printable(key),
            self.sessions.to_string(),
            self.prompts.to_string(),
            self.total_tools.to_string(),
            self.tool_success_pct.map_or_else(|| NOTHING.to_owned(), |percent| format!("{percent}%")),
            self.performance.map_or_else(|| NOTHING.to_owned(), |score| score.to_string()),
            self.total_tokens.to_string(),
            self.cache_tokens.to_string(),
            self.cost(),
        ]
    }
}

fn table(by: StatsByArg, stats: &Stats) -> String {
    let head = [
        left(match by {
            StatsByArg::Agent => "AGENT",
            StatsByArg::Model => "MODEL",
            StatsByArg::Project => "PROJECT",
            StatsByArg::Day => "DAY",
        })
        .cut_to(24),
        right("SESSIONS"),
        right("PROMPTS"),
        right("TOOLS"),
        right("OK"),
        right("SCORE"),
        right("TOKENS"),
        right("CACHED"),
        right("COST"),
    ];
    let rows = stats.rows.iter().map(|row| row.cells(row.key.as_deref().unwrap_or_default()));
    let rows: Vec<[String; 9]> = rows.chain([stats.total.cells("total")]).collect();
    fitted(head, &rows, terminal_width())
}

fn csv(stats: &Stats) -> String {
    let mut text = "key,sessions,prompts,total_tools,tools_ok,tool_success_pct,performance,total_tokens,cache_tokens,total_cost,cost_source\n".to_owned();
    for row in &stats.rows {
        let key = row.key.as_deref().unwrap_or_default();
        let is_plain = !key.contains([',', '"', '\n', '\r']);
        let key = if is_plain { key.to_owned() } else { format!("\"{}\"", key.replace('"', "\"\"")) };
        let source = match row.cost_source {
            CostSource::Reported => "reported",
            CostSource::Priced => "priced",
            CostSource::Mixed => "mixed",
            CostSource::None => "none",
        };
        let percent = row.tool_success_pct.map(|percent| percent.to_string()).unwrap_or_default();
        let score = row.performance.map(|score| score.to_string()).unwrap_or_default();
        let Row { sessions, prompts, total_tools, tools_ok, total_tokens, cache_tokens, total_cost, .. } =
            row;
        let _ = writeln!(
            text,
            "{key},{sessions},{prompts},{total_tools},{tools_ok},{percent},{score},{total_tokens},{cache_tokens},{total_cost},{source}"
        );
    }
    text
}
