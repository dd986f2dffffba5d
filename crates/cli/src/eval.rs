//! `renown eval`: session metrics over many sessions, on a server or on the data directory.
//!
//! On a data directory, the command carries out the run itself, with the steps of the server
//! ([`advance_eval_runs`]). A run that was interrupted goes on with the next `renown eval run`, or when a
//! server opens the directory.

mod compare;

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use renown_core::eval::{EvalStatus, SentSettings};
use renown_core::ids::{EvalRunId, OrgId};
use renown_core::json::{self, Found};
use renown_store::{
    EvalChange, EvalChanged, EvalCreated, EvalFilter, EvalResultQuery, EvalRunQuery, EvalTargets, NewEvalRun,
    ReadOnlyStore, Reads, Store, advance_eval_runs,
};
use renown_view::{EvalRunView, EvalScoreView};
use serde_json::{Map, Value, json};

use crate::args::{EvalArgs, EvalCommand, EvalRunArgs, RunsTarget, TextFormatArg};
use crate::client::{Client, encoded};
use crate::failure::{Failure, printable};
use crate::print;
use crate::progress::Work;
use crate::runs::shown;
use crate::store_location::{self, ask};
use crate::table::{NOTHING, fitted, left, minute, right, table, terminal_width};

const PURPOSE: &str = "renown eval";

/// Interval at which `--watch` asks the server.
const WATCH_EVERY: Duration = Duration::from_millis(500);

/// Number of results per page.
const PAGE: usize = 100;

/// Number of sessions that `show` lists.
const WORST: usize = 10;

/// Exit code of a run that did not complete.
const NOT_COMPLETED: u8 = 1;

pub(crate) fn run(args: &EvalArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let (value, target, as_text): (Value, _, fn(&Value) -> String) = match &args.command {
        EvalCommand::Run(args) => return start(args, quiet),
        EvalCommand::List { status, limit, target } => {
            (Runner::reading(target)?.list(*status, *limit)?, target, listed)
        }
        EvalCommand::Show { run, target } => {
            let runner = Runner::reading(target)?;
            let mut found = runner.run(run)?;
            if let Some(found) = found.as_object_mut() {
                found.insert("worst".to_owned(), worst(&runner.scores(run)?));
            }
            (found, target, card)
        }
        EvalCommand::Compare { before, after, target } => {
            let runner = Runner::reading(target)?;
            let runs = [runner.run(before)?, runner.run(after)?];
            let scores = [runner.scores(before)?, runner.scores(after)?];
            (compare::compare(&runs, &scores), target, compare::text)
        }
        EvalCommand::Cancel { run, target } => {
            (Runner::writing(target)?.change(run, EvalChange::Cancel, quiet)?, target, card)
        }
        EvalCommand::Retry { run, target } => {
            (Runner::writing(target)?.change(run, EvalChange::Retry, quiet)?, target, card)
        }
    };
    print_as(&value, target, as_text)
}

fn print_as(value: &Value, target: &RunsTarget, as_text: fn(&Value) -> String) -> Result<ExitCode, Failure> {
    print(&match target.format {
        TextFormatArg::Json => format!("{value:#}\n"),
        TextFormatArg::Text => as_text(value),
    })
}

/// Starts a run. On a data directory, carries it out.
fn start(args: &EvalRunArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let runner = Runner::writing(&args.target)?;
    let mut run = runner.create(args)?;
    if args.watch || matches!(runner, Runner::Store(..)) {
        run = runner.finish(&run, quiet)?;
    }
    print_as(&run, &args.target, card)?;
    let ended = field(&run, "status");
    let is_bad = matches!(ended, "failed" | "cancelled");
    Ok(if is_bad { ExitCode::from(NOT_COMPLETED) } else { ExitCode::SUCCESS })
}

/// Where eval runs are: behind a server, or in a data directory.
enum Runner {
    Server(Client),
    /// Another process may write to it.
    Reader(Box<dyn ReadOnlyStore>, OrgId),
    Store(Box<dyn Store>, OrgId),
}

impl Runner {
    fn reading(target: &RunsTarget) -> Result<Self, Failure> {
        Ok(match Client::of(&target.server)? {
            Some(client) => Self::Server(client),
            None => Self::Reader(target.location.resolve()?.read()?, target.org.clone()),
        })
    }

    fn writing(target: &RunsTarget) -> Result<Self, Failure> {
        Ok(match Client::of(&target.server)? {
            Some(client) => Self::Server(client),
            None => Self::Store(target.location.resolve()?.write(PURPOSE)?, target.org.clone()),
        })
    }

