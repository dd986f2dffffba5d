//! Input of the reputation score: the evaluations of one agent, added to a window while they are parsed.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{ReputationExplanation, ReputationRecord, Window};
use crate::json::Object;

/// Input of `renown score reputation`: `{"evaluations":[{"passed":true,"latency_ms":12.5}, …]}`, oldest first.
#[derive(Debug, Deserialize)]
pub struct Input {
    #[serde(rename = "evaluations")]
    window: Window,
}

impl Input {
    /// Computes the reputation of the agent.
    pub fn score(&self) -> ReputationRecord {
        self.window.tally().record()
    }

    /// Explains the score, part by part, and gives the score after the next pass or failure.
    pub fn explain(&self) -> ReputationExplanation {
        self.window.explain()
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Evaluations;

        impl<'de> Visitor<'de> for Evaluations {
            type Value = Window;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of evaluations, oldest first")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Window, A::Error> {
                let mut window = Window::default();
                while let Some(Object(evaluation)) = seq.next_element()? {
                    window.push(evaluation);
                }
                Ok(window)
            }
        }

        deserializer.deserialize_seq(Evaluations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn errors_name_the_invalid_field() {
        for (evaluations, message) in [
            (r#"{"passed":1}"#, "evaluations[0].passed: invalid type: integer `1`, expected a boolean"),
            (r#"{"latency_ms":1}"#, "evaluations[0]: missing field `passed`"),
            (
                r#"{"passed":true,"latency_ms":60000.001}"#,
                "evaluations[0].latency_ms: 60000.001, expected milliseconds from 0 to 60000",
            ),
            (
                r#"{"passed":true,"latency_ms":"1"}"#,
                "evaluations[0].latency_ms: invalid type: string \"1\", expected milliseconds from 0 to 60000",
            ),
            ("[true]", "evaluations[0]: invalid type: sequence, expected an object"),
        ] {
            let input = format!(r#"{{"evaluations":[{evaluations}]}}"#);
            assert_eq!(parse::<Input>(input.as_bytes()).unwrap_err().to_string(), message);
        }
    }
}
