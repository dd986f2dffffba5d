//! Claude Code: the variables under `env` in its `settings.json`, and a command that shows the score.
//!
//! | variable | value | why |
//! |---|---|---|
//! | `CLAUDE_CODE_ENABLE_TELEMETRY` | `1` | nothing is exported without it |
//! | `OTEL_LOGS_EXPORTER` | `otlp` | events are log records; metrics and traces stay unchanged |
//! | `OTEL_EXPORTER_OTLP_PROTOCOL`, `…_ENDPOINT` | `http/protobuf`, the server | the destination |
//! | `OTEL_RESOURCE_ATTRIBUTES` | `renown.agent_id=…` | the agent's id |
//!
//! If metrics or traces already go to another receiver, only the variables of logs (`OTEL_EXPORTER_OTLP_LOGS_…`) are written, so
//! that metrics and traces still go there. No variable that adds the content of prompts, tool calls or answers is ever written.
//! Source: the pages "Monitoring", "Settings" and "Slash commands" of Claude Code's documentation.

use std::path::{Path, PathBuf};

use serde_json::Value;

use renown_core::ids::AgentId;

use super::attributes;
use super::json::{self, JsonError, Section};
use super::plan::{Change, Edited, Unreadable, Wanted};
use super::receiver::{self, Encoding, Receiver};

const SECTION: &str = "env";

/// The command `/performance`. With `--org`, it judges the sessions of the store, whatever is on standard input.
pub(crate) const COMMAND: &str = "---
description: Show Renown's verdict on the last session
allowed-tools: Bash(renown judge:*)
---

Renown's verdict on the last session:

!`renown judge --org default`

Show this verdict to the user as it is. Then say in one or two plain sentences which dimension is the lowest and why,
from the numbers above alone. Do nothing else.
";

/// Returns the directory of its settings and commands.
pub(crate) fn folder(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    variable("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude"))
}

/// Adds Renown to the settings.
pub(crate) fn settings(text: &str, wanted: &Wanted, default: &AgentId) -> Result<Edited, Unreadable> {
    let env = json::section(text, SECTION).map_err(unreadable)?;
    let mut settings = Vec::new();
    let mut changes = Vec::new();
    for (key, value) in variables(&env, wanted, default) {
        let was = variable(&env, key);
        if was.as_deref() != Some(&value) {
            settings.push((key, Value::from(value.as_str())));
            changes.push(Change { key: format!("{SECTION}.{key}"), value, was });
        }
    }
    let text = json::set(text, SECTION, &settings).map_err(unreadable)?;
    let warnings = warnings(&env, &changes);
    Ok(Edited { text, changes, warnings })
}

/// Returns the receiver of its log records.
pub(crate) fn receiver(text: &str) -> Option<Receiver> {
    let env = json::section(text, SECTION).ok()?;
    let set = |key: &str| variable(&env, key).filter(|value| !value.trim().is_empty());
    let url = set("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT").or_else(|| {
        let base = set("OTEL_EXPORTER_OTLP_ENDPOINT")?;
        Some(format!("{}/v1/logs", base.trim_end_matches('/')))
    })?;
    let protocol = set("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL").or_else(|| set("OTEL_EXPORTER_OTLP_PROTOCOL"));
    let encoding = if protocol.as_deref() == Some("http/json") { Encoding::Json } else { Encoding::Protobuf };
    let headers = set("OTEL_EXPORTER_OTLP_LOGS_HEADERS").or_else(|| set("OTEL_EXPORTER_OTLP_HEADERS"));
    Some(Receiver {
        url,
        encoding,
        headers: receiver::headers(&headers.unwrap_or_default()),
        key_setting: "env.OTEL_EXPORTER_OTLP_HEADERS in its settings.json to \"Authorization=Bearer KEY\"",
    })
}

/// Plans the command file. A file that the user wrote or changed stays unchanged.
pub(crate) fn command(text: &str) -> Edited {
    if text.trim().is_empty() {
        let change = Change {
            key: "/performance".to_owned(),
            value: "runs `renown judge --org default`".to_owned(),
            was: None,
        };
        return Edited { text: COMMAND.to_owned(), changes: vec![change], warnings: Vec::new() };
    }
    let warnings = if text == COMMAND {
        Vec::new()
    } else {
        vec!["differs from the file that renown writes, so it stays unchanged".to_owned()]
    };
    Edited { text: text.to_owned(), changes: Vec::new(), warnings }
}

