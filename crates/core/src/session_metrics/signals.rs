//! The signals of a trace and their weights.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::DEFAULT_WEIGHTS;
use crate::json::number;
use crate::limits;
use crate::units::Unit;

/// Signals of a trace, each from 0 (bad) to 1 (good). An absent signal is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = TraceSignals))]
#[serde(deny_unknown_fields)]
pub struct Signals {
    /// How confident the agent was.
    pub confidence: Option<Unit>,
    /// How free of loops the trace was.
    pub loop_detection: Option<Unit>,
    /// How correctly the agent chose and used tools.
    pub tool_correctness: Option<Unit>,
    /// How coherent the steps were.
    pub coherence: Option<Unit>,
}

impl Signals {
    /// Returns `1 − signal` for each present signal, in the order of the formula.
    pub(super) fn risks(&self) -> [Option<f64>; 4] {
        [self.confidence, self.loop_detection, self.tool_correctness, self.coherence]
            .map(|signal| signal.map(|signal| 1.0 - signal.get()))
    }

    pub(super) fn any(&self) -> bool {
        self.risks().iter().any(Option::is_some)
    }
}

/// The weights of the signals. In a request, absent weights keep their defaults.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(from = "WeightOverrides", deny_unknown_fields)]
pub struct SignalWeights {
    /// Weight of confidence.
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub confidence: Weight,
    /// Weight of loop detection.
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub loop_detection: Weight,
    /// Weight of tool correctness.
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub tool_correctness: Weight,
    /// Weight of coherence.
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub coherence: Weight,
}

impl Default for SignalWeights {
    fn default() -> Self {
        let [confidence, loop_detection, tool_correctness, coherence] = DEFAULT_WEIGHTS.map(Weight);
        Self { confidence, loop_detection, tool_correctness, coherence }
    }
}

/// The weights that a caller sets. Absent weights keep their defaults.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightOverrides {
    confidence: Option<Weight>,
    loop_detection: Option<Weight>,
    tool_correctness: Option<Weight>,
    coherence: Option<Weight>,
}

impl From<WeightOverrides> for SignalWeights {
    fn from(overrides: WeightOverrides) -> Self {
        let default = Self::default();
        Self {
            confidence: overrides.confidence.unwrap_or(default.confidence),
            loop_detection: overrides.loop_detection.unwrap_or(default.loop_detection),
            tool_correctness: overrides.tool_correctness.unwrap_or(default.tool_correctness),
            coherence: overrides.coherence.unwrap_or(default.coherence),
        }
    }
}

impl SignalWeights {
    pub(super) fn in_order(&self) -> [f64; 4] {
        [self.confidence, self.loop_detection, self.tool_correctness, self.coherence].map(|weight| weight.0)
    }
}

/// A finite number from 0 to 10.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Weight(f64);

impl Weight {
    /// Creates a weight. Returns `None` if the number is out of range.
    pub fn new(weight: f64) -> Option<Self> {
        (0.0..=limits::SIGNAL_WEIGHT_MAX).contains(&weight).then_some(Self(weight))
    }
}

impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "a weight from 0 to 10";
        let weight = number(deserializer, EXPECTED)?;
        Self::new(weight).ok_or_else(|| Error::custom(format_args!("{weight}, expected {EXPECTED}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_range_from_0_to_10() {
        assert!(Weight::new(0.0).is_some() && Weight::new(10.0).is_some());
        for rejected in [-0.1, 10.000_000_1, f64::NAN, f64::INFINITY] {
            assert!(Weight::new(rejected).is_none(), "{rejected}");
        }
    }
}
