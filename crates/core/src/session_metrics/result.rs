//! The result of a session metric: the score and everything behind it.
//!
//! Numbers are stored unrounded and rounded to four places only when they are serialized. Nothing is ever computed
//! from a rounded value.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{FORMULA_VERSION, SignalWeights, Source, TAIL_WEIGHT, WORST_WEIGHT, band};
use crate::decimal::Decimal;
use crate::explain::{Component, Explanation};
use crate::ids::TraceId;
use crate::units::Unit;

/// A metric of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SessionMetric, bound = ""))]
pub struct Metric<D> {
    /// Name of the metric.
    pub name: &'static str,
    /// Score from 0 to 1, with four decimals.
    #[cfg_attr(feature = "schema", schema(value_type = f64, minimum = 0, maximum = 1))]
    pub score: Decimal<4>,
    /// The result in one sentence.
    pub reason: Cow<'static, str>,
    /// Lowest score that passes.
    pub threshold: Unit,
    /// Whether the score reaches the threshold.
    pub passed: bool,
    /// Name of the score's range.
    pub band: &'static str,
    /// Whether any trace could be evaluated; if not, the score is 1, and a client can ignore it.
    pub evaluable: bool,
    /// Version of the formula.
    pub formula_version: &'static str,
    /// Details of the computation: the number of traces and of evaluated traces, and, if any were evaluated, the weights, the risks of each
    /// trace with the `source` of its signals, and how the risks were combined.
    #[cfg_attr(feature = "schema", schema(value_type = serde_json::Map<String, Value>))]
    pub metadata: Metadata<D>,
}

/// The result of `agent_reliability`.
pub type ReliabilityMetric = Metric<Reliability>;

/// The result of `agent_consistency`.
pub type ConsistencyMetric = Metric<Consistency>;

impl<D> Metric<D> {
    pub(super) fn new(
        name: &'static str,
        bands: [&'static str; 5],
        score: Decimal<4>,
        reason: Cow<'static, str>,
        threshold: Unit,
        metadata: Metadata<D>,
    ) -> Self {
        Self {
            name,
            score,
            reason,
            threshold,
            passed: score.to_f64() >= threshold.get(),
            band: band(score, bands),
            evaluable: metadata.details.is_some(),
            formula_version: FORMULA_VERSION,
            metadata,
        }
    }

    pub(super) fn not_evaluable(
        name: &'static str,
        bands: [&'static str; 5],
        reason: &'static str,
        threshold: Unit,
        total_traces_in_session: usize,
    ) -> Self {
        let metadata = Metadata { total_traces_in_session, traces_evaluated: 0, details: None };
        Self::new(name, bands, Decimal::from_units(Decimal::<4>::ONE), reason.into(), threshold, metadata)
    }

    /// Explains a session without evidence, which gets the benefit of the doubt.
    fn nothing_to_evaluate(&self) -> Explanation {
        let inputs = [("total_traces_in_session", Value::from(self.metadata.total_traces_in_session))].into();
        self.explanation(
            vec![Component::unbounded("nothing_to_evaluate", inputs, Decimal::nearest(1.0))],
            1.0,
        )
    }

    /// Builds the explanation. `unclamped` is the score before it is clamped to 0 or more.
    fn explanation(&self, mut components: Vec<Component>, unclamped: f64) -> Explanation {
        if unclamped < 0.0 {
            let points = components.iter().map(|component| component.points.units()).sum::<i128>();
            let inputs = [("unclamped_score", shown(unclamped))].into();
            components.push(Component::unbounded("never_below_zero", inputs, Decimal::from_units(-points)));
        }
        Explanation { score: Value::from(self.score), formula_version: FORMULA_VERSION, components }
    }
}

/// The details of a score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metadata<D> {
    /// Number of traces in the session.
    pub total_traces_in_session: usize,
    /// Number of traces that the metric could use.
    pub traces_evaluated: usize,
    /// Details of the metric; `None` if nothing could be evaluated.
    #[serde(flatten)]
    pub details: Option<D>,
}

/// The details of a reliability score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reliability {
    /// The risk of the session, before it is turned into a score.
    #[serde(serialize_with = "round4")]
    pub raw_risk: f64,
    /// The weights that were used.
    pub signal_weights: SignalWeights,
    /// The risks of each trace.
    pub per_trace_signals: PerTrace<ReliabilityRow>,
    /// Traces with an elevated risk, in session order.
    pub flagged_traces: Vec<TraceId>,
    /// How the traces were aggregated.
    pub aggregation: TopK,
}

