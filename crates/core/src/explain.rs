//! Why a score is what it is: the parts of a rule, what went into each and what each contributed.
//!
//! An explanation is never computed beside a score. Each rule makes one breakdown, and both the score and its
//! explanation are read from it, so they cannot disagree.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::decimal::Decimal;

/// The parts that make up one score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The score, as the rule serves it.
    pub score: Value,
    /// The version of the formula that made it.
    pub formula_version: &'static str,
    /// The parts, in the order of the formula.
    pub components: Vec<Component>,
}

/// One part of a score. Points are in the unit of the score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Component {
    /// The name of the part in its formula.
    pub name: &'static str,
    /// The evidence that the part looked at.
    pub inputs: Inputs,
    /// What the part contributed.
    pub points: Decimal<6>,
    /// The most it can contribute; absent where the rule has no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points_max: Option<Decimal<6>>,
    /// How far the contribution is below the most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points_lost: Option<Decimal<6>>,
}

impl Component {
    /// A part that can contribute at most `max`.
    pub(crate) fn bounded(name: &'static str, inputs: Inputs, points: Decimal<6>, max: Decimal<6>) -> Self {
        let lost = Decimal::from_units(max.units() - points.units());
        Self { name, inputs, points, points_max: Some(max), points_lost: Some(lost) }
    }

    /// A part whose contribution has no bound.
    pub(crate) fn unbounded(name: &'static str, inputs: Inputs, points: Decimal<6>) -> Self {
        Self { name, inputs, points, points_max: None, points_lost: None }
    }
}

/// Named evidence, in the order the rule reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs(Vec<(&'static str, Value)>);

impl Inputs {
    /// Adds one more.
    pub(crate) fn push(&mut self, name: &'static str, value: impl Into<Value>) {
        self.0.push((name, value.into()));
    }

    /// The value of one input.
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
