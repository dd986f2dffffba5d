//! Trace signals that are computed from the facts of a session. No model is asked, and no argument or output is read.
//!
//! ```text
//! trace            = the facts from one prompt to the next, by time, then sequence; `<session>#0` is before the first prompt
//! tool_correctness = tool calls that succeeded / tool calls
//! loop_detection   = 1 − min(4, max(0, r − 1)) / 4,  r = the longest streak: failing calls of one tool without another call between
//! ```
//!
//! A trace without a tool call has neither signal. A call whose success is unknown counts neither as a success nor as a
//! failure.
//!
//! [`Steps`] collects all steps of a session and sorts them: it is exact for any order of arrival, and as large as the
//! session. [`FoldedTraces`] holds one small entry per trace and adds each record when it arrives; `fold.rs` says which
//! late records it can add.

mod fold;
mod snapshot;

use std::collections::{HashMap, HashSet};
use std::num::Saturating;

use renown_core::ids::TraceId;
use renown_core::session_metrics::{Signals, Source, Trace};
use renown_core::time::Timestamp;
use renown_core::units::Unit;

use crate::facts::{Fact, Fingerprint, Signal};
use crate::stored::StoredRecord;
pub use fold::{FoldedTraces, TraceRebuilder};

/// This many repetitions of a failing call count as the worst loop.
const LOOP_MAX: u32 = 4;

/// The tool calls between two prompts. `T` is the type of a tool's name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Calls<T> {
    all: Saturating<u32>,
    ok: Saturating<u32>,
    longest: u32,
    /// The current streak: the tool that failed last, and its number of consecutive failures.
    streak: Option<(Option<T>, u32)>,
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Self { all: Saturating(0), ok: Saturating(0), longest: 0, streak: None }
    }
}

