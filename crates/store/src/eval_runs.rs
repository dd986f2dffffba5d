//! Eval runs: session metrics over many sessions, one small step at a time.
//!
//! ```text
//! create ──►  targets (a list, or a filter)  ──►  step: some sessions, their results, and how far the run is
//!                                                  in one transaction   ──►  … ──►  completed
//! ```
//!
//! A [`EvalRun`] is a value that moves from state to state; what a step means is decided here and carried out by each
//! store. A step is written only if the run is still where the step began ([`EvalRun::version`]). So a step that was
//! computed twice, by a server that was restarted or by two servers, is written once, and each session has one result.
//!
//! **Targets.** The sessions of a list become results that wait. A filter is followed through the list of sessions,
//! the last to begin first, by a cursor. A failed target that is retried waits again.
//!
//! **What a run keeps.** Its results stay as they were computed, also when a session gets more evidence. Erasing an
//! agent removes its results, and the runs and schedules that filter by it. `[retention] sessions` deletes runs of
//! that age.

mod steps;

use renown_core::eval::{EvalScores, EvalSettings, EvalStatus, EvalSums, MetricOutcome};
use renown_core::ids::{AgentId, EvalRunId, ScheduleId, SessionId};
use renown_core::session_metrics::SessionTraces;
use renown_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::ReadError;
use crate::evidence::Position;
use crate::query::TimeCursor;
use crate::sessions::{SessionQuery, StoredSession};
pub use steps::advance_eval_runs;

/// Maximum number of sessions of a list.
pub const EVAL_SESSIONS_MAX: usize = 1000;

/// Number of sessions in one step.
pub const EVAL_STEP: usize = 50;

/// Which sessions a filter selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvalFilter {
    /// Only sessions of this agent.
    pub agent: Option<AgentId>,
    /// Only those that began at this time or later.
    pub from: Option<Timestamp>,
    /// Only those that began at this time or earlier.
    pub to: Option<Timestamp>,
    /// Only those with this many traces or more.
    pub min_traces: u64,
}

/// The targets of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalTargets {
    /// These sessions, each once.
    Sessions(Vec<SessionId>),
    /// All sessions that a filter selects.
    Filter(EvalFilter),
}

/// A run to start.
#[derive(Clone, Debug)]
pub struct NewEvalRun {
    /// Its id.
    pub id: EvalRunId,
    /// Its name, for people.
    pub name: Option<String>,
    /// What to compute.
    pub settings: EvalSettings,
    /// For these sessions.
    pub targets: EvalTargets,
    /// The seed of the sample.
    pub seed: u64,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalProgress {
    /// Sessions to visit, as counted when the run started. Sessions that arrive later may add some.
    pub targets: u64,
    /// Sessions that have results.
    pub scored: u64,
    /// Sessions that could not be evaluated.
    pub failed: u64,
    /// Sessions that the sample or `min_traces` left out.
    pub skipped: u64,
}

impl EvalProgress {
    /// Returns the number of sessions that need no more work.
    pub fn done(&self) -> u64 {
        self.scored + self.failed + self.skipped
    }
}

/// An eval run in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalRun {
    /// Its position in the order of creation.
    pub position: Position,
    /// Its id.
    pub id: EvalRunId,
    /// The schedule that started it.
    pub schedule: Option<ScheduleId>,
    /// The filter; `None` if the run has a list of sessions.
    pub filter: Option<EvalFilter>,
    /// Everything else.
    pub state: EvalState,
}

/// The state of a run, which each store keeps as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalState {
    /// Its name, for people.
    pub name: Option<String>,
    /// What it computes.
    pub settings: EvalSettings,
    /// The seed of the sample.
    pub seed: u64,
    /// Where it is between its creation and its end.
    pub status: EvalStatus,
    /// When it was created.
    pub created_ns: i64,
    /// When it started.
    pub started_ns: Option<i64>,
    /// When it ended.
    pub finished_ns: Option<i64>,
    /// How far it is.
    pub progress: EvalProgress,
    /// The sums of its results.
    pub sums: EvalSums,
    /// Why it failed.
    pub error: Option<String>,
    /// The last session of the filter that was visited.
    cursor: Option<(i64, i64)>,
    /// Whether all sessions of the filter were visited.
    is_exhausted: bool,
    /// Number of changes. A step is written only onto the version that it was computed from.
    pub version: u64,
}

