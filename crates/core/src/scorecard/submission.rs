//! A run as a platform submits it: the report to score, the agent and the workspace.
//!
//! Only an invalid `agent_id` or `outcome` rejects a run. Every other invalid field counts as absent and is named in
//! the warnings: a run that happened is evidence, however badly it is described. Unknown fields are named after the
//! invalid ones.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::input::{self, Reader, read_stages};
use super::{Report, Warning};
use crate::ids::{AgentId, RunId, SpecId, Workspace};
use crate::json::{Fields, Found, Given};
use crate::limits;
use crate::time::Timestamp;

/// The workspace of runs that do not name one.
pub const DEFAULT_WORKSPACE: &str = "default";

/// A run as it is submitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// The agent that did the run.
    pub agent: AgentId,
    /// The platform's id of the run.
    pub run: Option<RunId>,
    /// The workspace whose runs it is compared with. `None` means [`DEFAULT_WORKSPACE`].
    pub workspace: Option<Workspace>,
    /// The task that the run attempted.
    pub spec: Option<SpecId>,
    /// The report to score.
    pub report: Report,
    /// Its stages as JSON, if they are valid.
    pub stages: Option<String>,
    /// Start of the run.
    pub started_at: Option<Timestamp>,
    /// End of the run.
    pub finished_at: Option<Timestamp>,
    /// The branch with the result.
    pub branch: Option<String>,
    /// URL of the pull request with the result.
    pub pull_request: Option<String>,
    /// Other data that the platform stores with the run, as a JSON object.
    pub attributes: Option<String>,
    /// Invalid fields, then unknown fields.
    pub warnings: Vec<Warning>,
}

const FIELDS: [&str; 13] = [
    "agent_id",
    "outcome",
    "run_id",
    "workspace",
    "spec_id",
    "stages",
    "wall_ms",
    "resources",
    "started_at",
    "finished_at",
    "branch",
    "pull_request",
    "attributes",
];

impl<'de> Deserialize<'de> for Submission {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::read(deserializer, &FIELDS)?;
        let agent = agent(&fields).map_err(serde::de::Error::custom)?;
        let outcome = input::outcome(&fields).map_err(serde::de::Error::custom)?;
        let mut reader = Reader::default();
        let run = reader.read(&fields, "run_id", id);
        let workspace = reader.read(&fields, "workspace", id);
        let spec = reader.read(&fields, "spec_id", id);
        let stages = reader.read(&fields, "stages", |text| {
            let kept = checked_depth(at_most(text, limits::RUN_STAGES_BYTES_MAX)?)?.to_owned();
            let (counted, unknown) = read_stages(text)?;
            Ok((counted, kept, unknown))
        });
        let wall_ms = reader.whole(&fields, "wall_ms");
        let resources = reader.resources(&fields);
        let started_at = reader.read(&fields, "started_at", time);
        let finished_at = reader.read(&fields, "finished_at", time);
        let branch = reader.read(&fields, "branch", |text| one_line(text, limits::BRANCH_CHARS_MAX));
        let pull_request = reader.read(&fields, "pull_request", url);
        let attributes = reader.read(&fields, "attributes", object);
        let mut unknown = fields.unknown;
        let (counted, stages) = stages
            .map(|(counted, stages, inside)| {
                unknown.add("", &inside);
                (counted, stages)
            })
            .unzip();
        unknown.add("", &reader.unknown);
        let report = Report { outcome, stages: counted, wall_ms, resources };
        let mut warnings = reader.warnings;
        warnings.extend(unknown.into_warnings().into_iter().map(Warning));
        Ok(Self {
            agent,
            run,
            workspace,
            spec,
            report,
            stages,
            started_at,
            finished_at,
            branch,
            pull_request,
            attributes,
            warnings,
        })
    }
}

fn agent(fields: &Fields<'_>) -> Result<AgentId, String> {
    match fields.get("agent_id") {
        Given::Absent => Err("agent_id: missing, expected the name of an agent".to_owned()),
        Given::Repeated => Err("agent_id: given more than once, expected it once".to_owned()),
        Given::Once(text) => text_of(text)
            .and_then(|agent| agent.parse().map_err(|error: crate::ids::IdError| error.to_string()))
            .map_err(|problem| format!("agent_id: {problem}")),
    }
}

