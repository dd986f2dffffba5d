//! Signals that nobody sent, from what happened alone: no model is asked, and no argument or output is looked at.
//!
//! ```text
//! trace            = the facts from one prompt to the next, by time, then sequence; `<session>#0` is what comes before the first
//! tool_correctness = tool calls that succeeded / tool calls
//! loop_detection   = 1 − min(4, max(0, r − 1)) / 4,  r = the longest row of failing calls of one tool, with no other call between
//! ```
//!
//! A trace without a tool call has neither. A call whose success cannot be read did not succeed, and is no failure either.

use std::collections::HashSet;

use renown_core::ids::TraceId;
use renown_core::session_metrics::{Signals, Source, Trace};
use renown_core::time::Timestamp;
use renown_core::units::Unit;

use crate::facts::{Fact, Fingerprint, Signal};
use crate::kept::Kept;

/// A failing call that is repeated so often more counts as the worst loop.
const LOOP_MAX: u32 = 4;

/// The calls between two prompts.
#[derive(Clone, Debug, Default)]
struct Calls {
    all: u32,
    ok: u32,
    longest: u32,
    /// The tool that failed last, and how often in a row.
    row: Option<(Option<Box<str>>, u32)>,
}

impl Calls {
    fn add(&mut self, tool: Option<&str>, ok: Option<bool>) {
        self.all += 1;
        self.ok += u32::from(ok == Some(true));
        self.row = match self.row.take() {
            _ if ok != Some(false) => None,
            Some((last, count)) if last.as_deref() == tool => Some((last, count + 1)),
            _ => Some((tool.map(Box::from), 1)),
        };
        self.longest = self.longest.max(self.row.as_ref().map_or(0, |(_, count)| *count));
    }

    fn signals(&self) -> Signals {
        if self.all == 0 {
            return Signals::default();
        }
        let loops = self.longest.saturating_sub(1).min(LOOP_MAX);
        Signals {
            tool_correctness: share(self.ok, self.all),
            loop_detection: share(LOOP_MAX - loops, LOOP_MAX),
            ..Signals::default()
        }
    }
}

#[expect(clippy::float_arithmetic, reason = "signals are floats")]
fn share(part: u32, whole: u32) -> Option<Unit> {
    Unit::new(f64::from(part) / f64::from(whole)).ok()
}

/// When a fact happened, for the order of a session: what has no time comes last.
type Place = (bool, Option<Timestamp>, Option<u64>);

