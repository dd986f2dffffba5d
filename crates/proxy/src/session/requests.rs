//! What the client sends: calls of tools, and what has to be known to judge their results.

use std::time::Duration;

use renown_core::gates::{Context, GateResult};
use renown_core::ids::ToolName;
use renown_core::limits::TOOL_NAME_CHARS_MAX;
use renown_core::units::Micros;
use serde_json::value::RawValue;

use super::{Clocks, Effects, Host, Session, made};
use crate::message::{LooseId, Members, items, text};
use crate::pending::{Asked, Before, Call};
use crate::record::{Action, Record};
use crate::reply;

/// The most ids of `roots/list` that wait for an answer.
const ROOTS_ASKED_MAX: usize = 64;

/// The key under which requests name the client where there is no handshake.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

impl Session {
    /// Looks at a message of the client. False if the server must not see it.
    pub(super) fn request(&mut self, message: &Members<'_>, host: &dyn Host, effects: &mut Effects) -> bool {
        let (methods, params) = (message.texts("method"), message.objects("params"));
        let is = |method: &str| methods.iter().any(|found| found == method);
        if methods.is_empty() {
            self.hear_roots(message);
            return true;
        }
        self.hear_name(is("initialize"), &params);
        self.hear_roots_of_retry(&params);
        if is("notifications/cancelled") {
            let ids = params.iter().flat_map(|params| params.all("requestId"));
            let ids: Vec<LooseId> = ids.filter_map(|id| LooseId::of(id.get())).collect();
            for id in &ids {
                self.pending.cancel(id);
            }
        }
        if is("tools/list") {
            for (id, written) in message.written_ids() {
                self.pending.insert(id, Asked::Tools(written.to_owned()));
            }
        }
        let of_task = is("tasks/result") || is("tasks/get");
        let is_tool = is("tools/call");
        let is_other = self.policy.methods.iter().any(|method| is(method));
        if !(is_tool || of_task || is_other) {
            return true;
        }
        let names: Vec<String> = params.iter().flat_map(|params| params.texts("name")).collect();
        let tool = if is_tool {
            names.first().and_then(|name| tool_name(name))
        } else if of_task {
            let tasks = params.iter().flat_map(|params| params.texts("taskId")).next_back();
            tasks.and_then(|task| self.tasks.tool(&task).cloned())
        } else {
            methods.first().and_then(|method| tool_name(method))
        };
        let call = Call {
            evaluation_id: made(host),
            id: message.all("id").next().map_or("null", RawValue::get).to_owned(),
            tool,
            sent_at: host.elapsed(),
            before: Before::default(),
            of_task,
            cancelled: false,
        };
        self.call(call, message, is_tool.then_some((&*names, &*params)), host, effects)
    }

