//! Does `renown judge` score telemetry as its contract says?
//!
//! Black-box tests: the input is lines as a collector's file exporter writes them, and only the program's output is checked. Every
//! expected number is computed by hand from the rules, never copied from a run.

#![expect(clippy::indexing_slicing, clippy::string_slice, reason = "a broken test fails loudly")]

mod bad_input;
mod dialects;
mod encodings;
mod genai;
mod identity;
mod invariance;
mod output;
mod prices;
mod received;
mod records;
mod repeats;
mod selection;
mod situations;
mod submit;
mod values;
mod watch;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use renown_testing::Scratch;
use serde_json::{Value, json};

use crate::Run;

/// 2026-09-21T14:13:20Z, the start of every sample.
const T0: u64 = 1_790_000_000_000_000_000;
const SECOND: u64 = 1_000_000_000;

/// A working directory for one test, with an empty data directory.
struct Folder(Scratch);

impl Folder {
    fn new() -> Self {
        let scratch = Scratch::new();
        fs::create_dir(scratch.join("data")).unwrap();
        Self(scratch)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file. Returns the directory.
    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        self.0.write(name, bytes);
        self
    }

    /// Returns `renown judge` in this directory, with an empty data directory and no other environment.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_renown"));
        command.arg("judge").args(args).current_dir(self.0.path()).env_clear();
        command.env("HOME", self.0.path()).env("RENOWN_DATA", self.path("data"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn judge(&self, args: &[&str]) -> Run {
        run(self.command(args), Vec::new())
    }

    fn judge_json(&self, args: &[&str]) -> Judged {
        Judged::from(&self.judge(&[&["--format", "json"], args].concat()))
    }
}

fn run(mut command: Command, stdin: Vec<u8>) -> Run {
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // In its own thread, because the program may answer before it has read everything.
    let writer = thread::spawn(move || {
        let _ = pipe.write_all(&stdin);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Runs `renown judge` with this standard input.
fn judge(args: &[&str], stdin: impl Into<Vec<u8>>) -> Run {
    run(Folder::new().command(args), stdin.into())
}

/// Judges these lines, and checks success.
#[track_caller]
fn judged(lines: &[String]) -> Judged {
    judged_with(&[], lines)
}

/// Judges a record together with a prompt, so that there is something to score. Subtracts the prompt from the result.
#[track_caller]
fn judged_with_prompt(prompt: Record, record: Record) -> Judged {
    let mut judged = judged(&lines(&[prompt, record]));
    let prompts = &mut judged.document["stats"]["prompts"];
    *prompts = (prompts.as_u64().unwrap() - 1).into();
    judged
}

#[track_caller]
fn judged_with(args: &[&str], lines: &[String]) -> Judged {
    Judged::from(&judge(&[&["--format", "json"], args].concat(), document(lines)))
}

fn document(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// The JSON output of a successful run.
struct Judged {
    document: Value,
    account: Value,
    /// Standard error without the summary.
    warnings: Vec<String>,
}

impl Judged {
    #[track_caller]
    fn from(run: &Run) -> Self {
        assert_eq!(run.code, 0, "{run:?}");
        let (account, warnings): (Vec<_>, Vec<_>) =
            run.stderr.lines().partition(|line| line.starts_with('{'));
        assert_eq!(account.len(), 1, "one summary: {run:?}");
        Self {
            document: serde_json::from_str(&run.stdout).unwrap(),
            account: serde_json::from_str(account[0]).unwrap(),
            warnings: warnings.into_iter().map(str::to_owned).collect(),
        }
    }

    fn text(&self, field: &str) -> &str {
        self.document[field].as_str().unwrap_or("null")
    }

    fn counted(&self, what: &str) -> u64 {
        self.account[what].as_u64().unwrap()
    }

    /// Returns the words of a list in the coverage.
    fn coverage(&self, list: &str) -> String {
        let words = self.document["coverage"][list].as_array().unwrap();
        words.iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    fn brief(&self) -> String {
        brief(&self.document)
    }

    fn evidence(&self) -> String {
        evidence(&self.document)
    }
}

/// Returns the five dimensions and the recommendation, in the notation of the contract's situations.
fn brief(document: &Value) -> String {
    let names = ["quality", "autonomy", "productivity", "token_efficiency", "cost_efficiency"];
    let dimensions = names.map(|name| document["dimensions"][name].as_f64().unwrap().to_string());
    let (composite, verdict) = (&document["composite"], document["recommendation"].as_str().unwrap());
    format!("{} → {composite} {verdict}", dimensions.join(", "))
}

/// Returns all counts that are not zero, such as `tools=1 ok=1 cost=0.05`.
fn evidence(document: &Value) -> String {
    let (stats, signals) = (&document["stats"], &document["signals"]);
    let counts = [
        ("tools", &stats["total_tools"]),
        ("ok", &stats["tools_ok"]),
        ("prompts", &stats["prompts"]),
        ("tokens", &stats["total_tokens"]),
        ("cached", &stats["cache_tokens"]),
        ("cost", &stats["total_cost"]),
        ("api_errors", &signals["api_errors"]),
        ("accepts", &signals["accepts"]),
        ("rejects", &signals["rejects"]),
        ("by_user", &signals["rejects_by_user"]),
        ("feedback", &signals["feedback"]),
        ("compactions", &signals["compactions"]),
        ("refusals", &signals["refusals"]),
    ];
    let mut text = String::new();
    for (name, value) in counts {
        let shown = if name == "feedback" { !value.is_null() } else { value.as_f64().unwrap() > 0.0 };
        if shown {
            write!(text, " {name}={value}").unwrap();
        }
    }
    text.trim_start().to_owned()
}

/// An OTLP value, converted from the nearest Rust type.
struct Any(Value);

impl From<&str> for Any {
    fn from(text: &str) -> Self {
        Self(json!({ "stringValue": text }))
    }
}

impl From<i64> for Any {
    fn from(number: i64) -> Self {
        Self(json!({ "intValue": number.to_string() }))
    }
}

impl From<i32> for Any {
    fn from(number: i32) -> Self {
        Self::from(i64::from(number))
    }
}

impl From<f64> for Any {
    fn from(number: f64) -> Self {
        Self(json!({ "doubleValue": number }))
    }
}

impl From<bool> for Any {
    fn from(flag: bool) -> Self {
        Self(json!({ "boolValue": flag }))
    }
}

impl From<Value> for Any {
    fn from(value: Value) -> Self {
        Self(value)
    }
}

/// A builder of a log record or a span.
#[derive(Clone)]
struct Record {
    is_span: bool,
    fields: Value,
    attributes: Vec<Value>,
}

impl Record {
    fn with(mut self, key: &str, value: impl Into<Any>) -> Self {
        self.attributes.push(json!({ "key": key, "value": value.into().0 }));
        self
    }

    /// Adds the attributes of `pairs`, all of them texts.
    fn with_all(self, pairs: &[(&str, &str)]) -> Self {
        pairs.iter().fold(self, |record, (key, value)| record.with(key, *value))
    }

    fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields[name] = value.into();
        self
    }

    /// Returns the record as one line, with an empty resource.
    fn line(&self) -> String {
        self.below(&[])
    }

    fn below(&self, resource: &[(&str, &str)]) -> String {
        self.within(resource, &json!({}))
    }

    fn within(&self, resource: &[(&str, &str)], scope: &Value) -> String {
        batch(resource, scope, std::slice::from_ref(self))
    }
}

/// Returns one line with these records, which are all logs or all spans.
fn batch(resource: &[(&str, &str)], scope: &Value, records: &[Record]) -> String {
    let resource: Vec<_> =
        resource.iter().map(|(key, value)| json!({ "key": key, "value": Any::from(*value).0 })).collect();
    let is_span = records.first().is_some_and(|record| record.is_span);
    let records: Vec<_> = records
        .iter()
        .map(|record| {
            let mut json = record.fields.clone();
            json["attributes"] = json!(record.attributes);
            json
        })
        .collect();
    let (outer, middle, inner) = if is_span {
        ("resourceSpans", "scopeSpans", "spans")
    } else {
        ("resourceLogs", "scopeLogs", "logRecords")
    };
    json!({ outer: [{ "resource": { "attributes": resource }, middle: [{ "scope": scope, inner: records }] }] })
        .to_string()
}

/// Returns a log record without name, session or time.
fn bare() -> Record {
    Record { is_span: false, fields: json!({}), attributes: Vec::new() }
}

/// Returns a log record of session `s-1`, this many seconds after [`T0`].
fn log(name: &str, seconds: u64) -> Record {
    log_at(name, T0 + seconds * SECOND)
}

fn log_at(name: &str, nanos: u64) -> Record {
    bare().field("timeUnixNano", nanos.to_string()).with("event.name", name).with("session.id", "s-1")
}

/// Returns the simplest evidence: one prompt, distinguished from other records by its time.
fn prompt(seconds: u64) -> Record {
    log("claude_code.user_prompt", seconds)
}

fn ok_tool(seconds: u64) -> Record {
    log("claude_code.tool_result", seconds).with("tool_name", "Edit").with("success", "true")
}

fn call(seconds: u64) -> Record {
    log("claude_code.api_request", seconds)
}

/// Returns a span of session `s-1` that lasts 2.5 seconds, in the trace of this number.
fn span(name: &str, trace: u64, id: u64) -> Record {
    let start = T0 + id * SECOND;
    Record { is_span: true, fields: json!({ "name": name }), attributes: Vec::new() }
        .field("traceId", format!("{trace:032x}"))
        .field("spanId", format!("{id:016x}"))
        .field("startTimeUnixNano", start.to_string())
        .field("endTimeUnixNano", (start + 2_500_000_000).to_string())
        .with("session.id", "s-1")
}

/// Returns one line per record, each with an empty resource.
fn lines(records: &[Record]) -> Vec<String> {
    records.iter().map(Record::line).collect()
}
