//! Typed ids, parsed once where they enter the system.
//!
//! | type | is | allowed |
//! |---|---|---|
//! | [`AgentId`] | the client's name of an agent | 1–200 characters, no control characters, not `.` or `..` |
//! | [`OrgId`] | the name of an organization | 1–64 of `a-z`, `0-9`, `-` |
//! | [`SessionId`] | the agent's id of a session | 1–256 bytes |
//! | [`TraceId`] | one trace of a session | 1–512 bytes |
//! | [`RunId`] | a finished run | 1–200 characters, no control characters, not `.` or `..` |
//! | [`EvalRunId`], [`ScheduleId`] | an eval run, a schedule | 1–64 of `A-Z`, `a-z`, `0-9`, `_`, `-`; generated |
//! | [`EventType`] | a kind of reputation event | 1–200 characters |
//! | [`EvaluationId`] | one evaluation | 1–64 of `A-Z`, `a-z`, `0-9`, `_`, `-`; generated ids have 16 and sort by time |
//! | [`IdentityId`] | an identity over time | a UUID |
//! | [`ToolName`] | the tool whose output was gated | at most 200 characters |
//!
//! Ids are compared as sent: no trimming, no case folding. `.` and `..` are rejected for ids that occur in the path
//! of a URL, because clients resolve them.

mod evaluation;
mod run;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::json::Found;
use crate::limits;

/// Why an id was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdError {
    found: Found,
    problem: IdProblem,
    allowed: &'static str,
}

/// What is wrong with an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdProblem {
    /// It is empty.
    Empty,
    /// It is longer than its kind allows.
    TooLong,
    /// It contains a character that its kind does not allow.
    Character(char),
    /// It is `.` or `..`.
    Dots,
    /// It is not a UUID.
    NotUuid,
}

impl IdError {
    /// Returns what is wrong with the id.
    pub fn problem(&self) -> IdProblem {
        self.problem
    }
}

impl fmt::Display for IdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, problem, allowed } = self;
        match problem {
            IdProblem::Empty => f.write_str("empty string")?,
            IdProblem::TooLong => write!(f, "{found} is too long")?,
            IdProblem::Character(char) => write!(f, "{found} has the character {char:?}")?,
            IdProblem::Dots | IdProblem::NotUuid => write!(f, "{found}")?,
        }
        write!(f, ", expected {allowed}")
    }
}

impl std::error::Error for IdError {}

/// Defines a text id: a newtype over shared text whose only constructor checks it.
macro_rules! text_id {
    ($(#[doc = $doc:literal])+ $name:ident, $allowed:literal, $check:expr) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Returns the id as it was sent.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let check: fn(&str) -> Result<(), IdProblem> = $check;
                match check(text) {
                    Ok(()) => Ok(Self(text.into())),
                    Err(problem) => Err(IdError { found: Found::quoted(text), problem, allowed: $allowed }),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(FromText($allowed, <$name>::from_str))
            }
        }
    };
}

text_id! {
    /// The client's name of an agent.
    AgentId, "1 to 200 characters without control characters, not `.` or `..`",
    |text| path_segment(text, limits::AGENT_ID_CHARS_MAX)
}

text_id! {
    /// The name of an organization.
    OrgId, "1 to 64 characters of a-z, 0-9 and -",
    |text| plain_name(text, limits::ORG_ID_CHARS_MAX)
}

text_id! {
    /// The agent's id of a session.
    SessionId, "1 to 256 bytes",
    |text| length(text.len(), limits::SESSION_ID_BYTES_MAX)
}

text_id! {
    /// One trace of a session.
    TraceId, "1 to 512 bytes",
    |text| length(text.len(), limits::TRACE_ID_BYTES_MAX)
}

text_id! {
    /// A finished run.
    RunId, "1 to 200 characters without control characters, not `.` or `..`",
    |text| path_segment(text, limits::RUN_ID_CHARS_MAX)
}

text_id! {
    /// One execution of session metrics over sessions.
    EvalRunId, "1 to 64 characters of A-Z, a-z, 0-9, _ and -",
    |text| generated(text)
}

text_id! {
    /// When eval runs start by themselves.
    ScheduleId, "1 to 64 characters of A-Z, a-z, 0-9, _ and -",
    |text| generated(text)
}

text_id! {
    /// The scope in which runs are compared: a project, a repository, a team.
    Workspace, "1 to 200 characters without control characters, not `.` or `..`",
    |text| path_segment(text, limits::WORKSPACE_CHARS_MAX)
}

text_id! {
    /// The task that agents compete on.
    SpecId, "1 to 200 characters without control characters, not `.` or `..`",
    |text| path_segment(text, limits::SPEC_ID_CHARS_MAX)
}

text_id! {
    /// The public name of an agent.
    Slug, "1 to 64 characters of a-z, 0-9 and -",
    |text| plain_name(text, limits::SLUG_CHARS_MAX)
}

