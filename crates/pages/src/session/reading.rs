//! Reliability and consistency: one sentence about both, and a scale for each.

use std::fmt::Write;

use renown_core::decimal::Decimal;
use renown_core::session_metrics::{Metric, Metrics, SessionTraces, SignalWeights, Thresholds};

use super::{SessionPage, turns};
use crate::text;

/// The interpretation of both metrics.
pub(super) struct Reading {
    /// Meaning of both together.
    pub(super) together: &'static str,
    /// Effect of a single flagged turn.
    pub(super) alone: Option<String>,
    pub(super) scales: [Scale; 2],
}

/// A metric on its scale from 0 to 1.
pub(super) struct Scale {
    pub(super) name: &'static str,
    /// Score with two decimals; `None` if there was nothing to evaluate.
    pub(super) score: Option<String>,
    /// Score in percent.
    pub(super) percent: String,
    pub(super) passed: bool,
    /// Name of the score's range.
    pub(super) band: String,
    pub(super) threshold: String,
    pub(super) threshold_percent: i128,
    pub(super) reason: String,
}

impl Reading {
    pub(super) fn of(page: &SessionPage<'_>) -> Self {
        let Metrics { agent_reliability: reliability, agent_consistency: consistency } = page.metrics;
        let evaluable = |is: bool, passed: bool| is.then_some(passed);
        let together = match (
            evaluable(reliability.evaluable, reliability.passed),
            evaluable(consistency.evaluable, consistency.passed),
        ) {
            (Some(true), Some(true)) => {
                "Reliable and consistent: even its worst moments pass, and the agent stayed sure of itself."
            }
            (Some(true), Some(false)) => {
                "Reliable but uneven: even its worst moments pass, but the agent's confidence varies a lot."
            }
            (Some(false), Some(true)) => {
                "Predictable but weak: it behaved the same throughout, but its worst moments are risky."
            }
            (Some(false), Some(false)) => {
                "Unreliable and unstable: its worst moments are risky, and trouble adds up over the session."
            }
            (Some(true), None) => {
                "Reliable: even its worst moments pass. Consistency is not known, because no trace has a confidence."
            }
            (Some(false), None) => {
                "Unreliable: its worst moments are risky. Consistency is not known, because no trace has a confidence."
            }
            (None, _) => "Neither is known: no trace has a signal. Both count as 1.0 until a trace has one.",
        };
        let mut worst = reliability.reason.to_string();
        if let Some(details) = &reliability.metadata.details {
            let rows = &details.per_trace_signals.0;
            let found = rows.iter().max_by(|(_, a), (_, b)| a.step_risk.total_cmp(&b.step_risk));
            if let Some((trace, row)) = found.filter(|(_, row)| row.worst.is_some()) {
                let name = turns::label(page, trace.as_str());
                let risk = Decimal::<2>::nearest(row.step_risk);
                let _ = write!(worst, " The worst 15 % decide; the worst is {name} with a risk of {risk}.");
            }
        }
        let mut spread = consistency.reason.to_string();
        let left_out = consistency.metadata.total_traces_in_session - consistency.metadata.traces_evaluated;
        if consistency.evaluable && left_out > 0 {
            let traces = text::plural(
                left_out as u64,
                "trace without a confidence is",
                "traces without a confidence are",
            );
            let _ = write!(spread, " {traces} left out.");
        }
        let scales =
            [Scale::of("Reliability", reliability, worst), Scale::of("Consistency", consistency, spread)];
        Self { together, alone: alone(page), scales }
    }
}

impl Scale {
    fn of<D>(name: &'static str, metric: &Metric<D>, reason: String) -> Self {
        let threshold = Decimal::<2>::nearest(metric.threshold.get());
        Self {
            name,
            score: metric.evaluable.then(|| text::cut(metric.score, 2)),
            percent: text::cut(Decimal::<2>::from_units(metric.score.units()), 2),
            passed: metric.passed || !metric.evaluable,
            band: metric.band.replace('_', " "),
            threshold: text::cut(threshold, 1),
            threshold_percent: threshold.units(),
            reason,
        }
    }
}

/// If a single trace is flagged and a metric is below its threshold, says what both metrics would be without this
/// trace, by the same rule.
fn alone(page: &SessionPage<'_>) -> Option<String> {
    let Metrics { agent_reliability, agent_consistency } = page.metrics;
    let details = agent_reliability.metadata.details.as_ref()?;
    let [only] = details.flagged_traces.as_slice() else { return None };
    if (agent_reliability.passed && agent_consistency.passed) || details.per_trace_signals.0.len() < 2 {
        return None;
    }
    let others = page.session.traces().iter().filter(|trace| trace.trace_id != *only).cloned().collect();
    let without = SessionTraces::new(others).ok()?.metrics(&SignalWeights::default(), &Thresholds::default());
    let name = turns::label(page, only.as_str());
    let reliability = text::cut(without.agent_reliability.score, 2);
    Some(if without.agent_consistency.evaluable {
        let consistency = text::cut(without.agent_consistency.score, 2);
        format!("Without {name}, reliability would be {reliability} and consistency {consistency}.")
    } else {
        format!("Without {name}, reliability would be {reliability}.")
    })
}
