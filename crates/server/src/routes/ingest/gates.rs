//! The gate results of one event. The text to store is written while the results are parsed.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use renown_core::json::{Noted, UnknownFields};
use renown_core::limits::{GATE_NAME_CHARS_MAX, GATE_REASON_CHARS_MAX, GATES_MAX};
use renown_core::units::Micros;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

thread_local! {
    /// A buffer for the text of one event. It is allocated once per thread, and the stored copy has the exact length.
    static SCRATCH: Cell<String> = const { Cell::new(String::new()) };
}

/// The results of the gates.
pub(super) struct Gates {
    /// The results with their known fields, as a JSON array.
    pub(super) text: Arc<str>,
    pub(super) count: usize,
    /// The unknown fields of the results that have some, with the index of the result.
    pub(super) unknown: Vec<(usize, UnknownFields)>,
}

impl<'de> Deserialize<'de> for Gates {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(GatesVisitor)
    }
}

struct GatesVisitor;

impl<'de> Visitor<'de> for GatesVisitor {
    type Value = Gates;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut reports: A) -> Result<Gates, A::Error> {
        let mut text = SCRATCH.take();
        text.clear();
        let (mut count, mut all_unknown) = (0, Vec::new());
        while let Some(Noted { value, unknown }) = reports.next_element::<Noted<GateReport<'de>>>()? {
            // An event with more results is refused later.
            if count < GATES_MAX {
                text.push(if count == 0 { '[' } else { ',' });
                value.write(&mut text);
            }
            if !unknown.is_empty() {
                all_unknown.push((count, unknown));
            }
            count += 1;
        }
        text.push_str(if count == 0 { "[]" } else { "]" });
        let gates = Gates { text: text.as_str().into(), count, unknown: all_unknown };
        SCRATCH.set(text);
        Ok(gates)
    }
}

/// The result of one gate.
#[derive(Deserialize, Serialize, ToSchema)]
pub(crate) struct GateReport<'a> {
    /// Name of the gate.
    #[serde(borrow)]
    #[schema(value_type = String, max_length = 200)]
    name: Short<'a, GATE_NAME_CHARS_MAX>,
    /// Whether the gate passed. A skipped gate passes.
    passed: bool,
    /// Latency of the gate.
    latency_ms: Micros,
    /// Reason for a failure or a skip.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 500)]
    reason: Option<Short<'a, GATE_REASON_CHARS_MAX>>,
    /// Whether the gate was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<bool>,
}

impl GateReport<'_> {
    /// Appends the result as JSON: the same bytes as `serde_json` writes, in a seventh of the CPU time.
    fn write(&self, text: &mut String) {
        text.push_str(r#"{"name":"#);
        self.name.write(text);
        text.push_str(if self.passed { r#","passed":true"# } else { r#","passed":false"# });
        text.push_str(r#","latency_ms":"#);
        self.latency_ms.write_ms(text);
        if let Some(reason) = &self.reason {
            text.push_str(r#","reason":"#);
            reason.write(text);
        }
        text.push_str(match self.skipped {
            None => "}",
            Some(true) => r#","skipped":true}"#,
            Some(false) => r#","skipped":false}"#,
        });
    }
}

/// A text of at most `CHARS_MAX` characters.
#[derive(Serialize)]
struct Short<'a, const CHARS_MAX: usize>(Cow<'a, str>);

impl<const CHARS_MAX: usize> Short<'_, CHARS_MAX> {
    /// Appends the text as a JSON string.
    fn write(&self, text: &mut String) {
        let Self(value) = self;
        let needs_escape = |byte: u8| byte < b' ' || matches!(byte, b'"' | b'\\');
        if value.bytes().any(needs_escape) {
            // Serializing a string cannot fail.
            text.push_str(&serde_json::to_string(value).unwrap_or_default());
        } else {
            text.push('"');
            text.push_str(value);
            text.push('"');
        }
    }
}

impl<'de: 'a, 'a, const CHARS_MAX: usize> Deserialize<'de> for Short<'a, CHARS_MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

        let Text(text) = Text::deserialize(deserializer)?;
        // A character has at least one byte, so a text of few bytes need not be counted.
        if text.len() > CHARS_MAX && text.chars().count() > CHARS_MAX {
            return Err(D::Error::custom(format_args!(
                "text is too long, expected at most {CHARS_MAX} characters"
            )));
        }
        Ok(Self(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gates(text: &str) -> Gates {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_stored_text_is_what_serde_json_writes() {
        let names = ["schema", "", "a\\u0022b", "tab\\t", "back\\\\slash", "é\\u007f", "\\u0000", "/"];
        let rest = ["", r#","reason":"no \"way\"""#, r#","skipped":true"#, r#","reason":"","skipped":false"#];
        for name in names {
            for (rest, ms) in rest.iter().zip(["0", "1.5", "60000", "0.0009"]) {
                let sent =
                    format!(r#"[{{"latency_ms" : {ms}, "passed":{}, "name":"{name}"{rest}}} ]"#, ms == "0");
                let reports: Vec<GateReport<'_>> = serde_json::from_str(&sent).unwrap();
                assert_eq!(&*gates(&sent).text, serde_json::to_string(&reports).unwrap(), "{sent}");
            }
        }
        let one = r#"{"name":"a","passed":true,"latency_ms":1.0}"#;
        assert_eq!(&*gates("[]").text, "[]");
        assert_eq!(&*gates(&format!("[{one}, {one}]")).text, format!("[{one},{one}]"));
    }

    #[test]
    fn all_results_are_counted_but_only_the_allowed_number_is_written() {
        let one = r#"{"name":"a","passed":true,"latency_ms":1.0,"colour":1}"#;
        let many = gates(&format!("[{}]", vec![one; GATES_MAX + 2].join(",")));
        assert_eq!(many.count, GATES_MAX + 2);
        assert_eq!(many.text.matches("name").count(), GATES_MAX);
        assert_eq!(many.unknown.len(), GATES_MAX + 2);
        assert_eq!(many.unknown.first().map(|(index, _)| *index), Some(0));
    }
}