text_id! {
    /// A kind of reputation event, such as `task_completed`.
    EventType, "1 to 200 characters",
    |text| length(text.chars().count(), limits::EVENT_TYPE_CHARS_MAX)
}

impl EventType {
    /// Returns the type of the event for a scored session.
    pub(crate) fn session_scored() -> Self {
        Self("session_scored".into())
    }
}

text_id! {
    /// The id of one evaluation, chosen by the client or generated.
    EvaluationId, "1 to 64 characters of A-Z, a-z, 0-9, _ and -",
    |text| generated(text)
}

text_id! {
    /// The tool whose output was gated.
    ToolName, "at most 200 characters",
    |text| length(text.chars().count().max(1), limits::TOOL_NAME_CHARS_MAX)
}

fn length(found: usize, max: usize) -> Result<(), IdProblem> {
    match found {
        0 => Err(IdProblem::Empty),
        _ if found > max => Err(IdProblem::TooLong),
        _ => Ok(()),
    }
}

/// Checks a name of a-z, 0-9 and -.
fn plain_name(text: &str, chars_max: usize) -> Result<(), IdProblem> {
    if let Some(found) = text.chars().find(|c| !matches!(c, 'a'..='z' | '0'..='9' | '-')) {
        return Err(IdProblem::Character(found));
    }
    length(text.len(), chars_max)
}

/// Checks an id that the server generates, or that looks like one.
fn generated(text: &str) -> Result<(), IdProblem> {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if let Some(found) = text.chars().find(|c| !allowed(c)) {
        return Err(IdProblem::Character(found));
    }
    length(text.len(), limits::EVALUATION_ID_CHARS_MAX)
}

/// Checks an id that clients put into the path of a URL.
fn path_segment(text: &str, chars_max: usize) -> Result<(), IdProblem> {
    if matches!(text, "." | "..") {
        return Err(IdProblem::Dots);
    }
    if let Some(found) = text.chars().find(|c| c.is_control()) {
        return Err(IdProblem::Character(found));
    }
    length(text.chars().count(), chars_max)
}

/// A visitor that parses a JSON string with the parser of its type.
struct FromText<T>(&'static str, fn(&str) -> Result<T, IdError>);

impl<T> Visitor<'_> for FromText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string of {}", self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.1)(text).map_err(E::custom)
    }
}

/// The UUID of an identity. [`crate::identity::identity_of`] computes the identity of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdentityId(Uuid);

impl IdentityId {
    /// Returns the UUID.
    pub fn as_uuid(self) -> Uuid {
        self.0
    }
}

impl From<Uuid> for IdentityId {
    fn from(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

impl FromStr for IdentityId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        parse_uuid(text).map(Self)
    }
}

impl fmt::Display for IdentityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl Serialize for IdentityId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for IdentityId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_uuid(deserializer).map(Self)
    }
}

/// Parses a UUID in its hyphenated form, ignoring case.
fn parse_uuid(text: &str) -> Result<Uuid, IdError> {
    let uuid = if text.len() == 36 { Uuid::try_parse(text).ok() } else { None };
    let rejected =
        || IdError { found: Found::quoted(text), problem: IdProblem::NotUuid, allowed: UUID_ALLOWED };
    uuid.ok_or_else(rejected)
}

/// Parses a UUID from a JSON string.
pub(crate) fn deserialize_uuid<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Uuid, D::Error> {
    deserializer.deserialize_str(FromText(UUID_ALLOWED, parse_uuid))
}

const UUID_ALLOWED: &str = "a UUID such as 6f2a0a3e-0d67-4d0e-9c55-2c1b7e0d0001";

#[cfg(test)]
mod tests {
    use super::*;

    fn problem<T: FromStr<Err = IdError> + fmt::Debug>(text: &str) -> IdProblem {
        text.parse::<T>().unwrap_err().problem()
    }

    #[test]
    fn agent_ids_are_counted_in_characters() {
        let longest = "é".repeat(limits::AGENT_ID_CHARS_MAX);
        assert_eq!(longest.parse::<AgentId>().unwrap().as_str(), longest);
        assert_eq!(problem::<AgentId>(&format!("{longest}é")), IdProblem::TooLong);
        assert_eq!(problem::<AgentId>(""), IdProblem::Empty);
        assert_eq!(problem::<AgentId>("."), IdProblem::Dots);
        assert_eq!(problem::<AgentId>(".."), IdProblem::Dots);
        assert_eq!(problem::<AgentId>("a\nb"), IdProblem::Character('\n'));
        assert_eq!(problem::<AgentId>("a\u{85}b"), IdProblem::Character('\u{85}'));
        assert!("...".parse::<AgentId>().is_ok());
        assert!(" padded ".parse::<AgentId>().is_ok(), "compared as sent");
    }

