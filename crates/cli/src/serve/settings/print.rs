//! `--print-config`: prints each value and where it came from, as a valid configuration file.

use std::fmt::Write;

use renown_core::gates::Engine;
use serde_json::Value;
use toml_edit::Key;

use super::ServeSettings;
use crate::failure::printable;
use crate::settings::Origin;

/// The lines of a file. Some end with a comment.
#[derive(Default)]
struct Lines(Vec<(String, Option<String>)>);

impl Lines {
    fn plain(&mut self, line: impl Into<String>) {
        self.0.push((line.into(), None));
    }

    fn value(&mut self, key: &str, value: impl Into<toml_edit::Value>, origin: &Origin) {
        let value: toml_edit::Value = value.into();
        self.0.push((format!("{} = {value}", Key::new(key)), Some(origin.to_string())));
    }

    /// Formats the lines with aligned comments.
    fn text(&self) -> String {
        let chars = |line: &str| line.chars().count();
        let with_comment = self.0.iter().filter(|(_, comment)| comment.is_some());
        let width = with_comment.map(|(line, _)| chars(line)).max().unwrap_or(0);
        self.0.iter().fold(String::new(), |mut text, (line, comment)| {
            let _ = match comment {
                Some(comment) => writeln!(text, "{line:<width$}  # {comment}"),
                None => writeln!(text, "{line}"),
            };
            text
        })
    }
}

impl ServeSettings {
    /// Formats each value and where it came from. `engine` has the gates in use.
    pub(crate) fn print(&self, engine: &Engine) -> String {
        let mut lines = Lines::default();
        lines.plain(match &self.config.path {
            Some(path) => format!("# config file: {}", printable(&path.display().to_string())),
            None => "# config file: none".to_owned(),
        });
        lines.value("data", self.data.value.0.to_string_lossy().into_owned(), &self.data.origin);
        lines.value("listen", self.listen.value.to_string(), &self.listen.origin);
        lines.value("store", self.store.value.to_string(), &self.store.origin);
        lines.plain("\n[limits]");
        for limit in [&self.requests_per_minute, &self.ingest_per_minute] {
            let key = limit.name.rsplit('.').next().unwrap_or(limit.name);
            lines.value(key, i64::try_from(limit.value.0).unwrap_or(i64::MAX), &limit.origin);
        }
        lines.plain("\n[otlp]");
        lines.value("grpc", self.otlp_grpc.value.to_string(), &self.otlp_grpc.origin);
        lines.value("http", self.otlp_http.value.to_string(), &self.otlp_http.origin);
        lines.value("auth", self.otlp_auth.value.to_string(), &self.otlp_auth.origin);
        lines.plain("\n[retention]");
        for days in [&self.evaluations_days, &self.runs_days, &self.sessions_days] {
            let key = days.name.rsplit('.').next().unwrap_or(days.name);
            lines.value(key, i64::from(days.value.0), &days.origin);
        }
        lines.plain("\n[pages]");
        let below = &self.attention_below;
        lines.value("attention_below", i64::from(below.value.0), &below.origin);
        self.gates(engine, &mut lines);
        lines.text()
    }

    fn gates(&self, engine: &Engine, lines: &mut Lines) {
        let settings = &self.config.gates;
        let origin = |key| if settings.gates.contains_key(key) { Origin::File } else { Origin::Default };
        lines.plain("\n[gates]");
        lines.value("evaluate", engine.names().collect::<toml_edit::Array>(), &origin("evaluate"));
        let budget_ms = i64::try_from(engine.budget().as_millis()).unwrap_or(i64::MAX);
        lines.value("budget_ms", budget_ms, &origin("budget_ms"));
        lines.value("fail_fast", engine.fail_fast(), &origin("fail_fast"));
        lines.value("strictness", engine.strictness().name(), &origin("strictness"));
        for (name, options) in &settings.gate {
            lines.plain(format!("\n[gate.{}]", Key::new(name)));
            for (key, value) in options {
                if let Some(value) = as_toml(value) {
                    lines.value(key, value, &Origin::File);
                }
            }
        }
    }
}

/// Converts a value of the file to TOML. TOML has no null, so there is none.
fn as_toml(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.into(),
        Value::Array(items) => items.iter().filter_map(as_toml).collect::<toml_edit::Array>().into(),
        Value::Object(table) => {
            let pairs = table.iter().filter_map(|(key, value)| Some((key.as_str(), as_toml(value)?)));
            pairs.collect::<toml_edit::InlineTable>().into()
        }
    })
}
