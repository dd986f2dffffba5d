//! Explanations of scores: the parts of a rule, the inputs of each part and its contribution.
//!
//! An explanation is never computed separately. Each rule computes one breakdown, and both the score and its
//! explanation are read from it, so they cannot disagree.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::decimal::Decimal;

/// The parts that make up one score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The score, as the rule returns it.
    pub score: Value,
    /// The version of the formula that computed it.
    pub formula_version: &'static str,
    /// The parts, in the order of the formula.
    pub components: Vec<Component>,
}

/// One part of a score. Points are in the unit of the score.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ComponentReply))]
pub struct Component {
    /// Name of the part in its formula.
    pub name: &'static str,
    /// Values that the part was computed from.
    #[cfg_attr(feature = "schema", schema(value_type = serde_json::Map<String, Value>))]
    pub inputs: Inputs,
    /// Contribution of this part.
    pub points: Decimal<6>,
    /// Largest possible contribution.
    // Absent if the rule has no bound. The API only explains reputations, and all their parts have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = f64, required = true))]
    pub points_max: Option<Decimal<6>>,
    /// Missing points: `points_max − points`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = f64, required = true))]
    pub points_lost: Option<Decimal<6>>,
}

impl Component {
    /// Creates a part that can contribute at most `max`.
    pub(crate) fn bounded(name: &'static str, inputs: Inputs, points: Decimal<6>, max: Decimal<6>) -> Self {
        let lost = Decimal::from_units(max.units() - points.units());
        Self { name, inputs, points, points_max: Some(max), points_lost: Some(lost) }
    }

    /// Creates a part whose contribution has no bound.
    pub(crate) fn unbounded(name: &'static str, inputs: Inputs, points: Decimal<6>) -> Self {
        Self { name, inputs, points, points_max: None, points_lost: None }
    }
}

/// Named evidence, in the order in which the rule reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs(Vec<(&'static str, Value)>);

impl Inputs {
    /// Adds one input.
    pub(crate) fn push(&mut self, name: &'static str, value: impl Into<Value>) {
        self.0.push((name, value.into()));
    }

    /// Returns the value of one input.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

impl<const N: usize> From<[(&'static str, Value); N]> for Inputs {
    fn from(inputs: [(&'static str, Value); N]) -> Self {
        Self(inputs.into())
    }
}

impl Serialize for Inputs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<const PLACES: u32> From<Decimal<PLACES>> for Value {
    fn from(decimal: Decimal<PLACES>) -> Self {
        Self::from(decimal.to_f64())
    }
}