impl<T: PartialEq> Calls<T> {
    fn add(&mut self, tool: Option<T>, ok: Option<bool>) {
        self.all += 1;
        self.ok += u32::from(ok == Some(true));
        self.streak = match self.streak.take() {
            _ if ok != Some(false) => None,
            Some((last, count)) if last == tool => Some((last, count.saturating_add(1))),
            _ => Some((tool, 1)),
        };
        self.longest = self.longest.max(self.streak.as_ref().map_or(0, |(_, count)| *count));
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

/// When a fact happened, for sorting: whether its time is missing (then it comes last), its time, its sequence number.
type Moment = (bool, Option<Timestamp>, Option<u64>);

/// A fact that traces are made of: a prompt, or a tool call with the number of its tool and its success.
#[derive(Clone, Copy, Debug)]
enum Step {
    Prompt(Option<Fingerprint>),
    Call(Option<u32>, Option<bool>),
}

/// The steps of a session, in any order. A step takes a few dozen bytes.
#[derive(Debug)]
pub struct Steps {
    signal: Signal,
    timeline: Vec<(Moment, Step)>,
    /// When the first fact happened that is not a step.
    first_other: Option<Moment>,
    /// Names of the tools at the index of their number.
    tools: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
}

impl Steps {
    /// Creates an empty collection for records of this OTLP signal.
    pub fn new(signal: Signal) -> Self {
        Self { signal, timeline: Vec::new(), first_other: None, tools: Vec::new(), numbers: HashMap::new() }
    }

    /// Adds the steps of a record, if the record has this collection's OTLP signal.
    pub fn add(&mut self, StoredRecord { origin, facts }: &StoredRecord<'_>) {
        if origin.signal != self.signal {
            return;
        }
        let moment = (origin.at.is_none(), origin.at, origin.sequence);
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
                    self.first_other = Some(self.first_other.map_or(moment, |first| first.min(moment)));
                    continue;
                }
            };
            self.timeline.push((moment, step));
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

    /// Sorts the steps by the order in which they happened.
    fn sort(&mut self) {
        let tools = &self.tools;
        let name = |tool: Option<u32>| tools.get(usize::try_from(tool?).ok()?).map(AsRef::<str>::as_ref);
        // Steps at the same moment are sorted prompts first, then by tool name, because the order of arrival is not
        // stored.
        let order = |(moment, step): &(Moment, Step)| match *step {
            Step::Prompt(trace) => (*moment, false, None, None, trace),
            Step::Call(tool, ok) => (*moment, true, name(tool), ok, None),
        };
        self.timeline.sort_by(|a, b| order(a).cmp(&order(b)));
    }

    /// Returns the traces of the session, each with its start.
    pub fn traces(mut self, session: &str) -> Vec<(Option<Timestamp>, Trace)> {
        self.sort();
        let mut seen: HashSet<Fingerprint> = HashSet::new();
        let mut traces: Vec<(Option<Timestamp>, Calls<u32>)> = vec![(None, Calls::default())];
        let mut first_prompt = None;
        for ((is_timeless, at, sequence), step) in self.timeline {
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

/// Returns the traces of a session, each with its start. Only records of the scored OTLP signal count.
pub fn traces<'a>(
    session: &str,
    signal: Signal,
    records: impl IntoIterator<Item = StoredRecord<'a>>,
) -> Vec<(Option<Timestamp>, Trace)> {
    let mut steps = Steps::new(signal);
    for record in records {
        steps.add(&record);
    }
    steps.traces(session)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Agent;
    use crate::facts::{RecordOrigin, Sourced};

    /// Returns a record with one fact, at this second and with this sequence number.
    fn stored(seconds: Option<i64>, sequence: u64, fact: Fact<&'static str>) -> StoredRecord<'static> {
        let at = seconds.and_then(|seconds| Timestamp::from_millis(1_790_000_000_000 + 1000 * seconds).ok());
        let origin = RecordOrigin {
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
        StoredRecord { origin, facts: vec![fact] }
    }

    fn call(tool: &'static str, ok: Option<bool>) -> Fact<&'static str> {
        Fact::ToolResult { tool: Some(tool), ok, duration_us: None, error_type: None }
    }

    /// Returns the id, tool correctness and loop detection of each trace.
    fn shown_traces(records: Vec<StoredRecord<'static>>) -> Vec<String> {
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
        // Unsorted: a call before the first prompt, two prompts without a call between them, one call without a time.
        let records = vec![
            stored(Some(30), 9, call("Edit", Some(true))),
            stored(Some(20), 3, prompt.clone()),
            stored(Some(0), 1, call("Read", Some(false))),
            stored(Some(10), 2, prompt.clone()),
            stored(Some(21), 4, call("Edit", None)),
            stored(None, 0, call("Edit", Some(true))),
        ];
        assert_eq!(shown_traces(records.clone()), ["s#0 0 1", "s#1 - -", "s#2 0.6666666666666666 1"]);
        let started: Vec<_> =
            traces("s", Signal::Logs, records.clone()).into_iter().map(|(at, _)| at).collect();
        assert_eq!(started, [0, 10, 20].map(|s| Timestamp::from_millis(1_790_000_000_000 + 1000 * s).ok()));
        // At the same time the sequence decides. With the same sequence, the prompt comes first.
        let same = [call("Edit", Some(false)), prompt.clone(), call("Edit", Some(true))];
        let numbered = same.iter().cloned().zip(1..).map(|(fact, number)| stored(Some(5), number, fact));
        assert_eq!(shown_traces(numbered.collect()), ["s#0 0 1", "s#1 1 1"]);
        assert_eq!(
            shown_traces(same.into_iter().map(|fact| stored(Some(5), 1, fact)).collect()),
            ["s#1 0.5 1"]
        );
        assert_eq!(shown_traces(vec![]), Vec::<String>::new());
        // The first trace begins with its first fact of any kind.
        let begins =
            |records| traces("s", Signal::Logs, records).first().map(|(at, _)| at.map(Timestamp::millis));
        let (refusal, tool) =
            (stored(Some(1), 1, Fact::Refusal), stored(Some(2), 2, call("Read", Some(true))));
        assert_eq!(begins(vec![refusal.clone(), tool.clone()]), Some(Some(1_790_000_001_000)));
        assert_eq!(begins(vec![refusal, stored(Some(9), 3, prompt.clone())]), Some(Some(1_790_000_001_000)));
        assert_eq!(begins(vec![tool, stored(Some(3), 3, Fact::Refusal)]), Some(Some(1_790_000_002_000)));
        // Other facts before the first prompt make a trace without signals. Other facts after it do not make a trace.
        assert_eq!(
            shown_traces(vec![stored(Some(1), 1, Fact::Refusal), stored(Some(2), 2, prompt.clone())]),
            ["s#0 - -", "s#1 - -"]
        );
        assert_eq!(
            shown_traces(vec![stored(Some(2), 2, prompt.clone()), stored(Some(3), 1, Fact::Refusal)]),
            ["s#1 - -"]
        );
        assert_eq!(shown_traces(vec![stored(None, 1, Fact::Refusal)]), ["s#0 - -"]);
        assert_eq!(traces("s", Signal::Spans, records), [], "records of the other signal do not count");
    }

    #[test]
    fn a_loop_is_a_streak_of_failing_calls_of_one_tool() {
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
            let records = calls.iter().zip(0..).map(|((tool, ok), at)| stored(Some(at), 0, call(tool, *ok)));
            let found = shown_traces(records.collect());
            assert_eq!(found.len(), 1);
            assert!(found[0].ends_with(&format!(" {expected}")), "{calls:?}: {found:?}");
        }
    }

    #[test]
    fn an_otlp_trace_counts_as_one_prompt_for_any_number_of_spans() {
        let span = |seconds, trace| stored(Some(seconds), 0, Fact::Prompt { trace: Fingerprint::new(trace) });
        let records = vec![span(0, 1), stored(Some(1), 0, call("a", Some(true))), span(2, 1), span(3, 2)];
        assert_eq!(shown_traces(records), ["s#1 1 1", "s#2 - -"]);
    }
}
