//! Tests of sets of gates: `rtb`, the guard and redaction.

use super::*;

#[test]
fn rtb_means_its_six_members() {
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
        "gates.evaluate: \"rtb.bid-sanity\" is listed twice, expected each name once"
    );
}

#[test]
fn the_guard_skips_only_the_auction_gates() {
    let set = ["pii", "rtb.impid-match", "rtb.tmax-guard", "content", "rtb.bid-sanity"];
    let output = RawValue::from_string(r#""a@b.org""#.to_owned()).unwrap();
    let at = |engine: &Engine, now_ms: u64| {
        let tmax = Tmax { tmax_ms: 100, started_at_ms: 1000, now_ms };
        let context = Context { tmax: Some(tmax), ..Context::of(&output) };
        engine.evaluate(&context, &|| Duration::ZERO)
    };
    let all = engine(json!({}), &set).unwrap();
    let stopped = at(&all, 1086);
    assert!(!stopped.passed, "the caller cannot switch off the other gates");
    let found = ("pii", false, Some("email address detected in output"), false);
    assert_eq!(
        rows(&stopped),
        [
            found,
            ("rtb.impid-match", true, Some("renown:tmax"), true),
            ("rtb.tmax-guard", true, Some("tmax budget nearly spent"), true),
            ("content", true, None, false),
            ("rtb.bid-sanity", true, Some("renown:tmax"), true),
        ]
    );
    assert_eq!(rows(&at(&all, 1085))[2], ("rtb.tmax-guard", true, None, false));
    // Skipping because of fail fast comes first.
    let fast = engine(json!({"gates": {"fail_fast": true}}), &set).unwrap();
    for now_ms in [1085, 1086] {
        let aborted = at(&fast, now_ms);
        assert_eq!(rows(&aborted)[0], found);
        assert_eq!(rows(&aborted)[2], ("rtb.tmax-guard", true, Some("renown:aborted"), true));
    }
}

#[test]
fn the_set_evaluate_cannot_redact() {
    let build = |settings: Value, place| {
        let settings: GateSettings = serde_json::from_value(settings).unwrap();
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
