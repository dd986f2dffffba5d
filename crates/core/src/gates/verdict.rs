//! What an evaluation found.

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
    /// One result a gate, in the configured order.
    pub gates: Vec<GateResult>,
    /// How long the whole took.
    pub total: Micros,
    /// The output with a label in the place of each finding, as JSON text, if a gate redacted something. It is of use only
    /// where the evaluation passed, and is no part of what is served or kept.
    pub redacted: Option<String>,
}

/// The result of one gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateResult {
    /// The name by which the gate is configured.
    pub name: Arc<str>,
    /// Whether it passed; a skipped gate passes.
    pub passed: bool,
    /// How long it took.
    pub latency: Micros,
    /// Why it failed or was skipped, in the gate's own words.
    pub reason: Option<String>,
    /// Whether it had nothing to say.
    pub skipped: bool,
}

/// What a gate says about an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Pass,
    Fail(String),
    Skip(Cow<'static, str>),
}

/// As much of a reason as is allowed.
pub(super) fn shortened(reason: String) -> String {
    match reason.char_indices().nth(GATE_REASON_CHARS_MAX) {
        None => reason,
        Some(_) => reason.chars().take(GATE_REASON_CHARS_MAX - 1).chain(['…']).collect(),
    }
}

/// `{"passed", "gates", "total_latency_ms"}`: whoever serves it adds the id and the time around it.
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Verdict", 3)?;
        fields.serialize_field("passed", &self.passed)?;
        fields.serialize_field("gates", &self.gates)?;
        fields.serialize_field("total_latency_ms", &self.total)?;
        fields.end()
    }
}

/// `{"name", "passed", "latency_ms", "reason"?, "skipped"?}`.
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
    fn what_is_absent_is_left_out() {
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
    fn a_reason_has_a_limit() {
        let text = |chars| "é".repeat(chars);
        assert_eq!(shortened(text(GATE_REASON_CHARS_MAX)), text(GATE_REASON_CHARS_MAX));
        let cut = shortened(text(GATE_REASON_CHARS_MAX + 1));
        assert_eq!(cut, format!("{}…", text(GATE_REASON_CHARS_MAX - 1)));
    }
}
