//! Read models: one type for each answer that Renown gives. The API, the command line and the pages show the same one.
//!
//! ```text
//! store ──►  what is known  ──►  view: names, units, rounding, order  ──►  JSON, tables, pages
//! ```
//!
//! | module | shows |
//! |---|---|
//! | [`agents`] | one row per agent, over all its evidence |
//! | [`standing`] | everything about one agent |
//! | [`reputation`] | the reputation of an agent, and of its identity |
//! | [`runs`] | scorecards, and who did best at a spec |
//! | [`evaluations`] | one evaluation with what its gates said |
//! | [`breakdown`] | what failed, by gate and tool, and how long evaluations took |
//! | [`overview`] | what an organization looks at first |
//! | [`sessions`] | how well a session went, and what its traces say |
//! | [`records`] | the records of a session, for a timeline |
//! | [`days`] | the days of an agent, for charts |
//! | [`shared`] | small shapes that several of them have |
//!
//! Every type serializes itself and describes its shape for the OpenAPI document, so the two cannot differ.
//!
//! What is deliberately absent: reading a store, a clock, and any formula. Scores come from `renown-core`.

pub mod agents;
pub mod breakdown;
pub mod days;
pub mod evaluations;
pub mod overview;
pub mod records;
pub mod reputation;
pub mod runs;
pub mod sessions;
pub mod shared;
pub mod standing;

pub use agents::{AgentRow, AgentsPage, SessionBrief};
pub use breakdown::AgentBreakdown;
pub use days::DayPoint;
pub use evaluations::{EvaluationView, GateView};
pub use overview::Overview;
pub use records::{RecordView, RecordsPage};
pub use reputation::{IdentityView, ReputationView};
pub use runs::{RunView, RunsPage, ScoreView};
pub use sessions::{MetricsSummary, SessionDetail, SessionView, SessionsPage};
pub use standing::{AgentFacts, AgentHistory, AgentStanding};