    /// Returns the server, or what answers questions in the data directory.
    fn side(&self) -> Side<'_> {
        match self {
            Self::Server(client) => Side::Server(client),
            Self::Reader(store, org) => Side::Data(&**store, org),
            Self::Store(store, org) => Side::Data(&**store, org),
        }
    }

    /// Creates a run. Returns it as the API does.
    fn create(&self, args: &EvalRunArgs) -> Result<Value, Failure> {
        let body = request(args);
        match self {
            Self::Server(client) => client.post("/v1/eval-runs", &body),
            Self::Reader(..) => Err(Failure::new("the data directory is open for reading only")),
            Self::Store(store, org) => {
                let new = new_run(args, &body)?;
                match ask(store.create_eval_run(org, new, None))?.fresh() {
                    Some(EvalCreated::Created(run)) => Ok(shown(&EvalRunView::of(&run))),
                    Some(EvalCreated::NoAgent) | None => {
                        let agent = args.agent.as_ref().map(ToString::to_string).unwrap_or_default();
                        Err(Failure::new(format!("--agent: there is no agent {agent:?}"))
                            .hint("`renown agents list` lists them"))
                    }
                }
            }
        }
    }

    /// Waits until a run has ended, with a progress bar. On a data directory, carries it out.
    fn finish(&self, run: &Value, quiet: bool) -> Result<Value, Failure> {
        let id: EvalRunId = field(run, "eval_run_id")
            .parse()
            .map_err(|error| Failure::new(format!("an unexpected reply: {error}")))?;
        let work = Work::of("sessions", !quiet && io::stderr().is_terminal());
        loop {
            let run = self.run(&id)?;
            let count = |name: &str| run.pointer(&format!("/progress/{name}")).and_then(Value::as_u64);
            work.at(count("done").unwrap_or_default(), count("targets").unwrap_or_default());
            if !matches!(field(&run, "status"), "pending" | "running") {
                return Ok(run);
            }
            match self {
                #[expect(clippy::disallowed_methods, reason = "the server sends no event for a step")]
                Self::Server(_) | Self::Reader(..) => thread::sleep(WATCH_EVERY),
                Self::Store(store, _) => _ = ask(advance_eval_runs(&**store))?,
            }
        }
    }

    /// Returns a run.
    fn run(&self, id: &EvalRunId) -> Result<Value, Failure> {
        match self.side() {
            Side::Server(client) => client.get(&format!("/v1/eval-runs/{}", encoded(id.as_str()))),
            Side::Data(store, org) => {
                let found = ask(store.eval_run(org, id))?;
                found.map(|run| shown(&EvalRunView::of(&run))).ok_or_else(|| unknown(id))
            }
        }
    }

    /// Returns the newest runs.
    fn list(&self, status: Option<EvalStatus>, limit: u32) -> Result<Value, Failure> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        match self.side() {
            Side::Server(client) => {
                let filter = status.map(|status| format!("&status={}", status.name())).unwrap_or_default();
                pages(client, &format!("/v1/eval-runs?limit={}{filter}", limit.min(PAGE)), limit)
                    .map(Value::from)
            }
            Side::Data(store, org) => {
                let query = EvalRunQuery { status, limit, ..EvalRunQuery::default() };
                let page = ask(store.eval_runs(org, query))?;
                Ok(page.runs.iter().map(|run| shown(&EvalRunView::of(run))).collect())
            }
        }
    }

    /// Returns all results of a run, sorted by session.
    fn scores(&self, id: &EvalRunId) -> Result<Vec<Value>, Failure> {
        match self.side() {
            Side::Server(client) => {
                let path = format!("/v1/eval-runs/{}/scores?limit={PAGE}", encoded(id.as_str()));
                pages(client, &path, usize::MAX)
            }
            Side::Data(store, org) => {
                let (mut all, mut after) = (Vec::new(), None);
                loop {
                    let query = EvalResultQuery { state: None, after, limit: PAGE };
                    let page = ask(store.eval_results(org, id, query))?.ok_or_else(|| unknown(id))?;
                    all.extend(page.results.iter().map(|result| shown(&EvalScoreView::of(result))));
                    match page.next {
                        Some(next) => after = Some(next),
                        None => return Ok(all),
                    }
                }
            }
        }
    }

    /// Cancels or retries a run. On a data directory, carries out what is left.
    fn change(&self, id: &EvalRunId, change: EvalChange, quiet: bool) -> Result<Value, Failure> {
        let (Self::Server(client), word) = (self, verb(change)) else {
            return self.change_here(id, change, quiet);
        };
        let _: Value = client.post(&format!("/v1/eval-runs/{}/{word}", encoded(id.as_str())), &json!({}))?;
        self.run(id)
    }

    fn change_here(&self, id: &EvalRunId, change: EvalChange, quiet: bool) -> Result<Value, Failure> {
        let Self::Store(store, org) = self else { return Err(unknown(id)) };
        match ask(store.change_eval_run(org, id, change, None))?.fresh() {
            Some(EvalChanged::Changed(run)) => self.finish(&shown(&EvalRunView::of(&run)), quiet),
            Some(EvalChanged::Refused(status)) => {
                let error = format!("cannot {} an eval run that is {}", verb(change), status.name());
                Err(Failure::new(error).hint("`renown eval show ID` shows its state and its failed sessions"))
            }
            Some(EvalChanged::Unknown) | None => Err(unknown(id)),
        }
    }
}