impl EvalState {
    /// Removes the result of a session whose agent was erased.
    pub(crate) fn forget(&mut self, outcome: &EvalOutcome) {
        let Self { progress, sums, version, .. } = self;
        match outcome {
            EvalOutcome::Pending => {}
            EvalOutcome::Scored(_) => progress.scored = progress.scored.saturating_sub(1),
            EvalOutcome::Failed(_) => progress.failed = progress.failed.saturating_sub(1),
        }
        progress.targets = progress.targets.saturating_sub(1);
        sums.remove(&outcome.brief());
        *version += 1;
    }
}

/// The result of one session.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalResult {
    /// The session.
    pub session: SessionId,
    /// Its agent, if the session is known.
    pub agent: Option<AgentId>,
    /// What became of it.
    pub outcome: EvalOutcome,
}

/// What became of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalOutcome {
    /// It waits.
    Pending,
    /// It was evaluated. This is the JSON of its [`EvalScores`], as they were computed.
    Scored(String),
    /// It could not be evaluated, for this reason.
    Failed(String),
}

impl EvalOutcome {
    /// Names of the outcomes, as they are stored and sent.
    pub const NAMES: [&str; 3] = ["pending", "scored", "failed"];

    /// Restores a stored outcome. Returns `None` if no outcome has this name.
    pub(crate) fn stored(name: &str, text: String) -> Option<Self> {
        match name {
            "pending" => Some(Self::Pending),
            "scored" => Some(Self::Scored(text)),
            "failed" => Some(Self::Failed(text)),
            _ => None,
        }
    }

    /// Returns its name and its text.
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Pending => ("pending", ""),
            Self::Scored(metrics) => ("scored", metrics),
            Self::Failed(reason) => ("failed", reason),
        }
    }

    /// Returns the metrics in brief; empty if the session has none.
    fn brief(&self) -> Vec<MetricOutcome> {
        let Self::Scored(metrics) = self else { return Vec::new() };
        EvalScores::brief(metrics).unwrap_or_default()
    }
}

impl EvalResult {
    /// Evaluates a session. `None` is a session that is unknown.
    fn of(run: &EvalRun, id: SessionId, session: Option<StoredSession>) -> Self {
        let Some(session) = session else {
            return Self {
                session: id,
                agent: None,
                outcome: EvalOutcome::Failed(UNKNOWN_SESSION.to_owned()),
            };
        };
        let traces = session.traces.into_iter().map(|known| known.trace).collect();
        let outcome = match SessionTraces::new(traces) {
            Ok(traces) => match serde_json::to_string(&run.state.settings.evaluate(&traces)) {
                Ok(metrics) => EvalOutcome::Scored(metrics),
                Err(error) => EvalOutcome::Failed(error.to_string()),
            },
            Err(error) => EvalOutcome::Failed(error.to_string()),
        };
        Self { session: id, agent: Some(session.agent), outcome }
    }

    /// Returns the result of a session whose data is damaged.
    fn unreadable(id: SessionId, error: &ReadError) -> Self {
        let reason = format!("the session cannot be read: {error}");
        Self { session: id, agent: None, outcome: EvalOutcome::Failed(reason) }
    }
}

/// Why a target of a list fails.
const UNKNOWN_SESSION: &str = "there is no session with this id";

/// A step of a run: the results of some sessions.
#[derive(Clone, Debug, Default)]
pub struct EvalStep {
    /// The version of the run that the step was computed from.
    pub version: u64,
    /// Number of sessions that the filter selects. Only the first step counts it.
    pub selected: u64,
    /// The results.
    pub results: Vec<EvalResult>,
    /// Sessions that were left out.
    pub skipped: u64,
    /// The last session of the filter that was visited, if the step followed the filter.
    pub cursor: Option<TimeCursor>,
    /// Whether nothing is left to do.
    pub is_last: bool,
    /// Why the run cannot go on.
    pub error: Option<String>,
}

/// A change that a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalChange {
    /// Stop the run.
    Cancel,
    /// Evaluate its failed targets again.
    Retry,
}

