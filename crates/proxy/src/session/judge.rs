//! What the gates say of a message of the server.
//!
//! The time that the gates may take grows with what they judge: the configured budget for each [`BUDGET_BYTES`] that are begun. So the
//! verdict on a long result does not depend on how busy the machine is.

use std::time::Duration;

use renown_core::gates::{Context, Engine, GateResult, Verdict};
use renown_core::ids::ToolName;
use renown_core::units::Micros;
use serde_json::value::RawValue;

use super::{Clocks, Host, Session};
use crate::keys::ENVELOPE;
use crate::message::Members;
use crate::pending::Call;
use crate::seen::{self, Seen, Shape};

/// How much is judged within one budget, in bytes. The slowest gate needs a fraction of a millisecond for it.
const BUDGET_BYTES: usize = 64 << 10;

/// What a gate says that found something where it cannot be taken out.
const NOT_REDACTED: &str = "found across items or in encoded data, cannot be redacted";

/// The verdict on a message.
pub(super) struct Judged {
    pub(super) passed: bool,
    pub(super) gates: Vec<GateResult>,
    pub(super) total: Duration,
    /// The value without what the gates took out, as JSON, if they took something out.
    pub(super) redacted: Option<String>,
}

impl Session {
    /// Judges a value of a message, and what is `beside` it: JSON values.
    pub(super) fn judge(
        &self,
        value: &RawValue,
        seen: &Seen<'_>,
        beside: Vec<String>,
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
            context_of(engine, Context { is_empty: Some(seen.is_empty), ..context }, &seen.json, host);
        let mut judged =
            Judged { passed: first.passed, gates: first.gates, total: Duration::ZERO, redacted: None };
        if let Some(left) = first.redacted {
            // What cannot be put together again does not pass.
            judged.redacted = seen::redacted(value, &left);
            judged.passed &= judged.redacted.is_some();
        }
        let left = judged.redacted.as_deref().and_then(|left| serde_json::from_str::<&RawValue>(left).ok());
        let texts = match left {
            Some(left) => seen::see(left, Shape::Other).beside(),
            None => seen.beside(),
        };
        let texts = texts.iter().map(|text| serde_json::to_string(text).unwrap_or_default());
        let beside: Vec<String> = texts.chain(beside).collect();
        if !beside.is_empty() {
            let json = format!("[{}]", beside.join(","));
            let second = context_of(engine, Context { is_empty: Some(false), ..context }, &json, host);
            judged.add(second);
        }
        judged.total = host.elapsed().saturating_sub(started);
        judged
    }

    /// What the gates say of a message that cannot be read.
    pub(super) fn unreadable(&self) -> Vec<GateResult> {
        unreadable(&self.engines.after)
    }

    /// Whether a text of the server that is not a message may reach the client.
    pub(crate) fn lets_pass(&self, text: &str, host: &dyn Host) -> bool {
        let Ok(value) = serde_json::value::to_raw_value(text) else { return false };
        let judged = self.judge(&value, &seen::see(&value, Shape::Other), Vec::new(), None, host);
        self.policy.observe || (judged.passed && judged.redacted.is_none())
    }
}

impl Judged {
    /// Adds the verdict on what stands beside the value: a gate passes if it passes twice.
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
fn context_of(engine: &Engine, context: Context<'_>, json: &str, host: &dyn Host) -> Verdict {
    if let Ok(output) = serde_json::from_str::<&RawValue>(json) {
        return evaluate(engine, &Context { output, ..context }, host);
    }
    Verdict { passed: false, gates: unreadable(engine), total: Micros::default(), redacted: None }
}

/// What the gates would say of something that cannot be read: none of them lets it through.
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

/// Asks an engine, within a budget that grows with the output.
pub(super) fn evaluate(engine: &Engine, context: &Context<'_>, host: &dyn Host) -> Verdict {
    let factor =
        u32::try_from(context.output.get().len() / BUDGET_BYTES).unwrap_or(u32::MAX).saturating_add(1);
    engine.with_budget(engine.budget().saturating_mul(factor)).evaluate(context, &Clocks(host))
}

/// The members of a message that the protocol does not know, each as JSON: they are judged too.
pub(super) fn unknown_members(message: &Members<'_>) -> Vec<String> {
    let unknown = message.0.iter().filter(|(name, _)| !ENVELOPE.contains(&&**name));
    unknown
        .flat_map(|(name, value)| [serde_json::to_string(name).unwrap_or_default(), value.get().to_owned()])
        .collect()
}