/// What answers questions about eval runs.
enum Side<'r> {
    Server(&'r Client),
    Data(&'r dyn Reads, &'r OrgId),
}

fn verb(change: EvalChange) -> &'static str {
    match change {
        EvalChange::Cancel => "cancel",
        EvalChange::Retry => "retry",
    }
}

fn unknown(id: &EvalRunId) -> Failure {
    Failure::new(format!("there is no eval run {:?}", id.as_str())).hint("`renown eval list` lists them")
}

/// Reads pages of a list until there are enough rows, or no more.
fn pages(client: &Client, path: &str, limit: usize) -> Result<Vec<Value>, Failure> {
    let (mut rows, mut cursor) = (Vec::new(), String::new());
    while rows.len() < limit {
        let mut page: Value = client.get(&format!("{path}{cursor}"))?;
        if let Some(Value::Array(data)) = page.get_mut("data").map(Value::take) {
            rows.extend(data);
        }
        match page.get("next_cursor").and_then(Value::as_str) {
            Some(next) => cursor = format!("&cursor={}", encoded(next)),
            None => break,
        }
    }
    rows.truncate(limit);
    Ok(rows)
}

/// Returns the body of the request for a run.
fn request(args: &EvalRunArgs) -> Value {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| _ = body.insert(name.to_owned(), value);
    if let Some(name) = &args.name {
        put("name", json!(name));
    }
    if !args.metrics.is_empty() {
        put("metrics", json!(args.metrics));
    }
    if args.sessions.is_empty() {
        let filter = [
            ("agent_id", args.agent.as_ref().map(|agent| json!(agent))),
            ("from", args.from.map(|from| json!(from))),
            ("to", args.to.map(|to| json!(to))),
            ("min_traces", args.min_traces.map(|count| json!(count))),
        ];
        put(
            "filter",
            filter.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect(),
        );
    } else {
        put("session_ids", json!(args.sessions));
    }
    if let Some(sample) = args.sample {
        put("sampling_rate", json!(sample));
    }
    for (name, settings) in [("signal_weights", &args.weights), ("thresholds", &args.thresholds)] {
        if !settings.is_empty() {
            put(name, settings.iter().map(|(name, number)| (name.clone(), json!(number))).collect());
        }
    }
    Value::Object(body)
}

/// Checks a run for the data directory, with the rules of the API.
fn new_run(args: &EvalRunArgs, body: &Value) -> Result<NewEvalRun, Failure> {
    let part = |name: &str| body.get(name).map(|value| (name.to_owned(), value.clone()));
    let settings: Map<String, Value> =
        ["metrics", "sampling_rate", "signal_weights", "thresholds"].into_iter().filter_map(part).collect();
    let sent: SentSettings = json::parse(Value::Object(settings).to_string().as_bytes())
        .map_err(|error| Failure::new(error.to_string()))?;
    let no_randomness = |error| Failure::new(format!("no random numbers: {error}"));
    let random = || getrandom::u64().map_err(no_randomness);
    let millis = u64::try_from(store_location::now()?.millis()).unwrap_or_default();
    if let Some(name) = args.name.as_ref().filter(|name| !(1..=200).contains(&name.chars().count())) {
        let found = Found::quoted(name);
        return Err(Failure::new(format!("--name: {found}, expected 1 to 200 characters")));
    }
    Ok(NewEvalRun {
        id: EvalRunId::made(millis, u128::from(random()?) << 64 | u128::from(random()?)),
        name: args.name.clone(),
        settings: sent.try_into().map_err(|error| Failure::new(format!("{error}")))?,
        targets: if args.sessions.is_empty() {
            EvalTargets::Filter(EvalFilter {
                agent: args.agent.clone(),
                from: args.from,
                to: args.to,
                min_traces: args.min_traces.unwrap_or_default().into(),
            })
        } else {
            let mut sessions = args.sessions.clone();
            sessions.sort_unstable();
            sessions.dedup();
            EvalTargets::Sessions(sessions)
        },
        seed: random()?,
    })
}

/// Returns a text of a reply.
fn field<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the score of a metric in a result; `None` if there was nothing to evaluate.
fn score(result: &Value, metric: &str) -> Option<f64> {
    let metric = result.get("metrics")?.get(metric)?;
    metric.get("score").filter(|_| metric.get("evaluable") == Some(&Value::Bool(true)))?.as_f64()
}