/// The result of creating a run.
#[derive(Clone, Debug, PartialEq)]
pub enum EvalCreated {
    /// The run waits for its turn.
    Created(Box<EvalRun>),
    /// The agent of its filter is unknown. Nothing was changed.
    NoAgent,
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq)]
pub enum EvalChanged {
    /// The run after the change.
    Changed(Box<EvalRun>),
    /// The run is in a state that does not allow the change.
    Refused(EvalStatus),
    /// There is no such run.
    Unknown,
}

impl EvalRun {
    /// Creates a run at a position and a time.
    pub(crate) fn created(
        new: &NewEvalRun,
        schedule: Option<ScheduleId>,
        position: Position,
        now: Timestamp,
    ) -> Self {
        let filter = match &new.targets {
            EvalTargets::Sessions(_) => None,
            EvalTargets::Filter(filter) => Some(filter.clone()),
        };
        let state = EvalState {
            name: new.name.clone(),
            settings: new.settings.clone(),
            seed: new.seed,
            status: EvalStatus::Pending,
            created_ns: now.nanos(),
            started_ns: None,
            finished_ns: None,
            progress: EvalProgress::default(),
            sums: EvalSums::default(),
            error: None,
            cursor: None,
            is_exhausted: filter.is_none(),
            version: 0,
        };
        Self { position, id: new.id.clone(), schedule, filter, state }
    }

    /// Returns the run as it was created, before its first step.
    #[must_use]
    pub fn as_created(&self) -> Self {
        let state = EvalState {
            status: EvalStatus::Pending,
            started_ns: None,
            finished_ns: None,
            progress: EvalProgress::default(),
            sums: EvalSums::default(),
            error: None,
            ..self.state.clone()
        };
        Self { state, ..self.clone() }
    }

    /// Returns the query of the next sessions of the filter; `None` if all were visited.
    fn next_sessions(&self) -> Option<SessionQuery> {
        let filter = self.filter.as_ref().filter(|_| !self.state.is_exhausted)?;
        let cursor = self.state.cursor.and_then(|(at, position)| {
            Some(TimeCursor { at: Timestamp::from_nanos(at).ok()?, position: Position::of(position) })
        });
        let EvalFilter { agent, from, to, .. } = filter.clone();
        Some(SessionQuery { agent, from, to, after: cursor, limit: EVAL_STEP })
    }

    /// Returns whether a session of the filter is to be evaluated.
    fn selects(&self, session: &StoredSession) -> bool {
        let min_traces = self.filter.as_ref().map_or(0, |filter| filter.min_traces);
        session.summary.trace_count >= min_traces
            && self.state.settings.is_sampled(self.state.seed, &session.id)
    }

    /// Applies a step. `is_scored` says which sessions already have a result. Returns the results to write, or `None`
    /// if the run is no longer where the step began.
    pub(crate) fn apply(
        &mut self,
        step: EvalStep,
        is_scored: impl Fn(&SessionId) -> bool,
        now: Timestamp,
    ) -> Option<Vec<EvalResult>> {
        let state = &mut self.state;
        if step.version != state.version || !state.status.is_active() {
            return None;
        }
        if state.started_ns.is_none() {
            state.started_ns = Some(now.nanos());
            state.progress.targets += step.selected;
        }
        state.status = EvalStatus::Running;
        let mut results = step.results;
        results.retain(|result| !is_scored(&result.session));
        for result in &results {
            match &result.outcome {
                EvalOutcome::Pending => {}
                EvalOutcome::Scored(_) => state.progress.scored += 1,
                EvalOutcome::Failed(_) => state.progress.failed += 1,
            }
            state.sums.add(&result.outcome.brief());
        }
        state.progress.skipped += step.skipped;
        if let Some(cursor) = step.cursor {
            state.cursor = Some((cursor.at.nanos(), cursor.position.number()));
        }
        if step.is_last || step.error.is_some() {
            state.is_exhausted |= step.is_last;
            state.status = if step.error.is_some() { EvalStatus::Failed } else { EvalStatus::Completed };
            state.error = step.error;
            state.finished_ns = Some(now.nanos());
            // Sessions that arrived after the run had counted them.
            state.progress.targets = state.progress.targets.max(state.progress.done());
        }
        state.version += 1;
        Some(results)
    }