fn unreadable(JsonError { line, problem }: JsonError) -> Unreadable {
    Unreadable { line, problem }
}

/// Returns the value of a variable as the process will see it.
fn variable(env: &Section, key: &str) -> Option<String> {
    match env.get(key)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Some(other.to_string())
        }
    }
}

/// Returns every required variable with its value. A value that already works stays unchanged.
fn variables(env: &Section, wanted: &Wanted, default: &AgentId) -> Vec<(&'static str, String)> {
    let enabled = variable(env, "CLAUDE_CODE_ENABLE_TELEMETRY").filter(|value| is_on(value));
    let mut variables = vec![
        ("CLAUDE_CODE_ENABLE_TELEMETRY", enabled.unwrap_or_else(|| "1".to_owned())),
        ("OTEL_LOGS_EXPORTER", logs_exporter(variable(env, "OTEL_LOGS_EXPORTER").as_deref())),
    ];
    let (server, protocol) = (wanted.server.as_str().to_owned(), "http/protobuf".to_owned());
    let exports = |key| variable(env, key).is_some_and(|value| names(&value).any(|name| name == "otlp"));
    let shared = exports("OTEL_METRICS_EXPORTER") || exports("OTEL_TRACES_EXPORTER");
    let logs_only = shared && variable(env, "OTEL_EXPORTER_OTLP_ENDPOINT").as_ref() != Some(&server);
    if !logs_only {
        variables.push(("OTEL_EXPORTER_OTLP_PROTOCOL", protocol.clone()));
        variables.push(("OTEL_EXPORTER_OTLP_ENDPOINT", server));
    }
    // A variable of logs overrides the general one, so it is written if it is needed or already set.
    for (key, value) in [
        ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", protocol),
        ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", wanted.server.logs()),
    ] {
        if logs_only || variable(env, key).is_some_and(|current| !current.trim().is_empty()) {
            variables.push((key, value));
        }
    }
    let current = variable(env, attributes::VARIABLE);
    variables.push((attributes::VARIABLE, wanted.attributes(current.as_deref(), default)));
    variables
}

/// Adds `otlp` to the exporters of logs.
fn logs_exporter(current: Option<&str>) -> String {
    let current = current.unwrap_or_default();
    if names(current).any(|name| name == "otlp") {
        return current.to_owned();
    }
    let others = names(current).filter(|&name| name != "none");
    others.chain(["otlp"]).collect::<Vec<_>>().join(",")
}

fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

fn is_on(value: &str) -> bool {
    !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
}