    #[test]
    fn run_ids_follow_the_same_rule() {
        assert!("run_01JQ7K".parse::<RunId>().is_ok());
        assert!("r".repeat(limits::RUN_ID_CHARS_MAX).parse::<RunId>().is_ok());
        assert_eq!(problem::<RunId>(&"r".repeat(limits::RUN_ID_CHARS_MAX + 1)), IdProblem::TooLong);
        assert_eq!(problem::<RunId>(".."), IdProblem::Dots);
    }

    #[test]
    fn organizations_are_lower_case_names() {
        assert!("a-z-0-9".parse::<OrgId>().is_ok());
        assert!("a".repeat(limits::ORG_ID_CHARS_MAX).parse::<OrgId>().is_ok());
        assert_eq!(problem::<OrgId>(&"a".repeat(limits::ORG_ID_CHARS_MAX + 1)), IdProblem::TooLong);
        assert_eq!(problem::<OrgId>("Acme"), IdProblem::Character('A'));
        assert_eq!(problem::<OrgId>("a_b"), IdProblem::Character('_'));
        assert_eq!(problem::<OrgId>(""), IdProblem::Empty);
    }

    #[test]
    fn session_and_trace_ids_are_counted_in_bytes() {
        assert!("s".repeat(limits::SESSION_ID_BYTES_MAX).parse::<SessionId>().is_ok());
        assert_eq!(problem::<SessionId>(&"s".repeat(limits::SESSION_ID_BYTES_MAX + 1)), IdProblem::TooLong);
        assert_eq!(
            problem::<SessionId>(&"é".repeat(limits::SESSION_ID_BYTES_MAX / 2 + 1)),
            IdProblem::TooLong
        );
        assert!("t".repeat(limits::TRACE_ID_BYTES_MAX).parse::<TraceId>().is_ok());
        assert_eq!(problem::<TraceId>(&"t".repeat(limits::TRACE_ID_BYTES_MAX + 1)), IdProblem::TooLong);
        assert_eq!(problem::<TraceId>(""), IdProblem::Empty);
    }

    #[test]
    fn tool_names_are_counted_in_characters_and_may_be_empty() {
        assert!("".parse::<ToolName>().is_ok());
        assert!("é".repeat(limits::TOOL_NAME_CHARS_MAX).parse::<ToolName>().is_ok());
        assert_eq!(problem::<ToolName>(&"é".repeat(limits::TOOL_NAME_CHARS_MAX + 1)), IdProblem::TooLong);
    }

    #[test]
    fn event_types_are_counted_in_characters() {
        assert!("é".repeat(limits::EVENT_TYPE_CHARS_MAX).parse::<EventType>().is_ok());
        assert_eq!(problem::<EventType>(&"é".repeat(limits::EVENT_TYPE_CHARS_MAX + 1)), IdProblem::TooLong);
        assert_eq!(problem::<EventType>(""), IdProblem::Empty);
    }

    #[test]
    fn errors_name_the_real_limits() {
        let allowed = |text: &str, max: usize| assert!(text.contains(&max.to_string()), "{text}");
        allowed(&"".parse::<AgentId>().unwrap_err().to_string(), limits::AGENT_ID_CHARS_MAX);
        allowed(&"".parse::<OrgId>().unwrap_err().to_string(), limits::ORG_ID_CHARS_MAX);
        allowed(&"".parse::<SessionId>().unwrap_err().to_string(), limits::SESSION_ID_BYTES_MAX);
        allowed(&"".parse::<TraceId>().unwrap_err().to_string(), limits::TRACE_ID_BYTES_MAX);
        allowed(&"".parse::<RunId>().unwrap_err().to_string(), limits::RUN_ID_CHARS_MAX);
        allowed(&"".parse::<EventType>().unwrap_err().to_string(), limits::EVENT_TYPE_CHARS_MAX);
    }

    #[test]
    fn identities_are_hyphenated_uuids() {
        let text = "6f2a0a3e-0d67-4d0e-9c55-2c1b7e0d0001";
        assert_eq!(text.parse::<IdentityId>().unwrap().to_string(), text);
        assert_eq!(text.to_uppercase().parse::<IdentityId>().unwrap().to_string(), text);
        for rejected in
            ["", "x", "6f2a0a3e0d674d0e9c552c1b7e0d0001", "{6f2a0a3e-0d67-4d0e-9c55-2c1b7e0d0001}"]
        {
            assert_eq!(problem::<IdentityId>(rejected), IdProblem::NotUuid, "{rejected}");
        }
    }

    #[test]
    fn errors_say_what_was_found_and_what_is_allowed() {
        assert_eq!(
            "Acme".parse::<OrgId>().unwrap_err().to_string(),
            "\"Acme\" has the character 'A', expected 1 to 64 characters of a-z, 0-9 and -"
        );
    }
}
