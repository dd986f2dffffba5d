//! `renown runs`: scores, shows and compares finished runs, in the data directory or through a server.

use std::fmt::Write as _;
use std::io::{self, BufReader, Read, Write};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use renown_core::ids::{OrgId, RunId, SpecId};
use renown_core::json;
use renown_core::scorecard::Submission;
use renown_server::runs::digest;
use renown_store::{LockHolder, NewRun, OpenError, ReadOnlyStore, RunQuery, Store, Submitted};
use renown_view::runs::Competition;
use renown_view::{RunView, ScoreView};
use serde::Serialize;
use serde_json::Value;

use crate::args::{RunsArgs, RunsCommand, RunsFilter, RunsTarget, TextFormatArg};
use crate::client::{Client, encoded};
use crate::failure::{self, BAD_INPUT, Failure, printable};
use crate::input_file::InputFile;
use crate::inputs::{Input, Inputs, Text};
use crate::store_location::{self, StoreLocation, ask};
use crate::table::{NOTHING, fitted, left, minute, right, table, terminal_width};
use crate::{print, printed};

const PURPOSE: &str = "renown runs";

/// Maximum wait for a store that another command holds. Submitting a run takes only a moment.
const HELD_MAX: Duration = Duration::from_secs(5);

pub(crate) fn run(args: &RunsArgs) -> Result<ExitCode, Failure> {
    let (value, target, as_text): (Value, _, fn(&Value) -> String) = match &args.command {
        RunsCommand::Submit { file, target } => return submit(InputFile::open(file, "JSON")?, target),
        RunsCommand::Show { run, target } => (show(run, target)?, target, scorecard),
        RunsCommand::List { filter, limit, target } => (list(filter, *limit, target)?, target, listed),
        RunsCommand::Compare { spec, target } => (compare(spec, target)?, target, ranking),
    };
    let text = match target.format {
        TextFormatArg::Json => format!("{value:#}\n"),
        TextFormatArg::Text => as_text(&value),
    };
    print(&text)
}

/// The destination of submitted runs.
pub(crate) enum Destination {
    Server(Client),
    Store(Box<dyn Store>, OrgId),
}

/// Checks, before a run starts, that it can be submitted. An unreachable server is no error: it may be back when the run ends.
pub(crate) fn check(target: &RunsTarget, run: Option<&RunId>) -> Result<(), Failure> {
    let is_taken = if let Some(client) = Client::of(&target.server)? {
        let score = run.map(|run| format!("/v1/runs/{}/score", encoded(run.as_str())));
        score.map(|path| client.has(&path)).transpose()?
    } else {
        let location = target.location.resolve()?;
        // Fails now if a server holds the directory.
        drop(open_when_free(&location)?);
        let run = run.cloned().map_or_else(new_id, Ok)?;
        let found = ask(location.read()?.run(&target.org, &run))?;
        Some(found.is_some())
    };
    match run {
        Some(run) if is_taken == Some(true) => Err(Failure::new(format!(
            "run_id: {:?} is the id of another run, expected a new id",
            run.as_str()
        ))),
        _ => Ok(()),
    }
}

/// Opens a store for writing, and waits while another command holds it. Fails at once if a server holds it.
fn open_when_free(location: &StoreLocation) -> Result<Box<dyn Store>, Failure> {
    let started = Instant::now();
    loop {
        let mut is_held = false;
        let opened = location.write_or(PURPOSE, |error| {
            is_held =
                matches!(error, OpenError::InUse { holder, .. } if !matches!(holder, LockHolder::Server(_)));
            store_location::failure(error)
        });
        if !is_held || started.elapsed() >= HELD_MAX {
            return opened;
        }
        #[expect(clippy::disallowed_methods, reason = "the release of a file lock sends no event")]
        thread::sleep(Duration::from_millis(20));
    }
}

impl Destination {
    pub(crate) fn of(target: &RunsTarget) -> Result<Self, Failure> {
        Ok(match Client::of(&target.server)? {
            Some(client) => Self::Server(client),
            None => Self::Store(open_when_free(&target.location.resolve()?)?, target.org.clone()),
        })
    }

    /// Submits a run. Returns its scorecard.
    pub(crate) fn submit(&self, text: &[u8]) -> Result<Value, Failure> {
        let submission: Submission = json::parse(text).map_err(|error| Failure::new(error.to_string()))?;
        match self {
            Self::Server(client) => client.post_text("/v1/runs", text),
            Self::Store(store, org) => {
                let id = submission.run.clone().map_or_else(new_id, Ok)?;
                let new = NewRun { id: id.clone(), submission, digest: digest(text) };
                let submitted = ask(store.add_run(org, new, None))?;
                match submitted.fresh() {
                    Some(Submitted::New(run) | Submitted::Repeated(run)) => Ok(shown(&ScoreView::of(&run))),
                    Some(Submitted::Conflict) | None => Err(Failure::new(format!(
                        "run_id: {:?} is the id of another run, with different content",
                        id.as_str()
                    ))),
                }
            }
        }
    }
}

