//! Codex: `[otel]` in its `config.toml`, and its `.env` for the resource attribute.
//!
//! | setting | value | why |
//! |---|---|---|
//! | `exporter` | `{ otlp-http = { endpoint, protocol = "binary", headers } }` | log events over OTLP/HTTP protobuf |
//! | `log_user_prompt` | `false`, if absent | makes its default explicit |
//!
//! The exporters of traces and metrics stay unchanged. Codex reads `.env` in its directory at its start, and its OpenTelemetry
//! SDK reads `OTEL_RESOURCE_ATTRIBUTES` from there, but does not decode percent-encoding. Source:
//! `codex-rs/config/src/types.rs`, `codex-rs/otel/src/provider.rs` and `codex-rs/arg0/src/lib.rs` of openai/codex,
//! `opentelemetry-sdk/src/resource/env.rs` of opentelemetry-rust.

use std::path::{Path, PathBuf};

use renown_core::ids::AgentId;
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::attributes;
use super::plan::{self, Change, Edited, Unreadable, Wanted};
use super::receiver::{Encoding, Receiver};

const SECTION: &str = "otel";

/// A note about content that no setting can turn off.
pub(crate) const NOTE: &str = "note: Codex also sends arguments and outputs of tools, and has no setting to turn that off; Renown does not read them";

/// Returns the directory of its settings.
pub(crate) fn folder(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    variable("CODEX_HOME").unwrap_or_else(|| home.join(".codex"))
}

/// Adds Renown to the settings.
pub(crate) fn settings(text: &str, wanted: &Wanted) -> Result<Edited, Unreadable> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let before = error.span().map_or(0, |span| span.start);
        let line = text.bytes().take(before).filter(|&byte| byte == b'\n').count() + 1;
        Unreadable { line, problem: error.message().lines().collect::<Vec<_>>().join(", ") }
    })?;
    let otel = document.entry(SECTION).or_insert_with(|| Item::Table(Table::new()));
    let found = otel.type_name();
    let Some(otel) = otel.as_table_like_mut() else {
        let line = text.lines().position(|line| line.trim_start().starts_with(SECTION)).unwrap_or(0) + 1;
        return Err(Unreadable { line, problem: format!("{SECTION}: found {found}, expected a table") });
    };
    let mut changes = Vec::new();
    if endpoint(otel, "otlp-http") != Some(&wanted.server.logs()) {
        let was = describe(otel);
        let exporter = exporter(wanted);
        changes.push(Change { key: format!("{SECTION}.exporter"), value: exporter.to_string(), was });
        put(otel, "exporter", Value::InlineTable(exporter));
    }
    let mut warnings = Vec::new();
    match otel.get("log_user_prompt").and_then(Item::as_bool) {
        Some(true) => warnings.push(format!(
            "{SECTION}.log_user_prompt is on: it sends your prompts, which Renown neither needs nor stores"
        )),
        Some(false) => {}
        None => {
            let key = format!("{SECTION}.log_user_prompt");
            changes.push(Change { key, value: "false".to_owned(), was: None });
            put(otel, "log_user_prompt", Value::from(false));
        }
    }
    if changes.is_empty() {
        return Ok(Edited { text: text.to_owned(), changes, warnings });
    }
    let written = document.to_string();
    // The library writes Unix line ends.
    let text =
        if text.contains("\r\n") { written.replace("\r\n", "\n").replace('\n', "\r\n") } else { written };
    Ok(Edited { text, changes, warnings })
}

/// Returns the receiver of its log records.
pub(crate) fn receiver(text: &str) -> Option<Receiver> {
    let document: DocumentMut = text.parse().ok()?;
    let exporter = document.get(SECTION)?.as_table_like()?.get("exporter")?.as_table_like()?;
    let http = exporter.get("otlp-http")?.as_table_like()?;
    let headers = http.get("headers").and_then(Item::as_table_like);
    let headers = headers
        .into_iter()
        .flat_map(|headers| headers.iter())
        .filter_map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned())));
    let is_json = http.get("protocol").and_then(Item::as_str) == Some("json");
    Some(Receiver {
        url: http.get("endpoint")?.as_str()?.to_owned(),
        encoding: if is_json { Encoding::Json } else { Encoding::Protobuf },
        headers: headers.collect(),
        key_setting: "otel.exporter.otlp-http.headers in its config.toml to { Authorization = \"Bearer KEY\" }",
    })
}

/// Adds the agent to the `.env` file.
pub(crate) fn env(text: &str, wanted: &Wanted, default: &AgentId) -> Edited {
    let mut edited = plan::name_agent(text, wanted, default);
    if let Some(agent) = &wanted.agent {
        let encoded = attributes::encode(agent.as_str());
        if encoded != agent.as_str() {
            edited.warnings.push(format!(
                "Codex does not decode resource attributes, so the id of this agent will be {encoded}"
            ));
        }
    }
    edited
}

