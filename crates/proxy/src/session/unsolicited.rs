//! Notifications of the server, and its requests to the client.
//!
//! Their parameters are judged. If a notification fails, it is dropped with a warning. If a request fails, the server gets an error and the
//! client never sees the request. Neither counts as an evaluation of the agent.

use renown_core::ids::ToolName;
use serde_json::value::RawValue;

use super::answers::with_member;
use super::judge::unknown_members;
use super::requests::tool_name;
use super::{Decision, Effects, Host, ProxySession, new_id};
use crate::gated_view::{self, ValueKind};
use crate::message::Members;
use crate::pending::{Call, RequestKind};
use crate::record::{Action, CallRecord};
use crate::reply::{self, Stage};

/// The parameters of a notification or request without any.
const NO_PARAMS: &str = "null";

impl ProxySession {
    /// Judges a notification or a request of the server.
    pub(super) fn unsolicited(
        &mut self,
        message: &Members<'_>,
        bytes: usize,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Decision {
        let method = message.texts("method").pop().unwrap_or_default();
        if self.policy.ungated.contains(&method) {
            return Decision::AsIs;
        }
        let no_params = serde_json::from_str::<&RawValue>(NO_PARAMS).unwrap_or(RawValue::NULL);
        let params = message.all("params").next().unwrap_or(no_params);
        let mut others = unknown_members(message);
        // A method with unusual characters may contain text. It is judged and never logged.
        let is_in_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b'.');
        let name = Some(&method).filter(|method| method.bytes().all(is_in_name));
        if name.is_none() {
            others.extend(serde_json::to_string(&method));
        }
        if params.get() == NO_PARAMS && others.is_empty() {
            return Decision::AsIs;
        }
        let view = gated_view::view(params, ValueKind::Other);
        let judged = self.judge(params, &view, others, None, host);
        if judged.passed && judged.redacted.is_none() {
            return Decision::AsIs;
        }
        let id = message.all("id").next().map(|id| id.get().to_owned());
        let call = Call::new(
            new_id(host),
            id.clone().unwrap_or_default(),
            RequestKind::Other,
            name.and_then(|name| tool_name(name)),
            host.elapsed(),
        );
        let mut record = CallRecord { bytes, ..self.record(&call, Action::Blocked, host) };
        (record.passed, record.gates, record.total) = (judged.passed, judged.gates, judged.total.into());
        let decision = match (self.policy.observe, judged.redacted.filter(|_| judged.passed)) {
            (true, _) => {
                record.action = Action::Observed;
                Decision::AsIs
            }
            (false, Some(redacted)) => {
                record.action = Action::Redacted;
                Decision::Changed(with_member(message, "params", Some(&redacted)))
            }
            (false, None) => {
                self.refuse_unsolicited(id.as_deref(), &call, &record, effects);
                Decision::Drop
            }
        };
        effects.records.push(record);
        decision
    }

    /// Warns about a refused notification or request. Answers a request with an error.
    fn refuse_unsolicited(
        &mut self,
        id: Option<&str>,
        call: &Call,
        record: &CallRecord,
        effects: &mut Effects,
    ) {
        let method = call.tool.as_ref().map(ToolName::as_str).unwrap_or_default();
        let failed: Vec<&str> =
            record.gates.iter().filter(|gate| !gate.passed).map(|gate| &*gate.name).collect();
        let failed = failed.join(", ");
        if let Some(id) = id {
            effects.to_server.push(reply::blocked(id, &call.evaluation_id, &record.gates, Stage::NoTool));
            self.warn(effects, format!("a request {method} of the server is refused: {failed}"));
        } else {
            self.warn(effects, format!("a notification {method} of the server is dropped: {failed}"));
        }
    }
}
