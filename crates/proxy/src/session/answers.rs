//! Answers of the server: results and errors, which are judged, and lists, which are pinned (`lists.rs`).

use serde_json::value::RawValue;

use super::judge::unknown_members;
use super::{Decision, Effects, Host, ProxySession, new_id};
use crate::gated_view::{self, ValueKind};
use crate::message::{LooseId, Members};
use crate::pending::{Call, RequestKind};
use crate::pins::PinKind;
use crate::record::{Action, CallRecord};
use crate::reply::{self, Stage};

impl ProxySession {
    /// Handles one message of the server.
    pub(super) fn arrived(
        &mut self,
        message: &Members<'_>,
        bytes: usize,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Decision {
        self.note_roots_request(message);
        if message.has("method") {
            return self.unsolicited(message, bytes, host, effects);
        }
        let ids: Vec<(LooseId, &str)> = message.written_ids().collect();
        let call = ids.iter().find_map(|(id, written)| self.pending.take(id, written));
        let is_there = |value: &&RawValue| value.get() != "null";
        let (result, error) = (message.all("result").next(), message.all("error").find(is_there));
        let call = call.unwrap_or_else(|| {
            // The answer is judged although its request is unknown: the session may have begun before the proxy started.
            let id = message.all("id").next().map_or("null", RawValue::get).to_owned();
            Call::new(new_id(host), id, guess_kind(result), None, host.elapsed())
        });
        match (call.kind, error, result) {
            (_, Some(error), _) => self.error(&call, error, message, bytes, host, effects),
            (RequestKind::List(kind), None, Some(result)) => {
                self.list(kind, &call, result, message, host, effects)
            }
            (RequestKind::Greeting, None, Some(result)) => self.greeting(result, message, host, effects),
            (_, None, Some(result)) => self.result(&call, result, message, bytes, host, effects),
            // A well-formed message has one of them.
            (_, None, None) => Decision::Drop,
        }
    }

    /// Judges a result.
    fn result(
        &mut self,
        call: &Call,
        result: &RawValue,
        message: &Members<'_>,
        bytes: usize,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Decision {
        let method = call.tool.as_ref().map(renown_core::ids::ToolName::as_str).unwrap_or_default();
        if call.kind == RequestKind::Other && self.policy.ungated.iter().any(|ungated| ungated == method) {
            return Decision::AsIs;
        }
        let value_kind = match call.kind {
            RequestKind::Tool => ValueKind::Tool,
            RequestKind::Task => ValueKind::Task,
            RequestKind::Greeting | RequestKind::List(_) | RequestKind::Other => ValueKind::Other,
        };
        let view = gated_view::view(result, value_kind);
        let judged = self.judge(result, &view, unknown_members(message), Some(call), host);
        let mut record = CallRecord { bytes, ..self.record(call, Action::Forwarded, host) };
        record.passed = judged.passed && !call.arguments.failed;
        record.tool_error = view.is_error;
        let is_handle = view.task.is_some();
        if let (Some(task), Some(tool), RequestKind::Tool) = (view.task, &call.tool, call.kind) {
            self.tasks.insert(task, tool.clone());
        }
        if is_handle && record.passed {
            // The result comes later. Only the verdict on the arguments is known now.
            if call.kind == RequestKind::Tool || !record.gates.is_empty() {
                effects.records.push(CallRecord { counts: !record.gates.is_empty(), ..record });
            }
            return Decision::AsIs;
        }
        record.counts = call.kind.is_call();
        record.total = (call.arguments.total + judged.total).into();
        record.gates.extend(judged.gates);
        let is_logged = call.kind.is_call() || self.policy.logged.iter().any(|logged| logged == method);
        let decision = match (record.passed, self.policy.observe, judged.redacted) {
            (false, true, _) | (true, true, Some(_)) => {
                record.action = Action::Observed;
                Decision::AsIs
            }
            (false, false, _) => {
                record.action = Action::Blocked;
                let stage = if call.kind.is_call() { Stage::After } else { Stage::NoTool };
                Decision::Changed(reply::blocked(&call.id, &call.evaluation_id, &record.gates, stage))
            }
            (true, false, Some(redacted)) => {
                record.action = Action::Redacted;
                Decision::Changed(with_member(message, "result", Some(&redacted)))
            }
            (true, _, None) => Decision::AsIs,
        };
        if is_logged || record.action != Action::Forwarded {
            effects.records.push(record);
        }
        decision
    }

    /// Judges an error. An error that passes does not count as an evaluation, because the tool returned no output.
    fn error(
        &mut self,
        call: &Call,
        error: &RawValue,
        message: &Members<'_>,
        bytes: usize,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Decision {
        let view = gated_view::view(error, ValueKind::Other);
        let judged = self.judge(error, &view, unknown_members(message), Some(call), host);
        let mut record = CallRecord { bytes, tool_error: true, ..self.record(call, Action::Forwarded, host) };
        // A verdict on the arguments counts in any case. A task may have none, and then there is nothing to log.
        record.counts = call.kind.is_call() && !record.gates.is_empty();
        let is_logged = call.kind == RequestKind::Tool || !record.gates.is_empty();
        if judged.passed && judged.redacted.is_none() {
            effects.records.extend(Some(record).filter(|_| is_logged));
            return Decision::AsIs;
        }
        record.counts = call.kind.is_call();
        record.passed = judged.passed && !call.arguments.failed;
        record.total = (call.arguments.total + judged.total).into();
        record.gates.extend(judged.gates);
        let decision = match (judged.passed, self.policy.observe, judged.redacted) {
            (_, true, _) => {
                record.action = Action::Observed;
                Decision::AsIs
            }
            (true, false, Some(redacted)) => {
                record.action = Action::Redacted;
                Decision::Changed(with_member(message, "error", Some(&redacted)))
            }
            (_, false, _) => {
                record.action = Action::Blocked;
                let stage = if call.kind.is_call() { Stage::After } else { Stage::NoTool };
                Decision::Changed(reply::blocked(&call.id, &call.evaluation_id, &record.gates, stage))
            }
        };
        effects.records.push(record);
        decision
    }
}

/// Guesses the kind of request of a result whose request is unknown. Lists of definitions are pinned even then.
fn guess_kind(result: Option<&RawValue>) -> RequestKind {
    let members = result.and_then(Members::of);
    let has = |kind: &PinKind| {
        let members = members.as_ref()?;
        let is_list = members.all(kind.member()).any(|value| value.get().starts_with('['));
        is_list.then_some(*kind)
    };
    PinKind::LISTS.iter().find_map(has).map_or(RequestKind::Other, RequestKind::List)
}

/// Builds a message with a new value of a member, or without the member. Everything else stays.
pub(super) fn with_member(message: &Members<'_>, member: &str, value: Option<&str>) -> Vec<u8> {
    let others = message.0.iter().filter(|(name, _)| name != member);
    let others = others
        .map(|(name, value)| format!("{}:{}", serde_json::to_string(name).unwrap_or_default(), value.get()));
    let new = value.map(|value| format!("\"{member}\":{value}"));
    let members: Vec<String> = others.chain(new).collect();
    format!("{{{}}}", members.join(",")).into_bytes()
}
