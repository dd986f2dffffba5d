//! What a store writes for an accepted request, and how it becomes a receipt again.

use renown_core::ids::AgentId;
use renown_core::reputation::ReputationSummary;

use super::{EvaluationsReceipt, Receipt};
use crate::error::StoreError;
use crate::eval_runs::EvalFilter;
use crate::evidence::{EvaluationOutcome, NewEvaluation, Position, StoredEvaluation};
use crate::identities::Recorded;
use crate::keys::KeyId;
use crate::runs::{Run, Submitted};

/// The kind of a write, which is the kind of its receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteKind {
    Evaluations,
    Agent,
    Run,
    ReputationEvents,
    Records,
    Signals,
    ApiKey,
    EvalRun,
    Schedule,
}

impl WriteKind {
    const ALL: [Self; 9] = [
        Self::Evaluations,
        Self::Agent,
        Self::Run,
        Self::ReputationEvents,
        Self::Records,
        Self::Signals,
        Self::ApiKey,
        Self::EvalRun,
        Self::Schedule,
    ];

    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Evaluations => "evaluations",
            Self::Agent => "agent",
            Self::Run => "run",
            Self::ReputationEvents => "reputation_events",
            Self::Records => "records",
            Self::Signals => "signals",
            Self::ApiKey => "api_key",
            Self::EvalRun => "eval_run",
            Self::Schedule => "schedule",
        }
    }

    /// Finds a kind by its name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What is kept of an accepted write: numbers, the position of a row, and the agents that the write was about.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) kind: WriteKind,
    /// Number of things that were new.
    pub(crate) accepted: usize,
    /// Number of things that had been accepted before.
    pub(crate) repeated: usize,
    /// The position of the evaluation, the run, the eval run or the schedule that the receipt shows.
    pub(crate) position: Option<Position>,
    /// The id of the API key that was created.
    pub(crate) api_key: Option<KeyId>,
    /// The agents, each once, and their standings if the receipt shows them.
    pub(crate) agents: Vec<(AgentId, Option<ReputationSummary>)>,
}

impl Kept {
    fn new(kind: WriteKind, accepted: usize, repeated: usize) -> Self {
        Self { kind, accepted, repeated, position: None, api_key: None, agents: Vec::new() }
    }

    fn about(self, agents: impl IntoIterator<Item = AgentId>) -> Self {
        let mut agents: Vec<AgentId> = agents.into_iter().collect();
        agents.sort_unstable();
        agents.dedup();
        Self { agents: agents.into_iter().map(|agent| (agent, None)).collect(), ..self }
    }

    /// Keeps a batch of evaluations. `last` is the position of the evaluation that was counted last.
    pub(crate) fn evaluations(
        evaluations: &[NewEvaluation],
        outcomes: &[EvaluationOutcome],
        last: Option<Position>,
    ) -> Self {
        let repeated =
            outcomes.iter().filter(|outcome| matches!(outcome, EvaluationOutcome::Repeated { .. })).count();
        let standings = EvaluationOutcome::last_standings(evaluations.iter().map(|new| &new.agent), outcomes);
        let position = match outcomes {
            [EvaluationOutcome::Counted { .. }] => last,
            [EvaluationOutcome::Repeated { first, .. }] => Some(first.position),
            _ => None,
        };
        let agents = standings.into_iter().map(|(agent, standing)| (agent, Some(standing))).collect();
        Self { position, agents, ..Self::new(WriteKind::Evaluations, outcomes.len() - repeated, repeated) }
    }

    /// Keeps an agent that was added.
    pub(crate) fn agent(agent: AgentId, new: bool) -> Self {
        Self::new(WriteKind::Agent, new.into(), (!new).into()).about([agent])
    }

    /// Keeps a run. Returns `None` if the run was refused.
    pub(crate) fn run(submitted: &Submitted) -> Option<Self> {
        let (new, run) = match submitted {
            Submitted::New(run) => (true, run),
            Submitted::Repeated(run) => (false, run),
            Submitted::Conflict => return None,
        };
        let kept = Self::new(WriteKind::Run, new.into(), (!new).into()).about([run.agent.clone()]);
        Some(Self { position: Some(run.position), ..kept })
    }

