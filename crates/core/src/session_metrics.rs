//! # Session metrics: reliability and consistency, 0–1 each
//!
//! ```text
//! risk                 = 1 − signal
//!
//! agent_reliability    step_risk  = max over the present signals of weight · risk
//!                      mean_top_k = mean of the k largest step risks, k = max(1, ceil(0.15 · n))
//!                      raw_risk   = 0.9 · mean_top_k + 0.1 · max_risk
//!                      score      = round4(clamp(1 − raw_risk, 0, 1))
//!
//! agent_consistency    penalty    = Σ weight · risk over loop_detection, tool_correctness, coherence, where present
//!                      uncertainty = (1 + penalty) · (weight_confidence · confidence_risk)
//!                      rms        = sqrt(Σ uncertainty² / n)
//!                      score      = round4(clamp(1 − rms, 0, 1))
//! ```
//!
//! | symbol | meaning | unit | source |
//! |---|---|---|---|
//! | signal | confidence, `loop_detection`, `tool_correctness` or coherence of a trace | 0 to 1, 1 is good | the trace |
//! | weight | weight of a signal; by default 1.0, 1.0, 0.8, 1.0 in the order above | 0 to 10 | `signal_weights` |
//! | n | traces evaluated: those with any signal (reliability), those with a confidence (consistency) | count | the session |
//!
//! **Why floats here.** Signals arrive as floats from models and judges, and a square root is not rational. Two
//! things make the digits stable: a fixed order of plain `f64` operations, left to right in session order
//! (reliability: in descending order), and `round4`, which is [`Decimal::nearest`]: ties to even on the exact binary
//! value.
//!
//! **Why two metrics.** Reliability measures the worst moments: one catastrophic trace shows among a hundred good
//! ones. Consistency measures the spread: many moderate problems score badly even if none is catastrophic.
//!
//! **What it ignores.** Absent signals (they are skipped, not counted as 0 or 1), and how long traces took.

#![expect(clippy::float_arithmetic, reason = "the rule is defined as a fixed order of f64 operations")]

mod input;
mod registry;
mod result;
mod signals;
mod summary;

pub use input::{
    Input, Metrics, MetricsExplanation, RepeatedTrace, SessionTraces, Source, Thresholds, Trace,
};
pub use registry::{Band, Definition, registry};
pub use result::{
    Consistency, ConsistencyMetric, ConsistencyRow, Metadata, Metric, PerTrace, Reliability,
    ReliabilityMetric, ReliabilityRow, Risks, Rms, TopK,
};
pub use signals::{SignalWeights, Signals, Weight};
pub use summary::{BriefMetric, ConsistencySummary, ReliabilitySummary, Summary};

use crate::decimal::Decimal;
use crate::units::Unit;

/// The version of both formulas.
pub const FORMULA_VERSION: &str = "1";

/// The score from which a session passes, unless the caller sets another threshold.
pub const DEFAULT_THRESHOLD: Unit = Unit::HALF;

/// Weights of confidence, loop detection, tool correctness and coherence, unless the caller sets them.
const DEFAULT_WEIGHTS: [f64; 4] = [1.0, 1.0, 0.8, 1.0];

/// The signals in the order of the formula.
const SIGNAL_NAMES: [&str; 4] = ["confidence", "loop_detection", "tool_correctness", "coherence"];

/// The share of traces in the tail: the worst 15 %. Their number is computed in integers, in percent.
const TOP_K_PERCENTILE: f64 = 0.15;
const TOP_K_PERCENT: usize = 15;
/// Weights of the mean of the tail and of the single worst trace in the raw risk.
const TAIL_WEIGHT: f64 = 0.9;
const WORST_WEIGHT: f64 = 0.1;
/// A trace above this step risk is flagged.
const FLAGGED_ABOVE: f64 = 0.5;

/// Lower bounds of the bands, as rounded scores in ten-thousandths, best first.
const BANDS_FROM: [i128; 4] = [9000, 7000, 5000, 3000];
const RELIABILITY_BANDS: [&str; 5] =
    ["highly_reliable", "generally_reliable", "moderate_risk", "elevated_risk", "high_risk"];
