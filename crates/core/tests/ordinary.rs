//! Do the gates pass ordinary work? 534 outputs of real commands, see `tests/gates/ordinary/README.md`.

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

use core::time::Duration;
use std::collections::BTreeMap;

use renown_core::gates::{Choice, Context, Engine, GateSettings, Place, Strictness};
use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{from_str, from_value, json};

#[derive(Deserialize)]
struct Row {
    command: String,
    output: String,
}

fn rows() -> Vec<Row> {
    include_str!("gates/ordinary/outputs.jsonl").lines().map(|line| from_str(line).unwrap()).collect()
}

/// Builds the set of the proxy with every gate enforced.
fn engine(strictness: Strictness) -> Engine {
    let settings: GateSettings = from_value(json!({"gate": {"injection": {"mode": "enforce"}}})).unwrap();
    let choice = Choice { strictness: Some(strictness), ..Choice::of(Place::Proxy) };
    let engine = Engine::new(&settings, &choice, &mut |_| Err(String::new())).unwrap();
    assert_eq!(engine.names().collect::<Vec<_>>(), ["filesystem", "pii", "content", "secrets", "injection"]);
    engine
}

/// Returns the commands whose outputs have findings, by `GATE.RULE`.
fn findings(strictness: Strictness) -> BTreeMap<String, Vec<String>> {
    let (engine, mut findings) = (engine(strictness), BTreeMap::<String, Vec<String>>::new());
    for Row { command, output } in rows() {
        let output = to_raw_value(&output).unwrap();
        for gate in engine.evaluate(&Context::of(&output), &|| Duration::ZERO).gates {
            let Some(rules) = engine.found(&gate) else { continue };
            assert!(!rules.is_empty(), "{command}: {gate:?}");
            for rule in rules {
                findings.entry(format!("{}.{rule}", gate.name)).or_default().push(command.clone());
            }
        }
    }
    findings
}

#[test]
fn the_outputs_are_many_and_of_many_kinds() {
    let rows = rows();
    assert!(rows.len() >= 500, "{} outputs", rows.len());
    let commands = rows.iter().map(|row| row.command.split(' ').next().unwrap());
    let kinds: std::collections::BTreeSet<&str> = commands.collect();
    assert!(kinds.len() >= 40, "{kinds:?}");
}

#[test]
fn balanced_finds_nothing() {
    assert_eq!(findings(Strictness::Balanced), BTreeMap::new());
}

/// Any mention counts: of a destructive command, a system path, a `..`, an address, a phone number. Nothing else
/// does.
#[test]
fn strict_finds_what_is_documented_and_nothing_else() {
    let found = findings(Strictness::Strict);
    let rules: Vec<&String> = found.keys().collect();
    let mentions =
        ["filesystem.rm-recursive-force", "filesystem.system", "filesystem.traversal", "pii.email"];
    assert_eq!(rules, mentions, "{found:#?}");
}
