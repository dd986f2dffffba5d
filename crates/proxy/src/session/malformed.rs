//! Messages of the server that are not well-formed: dropped, and answered where somebody waits.

use super::{Effects, Forward, Host, Session};
use crate::message::{Ids, LooseId};
use crate::pending::Call;
use crate::record::{Action, Record};
use crate::reply::{self, Stage};
use crate::strict::Malformed;

/// What the answer to a request says if the server's could not be read.
const MALFORMED: &str = "renown:malformed";

impl Session {
    /// Drops what is not a message. A request of the client is answered at once if its id can be told, else when the stream
    /// ends, see [`Self::give_up`].
    pub(super) fn malformed(&mut self, body: &[u8], why: Malformed, host: &dyn Host, effects: &mut Effects) {
        let fate = if self.policy.observe { "passes, since nothing is blocked" } else { "is dropped" };
        effects.malformed = Some(format!("a message of the server {fate}: {why}"));
        if self.policy.observe {
            return;
        }
        effects.forward = Forward::Nothing;
        self.has_dropped = true;
        let mut ids = Ids::default();
        ids.push(body);
        let found = ids.finish();
        // One that is both may be an answer to the client.
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

    /// What a client gets for a request whose answer could not be read.
    fn unanswered(&self, call: &Call, bytes: usize, host: &dyn Host) -> (Vec<u8>, Option<Record>) {
        if !call.asks.is_call() {
            return (reply::error(&call.id, MALFORMED), None);
        }
        let mut record = Record { bytes, counts: true, ..self.record(call, Action::Blocked, host) };
        record.gates.extend(self.unreadable());
        (reply::blocked(&call.id, &call.evaluation_id, &record.gates, Stage::After), Some(record))
    }

    /// The end of a stream of the server. Where it dropped something, requests that still wait are answered: those with these
    /// ids, or all.
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
            let lost = call.asks.is_call().then(|| self.record(call, Action::Lost, host));
            effects.records.extend(lost);
            effects.to_client.push(reply::error(&call.id, MALFORMED));
        }
        effects
    }
}
