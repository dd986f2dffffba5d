//! Requests that wait for their answer.

use std::collections::BTreeMap;
use std::time::Duration;

use renown_core::gates::GateResult;
use renown_core::ids::{EvaluationId, ToolName};

use crate::message::LooseId;
use crate::pins::Kind;

/// The most requests that may wait. One more is answered with an error.
pub(crate) const PENDING_MAX: usize = 65_536;

/// The most tasks whose tool is remembered.
const TASKS_MAX: usize = 4096;

/// What a client asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// A call of a tool.
    Tool,
    /// The result or the state of a task.
    Task,
    /// What the server says of itself: `initialize`, `server/discover`.
    Greeting,
    /// A list whose entries are pinned.
    List(Kind),
    /// Anything else, or an answer that the client did not ask for.
    Other,
}

impl Asks {
    /// Whether the answer is an evaluation of the agent.
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
    pub(crate) asks: Asks,
    /// The tool, or the method where there is none.
    pub(crate) tool: Option<ToolName>,
    /// When the request went on to the server.
    pub(crate) sent_at: Duration,
    /// What the gates said of the arguments.
    pub(crate) before: Before,
    pub(crate) cancelled: bool,
}

impl Call {
    /// A request of which nothing was judged yet.
    pub(crate) fn new(
        evaluation_id: EvaluationId,
        id: String,
        asks: Asks,
        tool: Option<ToolName>,
        now: Duration,
    ) -> Self {
        Self { evaluation_id, id, asks, tool, sent_at: now, before: Before::default(), cancelled: false }
    }
}

/// What the gates said before the tool ran.
#[derive(Clone, Debug, Default)]
pub(crate) struct Before {
    pub(crate) gates: Vec<GateResult>,
    pub(crate) total: Duration,
    /// Whether they failed and the call went on all the same.
    pub(crate) failed: bool,
}

/// The requests of the client that wait, by id. An id may be used again before it is answered.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    waiting: BTreeMap<LooseId, Vec<Call>>,
    count: usize,
}

impl Pending {
    /// Whether no more may wait. Requests that were cancelled make room first: a server need not answer them.
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

    /// What is answered by this id: what was asked with the same spelling, else the oldest.
    pub(crate) fn take(&mut self, id: &LooseId, written: &str) -> Option<Call> {
        let waiting = self.waiting.get_mut(id)?;
        let at = waiting.iter().position(|call| call.id == written).unwrap_or_default();
        let call = (!waiting.is_empty()).then(|| waiting.remove(at));
        if waiting.is_empty() {
            self.waiting.remove(id);
        }
        self.count = self.count.saturating_sub(usize::from(call.is_some()));
        call
    }

    /// The client no longer wants an answer. One that comes all the same is still gated.
    pub(crate) fn cancel(&mut self, id: &LooseId) {
        for call in self.waiting.get_mut(id).into_iter().flatten() {
            call.cancelled = true;
        }
    }

    /// The requests with one of these ids that were never answered.
    pub(crate) fn take_all(&mut self, ids: &[LooseId]) -> Vec<Call> {
        let calls: Vec<Call> = ids.iter().filter_map(|id| self.waiting.remove(id)).flatten().collect();
        self.count = self.count.saturating_sub(calls.len());
        calls
    }

    /// The requests that were never answered.
    pub(crate) fn drain(&mut self) -> Vec<Call> {
        self.count = 0;
        std::mem::take(&mut self.waiting).into_values().flatten().collect()
    }
}

/// Which tool a task belongs to, for the newest tasks.
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
