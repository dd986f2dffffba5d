//! How much memory does one verdict need? A small multiple of its output, for any output.

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

use core::time::Duration;

use peak_alloc::PeakAlloc;
use renown_core::gates::{Choice, Context, Engine, GateSettings, Place, Strictness};
use serde_json::json;
use serde_json::value::RawValue;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Length of each output.
const BYTES: usize = 1 << 18;

/// The most memory of a verdict, as a multiple of its output, besides a small constant.
const TIMES_MAX: usize = 8;
const ALWAYS_MAX: usize = 128 * 1024;

/// Returns the peak memory of a verdict in bytes, without the output itself.
fn held(engine: &Engine, output: &RawValue) -> usize {
    // Memory that is allocated once, such as for regular expressions, does not count.
    engine.evaluate(&Context::of(output), &|| Duration::ZERO);
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    engine.evaluate(&Context::of(output), &|| Duration::ZERO);
    MEMORY.peak_usage() - before
}

fn engine(place: Place, strictness: Strictness, settings: serde_json::Value) -> Engine {
    let settings: GateSettings = serde_json::from_value(settings).unwrap();
    let choice = Choice { strictness: Some(strictness), ..Choice::of(place) };
    Engine::new(&settings, &choice, &mut |_| Err(String::new())).unwrap()
}

/// Returns a JSON string of 256 KiB that repeats a text.
fn text(unit: &str) -> String {
    json!(unit.repeat(BYTES / unit.len())).to_string()
}

/// Returns a JSON array of 256 KiB that repeats an item.
fn list(item: &str) -> String {
    let mut list = format!("[{}", format!("{item},").repeat(BYTES / (item.len() + 1)));
    list.pop();
    list + "]"
}

#[test]
fn a_verdict_needs_a_small_multiple_of_its_output() {
    let roots = json!({"gate": {"filesystem": {"roots": ["/srv/repo"]}}});
    let engines = [
        ("strict", engine(Place::Evaluate, Strictness::Strict, json!({}))),
        ("balanced", engine(Place::Evaluate, Strictness::Balanced, json!({}))),
        ("balanced, with roots", engine(Place::Evaluate, Strictness::Balanced, roots)),
    ];
    let texts = [
        "rm ",
        "rm;",
        "rm x ",
        "rm -rf a;",
        "rm|",
        "rm 'a b' ",
        "rm \"a\" ",
        "rm $(a) ",
        "rm `a` ",
        "rm\n",
        "a;",
        "\\a ",
        "rm > a ",
        "rm {a,b} ",
        "find -exec rm + ",
        "sh -c 'rm a' ",
        "eval rm ",
        "ssh a rm ",
        "env -S rm ",
        "/a",
        "rm /a/a/a ",
        "x",
        "é",
        "4111 ",
        "a@b.cc ",
        "SK",
        "key=",
        "%41",
        "../",
        "\u{201c}rm\u{201d} ",
    ];
    let outputs = texts.iter().map(|unit| (*unit, text(unit))).chain(
        [
            "\"\"",
            "\"a\"",
            "\"rm\"",
            "\"\\n\"",
            "\"[]\"",
            "\"[1]\"",
            "\"SK\"",
            "{\"a\":\"b\"}",
            "{\"command\":\"rm\"}",
            "[]",
            "1234567890123",
            "\"{\\\"a\\\":\\\"b\\\"}\"",
        ]
        .iter()
        .map(|item| (*item, list(item))),
    );
    let under_a_key = ["rm", "a b", "'"].map(|item| {
        let json = json!(item).to_string();
        (item, format!("{{\"command\":{}}}", list(&json)))
    });
    let mut worst = Vec::new();
    for (unit, output) in outputs.chain(under_a_key) {
        let output = RawValue::from_string(output).unwrap();
        for (name, engine) in &engines {
            let bytes = held(engine, &output);
            worst.push((bytes, *name, unit));
        }
    }
    let allowed = TIMES_MAX * BYTES + ALWAYS_MAX;
    worst.retain(|(bytes, ..)| *bytes > allowed);
    assert!(worst.is_empty(), "more than {allowed} bytes: {worst:?}");
}
