//! Summary of both metrics for lists: six numbers, at the default weights and threshold, without their details.

use std::borrow::Cow;

use super::{
    CONSISTENCY_BANDS, CONSISTENT_FROM, DEFAULT_THRESHOLD, FORMULA_VERSION, MODERATE_FROM, NONE_EVALUABLE,
    NOTHING_TO_EVALUATE, RELIABILITY_BANDS, SignalWeights, Signals, Tail, band, rms_of, uncertainty,
};
use crate::decimal::Decimal;
use crate::units::Unit;

/// The results of both metrics of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Reliability and the number of traces with an elevated risk. `None` if no trace has a signal.
    pub reliability: Option<ReliabilitySummary>,
    /// Consistency. `None` if no trace has a confidence.
    pub consistency: Option<ConsistencySummary>,
}

/// The result of reliability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReliabilitySummary {
    /// 0 to 1, four places.
    pub score: Decimal<4>,
    /// Traces with a signal.
    pub evaluated: u64,
    /// Traces with an elevated risk.
    pub flagged: u64,
}

/// The result of consistency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsistencySummary {
    /// 0 to 1, four places.
    pub score: Decimal<4>,
    /// Traces with a confidence.
    pub evaluated: u64,
}

/// A metric without its details.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefMetric {
    /// 0 to 1, four places.
    pub score: Decimal<4>,
    /// The result in one sentence.
    pub reason: Cow<'static, str>,
    /// The score from which it passes.
    pub threshold: Unit,
    /// Whether the score reaches the threshold.
    pub passed: bool,
    /// The name of the score's range.
    pub band: &'static str,
    /// Whether there was anything to evaluate.
    pub evaluable: bool,
    /// The version of the formula.
    pub formula_version: &'static str,
}

impl Summary {
    /// Computes both metrics of a session with these traces, in session order.
    pub fn of(traces: impl IntoIterator<Item = Signals>) -> Self {
        let weights = SignalWeights::default();
        let (mut risks, mut squares, mut confident) = (Vec::new(), 0.0, 0_usize);
        for signals in traces.into_iter().filter(Signals::any) {
            risks.push(super::step_risk(&signals, &weights).0);
            if let Some((_, uncertainty)) = uncertainty(&signals, &weights) {
                squares += uncertainty * uncertainty;
                confident += 1;
            }
        }
        let flagged = risks.iter().filter(|risk| super::is_flagged(**risk)).count() as u64;
        let evaluated = risks.len() as u64;
        let reliability =
            Tail::of(risks).map(|tail| ReliabilitySummary { score: tail.score(), evaluated, flagged });
        let consistency = (confident > 0).then(|| {
            let (_, score) = rms_of(squares, confident);
            ConsistencySummary { score, evaluated: confident as u64 }
        });
        Self { reliability, consistency }
    }

    /// Returns reliability for display.
    pub fn agent_reliability(&self) -> BriefMetric {
        let Some(ReliabilitySummary { score, evaluated, flagged }) = self.reliability else {
            return BriefMetric::not_evaluable(RELIABILITY_BANDS, NOTHING_TO_EVALUATE);
        };
        BriefMetric::new(score, reliability_reason(flagged, evaluated).into(), RELIABILITY_BANDS, true)
    }

    /// Returns consistency for display.
    pub fn agent_consistency(&self) -> BriefMetric {
        let Some(ConsistencySummary { score, evaluated }) = self.consistency else {
            let reason = if self.reliability.is_some() { NONE_EVALUABLE } else { NOTHING_TO_EVALUATE };
            return BriefMetric::not_evaluable(CONSISTENCY_BANDS, reason);
        };
        BriefMetric::new(score, consistency_reason(score, evaluated).into(), CONSISTENCY_BANDS, true)
    }
}

impl BriefMetric {
    fn new(score: Decimal<4>, reason: Cow<'static, str>, bands: [&'static str; 5], evaluable: bool) -> Self {
        Self {
            score,
            reason,
            threshold: DEFAULT_THRESHOLD,
            passed: score.to_f64() >= DEFAULT_THRESHOLD.get(),
            band: band(score, bands),
            evaluable,
            formula_version: FORMULA_VERSION,
        }
    }

    fn not_evaluable(bands: [&'static str; 5], reason: &'static str) -> Self {
        Self::new(Decimal::from_units(Decimal::<4>::ONE), reason.into(), bands, false)
    }
}

pub(super) fn reliability_reason(flagged: u64, evaluated: u64) -> String {
    match flagged {
        0 => format!("No elevated risk across {evaluated} traces."),
        flagged => format!("Elevated risk in {flagged} of {evaluated} traces."),
    }
}

pub(super) fn consistency_reason(score: Decimal<4>, evaluated: u64) -> String {
    if score >= CONSISTENT_FROM {
        format!("Consistent performance across {evaluated} traces.")
    } else if score >= MODERATE_FROM {
        format!("Moderate instability detected across {evaluated} traces.")
    } else {
        format!("High instability across {evaluated} traces; multiple signals compound.")
    }
}

#[cfg(test)]
mod tests {
    use renown_testing::Rng;

    use super::*;
    use crate::session_metrics::{Metric, SessionTraces, Thresholds, Trace};

    fn brief<D>(metric: Metric<D>) -> BriefMetric {
        let Metric { score, reason, threshold, passed, band, evaluable, formula_version, .. } = metric;
        BriefMetric { score, reason, threshold, passed, band, evaluable, formula_version }
    }

    #[test]
    fn a_summary_agrees_with_the_metrics() {
        let mut rng = Rng::new(1);
        for _ in 0..2000 {
            let absent = 1 + rng.below(4);
            let mut signal = || {
                rng.sometimes(absent, |rng| {
                    Unit::new(f64::from(u32::try_from(rng.below(101)).unwrap()) / 100.0).unwrap()
                })
            };
            let mut signals = || Signals {
                confidence: signal(),
                loop_detection: signal(),
                tool_correctness: signal(),
                coherence: signal(),
            };
            let all: Vec<Signals> = (0..9).map(|_| signals()).collect();
            let all = all.into_iter().take(rng.below(10));
            let trace = |(number, signals)| Trace {
                trace_id: format!("t{number}").parse().unwrap(),
                signals,
                source: None,
            };
            let session = SessionTraces::new(all.clone().enumerate().map(trace).collect()).unwrap();
            let metrics = session.metrics(&SignalWeights::default(), &Thresholds::default());
            let summary = Summary::of(all);
            assert_eq!(summary.agent_reliability(), brief(metrics.agent_reliability));
            assert_eq!(summary.agent_consistency(), brief(metrics.agent_consistency));
        }
    }
}
