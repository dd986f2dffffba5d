//! What a set stands for, and what stands before it.

use super::*;

#[test]
fn rtb_stands_for_its_six_members() {
    let names = |engine: &Engine| engine.names().map(str::to_owned).collect::<Vec<_>>();
    let set = |gates: Value, common: Value| {
        let mut common = common;
        common["evaluate"] = gates;
        engine(json!({ "gates": common }), &[])
    };
    let rtb = set(json!(["pii", "rtb", "content"]), json!({})).unwrap();
    let expected: Vec<&str> = ["pii"].into_iter().chain(rtb::MEMBERS).chain(["content"]).collect();
    assert_eq!(
        (names(&rtb), rtb.budget().as_millis()),
        (expected.into_iter().map(str::to_owned).collect(), 15)
    );
    assert_eq!(set(json!(["rtb"]), json!({"budget_ms": 40})).unwrap().budget().as_millis(), 40);
    assert_eq!(set(json!(["rtb.bid-sanity"]), json!({})).unwrap().budget().as_millis(), 50);
    assert_eq!(
        set(json!(["rtb", "rtb.bid-sanity"]), json!({})).unwrap_err().to_string(),
        "gates.evaluate: \"rtb.bid-sanity\" stands there twice"
    );
}

#[test]
fn a_guard_that_stops_skips_all_others_wherever_it_stands() {
    let engine =
        engine(json!({"gates": {"fail_fast": true}}), &["pii", "rtb.tmax-guard", "content"]).unwrap();
    let output = RawValue::from_string(r#""a@b.org""#.to_owned()).unwrap();
    let at = |now_ms: u64| {
        let tmax = Tmax { tmax_ms: 100, started_at_ms: 1000, now_ms };
        let context = Context { tmax: Some(tmax), ..Context::of(&output) };
        engine.evaluate(&context, &|| Duration::ZERO)
    };
    let stopped = at(1086);
    assert!(stopped.passed);
    assert_eq!(
        rows(&stopped),
        [
            ("pii", true, Some("renown:tmax"), true),
            ("rtb.tmax-guard", true, Some("tmax budget nearly spent"), true),
            ("content", true, Some("renown:tmax"), true),
        ]
    );
    assert_eq!(rows(&at(1085))[0], ("pii", false, Some("email address detected in output"), false));
    assert_eq!(
        rows(&engine.evaluate(&Context::of(&output), &|| Duration::ZERO))[1],
        ("rtb.tmax-guard", true, Some("renown:aborted"), true)
    );
}

#[test]
fn what_echoes_nothing_cannot_redact() {
    let build = |settings: Value, place| {
        let settings: Settings = serde_json::from_value(settings).unwrap();
        Engine::new(&settings, &Choice::of(place), &mut |_| Err(String::new())).map(|_| ())
    };
    let mask = json!({"mask": {"kind": "secrets", "mode": "redact"}});
    let named = |set: &str| json!({"gates": {set: ["mask"]}, "gate": mask});
    for place in [Place::Evaluate, Place::Cli, Place::Proxy] {
        let error = build(named("evaluate"), place).unwrap_err().to_string();
        assert!(error.starts_with("gate.mask.mode: \"redact\", expected"), "{error}");
        assert_eq!(build(named("proxy"), place), Ok(()));
    }
    let default = json!({"gate": {"pii": {"mode": "redact"}}});
    assert_eq!(build(default.clone(), Place::Cli), Ok(()));
    assert!(build(default, Place::Evaluate).is_err());
}
