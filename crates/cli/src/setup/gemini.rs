//! Gemini CLI: `telemetry` in its `settings.json`, and its `.env` for the resource attribute.
//!
//! | setting | value | why |
//! |---|---|---|
//! | `enabled` | `true` | nothing is exported without it |
//! | `target` | `"local"` | `"gcp"` would send to Google Cloud |
//! | `otlpEndpoint`, `otlpProtocol` | the server, `"http"` | the destination; the CLI appends `/v1/logs` |
//! | `logPrompts` | `false`, if absent | its default is `true` |
//! | `outfile`, `useCliAuth` | `""`, `false`, if set | otherwise it writes a file instead of OTLP, or waits for a login |
//!
//! The CLI reads only the nearest `.env` file: upwards from the working directory, then `~/.gemini/.env`, then `~/.env`.
//! Source: `docs/cli/telemetry.md`, `packages/core/src/telemetry/{config,sdk}.ts` and
//! `packages/cli/src/config/settings.ts` of google-gemini/gemini-cli.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::dotenv;
use super::json::{self, JsonError};
use super::plan::{Change, Edited, Unreadable, Wanted};
use super::receiver::{self, Encoding, Receiver};

const SECTION: &str = "telemetry";

/// A note about content that no setting can turn off.
pub(crate) const NOTE: &str = "note: Gemini CLI also sends arguments of tools, and has no setting to turn that off; Renown does not read them";

/// Variables that override the settings file.
const OVERRIDES: [&str; 8] = [
    "GEMINI_TELEMETRY_ENABLED",
    "GEMINI_TELEMETRY_TARGET",
    "GEMINI_TELEMETRY_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "GEMINI_TELEMETRY_OTLP_PROTOCOL",
    "GEMINI_TELEMETRY_OUTFILE",
    "GEMINI_TELEMETRY_LOG_PROMPTS",
    "GEMINI_TELEMETRY_USE_CLI_AUTH",
];

/// Returns the directory that it uses as the user's home.
pub(crate) fn home(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    variable("GEMINI_CLI_HOME").unwrap_or_else(|| home.to_owned())
}

/// Adds Renown to the settings.
pub(crate) fn settings(text: &str, wanted: &Wanted) -> Result<Edited, Unreadable> {
    let unreadable = |JsonError { line, problem }| Unreadable { line, problem };
    let current = json::section(text, SECTION).map_err(unreadable)?;
    let is_set = |key| !matches!(current.get(key), None | Some(Value::Null));
    let mut settings = vec![
        ("enabled", Value::from(true)),
        ("target", Value::from("local")),
        ("otlpEndpoint", Value::from(wanted.server.as_str())),
        ("otlpProtocol", Value::from("http")),
    ];
    if !is_set("logPrompts") {
        settings.push(("logPrompts", Value::from(false)));
    }
    if is_set("outfile") {
        settings.push(("outfile", Value::from("")));
    }
    if is_set("useCliAuth") {
        settings.push(("useCliAuth", Value::from(false)));
    }
    settings.retain(|(key, value)| current.get(key) != Some(value));
    let change = |(key, value): &(&str, Value)| Change {
        key: format!("{SECTION}.{key}"),
        value: value.to_string(),
        was: current.get(key).map(Value::to_string),
    };
    let warnings = ["logPrompts", "traces"]
        .into_iter()
        .filter(|&key| current.get(key) == Some(&Value::from(true)))
        .map(|key| {
            format!("{SECTION}.{key} is on: it sends the content of your work, which Renown neither needs nor stores")
        })
        .collect();
    Ok(Edited {
        text: json::set(text, SECTION, &settings).map_err(unreadable)?,
        changes: settings.iter().map(change).collect(),
        warnings,
    })
}

/// Returns the receiver of its log records. Its SDK sends JSON over HTTP, with headers from the environment.
pub(crate) fn receiver(text: &str, env_file: &str) -> Option<Receiver> {
    let current = json::section(text, SECTION).ok()?;
    let base = current.get("otlpEndpoint")?.as_str()?;
    let headers = dotenv::get(env_file, "OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
    Some(Receiver {
        url: format!("{}/v1/logs", base.trim_end_matches('/')),
        encoding: Encoding::Json,
        headers: receiver::headers(headers),
        key_setting: "OTEL_EXPORTER_OTLP_HEADERS in its .env to \"Authorization=Bearer KEY\"",
    })
}

/// Returns warnings about variables of the environment or the `.env` file that override the settings.
pub(crate) fn overrides(env_file: &str, is_set: impl Fn(&str) -> bool) -> Vec<String> {
    let found = OVERRIDES.into_iter().filter_map(|name| {
        if is_set(name) {
            Some(format!("{name} is set in your environment and overrides the settings file"))
        } else if dotenv::get(env_file, name).is_some() {
            Some(format!("{name} is set in Gemini CLI's .env and overrides the settings file"))
        } else {
            None
        }
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(telemetry: &str) -> (Vec<String>, Vec<String>) {
        let edited = settings(&format!("{{\"telemetry\":{telemetry}}}"), &Wanted::default()).unwrap();
        let again = settings(&edited.text, &Wanted::default()).unwrap();
        assert_eq!((again.text, again.changes), (edited.text, Vec::new()), "a second run changes nothing");
        let short = |change: &Change| {
            format!("{}={} was {}", change.key, change.value, change.was.as_deref().unwrap_or("-"))
        };
        (edited.changes.iter().map(short).collect(), edited.warnings)
    }

    #[test]
    fn a_new_file_turns_prompts_off() {
        let wanted = Wanted { server: "https://host/otlp/".parse().unwrap(), agent: None };
        assert_eq!(
            settings("", &wanted).unwrap().text,
            r#"{
  "telemetry": {
    "enabled": true,
    "target": "local",
    "otlpEndpoint": "https://host/otlp",
    "otlpProtocol": "http",
    "logPrompts": false
  }
}
"#
        );
    }

    #[test]
    fn conflicting_settings_are_changed_and_the_choice_about_prompts_stays() {
        let (changes, warnings) = planned(
            r#"{"enabled": true, "target": "gcp", "logPrompts": true, "traces": true, "outfile": "t.log",
                "useCliAuth": true, "useCollector": true}"#,
        );
        assert_eq!(
            changes,
            [
                r#"telemetry.target="local" was "gcp""#,
                r#"telemetry.otlpEndpoint="http://127.0.0.1:4318" was -"#,
                r#"telemetry.otlpProtocol="http" was -"#,
                r#"telemetry.outfile="" was "t.log""#,
                "telemetry.useCliAuth=false was true",
            ]
        );
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert_eq!(planned(r#"{"logPrompts": false}"#).1, Vec::<String>::new());
    }

    #[test]
    fn variables_that_override_the_file_cause_a_warning() {
        let warnings =
            overrides("GEMINI_TELEMETRY_ENABLED=false\n", |name| name == "OTEL_EXPORTER_OTLP_ENDPOINT");
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].starts_with("GEMINI_TELEMETRY_ENABLED is set in Gemini CLI's .env"));
        assert!(warnings[1].starts_with("OTEL_EXPORTER_OTLP_ENDPOINT is set in your environment"));
    }
}