const CONSISTENCY_BANDS: [&str; 5] =
    ["highly_consistent", "generally_consistent", "moderate_instability", "high_instability", "unstable"];
/// Rounded consistency scores at which the reason changes.
const CONSISTENT_FROM: Decimal<4> = Decimal::from_units(8000);
const MODERATE_FROM: Decimal<4> = Decimal::from_units(5000);

/// Computes `agent_reliability`: the worst moments of a session.
pub fn reliability(session: &SessionTraces, weights: &SignalWeights, threshold: Unit) -> ReliabilityMetric {
    let traces = session.traces();
    let mut rows = Vec::with_capacity(traces.len());
    let mut risks = Vec::with_capacity(traces.len());
    let mut flagged_traces = Vec::new();
    for trace in traces.iter().filter(|trace| trace.signals.any()) {
        let (step_risk, worst) = step_risk(&trace.signals, weights);
        if is_flagged(step_risk) {
            flagged_traces.push(trace.trace_id.clone());
        }
        risks.push(step_risk);
        let risks = Risks::from(trace.signals.risks());
        let row = ReliabilityRow { risks, step_risk, worst, source: trace.source };
        rows.push((trace.trace_id.clone(), row));
    }
    let n = risks.len();
    let Some(tail) = Tail::of(risks) else {
        return Metric::not_evaluable(
            RELIABILITY,
            RELIABILITY_BANDS,
            NOTHING_TO_EVALUATE,
            threshold,
            traces.len(),
        );
    };
    let reason = summary::reliability_reason(flagged_traces.len() as u64, n as u64);
    let details = Reliability {
        raw_risk: tail.raw_risk(),
        signal_weights: *weights,
        per_trace_signals: PerTrace(rows),
        flagged_traces,
        aggregation: TopK {
            method: "max_compose_top_k",
            top_k_percentile: TOP_K_PERCENTILE,
            ensemble_weight: WORST_WEIGHT,
            mean_top_k_risk: tail.mean_top_k_risk,
            max_risk: tail.max_risk,
        },
    };
    let metadata =
        Metadata { total_traces_in_session: traces.len(), traces_evaluated: n, details: Some(details) };
    Metric::new(RELIABILITY, RELIABILITY_BANDS, tail.score(), reason.into(), threshold, metadata)
}

/// Returns the largest weighted risk of a trace and its signal: the first of equal ones, `None` without any risk.
fn step_risk(signals: &Signals, weights: &SignalWeights) -> (f64, Option<&'static str>) {
    let weighted = signals.risks().into_iter().zip(weights.in_order()).zip(SIGNAL_NAMES);
    weighted.fold((0.0, None), |worst, ((risk, weight), name)| match risk {
        Some(risk) if weight * risk > worst.0 => (weight * risk, Some(name)),
        Some(_) | None => worst,
    })
}

fn is_flagged(step_risk: f64) -> bool {
    step_risk > FLAGGED_ABOVE
}

/// The worst traces of a session.
struct Tail {
    mean_top_k_risk: f64,
    max_risk: f64,
}

impl Tail {
    /// Computes the tail of these step risks. Returns `None` without a risk.
    fn of(mut risks: Vec<f64>) -> Option<Self> {
        risks.sort_unstable_by(|a, b| b.total_cmp(a));
        let max_risk = *risks.first()?;
        let k = (risks.len() * TOP_K_PERCENT).div_ceil(100).max(1);
        let mean_top_k_risk = risks.iter().take(k).fold(0.0, |sum, risk| sum + risk) / count(k);
        Some(Self { mean_top_k_risk, max_risk })
    }

    fn raw_risk(&self) -> f64 {
        TAIL_WEIGHT * self.mean_top_k_risk + WORST_WEIGHT * self.max_risk
    }

    fn score(&self) -> Decimal<4> {
        Decimal::nearest((1.0 - self.raw_risk()).clamp(0.0, 1.0))
    }
}