/// Returns a new run id.
pub(crate) fn new_id() -> Result<RunId, Failure> {
    let no_randomness = |error| Failure::new(format!("no random numbers: {error}"));
    let (high, low) = (getrandom::u64().map_err(no_randomness)?, getrandom::u64().map_err(no_randomness)?);
    let millis = u64::try_from(store_location::now()?.millis()).unwrap_or_default();
    Ok(RunId::made(millis, u128::from(high) << 64 | u128::from(low)))
}

/// Submits every run of a file. A rejected run does not stop the others.
fn submit(input: InputFile, target: &RunsTarget) -> Result<ExitCode, Failure> {
    let InputFile { name, file, .. } = input;
    let unreadable = |error: io::Error| Failure::new(format!("{name}: {error}"));
    let destination = Destination::of(target)?;
    let mut inputs = Inputs::new(BufReader::new(Box::new(file) as Box<dyn Read>)).map_err(unreadable)?;
    let (mut out, mut unprinted, mut is_bad, mut count) = (io::stdout().lock(), None, false, 0);
    while let Some(Input { position, text }) = inputs.next().map_err(unreadable)? {
        count += 1;
        let submitted = match text {
            Text::TooLong => Err(Failure::new("longer than 64 MiB")),
            Text::Whole(text) => destination.submit(&text),
        };
        let answer = match (submitted, target.format) {
            (Ok(score), TextFormatArg::Text) => scorecard(&score),
            (Ok(score), TextFormatArg::Json) => format!("{score}\n"),
            (Err(refused), _) => {
                is_bad = true;
                failure::print(&refused.within(&format!("{name}, line {}", position.line)));
                continue;
            }
        };
        // The remaining runs are scored even if the reader of standard output is gone.
        if unprinted.is_none() {
            unprinted = out.write_all(answer.as_bytes()).and_then(|()| out.flush()).err();
        }
    }
    if count == 0 {
        return Err(Failure::new(format!("{name}: empty, expected a run as JSON")).hint(
            r#"echo '{"agent_id":"me","outcome":"completed","wall_ms":61000}' | renown runs submit -"#,
        ));
    }
    if is_bad { Ok(ExitCode::from(BAD_INPUT)) } else { printed(unprinted.map_or(Ok(()), Err)) }
}

fn reader(target: &RunsTarget) -> Result<Box<dyn ReadOnlyStore>, Failure> {
    target.location.resolve()?.read()
}

fn show(run: &RunId, target: &RunsTarget) -> Result<Value, Failure> {
    if let Some(client) = Client::of(&target.server)? {
        return client.get(&format!("/v1/runs/{}", encoded(run.as_str())));
    }
    let found = ask(reader(target)?.run(&target.org, run))?;
    let missing = || Failure::new(format!("no run {:?} in {}", run.as_str(), target.org));
    found.map(|run| shown(&RunView::of(&run))).ok_or_else(|| missing().hint("`renown runs list` lists them"))
}

