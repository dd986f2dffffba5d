//! Tests of the engine's own rules, with gates that are slow and gates that panic.

mod deadline;
mod sets;

use std::cell::Cell;

use serde_json::json;

use super::*;
use crate::gates::{CustomOutcome, Place, Strictness};
use crate::limits::GATE_STRIDE_BYTES;

/// A gate for these tests only.
#[derive(Clone, Copy, Debug)]
pub(in crate::gates) enum TestGate {
    /// Reads a gigabyte.
    Slow,
    Panics,
    Fails,
    Passes,
}

impl TestGate {
    pub(super) fn build(options: &mut Options<'_>) -> Result<Self, SettingsError> {
        let words = [
            ("slow", Self::Slow),
            ("panics", Self::Panics),
            ("fails", Self::Fails),
            ("passes", Self::Passes),
        ];
        Ok(options.word("does", "what the test does", &words)?.unwrap_or(Self::Passes))
    }

    pub(super) fn check(self, deadline: &Deadline<'_>) -> Result<Finding, TimedOut> {
        match self {
            Self::Slow => {
                for _ in 0..(1 << 30) / GATE_STRIDE_BYTES {
                    deadline.spend(GATE_STRIDE_BYTES)?;
                }
                Ok(Finding::Pass)
            }
            Self::Panics => panic!("a gate with a bug"),
            Self::Fails => Ok(Finding::Fail("because".to_owned())),
            Self::Passes => Ok(Finding::Pass),
        }
    }
}

fn engine(settings: Value, gates: &[&str]) -> Result<Engine, SettingsError> {
    let settings: GateSettings = serde_json::from_value(settings).unwrap();
    let gates: Vec<String> = gates.iter().map(|name| (*name).to_owned()).collect();
    let choice = Choice { gates: (!gates.is_empty()).then_some(&gates), ..Choice::of(Place::Evaluate) };
    Engine::new(&settings, &choice, &mut |file| Err(format!("{file}: no files in tests")))
}

/// Builds an engine with three test gates in a row.
fn three(common: &Value, tables: [Value; 3]) -> Engine {
    let [mut a, mut b, mut c] = tables;
    for table in [&mut a, &mut b, &mut c] {
        table["kind"] = json!("test");
    }
    engine(json!({"gates": common, "gate": {"a": a, "b": b, "c": c}}), &["a", "b", "c"]).unwrap()
}

/// Returns a clock that advances by a millisecond each time it is read.
fn ticking() -> impl Fn() -> Duration {
    let ticks = Cell::new(0);
    move || {
        ticks.set(ticks.get() + 1);
        Duration::from_millis(ticks.get())
    }
}

fn judge(engine: &Engine, output: &str) -> Verdict {
    let output = RawValue::from_string(output.to_owned()).unwrap();
    engine.evaluate(&Context::of(&output), &|| Duration::ZERO)
}

/// Name, passed, reason, skipped.
type Row<'r> = (&'r str, bool, Option<&'r str>, bool);

fn rows(verdict: &Verdict) -> Vec<Row<'_>> {
    verdict
        .gates
        .iter()
        .map(|gate| (&*gate.name, gate.passed, gate.reason.as_deref(), gate.skipped))
        .collect()
}