/// Computes `agent_consistency`: the spread of uncertainty over a session.
pub fn consistency(session: &SessionTraces, weights: &SignalWeights, threshold: Unit) -> ConsistencyMetric {
    let traces = session.traces();
    let mut rows = Vec::with_capacity(traces.len());
    let mut squares = 0.0;
    for trace in traces {
        let Some((situational_penalty, weighted_uncertainty)) = uncertainty(&trace.signals, weights) else {
            continue;
        };
        squares += weighted_uncertainty * weighted_uncertainty;
        let (risks, source) = (Risks::from(trace.signals.risks()), trace.source);
        let row = ConsistencyRow { risks, situational_penalty, weighted_uncertainty, source };
        rows.push((trace.trace_id.clone(), row));
    }
    if rows.is_empty() {
        let reason =
            if traces.iter().any(|trace| trace.signals.any()) { NONE_EVALUABLE } else { NOTHING_TO_EVALUATE };
        return Metric::not_evaluable(CONSISTENCY, CONSISTENCY_BANDS, reason, threshold, traces.len());
    }

    let n = rows.len();
    let (rms, score) = rms_of(squares, n);
    let reason = summary::consistency_reason(score, n as u64);
    let details = Consistency {
        raw_instability: rms,
        signal_weights: *weights,
        per_trace_signals: PerTrace(rows),
        aggregation: Rms { method: "weighted_rms", rms_value: rms },
    };
    let metadata =
        Metadata { total_traces_in_session: traces.len(), traces_evaluated: n, details: Some(details) };
    Metric::new(CONSISTENCY, CONSISTENCY_BANDS, score, reason.into(), threshold, metadata)
}

/// Returns the penalty of a trace and its weighted uncertainty. Returns `None` without a confidence.
fn uncertainty(signals: &Signals, weights: &SignalWeights) -> Option<(f64, f64)> {
    let [w_confidence, w_loop, w_tool, w_coherence] = weights.in_order();
    let [confidence_risk, looping, tool, coherence] = signals.risks();
    let confidence_risk = confidence_risk?;
    let penalty = [(w_loop, looping), (w_tool, tool), (w_coherence, coherence)]
        .into_iter()
        .filter_map(|(weight, risk)| Some(weight * risk?))
        .fold(0.0, |sum, part| sum + part);
    Some((penalty, (1.0 + penalty) * (w_confidence * confidence_risk)))
}

/// Computes the root mean square and its score.
fn rms_of(squares: f64, traces: usize) -> (f64, Decimal<4>) {
    let rms = (squares / count(traces)).sqrt();
    (rms, Decimal::nearest((1.0 - rms).clamp(0.0, 1.0)))
}

