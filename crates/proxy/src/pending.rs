//! Requests of the client that wait for an answer.

use std::collections::BTreeMap;
use std::time::Duration;

use renown_core::gates::GateResult;
use renown_core::ids::{EvaluationId, ToolName};

use crate::message::LooseId;
use crate::pins::PinKind;

/// Maximum number of waiting requests. One more gets an error.
pub(crate) const PENDING_MAX: usize = 65_536;

/// Maximum number of tasks whose tool is remembered.
const TASKS_MAX: usize = 4096;

/// The kind of a client's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// A call of a tool.
    Tool,
    /// The result or the state of a task.
    Task,
    /// The server's description of itself: `initialize`, `server/discover`.
    Greeting,
    /// A list whose entries are pinned.
    List(PinKind),
    /// Anything else, or unknown because the answer matches no request.
    Other,
}

impl RequestKind {
    /// Returns whether the answer counts as an evaluation of the agent.
    pub(crate) fn is_call(self) -> bool {
        matches!(self, Self::Tool | Self::Task)
    }
}

/// A request of the client.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) evaluation_id: EvaluationId,
    /// The id as the client wrote it.
    pub(crate) id: String,
    pub(crate) kind: RequestKind,
    /// The tool; for other kinds of requests the method.
    pub(crate) tool: Option<ToolName>,
    /// Time when the request was forwarded to the server.
    pub(crate) sent_at: Duration,
    /// The verdict on the arguments.
    pub(crate) arguments: ArgumentsVerdict,
    pub(crate) cancelled: bool,
}

impl Call {
    /// Creates a request that was not judged yet.
    pub(crate) fn new(
        evaluation_id: EvaluationId,
        id: String,
        kind: RequestKind,
        tool: Option<ToolName>,
        now: Duration,
    ) -> Self {
        let arguments = ArgumentsVerdict::default();
        Self { evaluation_id, id, kind, tool, sent_at: now, arguments, cancelled: false }
    }
}

/// The verdict on the arguments of a call, before the tool ran.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArgumentsVerdict {
    pub(crate) gates: Vec<GateResult>,
    pub(crate) total: Duration,
    /// Whether a gate failed. In observing mode the call was forwarded anyway.
    pub(crate) failed: bool,
}

/// The waiting requests of the client, by id. An id may be used again before it is answered.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    waiting: BTreeMap<LooseId, Vec<Call>>,
    count: usize,
}

impl Pending {
    /// Returns whether no more requests may wait. First drops cancelled requests, which a server need not answer.
    pub(crate) fn is_full(&mut self) -> bool {
        if self.count >= PENDING_MAX {
            for calls in self.waiting.values_mut() {
                calls.retain(|call| !call.cancelled);
            }
            self.waiting.retain(|_, calls| !calls.is_empty());
            self.count = self.waiting.values().map(Vec::len).sum();
        }
        self.count >= PENDING_MAX
    }

    pub(crate) fn insert(&mut self, id: LooseId, call: Call) {
        self.count += 1;
        self.waiting.entry(id).or_default().push(call);
    }

    /// Removes the request that an id answers: the one with the same spelling, or else the oldest.
    pub(crate) fn take(&mut self, id: &LooseId, written: &str) -> Option<Call> {
        let waiting = self.waiting.get_mut(id)?;
        let index = waiting.iter().position(|call| call.id == written).unwrap_or_default();
        let call = (!waiting.is_empty()).then(|| waiting.remove(index));
        if waiting.is_empty() {
            self.waiting.remove(id);
        }
        self.count = self.count.saturating_sub(usize::from(call.is_some()));
        call
    }

    /// Marks a request as cancelled by the client. If an answer still arrives, it is gated.
    pub(crate) fn cancel(&mut self, id: &LooseId) {
        for call in self.waiting.get_mut(id).into_iter().flatten() {
            call.cancelled = true;
        }
    }

    /// Removes the requests with these ids that were never answered.
    pub(crate) fn take_all(&mut self, ids: &[LooseId]) -> Vec<Call> {
        let calls: Vec<Call> = ids.iter().filter_map(|id| self.waiting.remove(id)).flatten().collect();
        self.count = self.count.saturating_sub(calls.len());
        calls
    }

    /// Removes all requests that were never answered.
    pub(crate) fn drain(&mut self) -> Vec<Call> {
        self.count = 0;
        std::mem::take(&mut self.waiting).into_values().flatten().collect()
    }
}

/// The tools of the newest tasks.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Vec<(String, ToolName)>);

impl Tasks {
    pub(crate) fn insert(&mut self, task: String, tool: ToolName) {
        if self.0.len() >= TASKS_MAX {
            self.0.remove(0);
        }
        self.0.push((task, tool));
    }

    pub(crate) fn tool(&self, task: &str) -> Option<&ToolName> {
        self.0.iter().rev().find(|(known, _)| known == task).map(|(_, tool)| tool)
    }
}
