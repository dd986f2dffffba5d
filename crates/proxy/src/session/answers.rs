//! Answers of the server: results and errors, which are judged, and lists, which are pinned (`lists.rs`).

use serde_json::value::RawValue;

use super::judge::unknown_members;
use super::{Effects, Fate, Host, Session, made};
use crate::message::{LooseId, Members};
use crate::pending::{Asks, Call};
use crate::pins::Kind;
use crate::record::{Action, Record};
use crate::reply::{self, Stage};
use crate::seen::{self, Shape};

impl Session {
    /// Looks at a message of the server.
    pub(super) fn arrived(
        &mut self,
        message: &Members<'_>,
        bytes: usize,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Fate {
        self.asks_for_roots(message);
        if message.has("method") {
            return self.spoken(message, bytes, host, effects);
        }
        let ids: Vec<(LooseId, &str)> = message.written_ids().collect();
        let call = ids.iter().find_map(|(id, written)| self.pending.take(id, written));
        let is_there = |value: &&RawValue| value.get() != "null";
        let (result, error) = (message.all("result").next(), message.all("error").find(is_there));
        let call = call.unwrap_or_else(|| {
            // It is judged although no request is known: the session may have begun before us.
            let id = message.all("id").next().map_or("null", RawValue::get).to_owned();
            Call::new(made(host), id, looks_like(result), None, host.elapsed())
        });
        match (call.asks, error, result) {
            (_, Some(error), _) => self.error(&call, error, message, bytes, host, effects),
            (Asks::List(kind), None, Some(result)) => self.list(kind, &call, result, message, host, effects),
            (Asks::Greeting, None, Some(result)) => self.greeting(result, message, host, effects),
            (_, None, Some(result)) => self.result(&call, result, message, bytes, host, effects),
            // No message is without both.
            (_, None, None) => Fate::Gone,
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
    ) -> Fate {
        let method = call.tool.as_ref().map(renown_core::ids::ToolName::as_str).unwrap_or_default();
        if call.asks == Asks::Other && self.policy.ungated.iter().any(|ungated| ungated == method) {
            return Fate::AsIs;
        }
        let shape = match call.asks {
            Asks::Tool => Shape::Tool,
            Asks::Task => Shape::Task,
            Asks::Greeting | Asks::List(_) | Asks::Other => Shape::Other,
        };
        let seen = seen::see(result, shape);
        let judged = self.judge(result, &seen, unknown_members(message), Some(call), host);
        let mut record = Record { bytes, ..self.record(call, Action::Forwarded, host) };
        record.passed = judged.passed && !call.before.failed;
        record.tool_error = seen.is_error;
        let is_handle = seen.task.is_some();
        if let (Some(task), Some(tool), Asks::Tool) = (seen.task, &call.tool, call.asks) {
            self.tasks.insert(task, tool.clone());
        }
        if is_handle && record.passed {
            // The result comes later. What was judged before is all there is to say.
            if call.asks == Asks::Tool || !record.gates.is_empty() {
                effects.records.push(Record { counts: !record.gates.is_empty(), ..record });
            }
            return Fate::AsIs;
        }
        record.counts = call.asks.is_call();
        record.total = (call.before.total + judged.total).into();
        record.gates.extend(judged.gates);
        let is_logged = call.asks.is_call() || self.policy.logged.iter().any(|logged| logged == method);
        let fate = match (record.passed, self.policy.observe, judged.redacted) {
            (false, true, _) | (true, true, Some(_)) => {
                record.action = Action::Observed;
                Fate::AsIs
            }
            (false, false, _) => {
                record.action = Action::Blocked;
                let stage = if call.asks.is_call() { Stage::After } else { Stage::NoTool };
                Fate::Changed(reply::blocked(&call.id, &call.evaluation_id, &record.gates, stage))
            }
            (true, false, Some(left)) => {
                record.action = Action::Redacted;
                Fate::Changed(with_member(message, "result", Some(&left)))
            }
            (true, _, None) => Fate::AsIs,
        };
        if is_logged || record.action != Action::Forwarded {
            effects.records.push(record);
        }
        fate
    }

    /// Judges an error. One that passes is no evaluation: the tool gave nothing back.
    fn error(
        &mut self,
        call: &Call,
        error: &RawValue,
        message: &Members<'_>,
        bytes: usize,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Fate {
        let seen = seen::see(error, Shape::Other);
        let judged = self.judge(error, &seen, unknown_members(message), Some(call), host);
        let mut record = Record { bytes, tool_error: true, ..self.record(call, Action::Forwarded, host) };
        // What was judged before is an evaluation whatever came of it; of a task there may be nothing to say.
        record.counts = call.asks.is_call() && !record.gates.is_empty();
        let is_logged = call.asks == Asks::Tool || !record.gates.is_empty();
        if judged.passed && judged.redacted.is_none() {
            effects.records.extend(Some(record).filter(|_| is_logged));
            return Fate::AsIs;
        }
        record.counts = call.asks.is_call();
        record.passed = judged.passed && !call.before.failed;
        record.total = (call.before.total + judged.total).into();
        record.gates.extend(judged.gates);
        let fate = match (judged.passed, self.policy.observe, judged.redacted) {
            (_, true, _) => {
                record.action = Action::Observed;
                Fate::AsIs
            }
            (true, false, Some(left)) => {
                record.action = Action::Redacted;
                Fate::Changed(with_member(message, "error", Some(&left)))
            }
            (_, false, _) => {
                record.action = Action::Blocked;
                let stage = if call.asks.is_call() { Stage::After } else { Stage::NoTool };
                Fate::Changed(reply::blocked(&call.id, &call.evaluation_id, &record.gates, stage))
            }
        };
        effects.records.push(record);
        fate
    }
}

/// What a result that the client did not ask for looks like: a list of definitions is pinned all the same.
fn looks_like(result: Option<&RawValue>) -> Asks {
    let members = result.and_then(Members::of);
    let has = |kind: &Kind| {
        let members = members.as_ref()?;
        let is_list = members.all(kind.member()).any(|value| value.get().starts_with('['));
        is_list.then_some(*kind)
    };
    Kind::LISTS.iter().find_map(has).map_or(Asks::Other, Asks::List)
}

/// A message with another value of a member, or without it; everything else of it stays.
pub(super) fn with_member(message: &Members<'_>, member: &str, value: Option<&str>) -> Vec<u8> {
    let others = message.0.iter().filter(|(name, _)| name != member);
    let others = others
        .map(|(name, value)| format!("{}:{}", serde_json::to_string(name).unwrap_or_default(), value.get()));
    let new = value.map(|value| format!("\"{member}\":{value}"));
    let members: Vec<String> = others.chain(new).collect();
    format!("{{{}}}", members.join(",")).into_bytes()
}