    /// Keeps reputation events that were not refused.
    pub(crate) fn reputation_events(recorded: Recorded) -> Self {
        Self::new(WriteKind::ReputationEvents, recorded.accepted, recorded.duplicates)
    }

    /// Keeps telemetry of sessions of these agents.
    pub(crate) fn records(agents: Vec<AgentId>) -> Self {
        Self::new(WriteKind::Records, 0, 0).about(agents)
    }

    /// Keeps signals of a session of this agent.
    pub(crate) fn signals(agent: AgentId) -> Self {
        Self::new(WriteKind::Signals, 0, 0).about([agent])
    }

    /// Keeps an API key that was created.
    pub(crate) fn api_key(id: KeyId) -> Self {
        Self { api_key: Some(id), ..Self::new(WriteKind::ApiKey, 1, 0) }
    }

    /// Keeps an eval run that was created, and the agent that it filters by.
    pub(crate) fn eval_run(position: Position, filter: Option<&EvalFilter>) -> Self {
        let agent = filter.and_then(|filter| filter.agent.clone());
        Self { position: Some(position), ..Self::new(WriteKind::EvalRun, 1, 0).about(agent) }
    }

    /// Keeps a schedule that was created, and the agent that it filters by.
    pub(crate) fn schedule(position: Position, filter: &EvalFilter) -> Self {
        Self { position: Some(position), ..Self::new(WriteKind::Schedule, 1, 0).about(filter.agent.clone()) }
    }

    /// Removes an erased agent. Returns whether the write was about other agents too, or not about this one.
    pub(crate) fn remove_agent(&mut self, agent: &AgentId) -> bool {
        let before = self.agents.len();
        self.agents.retain(|(other, _)| other != agent);
        self.agents.len() == before || !self.agents.is_empty()
    }

    /// Reads the rows that are shown, and makes the receipt. Returns `None` if one of them is gone.
    pub(crate) fn receipt(
        self,
        evaluation: impl FnOnce(Position) -> Result<Option<StoredEvaluation>, StoreError>,
        run: impl FnOnce(Position) -> Result<Option<Run>, StoreError>,
    ) -> Result<Option<Receipt>, StoreError> {
        let new = self.accepted > 0;
        let incomplete = || StoreError::Damaged(format!("a request key: {}", self.kind.name()));
        Ok(Some(match self.kind {
            WriteKind::Evaluations => {
                let only = match self.position.map(evaluation).transpose()? {
                    Some(None) => return Ok(None),
                    found => found.flatten().map(Box::new),
                };
                let standing =
                    |(agent, standing): (AgentId, Option<ReputationSummary>)| Some((agent, standing?));
                let standings = self.agents.into_iter().map(standing).collect::<Option<_>>();
                let standings =
                    standings.ok_or_else(|| StoreError::Damaged("a request key: no standing".to_owned()))?;
                let (counted, repeated) = (self.accepted, self.repeated);
                Receipt::Evaluations(EvaluationsReceipt { counted, repeated, standings, only })
            }
            WriteKind::Agent => Receipt::Agent { new },
            WriteKind::Run => match run(self.position.ok_or_else(incomplete)?)? {
                Some(run) => Receipt::Run { new, run: Box::new(run) },
                None => return Ok(None),
            },
            WriteKind::ReputationEvents => Receipt::ReputationEvents(Recorded {
                accepted: self.accepted,
                duplicates: self.repeated,
                refused: None,
            }),
            WriteKind::Records => Receipt::Records,
            WriteKind::Signals => Receipt::Signals,
            WriteKind::ApiKey => Receipt::ApiKey(self.api_key.ok_or_else(incomplete)?),
            WriteKind::EvalRun => Receipt::EvalRun(self.position.ok_or_else(incomplete)?),
            WriteKind::Schedule => Receipt::Schedule(self.position.ok_or_else(incomplete)?),
        }))
    }
}