fn warnings(env: &Section, changes: &[Change]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (key, _) in env.iter() {
        let content = (key.starts_with("OTEL_LOG_") && key != "OTEL_LOG_LEVEL")
            || key == "ENABLE_BETA_TRACING_DETAILED";
        if content && variable(env, key).is_some_and(|value| is_on(&value)) {
            warnings.push(format!(
                "{SECTION}.{key} is on: it sends the content of your work, which Renown neither needs nor stores"
            ));
        }
    }
    let moved = changes.iter().any(|change| change.key.ends_with("_ENDPOINT") && change.was.is_some());
    for key in ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_HEADERS"] {
        if moved && env.get(key).is_some() {
            warnings
                .push(format!("{SECTION}.{key} was set for another receiver and will be sent to this one"));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(env: &str, wanted: &Wanted) -> (Vec<String>, Vec<String>) {
        let text = format!("{{\"env\":{env}}}");
        let edited = settings(&text, wanted, &"claude-code".parse().unwrap()).unwrap();
        let again = settings(&edited.text, wanted, &"claude-code".parse().unwrap()).unwrap();
        assert_eq!((again.text, again.changes), (edited.text, Vec::new()), "a second run changes nothing");
        let short = |change: &Change| {
            let key = change.key.strip_prefix("env.").unwrap();
            let key = key.replace("OTEL_EXPORTER_OTLP_", "").replace("OTEL_", "");
            format!("{key}={} was {:?}", change.value, change.was.as_deref().unwrap_or("-"))
        };
        (edited.changes.iter().map(short).collect(), edited.warnings)
    }

    #[test]
    fn a_new_file_has_the_required_settings_and_sends_no_content() {
        let edited = settings("", &Wanted::default(), &"claude-code".parse().unwrap()).unwrap();
        assert_eq!(
            edited.text,
            r#"{
  "env": {
    "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
    "OTEL_LOGS_EXPORTER": "otlp",
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318",
    "OTEL_RESOURCE_ATTRIBUTES": "renown.agent_id=claude-code"
  }
}
"#
        );
        assert!(edited.changes.len() == 5 && edited.warnings.is_empty());
    }

    #[test]
    fn settings_that_already_work_stay_unchanged() {
        let env = r#"{"CLAUDE_CODE_ENABLE_TELEMETRY": 1, "OTEL_LOGS_EXPORTER": "console, otlp",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318",
            "OTEL_RESOURCE_ATTRIBUTES": "team=a,renown.agent_id=mine"}"#;
        assert_eq!(planned(env, &Wanted::default()), (vec![], vec![]));
        let other = Wanted { agent: Some("é 1".parse().unwrap()), ..Wanted::default() };
        assert_eq!(
            planned(env, &other).0,
            [r#"RESOURCE_ATTRIBUTES=team=a,renown.agent_id=%C3%A9%201 was "team=a,renown.agent_id=mine""#]
        );
    }

    #[test]
    fn metrics_and_traces_keep_their_receiver() {
        let env = r#"{"CLAUDE_CODE_ENABLE_TELEMETRY": "0", "OTEL_METRICS_EXPORTER": "otlp", "OTEL_LOGS_EXPORTER": "none",
            "OTEL_EXPORTER_OTLP_ENDPOINT": "https://other", "OTEL_RESOURCE_ATTRIBUTES": "renown.agent_id=mine"}"#;
        let wanted = Wanted { server: "https://host/otlp".parse().unwrap(), agent: None };
        assert_eq!(
            planned(env, &wanted).0,
            [
                r#"CLAUDE_CODE_ENABLE_TELEMETRY=1 was "0""#,
                r#"LOGS_EXPORTER=otlp was "none""#,
                r#"LOGS_PROTOCOL=http/protobuf was "-""#,
                r#"LOGS_ENDPOINT=https://host/otlp/v1/logs was "-""#,
            ]
        );
    }

    #[test]
    fn another_receiver_of_logs_is_replaced() {
        let env = r#"{"CLAUDE_CODE_ENABLE_TELEMETRY": "true", "OTEL_LOGS_EXPORTER": "console",
            "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "https://other/v1/logs", "OTEL_EXPORTER_OTLP_HEADERS": "a=b",
            "OTEL_RESOURCE_ATTRIBUTES": "renown.agent_id=mine"}"#;
        let (changes, warnings) = planned(env, &Wanted::default());
        assert_eq!(
            changes,
            [
                r#"LOGS_EXPORTER=console,otlp was "console""#,
                r#"PROTOCOL=http/protobuf was "-""#,
                r#"ENDPOINT=http://127.0.0.1:4318 was "-""#,
                r#"LOGS_ENDPOINT=http://127.0.0.1:4318/v1/logs was "https://other/v1/logs""#,
            ]
        );
        assert!(
            warnings.len() == 1 && warnings[0].starts_with("env.OTEL_EXPORTER_OTLP_HEADERS "),
            "{warnings:?}"
        );
    }

    #[test]
    fn settings_that_send_content_cause_a_warning_and_stay() {
        let env = r#"{"OTEL_LOG_USER_PROMPTS": "1", "OTEL_LOG_TOOL_DETAILS": true, "OTEL_LOG_TOOL_CONTENT": "0",
            "OTEL_LOG_RAW_API_BODIES": "file:/x", "OTEL_LOG_LEVEL": "debug"}"#;
        let (changes, warnings) = planned(env, &Wanted::default());
        assert!(changes.iter().all(|change| !change.contains("LOG_")), "{changes:?}");
        let named: Vec<_> = warnings.iter().filter_map(|warning| warning.split(' ').next()).collect();
        assert_eq!(
            named,
            ["env.OTEL_LOG_USER_PROMPTS", "env.OTEL_LOG_TOOL_DETAILS", "env.OTEL_LOG_RAW_API_BODIES"]
        );
    }

    #[test]
    fn a_command_of_the_user_stays_unchanged() {
        assert_eq!(command("").text, COMMAND);
        assert_eq!(command(COMMAND), Edited { text: COMMAND.to_owned(), ..Edited::default() });
        let theirs = command("mine");
        assert!(theirs.text == "mine" && theirs.changes.is_empty() && theirs.warnings.len() == 1);
    }
}
