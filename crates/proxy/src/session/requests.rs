//! Messages of the client: calls of tools, and everything that is needed to judge their results.

use std::time::Duration;

use percent_encoding::percent_decode_str;
use renown_core::gates::{Context, GateResult};
use renown_core::ids::ToolName;
use renown_core::limits::TOOL_NAME_CHARS_MAX;
use renown_core::units::Micros;
use serde_json::value::RawValue;

use super::judge::evaluate;
use super::{Effects, Host, ProxySession, new_id};
use crate::message::{LooseId, Members, items, text};
use crate::pending::{ArgumentsVerdict, Call, RequestKind};
use crate::pins::PinKind;
use crate::record::{Action, CallRecord};
use crate::reply::{self, Stage};

/// Maximum number of waiting `roots/list` requests.
const ROOTS_REQUESTS_MAX: usize = 64;

/// The key with which requests name the client in protocol revisions without a handshake.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

impl ProxySession {
    /// Handles a message of the client. Returns whether it is forwarded to the server.
    pub(super) fn request(&mut self, message: &Members<'_>, host: &dyn Host, effects: &mut Effects) -> bool {
        let (methods, params) = (message.texts("method"), message.objects("params"));
        let is = |method: &str| methods.iter().any(|found| found == method);
        if methods.is_empty() {
            self.read_roots(message);
            return true;
        }
        self.read_client_name(is("initialize"), &params);
        self.read_roots_of_retry(&params);
        if is("notifications/cancelled") {
            let ids = params.iter().flat_map(|params| params.all("requestId"));
            let ids: Vec<LooseId> = ids.filter_map(|id| LooseId::of(id.get())).collect();
            for id in &ids {
                self.pending.cancel(id);
            }
        }
        let kind = request_kind(&methods);
        let names: Vec<String> = params.iter().flat_map(|params| params.texts("name")).collect();
        let tool = match kind {
            RequestKind::Tool => names.first().and_then(|name| tool_name(name)),
            RequestKind::Task => {
                let tasks = params.iter().flat_map(|params| params.texts("taskId")).next_back();
                tasks.and_then(|task| self.tasks.tool(&task).cloned())
            }
            RequestKind::Greeting | RequestKind::List(_) | RequestKind::Other => {
                methods.first().and_then(|method| tool_name(method))
            }
        };
        let id = message.all("id").next().map_or("null", RawValue::get).to_owned();
        let call = Call::new(new_id(host), id, kind, tool, host.elapsed());
        let is_prompt = is("prompts/get");
        self.call(call, message, (&names, &params), is_prompt, host, effects)
    }