    /// Lets a call go on, unless something stands against it.
    fn call(
        &mut self,
        mut call: Call,
        message: &Members<'_>,
        tool: Option<(&[String], &[Members<'_>])>,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> bool {
        let mut refuse = |call: &Call, answer: Vec<u8>, record: Option<Record>| {
            if call.id != "null" {
                effects.to_client.push(answer);
            }
            effects.records.extend(record);
            false
        };
        if self.pending.is_full() {
            let message = "renown:too_many_pending";
            return refuse(&call, reply::error(&call.id, message), None);
        }
        if let Some((names, params)) = tool {
            if let Some(why) = self.refuses(names) {
                let mut record = self.record(&call, Action::Blocked, host);
                record.gates.push(pin_result(&why));
                return refuse(&call, reply::error(&call.id, &why), Some(record));
            }
            call.before = self.judge_arguments(params, host);
            if call.before.failed && !self.policy.observe {
                let record = Record { counts: true, ..self.record(&call, Action::Blocked, host) };
                let answer = reply::blocked(&call.id, &call.evaluation_id, &call.before.gates, false);
                return refuse(&call, answer, Some(record));
            }
            call.sent_at = host.elapsed();
        }
        message.ids().for_each(|id| self.pending.insert(id, Asked::Call(call.clone())));
        true
    }

    /// What the gates say of the arguments of a call.
    fn judge_arguments(&self, params: &[Members<'_>], host: &dyn Host) -> Before {
        let Some(engine) = &self.engines.before else { return Before::default() };
        let arguments: Vec<&str> =
            params.iter().flat_map(|params| params.all("arguments")).map(RawValue::get).collect();
        let output = match arguments.as_slice() {
            [] => return Before::default(),
            [one] => (*one).to_owned(),
            several => format!("[{}]", several.join(",")),
        };
        let Ok(output) = RawValue::from_string(output) else { return Before::default() };
        let started = host.elapsed();
        let verdict = engine.evaluate(&Context::of(&output), &Clocks(host));
        Before {
            failed: !verdict.passed,
            gates: verdict.gates,
            total: host.elapsed().saturating_sub(started),
        }
    }

    /// The client says its name with `initialize`, or in each request.
    fn hear_name(&mut self, is_initialize: bool, params: &[Members<'_>]) {
        let said = params.iter().flat_map(|params| {
            let shaken = params.objects("clientInfo").into_iter().filter(|_| is_initialize);
            let each = params.objects("_meta").into_iter().flat_map(|meta| meta.objects(CLIENT_INFO));
            shaken.chain(each).flat_map(|info| info.texts("name")).collect::<Vec<_>>()
        });
        if let Some(name) = said.last() {
            self.name_agent(&name);
        }
    }

    /// The server asks for roots: the client's answer will say where it works.
    pub(super) fn asks_for_roots(&mut self, message: &Members<'_>) {
        if message.texts("method").iter().any(|method| method == "roots/list")
            && self.asked_for_roots.len() < ROOTS_ASKED_MAX
        {
            self.asked_for_roots.extend(message.ids());
        }
    }

    fn hear_roots(&mut self, message: &Members<'_>) {
        let answers: Vec<LooseId> = message.ids().filter(|id| self.asked_for_roots.remove(id)).collect();
        if !answers.is_empty() {
            self.use_roots(&message.objects("result"));
        }
    }

    /// Where the server asks by its result, the client answers with its next call.
    fn hear_roots_of_retry(&mut self, params: &[Members<'_>]) {
        for responses in params.iter().flat_map(|params| params.objects("inputResponses")) {
            let answers: Vec<Members<'_>> =
                responses.0.iter().filter_map(|(_, value)| Members::of(value)).collect();
            if answers.iter().any(|answer| answer.has("roots")) {
                self.use_roots(&answers);
            }
        }
    }

    fn use_roots(&mut self, answers: &[Members<'_>]) {
        let roots = answers.iter().flat_map(|answer| answer.all("roots")).filter_map(items).flatten();
        let uris = roots
            .filter_map(Members::of)
            .flat_map(|root| root.all("uri").filter_map(text).collect::<Vec<_>>());
        let paths: Vec<String> = uris.filter_map(|uri| path_of(&uri)).collect();
        // Gates that cannot be built with these roots stay as they are: stricter.
        if let Some(engines) = (self.build)(&paths) {
            self.engines = engines;
        }
    }
}

fn tool_name(name: &str) -> Option<ToolName> {
    name.chars().take(TOOL_NAME_CHARS_MAX).collect::<String>().parse().ok()
}

/// A pin in the words of a gate, for the log.
fn pin_result(why: &str) -> GateResult {
    GateResult {
        name: "pin".into(),
        passed: false,
        latency: Micros::from(Duration::ZERO),
        reason: Some(why.to_owned()),
        skipped: false,
    }
}

/// The path of a `file:` address.
fn path_of(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape = |hex: &[u8]| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok();
        let escaped = after.split_at_checked(2).filter(|_| *first == b'%');
        let escaped = escaped.and_then(|(hex, after)| Some((escape(hex)?, after)));
        let (byte, after) = escaped.unwrap_or((*first, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok().filter(|path| path.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_are_paths() {
        for (uri, path) in [
            ("file:///srv/repo", Some("/srv/repo")),
            ("file:///a%20b/%C3%A9", Some("/a b/é")),
            ("file://localhost/x", Some("/x")),
            ("file:///50%", Some("/50%")),
            ("https://host/x", None),
            ("file://host/x", None),
        ] {
            assert_eq!(path_of(uri).as_deref(), path, "{uri}");
        }
    }
}