fn list(filter: &RunsFilter, limit: u32, target: &RunsTarget) -> Result<Value, Failure> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let Some(client) = Client::of(&target.server)? else {
        let query = RunQuery {
            agent: filter.agent.clone(),
            workspace: filter.workspace.clone(),
            spec: filter.spec.clone(),
            tier: filter.tier,
            from: filter.from,
            to: filter.to,
            limit,
            ..RunQuery::default()
        };
        let page = ask(reader(target)?.runs(&target.org, query))?;
        return Ok(page.runs.iter().map(|run| shown(&RunView::of(run))).collect());
    };
    let filters = [
        ("agent_id", filter.agent.as_ref().map(ToString::to_string)),
        ("workspace", filter.workspace.as_ref().map(ToString::to_string)),
        ("spec_id", filter.spec.as_ref().map(ToString::to_string)),
        ("tier", filter.tier.map(|tier| tier.name().to_owned())),
        ("from", filter.from.as_ref().map(ToString::to_string)),
        ("to", filter.to.as_ref().map(ToString::to_string)),
    ];
    let filters =
        filters.into_iter().filter_map(|(name, value)| Some(format!("&{name}={}", encoded(&value?))));
    let filters: String = filters.collect();
    let (mut runs, mut cursor): (Vec<Value>, String) = (Vec::new(), String::new());
    while runs.len() < limit {
        let count = (limit - runs.len()).min(100);
        let mut page: Value = client.get(&format!("/v1/runs?limit={count}{filters}{cursor}"))?;
        if let Some(Value::Array(data)) = page.get_mut("data").map(Value::take) {
            runs.extend(data);
        }
        match page.get("next_cursor").and_then(Value::as_str) {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    Ok(runs.into())
}

fn compare(spec: &SpecId, target: &RunsTarget) -> Result<Value, Failure> {
    if let Some(client) = Client::of(&target.server)? {
        return client.get(&format!("/v1/specs/{}/competition", encoded(spec.as_str())));
    }
    let ranked = ask(reader(target)?.competition(&target.org, spec))?;
    Ok(shown(&Competition::of(spec, &ranked)))
}

/// Converts a view to the JSON of the API.
pub(crate) fn shown(view: &impl Serialize) -> Value {
    serde_json::to_value(view).unwrap_or_default()
}

/// Returns a field of a reply as printable text.
fn text(value: &Value, name: &str) -> String {
    match value.get(name) {
        Some(Value::String(text)) => printable(text),
        None | Some(Value::Null) => NOTHING.to_owned(),
        Some(other) => other.to_string(),
    }
}

/// Formats a scorecard for people.
pub(crate) fn scorecard(run: &Value) -> String {
    let mut card = format!(
        "{}  {}  {}  by {} in {}\n",
        text(run, "run_id"),
        text(run, "score"),
        text(run, "tier"),
        text(run, "agent_id"),
        text(run, "workspace"),
    );
    let defaulted = run.get("defaulted").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(axes) = run.get("axes").filter(|axes| axes.is_object()) {
        let row = |name: &str, weight: &str, note: String| {
            let is_default = defaulted.iter().any(|axis| axis == name);
            let note = if is_default { "no evidence, counts as 50".to_owned() } else { note };
            [name.to_owned(), text(axes, name), weight.to_owned(), note]
        };
        let against = run.get("baseline").map(|baseline| {
            let (p50, runs) = (text(baseline, "p50_ms"), text(baseline, "runs"));
            format!("against {} ms, the median of {runs}", p50.trim_end_matches(".0"))
        });
        card.push_str(&table(
            ["AXIS", "POINTS", "WEIGHT", ""],
            &[
                row("completion", "40 %", String::new()),
                row("error_rate", "30 %", String::new()),
                row("latency", "20 %", against.unwrap_or_default()),
                row("resource_efficiency", "10 %", String::new()),
            ],
        ));
    }
    for warning in run.get("warnings").and_then(Value::as_array).into_iter().flatten() {
        let _ = writeln!(card, "warning: {}", printable(warning.as_str().unwrap_or_default()));
    }
    card
}

/// Formats runs as a table.
pub(crate) fn listed(runs: &Value) -> String {
    let rows: Vec<_> = runs
        .as_array()
        .into_iter()
        .flatten()
        .map(|run| {
            let column = |name| text(run, name);
            [
                column("run_id"),
                column("agent_id"),
                column("score"),
                column("tier"),
                column("outcome"),
                column("spec_id"),
                column("workspace"),
                minute(column("finished_at")),
            ]
        })
        .collect();
    if rows.is_empty() {
        return "no runs yet\n".to_owned();
    }
    let head = [
        left("RUN").cut_to(36),
        left("AGENT").cut_to(12),
        right("SCORE"),
        left("TIER"),
        left("OUTCOME"),
        left("SPEC").cut_to(12),
        left("WORKSPACE").cut_to(9),
        left("FINISHED (UTC)"),
    ];
    fitted(head, &rows, terminal_width())
}

fn ranking(competition: &Value) -> String {
    let rows: Vec<_> = competition
        .get("ranking")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|run| {
            let column = |name| text(run, name);
            [
                column("rank"),
                column("agent_id"),
                column("ranked_score"),
                tie(run),
                column("score"),
                column("tier"),
                column("wall_ms"),
                column("run_id"),
                column("branch"),
                column("pull_request"),
            ]
        })
        .collect();
    if rows.is_empty() {
        return format!("no runs of {} yet\n", text(competition, "spec_id"));
    }
    let head = ["", "AGENT", "RANKED", "TIE", "SCORE", "TIER", "WALL MS", "RUN", "BRANCH", "PULL REQUEST"];
    let winner = match competition.get("winner").and_then(Value::as_str) {
        Some(winner) => format!("winner: {}\n", printable(winner)),
        None => "no winner: the first run did not complete\n".to_owned(),
    };
    table(head, &rows) + &winner + &common_baseline(competition)
}

/// Returns what decided a tie.
fn tie(run: &Value) -> String {
    run.get("tie_decided_by")
        .and_then(Value::as_str)
        .map_or_else(|| NOTHING.to_owned(), |by| by.replace('_', " "))
}

/// Explains the baseline of a ranking.
fn common_baseline(competition: &Value) -> String {
    let p50 = competition.pointer("/baseline/p50_ms").filter(|p50| !p50.is_null());
    match (p50, competition.get("baseline_source").and_then(Value::as_str)) {
        (Some(p50), Some("workspace")) => {
            format!(
                "RANKED compares every run with {p50} ms, the median of the workspace before the first attempt\n"
            )
        }
        (Some(p50), _) => {
            format!(
                "RANKED compares every run with {p50} ms, the median of the agents' shortest completed attempts\n"
            )
        }
        (None, _) => "RANKED has no baseline: no attempt completed with a wall time\n".to_owned(),
    }
}
