//! The verdict of an evaluation.

use std::borrow::Cow;
use std::sync::Arc;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::limits::GATE_REASON_CHARS_MAX;
use crate::units::Micros;

/// The result of one evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether every gate passed or was skipped.
    pub passed: bool,
    /// One result per gate, in the configured order.
    pub gates: Vec<GateResult>,
    /// Duration of the whole evaluation.
    pub total: Micros,
    /// The redacted output as JSON text, with a label in place of each finding; `None` if no gate redacted anything.
    /// Use it only if the evaluation passed. It is neither served nor stored.
    pub redacted: Option<String>,
}

/// The result of one gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateResult {
    /// The configured name of the gate.
    pub name: Arc<str>,
    /// Whether it passed; a skipped gate passes.
    pub passed: bool,
    /// Duration of the gate.
    pub latency: Micros,
    /// Why it failed or was skipped, never with text of the payload.
    pub reason: Option<String>,
    /// Whether the gate was skipped.
    pub skipped: bool,
}

/// The finding of a gate about an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Pass,
    Fail(String),
    Skip(Cow<'static, str>),
}

/// Shortens a reason to the limit.
pub(super) fn shortened(reason: String) -> String {
    match reason.char_indices().nth(GATE_REASON_CHARS_MAX) {
        None => reason,
        Some(_) => reason.chars().take(GATE_REASON_CHARS_MAX - 1).chain(['…']).collect(),
    }
}

/// Serializes `{"passed", "gates", "total_latency_ms"}`. The caller adds the id and the time.
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Verdict", 3)?;
        fields.serialize_field("passed", &self.passed)?;
        fields.serialize_field("gates", &self.gates)?;
        fields.serialize_field("total_latency_ms", &self.total)?;
        fields.end()
    }
}

/// Serializes `{"name", "passed", "latency_ms", "reason"?, "skipped"?}`.
impl Serialize for GateResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let count = 3 + usize::from(self.reason.is_some()) + usize::from(self.skipped);
        let mut fields = serializer.serialize_struct("GateResult", count)?;
        fields.serialize_field("name", &*self.name)?;
        fields.serialize_field("passed", &self.passed)?;
        fields.serialize_field("latency_ms", &self.latency)?;
        match &self.reason {
            Some(reason) => fields.serialize_field("reason", reason)?,
            None => fields.skip_field("reason")?,
        }
        if self.skipped {
            fields.serialize_field("skipped", &true)?;
        } else {
            fields.skip_field("skipped")?;
        }
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    #[test]
    fn absent_fields_are_omitted() {
        let result = |name: &str, reason: Option<&str>, skipped| GateResult {
            name: name.into(),
            passed: true,
            latency: Micros::from_us(12).unwrap(),
            reason: reason.map(str::to_owned),
            skipped,
        };
        let verdict = Verdict {
            redacted: Some("never shown".to_owned()),
            passed: true,
            gates: vec![result("pii", None, false), result("latency", Some("no latency_ms provided"), true)],
            total: Duration::from_nanos(1_234_567).into(),
        };
        assert_eq!(
            serde_json::to_string(&verdict).unwrap(),
            r#"{"passed":true,"gates":[{"name":"pii","passed":true,"latency_ms":0.012},{"name":"latency","passed":true,"latency_ms":0.012,"reason":"no latency_ms provided","skipped":true}],"total_latency_ms":1.234}"#
        );
        assert_eq!(Micros::from(Duration::from_hours(1)), Micros::MAX);
    }

    #[test]
    fn a_long_reason_is_shortened() {
        let text = |chars| "é".repeat(chars);
        assert_eq!(shortened(text(GATE_REASON_CHARS_MAX)), text(GATE_REASON_CHARS_MAX));
        let cut = shortened(text(GATE_REASON_CHARS_MAX + 1));
        assert_eq!(cut, format!("{}…", text(GATE_REASON_CHARS_MAX - 1)));
    }
}
