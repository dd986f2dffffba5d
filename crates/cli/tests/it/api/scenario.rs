//! Runs the scenarios of `api-scenarios`, each on its own server.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use renown_testing::Scratch;
use serde::Deserialize;
use serde_json::{Value, json};

use super::http::Request;
use super::matching::{Variables, check, fill};
use super::server::Server;

/// How long a step may take that has to pass eventually.
const EVENTUALLY_MAX: Duration = Duration::from_mins(1);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    #[serde(rename = "about")]
    _about: String,
    /// Settings of the server by their environment variables.
    #[serde(default)]
    settings: BTreeMap<String, String>,
    /// Additional keys by name.
    #[serde(default)]
    keys: BTreeMap<String, KeyWanted>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyWanted {
    kind: String,
    org: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    name: String,
    #[serde(default = "once")]
    repeat: u64,
    /// Whether to send the request again until the reply matches.
    #[serde(default)]
    eventually: bool,
    request: RequestWanted,
    expect: Expected,
}

fn once() -> u64 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestWanted {
    method: String,
    path: Value,
    #[serde(default)]
    headers: BTreeMap<String, Value>,
    key: Option<String>,
    body: Option<Value>,
    raw_body: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, Value>,
    body: Option<Value>,
    save_body: Option<String>,
    same_body_as: Option<String>,
}

/// Expands `$text`, `$list` and variables in a value.
fn make(value: &Value, variables: &Variables) -> Value {
    match value {
        Value::String(text) => fill(text, variables).into(),
        Value::Array(items) => items.iter().map(|item| make(item, variables)).collect(),
        Value::Object(fields) => match (fields.get("$text"), fields.get("$list")) {
            (Some(text), _) => make_text(text, variables).into(),
            (_, Some(list)) => {
                let count = list.get(1).and_then(Value::as_u64).unwrap();
                let item = |index: u64| {
                    let mut variables = variables.clone();
                    variables.insert("index".to_owned(), index.into());
                    make(list.get(0).unwrap(), &variables)
                };
                (0..count).map(item).collect()
            }
            _ => fields.iter().map(|(name, value)| (name.clone(), make(value, variables))).collect(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Expands a text, or an array of texts and `[text, times]`.
fn make_text(value: &Value, variables: &Variables) -> String {
    match value {
        Value::String(text) => fill(text, variables),
        Value::Array(parts) => parts
            .iter()
            .map(|part| {
                let Value::Array(repeated) = part else { return make_text(part, variables) };
                let text = fill(repeated.first().and_then(Value::as_str).unwrap(), variables);
                text.repeat(repeated.get(1).and_then(Value::as_u64).unwrap().try_into().unwrap())
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => panic!("no text: {value}"),
    }
}

fn request(wanted: &RequestWanted, keys: &BTreeMap<String, String>, variables: &Variables) -> Request {
    let mut request = Request::new(&wanted.method, &make_text(&wanted.path, variables));
    for (name, value) in &wanted.headers {
        request = request.header(name, &make_text(value, variables));
    }
    match wanted.key.as_deref().unwrap_or("publishable") {
        "none" => {}
        name => {
            let key = keys.get(name).unwrap_or_else(|| panic!("there is no key {name}"));
            request = request.key(key);
        }
    }
    let typed = wanted.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type"));
    request.body = match (&wanted.body, &wanted.raw_body) {
        (Some(body), _) => Some(make(body, variables).to_string().into_bytes()),
        (None, Some(raw)) => Some(make_text(raw, variables).into_bytes()),
        (None, None) => return request,
    };
    if typed { request } else { request.header("Content-Type", "application/json") }
}

fn run_step(
    server: &Server,
    step: &Step,
    keys: &BTreeMap<String, String>,
    variables: &mut Variables,
) -> Result<(), String> {
    let request = request(&step.request, keys, variables);
    let reply = server.send(&request);
    let body = String::from_utf8_lossy(&reply.body).into_owned();
    let shown: String = body.chars().take(500).collect();
    let status = Value::from(reply.status);
    check("status", &Value::from(step.expect.status), Some(&status), variables)
        .map_err(|error| format!("{error}: {shown}"))?;
    let has_id = reply.header("x-request-id").is_some_and(|id| id.len() == 36);
    if !has_id {
        return Err("no X-Request-Id".to_owned());
    }
    for (name, expected) in &step.expect.headers {
        let found = reply.header(name).map(Value::from);
        check(&format!("header {name}"), expected, found.as_ref(), variables)?;
    }
    if reply.status >= 400 && request.method != "HEAD" {
        // Every error has exactly this shape.
        let shape =
            json!({"$only": {"error": {"$matches": "."}, "code": {"$is": "string"}, "status": reply.status}});
        check("refusal", &shape, Some(&reply.json()), variables)?;
    }
    if let Some(expected) = &step.expect.body {
        let found = serde_json::from_slice(&reply.body).unwrap_or(Value::String(body.clone()));
        check("body", expected, Some(&found), variables)
            .map_err(|error| error.chars().take(1000).collect::<String>() + "\n    in " + &shown)?;
    }
    if let Some(name) = &step.expect.same_body_as {
        check("body", variables.get(name).unwrap(), Some(&body.clone().into()), &mut Variables::new())?;
    }
    if let Some(name) = &step.expect.save_body {
        variables.insert(name.clone(), body.into());
    }
    Ok(())
}

/// Runs a step; one that has to pass eventually, again and again.
fn run_until(
    server: &Server,
    step: &Step,
    keys: &BTreeMap<String, String>,
    variables: &mut Variables,
) -> Result<(), String> {
    let started = Instant::now();
    loop {
        let passed = run_step(server, step, keys, variables);
        if passed.is_ok() || !step.eventually || started.elapsed() > EVENTUALLY_MAX {
            return passed;
        }
        std::thread::yield_now();
    }
}

/// Runs one file. Returns the failures of its steps.
fn run(path: &Path) -> Vec<String> {
    let name = path.file_name().unwrap().to_string_lossy();
    let text = fs::read_to_string(path).unwrap();
    let scenario: Scenario = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let settings: Vec<(&str, &str)> =
        scenario.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let server = Server::start_with(Arc::new(Scratch::new()), &settings);
    let mut keys = BTreeMap::from([
        ("publishable".to_owned(), server.publishable.clone()),
        ("secret".to_owned(), server.secret.clone()),
    ]);
    for (key, KeyWanted { kind, org }) in &scenario.keys {
        keys.insert(key.clone(), server.create_key(kind, org));
    }
    let mut variables: Variables =
        keys.iter().map(|(name, key)| (format!("key:{name}"), key.as_str().into())).collect();
    let mut failures = Vec::new();
    for step in &scenario.steps {
        for time in 0..step.repeat {
            variables.insert("time".to_owned(), time.into());
            if let Err(error) = run_until(&server, step, &keys, &mut variables) {
                failures.push(format!("{name}: {}: {error}", step.name));
                break;
            }
            // Later steps can use a new key by its name.
            if let Some(Value::String(made)) = variables.get("key") {
                keys.insert("made".to_owned(), made.clone());
            }
        }
    }
    failures
}

#[test]
fn every_scenario_passes() {
    let folder = super::super::root().join("api-scenarios");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect();
    files.sort();
    assert!(!files.is_empty());
    let failures: Vec<String> = files.iter().flat_map(|file| run(file)).collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
