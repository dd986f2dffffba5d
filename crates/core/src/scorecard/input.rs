//! Input of the scorecard: the report of a run. Only `outcome` is required; invalid parts count as absent.
//!
//! Invalid are a fraction of a millisecond, a stage without a name, a number above 2^63 − 1 and a repeated field. The warnings name them.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Baseline, Report, Resources, RunOutcome, Scorecard, Stages};
use crate::explain::Explanation;
use crate::json::{self, Fields, Found, Given, Noted, UnknownFields, or_default};
use crate::units::Whole;

/// A part of a report that does not count, because it is invalid (`wall_ms: -5 is negative`) or unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning(pub(super) String);

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Input of `renown score run`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The report of the run.
    pub report: Report,
    /// The baseline of its wall time.
    pub baseline: Baseline,
    /// Invalid parts of the report.
    pub warnings: Vec<Warning>,
}

impl Input {
    /// Computes the scorecard of the run, with the warnings of its report.
    pub fn score(self) -> Scorecard {
        self.report.breakdown(self.baseline).scorecard(self.warnings)
    }

    /// Explains the scorecard: the contribution of each axis.
    pub fn explain(&self) -> Explanation {
        self.report.breakdown(self.baseline).explain()
    }
}

const FIELDS: [&str; 5] = ["outcome", "stages", "wall_ms", "baseline_wall_ms", "resources"];
const RESOURCE_FIELDS: [&str; 5] =
    ["memory_peak_bytes", "memory_limit_bytes", "cpu_periods", "cpu_throttled_periods", "cpu_throttled_ms"];

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::read(deserializer, &FIELDS)?;
        let outcome = outcome(&fields).map_err(serde::de::Error::custom)?;
        let mut reader = Reader::default();
        let stages = reader.read(&fields, "stages", read_stages).map(|(stages, _)| stages);
        let wall_ms = reader.whole(&fields, "wall_ms");
        let baseline = reader.read(&fields, "baseline_wall_ms", read_baseline).unwrap_or_default();
        let report = Report { outcome, stages, wall_ms, resources: reader.resources(&fields) };
        Ok(Self { report, baseline, warnings: reader.warnings })
    }
}

/// Reads the outcome, the only required field.
pub(super) fn outcome(fields: &Fields<'_>) -> Result<RunOutcome, String> {
    const ALLOWED: &str = "expected completed, blocked or failed";
    match fields.get("outcome") {
        Given::Absent => Err(format!("outcome: missing, {ALLOWED}")),
        Given::Repeated => Err(format!("outcome: given more than once, {ALLOWED} once")),
        Given::Once(text) => {
            serde_json::from_str(text).map_err(|_| format!("outcome: {}, {ALLOWED}", Found::new(text)))
        }
    }
}

/// A reader of optional parts. An invalid part becomes a warning.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) warnings: Vec<Warning>,
    /// Unknown fields inside the parts.
    pub(super) unknown: UnknownFields,
}

impl Reader {
    pub(super) fn read<'a, T>(
        &mut self,
        fields: &Fields<'a>,
        field: &'static str,
        read: impl FnOnce(&'a str) -> Result<T, String>,
    ) -> Option<T> {
        let problem = match fields.get(field) {
            Given::Absent => return None,
            Given::Repeated => "given more than once".to_owned(),
            Given::Once(text) => match read(text) {
                Ok(value) => return Some(value),
                Err(problem) => problem,
            },
        };
        self.warnings.push(Warning(format!("{field}: {problem}")));
        None
    }

    pub(super) fn whole(&mut self, fields: &Fields<'_>, field: &'static str) -> Option<Whole> {
        self.read(fields, field, |text| text.parse::<Whole>().map_err(|error| error.to_string()))
    }

    pub(super) fn resources(&mut self, fields: &Fields<'_>) -> Resources {
        let Some(parts) = self.read(fields, "resources", read_resources) else { return Resources::default() };
        self.unknown.add("resources.", &parts.unknown);
        let [memory_peak_bytes, memory_limit_bytes, cpu_periods, cpu_throttled_periods, cpu_throttled_ms] =
            RESOURCE_FIELDS.map(|field| self.whole(&parts, field));
        Resources {
            memory_peak_bytes,
            memory_limit_bytes,
            cpu_periods,
            cpu_throttled_periods,
            cpu_throttled_ms,
        }
    }
}

fn read_resources(text: &str) -> Result<Fields<'_>, String> {
    Fields::read(&mut serde_json::Deserializer::from_str(text), &RESOURCE_FIELDS)
        .map_err(|_| format!("{} is not an object", Found::new(text)))
}

