//! Read models: one type for each answer that Renown gives. The API, the command line and the pages use the same types.
//!
//! ```text
//! store ──►  evidence and totals  ──►  view: names, units, rounding, order  ──►  JSON, tables, pages
//! ```
//!
//! | module | shows |
//! |---|---|
//! | [`agents`] | one row per agent, over all its evidence |
//! | [`standing`] | everything about one agent |
//! | [`reputation`] | the reputation of an agent, and of its identity |
//! | [`runs`] | scorecards, and the ranking of a spec |
//! | [`evaluations`] | one evaluation with the results of its gates |
//! | [`breakdown`] | failures by gate and tool, and latencies |
//! | [`overview`] | the overview of an organization |
//! | [`sessions`] | the performance of a session, and the metrics of its traces |
//! | [`records`] | the records of a session, for a timeline |
//! | [`evals`] | eval runs, their results, and schedules |
//! | [`days`] | the days of an agent, for charts |
//!
//! Every type derives its JSON and its schema for the OpenAPI document, so the two cannot differ. The types of `renown-core` and
//! `renown-telemetry` inside of them do the same, with the feature `schema`.
//!
//! What is deliberately absent: reading a store, a clock, and any formula. Scores come from `renown-core`.

pub mod agents;
pub mod breakdown;
pub mod days;
pub mod evals;
pub mod evaluations;
pub mod overview;
pub mod records;
pub mod reputation;
pub mod runs;
pub mod sessions;
mod shared;
pub mod standing;

pub use agents::{AgentRow, AgentsPage, SessionBrief};
pub use breakdown::AgentBreakdown;
pub use days::DayPoint;
pub use evals::{EvalRunView, EvalRunsPage, EvalScoreView, EvalScoresPage, ScheduleView, SchedulesPage};
pub use evaluations::{EvaluationView, GateView};
pub use overview::Overview;
pub use records::{RecordView, RecordsPage};
pub use reputation::{IdentityView, ReputationView};
pub use runs::{RunView, RunsPage, ScoreView};
pub use sessions::{MetricsSummary, SessionDetail, SessionView, SessionsPage};
pub use standing::{AgentFacts, AgentHistory, AgentStanding};
