//! Requests that wait for their answer.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use renown_core::gates::GateResult;
use renown_core::ids::{EvaluationId, ToolName};

use crate::message::LooseId;

/// The most requests that may wait. One more is answered with an error: a result that nobody knows would pass ungated.
pub(crate) const PENDING_MAX: usize = 65_536;

/// The most answered calls whose ids are remembered.
const ANSWERED_MAX: usize = 4096;

/// The most tasks whose tool is remembered.
const TASKS_MAX: usize = 4096;

/// What a client asked for.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    /// Something whose result is gated.
    Call(Call),
    /// `tools/list`, with the id as the client wrote it.
    Tools(String),
}

impl Asked {
    fn id(&self) -> &str {
        match self {
            Self::Call(call) => &call.id,
            Self::Tools(id) => id,
        }
    }
}

/// A call whose result is gated.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) evaluation_id: EvaluationId,
    /// The id as the client wrote it.
    pub(crate) id: String,
    /// The tool, or the method where there is none.
    pub(crate) tool: Option<ToolName>,
    /// When the request went on to the server.
    pub(crate) sent_at: Duration,
    /// What the gates said of the arguments.
    pub(crate) before: Before,
    /// Whether the result may stand deeper, as that of a task does.
    pub(crate) of_task: bool,
    pub(crate) cancelled: bool,
}

impl Call {
    /// A call that is answered once more.
    pub(crate) fn again(evaluation_id: EvaluationId, id: String, now: Duration) -> Self {
        let before = Before::default();
        Self { evaluation_id, id, tool: None, sent_at: now, before, of_task: false, cancelled: false }
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

/// The requests of one side that wait, by id. An id may be used again before it is answered.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    waiting: BTreeMap<LooseId, Vec<Asked>>,
    count: usize,
    /// Ids of gated calls that were answered, the oldest first.
    answered: VecDeque<LooseId>,
}

impl Pending {
    /// Whether no more may wait.
    pub(crate) fn is_full(&self) -> bool {
        self.count >= PENDING_MAX
    }

    pub(crate) fn insert(&mut self, id: LooseId, asked: Asked) {
        self.count += 1;
        self.waiting.entry(id).or_default().push(asked);
    }

    /// What is answered by this id: what was asked with the same spelling, else the oldest.
    pub(crate) fn take(&mut self, id: &LooseId, written: &str) -> Option<Asked> {
        let waiting = self.waiting.get_mut(id)?;
        let at = waiting.iter().position(|asked| asked.id() == written).unwrap_or_default();
        let asked = (!waiting.is_empty()).then(|| waiting.remove(at));
        if waiting.is_empty() {
            self.waiting.remove(id);
        }
        self.count -= usize::from(asked.is_some());
        if let Some(Asked::Call(_)) = asked {
            if self.answered.len() >= ANSWERED_MAX {
                self.answered.pop_front();
            }
            self.answered.push_back(id.clone());
        }
        asked
    }

    /// Whether a gated call with this id was answered already. A second answer has no reader, but who knows.
    pub(crate) fn was_answered(&self, id: &LooseId) -> bool {
        self.answered.contains(id)
    }

    /// The client no longer wants an answer. One that comes all the same is still gated.
    pub(crate) fn cancel(&mut self, id: &LooseId) {
        for asked in self.waiting.get_mut(id).into_iter().flatten() {
            if let Asked::Call(call) = asked {
                call.cancelled = true;
            }
        }
    }

    /// The calls that were never answered.
    pub(crate) fn drain(&mut self) -> Vec<Call> {
        self.count = 0;
        let calls = std::mem::take(&mut self.waiting).into_values().flatten();
        calls.filter_map(|asked| if let Asked::Call(call) = asked { Some(call) } else { None }).collect()
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
