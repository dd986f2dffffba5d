//! Signals that nobody sent, from what happened alone: no model is asked, and no argument or output is looked at.
//!
//! ```text
//! trace            = the facts from one prompt to the next, by time, then sequence; `<session>#0` is what comes before the first
//! tool_correctness = tool calls that succeeded / tool calls
//! loop_detection   = 1 − min(4, max(0, r − 1)) / 4,  r = the longest row of failing calls of one tool, with no other call between
//! ```
//!
//! A trace without a tool call has neither. A call whose success cannot be read did not succeed, and is no failure either.
//!
//! [`Steps`] collects all steps of a session and sorts them: exact for any order of arrival, and as large as the session.
//! [`FoldedTraces`] holds one small entry per trace and takes each record as it arrives; see `fold` for what it can absorb.

mod fold;
mod snapshot;

use std::collections::{HashMap, HashSet};
use std::num::Saturating;

use renown_core::ids::TraceId;
use renown_core::session_metrics::{Signals, Source, Trace};
use renown_core::time::Timestamp;
use renown_core::units::Unit;

use crate::facts::{Fact, Fingerprint, Signal};
use crate::kept::Kept;
pub use fold::{FoldedTraces, Refold};

/// A failing call that is repeated so often more counts as the worst loop.
const LOOP_MAX: u32 = 4;

/// The calls between two prompts. `T` stands for the name of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Calls<T> {
    all: Saturating<u32>,
    ok: Saturating<u32>,
    longest: u32,
    /// The tool that failed last, and how often in a row.
    row: Option<(Option<T>, u32)>,
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Self { all: Saturating(0), ok: Saturating(0), longest: 0, row: None }
    }
}

impl<T: PartialEq> Calls<T> {
    fn add(&mut self, tool: Option<T>, ok: Option<bool>) {
        self.all += 1;
        self.ok += u32::from(ok == Some(true));
        self.row = match self.row.take() {
            _ if ok != Some(false) => None,
            Some((last, count)) if last == tool => Some((last, count.saturating_add(1))),
            _ => Some((tool, 1)),
        };
        self.longest = self.longest.max(self.row.as_ref().map_or(0, |(_, count)| *count));
    }
}