fn read_baseline(text: &str) -> Result<Baseline, String> {
    let wall_ms: Vec<Whole> = read_array(text)?;
    Ok(Baseline::new(&wall_ms))
}

/// A stage of a run.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RunStage<'a> {
    /// Name of the stage, for people.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Whether the stage passed.
    pub passed: bool,
    /// Number of attempts; default: 1.
    #[serde(default, deserialize_with = "or_default")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>, minimum = 1))]
    pub attempts: Attempts,
}

/// Number of attempts of a stage, at least 1.
#[derive(Clone, Copy, Debug)]
pub struct Attempts(u64);

impl Default for Attempts {
    fn default() -> Self {
        Self(1)
    }
}

impl<'de> Deserialize<'de> for Attempts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Whole::deserialize(deserializer)?.get() {
            0 => Err(serde::de::Error::custom("0, expected at least 1 attempt")),
            attempts => Ok(Self(attempts)),
        }
    }
}

pub(super) fn read_stages(text: &str) -> Result<(Stages, UnknownFields), String> {
    let stages: Vec<Noted<RunStage<'_>>> = read_array(text)?;
    let (mut counted, mut unknown) = (Stages::default(), UnknownFields::default());
    for (index, stage) in stages.iter().enumerate() {
        counted.add(stage.value.passed, stage.value.attempts.0);
        unknown.add(format_args!("stages[{index}]."), &stage.unknown);
    }
    Ok((counted, unknown))
}

/// Reads an array. The error names the malformed item and the reason.
fn read_array<'a, T: Deserialize<'a>>(text: &'a str) -> Result<Vec<T>, String> {
    if !text.starts_with('[') {
        return Err(format!("{} is not an array", Found::new(text)));
    }
    json::from_text(text).map_err(|(path, error)| format!("{path} {}", json::message(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn warnings(text: &str) -> Vec<String> {
        parse::<Input>(text.as_bytes()).unwrap().warnings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn invalid_parts_are_named_and_count_as_absent() {
        for (report, expected) in [
            (r#""wall_ms":-5"#, "wall_ms: -5 is negative"),
            (r#""wall_ms":"fast""#, r#"wall_ms: "fast" is not a number"#),
            (r#""wall_ms":1.5"#, "wall_ms: 1.5 is not a whole number"),
            (r#""wall_ms":1e999"#, "wall_ms: 1e999 is above 9223372036854775807"),
            (r#""wall_ms":1,"wall_ms":1"#, "wall_ms: given more than once"),
            (r#""stages":"lint""#, r#"stages: "lint" is not an array"#),
            (
                r#""stages":[{"name":"a","passed":true,"attempts":0}]"#,
                "stages: [0].attempts 0, expected at least 1 attempt",
            ),
            (
                r#""stages":[{"name":"a","passed":1}]"#,
                "stages: [0].passed invalid type: integer `1`, expected a boolean",
            ),
            (r#""stages":[{"passed":true}]"#, "stages: [0] missing field `name`"),
            (r#""stages":[["a",true,1]]"#, "stages: [0] invalid type: sequence, expected an object"),
            (
                r#""baseline_wall_ms":[5,-1]"#,
                "baseline_wall_ms: [1] -1 is negative, expected a whole number from 0 to 9223372036854775807",
            ),
            (r#""resources":7"#, "resources: 7 is not an object"),
            (r#""resources":{"memory_peak_bytes":-1}"#, "memory_peak_bytes: -1 is negative"),
            (r#""resources":{"cpu_periods":true}"#, "cpu_periods: true is not a number"),
        ] {
            assert_eq!(warnings(&format!(r#"{{"outcome":"completed",{report}}}"#)), [expected]);
        }
    }

    #[test]
    fn null_and_unknown_fields_are_silent() {
        let report = r#"{"outcome":"failed","wall_ms":null,"stages":null,"resources":{"cpu_periods":null},"colour":"red"}"#;
        assert!(warnings(report).is_empty());
    }

    #[test]
    fn only_an_invalid_outcome_rejects_a_run() {
        for (report, message) in [
            ("{}", "outcome: missing, expected completed, blocked or failed"),
            (r#"{"outcome":null}"#, "outcome: missing, expected completed, blocked or failed"),
            (r#"{"outcome":"done"}"#, r#"outcome: "done", expected completed, blocked or failed"#),
            (r#"{"outcome":7}"#, "outcome: 7, expected completed, blocked or failed"),
            (
                r#"{"outcome":"failed","outcome":"failed"}"#,
                "outcome: given more than once, expected completed, blocked or failed once",
            ),
        ] {
            assert_eq!(parse::<Input>(report.as_bytes()).unwrap_err().to_string(), message);
        }
    }
}
