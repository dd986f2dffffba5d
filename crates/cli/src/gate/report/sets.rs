//! Reads labeled sets: outputs, and whether a gate should find something in them.
//!
//! | format | content | meaning |
//! |---|---|---|
//! | renown | JSON Lines `{"output", "gate", "label"}` | `label` is `fail` if the gate, or the rule of `GATE.RULE`, should fire, else `pass` |
//! | presidio | an array of `{"full_text", "spans": [{"entity_type", "entity_value"}]}` | a rule of `pii` should fire if there is a span of its kind |
//! | `NotInject` | an array of `{"prompt", "word_list", "category"}` | `injection` should not fire |
//!
//! A line of the format renown may also have `input`, `latency_ms`, and `tmax_ms` with `elapsed_ms`. It may have `output_parts`, a
//! list of strings that are joined, instead of `output`: secrets in pieces do not alarm tools that scan repositories for secrets.
//!
//! A file has the format renown if its first line is an object with `gate` or `label`, or if its name ends in `.jsonl` and that
//! line is not JSON. An error in such a file has its line number. Files of unknown formats are skipped.

use std::collections::BTreeMap;
use std::time::Duration;

use renown_core::gates::Tmax;
use renown_core::units::duration_of_ms;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// A labeled output.
#[derive(Debug)]
pub(super) struct Sample {
    /// The line, or the index in the array, from 1.
    pub(super) number: usize,
    /// The labels, one per gate or rule.
    pub(super) known: Vec<Known>,
    pub(super) output: Box<RawValue>,
    pub(super) input: Option<Box<RawValue>>,
    pub(super) latency: Option<Duration>,
    pub(super) tmax: Option<Tmax>,
}

/// A label: whether a gate or rule should fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// `GATE` or `GATE.RULE`.
    pub(super) what: String,
    /// Whether it should fire.
    pub(super) fails: bool,
    /// Why the rule deliberately does not fire, although the label says that it should.
    pub(super) left_out: Option<&'static str>,
}

/// The format of a labeled set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Shape {
    #[serde(rename = "renown")]
    Renown,
    #[serde(rename = "presidio")]
    Presidio,
    NotInject,
}

impl Shape {
    /// Returns what the number of a sample counts, for errors.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Renown => "line",
            Self::Presidio | Self::NotInject => "element",
        }
    }
}

/// The content of a file.
#[derive(Debug)]
pub(super) enum File {
    Set(Shape, Vec<Sample>),
    /// A file of an unknown format.
    Other,
}

/// Entities of presidio, and the rules that find them.
const ENTITIES: [(&str, &str); 5] = [
    ("EMAIL_ADDRESS", "pii.email"),
    ("US_SSN", "pii.us_ssn"),
    ("PHONE_NUMBER", "pii.us_phone"),
    ("CREDIT_CARD", "pii.card"),
    ("IBAN_CODE", "pii.iban"),
];

/// Minimum number of digits of a card that the rule finds.
const CARD_DIGITS_MIN: usize = 13;
const SHORT_CARD: &str = "numbers of fewer than 13 digits, which the rule ignores";

#[derive(Deserialize)]
struct Presidio {
    full_text: String,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Span {
    entity_type: String,
    entity_value: String,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "unread fields still identify the format")]
struct NotInject {
    prompt: String,
    word_list: Vec<String>,
    category: String,
}