impl<T> Calls<T> {
    fn signals(&self) -> Signals {
        if self.all.0 == 0 {
            return Signals::default();
        }
        let loops = self.longest.saturating_sub(1).min(LOOP_MAX);
        Signals {
            tool_correctness: share(self.ok.0, self.all.0),
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

/// What decides about traces: a prompt, or a call of a tool by its number.
#[derive(Clone, Copy, Debug)]
enum Step {
    Prompt(Option<Fingerprint>),
    Call(Option<u32>, Option<bool>),
}

/// The steps of a session, in any order: a few dozen bytes each.
#[derive(Debug)]
pub struct Steps {
    signal: Signal,
    taken: Vec<(Place, Step)>,
    /// The first fact of another kind.
    first_other: Option<Place>,
    /// The names of tools by their numbers.
    tools: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
}

impl Steps {
    /// None yet, of a session that is scored by this signal.
    pub fn new(signal: Signal) -> Self {
        Self { signal, taken: Vec::new(), first_other: None, tools: Vec::new(), numbers: HashMap::new() }
    }

    /// Adds those of a record, if it is of that signal.
    pub fn take(&mut self, Kept { origin, facts }: &Kept<'_>) {
        if origin.signal != self.signal {
            return;
        }
        let place = (origin.at.is_none(), origin.at, origin.sequence);
        for fact in facts {
            let step = match fact {
                Fact::Prompt { trace } => Step::Prompt(*trace),
                Fact::ToolResult { tool, ok, .. } => Step::Call(tool.map(|tool| self.number(tool)), *ok),
                Fact::ApiRequest(_)
                | Fact::ApiError { .. }
                | Fact::ToolDecision { .. }
                | Fact::Feedback { .. }
                | Fact::Compaction { .. }
                | Fact::Refusal => {
                    self.first_other = Some(self.first_other.map_or(place, |first| first.min(place)));
                    continue;
                }
            };
            self.taken.push((place, step));
        }
    }

    fn number(&mut self, tool: &str) -> u32 {
        if let Some(number) = self.numbers.get(tool) {
            return *number;
        }
        let number = u32::try_from(self.tools.len()).unwrap_or(u32::MAX);
        self.tools.push(tool.into());
        self.numbers.insert(tool.into(), number);
        number
    }

    /// Puts the steps into the order in which they happened.
    fn sort(&mut self) {
        let tools = &self.tools;
        let name = |tool: Option<u32>| tools.get(usize::try_from(tool?).ok()?).map(AsRef::<str>::as_ref);
        // Of what happened at once the prompt comes first, and else what has the lesser name: in which order it arrived is not kept.
        let order = |(place, step): &(Place, Step)| match *step {
            Step::Prompt(trace) => (*place, false, None, None, trace),
            Step::Call(tool, ok) => (*place, true, name(tool), ok, None),
        };
        self.taken.sort_by(|a, b| order(a).cmp(&order(b)));
    }

    /// The traces of the session; with each, when it began.
    pub fn traces(mut self, session: &str) -> Vec<(Option<Timestamp>, Trace)> {
        self.sort();
        let mut seen: HashSet<Fingerprint> = HashSet::new();
        let mut traces: Vec<(Option<Timestamp>, Calls<u32>)> = vec![(None, Calls::default())];
        let mut first_prompt = None;
        for ((is_timeless, at, sequence), step) in self.taken {
            match step {
                Step::Prompt(trace) => {
                    if trace.is_none_or(|trace| seen.insert(trace)) {
                        first_prompt = first_prompt.or(Some((is_timeless, at, sequence)));
                        traces.push((at, Calls::default()));
                    }
                }
                Step::Call(tool, ok) => {
                    if let Some((started_at, calls)) = traces.last_mut() {
                        calls.add(tool, ok);
                        *started_at = started_at.or(at);
                    }
                }
            }
        }
        let other = self.first_other.filter(|other| first_prompt.is_none_or(|first| *other < first));
        let has_first = other.is_some() || traces.first().is_some_and(|(_, calls)| calls.all.0 > 0);
        if let (Some((_, Some(other_at), _)), Some((started_at, _))) = (other, traces.first_mut()) {
            *started_at = Some(started_at.map_or(other_at, |at| at.min(other_at)));
        }
        let traces = traces.into_iter().enumerate().skip(usize::from(!has_first));
        let named = traces.filter_map(|(number, (started_at, calls))| {
            let trace_id: TraceId = format!("{session}#{number}").parse().ok()?;
            Some((started_at, Trace { trace_id, signals: calls.signals(), source: Some(Source::Derived) }))
        });
        named.collect()
    }
}

/// The traces of a session of these records, of which those of the scored signal count; with each, when it began.
pub fn traces<'a>(
    session: &str,
    signal: Signal,
    records: impl IntoIterator<Item = Kept<'a>>,
) -> Vec<(Option<Timestamp>, Trace)> {
    let mut steps = Steps::new(signal);
    for record in records {
        steps.take(&record);
    }
    steps.traces(session)
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
        // It begins with its first fact, of whatever kind.
        let begins =
            |records| traces("s", Signal::Logs, records).first().map(|(at, _)| at.map(Timestamp::millis));
        let (refusal, tool) = (kept(Some(1), 1, Fact::Refusal), kept(Some(2), 2, call("Read", Some(true))));
        assert_eq!(begins(vec![refusal.clone(), tool.clone()]), Some(Some(1_790_000_001_000)));
        assert_eq!(begins(vec![refusal, kept(Some(9), 3, prompt.clone())]), Some(Some(1_790_000_001_000)));
        assert_eq!(begins(vec![tool, kept(Some(3), 3, Fact::Refusal)]), Some(Some(1_790_000_002_000)));
        // Other facts before the first prompt are a trace without signals, and others after it none of their own.
        assert_eq!(
            told(vec![kept(Some(1), 1, Fact::Refusal), kept(Some(2), 2, prompt.clone())]),
            ["s#0 - -", "s#1 - -"]
        );
        assert_eq!(
            told(vec![kept(Some(2), 2, prompt.clone()), kept(Some(3), 1, Fact::Refusal)]),
            ["s#1 - -"]
        );
        assert_eq!(told(vec![kept(None, 1, Fact::Refusal)]), ["s#0 - -"]);
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
