//! Input of `renown score session`:
//! `{"traces":[{"trace_id":"t1","signals":{"confidence":0.9}}, …],"signal_weights":{…}}`.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    ConsistencyMetric, DEFAULT_THRESHOLD, ReliabilityMetric, SignalWeights, Signals, consistency, reliability,
};
use crate::explain::Explanation;
use crate::ids::TraceId;
use crate::json::{Object, object};
use crate::units::Unit;

/// One trace of a session.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Trace {
    /// Its id.
    pub trace_id: TraceId,
    /// The signals of the trace. A trace without the field `signals` has none, and the metrics skip it.
    #[serde(default, deserialize_with = "object")]
    pub signals: Signals,
    /// The source of its signals; `None` if there is only one possible source.
    #[serde(skip)]
    pub source: Option<Source>,
}

/// The source of signals: `sent`, `derived` from telemetry, or `mixed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SignalSource))]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A client sent them.
    Sent,
    /// They were derived from telemetry.
    Derived,
    /// Some were sent, the others were derived.
    Mixed,
}

/// The traces of one session, in order. Trace ids are unique.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionTraces(Vec<Trace>);

/// The error for a trace id that occurs twice in one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedTrace {
    index: usize,
    trace_id: TraceId,
}

impl SessionTraces {
    /// Creates a session. Fails if a trace id occurs twice.
    pub fn new(traces: Vec<Trace>) -> Result<Self, RepeatedTrace> {
        let mut seen = BTreeSet::new();
        match traces.iter().enumerate().find(|(_, trace)| !seen.insert(&trace.trace_id)) {
            Some((index, Trace { trace_id, .. })) => Err(RepeatedTrace { index, trace_id: trace_id.clone() }),
            None => Ok(Self(traces)),
        }
    }

    /// Returns its traces.
    pub fn traces(&self) -> &[Trace] {
        &self.0
    }

    /// Computes both metrics.
    pub fn metrics(&self, weights: &SignalWeights, thresholds: &Thresholds) -> Metrics {
        let threshold = |own: Option<Unit>| own.unwrap_or(DEFAULT_THRESHOLD);
        Metrics {
            agent_reliability: reliability(self, weights, threshold(thresholds.agent_reliability)),
            agent_consistency: consistency(self, weights, threshold(thresholds.agent_consistency)),
        }
    }
}

impl fmt::Display for RepeatedTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, trace_id } = self;
        write!(
            f,
            "traces[{index}].trace_id: {:?} is given twice, expected each trace once",
            trace_id.as_str()
        )
    }
}

impl std::error::Error for RepeatedTrace {}

/// The thresholds that a caller sets. Absent thresholds keep the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = MetricThresholds))]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// Threshold of reliability.
    pub agent_reliability: Option<Unit>,
    /// Threshold of consistency.
    pub agent_consistency: Option<Unit>,
}

/// Input of `renown score session`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "RawInput")]
pub struct Input {
    session: SessionTraces,
    signal_weights: SignalWeights,
}

#[derive(Deserialize)]
struct RawInput {
    traces: Vec<Object<Trace>>,
    signal_weights: Option<Object<SignalWeights>>,
}

impl TryFrom<RawInput> for Input {
    type Error = RepeatedTrace;

    fn try_from(raw: RawInput) -> Result<Self, RepeatedTrace> {
        let session = SessionTraces::new(raw.traces.into_iter().map(|Object(trace)| trace).collect())?;
        Ok(Self { session, signal_weights: raw.signal_weights.unwrap_or_default().0 })
    }
}

impl Input {
    /// Returns the traces.
    pub fn session(&self) -> &SessionTraces {
        &self.session
    }

    /// Computes both metrics with the default thresholds.
    pub fn score(&self) -> Metrics {
        self.session.metrics(&self.signal_weights, &Thresholds::default())
    }

    /// Explains both metrics.
    pub fn explain(&self) -> MetricsExplanation {
        let Metrics { agent_reliability, agent_consistency } = self.score();
        MetricsExplanation {
            agent_reliability: agent_reliability.explain(),
            agent_consistency: agent_consistency.explain(),
        }
    }
}

/// Both metrics of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SessionMetrics))]
pub struct Metrics {
    /// Reliability: the worst moments.
    pub agent_reliability: ReliabilityMetric,
    /// Consistency: the spread.
    pub agent_consistency: ConsistencyMetric,
}

/// The explanations of both metrics.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricsExplanation {
    /// The explanation of reliability.
    pub agent_reliability: Explanation,
    /// The explanation of consistency.
    pub agent_consistency: Explanation,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn errors_name_the_invalid_signal_weight_or_trace() {
        for (input, message) in [
            (
                r#"{"traces":[{"trace_id":"t","signals":{"confidence":1.0001}}]}"#,
                "traces[0].signals.confidence: 1.0001, expected a number from 0 to 1",
            ),
            (
                r#"{"traces":[{"trace_id":"t","signals":{"charm":0.5}}]}"#,
                "traces[0].signals.charm: unknown field `charm`, expected one of `confidence`, `loop_detection`, `tool_correctness`, `coherence`",
            ),
            (
                r#"{"traces":[],"signal_weights":{"coherence":11}}"#,
                "signal_weights.coherence: 11, expected a weight from 0 to 10",
            ),
            (
                r#"{"traces":[],"signal_weights":{"coherence":true}}"#,
                "signal_weights.coherence: invalid type: boolean `true`, expected a weight from 0 to 10",
            ),
            (
                r#"{"traces":[{"trace_id":"a","signals":{}},{"trace_id":"a","signals":{}}]}"#,
                "traces[1].trace_id: \"a\" is given twice, expected each trace once",
            ),
            (
                r#"{"traces":[{"trace_id":"","signals":{}}]}"#,
                "traces[0].trace_id: empty string, expected 1 to 512 bytes",
            ),
            (r#"{"traces":[{"signals":{}}]}"#, "traces[0]: missing field `trace_id`"),
            (
                r#"{"traces":[{"trace_id":"a","signals":[1]}]}"#,
                "traces[0].signals: invalid type: sequence, expected an object",
            ),
            ("{}", "missing field `traces`"),
        ] {
            assert_eq!(parse::<Input>(input.as_bytes()).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_trace_without_signals_is_skipped() {
        let score = |traces: &str| {
            let input = parse::<Input>(format!(r#"{{"traces":[{traces}]}}"#).as_bytes()).unwrap();
            input.score()
        };
        let known = r#"{"trace_id":"b","signals":{"confidence":0.5}}"#;
        let empty = score(&format!(r#"{{"trace_id":"a","signals":{{}}}},{known}"#));
        assert_eq!(score(&format!(r#"{{"trace_id":"a"}},{known}"#)), empty);
        assert_eq!(score(r#"{"trace_id":"a"}"#), score(r#"{"trace_id":"a","signals":{}}"#));
    }

    #[test]
    fn a_null_weight_keeps_its_default() {
        for weights in ["null", "{}", r#"{"tool_correctness":null}"#] {
            let input =
                parse::<Input>(format!(r#"{{"traces":[],"signal_weights":{weights}}}"#).as_bytes()).unwrap();
            assert_eq!(input.signal_weights, SignalWeights::default(), "{weights}");
        }
    }
}