/// Reads a file. An error has the line or index, and what is wrong.
pub(super) fn read(name: &str, text: &str) -> Result<File, String> {
    if let Some(is_presidio) = array(text) {
        return if is_presidio { presidio(text) } else { not_inject(text) };
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let fields = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(first);
    let is_named = std::path::Path::new(name).extension().is_some_and(|extension| extension == "jsonl");
    let ours = match &fields {
        Ok(fields) => fields.contains_key("gate") || fields.contains_key("label"),
        Err(error) => is_named && !first.is_empty() && !error.is_data(),
    };
    if !ours {
        return Ok(File::Other);
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let samples =
        lines.map(|(at, line)| own(at + 1, line).map_err(|what| format!("line {}: {what}", at + 1)));
    Ok(File::Set(Shape::Renown, samples.collect::<Result<_, _>>()?))
}

/// Returns whether an array has the format presidio (true) or `NotInject` (false), or `None` for other text.
fn array(text: &str) -> Option<bool> {
    if !text.trim_start().starts_with('[') {
        return None;
    }
    let elements: Vec<BTreeMap<String, &RawValue>> = serde_json::from_str(text).ok()?;
    let first = elements.first()?;
    let has = |names: [&str; 2]| names.iter().all(|name| first.contains_key(*name));
    match (has(["full_text", "spans"]), has(["prompt", "word_list"])) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

fn presidio(text: &str) -> Result<File, String> {
    let elements: Vec<Presidio> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let known = |spans: &[Span], (entity, what): (&str, &str)| {
        let of_kind: Vec<&Span> = spans.iter().filter(|span| span.entity_type == entity).collect();
        let digits = |span: &&Span| span.entity_value.chars().filter(char::is_ascii_digit).count();
        let is_short = |span: &&Span| what == "pii.card" && digits(span) < CARD_DIGITS_MIN;
        let fails = !of_kind.is_empty();
        let left_out = (fails && of_kind.iter().all(is_short)).then_some(SHORT_CARD);
        Known { what: what.to_owned(), fails, left_out }
    };
    let samples = elements.into_iter().enumerate().map(|(at, element)| {
        let all = ENTITIES.iter().map(|entity| known(&element.spans, *entity)).collect();
        sample(at + 1, &element.full_text, all)
    });
    Ok(File::Set(Shape::Presidio, samples.collect::<Result<_, _>>()?))
}

fn not_inject(text: &str) -> Result<File, String> {
    let elements: Vec<NotInject> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let samples = elements.into_iter().enumerate().map(|(at, element)| {
        let known = Known { what: "injection".to_owned(), fails: false, left_out: None };
        sample(at + 1, &element.prompt, vec![known])
    });
    Ok(File::Set(Shape::NotInject, samples.collect::<Result<_, _>>()?))
}

fn sample(number: usize, text: &str, known: Vec<Known>) -> Result<Sample, String> {
    let output = to_raw_value(text).map_err(|error| error.to_string())?;
    Ok(Sample { number, known, output, input: None, latency: None, tmax: None })
}

/// Parses one line of the format renown.
fn own(number: usize, line: &str) -> Result<Sample, String> {
    let mut fields: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(line).map_err(|error| format!("expected an object, {error}"))?;
    let gate: String = field(&mut fields, "gate", "the name of a gate, or GATE.RULE")?
        .ok_or("gate: missing, expected the name of a gate, or GATE.RULE")?;
    let expected = "\"pass\" or \"fail\"";
    let label: Option<String> = field(&mut fields, "label", expected)?;
    let fails = match label.as_deref() {
        Some("fail") => true,
        Some("pass") => false,
        Some(other) => return Err(format!("label: {other:?}, expected {expected}")),
        None => return Err(format!("label: missing, expected {expected}")),
    };
    let parts: Option<Vec<String>> = field(&mut fields, "output_parts", "a list of texts")?;
    let output = match (fields.remove("output"), parts) {
        (Some(output), None) => output,
        (None, Some(parts)) => to_raw_value(&parts.concat()).map_err(|error| error.to_string())?,
        (Some(_), Some(_)) => return Err("output_parts: found with output, expected one of them".into()),
        (None, None) => return Err("output: missing, expected any JSON".to_owned()),
    };
    let latency: Option<f64> = field(&mut fields, "latency_ms", "a number of milliseconds")?;
    let refused = |ms: f64| format!("latency_ms: {ms}, expected milliseconds, 0 or more");
    let latency = latency.map(|ms| duration_of_ms(ms).ok_or_else(|| refused(ms)));
    let time = "a whole number of milliseconds";
    let tmax: Option<u64> = field(&mut fields, "tmax_ms", time)?;
    let elapsed: Option<u64> = field(&mut fields, "elapsed_ms", time)?;
    let tmax = tmax.zip(elapsed).map(|(tmax_ms, now_ms)| Tmax { tmax_ms, started_at_ms: 0, now_ms });
    let input = fields.remove("input");
    if let Some(name) = fields.keys().find(|name| *name != "note") {
        return Err(format!(
            "{name}: unknown, expected output, gate, label, output_parts, input, latency_ms, tmax_ms, elapsed_ms or note"
        ));
    }
    let known = vec![Known { what: gate, fails, left_out: None }];
    Ok(Sample { number, known, output, input, latency: latency.transpose()?, tmax })
}

fn field<T: for<'de> Deserialize<'de>>(
    fields: &mut BTreeMap<String, Box<RawValue>>,
    name: &str,
    expected: &str,
) -> Result<Option<T>, String> {
    let Some(value) = fields.remove(name) else { return Ok(None) };
    serde_json::from_str(value.get()).map(Some).map_err(|_| format!("{name}: expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_element_decides_the_format() {
        let presidio = r#"[{"full_text": "a", "spans": [{"entity_type": "CREDIT_CARD", "entity_value": "5018 0000 0009"}], "masked": "b"}]"#;
        let benign = r#"[{"prompt": "a", "word_list": ["b"], "category": "c"}]"#;
        let own = "\n{\"output\": null, \"gate\": \"content\", \"label\": \"fail\"}\n";
        for (text, shape, count) in
            [(presidio, Shape::Presidio, 5), (benign, Shape::NotInject, 1), (own, Shape::Renown, 1)]
        {
            let File::Set(found, samples) = read("a.json", text).unwrap() else { panic!("{text}") };
            assert_eq!((found, samples.len(), samples[0].known.len()), (shape, 1, count), "{text}");
        }
        for text in
            ["", "# words", "[]", "[1]", "[{\"a\": 1}]", "{\"a\": 1}", "{\"text\": 1}\n", "{\n\"gate\": 1}"]
        {
            assert!(matches!(read("a.json", text), Ok(File::Other)), "{text}");
        }
        assert!(matches!(read("a.jsonl", "{\"text\": 1}"), Ok(File::Other)));
    }

    #[test]
    fn a_short_card_is_marked_as_ignored_by_the_rule() {
        let text = |value: &str| {
            format!(
                r#"[{{"full_text": "", "spans": [{{"entity_type": "CREDIT_CARD", "entity_value": "{value}"}}]}}]"#
            )
        };
        for (value, left_out) in [("501800000009", Some(SHORT_CARD)), ("4111111111111111", None)] {
            let Ok(File::Set(_, samples)) = read("a", &text(value)) else { panic!("{value}") };
            let card = samples[0].known.iter().find(|known| known.what == "pii.card").unwrap();
            assert_eq!((card.fails, card.left_out), (true, left_out));
        }
    }

    #[test]
    fn errors_name_the_line_and_the_field() {
        let good = r#"{"output": "x", "gate": "pii", "label": "pass"}"#;
        for (line, expected) in [
            (r#"{"output": "x", "gate": "pii"}"#, "line 2: label: missing, expected \"pass\" or \"fail\""),
            (
                r#"{"output": "x", "gate": "pii", "label": "ok"}"#,
                "line 2: label: \"ok\", expected \"pass\" or \"fail\"",
            ),
            (
                r#"{"output": "x", "gate": 7, "label": "pass"}"#,
                "line 2: gate: expected the name of a gate, or GATE.RULE",
            ),
            (r#"{"gate": "pii", "label": "pass"}"#, "line 2: output: missing, expected any JSON"),
            (
                r#"{"output": 1, "output_parts": [], "gate": "pii", "label": "pass"}"#,
                "line 2: output_parts: found with output, expected one of them",
            ),
            (r#"{"output": 1, "gate": "pii", "label": "pass", "lable": 1}"#, "line 2: lable: unknown"),
            (
                r#"{"output": 1, "gate": "pii", "label": "pass", "latency_ms": -1}"#,
                "line 2: latency_ms: -1, expected",
            ),
            (r#"{"output": 1, "gate"#, "line 2: expected an object, EOF"),
        ] {
            let error = read("a", &format!("{good}\n{line}\n")).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        assert!(read("a.jsonl", "{\"output\"").unwrap_err().starts_with("line 1: expected an object"));
    }
}