/// Returns the sessions with the lowest scores, and those that failed, the worst first.
fn worst(scores: &[Value]) -> Value {
    let lowest = |result: &Value| {
        let all = ["agent_reliability", "agent_consistency"].map(|metric| score(result, metric));
        all.into_iter().flatten().min_by(f64::total_cmp)
    };
    let is_bad =
        |result: &&Value| field(result, "status") == "failed" || lowest(result).is_some_and(|low| low < 1.0);
    let mut bad: Vec<&Value> = scores.iter().filter(is_bad).collect();
    bad.sort_by(|a, b| lowest(a).unwrap_or(-1.0).total_cmp(&lowest(b).unwrap_or(-1.0)));
    bad.into_iter().take(WORST).cloned().collect()
}

/// Formats a run for people.
fn card(run: &Value) -> String {
    let count = |name: &str| run.pointer(&format!("/progress/{name}")).and_then(Value::as_u64).unwrap_or(0);
    let name = run.get("name").and_then(Value::as_str).map(|name| format!("  {}", printable(name)));
    let mut card = format!(
        "{}  {}{}\n{} of {} sessions: {} scored, {} failed, {} left out\n",
        field(run, "eval_run_id"),
        field(run, "status"),
        name.unwrap_or_default(),
        count("done"),
        count("targets"),
        count("scored"),
        count("failed"),
        count("skipped"),
    );
    if let Some(error) = run.get("error").and_then(Value::as_str) {
        let _ = writeln!(card, "error: {}", printable(error));
    }
    let number = |value: Option<&Value>| match value {
        None | Some(Value::Null) => NOTHING.to_owned(),
        Some(value) => value.to_string(),
    };
    let summary = run.get("summary").and_then(Value::as_array).cloned().unwrap_or_default();
    let rows: Vec<[String; 4]> = summary
        .iter()
        .map(|metric| {
            let part = |name: &str| number(metric.get(name));
            [field(metric, "name").to_owned(), part("mean"), part("passed"), part("evaluated")]
        })
        .collect();
    card += &table([left("METRIC"), right("MEAN"), right("PASSED"), right("EVALUATED")], &rows);
    let worst = run.get("worst").and_then(Value::as_array).cloned().unwrap_or_default();
    if !worst.is_empty() {
        let rows: Vec<[String; 5]> = worst.iter().map(worst_row).collect();
        let head = [
            left("WORST SESSIONS").cut_to(36),
            left("AGENT").cut_to(12),
            right("RELIABILITY"),
            right("CONSISTENCY"),
            left("ERROR"),
        ];
        card += "\n";
        card += &fitted(head, &rows, terminal_width());
    }
    card
}

fn worst_row(result: &Value) -> [String; 5] {
    let text = |name: &str| match result.get(name).and_then(Value::as_str) {
        Some(text) => printable(text),
        None => NOTHING.to_owned(),
    };
    let number =
        |metric| score(result, metric).map_or_else(|| NOTHING.to_owned(), |score| format!("{score:.4}"));
    [
        text("session_id"),
        text("agent_id"),
        number("agent_reliability"),
        number("agent_consistency"),
        text("error"),
    ]
}

fn listed(runs: &Value) -> String {
    let rows: Vec<[String; 7]> = runs.as_array().into_iter().flatten().map(list_row).collect();
    if rows.is_empty() {
        return "no eval runs yet\n".to_owned();
    }
    let head = [
        left("EVAL RUN"),
        left("NAME").cut_to(12),
        left("STATUS"),
        right("SESSIONS"),
        right("RELIABILITY"),
        right("CONSISTENCY"),
        left("CREATED (UTC)"),
    ];
    fitted(head, &rows, terminal_width())
}

fn list_row(run: &Value) -> [String; 7] {
    let mean = |metric: &str| {
        let summary = run.get("summary").and_then(Value::as_array);
        let found = summary.into_iter().flatten().find(|found| field(found, "name") == metric);
        let mean = found.and_then(|found| found.get("mean")).filter(|mean| !mean.is_null());
        mean.map_or_else(|| NOTHING.to_owned(), ToString::to_string)
    };
    let name = run.get("name").and_then(Value::as_str).map_or_else(|| NOTHING.to_owned(), printable);
    let scored = run.pointer("/progress/scored").map_or_else(|| NOTHING.to_owned(), ToString::to_string);
    [
        field(run, "eval_run_id").to_owned(),
        name,
        field(run, "status").to_owned(),
        scored,
        mean("agent_reliability"),
        mean("agent_consistency"),
        minute(field(run, "created_at")),
    ]
}
