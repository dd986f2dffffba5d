//! Descriptions of the available metrics, for callers that choose among them.

use serde::Serialize;

use super::{
    BANDS_FROM, CONSISTENCY, CONSISTENCY_BANDS, DEFAULT_THRESHOLD, FORMULA_VERSION, RELIABILITY,
    RELIABILITY_BANDS,
};
use crate::decimal::Decimal;
use crate::units::Unit;

/// The definition of a metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = MetricDefinition))]
pub struct Definition {
    /// Name of the metric.
    pub name: &'static str,
    /// What the metric measures.
    pub description: &'static str,
    /// How the metric is computed.
    pub method: &'static str,
    /// Lowest score that passes, unless the caller sets another threshold.
    pub threshold: Unit,
    /// Version of the formula.
    pub formula_version: &'static str,
    /// Ranges of scores, best first.
    pub bands: Vec<Band>,
}

/// A range of scores.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = MetricBand))]
pub struct Band {
    /// Name of the range.
    pub band: &'static str,
    /// Lowest score of the range. The range ends where the next better one begins.
    pub from: Decimal<4>,
    /// What a score in the range means.
    pub meaning: &'static str,
}

const RELIABILITY_MEANINGS: [&str; 5] = [
    "no trace had an elevated risk",
    "a few traces had a small risk",
    "the worst traces deserve a look",
    "some traces went wrong",
    "the worst traces went badly wrong",
];

const CONSISTENCY_MEANINGS: [&str; 5] = [
    "steady throughout",
    "small ups and downs",
    "unsteady: uncertainty in several traces",
    "uncertain in much of the session",
    "uncertain nearly throughout, with signals that compound",
];

/// Returns every metric.
pub fn registry() -> [Definition; 2] {
    let definition = |name, description, method, bands, meanings| Definition {
        name,
        description,
        method,
        threshold: DEFAULT_THRESHOLD,
        formula_version: FORMULA_VERSION,
        bands: described(bands, meanings),
    };
    [
        definition(
            RELIABILITY,
            "How bad the worst moments of a session were: one trace that went wrong shows among many good ones.",
            "The largest weighted risk of each trace; then 0.9 × the mean of the worst 15 % + 0.1 × the worst.",
            RELIABILITY_BANDS,
            RELIABILITY_MEANINGS,
        ),
        definition(
            CONSISTENCY,
            "How steady a session was: many moderate problems lower it even if none is bad. Only traces with a confidence count.",
            "The root mean square of the uncertainty of each trace, amplified by its other signals.",
            CONSISTENCY_BANDS,
            CONSISTENCY_MEANINGS,
        ),
    ]
}

fn described(bands: [&'static str; 5], meanings: [&'static str; 5]) -> Vec<Band> {
    let from = BANDS_FROM.into_iter().chain([0]).map(Decimal::from_units);
    bands
        .into_iter()
        .zip(from)
        .zip(meanings)
        .map(|((band, from), meaning)| Band { band, from, meaning })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session_metrics::{SessionTraces, SignalWeights, Thresholds};

    #[test]
    fn the_descriptions_match_the_metrics() {
        let metrics = SessionTraces::default().metrics(&SignalWeights::default(), &Thresholds::default());
        let [reliability, consistency] = registry();
        assert_eq!(
            (reliability.name, consistency.name),
            (metrics.agent_reliability.name, metrics.agent_consistency.name)
        );
        assert_eq!(reliability.bands[0].band, metrics.agent_reliability.band);
        let from: Vec<String> = consistency.bands.iter().map(|band| band.from.to_string()).collect();
        assert_eq!(from, ["0.9000", "0.7000", "0.5000", "0.3000", "0.0000"]);
    }
}
