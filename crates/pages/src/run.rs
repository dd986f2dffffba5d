//! `/runs/{run_id}`: one run, its scorecard, and the explanation of the score.

use askama::Template;
use renown_core::explain::{Component, Explanation};
use renown_core::scorecard::{RunOutcome, Tier};
use renown_core::units::Whole;
use renown_view::RunView;
use serde_json::Value;

use crate::lists::{self, Name};
use crate::specs::Link;
use crate::text::{self, Form};
use crate::{Shell, units};

/// Maximum number of stages.
const STAGES_SHOWN: usize = 100;

/// Maximum number of attributes.
const ATTRIBUTES_SHOWN: usize = 50;

/// Maximum number of characters of an attribute's value.
const VALUE_SHOWN: usize = 300;

/// The content of the page.
pub struct RunPage<'a> {
    /// Run.
    pub run: &'a RunView<'a>,
    /// Contribution of each axis. `None` if the run has no score, or one of another formula version.
    pub explanation: Option<Explanation>,
}

/// Renders the page.
pub fn render(shell: &Shell<'_>, page: &RunPage<'_>) -> askama::Result<String> {
    let axes: Vec<Axis> = page
        .explanation
        .iter()
        .flat_map(|found| &found.components)
        .map(|part| Axis::of(part, page.run))
        .collect();
    let lead = lead(page, &axes);
    View {
        shell,
        run: page.run,
        agent: Name::below("/agents", page.run.score.agent_id.as_str()),
        lead,
        axes,
        stages: stages(page.run),
        resources: resources(page.run),
        attributes: attributes(page.run),
        pull_request: page.run.pull_request.map(Link::of),
    }
    .render()
}

#[derive(Template)]
#[template(path = "run.html")]
struct View<'a> {
    shell: &'a Shell<'a>,
    run: &'a RunView<'a>,
    agent: Name,
    lead: String,
    axes: Vec<Axis>,
    stages: Stages,
    resources: Vec<(&'static str, String)>,
    attributes: (Vec<(String, String)>, usize),
    pull_request: Option<Link<'a>>,
}

impl View<'_> {
    /// Returns the headline: the tier and the outcome.
    fn answer(&self) -> String {
        let outcome = match self.run.outcome {
            RunOutcome::Completed => "the work was done",
            RunOutcome::Blocked => "only a part of the work was done",
            RunOutcome::Failed => "there is no usable result",
        };
        match self.run.score.tier {
            Tier::Unranked => text::sentence(outcome),
            tier @ (Tier::Bronze | Tier::Silver | Tier::Gold | Tier::Elite) => {
                format!("{}: {outcome}", tier.name())
            }
        }
    }

    fn spec(&self) -> Option<Name> {
        self.run.score.spec_id.map(|spec| Name::below("/specs", spec.as_str()))
    }

    /// Returns the address of the list of runs in the same workspace.
    fn workspace(&self) -> String {
        lists::address("/runs", &[("workspace", self.run.score.workspace.as_str())])
    }

    /// Returns the distance to the next tier, in words.
    fn to_next(&self) -> String {
        let Some(score) = self.run.score.score else { return String::new() };
        let next = Tier::ALL.into_iter().find(|tier| *tier > self.run.score.tier);
        let from = (score..=100).find(|score| Some(Tier::of(*score)) == next);
        match (next, from) {
            (Some(next), Some(from)) => {
                let points = text::plural(u64::from(from - score), "point", "points");
                format!("{points} more would be {}", next.name())
            }
            _ => "There is no higher tier".to_owned(),
        }
    }
}

/// Returns a sentence about the axis that lost most points, and about axes that were not measured.
fn lead(page: &RunPage<'_>, axes: &[Axis]) -> String {
    if page.run.score.score.is_none() {
        return "Scoring failed with an internal error, so there is no score. renown verify --repair scores it again."
            .to_owned();
    }
    let worst = axes.iter().filter(|axis| axis.lost_units > 0).max_by_key(|axis| axis.lost_units);
    let lost = worst.map_or("No points were lost.".to_owned(), |axis| {
        format!("Most points were lost on {}: {} of {}.", axis.name.to_lowercase(), axis.lost, axis.most)
    });
    let lost = if page.run.score.coverage.outcome_is_unsupported {
        format!("{lost} Only the run itself supports its outcome: it reported no stages and names no spec.")
    } else {
        lost
    };
    match page.run.score.defaulted.len() {
        0 => lost,
        1 => format!("{lost} One axis could not be measured and counts as 50."),
        count => {
            let count = text::sentence(&text::count_word(count));
            format!("{lost} {count} axes could not be measured and count as 50 each.")
        }
    }
}

/// An axis of the score.
struct Axis {
    name: String,
    value: u64,
    weight: String,
    points: String,
    most: String,
    lost: String,
    lost_units: i128,
    defaulted: bool,
    fact: String,
}

impl Axis {
    fn of(part: &Component, run: &RunView<'_>) -> Self {
        let number = |name: &str| part.inputs.get(name).and_then(Value::as_u64);
        let defaulted = part.inputs.get("defaulted").and_then(Value::as_bool).unwrap_or(false);
        let most = part.points_max.unwrap_or(part.points);
        let lost = part.points_lost.unwrap_or_default();
        Self {
            name: text::sentence(&part.name.replace('_', " ")),
            value: number("axis").unwrap_or(0),
            // The maximum points of an axis, out of 100, are its weight in percent.
            weight: text::cut(most, 0),
            points: text::cut(part.points, 1),
            most: text::cut(most, 0),
            lost: text::cut(lost, 1),
            lost_units: lost.units(),
            defaulted,
            fact: fact(part.name, &number, run),
        }
    }
}

