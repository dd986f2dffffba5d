//! Malformed messages of the server: they are dropped, and the requests that wait for them get an error.

use super::{Effects, Forward, Host, ProxySession};
use crate::message::{Ids, LooseId};
use crate::pending::Call;
use crate::record::{Action, CallRecord};
use crate::reply::{self, Stage};
use crate::strict::Malformed;

/// The error text for a request whose answer is malformed.
const MALFORMED: &str = "renown:malformed";

impl ProxySession {
    /// Drops a malformed message. If its id can be found, the client's request gets an error at once; otherwise when the stream ends, see
    /// [`Self::give_up`].
    pub(super) fn malformed(&mut self, body: &[u8], why: Malformed, host: &dyn Host, effects: &mut Effects) {
        let consequence =
            if self.policy.observe { "is malformed, but passes in observing mode" } else { "is dropped" };
        effects.malformed = Some(format!("a message of the server {consequence}: {why}"));
        if self.policy.observe {
            return;
        }
        effects.forward = Forward::Nothing;
        self.has_dropped = true;
        let mut ids = Ids::default();
        ids.push(body);
        let found = ids.finish();
        // If it could be either, it is treated as an answer to the client.
        if found.is_request && !found.is_answer {
            effects.to_server = found.ids.iter().map(|id| reply::error(id, MALFORMED)).collect();
            return;
        }
        for (loose, id) in found.loose_ids().zip(&found.ids) {
            if let Some(call) = self.pending.take(&loose, id) {
                let (answer, record) = self.unanswered(&call, body.len(), host);
                effects.to_client.push(answer);
                effects.records.extend(record);
            }
        }
    }

    /// Builds the error for a request whose answer is malformed, and its record.
    fn unanswered(&self, call: &Call, bytes: usize, host: &dyn Host) -> (Vec<u8>, Option<CallRecord>) {
        if !call.kind.is_call() {
            return (reply::error(&call.id, MALFORMED), None);
        }
        let mut record = CallRecord { bytes, counts: true, ..self.record(call, Action::Blocked, host) };
        record.gates.extend(self.unreadable());
        (reply::blocked(&call.id, &call.evaluation_id, &record.gates, Stage::After), Some(record))
    }

    /// At the end of a stream of the server: if messages were dropped, answers the requests that still wait. `ids` limits them to these ids.
    pub(crate) fn give_up(&mut self, ids: Option<&[LooseId]>, host: &dyn Host) -> Effects {
        let mut effects = Effects { forward: Forward::Nothing, ..Effects::default() };
        if !self.has_dropped {
            return effects;
        }
        let calls = match ids {
            Some(ids) => self.pending.take_all(ids),
            None => self.pending.drain(),
        };
        for call in calls.iter().filter(|call| !call.cancelled) {
            let lost = call.kind.is_call().then(|| self.record(call, Action::Lost, host));
            effects.records.extend(lost);
            effects.to_client.push(reply::error(&call.id, MALFORMED));
        }
        effects
    }
}
