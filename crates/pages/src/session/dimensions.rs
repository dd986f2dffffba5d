//! The five dimensions of a performance: value, weight, contribution, and the fact behind each.

use renown_core::decimal::Decimal;
use renown_core::explain::Component;
use renown_view::sessions::{CostSource, SessionReport};

use crate::text;

/// A dimension as a bar.
pub(super) struct Dimension {
    pub(super) name: String,
    /// Value from 0 to 10, with one decimal.
    pub(super) value: Decimal<1>,
    /// Value in percent, for the bar.
    pub(super) percent: i128,
    pub(super) weight: String,
    pub(super) points: String,
    /// Missing evidence, if any.
    pub(super) missing: Option<&'static str>,
    pub(super) fact: String,
}

/// Returns the dimensions of a report, in the order of the formula.
pub(super) fn of(report: &SessionReport<'_>) -> Vec<Dimension> {
    let dimensions = &report.performance.dimensions;
    let values = [
        dimensions.quality,
        dimensions.autonomy,
        dimensions.productivity,
        dimensions.token_efficiency,
        dimensions.cost_efficiency,
    ];
    let explanation = report.performance.explain();
    explanation.components.iter().zip(values).map(|(part, value)| one(part, value, report)).collect()
}

fn one(part: &Component, value: Decimal<1>, report: &SessionReport<'_>) -> Dimension {
    // The maximum points of a dimension, out of ten, are its weight in tenths.
    let weight = Decimal::<6>::from_units(part.points_max.unwrap_or_default().units() * 10);
    let (missing, fact) = fact(part.name, report);
    Dimension {
        name: text::sentence(&part.name.replace('_', " ")),
        value,
        percent: value.units(),
        weight: text::cut(weight, 0),
        points: text::cut(part.points, 3),
        missing,
        fact,
    }
}

/// Returns the missing evidence, and the facts behind the dimension.
fn fact(dimension: &str, report: &SessionReport<'_>) -> (Option<&'static str>, String) {
    const NO_TOOLS: (Option<&str>, &str) = (Some("No tool call was reported"), "");
    let (stats, coverage) = (&report.performance.stats, &report.coverage);
    let lacks = |evidence: &str| coverage.missing.contains(&evidence);
    let some = |evidence: &str| {
        if coverage.partial.contains(&evidence) { "; some calls do not report it" } else { "" }
    };
    let calls = text::plural(stats.total_tools, "tool call", "tool calls");
    let successful = text::plural(stats.tools_ok, "successful call", "successful calls");
    let (missing, said) = match dimension {
        "quality" | "autonomy" | "productivity" if lacks("tools") => NO_TOOLS,
        "autonomy" if lacks("prompts") => (Some("No prompt was reported"), "one is assumed"),
        "token_efficiency" if lacks("tokens") => {
            (Some("No tokens were reported"), "which counts as none from the cache")
        }
        "cost_efficiency" if lacks("cost") => {
            (Some("No cost was reported"), "which counts as no cost and earns all")
        }
        _ => (None, ""),
    };
    if missing.is_some() {
        return (missing, said.to_owned());
    }
    let fact = match dimension {
        "quality" => format!("{} of {calls} succeeded", text::whole(stats.tools_ok)),
        "autonomy" => {
            format!("{calls} for {}; 5 per prompt earn all", text::plural(stats.prompts, "prompt", "prompts"))
        }
        "productivity" => {
            format!("{successful} in {} min; 1 per minute earns all", report.performance.duration)
        }
        "token_efficiency" => format!(
            "{} of {} tokens came from the cache{}",
            text::whole(stats.cache_tokens),
            text::whole(stats.total_tokens),
            some("tokens")
        ),
        _ => {
            let source = match coverage.cost_source {
                CostSource::Priced => ", by your price table",
                CostSource::Mixed => ", partly by your price table",
                CostSource::Reported | CostSource::None => "",
            };
            let cost = text::dollars(stats.total_cost);
            format!("{cost}{source} for {successful}; 10 cents per call earn nothing{}", some("cost"))
        }
    };
    (None, fact)
}
