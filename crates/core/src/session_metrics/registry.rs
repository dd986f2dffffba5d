//! The metrics that there are, described for whoever chooses among them.

use serde::Serialize;

use super::{
    BANDS_FROM, CONSISTENCY, CONSISTENCY_BANDS, DEFAULT_THRESHOLD, FORMULA_VERSION, RELIABILITY,
    RELIABILITY_BANDS,
};
use crate::decimal::Decimal;
use crate::units::Unit;

/// One metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// What it tells.
    pub description: &'static str,
    /// How it is made.
    pub method: &'static str,
    /// The score from which a session passes, unless the caller says otherwise.
    pub threshold: Unit,
    /// The version of the formula.
    pub formula_version: &'static str,
    /// The ranges of its scores, the best first.
    pub bands: Vec<Band>,
}

/// A range of scores.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Band {
    /// Its name.
    pub band: &'static str,
    /// The score from which it reaches up to the next better one.
    pub from: Decimal<4>,
    /// What it means.
    pub meaning: &'static str,
}

const RELIABILITY_MEANINGS: [&str; 5] = [
    "no trace had an elevated risk",
    "a few traces had a small risk",
    "the worst traces are worth a look",
    "some traces went wrong",
    "the worst traces went badly wrong",
];

const CONSISTENCY_MEANINGS: [&str; 5] = [
    "even all the way through",
    "small ups and downs",
    "uneven: uncertainty in several traces",
    "uncertain in much of the session",
    "uncertain nearly throughout, with signals that compound",
];

/// Every metric.
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
            "How bad the worst moments of a session were: one trace that went wrong is seen among many that did not.",
            "The largest weighted risk of each trace; the mean of the worst 15 % of them and the worst one, 9 to 1.",
            RELIABILITY_BANDS,
            RELIABILITY_MEANINGS,
        ),
        definition(
            CONSISTENCY,
            "How even a session was: many moderate troubles count though none of them is bad. Traces with a confidence only.",
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
    use crate::session_metrics::{Session, SignalWeights, Thresholds};

    #[test]
    fn what_is_described_is_what_is_computed() {
        let metrics = Session::default().metrics(&SignalWeights::default(), &Thresholds::default());
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
