//! Eval runs, their results, and the schedules that start them.

use renown_core::decimal::Decimal;
use renown_core::eval::{EvalScores, EvalSettings, EvalStatus, MetricName};
use renown_core::ids::{AgentId, EvalRunId, ScheduleId, SessionId};
use renown_core::session_metrics::{SignalWeights, Thresholds};
use renown_core::time::Timestamp;
use renown_core::units::Unit;
use renown_store::{EvalFilter, EvalOutcome, EvalProgress, EvalResult, EvalRun, Schedule};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// A page of eval runs.
#[derive(Serialize, ToSchema)]
#[schema(as = EvalRunsReply)]
pub struct EvalRunsPage<'e> {
    /// Eval runs, the last created first.
    pub data: Vec<EvalRunView<'e>>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// An eval run: session metrics over many sessions.
#[derive(Serialize, ToSchema)]
#[schema(as = EvalRun)]
pub struct EvalRunView<'e> {
    /// Id of the eval run.
    pub eval_run_id: &'e EvalRunId,
    /// Name of the eval run.
    pub name: Option<&'e str>,
    /// State of the eval run.
    pub status: EvalStatus,
    /// Schedule that started it; null if a client did.
    pub schedule_id: Option<&'e ScheduleId>,
    /// What is computed.
    #[serde(flatten)]
    pub settings: EvalSettingsView<'e>,
    /// Filter that selects the sessions; null if they were listed.
    pub filter: Option<EvalFilterView<'e>>,
    /// Seed of the sample, as 16 hexadecimal digits.
    pub seed: String,
    /// Time when it was created.
    pub created_at: Timestamp,
    /// Time when it started; null while it waits.
    pub started_at: Option<Timestamp>,
    /// Time when it ended; null until then.
    pub finished_at: Option<Timestamp>,
    /// Number of sessions, by what became of them.
    pub progress: ProgressView,
    /// Results of each metric over all sessions so far.
    pub summary: Vec<EvalMetricSummary>,
    /// Reason why the run failed.
    pub error: Option<&'e str>,
}

/// What an eval run computes.
#[derive(Serialize, ToSchema)]
#[schema(as = EvalSettings)]
pub struct EvalSettingsView<'e> {
    /// Metrics that are computed.
    pub metrics: &'e [MetricName],
    /// Share of the sessions that are evaluated.
    pub sampling_rate: Unit,
    /// Weights of the signals.
    pub signal_weights: SignalWeights,
    /// Scores from which a metric passes; null is the default, 0.5.
    pub thresholds: Thresholds,
}

impl<'e> EvalSettingsView<'e> {
    fn of(settings: &'e EvalSettings) -> Self {
        let EvalSettings { metrics, sampling_rate, signal_weights, thresholds } = settings;
        Self {
            metrics,
            sampling_rate: *sampling_rate,
            signal_weights: *signal_weights,
            thresholds: *thresholds,
        }
    }
}

/// A filter of sessions.
#[derive(Serialize, ToSchema)]
#[schema(as = EvalFilter)]
pub struct EvalFilterView<'e> {
    /// Only sessions of this agent.
    pub agent_id: Option<&'e AgentId>,
    /// Only sessions that began at this time or later.
    pub from: Option<Timestamp>,
    /// Only sessions that began at this time or earlier.
    pub to: Option<Timestamp>,
    /// Only sessions with this many traces or more.
    pub min_traces: u64,
}

impl<'e> EvalFilterView<'e> {
    fn of(filter: &'e EvalFilter) -> Self {
        let EvalFilter { agent, from, to, min_traces } = filter;
        Self { agent_id: agent.as_ref(), from: *from, to: *to, min_traces: *min_traces }
    }
}

/// How far an eval run is.
#[derive(Serialize, ToSchema)]
#[schema(as = EvalProgress)]
pub struct ProgressView {
    /// Sessions to visit, as counted when the run started.
    pub targets: u64,
    /// Sessions that need no more work.
    pub done: u64,
    /// Sessions that were evaluated.
    pub scored: u64,
    /// Sessions that could not be evaluated.
    pub failed: u64,
    /// Sessions that the sample or `min_traces` left out.
    pub skipped: u64,
}

impl ProgressView {
    fn of(progress: &EvalProgress) -> Self {
        let EvalProgress { targets, scored, failed, skipped } = *progress;
        Self { targets, done: progress.done(), scored, failed, skipped }
    }
}

/// The results of one metric over all sessions of a run.
#[derive(Serialize, ToSchema)]
pub struct EvalMetricSummary {
    /// Name of the metric.
    pub name: MetricName,
    /// Sessions with evidence for the metric. The others have the score 1 and are left out of the mean.
    pub evaluated: u64,
    /// Those that reach the threshold.
    pub passed: u64,
    /// Mean score; null without an evaluated session.
    pub mean: Option<Decimal<4>>,
}