/// The traces of a session of these records, of which those of the scored signal count; with each, when it began.
pub fn traces<'a>(
    session: &str,
    signal: Signal,
    records: impl IntoIterator<Item = Kept<'a>>,
) -> Vec<(Option<Timestamp>, Trace)> {
    let mut steps: Vec<(Place, Fact<&'a str>)> = Vec::new();
    for Kept { origin, facts } in records.into_iter().filter(|record| record.origin.signal == signal) {
        let place = (origin.at.is_none(), origin.at, origin.sequence);
        let counts = |fact: &Fact<_>| matches!(fact, Fact::Prompt { .. } | Fact::ToolResult { .. });
        steps.extend(facts.into_iter().filter(counts).map(|fact| (place, fact)));
    }
    // Of what happened at once the prompt comes first, and else what arrived first.
    steps.sort_by_key(|(place, fact)| (*place, !matches!(fact, Fact::Prompt { .. })));
    let mut seen: HashSet<Fingerprint> = HashSet::new();
    let mut traces: Vec<(Option<Timestamp>, Calls)> = vec![(None, Calls::default())];
    for ((_, at, _), fact) in steps {
        match fact {
            Fact::Prompt { trace } if trace.is_none_or(|trace| seen.insert(trace)) => {
                traces.push((at, Calls::default()));
            }
            Fact::ToolResult { tool, ok, .. } => {
                if let Some((started_at, calls)) = traces.last_mut() {
                    calls.add(tool, ok);
                    *started_at = started_at.or(at);
                }
            }
            Fact::Prompt { .. }
            | Fact::ApiRequest(_)
            | Fact::ApiError { .. }
            | Fact::ToolDecision { .. }
            | Fact::Feedback { .. }
            | Fact::Compaction { .. }
            | Fact::Refusal => {}
        }
    }
    let before_the_first = traces.first().is_some_and(|(_, calls)| calls.all == 0);
    let traces = traces.into_iter().enumerate().skip(before_the_first.into());
    let named = traces.filter_map(|(number, (started_at, calls))| {
        let trace_id: TraceId = format!("{session}#{number}").parse().ok()?;
        Some((started_at, Trace { trace_id, signals: calls.signals(), source: Some(Source::Derived) }))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Agent;
    use crate::facts::{Origin, Sourced};

    /// A fact at so many seconds, with a sequence number.
    fn kept(seconds: Option<i64>, sequence: u64, fact: Fact<&'static str>) -> Kept<'static> {
        let at = seconds.and_then(|seconds| Timestamp::from_millis(1_790_000_000_000 + 1000 * seconds).ok());
        let origin = Origin {
            session: "s",
            signal: Signal::Logs,
            at,
            until: None,
            sequence: Some(sequence),
            repeat: None,
            agent: Sourced { rank: 0, value: Agent::ClaudeCode },
            agent_id: Sourced { rank: 5, value: "unknown" },
            masque: None,
            known: true,
        };
        Kept { origin, facts: vec![fact] }
    }

    fn call(tool: &'static str, ok: Option<bool>) -> Fact<&'static str> {
        Fact::ToolResult { tool: Some(tool), ok, duration_us: None, error_type: None }
    }

    /// What the traces are called, and their signals: tool correctness, loop detection.
    fn told(records: Vec<Kept<'static>>) -> Vec<String> {
        let shown = |signal: Option<Unit>| signal.map_or("-".to_owned(), |signal| signal.get().to_string());
        let traces = traces("s", Signal::Logs, records).into_iter().map(|(_, trace)| trace);
        traces
            .map(|Trace { trace_id, signals, .. }| {
                assert_eq!((signals.confidence, signals.coherence), (None, None));
                format!("{trace_id} {} {}", shown(signals.tool_correctness), shown(signals.loop_detection))
            })
            .collect()
    }

    #[test]
    fn a_trace_reaches_from_one_prompt_to_the_next() {
        let prompt = Fact::Prompt { trace: None };
        // In any order; a call before the first prompt, two prompts without a call between, one call without a time.
        let records = vec![
            kept(Some(30), 9, call("Edit", Some(true))),
            kept(Some(20), 3, prompt.clone()),
            kept(Some(0), 1, call("Read", Some(false))),
            kept(Some(10), 2, prompt.clone()),
            kept(Some(21), 4, call("Edit", None)),
            kept(None, 0, call("Edit", Some(true))),
        ];
        assert_eq!(told(records.clone()), ["s#0 0 1", "s#1 - -", "s#2 0.6666666666666666 1"]);
        let started: Vec<_> =
            traces("s", Signal::Logs, records.clone()).into_iter().map(|(at, _)| at).collect();
        assert_eq!(started, [0, 10, 20].map(|s| Timestamp::from_millis(1_790_000_000_000 + 1000 * s).ok()));
        // At one time the sequence decides, and without one the prompt comes first.
        let same = [call("Edit", Some(false)), prompt.clone(), call("Edit", Some(true))];
        let numbered = same.iter().cloned().zip(1..).map(|(fact, number)| kept(Some(5), number, fact));
        assert_eq!(told(numbered.collect()), ["s#0 0 1", "s#1 1 1"]);
        assert_eq!(told(same.into_iter().map(|fact| kept(Some(5), 1, fact)).collect()), ["s#1 0.5 1"]);
        assert_eq!(told(vec![]), Vec::<String>::new());
        assert_eq!(traces("s", Signal::Spans, records), [], "of the other signal");
    }

    #[test]
    fn a_loop_is_one_tool_that_fails_again_and_again() {
        let (ok, failed, unknown) = (Some(true), Some(false), None);
        for (calls, expected) in [
            (vec![("a", failed)], "1"),
            (vec![("a", failed), ("a", failed)], "0.75"),
            (vec![("a", failed), ("b", failed), ("a", failed)], "1"),
            (vec![("a", failed), ("a", ok), ("a", failed)], "1"),
            (vec![("a", failed), ("a", unknown), ("a", failed)], "1"),
            (
                vec![("a", failed), ("a", failed), ("b", failed), ("b", failed), ("b", failed), ("b", ok)],
                "0.5",
            ),
            (vec![("a", failed); 5], "0"),
            (vec![("a", failed); 50], "0"),
            (vec![("a", ok); 50], "1"),
        ] {
            let records = calls.iter().zip(0..).map(|((tool, ok), at)| kept(Some(at), 0, call(tool, *ok)));
            let found = told(records.collect());
            assert_eq!(found.len(), 1);
            assert!(found[0].ends_with(&format!(" {expected}")), "{calls:?}: {found:?}");
        }
    }

    #[test]
    fn a_trace_that_stands_for_a_prompt_is_one_however_many_spans_it_has() {
        let span = |seconds, trace| kept(Some(seconds), 0, Fact::Prompt { trace: Fingerprint::new(trace) });
        let records = vec![span(0, 1), kept(Some(1), 0, call("a", Some(true))), span(2, 1), span(3, 2)];
        assert_eq!(told(records), ["s#1 1 1", "s#2 - -"]);
    }
}