/// The risks of one trace, for reliability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReliabilityRow {
    /// Its risks, before weights.
    #[serde(flatten)]
    pub risks: Risks,
    /// The largest weighted risk.
    #[serde(serialize_with = "round4")]
    pub step_risk: f64,
    /// The signal with the largest weighted risk; `None` if every risk is 0.
    #[serde(skip)]
    pub worst: Option<&'static str>,
    /// The source of its signals; `None` if there is only one possible source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// The aggregation of reliability: the tail of the session.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TopK {
    /// `max_compose_top_k`.
    pub method: &'static str,
    /// The share of traces in the tail.
    pub top_k_percentile: f64,
    /// The weight of the single worst trace.
    pub ensemble_weight: f64,
    /// The mean step risk of the tail.
    #[serde(serialize_with = "round4")]
    pub mean_top_k_risk: f64,
    /// The worst step risk.
    #[serde(serialize_with = "round4")]
    pub max_risk: f64,
}

impl Metric<Reliability> {
    /// Explains the score: the contributions of the tail and of the worst trace.
    pub fn explain(&self) -> Explanation {
        let Some(details) = &self.metadata.details else { return self.nothing_to_evaluate() };
        let TopK { mean_top_k_risk, max_risk, .. } = details.aggregation;
        let component = |name, input, weight: f64, risk: f64| {
            let points = Decimal::nearest(weight * (1.0 - risk));
            Component::bounded(name, [(input, shown(risk))].into(), points, Decimal::nearest(weight))
        };
        let components = vec![
            component("tail", "mean_top_k_risk", TAIL_WEIGHT, mean_top_k_risk),
            component("worst", "max_risk", WORST_WEIGHT, max_risk),
        ];
        self.explanation(components, 1.0 - details.raw_risk)
    }
}

/// The details of a consistency score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Consistency {
    /// The instability of the session, before it is turned into a score.
    #[serde(serialize_with = "round4")]
    pub raw_instability: f64,
    /// The weights that were used.
    pub signal_weights: SignalWeights,
    /// The risks of each trace.
    pub per_trace_signals: PerTrace<ConsistencyRow>,
    /// How the traces were aggregated.
    pub aggregation: Rms,
}

/// The risks of one trace, for consistency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ConsistencyRow {
    /// Its risks, before weights.
    #[serde(flatten)]
    pub risks: Risks,
    /// How much the other signals amplify its uncertainty.
    #[serde(serialize_with = "round4")]
    pub situational_penalty: f64,
    /// Its amplified uncertainty.
    #[serde(serialize_with = "round4")]
    pub weighted_uncertainty: f64,
    /// The source of its signals; `None` if there is only one possible source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// The aggregation of consistency: the root mean square of the uncertainties.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rms {
    /// `weighted_rms`.
    pub method: &'static str,
    /// The root mean square.
    #[serde(serialize_with = "round4")]
    pub rms_value: f64,
}

impl Metric<Consistency> {
    /// Explains the score: 1 minus the uncertainty of the session.
    pub fn explain(&self) -> Explanation {
        let Some(details) = &self.metadata.details else { return self.nothing_to_evaluate() };
        let rms = details.aggregation.rms_value;
        let inputs =
            [("traces_evaluated", Value::from(self.metadata.traces_evaluated)), ("rms_value", shown(rms))]
                .into();
        let steadiness =
            Component::bounded("steadiness", inputs, Decimal::nearest(1.0 - rms), Decimal::nearest(1.0));
        self.explanation(vec![steadiness], 1.0 - rms)
    }
}

/// The unweighted risks of one trace, where present.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "these are the JSON field names")]
pub struct Risks {
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "round4_present")]
    confidence_risk: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "round4_present")]
    loop_risk: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "round4_present")]
    tool_risk: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "round4_present")]
    coherence_risk: Option<f64>,
}

impl From<[Option<f64>; 4]> for Risks {
    fn from([confidence_risk, loop_risk, tool_risk, coherence_risk]: [Option<f64>; 4]) -> Self {
        Self { confidence_risk, loop_risk, tool_risk, coherence_risk }
    }
}

/// One row per trace, in session order, serialized as an object with the trace ids as keys.
#[derive(Clone, Debug, PartialEq)]
pub struct PerTrace<R>(pub Vec<(TraceId, R)>);

impl<R: Serialize> Serialize for PerTrace<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (trace, row) in &self.0 {
            map.serialize_entry(trace, row)?;
        }
        map.end()
    }
}

fn shown(number: f64) -> Value {
    Value::from(Decimal::<4>::nearest(number))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn round4<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Decimal::<4>::nearest(*number).serialize(serializer)
}

#[expect(clippy::ref_option, reason = "serde requires this signature")]
fn round4_present<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    number.map(Decimal::<4>::nearest).serialize(serializer)
}
