//! The evidence of a session: received, derived, missing, and counted without effect.

use renown_core::session_metrics::Source;

use super::{SessionPage, turns};
use crate::lists::listed;
use crate::text;

/// Maximum number of traces that are named for a missing signal.
const NAMED: usize = 4;

const SIGNALS: [&str; 4] = ["confidence", "loop_detection", "tool_correctness", "coherence"];

/// The evidence of a session. Each field is a sentence without its full stop, or empty.
pub(super) struct Evidence {
    pub(super) received: String,
    pub(super) derived: String,
    pub(super) missing: String,
    pub(super) also: String,
}

impl Evidence {
    pub(super) fn of(page: &SessionPage<'_>) -> Self {
        Self { received: received(page), derived: derived(page), missing: missing(page), also: also(page) }
    }
}

fn received(page: &SessionPage<'_>) -> String {
    let report = page.detail.session.performance.as_ref();
    let mut parts: Vec<String> = report
        .map(|report| {
            let partial = |name: &&str| report.coverage.partial.contains(name);
            let part = |name: &&str| {
                if partial(name) { format!("{name} of some calls") } else { (*name).to_owned() }
            };
            report.coverage.present.iter().map(part).collect()
        })
        .unwrap_or_default();
    let sent = page
        .detail
        .traces
        .iter()
        .filter(|trace| trace.source.is_some_and(|source| source != Source::Derived));
    let sent = sent.filter(|trace| !trace.signals.is_empty()).count() as u64;
    if sent > 0 {
        parts.push(format!("signals of {}", text::plural(sent, "trace", "traces")));
    }
    listed(&parts)
}

fn derived(page: &SessionPage<'_>) -> String {
    let is_derived = |source: Option<Source>| matches!(source, Some(Source::Derived | Source::Mixed));
    let derived: Vec<_> = page.detail.traces.iter().filter(|trace| is_derived(trace.source)).collect();
    let has = |name: &&&str| derived.iter().any(|trace| trace.signals.contains_key(**name));
    let names: Vec<String> =
        ["loop_detection", "tool_correctness"].iter().filter(has).map(|name| (*name).to_owned()).collect();
    if names.is_empty() { String::new() } else { format!("{}, from the tool calls", listed(&names)) }
}

fn missing(page: &SessionPage<'_>) -> String {
    let report = page.detail.session.performance.as_ref();
    let mut parts: Vec<String> = match report {
        Some(report) => report.coverage.missing.iter().map(|name| (*name).to_owned()).collect(),
        None => vec!["telemetry".to_owned()],
    };
    let traces = &page.detail.traces;
    let without = |name: &str| -> Vec<&str> {
        let without = traces.iter().filter(|trace| !trace.signals.contains_key(name));
        without.map(|trace| trace.trace_id.as_str()).collect()
    };
    let (nowhere, some): (Vec<&str>, Vec<&str>) =
        SIGNALS.into_iter().partition(|name| without(name).len() == traces.len());
    match nowhere.len() {
        _ if traces.is_empty() => {}
        0 => {}
        count if count == SIGNALS.len() => parts.push("all signals of its traces".to_owned()),
        _ => parts.push(format!("{} in every trace", nowhere.join(" and "))),
    }
    for name in some {
        match without(name) {
            traces if traces.is_empty() => {}
            few if few.len() <= NAMED => {
                let named: Vec<String> = few.iter().map(|trace| turns::label(page, trace)).collect();
                parts.push(format!("{name} in {}", listed(&named)));
            }
            many => parts.push(format!("{name} in {} of {} traces", many.len(), traces.len())),
        }
    }
    if traces.is_empty() {
        parts.push("trace signals".to_owned());
    }
    if report.is_some_and(|report| report.signals.feedback.is_none()) {
        parts.push("user feedback".to_owned());
    }
    listed(&parts)
}

fn also(page: &SessionPage<'_>) -> String {
    let Some(report) = &page.detail.session.performance else { return String::new() };
    let counts = &report.signals;
    let by_user = match counts.rejects_by_user {
        0 => String::new(),
        all if all == counts.rejects => " by the user".to_owned(),
        some => format!(", {} by the user", text::whole(some)),
    };
    let counted = [
        (counts.api_errors, "API error", "API errors"),
        (counts.compactions, "compaction", "compactions"),
        (counts.refusals, "model refusal", "model refusals"),
        (counts.accepts, "tool call allowed", "tool calls allowed"),
    ];
    let mut parts: Vec<String> = counted
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| text::plural(count, one, many))
        .collect();
    if counts.rejects > 0 {
        parts.push(format!(
            "{}{by_user}",
            text::plural(counts.rejects, "tool call rejected", "tool calls rejected")
        ));
    }
    match counts.feedback {
        Some(1) => parts.push("good feedback".to_owned()),
        Some(-1) => parts.push("bad feedback".to_owned()),
        Some(_) => parts.push("neutral feedback".to_owned()),
        None => {}
    }
    listed(&parts)
}
