//! Judges messages of the server with the gates.
//!
//! The CPU budget of the gates grows with the message: the configured budget for each started block of [`BUDGET_BYTES`]. So the verdict on a
//! long result does not depend on how busy the machine is.

use std::time::Duration;

use renown_core::gates::{Context, Engine, GateResult, Verdict};
use renown_core::ids::ToolName;
use renown_core::units::Micros;
use serde_json::value::RawValue;

use super::{Clocks, Host, ProxySession};
use crate::gated_view::{self, GatedView, ValueKind};
use crate::keys::ENVELOPE;
use crate::message::Members;
use crate::pending::Call;

/// Size of a block that gets one budget, in bytes. The slowest gate needs a fraction of a millisecond for it.
const BUDGET_BYTES: usize = 64 << 10;

/// The reason of a gate whose finding cannot be redacted.
const NOT_REDACTED: &str = "found across items or in encoded data, which cannot be redacted";

/// The verdict on a message.
pub(super) struct Judged {
    pub(super) passed: bool,
    pub(super) gates: Vec<GateResult>,
    pub(super) total: Duration,
    /// The redacted value as JSON, if the gates redacted something.
    pub(super) redacted: Option<String>,
}

impl ProxySession {
    /// Judges a value of a message, its extra texts, and `others`: further JSON values.
    pub(super) fn judge(
        &self,
        value: &RawValue,
        view: &GatedView<'_>,
        others: Vec<String>,
        call: Option<&Call>,
        host: &dyn Host,
    ) -> Judged {
        let started = host.elapsed();
        let engine = &self.engines.after;
        let context = Context {
            tool: call.and_then(|call| call.tool.as_ref()).map(ToolName::as_str),
            latency: call.map(|call| started.saturating_sub(call.sent_at)),
            ..Context::of(RawValue::NULL)
        };
        let first =
            evaluate_json(engine, Context { is_empty: Some(view.is_empty), ..context }, &view.json, host);
        let mut judged =
            Judged { passed: first.passed, gates: first.gates, total: Duration::ZERO, redacted: None };
        if let Some(redacted_view) = first.redacted {
            // If the redacted value cannot be rebuilt, the message does not pass.
            judged.redacted = gated_view::redacted(value, &redacted_view);
            judged.passed &= judged.redacted.is_some();
        }
        let redacted =
            judged.redacted.as_deref().and_then(|json| serde_json::from_str::<&RawValue>(json).ok());
        let texts = match redacted {
            Some(redacted) => gated_view::view(redacted, ValueKind::Other).extra_texts(),
            None => view.extra_texts(),
        };
        let texts = texts.iter().map(|text| serde_json::to_string(text).unwrap_or_default());
        let others: Vec<String> = texts.chain(others).collect();
        if !others.is_empty() {
            let json = format!("[{}]", others.join(","));
            let second = evaluate_json(engine, Context { is_empty: Some(false), ..context }, &json, host);
            judged.add(second);
        }
        judged.total = host.elapsed().saturating_sub(started);
        judged
    }

    /// Returns the gate results for a message that cannot be parsed.
    pub(super) fn unreadable(&self) -> Vec<GateResult> {
        unreadable(&self.engines.after)
    }

    /// Returns whether a text of the server that is not a message may be sent to the client.
    pub(crate) fn lets_pass(&self, text: &str, host: &dyn Host) -> bool {
        let Ok(value) = serde_json::value::to_raw_value(text) else { return false };
        let view = gated_view::view(&value, ValueKind::Other);
        let judged = self.judge(&value, &view, Vec::new(), None, host);
        self.policy.observe || (judged.passed && judged.redacted.is_none())
    }
}

impl Judged {
    /// Adds the verdict on the extra texts. A gate passes only if it passes both times.
    fn add(&mut self, second: Verdict) {
        for (gate, other) in self.gates.iter_mut().zip(second.gates) {
            gate.latency = (Duration::from(gate.latency) + Duration::from(other.latency)).into();
            let is_redacted = other.passed && !other.skipped && other.reason.is_some();
            if gate.passed && !other.passed {
                *gate = GateResult { latency: gate.latency, ..other };
            } else if gate.passed && is_redacted {
                (gate.passed, gate.skipped) = (false, false);
                gate.reason = Some(NOT_REDACTED.to_owned());
            } else if gate.reason.is_none() && other.skipped {
                *gate = GateResult { latency: gate.latency, ..other };
            }
        }
        self.passed &= self.gates.iter().all(|gate| gate.passed);
    }
}

/// Judges a JSON text.
fn evaluate_json(engine: &Engine, context: Context<'_>, json: &str, host: &dyn Host) -> Verdict {
    if let Ok(output) = serde_json::from_str::<&RawValue>(json) {
        return evaluate(engine, &Context { output, ..context }, host);
    }
    Verdict { passed: false, gates: unreadable(engine), total: Micros::default(), redacted: None }
}

/// Builds gate results for something that cannot be parsed: every gate fails.
fn unreadable(engine: &Engine) -> Vec<GateResult> {
    let failed = |name: &str| GateResult {
        name: name.into(),
        passed: false,
        latency: Micros::from(Duration::ZERO),
        reason: Some("renown:error".to_owned()),
        skipped: false,
    };
    engine.names().map(failed).collect()
}

/// Runs the gates, with a budget that grows with the output.
pub(super) fn evaluate(engine: &Engine, context: &Context<'_>, host: &dyn Host) -> Verdict {
    let factor =
        u32::try_from(context.output.get().len() / BUDGET_BYTES).unwrap_or(u32::MAX).saturating_add(1);
    engine.with_budget(engine.budget().saturating_mul(factor)).evaluate(context, &Clocks(host))
}

/// Returns the names and values of the members that the protocol does not know, as JSON. They are judged too.
pub(super) fn unknown_members(message: &Members<'_>) -> Vec<String> {
    let unknown = message.0.iter().filter(|(name, _)| !ENVELOPE.contains(&&**name));
    unknown
        .flat_map(|(name, value)| [serde_json::to_string(name).unwrap_or_default(), value.get().to_owned()])
        .collect()
}