/// Returns the band of a score.
fn band(score: Decimal<4>, [best, good, fair, poor, worst]: [&'static str; 5]) -> &'static str {
    let found = BANDS_FROM.into_iter().zip([best, good, fair, poor]).find(|(from, _)| score.units() >= *from);
    found.map_or(worst, |(_, band)| band)
}

pub(crate) const RELIABILITY: &str = "agent_reliability";
pub(crate) const CONSISTENCY: &str = "agent_consistency";
const NOTHING_TO_EVALUATE: &str = "No traces or signals to evaluate.";
const NONE_EVALUABLE: &str = "No evaluable traces.";

#[expect(clippy::cast_precision_loss, reason = "a session has far fewer than 2^53 traces")]
fn count(traces: usize) -> f64 {
    traces as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TraceId;

    /// Creates a trace with (confidence, `loop_detection`, `tool_correctness`, coherence). NaN means absent.
    fn trace(index: usize, signals: [f64; 4]) -> Trace {
        let [confidence, loop_detection, tool_correctness, coherence] =
            signals.map(|signal| Unit::new(signal).ok());
        let signals = Signals { confidence, loop_detection, tool_correctness, coherence };
        Trace { trace_id: format!("t{index}").parse().unwrap(), signals, source: None }
    }

    fn traces(signals: &[[f64; 4]]) -> SessionTraces {
        SessionTraces::new(
            signals.iter().enumerate().map(|(index, &signals)| trace(index, signals)).collect(),
        )
        .unwrap()
    }

    fn scores(signals: &[[f64; 4]]) -> [String; 2] {
        let (traces, weights) = (traces(signals), SignalWeights::default());
        let reliability = reliability(&traces, &weights, DEFAULT_THRESHOLD).score;
        [reliability.to_string(), consistency(&traces, &weights, DEFAULT_THRESHOLD).score.to_string()]
    }

    const ABSENT: f64 = f64::NAN;

    #[test]
    fn the_worst_signal_is_the_one_with_the_largest_weighted_risk() {
        for (signals, expected) in [
            ([0.9, 0.8, 0.7, 0.95], Some("tool_correctness")),
            // 0.8 · 0.5 is less than 0.41.
            ([0.59, 1.0, 0.5, ABSENT], Some("confidence")),
            ([ABSENT, 0.6, 0.5, ABSENT], Some("loop_detection")),
            ([ABSENT, ABSENT, ABSENT, 0.0], Some("coherence")),
            ([1.0, ABSENT, 1.0, ABSENT], None),
        ] {
            let found = reliability(&traces(&[signals]), &SignalWeights::default(), DEFAULT_THRESHOLD);
            let rows = found.metadata.details.unwrap().per_trace_signals.0;
            assert_eq!(rows.first().unwrap().1.worst, expected, "{signals:?}");
        }
    }

    #[test]
    fn the_worked_examples_of_the_source() {
        // Two of the traces shown in the source's metadata: risks .12 .05 .08 .03 and .65 .72 .10 .15.
        let session = traces(&[[0.88, 0.95, 0.92, 0.97], [0.35, 0.28, 0.9, 0.85]]);
        let found = reliability(&session, &SignalWeights::default(), DEFAULT_THRESHOLD);
        let details = found.metadata.details.unwrap();
        let step_risks: Vec<String> = details
            .per_trace_signals
            .0
            .iter()
            .map(|(_, row)| Decimal::<4>::nearest(row.step_risk).to_string())
            .collect();
        assert_eq!(step_risks, ["0.1200", "0.7200"]);
        assert_eq!(
            Decimal::<4>::nearest(details.raw_risk).to_string(),
            "0.7200",
            "the source's aggregation gives this; its sample says 0.32"
        );
        assert_eq!(details.flagged_traces.iter().map(TraceId::as_str).collect::<Vec<_>>(), ["t1"]);

        let found = consistency(&session, &SignalWeights::default(), DEFAULT_THRESHOLD);
        let (_, first) = &found.metadata.details.unwrap().per_trace_signals.0[0];
        assert_eq!(
            Decimal::<4>::nearest(first.situational_penalty).to_string(),
            "0.1440",
            "the source's formula gives this; its sample says 0.134"
        );
        assert_eq!(Decimal::<4>::nearest(first.weighted_uncertainty).to_string(), "0.1373");
    }

    #[test]
    fn the_tail_is_the_worst_15_percent_and_at_least_one() {
        for (n, k) in [(1, 1), (6, 1), (7, 2), (13, 2), (14, 3), (20, 3), (21, 4), (100, 15)] {
            // One trace of risk 1 among n: mean_top_k = 1/k, so the score is 1 − 0.9/k − 0.1.
            let mut session = vec![[0.0, 1.0, 1.0, 1.0]];
            session.resize(n, [1.0; 4]);
            let expected = Decimal::<4>::nearest(1.0 - (0.9 * (1.0 / f64::from(k)) + 0.1));
            assert_eq!(scores(&session)[0], expected.to_string(), "{n} traces");
        }
    }

    #[test]
    fn a_risk_of_one_half_is_not_flagged_and_passes() {
        let found =
            reliability(&traces(&[[0.5, 1.0, 1.0, 1.0]]), &SignalWeights::default(), DEFAULT_THRESHOLD);
        assert!(found.passed && found.metadata.details.unwrap().flagged_traces.is_empty());
        let found =
            reliability(&traces(&[[0.4999, 1.0, 1.0, 1.0]]), &SignalWeights::default(), DEFAULT_THRESHOLD);
        assert!(!found.passed && found.metadata.details.unwrap().flagged_traces.len() == 1);
    }

    #[test]
    fn missing_signals_are_skipped() {
        assert_eq!(scores(&[[ABSENT, ABSENT, ABSENT, 0.9]]), ["0.9000", "1.0000"]);
        assert_eq!(
            scores(&[[0.9, ABSENT, 0.5, ABSENT], [ABSENT, 0.3, ABSENT, ABSENT]]),
            ["0.3000", "0.8600"]
        );
    }

    #[test]
    fn a_session_without_signals_is_not_evaluable() {
        let reasons = |signals: &[[f64; 4]]| {
            let (traces, weights) = (traces(signals), SignalWeights::default());
            let (a, b) = (
                reliability(&traces, &weights, DEFAULT_THRESHOLD),
                consistency(&traces, &weights, DEFAULT_THRESHOLD),
            );
            [(a.evaluable, a.reason), (b.evaluable, b.reason)]
        };
        let nothing = (false, NOTHING_TO_EVALUATE.into());
        assert_eq!(reasons(&[]), [nothing.clone(), nothing.clone()]);
        assert_eq!(reasons(&[[ABSENT; 4]]), [nothing.clone(), nothing]);
        let [_, consistency] = reasons(&[[ABSENT, 0.5, ABSENT, ABSENT]]);
        assert_eq!(consistency, (false, NONE_EVALUABLE.into()));
    }

    #[test]
    fn bands_start_at_their_lower_bounds() {
        for (confidence, reliable, consistent) in [
            (0.9, "highly_reliable", "highly_consistent"),
            (0.8999, "generally_reliable", "generally_consistent"),
            (0.7, "generally_reliable", "generally_consistent"),
            (0.6999, "moderate_risk", "moderate_instability"),
            (0.5, "moderate_risk", "moderate_instability"),
            (0.4999, "elevated_risk", "high_instability"),
            (0.3, "elevated_risk", "high_instability"),
            (0.2999, "high_risk", "unstable"),
            (0.0, "high_risk", "unstable"),
        ] {
            let (traces, weights) = (traces(&[[confidence, 1.0, 1.0, 1.0]]), SignalWeights::default());
            assert_eq!(reliability(&traces, &weights, DEFAULT_THRESHOLD).band, reliable, "{confidence}");
            assert_eq!(consistency(&traces, &weights, DEFAULT_THRESHOLD).band, consistent, "{confidence}");
        }
    }

    #[test]
    fn explanations_add_up() {
        let (traces, weights) =
            (traces(&[[0.9, 1.0, 0.5, 1.0], [0.6, 1.0, 1.0, 1.0]]), SignalWeights::default());
        let sum = |explanation: &crate::explain::Explanation| -> i128 {
            explanation.components.iter().map(|component| component.points.units()).sum()
        };
        let reliability = reliability(&traces, &weights, DEFAULT_THRESHOLD);
        assert_eq!(sum(&reliability.explain()), reliability.score.units() * 100);
        let consistency = consistency(&traces, &weights, DEFAULT_THRESHOLD);
        // 1 − sqrt((0.14² + 0.4²) / 2) = 0.70033352
        assert_eq!((sum(&consistency.explain()), consistency.score.units()), (700_334, 7003));
        // With weights of 10 both raw values are far above 1: the parts still add up to the score of 0.
        let ten = Weight::new(10.0).unwrap();
        let weights =
            SignalWeights { confidence: ten, loop_detection: ten, tool_correctness: ten, coherence: ten };
        assert_eq!(sum(&super::reliability(&traces, &weights, DEFAULT_THRESHOLD).explain()), 0);
        assert_eq!(sum(&super::consistency(&traces, &weights, DEFAULT_THRESHOLD).explain()), 0);
    }
}
