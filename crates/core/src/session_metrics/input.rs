//! What `renown score session` reads: `{"traces":[{"trace_id":"t1","signals":{"confidence":0.9}}, …],"signal_weights":{…}}`.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::{Consistency, Metric, Reliability, SignalWeights, Signals, consistency, reliability};
use crate::explain::Explanation;
use crate::ids::TraceId;
use crate::json::Object;
use crate::units::Unit;

/// One trace of a session.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Trace {
    /// Its id.
    pub trace_id: TraceId,
    /// What is known about it.
    #[serde(deserialize_with = "object")]
    pub signals: Signals,
}

/// The traces of one session, each once, and the weights of their signals.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "RawInput")]
pub struct Input {
    traces: Vec<Trace>,
    signal_weights: SignalWeights,
}

#[derive(Deserialize)]
struct RawInput {
    traces: Vec<Object<Trace>>,
    signal_weights: Option<Object<SignalWeights>>,
}

fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(value)| value)
}

/// A trace id that stands twice in one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedTrace(TraceId, usize);

impl fmt::Display for RepeatedTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "traces[{}].trace_id: {:?} is given twice, expected each trace once",
            self.1,
            self.0.as_str()
        )
    }
}

impl std::error::Error for RepeatedTrace {}

impl TryFrom<RawInput> for Input {
    type Error = RepeatedTrace;

    fn try_from(raw: RawInput) -> Result<Self, RepeatedTrace> {
        let traces: Vec<Trace> = raw.traces.into_iter().map(|Object(trace)| trace).collect();
        let mut seen = BTreeSet::new();
        if let Some((index, repeated)) =
            traces.iter().enumerate().find(|(_, trace)| !seen.insert(&trace.trace_id))
        {
            return Err(RepeatedTrace(repeated.trace_id.clone(), index));
        }
        Ok(Self { traces, signal_weights: raw.signal_weights.unwrap_or_default().0 })
    }
}

impl Input {
    /// Both metrics, at the default threshold.
    pub fn metrics(&self) -> Metrics {
        Metrics {
            agent_reliability: reliability(&self.traces, &self.signal_weights, Unit::HALF),
            agent_consistency: consistency(&self.traces, &self.signal_weights, Unit::HALF),
        }
    }
}

/// Both metrics of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// The worst moments.
    pub agent_reliability: Metric<Reliability>,
    /// The spread.
    pub agent_consistency: Metric<Consistency>,
}

impl Metrics {
    /// The parts of both.
    pub fn explain(&self) -> MetricsExplanation {
        MetricsExplanation {
            agent_reliability: self.agent_reliability.explain(),
            agent_consistency: self.agent_consistency.explain(),
        }
    }
}

/// The parts of both metrics.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricsExplanation {
    /// The parts of reliability.
    pub agent_reliability: Explanation,
    /// The parts of consistency.
    pub agent_consistency: Explanation,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn bad_signals_weights_and_traces_are_refused_by_name() {
        for (input, refusal) in [
            (
                r#"{"traces":[{"trace_id":"t","signals":{"confidence":1.0001}}]}"#,
                "traces[0].signals.confidence: invalid value: floating point `1.0001`, expected a number from 0 to 1",
            ),
            (
                r#"{"traces":[{"trace_id":"t","signals":{"charm":0.5}}]}"#,
                "traces[0].signals.charm: unknown field `charm`, expected one of `confidence`, `loop_detection`, `tool_correctness`, `coherence`",
            ),
            (
                r#"{"traces":[],"signal_weights":{"coherence":11}}"#,
                "signal_weights.coherence: invalid value: floating point `11.0`, expected a weight from 0 to 10",
            ),
            (
                r#"{"traces":[],"signal_weights":{"coherence":null}}"#,
                "signal_weights.coherence: invalid type: null, expected a weight from 0 to 10",
            ),
            (
                r#"{"traces":[{"trace_id":"a","signals":{}},{"trace_id":"a","signals":{}}]}"#,
                "traces[1].trace_id: \"a\" is given twice, expected each trace once",
            ),
            (
                r#"{"traces":[{"trace_id":"","signals":{}}]}"#,
                "traces[0].trace_id: empty text, expected 1 to 512 bytes",
            ),
            (r#"{"traces":[{"trace_id":"a"}]}"#, "traces[0]: missing field `signals`"),
            (
                r#"{"traces":[{"trace_id":"a","signals":[1]}]}"#,
                "traces[0].signals: invalid type: sequence, expected an object",
            ),
            ("{}", "missing field `traces`"),
        ] {
            assert_eq!(parse::<Input>(input.as_bytes()).unwrap_err().to_string(), refusal);
        }
    }
}