/// Parses a JSON string.
fn text_of(json: &str) -> Result<String, String> {
    serde_json::from_str(json).map_err(|_| format!("{} is not a string", Found::new(json)))
}

fn id<T: core::str::FromStr<Err = crate::ids::IdError>>(json: &str) -> Result<T, String> {
    text_of(json)?.parse().map_err(|error: crate::ids::IdError| error.to_string())
}

fn time(json: &str) -> Result<Timestamp, String> {
    serde_json::from_str(json).map_err(|_| {
        format!("{} is not an RFC 3339 time or whole milliseconds, from 2000 to 2100", Found::new(json))
    })
}

/// Parses a string of one line, with at most `chars_max` characters.
fn one_line(json: &str, chars_max: usize) -> Result<String, String> {
    let text = text_of(json)?;
    if text.is_empty() || text.chars().count() > chars_max || text.chars().any(char::is_control) {
        let found = Found::quoted(&text);
        return Err(format!(
            "{found} is not a string of 1 to {chars_max} characters without control characters"
        ));
    }
    Ok(text)
}

/// Parses an http or https URL.
fn url(json: &str) -> Result<String, String> {
    let text = one_line(json, limits::PULL_REQUEST_CHARS_MAX)?;
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    if host.is_none_or(|host| host.is_empty() || host.starts_with('/')) || text.contains(char::is_whitespace)
    {
        return Err(format!("{} is not an http or https URL", Found::new(json)));
    }
    Ok(text)
}

/// Checks that the JSON is an object within the size limit.
fn object(json: &str) -> Result<String, String> {
    if !json.starts_with('{') {
        return Err(format!("{} is not an object", Found::new(json)));
    }
    let json = at_most(json, limits::RUN_ATTRIBUTES_BYTES_MAX)?;
    let raw = serde_json::from_str::<&RawValue>(json).map_err(|error| error.to_string())?;
    checked_depth(raw.get()).map(str::to_owned)
}

fn at_most(json: &str, bytes_max: usize) -> Result<&str, String> {
    let found = json.len();
    if found > bytes_max { Err(format!("{found} bytes, expected at most {bytes_max}")) } else { Ok(json) }
}