/// Describes the evidence of an axis in words.
fn fact(axis: &str, number: &dyn Fn(&str) -> Option<u64>, run: &RunView<'_>) -> String {
    match axis {
        "completion" => format!(
            "the run {}",
            match run.outcome {
                RunOutcome::Completed => "completed, which earns 100",
                RunOutcome::Blocked => "was blocked, which earns 30",
                RunOutcome::Failed => "failed, which earns nothing",
            }
        ),
        "error_rate" => match (number("first_try_stages"), number("stages")) {
            (Some(first), Some(all @ 1..)) => {
                format!("{first} of {} passed at the first attempt", text::plural(all, "stage", "stages"))
            }
            (_, Some(0)) => "no stage was executed".to_owned(),
            _ => "no stages were reported".to_owned(),
        },
        "latency" => latency(run),
        _ => efficiency(run),
    }
}

fn latency(run: &RunView<'_>) -> String {
    let runs = run.score.baseline.map_or(0, |baseline| baseline.runs);
    let median = run.score.baseline.and_then(|baseline| baseline.p50_ms);
    let (wall, median) = match (run.wall_ms, median) {
        (None, _) => return "no wall time was reported".to_owned(),
        (_, None) => {
            return "there is no earlier completed run with a wall time in this workspace".to_owned();
        }
        (_, Some(median)) if median.units() == 0 => {
            return "the median of the earlier runs is 0 ms".to_owned();
        }
        (Some(wall), Some(median)) => (wall, median),
    };
    format!(
        "{} against a median of {} over {}; half the median earns 100, the median 80, three times the median 0",
        units::duration(wall),
        units::duration(units::whole_ms(median)),
        text::plural(runs as u64, "run", "runs")
    )
}

fn efficiency(run: &RunView<'_>) -> String {
    let resources = &run.resources;
    let both = |part: Option<Whole>, whole: Option<Whole>| {
        Some((part?.get(), whole.map(Whole::get).filter(|whole| *whole > 0)?))
    };
    let memory = both(resources.memory_peak_bytes, resources.memory_limit_bytes)
        .map(|(peak, limit)| format!("{} of {} memory", units::bytes(peak), units::bytes(limit)));
    let periods = both(resources.cpu_throttled_periods, resources.cpu_periods).map(|(throttled, periods)| {
        format!("throttled in {} of {} CPU periods", text::whole(throttled), text::whole(periods))
    });
    let wall = run.wall_ms.and_then(Whole::new);
    let time = || {
        both(resources.cpu_throttled_ms, wall).map(|(throttled, wall)| {
            format!("throttled for {} of {}", units::duration(throttled), units::duration(wall))
        })
    };
    match (memory, periods.or_else(time)) {
        (Some(memory), Some(cpu)) => format!("{memory}, {cpu}"),
        (Some(memory), None) => {
            format!("{memory}; CPU throttling was not reported, so that half counts as 50")
        }
        (None, Some(cpu)) => format!("{cpu}; memory was not reported, so that half counts as 50"),
        (None, None) => "neither a memory limit nor CPU throttling was reported".to_owned(),
    }
}

/// The stages of a run.
#[derive(Default)]
struct Stages {
    rows: Vec<Stage>,
    left_out: usize,
    /// Whether stages were sent.
    known: bool,
}

struct Stage {
    name: String,
    passed: bool,
    attempts: u64,
}

fn stages(run: &RunView<'_>) -> Stages {
    let sent = run.stages.and_then(|stages| serde_json::from_str::<Vec<Value>>(stages.get()).ok());
    let Some(sent) = sent else { return Stages::default() };
    let stage = |stage: &Value| Stage {
        name: lists::shortened(stage.get("name").and_then(Value::as_str).unwrap_or("–"), 100),
        passed: stage.get("passed").and_then(Value::as_bool).unwrap_or(false),
        attempts: stage.get("attempts").and_then(Value::as_u64).unwrap_or(1),
    };
    Stages {
        rows: sent.iter().take(STAGES_SHOWN).map(stage).collect(),
        left_out: sent.len().saturating_sub(STAGES_SHOWN),
        known: true,
    }
}

/// Returns the reported resources.
fn resources(run: &RunView<'_>) -> Vec<(&'static str, String)> {
    let resources = &run.resources;
    let bytes = |value: Option<Whole>| value.map(|value| units::bytes(value.get()));
    let count = |value: Option<Whole>| value.map(|value| text::whole(value.get()));
    [
        ("Peak memory", bytes(resources.memory_peak_bytes)),
        ("Memory limit", bytes(resources.memory_limit_bytes)),
        ("CPU periods", count(resources.cpu_periods)),
        ("Throttled CPU periods", count(resources.cpu_throttled_periods)),
        ("Throttled time", resources.cpu_throttled_ms.map(|ms| units::duration(ms.get()))),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// Returns the attributes, and the number of attributes that are not shown.
fn attributes(run: &RunView<'_>) -> (Vec<(String, String)>, usize) {
    let sent = run
        .attributes
        .and_then(|sent| serde_json::from_str::<serde_json::Map<String, Value>>(sent.get()).ok())
        .unwrap_or_default();
    let shown = |value: &Value| match value {
        Value::String(text) => lists::shortened(text, VALUE_SHOWN),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            lists::shortened(&value.to_string(), VALUE_SHOWN)
        }
    };
    let left_out = sent.len().saturating_sub(ATTRIBUTES_SHOWN);
    let rows = sent.iter().take(ATTRIBUTES_SHOWN);
    (rows.map(|(name, value)| (lists::shortened(name, 100), shown(value))).collect(), left_out)
}