    /// Applies a change. Returns whether failed targets have to wait again; `Err` if the state does not allow it.
    pub(crate) fn change(&mut self, change: EvalChange, now: Timestamp) -> Result<bool, EvalStatus> {
        let state = &mut self.state;
        match change {
            EvalChange::Cancel if state.status.is_active() => {
                state.status = EvalStatus::Cancelled;
                state.finished_ns = Some(now.nanos());
                state.version += 1;
                Ok(false)
            }
            EvalChange::Retry if Self::can_retry(state) => {
                state.status = EvalStatus::Pending;
                (state.finished_ns, state.error) = (None, None);
                state.progress.failed = 0;
                state.version += 1;
                Ok(true)
            }
            EvalChange::Cancel | EvalChange::Retry => Err(state.status),
        }
    }

    /// A completed run can be retried if a target failed, and a run that failed can go on.
    fn can_retry(state: &EvalState) -> bool {
        match state.status {
            EvalStatus::Completed => state.progress.failed > 0,
            EvalStatus::Failed => true,
            EvalStatus::Pending | EvalStatus::Running | EvalStatus::Cancelled => false,
        }
    }

    /// Returns the results that a list of sessions begins with: those that are known wait, the others fail at once.
    pub(crate) fn first_results(
        &mut self,
        sessions: &[SessionId],
        agent_of: impl Fn(&SessionId) -> Option<AgentId>,
    ) -> Vec<EvalResult> {
        let results: Vec<EvalResult> = sessions
            .iter()
            .map(|session| {
                let agent = agent_of(session);
                let outcome = match agent {
                    Some(_) => EvalOutcome::Pending,
                    None => EvalOutcome::Failed(UNKNOWN_SESSION.to_owned()),
                };
                EvalResult { session: session.clone(), agent, outcome }
            })
            .collect();
        self.state.progress.failed = results.iter().filter(|result| result.agent.is_none()).count() as u64;
        self.state.progress.targets = results.len() as u64;
        results
    }
}

/// Selects runs, the last created first.
#[derive(Clone, Debug, Default)]
pub struct EvalRunQuery {
    /// Only in this state.
    pub status: Option<EvalStatus>,
    /// Only of this schedule.
    pub schedule: Option<ScheduleId>,
    /// Only those created before this position.
    pub before: Option<Position>,
    /// How many at most.
    pub limit: usize,
}

impl EvalRunQuery {
    pub(crate) fn matches(&self, run: &EvalRun) -> bool {
        self.status.is_none_or(|status| status == run.state.status)
            && self.schedule.as_ref().is_none_or(|schedule| Some(schedule) == run.schedule.as_ref())
            && self.before.is_none_or(|before| run.position < before)
    }
}

/// A page of runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvalRuns {
    /// The runs, the last created first.
    pub runs: Vec<EvalRun>,
    /// Where the next page begins, if there is one.
    pub next: Option<Position>,
}

impl EvalRuns {
    /// Adds the next run if it matches. Returns whether to continue.
    pub(crate) fn add(&mut self, run: EvalRun, query: &EvalRunQuery) -> bool {
        if !query.matches(&run) {
            return true;
        }
        if self.runs.len() == query.limit {
            self.next = self.runs.last().map(|last| last.position);
            return false;
        }
        self.runs.push(run);
        true
    }
}

/// Selects results, by session.
#[derive(Clone, Debug, Default)]
pub struct EvalResultQuery {
    /// Only those whose outcome has this name.
    pub state: Option<&'static str>,
    /// Only those after this session.
    pub after: Option<SessionId>,
    /// How many at most.
    pub limit: usize,
}

/// A page of results, sorted by session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvalResults {
    /// The results.
    pub results: Vec<EvalResult>,
    /// The session after which the next page begins, if there is one.
    pub next: Option<SessionId>,
}

impl EvalResults {
    /// Makes a page from sorted results. The caller reads one more than the limit, if there are more.
    pub(crate) fn page(mut results: Vec<EvalResult>, limit: usize) -> Self {
        let more = results.len() > limit;
        results.truncate(limit);
        let next = results.last().filter(|_| more).map(|last| last.session.clone());
        Self { results, next }
    }
}

/// The sessions that a filter selects, as numbers. They differ whenever evidence was accepted or erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionMark {
    /// Number of sessions. `min_traces` is ignored.
    pub sessions: u64,
    /// When evidence of one of them was last accepted, in milliseconds.
    pub newest_ms: i64,
    /// Number of records of all of them.
    pub records: u64,
    /// Number of sent traces of all of them.
    pub traces: u64,
}