#[test]
fn the_default_set_is_strict() {
    let engine = engine(json!({}), &[]).unwrap();
    let verdict = judge(&engine, r#"{"a":"see /etc/hosts","b":"ada@example.com"}"#);
    assert_eq!(
        rows(&verdict),
        [
            ("filesystem", false, Some("sensitive path in output: system"), false),
            ("pii", false, Some("email address detected in output"), false),
            ("content", true, None, false),
            ("secrets", true, None, false),
        ]
    );
    assert!(!verdict.passed && judge(&engine, r#""fine""#).passed);
    let token = judge(&engine, r#""ghp_R4nd0mT0k3nV4lu3Th4tL00ksR34lEn0ugh7""#);
    assert_eq!(rows(&token)[3], ("secrets", false, Some("secret in output: github (1 finding)"), false));
}

#[test]
fn every_occurrence_of_a_repeated_key_is_gated() {
    let engine = engine(json!({}), &["pii"]).unwrap();
    for output in [
        r#"{"a":"x@y.zz","a":"fine"}"#,
        r#"{"a":"fine","a":"x@y.zz"}"#,
        r#"{"a":1,"a":"{\"x@y.zz\":1}","a":2}"#,
    ] {
        assert!(!judge(&engine, output).passed, "{output}");
    }
}

#[test]
fn a_gate_that_panics_fails_closed_and_the_others_go_on() {
    let engine = three(&json!({}), [json!({"does": "panics"}), json!({}), json!({"does": "fails"})]);
    assert_eq!(
        rows(&judge(&engine, "1")),
        [("a", false, Some(ERROR), false), ("b", true, None, false), ("c", false, Some("because"), false)]
    );
}

#[test]
fn gates_that_are_not_finished_in_time_fail_closed() {
    let engine = three(&json!({"budget_ms": 10}), [json!({}), json!({"does": "slow"}), json!({})]);
    let output = RawValue::from_string("1".to_owned()).unwrap();
    let verdict = engine.evaluate(&Context::of(&output), &ticking());
    assert_eq!(
        rows(&verdict),
        [("a", true, None, false), ("b", false, Some(TIMEOUT), false), ("c", false, Some(TIMEOUT), false)]
    );
    // One check past the deadline in the slow gate, one per gate that follows, and those of the engine.
    assert!(verdict.total.us() <= 17_000, "{verdict:?}");
}

#[test]
fn fail_fast_skips_the_gates_after_a_failure() {
    let common = || json!({"fail_fast": true});
    let engine = three(&common(), [json!({}), json!({"does": "fails"}), json!({"does": "panics"})]);
    assert_eq!(
        rows(&judge(&engine, "1")),
        [("a", true, None, false), ("b", false, Some("because"), false), ("c", true, Some(ABORTED), true)]
    );
    let observed = json!({"does": "fails", "mode": "observe"});
    let engine = three(&common(), [observed, json!({"does": "panics", "mode": "observe"}), json!({})]);
    let verdict = judge(&engine, "1");
    assert_eq!(
        rows(&verdict),
        [
            ("a", true, Some("observed: because"), true),
            ("b", true, Some("observed: renown:error"), true),
            ("c", true, None, false)
        ]
    );
    assert!(verdict.passed);
}

#[test]
fn unreadable_output_fails_only_text_gates() {
    let engine = engine(json!({"gate": {"latency": {"max_ms": 1}}}), &["latency", "pii"]).unwrap();
    let deep = format!("{}{}", "[".repeat(129), "]".repeat(129));
    assert_eq!(
        rows(&judge(&engine, &deep)),
        [
            ("latency", true, Some("no latency_ms provided"), true),
            ("pii", false, Some("output is nested deeper than 128 levels"), false),
        ]
    );
    let output = RawValue::from_string("1".to_owned()).unwrap();
    let context = Context { latency: Some(Duration::from_micros(1001)), ..Context::of(&output) };
    let verdict = engine.evaluate(&context, &|| Duration::ZERO);
    assert_eq!(verdict.gates[0].reason.as_deref(), Some("latency 1.001ms exceeds 1ms threshold"));
}

#[test]
fn a_gate_may_have_its_own_strictness() {
    let settings = |own: Value| json!({"gates": {"strictness": "balanced"}, "gate": {"pii": own}});
    let output = r#""ada@example.com""#;
    assert!(judge(&engine(settings(json!({})), &["pii"]).unwrap(), output).passed);
    assert!(!judge(&engine(settings(json!({"strictness": "strict"})), &["pii"]).unwrap(), output).passed);
    let choice = Choice { strictness: Some(Strictness::Balanced), ..Choice::of(Place::Cli) };
    let engine = Engine::new(&GateSettings::default(), &choice, &mut |_| Err(String::new())).unwrap();
    assert!(judge(&engine, output).passed);
}

#[test]
fn invalid_settings_are_rejected_with_their_key() {
    let all = "content, filesystem, injection, latency, pii, schema, secrets, rtb.tmax-guard, rtb.impid-match, rtb.adomain-verify, rtb.bid-sanity, rtb.audience-safety, rtb.bcat-compliance";
    for (settings, gates, expected) in [
        (json!({"gates": {"budget": 1}}), &[][..], "gates.budget: unknown option, expected one of budget_ms, fail_fast, strictness, evaluate, cli, proxy".to_owned()),
        (json!({"gates": {"budget_ms": 0}}), &[], "gates.budget_ms: 0, expected a whole number of milliseconds from 1 to 60000".to_owned()),
        (json!({"gates": {"budget_ms": 60001}}), &[], "gates.budget_ms: 60001, expected a whole number of milliseconds from 1 to 60000".to_owned()),
        (json!({"gates": {"fail_fast": "no"}}), &[], "gates.fail_fast: \"no\", expected true or false".to_owned()),
        (json!({"gates": {"strictness": "lax"}}), &[], "gates.strictness: \"lax\", expected \"strict\" or \"balanced\"".to_owned()),
        (json!({"gates": {"evaluate": []}}), &[], "gates.evaluate: no gates, expected at least one".to_owned()),
        (json!({"gates": {"evaluate": ["pii", "pii"]}}), &[], "gates.evaluate: \"pii\" is listed twice, expected each name once".to_owned()),
        (json!({"gates": {"evaluate": "pii"}}), &[], "gates.evaluate: \"pii\", expected a list of gate names".to_owned()),
        (json!({"gates": {"evaluate": ["secret"]}}), &[], format!("gates.evaluate: \"secret\" is not a gate, expected one of {all}")),
        (json!({"gate": {"answer": {"kind": "pii"}}}), &["answers"], format!("gates: \"answers\" is not a gate, expected one of {all}, answer")),
        (json!({"gate": {"rtb.x": {}}}), &[], format!("gate.\"rtb.x\": \"rtb.x\" is not a gate, expected one of {all}")),
        (json!({"gate": {"a": {"kind": "b"}}}), &[], format!("gate.a.kind: \"b\" is not a gate, expected one of {all}")),
        (json!({"gate": {"a": {"kind": 1}}}), &[], "gate.a.kind: 1, expected the name of a built-in gate".to_owned()),
        (json!({"gate": {"pii": {"emial": true}}}), &[], "gate.pii.emial: unknown option, expected one of kind, mode, strictness, email, us_ssn, us_phone, card, iban, ipv4".to_owned()),
        (json!({"gate": {"pii": {"mode": "redact"}}}), &[], "gate.pii.mode: \"redact\", expected \"enforce\" or \"observe\" for a gate of gates.evaluate, whose response does not return the output".to_owned()),
        (json!({"gate": {"content": {"mode": "redact"}}}), &[], "gate.content.mode: \"redact\", expected \"enforce\" or \"observe\"".to_owned()),
        (json!({"gate": {"content": {"phrases": [""]}}}), &[], "gate.content.phrases: [\"\"], expected a list of phrases of 1 to 200 characters".to_owned()),
        (json!({"gate": {"latency": {"max_ms": 0}}}), &[], "gate.latency.max_ms: 0, expected a positive number of milliseconds".to_owned()),
        (json!({}), &["latency"], "gate.latency.max_ms: missing, expected a positive number of milliseconds".to_owned()),
    ] {
        assert_eq!(engine(settings, gates).unwrap_err().to_string(), expected);
    }
    for settings in [
        json!({"gates": {"budget_ms": 1, "proxy": ["secrets", "injection"]}}),
        json!({"gates": {"budget_ms": 60000, "evaluate": ["p"]}, "gate": {"p": {"kind": "pii", "mode": "observe"}}}),
    ] {
        assert!(engine(settings, &[]).is_ok());
    }
}

/// Builds an engine with custom gates, named c1 and so on, and test gates that do what their name says.
fn with_customs(common: &Value, set: &[&str]) -> Engine {
    let tables: Map<String, Value> = set
        .iter()
        .filter(|name| !name.starts_with('c'))
        .map(|name| ((*name).to_owned(), json!({"kind": "test", "does": name})))
        .collect();
    let settings: GateSettings = serde_json::from_value(json!({"gates": common, "gate": tables})).unwrap();
    let set: Vec<String> = set.iter().map(|name| (*name).to_owned()).collect();
    let customs: Vec<String> = set.iter().filter(|name| name.starts_with('c')).cloned().collect();
    let choice = Choice { gates: Some(&set), customs: &customs, ..Choice::of(Place::Evaluate) };
    Engine::new(&settings, &choice, &mut |file| Err(file.to_owned())).unwrap()
}

/// Runs the built-in gates. Returns the names of the remaining gates and the verdict with these outcomes.
fn finished(engine: &Engine, outcomes: Vec<CustomOutcome>) -> (Vec<String>, Verdict) {
    let output = RawValue::from_string("1".to_owned()).unwrap();
    let started = engine.start(&Context::of(&output), &|| Duration::ZERO);
    let left = started.customs().map(str::to_owned).collect();
    let took = Duration::from_millis(2);
    (left, started.finish(outcomes.into_iter().map(|outcome| (outcome, took)).collect(), took))
}

#[test]
fn custom_gates_that_the_set_does_not_name_come_last() {
    let customs = ["c1".to_owned(), "c2".to_owned()];
    for (common, expected) in [
        (json!({}), vec!["filesystem", "pii", "content", "secrets", "c1", "c2"]),
        (json!({"evaluate": ["c2", "pii"]}), vec!["c2", "pii", "c1"]),
        (json!({"evaluate": ["pii", "c2", "c1"]}), vec!["pii", "c2", "c1"]),
    ] {
        let settings: GateSettings = serde_json::from_value(json!({"gates": common})).unwrap();
        let choice = Choice { customs: &customs, ..Choice::of(Place::Evaluate) };
        let engine = Engine::new(&settings, &choice, &mut |file| Err(file.to_owned())).unwrap();
        assert_eq!(engine.names().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn relative_paths_in_the_options_are_found() {
    let mut settings: GateSettings = serde_json::from_value(json!({"gate": {
        "a": {"kind": "filesystem", "roots": ["x", " ", "/y", "C:/z", 5], "cwd": "w"},
        "b": {"roots": "no list", "schema": "s.json"},
        "c": {"cwd": "D:\\v"}}}))
    .unwrap();
    // In the order of the gate names.
    assert_eq!(settings.relative_paths().collect::<Vec<_>>(), ["w", "x", "/y"]);
}

#[test]
fn custom_gates_keep_their_position() {
    let engine = with_customs(&json!({}), &["c1", "fails", "c2", "passes", "c3", "c4", "c5"]);
    let (left, verdict) = finished(
        &engine,
        vec![
            CustomOutcome::Pass,
            CustomOutcome::Fail(Some("too long".to_owned())),
            CustomOutcome::Skip(None),
            CustomOutcome::Broken,
        ],
    );
    assert_eq!(left, ["c1", "c2", "c3", "c4", "c5"]);
    assert_eq!(
        rows(&verdict),
        [
            ("c1", true, None, false),
            ("fails", false, Some("because"), false),
            ("c2", false, Some("too long"), false),
            ("passes", true, None, false),
            ("c3", true, Some("skipped without a reason"), true),
            ("c4", false, Some("renown:error"), false),
            ("c5", false, Some("renown:timeout"), false),
        ]
    );
    assert_eq!(verdict.total, Micros::from_us(2000).unwrap());
}

#[test]
fn fail_fast_skips_later_gates_even_if_they_finished() {
    let fail_fast = json!({"fail_fast": true});
    let engine = with_customs(&fail_fast, &["c1", "passes", "c2"]);
    let (_, verdict) = finished(&engine, vec![CustomOutcome::Fail(None), CustomOutcome::Fail(None)]);
    assert_eq!(
        rows(&verdict),
        [
            ("c1", false, Some("failed without a reason"), false),
            ("passes", true, Some("renown:aborted"), true),
            ("c2", true, Some("renown:aborted"), true),
        ]
    );
    let engine = with_customs(&fail_fast, &["c1", "fails", "c2"]);
    let (left, verdict) = finished(&engine, vec![CustomOutcome::Pass]);
    assert_eq!(left, ["c1"], "gates that will be skipped are not left to run");
    assert_eq!(rows(&verdict)[2], ("c2", true, Some("renown:aborted"), true));
}

#[test]
fn custom_gates_get_the_rest_of_the_budget() {
    let engine = with_customs(&json!({"budget_ms": 3}), &["slow", "c1"]);
    let output = RawValue::from_string("1".to_owned()).unwrap();
    let started = engine.start(&Context::of(&output), &ticking());
    assert_eq!(started.customs().count(), 0, "there is no time left");
    let now = started.now();
    let verdict = started.finish(Vec::new(), now);
    assert_eq!(rows(&verdict)[1], ("c1", false, Some("renown:timeout"), false));
    let engine = with_customs(&json!({"budget_ms": 9}), &["c1"]);
    let started = engine.start(&Context::of(&output), &|| Duration::from_millis(5));
    assert_eq!((started.now(), started.until()), (Duration::from_millis(5), Duration::from_millis(14)));
}

#[test]
fn arguments_are_judged_by_the_gates_that_apply_to_them() {
    let input = json!({"kind": "schema", "target": "input", "schema": {"type": "object"}});
    let output = json!({"kind": "schema", "schema": {"type": "object"}});
    let settings: GateSettings =
        serde_json::from_value(json!({"gate": {"latency": {"max_ms": 1}, "in": input, "out": output}}))
            .unwrap();
    let set = ["filesystem", "pii", "content", "latency", "in", "out"].map(str::to_owned);
    let choice = Choice { gates: Some(&set), part: JudgedPart::Arguments, ..Choice::of(Place::Evaluate) };
    let engine = Engine::new(&settings, &choice, &mut |file| Err(file.to_owned())).unwrap();
    assert_eq!(
        rows(&judge(&engine, r#"["a@b.cc","/etc/x"]"#)),
        [
            ("pre.filesystem", false, Some("sensitive path in arguments: system"), false),
            ("pre.pii", false, Some("email address detected in arguments"), false),
            ("pre.in", false, Some("schema validation failed (1 issue): / type"), false),
        ]
    );
}

#[test]
fn the_caller_can_decide_whether_an_output_is_empty() {
    let engine = engine(json!({}), &["content"]).unwrap();
    for (output, is_empty, passed) in
        [(r#"{"content":[]}"#, Some(true), false), ("[]", Some(false), true), ("[]", None, false)]
    {
        let output = RawValue::from_string(output.to_owned()).unwrap();
        let context = Context { is_empty, ..Context::of(&output) };
        assert_eq!(engine.evaluate(&context, &|| Duration::ZERO).passed, passed);
    }
}
