//! What the server says unasked: notifications, and requests to the client.
//!
//! Their parameters are judged. A notification that fails is dropped with a warning; a request that fails is answered to the server with
//! an error, and the client never sees it. Neither is an evaluation of the agent.

use renown_core::ids::ToolName;
use serde_json::value::RawValue;

use super::answers::with_member;
use super::judge::unknown_members;
use super::requests::tool_name;
use super::{Effects, Fate, Host, Session, made};
use crate::message::Members;
use crate::pending::{Asks, Call};
use crate::record::{Action, Record};
use crate::reply::{self, Stage};
use crate::seen::{self, Shape};

/// What a notification or request without parameters has.
const NO_PARAMS: &str = "null";

impl Session {
    /// Judges a notification or a request of the server.
    pub(super) fn spoken(
        &mut self,
        message: &Members<'_>,
        bytes: usize,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Fate {
        let method = message.texts("method").pop().unwrap_or_default();
        if self.policy.ungated.contains(&method) {
            return Fate::AsIs;
        }
        let nothing = serde_json::from_str::<&RawValue>(NO_PARAMS).unwrap_or(RawValue::NULL);
        let params = message.all("params").next().unwrap_or(nothing);
        let mut beside = unknown_members(message);
        // A method is a name; one that is not may be text, which is judged and never logged.
        let is_in_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b'.');
        let name = Some(&method).filter(|method| method.bytes().all(is_in_name));
        if name.is_none() {
            beside.extend(serde_json::to_string(&method));
        }
        if params.get() == NO_PARAMS && beside.is_empty() {
            return Fate::AsIs;
        }
        let judged = self.judge(params, &seen::see(params, Shape::Other), beside, None, host);
        if judged.passed && judged.redacted.is_none() {
            return Fate::AsIs;
        }
        let id = message.all("id").next().map(|id| id.get().to_owned());
        let call = Call::new(
            made(host),
            id.clone().unwrap_or_default(),
            Asks::Other,
            name.and_then(|name| tool_name(name)),
            host.elapsed(),
        );
        let mut record = Record { bytes, ..self.record(&call, Action::Blocked, host) };
        (record.passed, record.gates, record.total) = (judged.passed, judged.gates, judged.total.into());
        let fate = match (self.policy.observe, judged.redacted.filter(|_| judged.passed)) {
            (true, _) => {
                record.action = Action::Observed;
                Fate::AsIs
            }
            (false, Some(left)) => {
                record.action = Action::Redacted;
                Fate::Changed(with_member(message, "params", Some(&left)))
            }
            (false, None) => {
                self.stop(id.as_deref(), &call, &record, effects);
                Fate::Gone
            }
        };
        effects.records.push(record);
        fate
    }

    /// Keeps a notification or a request from the client.
    fn stop(&mut self, id: Option<&str>, call: &Call, record: &Record, effects: &mut Effects) {
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