    /// Forwards a request, unless there are too many waiting, a pin forbids it or its arguments fail.
    fn call(
        &mut self,
        mut call: Call,
        message: &Members<'_>,
        (names, params): (&[String], &[Members<'_>]),
        is_prompt: bool,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> bool {
        let mut refuse = |call: &Call, answer: Vec<u8>, record: Option<CallRecord>| {
            if call.id != "null" {
                effects.to_client.push(answer);
            }
            effects.records.extend(record);
            false
        };
        if message.ids().next().is_some() && self.pending.is_full() {
            let message = "renown:too_many_pending";
            return refuse(&call, reply::error(&call.id, message), None);
        }
        let pinned_kind = if is_prompt {
            Some(PinKind::Prompt)
        } else {
            (call.kind == RequestKind::Tool).then_some(PinKind::Tool)
        };
        if let Some(why) = pinned_kind.and_then(|kind| self.refuses(kind, names)) {
            let mut record = self.record(&call, Action::Blocked, host);
            record.gates.push(pin_result(&why));
            return refuse(&call, reply::error(&call.id, &why), Some(record));
        }
        if call.kind == RequestKind::Tool {
            call.arguments = self.judge_arguments(params, host);
            if call.arguments.failed && !self.policy.observe {
                let record = CallRecord { counts: true, ..self.record(&call, Action::Blocked, host) };
                let answer =
                    reply::blocked(&call.id, &call.evaluation_id, &call.arguments.gates, Stage::Before);
                return refuse(&call, answer, Some(record));
            }
            call.sent_at = host.elapsed();
        }
        for id in message.ids() {
            effects.awaited.push(id.clone());
            self.pending.insert(id, call.clone());
        }
        true
    }

    /// Judges the arguments of a call.
    fn judge_arguments(&self, params: &[Members<'_>], host: &dyn Host) -> ArgumentsVerdict {
        let Some(engine) = &self.engines.before else { return ArgumentsVerdict::default() };
        let arguments: Vec<&str> =
            params.iter().flat_map(|params| params.all("arguments")).map(RawValue::get).collect();
        let output = match arguments.as_slice() {
            [] => return ArgumentsVerdict::default(),
            [one] => (*one).to_owned(),
            several => format!("[{}]", several.join(",")),
        };
        let Ok(output) = RawValue::from_string(output) else { return ArgumentsVerdict::default() };
        let started = host.elapsed();
        let verdict = evaluate(engine, &Context::of(&output), host);
        ArgumentsVerdict {
            failed: !verdict.passed,
            gates: verdict.gates,
            total: host.elapsed().saturating_sub(started),
        }
    }

    /// Reads the name of the client, which is in `initialize` or in each request.
    fn read_client_name(&mut self, is_initialize: bool, params: &[Members<'_>]) {
        let names = params.iter().flat_map(|params| {
            let of_handshake = params.objects("clientInfo").into_iter().filter(|_| is_initialize);
            let of_request = params.objects("_meta").into_iter().flat_map(|meta| meta.objects(CLIENT_INFO));
            of_handshake.chain(of_request).flat_map(|info| info.texts("name")).collect::<Vec<_>>()
        });
        if let Some(name) = names.last() {
            self.name_agent(&name);
        }
    }

    /// Remembers a `roots/list` request of the server. The client's answer contains its working directories.
    pub(super) fn note_roots_request(&mut self, message: &Members<'_>) {
        if message.texts("method").iter().any(|method| method == "roots/list")
            && self.roots_requests.len() < ROOTS_REQUESTS_MAX
        {
            self.roots_requests.extend(message.ids());
        }
    }

    /// Reads the client's answer to a `roots/list` request.
    fn read_roots(&mut self, message: &Members<'_>) {
        let answers: Vec<LooseId> = message.ids().filter(|id| self.roots_requests.remove(id)).collect();
        if !answers.is_empty() {
            self.use_roots(&message.objects("result"));
        }
    }

    /// Reads roots from a repeated call: if the server requested input in a result, the client sends the answers with its next call.
    fn read_roots_of_retry(&mut self, params: &[Members<'_>]) {
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
        // If the gates cannot be built with these roots, the current ones stay. They are stricter.
        if let Some(engines) = (self.build)(&paths) {
            self.engines = engines;
        }
    }
}

/// Returns the kind of a request. If there are several `method` members, a tolerant server may read any of them, so the kind that is judged
/// most strictly wins.
fn request_kind(methods: &[String]) -> RequestKind {
    let is = |names: &[&str]| methods.iter().any(|method| names.contains(&method.as_str()));
    if is(&["tools/call"]) {
        return RequestKind::Tool;
    }
    if is(&["tasks/result", "tasks/get"]) {
        return RequestKind::Task;
    }
    if let Some(kind) = methods.iter().find_map(|method| PinKind::of_method(method)) {
        return RequestKind::List(kind);
    }
    if is(&["initialize", "server/discover"]) { RequestKind::Greeting } else { RequestKind::Other }
}

pub(super) fn tool_name(name: &str) -> Option<ToolName> {
    name.chars().take(TOOL_NAME_CHARS_MAX).collect::<String>().parse().ok()
}

/// Builds the result of a pin in the form of a gate result, for the log.
fn pin_result(why: &str) -> GateResult {
    GateResult {
        name: "pin".into(),
        passed: false,
        latency: Micros::from(Duration::ZERO),
        reason: Some(why.to_owned()),
        skipped: false,
    }
}

/// Returns the path of a `file:` address.
fn path_of(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = percent_decode_str(path).decode_utf8().ok()?;
    path.starts_with('/').then(|| path.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_addresses_become_paths() {
        for (uri, path) in [
            ("file:///srv/repo", Some("/srv/repo")),
            ("file:///a%20b/%C3%A9", Some("/a b/é")),
            ("file://localhost/x", Some("/x")),
            ("file:///50%", Some("/50%")),
            ("file:///%+1", Some("/%+1")),
            ("file:///%FF", None),
            ("https://host/x", None),
            ("file://host/x", None),
        ] {
            assert_eq!(path_of(uri).as_deref(), path, "{uri}");
        }
    }
}
