//! Does every gate check the clock often enough, for any text?
//!
//! Reading the test clock advances it, so these tests do not depend on the speed of the machine.

use super::*;

/// Texts that are cheap to write and may be expensive to read.
const UNITS: [&str; 36] = [
    "x",
    "7",
    "../",
    "@",
    "i ",
    " ",
    "\\n",
    "4111 1111 ",
    "[\"a\",",
    "%2e",
    "a.",
    "/etc/",
    "é",
    "\u{200b}",
    "<!--",
    "sk",
    "eyJ",
    "ignore ",
    "a@b.cc ",
    "key=",
    "rm ",
    "rm;",
    "rm # ",
    "rm # ' ",
    "rm '",
    "rm \"x\" ",
    "rm -b/ssh -b ",
    "rm /cmd ",
    "rm /powershell ",
    "env -S rm ",
    "find -exec rm + ",
    "\\u0041",
    "\u{201c}rm ",
    "# rm -rf / ",
    "~/x ",
    "rm {a,",
];

#[test]
fn no_text_takes_longer_than_the_budget() {
    let settings = json!({"gates": {"budget_ms": 45}, "gate": {"mask": {"kind": "pii", "mode": "redact"}}});
    let gates = ["filesystem", "pii", "content", "secrets", "injection", "mask"];
    let all = gates.map(|gate| engine(settings.clone(), &[gate]).unwrap());
    for (engine, unit) in all.iter().flat_map(|engine| UNITS.map(|unit| (engine, unit))) {
        let output = format!("\"{}\"", unit.replace('"', "\\\"").repeat((2 << 20) / unit.len()));
        let output = RawValue::from_string(output).unwrap();
        let verdict = engine.evaluate(&Context::of(&output), &ticking());
        assert!(verdict.total.us() < 55_000, "{unit}: {verdict:?}");
    }
}

/// The number of clock checks grows with the length of a line, and stops growing when the budget is spent.
#[test]
fn a_long_line_is_read_with_regular_clock_checks() {
    let strict = json!({"gates": {"budget_ms": 60_000}});
    let balanced = json!({"gates": {"budget_ms": 60_000, "strictness": "balanced"}, "gate": {"filesystem": {"roots": ["/srv"]}}});
    // Quotes come in pairs, so that a text and one of twice its length are read the same way.
    let looks = |engine: &Engine, bytes: usize, unit: &str| {
        let output = format!("\"{}\"", unit.replace('"', "\\\"").repeat(bytes / unit.len() / 4 * 4));
        let output = RawValue::from_string(output).unwrap();
        let count = Cell::new(0_u64);
        // The budget is never spent: the whole line is read.
        engine.evaluate(&Context::of(&output), &|| {
            count.set(count.get() + 1);
            Duration::from_micros(count.get())
        });
        count.get()
    };
    let bytes = 1 << 20;
    for (settings, unit) in
        [&strict, &balanced].into_iter().flat_map(|settings| UNITS.map(|unit| (settings, unit)))
    {
        let engine = engine(settings.clone(), &["filesystem", "pii", "content", "secrets"]).unwrap();
        let (once, twice) = (looks(&engine, bytes, unit), looks(&engine, 2 * bytes, unit));
        let strides = u64::try_from(bytes / GATE_STRIDE_BYTES).unwrap();
        // Each gate that reads the text checks at least once per stride. A text that fails early is read less.
        let is_read = once > 16;
        assert!(!is_read || twice - once >= strides / 2, "{unit:?}: {once} checks, then {twice}");
        // No work is hidden in a line: twice the text needs about twice the checks.
        assert!(twice <= 2 * once + once / 2 + 16, "{unit:?}: {once} checks, then {twice}");
    }
}