impl<'e> EvalRunView<'e> {
    /// Builds the view of a run.
    pub fn of(run: &'e EvalRun) -> Self {
        let state = &run.state;
        let summary = |&metric: &MetricName| {
            let sums = state.sums.of(metric);
            EvalMetricSummary {
                name: metric,
                evaluated: sums.evaluated,
                passed: sums.passed,
                mean: sums.mean(),
            }
        };
        Self {
            eval_run_id: &run.id,
            name: state.name.as_deref(),
            status: state.status,
            schedule_id: run.schedule.as_ref(),
            settings: EvalSettingsView::of(&state.settings),
            filter: run.filter.as_ref().map(EvalFilterView::of),
            seed: format!("{:016x}", state.seed),
            created_at: time(state.created_ns),
            started_at: state.started_ns.map(time),
            finished_at: state.finished_ns.map(time),
            progress: ProgressView::of(&state.progress),
            summary: state.settings.metrics.iter().map(summary).collect(),
            error: state.error.as_deref(),
        }
    }
}

/// Converts a stored time. It was valid when it was stored.
fn time(nanos: i64) -> Timestamp {
    Timestamp::from_nanos(nanos).unwrap_or(Timestamp::MIN)
}

/// A page of results.
#[derive(Serialize, ToSchema)]
#[schema(as = EvalScoresReply)]
pub struct EvalScoresPage<'e> {
    /// Results, sorted by session.
    pub data: Vec<EvalScoreView<'e>>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// The result of one session of an eval run.
#[derive(Serialize, ToSchema)]
#[schema(as = EvalScore)]
pub struct EvalScoreView<'e> {
    /// Id of the session.
    pub session_id: &'e SessionId,
    /// Id of the agent; null if the session is unknown.
    pub agent_id: Option<&'e AgentId>,
    /// `pending`, `scored` or `failed`.
    pub status: &'static str,
    /// Reason why the session could not be evaluated.
    pub error: Option<&'e str>,
    /// Metrics that were chosen, by name, with their metadata, as `GET /v1/sessions/{session_id}/metrics` returns them; null if there are none.
    #[schema(value_type = Option<EvalScores>)]
    pub metrics: Option<&'e RawValue>,
}

impl<'e> EvalScoreView<'e> {
    /// Builds the view of a result.
    pub fn of(result: &'e EvalResult) -> Self {
        let (error, metrics) = match &result.outcome {
            EvalOutcome::Pending => (None, None),
            EvalOutcome::Failed(reason) => (Some(reason.as_str()), None),
            // The text was valid JSON when it was stored, so parsing it cannot fail.
            EvalOutcome::Scored(metrics) => (None, serde_json::from_str(metrics).ok()),
        };
        let status = result.outcome.parts().0;
        Self { session_id: &result.session, agent_id: result.agent.as_ref(), status, error, metrics }
    }
}

/// A page of schedules.
#[derive(Serialize, ToSchema)]
#[schema(as = SchedulesReply)]
pub struct SchedulesPage<'e> {
    /// Schedules, the last created first.
    pub data: Vec<ScheduleView<'e>>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// When eval runs start by themselves.
#[derive(Serialize, ToSchema)]
#[schema(as = Schedule)]
pub struct ScheduleView<'e> {
    /// Id of the schedule.
    pub schedule_id: &'e ScheduleId,
    /// Name of the schedule and of its runs.
    pub name: &'e str,
    /// When it fires, in UTC: `every_6h`, `daily`, `weekly`, or `cron:` and five fields.
    pub cadence: String,
    /// What its runs compute.
    #[serde(flatten)]
    pub settings: EvalSettingsView<'e>,
    /// Filter that selects the sessions of its runs.
    pub filter: EvalFilterView<'e>,
    /// Whether a tick starts no run if no evidence was accepted since the last run.
    pub only_if_changed: bool,
    /// Whether it is paused.
    pub paused: bool,
    /// Time when it was created.
    pub created_at: Timestamp,
    /// Time of the next tick; null while it is paused.
    pub next_tick_at: Option<Timestamp>,
    /// The last run that it started.
    pub last_eval_run_id: Option<&'e EvalRunId>,
}

impl<'e> ScheduleView<'e> {
    /// Builds the view of a schedule.
    pub fn of(schedule: &'e Schedule) -> Self {
        let state = &schedule.state;
        Self {
            schedule_id: &schedule.id,
            name: &state.name,
            cadence: schedule.cadence.to_string(),
            settings: EvalSettingsView::of(&state.settings),
            filter: EvalFilterView::of(&schedule.filter),
            only_if_changed: state.only_if_changed,
            paused: state.is_paused,
            created_at: time(state.created_ns),
            next_tick_at: schedule.next_tick(),
            last_eval_run_id: state.last_run.as_ref(),
        }
    }
}
