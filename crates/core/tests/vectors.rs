//! Is every vector correct to the last digit? The expected values were computed with exact fractions by programs that
//! share no code with this crate (`vectors/README.md`).

#![expect(clippy::unwrap_used, clippy::panic, reason = "a broken fixture must fail loudly")]
#![expect(clippy::disallowed_methods, reason = "the fixtures are files; the rules under test stay pure")]

use std::path::Path;

use renown_core::kind::ScoreKind;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Vector<'a> {
    name: String,
    /// The raw JSON text, so that no digit of a number is lost.
    #[serde(borrow)]
    input: &'a RawValue,
    expected: Value,
}

/// Checks every vector of one file and returns how many there were.
fn check(kind: ScoreKind, file: &str) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let vectors: Vec<Vector<'_>> = serde_json::from_str(&text).unwrap();
    for Vector { name, input, expected } in &vectors {
        match (kind.score(input.get().as_bytes()), expected["error_names"].as_str()) {
            (Ok(score), None) => {
                let found = serde_json::to_value(&score).unwrap();
                if let Some(difference) = difference(&found, expected, "") {
                    panic!("{file}: {name}: {difference}");
                }
            }
            (Err(error), Some(field)) => assert!(names(&error.to_string(), field), "{file}: {name}: {error}"),
            (Ok(score), Some(field)) => panic!("{file}: {name}: not rejected for {field}: {score:?}"),
            (Err(error), None) => panic!("{file}: {name}: rejected: {error}"),
        }
    }
    vectors.len()
}

/// Returns whether an error is about this field: its path ends there, or the field is quoted as missing or unknown. A
/// mention in the list of allowed values does not count.
fn names(error: &str, field: &str) -> bool {
    let found_part = error.split(", expected ").next().unwrap_or(error);
    let path = found_part.split(": ").next().unwrap_or(found_part);
    path.split(['.', '[']).any(|step| step == field) || found_part.ends_with(&format!("field `{field}`"))
}

/// Returns the first path where `found` lacks something of `expected`. Numbers are compared exactly, as JSON parses
/// them. A warning is compared by the field name at its start.
fn difference(found: &Value, expected: &Value, path: &str) -> Option<String> {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => expected.iter().find_map(|(key, expected)| {
            let path = format!("{path}.{key}");
            found
                .get(key)
                .map_or_else(|| Some(format!("{path}: missing")), |found| difference(found, expected, &path))
        }),
        (Value::Array(found), Value::Array(expected)) if path == ".warnings" => {
            let fields: Vec<_> =
                found.iter().map(|warning| warning.as_str()?.split_once(": ").map(|(f, _)| f)).collect();
            let same = fields == expected.iter().map(Value::as_str).collect::<Vec<_>>();
            (!same).then(|| format!("{path}: found {found:?}, expected {expected:?}"))
        }
        (Value::Number(found), Value::Number(expected)) if found.as_f64() == expected.as_f64() => None,
        _ if found == expected => None,
        _ => Some(format!("{path}: found {found}, expected {expected}")),
    }
}

#[test]
fn reputation() {
    assert_eq!(check(ScoreKind::Reputation, "reputation.json"), 64);
    assert_eq!(check(ScoreKind::Reputation, "own/reputation.json"), 118);
}

#[test]
fn performance() {
    assert_eq!(check(ScoreKind::Performance, "own/performance.json"), 162);
}

#[test]
fn run() {
    assert_eq!(check(ScoreKind::Run, "run.json"), 89);
    assert_eq!(check(ScoreKind::Run, "own/run.json"), 180);
}

#[test]
fn session() {
    assert_eq!(check(ScoreKind::Session, "session.json"), 86);
    assert_eq!(check(ScoreKind::Session, "own/session.json"), 130);
}

#[test]
fn identity() {
    assert_eq!(check(ScoreKind::Identity, "identity.json"), 45);
    assert_eq!(check(ScoreKind::Identity, "own/identity.json"), 194);
}
