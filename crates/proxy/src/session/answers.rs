//! What the server sends: results of calls, which are judged, and lists of tools, which are pinned.

use std::time::Duration;

use renown_core::gates::{Context, GateResult, Verdict};
use renown_core::units::Micros;
use serde_json::value::RawValue;

use super::{Clocks, Effects, Host, Session, made};
use crate::message::{LooseId, Members, items};
use crate::pending::{Asked, Call};
use crate::pins::{PinMode, Sight, definition};
use crate::record::{Action, Record};
use crate::reply;
use crate::seen::{self, Answer, Seen, Shape};

/// A message of the server.
pub(super) struct Arrived<'a, 'm> {
    pub(super) message: &'a Members<'m>,
    pub(super) is_utf8: bool,
    /// The length of the line it came in.
    pub(super) bytes: usize,
}

impl Session {
    /// Looks at a message of the server, and gives what goes on in its place if it may not go on as it is.
    pub(super) fn answer(
        &mut self,
        arrived: &Arrived<'_, '_>,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Option<Vec<u8>> {
        self.asks_for_roots(arrived.message);
        let results: Vec<&RawValue> = arrived.message.all("result").collect();
        if results.is_empty() && !arrived.message.has("error") {
            return None;
        }
        let ids: Vec<(LooseId, &str)> = arrived.message.written_ids().collect();
        match ids.iter().find_map(|(id, written)| self.pending.take(id, written)) {
            Some(Asked::Tools(_)) => self.tools(arrived.message, host, effects),
            Some(Asked::Call(call)) => self.result(&call, &results, arrived, host, effects),
            None if ids.iter().any(|(id, _)| self.pending.was_answered(id)) || is_of_tool(&results) => {
                let id = arrived.message.all("id").next().map_or("null", RawValue::get).to_owned();
                let again = Call::again(made(host), id, host.elapsed());
                let new = self.result(&again, &results, arrived, host, effects);
                // It is judged so that nothing passes, and counts for nobody.
                effects
                    .records
                    .iter_mut()
                    .for_each(|record| record.counts &= record.evaluation_id != again.evaluation_id);
                new
            }
            None => None,
        }
    }

    /// Judges the result of a call.
    fn result(
        &mut self,
        call: &Call,
        results: &[&RawValue],
        arrived: &Arrived<'_, '_>,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Option<Vec<u8>> {
        let mut record = Record { bytes: arrived.bytes, ..self.record(call, Action::Forwarded, host) };
        let shape = match (call.of_task, &call.tool) {
            (true, _) => Shape::Task,
            (false, Some(tool)) if self.policy.methods.iter().any(|method| method == tool.as_str()) => {
                Shape::Whole
            }
            (false, _) => Shape::Tool,
        };
        let Seen { json, is_empty, is_error } = match (results, seen::see(results, shape)) {
            // An error of the server passes, and so does the handle of a task. What was judged before is all there is to say.
            ([], _) | (_, Answer::Task(_)) if record.gates.is_empty() && call.of_task => return None,
            ([], _) => {
                effects.records.push(Record { counts: !record.gates.is_empty(), tool_error: true, ..record });
                return None;
            }
            (_, Answer::Task(task)) => {
                if let (Some(task), Some(tool)) = (task, &call.tool) {
                    self.tasks.insert(task, tool.clone());
                }
                effects.records.push(Record { counts: !record.gates.is_empty(), ..record });
                return None;
            }
            (_, Answer::Result(seen)) => seen,
        };
        let started = host.elapsed();
        let output = RawValue::from_string(json).ok().filter(|_| arrived.is_utf8);
        let verdict = self.judge(output.as_deref(), is_empty, call, host);
        record.total = (call.before.total + host.elapsed().saturating_sub(started)).into();
        record.gates.extend(verdict.gates);
        record.passed = verdict.passed && !call.before.failed;
        (record.counts, record.tool_error) = (true, is_error);
        let left = verdict.redacted.map(|left| {
            let result = results.last().and_then(|result| seen::redacted(result, shape, &left));
            // What cannot be put together again does not pass either.
            record.passed &= result.is_some();
            result
        });
        let new = match (record.passed, self.policy.observe, left) {
            (false, true, _) | (true, true, Some(_)) => {
                record.action = Action::Observed;
                None
            }
            (false, false, _) => {
                record.action = Action::Blocked;
                Some(reply::blocked(&call.id, &call.evaluation_id, &record.gates, true))
            }
            (true, false, Some(left)) => {
                record.action = Action::Redacted;
                Some(with_result(arrived.message, &left.unwrap_or_default()))
            }
            (true, _, None) => None,
        };
        effects.records.push(record);
        new
    }

    /// What the gates say of an output; there is none of what no two readers read alike, and it is not let through.
    fn judge(&self, output: Option<&RawValue>, is_empty: bool, call: &Call, host: &dyn Host) -> Verdict {
        let engine = &self.engines.after;
        let Some(output) = output else {
            let gates = engine.names().map(|name| GateResult {
                name: name.into(),
                passed: false,
                latency: Micros::from(Duration::ZERO),
                reason: Some("renown:error".to_owned()),
                skipped: false,
            });
            return Verdict {
                passed: false,
                gates: gates.collect(),
                total: Micros::default(),
                redacted: None,
            };
        };
        let context = Context {
            tool: call.tool.as_ref().map(renown_core::ids::ToolName::as_str),
            latency: Some(host.elapsed().saturating_sub(call.sent_at)),
            is_empty: Some(is_empty),
            ..Context::of(output)
        };
        engine.evaluate(&context, &Clocks(host))
    }

    /// Pins the tools of a list, and cuts those out whose definition changed.
    fn tools(&mut self, message: &Members<'_>, host: &dyn Host, effects: &mut Effects) -> Option<Vec<u8>> {
        if self.policy.pin == PinMode::Off {
            return None;
        }
        let known = self.pins().is_complete();
        let mut cut = false;
        let lists: Vec<Option<String>> = message
            .all("result")
            .map(|result| {
                let members = Members::of(result)?;
                let kept = members.0.iter().map(|(name, value)| {
                    let value = if name == "tools" {
                        let (kept, some) = self.kept(value, known, host, effects);
                        cut |= some;
                        kept
                    } else {
                        value.get().to_owned()
                    };
                    Some(format!("{}:{value}", serde_json::to_string(name).ok()?))
                });
                Some(format!("{{{}}}", kept.collect::<Option<Vec<_>>>()?.join(",")))
            })
            .collect();
        let more = message.objects("result").iter().any(|result| !result.texts("nextCursor").is_empty());
        effects.pins_changed |= !more && self.pins().complete();
        if !cut {
            return None;
        }
        // A list that could not be cut does not go on.
        let result = lists.into_iter().next_back().flatten().unwrap_or_else(|| r#"{"tools":[]}"#.to_owned());
        Some(with_result(message, &result))
    }

    /// The tools of a list that go on, and whether some do not.
    fn kept(
        &mut self,
        tools: &RawValue,
        known: bool,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> (String, bool) {
        let Some(tools) = items(tools) else { return (tools.get().to_owned(), false) };
        let mut kept = Vec::new();
        for tool in &tools {
            let Some(definition) = definition(tool) else {
                kept.push(tool.get());
                continue;
            };
            // Two readers could take two names for it, and each has a pin of its own.
            if !definition.get("name").is_some_and(serde_json::Value::is_string) {
                let fate = if self.policy.pin == PinMode::Block { ", it is left out" } else { "" };
                self.warn(effects, format!("a tool has not one name{fate}"));
                if self.policy.pin != PinMode::Block {
                    kept.push(tool.get());
                }
                continue;
            }
            let (name, sight) = self.pins().look(definition, known);
            effects.pins_changed |= sight != Sight::Same;
            match &sight {
                Sight::First | Sight::Same => {}
                Sight::New => self.warn(effects, format!("tool {name} is new")),
                Sight::Changed(change) => {
                    let fate = if self.policy.pin == PinMode::Block { ", it is left out" } else { "" };
                    let what = change.names();
                    self.warn(
                        effects,
                        format!("tool {name}: definition changed: {what}{fate} (--accept-pins accepts it)"),
                    );
                }
            }
            if sight != Sight::Same {
                self.suspect(&name, tool, host, effects);
            }
            if !(self.policy.pin == PinMode::Block && matches!(sight, Sight::Changed(_))) {
                kept.push(tool.get());
            }
        }
        (format!("[{}]", kept.join(",")), kept.len() < tools.len())
    }

    /// Warns of a definition that reads like an attack.
    fn suspect(&mut self, name: &str, tool: &RawValue, host: &dyn Host, effects: &mut Effects) {
        let Some(engine) = &self.engines.definitions else { return };
        let verdict = engine.evaluate(&Context::of(tool), &Clocks(host));
        let reason = verdict.gates.iter().filter(|gate| !gate.passed).find_map(|gate| gate.reason.clone());
        if let Some(reason) = reason {
            self.warn(effects, format!("tool {name}: {reason}"));
        }
    }

    /// Warns once of one thing.
    fn warn(&mut self, effects: &mut Effects, what: String) {
        if self.warned.insert(what.clone()) {
            effects.warnings.push(what);
        }
    }
}

/// Whether a result looks like that of a tool. Nothing else that a server answers has these members, so it is judged whoever asked
/// for it: the session may have begun before us, or the server may write an id as only its client reads it.
fn is_of_tool(results: &[&RawValue]) -> bool {
    let is_one = |members: Members<'_>| members.has("content") || members.has("structuredContent");
    results.iter().filter_map(|result| Members::of(result)).any(is_one)
}

/// A message with another result; everything else of it stays.
fn with_result(message: &Members<'_>, result: &str) -> Vec<u8> {
    let others = message.0.iter().filter(|(name, _)| name != "result");
    let others = others
        .map(|(name, value)| format!("{}:{}", serde_json::to_string(name).unwrap_or_default(), value.get()));
    let members: Vec<String> = others.chain([format!("\"result\":{result}")]).collect();
    format!("{{{}}}", members.join(",")).into_bytes()
}