/// Checks that the nesting is within the limit, so that every JSON reader can parse the stored text.
fn checked_depth(json: &str) -> Result<&str, String> {
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let max = limits::RUN_DEPTH_MAX;
    if deepest > max {
        Err(format!("nested {deepest} levels deep, expected at most {max}"))
    } else {
        Ok(json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn submission(more: &str) -> Submission {
        parse(format!(r#"{{"agent_id":"a","outcome":"completed"{more}}}"#).as_bytes()).unwrap()
    }

    #[test]
    fn only_an_invalid_agent_or_outcome_rejects_a_run() {
        for (run, message) in [
            (r#"{"outcome":"failed"}"#, "agent_id: missing, expected the name of an agent"),
            (r#"{"outcome":"failed","agent_id":7}"#, "agent_id: 7 is not a string"),
            (
                r#"{"outcome":"failed","agent_id":""}"#,
                "agent_id: empty string, expected 1 to 200 characters without control characters, not `.` or `..`",
            ),
            (
                r#"{"outcome":"failed","agent_id":"a","agent_id":"b"}"#,
                "agent_id: given more than once, expected it once",
            ),
            (r#"{"agent_id":"a"}"#, "outcome: missing, expected completed, blocked or failed"),
        ] {
            assert_eq!(parse::<Submission>(run.as_bytes()).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn invalid_fields_are_named_and_count_as_absent() {
        for (field, warning) in [
            (r#""run_id":7"#, "run_id: 7 is not a string"),
            (
                r#""run_id":"..""#,
                "run_id: \"..\", expected 1 to 200 characters without control characters, not `.` or `..`",
            ),
            (
                r#""workspace":"""#,
                "workspace: empty string, expected 1 to 200 characters without control characters, not `.` or `..`",
            ),
            (r#""spec_id":[]"#, "spec_id: [] is not a string"),
            (r#""wall_ms":-5"#, "wall_ms: -5 is negative"),
            (
                r#""started_at":"yesterday""#,
                "started_at: \"yesterday\" is not an RFC 3339 time or whole milliseconds, from 2000 to 2100",
            ),
            (
                r#""finished_at":"1970-01-01T00:00:00Z""#,
                "finished_at: \"1970-01-01T00:00:00Z\" is not an RFC 3339 time or whole milliseconds, from 2000 to 2100",
            ),
            (
                r#""branch":"a\nb""#,
                "branch: \"a\\nb\" is not a string of 1 to 500 characters without control characters",
            ),
            (
                r#""pull_request":"javascript:alert(1)""#,
                "pull_request: \"javascript:alert(1)\" is not an http or https URL",
            ),
            (r#""pull_request":"https:///x""#, "pull_request: \"https:///x\" is not an http or https URL"),
            (r#""attributes":[1]"#, "attributes: [1] is not an object"),
            (r#""workspace":"a","workspace":"b""#, "workspace: given more than once"),
        ] {
            let found = submission(&format!(",{field}"));
            let warnings: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
            assert_eq!(warnings, [warning]);
            assert_eq!(Submission { warnings: Vec::new(), ..found }, submission(""), "{field}");
        }
        let long = format!(r#","attributes":{{"a":"{}"}}"#, "x".repeat(limits::RUN_ATTRIBUTES_BYTES_MAX));
        assert_eq!(submission(&long).attributes, None);
        let long =
            format!(r#","stages":[{{"name":"{}","passed":true}}]"#, "x".repeat(limits::RUN_STAGES_BYTES_MAX));
        assert_eq!((submission(&long).stages, submission(&long).report.stages), (None, None));
    }

    #[test]
    fn too_deeply_nested_json_counts_as_absent() {
        // Brackets inside strings do not count as nesting.
        let nested = |depth: usize| {
            let inside = format!(r#"{}"[{{\"[[[["{}"#, r#"{"a":"#.repeat(depth), "}".repeat(depth));
            submission(&format!(r#","attributes":{inside}"#))
        };
        let max = limits::RUN_DEPTH_MAX;
        assert!(nested(max).attributes.is_some_and(|text| text.len() > max));
        let found = nested(max + 1);
        assert_eq!(found.attributes, None);
        assert_eq!(found.warnings[0].to_string(), "attributes: nested 101 levels deep, expected at most 100");
        let stages =
            format!(r#","stages":[{{"name":"x","passed":true,"y":{}{}}}]"#, "[".repeat(99), "]".repeat(99));
        assert_eq!(submission(&stages).stages, None);
    }

    #[test]
    fn every_field_is_read() {
        let found = submission(
            r#","run_id":"r1","workspace":"w","spec_id":"s","stages":[{"name":"lint","passed":true}],"wall_ms":5,
            "started_at":"2026-11-15T12:00:00Z","finished_at":1794744005000,"branch":"feat/x",
            "pull_request":"https://example.com/pull/1","attributes":{"model":"m"},"colour":"red""#,
        );
        let warnings: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings, ["colour: unknown field, ignored"]);
        assert_eq!(found.run.as_ref().map(RunId::as_str), Some("r1"));
        assert_eq!(found.stages.as_deref(), Some(r#"[{"name":"lint","passed":true}]"#));
        assert_eq!(found.finished_at.unwrap().nanos() - found.started_at.unwrap().nanos(), 5_000_000_000);
        assert_eq!(found.attributes.as_deref(), Some(r#"{"model":"m"}"#));
        assert_eq!(found.branch.as_deref(), Some("feat/x"));
    }

    #[test]
    fn unknown_fields_are_named_after_invalid_ones() {
        let found = submission(
            r#","wall":5,"wall_ms":-5,"resources":{"memory_peak":1,"cpu_periods":2},
            "stages":[{"name":"a","passed":true},{"name":"b","passed":true,"attempt":2}],"attributes":{"free":1}"#,
        );
        let warnings: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            warnings,
            [
                "wall_ms: -5 is negative",
                "wall: unknown field, ignored; did you mean wall_ms?",
                "stages[1].attempt: unknown field, ignored; did you mean attempts?",
                "resources.memory_peak: unknown field, ignored; did you mean memory_peak_bytes?",
            ]
        );
        assert!(found.report.stages.is_some() && found.stages.is_some());
    }
}