/// Returns the exporter to the server. Codex of 2025 did not start without `headers`.
fn exporter(wanted: &Wanted) -> InlineTable {
    let http = InlineTable::from_iter([
        ("endpoint", Value::from(wanted.server.logs())),
        ("protocol", Value::from("binary")),
        ("headers", Value::InlineTable(InlineTable::new())),
    ]);
    InlineTable::from_iter([("otlp-http", Value::InlineTable(http))])
}

/// Returns the endpoint of the current exporter of this kind.
fn endpoint<'a>(otel: &'a dyn TableLike, kind: &str) -> Option<&'a str> {
    let exporter = otel.get("exporter")?.as_table_like()?.get(kind)?.as_table_like()?;
    exporter.get("endpoint")?.as_str()
}

/// Describes the current exporter. Its headers may contain a secret and are not shown.
fn describe(otel: &dyn TableLike) -> Option<String> {
    let exporter = otel.get("exporter")?;
    if let Some(name) = exporter.as_str() {
        return Some(name.to_owned());
    }
    let sends = |kind| endpoint(otel, kind).map(|endpoint| format!("{kind} to {endpoint}"));
    sends("otlp-http").or_else(|| sends("otlp-grpc")).or_else(|| Some("another exporter".to_owned()))
}

/// Sets a value, and keeps the spaces and comments around the old value.
fn put(table: &mut dyn TableLike, key: &str, mut new: Value) {
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(key, value(new));
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPORTER: &str = r#"exporter = { otlp-http = { endpoint = "http://127.0.0.1:4318/v1/logs", protocol = "binary", headers = {} } }"#;

    #[test]
    fn everything_else_stays_unchanged() {
        let prompt = "log_user_prompt = false\n";
        for (before, after) in [
            ("", format!("[otel]\n{EXPORTER}\n{prompt}")),
            (
                "# mine\nmodel = 'x' # why\n\n[a.b]\nc=1\n",
                format!("# mine\nmodel = 'x' # why\n\n[a.b]\nc=1\n\n[otel]\n{EXPORTER}\n{prompt}"),
            ),
            (
                "[otel] # t\nenvironment = \"dev\"\nexporter = \"none\" # off\n\n[z]\nk = 1\n",
                format!("[otel] # t\nenvironment = \"dev\"\n{EXPORTER} # off\n{prompt}\n[z]\nk = 1\n"),
            ),
            (
                "[otel]\nlog_user_prompt = true\n\n[otel.exporter.otlp-http]\nendpoint = \"https://o/v1/logs\"\nprotocol = \"json\"\n[otel.exporter.otlp-http.headers]\nkey = \"secret\"\n",
                format!("[otel]\nlog_user_prompt = true\n{EXPORTER}\n"),
            ),
            (
                "a = 1\n[otel.exporter.otlp-grpc]\nendpoint = \"https://o\"\n[z]\nk = 1\n",
                format!("a = 1\n\n[otel]\n{EXPORTER}\n{prompt}[z]\nk = 1\n"),
            ),
            ("model = 1\r\n", format!("model = 1\n\n[otel]\n{EXPORTER}\n{prompt}").replace('\n', "\r\n")),
        ] {
            let edited = settings(before, &Wanted::default()).unwrap();
            assert_eq!(edited.text, after, "{before}");
            assert!(!edited.changes.is_empty());
            assert!(edited.changes.iter().all(|change| !format!("{change:?}").contains("secret")));
            let again = settings(&edited.text, &Wanted::default()).unwrap();
            assert_eq!((again.text, again.changes), (after, Vec::new()), "a second run changes nothing");
        }
    }

    #[test]
    fn an_exporter_to_the_server_keeps_its_headers() {
        let text = "[otel]\nlog_user_prompt = false\n[otel.exporter.\"otlp-http\"]\nendpoint = \"http://127.0.0.1:4318/v1/logs\"\nprotocol = \"json\"\nheaders = { k = \"v\" }\n";
        assert_eq!(
            settings(text, &Wanted::default()).unwrap(),
            Edited { text: text.to_owned(), ..Edited::default() }
        );
    }

    #[test]
    fn the_replaced_exporter_is_shown() {
        for (before, was) in [
            ("[otel]\nexporter = \"none\"", "none"),
            ("[otel.exporter.otlp-grpc]\nendpoint = \"https://o\"", "otlp-grpc to https://o"),
            ("otel = { exporter = { x = 1 } }", "another exporter"),
        ] {
            let edited = settings(before, &Wanted::default()).unwrap();
            assert_eq!(edited.changes[0].was.as_deref(), Some(was), "{before}");
        }
        let prompts = settings("otel = { log_user_prompt = true }", &Wanted::default()).unwrap();
        assert_eq!((prompts.changes.len(), prompts.warnings.len()), (1, 1));
    }

    #[test]
    fn an_invalid_file_is_an_error_with_its_line() {
        for (text, line) in
            [("a = 1\nb = \n", 2), ("a = 1\na = 2\n", 2), ("b = 1\notel = 3\n", 2), ("[[otel]]\n", 1)]
        {
            assert_eq!(settings(text, &Wanted::default()).unwrap_err().line, line, "{text}");
        }
    }
}
